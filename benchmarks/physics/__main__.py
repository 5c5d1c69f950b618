# SPDX-License-Identifier: GPL-3.0-or-later
"""Every scenario, or those of the named themes, as a table and as results/physics.json and docs/theory/physics.md.

python -m taffeta.benchmarks.physics [THEME ...] [--solve default|tight|subspace] [--save]

"subspace" measures the method *Subspace Reuse* and Newton's default beside it; these rows have a JSON of their own, and
the misses are a table of docs/theory/subspace.md.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .. import marked
from . import damping, drape, energy, fall, friction, rest, stick_slip, symmetry, yarns
from .result import DEFAULT, SUBSPACE, TIGHT, Result, Scenario, Solve
from .table import markdown, misses, processor, row_text

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "physics.json"
BESIDE = ROOT / "benchmarks" / "results" / "physics_subspace.json"
PAGE = ROOT / "docs" / "theory" / "physics.md"
SOLVES = {
    None: (DEFAULT, TIGHT), DEFAULT.name: (DEFAULT,), TIGHT.name: (TIGHT,), SUBSPACE.name: (DEFAULT, SUBSPACE),
}  # fmt: skip

Row = dict[str, Any]

THEMES: dict[str, tuple[Scenario, ...]] = {
    "fall": (fall.free_fall, fall.beside_contact, fall.far_end, fall.squeezed),
    "friction": (
        friction.thresholds, friction.sliding, friction.creep, friction.smooth, friction.stop, friction.belt,
        friction.card_house,
    ),
    "stick_slip": (stick_slip.capstan, stick_slip.spring_block, stick_slip.pushed_strip),
    "damping": (
        damping.membrane_mode, damping.pendulum, damping.order, damping.order_of_a_jerk, damping.order_of_exact_steps,
    ),
    "energy": (energy.free_run, energy.thrown, energy.shut, energy.collision),
    "symmetry": (
        symmetry.mirror, symmetry.mirror_of_folds, symmetry.mirror_of_a_nudge, symmetry.numbering,
        symmetry.numbering_of_folds, symmetry.mirror_of_rubbing_folds,
    ),
    "rest": (rest.flat, rest.drape, rest.stack, rest.pile),
    "drape": (
        drape.dropped, drape.lowered, drape.lowered_elastic, drape.refinement, drape.refinement_on_plate,
        drape.refinement_of_means, drape.refinement_of_rubbing,
    ),
    "yarns": (yarns.let_go,),
}  # fmt: skip


def chosen(names: Iterable[str]) -> list[tuple[str, Scenario]]:
    """(theme, scenario) of names as on the command line; all where there are none. Raises KeyError."""
    every = [(theme, scenario) for theme, scenarios in THEMES.items() for scenario in scenarios]
    found: list[tuple[str, Scenario]] = []
    for name in names:
        fitting = [(t, s) for t, s in every if name in (t, f"{t}.{s.__name__}")]
        if not fitting:
            raise KeyError(name)
        found += fitting
    return found or every


def measure(theme: str, scenario: Scenario, solve: Solve) -> list[Row]:
    """The rows of one scenario; prints each as it is measured."""
    began, rows = time.perf_counter(), []
    for result in scenario(solve):
        print(row_text(result, solve.name), flush=True)
        rows.append(_row(theme, scenario, result, solve))
    print(f"{'':8}{theme}.{scenario.__name__}: {time.perf_counter() - began:.1f} s", flush=True)
    return rows


def _row(theme: str, scenario: Scenario, result: Result, solve: Solve) -> Row:
    row = {**asdict(result), "measured": _number(result.measured), "error": _number(result.error)}
    return {"scenario": f"{theme}.{scenario.__name__}", "solve": solve.name, **row, "holds": result.holds}


def _number(value: float) -> float | None:
    """None for what JSON cannot hold."""
    return float(value) if math.isfinite(value) else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(THEMES))
    parser.add_argument("--solve", choices=[name for name in SOLVES if name], help="None: default and tight")
    parser.add_argument("--save", action="store_true", help="put the rows into the JSON and write the page anew")
    options = parser.parse_args()
    try:
        scenarios = chosen(options.names)
    except KeyError as error:
        parser.error(f"there is no {error}")
    rows: list[Row] = []
    for theme, scenario in scenarios:
        for solve in SOLVES[options.solve]:
            now = measure(theme, scenario, solve)
            rows += now
            if options.save:
                _save(now, beside=options.solve == SUBSPACE.name)
    judged = [row for row in rows if row["holds"] is not None]
    print(f"{sum(row['holds'] for row in judged)} of {len(judged)} within their bound, on {processor()}")


def _save(rows: list[Row], *, beside: bool) -> None:
    """Rows of the same scenario and solve give way, as do those of scenarios that are no more; all others stay as they
    are in the file."""
    results = BESIDE if beside else RESULTS
    kept: list[Row] = json.loads(results.read_text(encoding="utf-8"))["rows"] if results.exists() else []
    replaced = {(row["scenario"], row["solve"]) for row in rows}
    order = [f"{theme}.{scenario.__name__}" for theme, scenario in chosen(())]
    every = [row for row in kept if row["scenario"] in order and (row["scenario"], row["solve"]) not in replaced] + rows
    every.sort(key=lambda row: (order.index(row["scenario"]), row["solve"]))
    content = {"processor": processor(), "rows": every}
    results.parent.mkdir(exist_ok=True)
    results.write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    if beside:
        marked.put(marked.SUBSPACE, "physics", misses(content))
    else:
        PAGE.write_text(markdown(content), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Every scenario, or those of the named themes, as a table and as results/physics.json and docs/theory/physics.md.

    python -m taffeta.benchmarks.physics [THEME ...] [--solve default|tight] [--save]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import damping, drape, energy, fall, friction, rest, symmetry
from .result import DEFAULT, TIGHT, Result, Scenario, Solve
from .table import markdown, processor, row_text

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "physics.json"
PAGE = ROOT / "docs" / "theory" / "physics.md"

THEMES: dict[str, tuple[Scenario, ...]] = {
    "fall": (fall.free_fall, fall.beside_contact, fall.far_end, fall.squeezed),
    "friction": (
        friction.thresholds, friction.sliding, friction.creep, friction.stop, friction.belt, friction.card_house,
    ),
    "damping": (damping.membrane_mode, damping.pendulum, damping.order),
    "energy": (energy.free_run, energy.collision),
    "symmetry": (symmetry.mirror, symmetry.numbering),
    "rest": (rest.flat, rest.drape, rest.stack, rest.pile),
    "drape": (drape.cusick,),
}  # fmt: skip


def measure(themes: Iterable[str], solves: Iterable[Solve]) -> dict[str, list[dict[str, Any]]]:
    """Rows by theme; prints each as it is measured."""
    found: dict[str, list[dict[str, Any]]] = {}
    for theme in themes:
        for scenario in THEMES[theme]:
            for solve in solves:
                began = time.perf_counter()
                for result in scenario(solve):
                    print(row_text(result, solve.name), flush=True)
                    found.setdefault(theme, []).append(_row(result, scenario, solve))
                print(f"{'':8}{scenario.__name__}: {time.perf_counter() - began:.1f} s", flush=True)
    return found


def _row(result: Result, scenario: Scenario, solve: Solve) -> dict[str, Any]:
    return {
        "scenario": scenario.__name__, "quantity": result.quantity, "solve": solve.name, "unit": result.unit,
        "measured": result.measured, "reference": result.reference, "error": result.error, "bound": result.bound,
        "relative": result.relative, "holds": result.holds,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("themes", nargs="*", metavar="THEME", help=", ".join(THEMES))
    parser.add_argument("--solve", choices=["default", "tight"], help="only this one of the two")
    parser.add_argument("--save", action="store_true", help="write the themes' rows into the JSON and the page")
    options = parser.parse_args()
    unknown = set(options.themes) - set(THEMES)
    if unknown:
        parser.error(f"no theme {', '.join(sorted(unknown))}; there are {', '.join(THEMES)}")
    solves = [solve for solve in (DEFAULT, TIGHT) if options.solve in (None, solve.name)]
    found = measure(options.themes or THEMES, solves)
    rows = [row for theme in found.values() for row in theme]
    judged = [row for row in rows if row["holds"] is not None]
    print(f"{sum(row['holds'] for row in judged)} of {len(judged)} within their bound, on {processor()}")
    if options.save:
        _save(found)


def _save(found: dict[str, list[dict[str, Any]]]) -> None:
    """Themes that were not measured now keep what the file has."""
    content: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {"themes": {}}
    content["processor"] = processor()
    content["themes"] = {theme: {**content["themes"], **found}.get(theme, []) for theme in THEMES}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=True) + "\n", encoding="utf-8")
    PAGE.write_text(markdown(content), encoding="utf-8")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure every claim, or those named: results/claims.json, docs/pictures/claims/*.svg and docs/theory/claims.md.

python -m taffeta.benchmarks.claims [NAME ...] [--quick | --page]
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..physics.table import processor
from .claim import Claim, Curve, Measured, Panel, Table
from .claims import CLAIMS
from .page import cell, draw, markdown

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "claims.json"
PICTURES = ROOT / "docs" / "pictures" / "claims"
PAGE = ROOT / "docs" / "theory" / "claims.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(claim.name for claim in CLAIMS))
    parser.add_argument("--quick", action="store_true", help="the tests' small sizes; prints, and writes nothing")
    parser.add_argument("--page", action="store_true", help="measure nothing: plots and page anew from the JSON")
    options = parser.parse_args()
    unknown = set(options.names) - {claim.name for claim in CLAIMS}
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    chosen = [claim for claim in CLAIMS if not options.names or claim.name in options.names]
    for claim in [] if options.page else chosen:
        began = time.perf_counter()
        measured = claim.measure(options.quick)
        seconds = time.perf_counter() - began
        report(claim, measured, seconds)
        if not options.quick:
            store(claim, measured, seconds)
    if not options.quick:
        write(chosen)


def report(claim: Claim, measured: Measured, seconds: float) -> None:
    print(f"\n{claim.title}: {seconds:.0f} s\n{measured.ran}", flush=True)
    for table in measured.tables:
        for row in (table.head, *table.rows):
            print("  ".join(f"{cell(value):>14}" for value in row))
    verdict = claim.judge(measured.numbers)
    print(f"{verdict.word}: {verdict.why}", flush=True)


def store(claim: Claim, measured: Measured, seconds: float) -> None:
    content: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {"claims": {}}
    content["claims"][claim.name] = {"commit": _commit(), "seconds": round(seconds, 1), **_plain(asdict(measured))}
    lines = [
        f"{json.dumps(name)}: {json.dumps(entry, ensure_ascii=False, allow_nan=False)}"
        for name, entry in sorted(content["claims"].items())
    ]  # a line for each claim: whoever reads a difference wants to know which one was measured again
    text = ",\n".join(lines)
    RESULTS.write_text(f'{{"processor": {json.dumps(processor())}, "claims": {{\n{text}\n}}}}\n', encoding="utf-8")


def write(chosen: list[Claim]) -> None:
    """Plots of the chosen claims and the page, from what the JSON holds."""
    content = json.loads(RESULTS.read_text(encoding="utf-8"))
    PICTURES.mkdir(parents=True, exist_ok=True)
    for claim in chosen:
        if claim.name in content["claims"]:
            draw(claim, _measured(content["claims"][claim.name]), PICTURES / f"{claim.name}.svg")
    PAGE.write_text(markdown(content, CLAIMS), encoding="utf-8")


def _measured(entry: dict[str, Any]) -> Measured:
    panels = [Panel(**{**panel, "curves": [Curve(**curve) for curve in panel["curves"]]}) for panel in entry["panels"]]
    return Measured(entry["ran"], entry["numbers"], [Table(**table) for table in entry["tables"]], panels)


def _plain(value: Any) -> Any:
    """Four digits are enough; None for what JSON cannot hold."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.4g}") if math.isfinite(value) else None
    return value


def _commit() -> str:
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Stress scenes, checked frame by frame by the exact check and by ipctk.

    python -m taffeta.benchmarks.stress [NAME ...] [--vertices N] [--frames F] [--seconds S] [--limit L] [--rubs]
                                       [--method subspace|paper] [--json]

Prints a table; adds each scene as it ends to results/stress.json and to the table of docs/theory/stress.md. A scene
over its time is cut off, and said so. With a method each scene runs by Newton and by it, in turns, and the results go
to results/stress_METHOD.json; those of "subspace" are a table of docs/theory/subspace.md.
Exit code 1 where a frame intersects that no report excuses.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from .. import marked
from . import beside, table
from .run import Result, run
from .scenes import SCENES

RESULTS = Path(__file__).resolve().parents[1] / "results" / "stress.json"
HEADER = (
    f"{'scene':18}{'method':9}{'vertices':>9}{'frames':>9}{'intersect':>10}{'released':>9}{'late':>6}{'unfinished':>12}"
    f"{'stretch':>9}{'gap mm':>8}{'iterations':>11}{'s/frame':>9}{'rms mm/s':>10}  arrived"
)


def processor() -> str:
    """The CPU's name."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


@cache
def commit() -> str:
    """Of the checkout that runs, as it was when first asked."""
    ask = ["git", "-C", str(RESULTS.parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()


def row(result: Result) -> str:
    bad = len(set(result.intersecting_exact) | set(result.intersecting_ipctk))
    return (
        f"{result.scene:18}{result.method:9}{result.vertices:9d}{result.frames_done:5d}/{result.frames:<3d}{bad:10d}"
        f"{result.released_frames:9d}{result.late_steps:6d}{result.unfinished_steps:7d}/{result.steps:<4d}"
        f"{result.largest_stretch:9.3f}{1e3 * result.smallest_gap:8.3f}{result.iterations_per_step:11.1f}"
        f"{result.seconds_per_frame:9.2f}{1e3 * result.rms_speed_at_end:10.1f}"
        f"  {'arrived' if result.bodies_arrived else 'LATE'}{'  cut off ' + result.cut_off if result.cut_off else ''}"
    )


def keep(result: Result, method: str | None) -> None:
    """Add to the results on file, in place of an older run of the same scene at the same size on the same machine.
    method: None = Newton's alone."""
    results = RESULTS.with_stem(f"stress_{method}") if method else RESULTS
    entry: dict[str, Any] = {
        "processor": processor(), "threads": int(os.environ.get("TAFFETA_THREADS", os.cpu_count() or 1)),
        "python": platform.python_version(), "commit": commit(), **asdict(result),
    }  # fmt: skip
    entries = json.loads(results.read_text(encoding="utf-8")) if results.exists() else []
    same = ("processor", "scene", "vertices", "frames", "limit", "rubs", "method")
    entries = [old for old in entries if any(old.get(key, "default") != entry[key] for key in same)] + [entry]
    results.parent.mkdir(exist_ok=True)
    results.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    if method is None:
        table.write(entries)
    elif method == result.method == "subspace":
        marked.put(marked.SUBSPACE, "stress", beside.table(entries))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*SCENES, []], metavar="NAME", help="None: all scenes")
    parser.add_argument("--vertices", type=int, default=2000, help="of all cloths of a scene together")
    parser.add_argument("--frames", type=int, help="over which the motion takes place; None: each scene's own")
    parser.add_argument("--seconds", type=float, default=600.0, help="after which a scene is cut off")
    parser.add_argument("--limit", type=float, help="strain limit of all cloths, 0.05 = 5 %%; None: as in the scene")
    parser.add_argument("--rubs", action="store_true", help="yarns rub when cloth bends, as those of the presets do")
    parser.add_argument("--method", choices=["subspace", "paper"], help="to be held against Newton's")
    parser.add_argument("--json", action="store_true", help="one JSON object a scene in place of the table")
    options = parser.parse_args()
    commit()
    if not options.json:
        print(HEADER)
    free = True
    for name, method in product(options.names or SCENES, filter(None, ("default", options.method))):
        result = run(
            SCENES[name], options.vertices, options.frames, limit=options.limit, rubs=options.rubs, method=method,
            seconds=options.seconds,
        )  # fmt: skip
        print(json.dumps(asdict(result)) if options.json else row(result), flush=True)
        keep(result, options.method)
        free &= result.free
    sys.exit(0 if free else 1)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""`make demo`: bakes a sample, checks every frame, renders the last one, and says what came of it.

    python -m taffeta.sample_blends.demo [--blend FILE.blend] [--folder DIR] [--percentage P]

Uses the command line that everybody uses, a process a step.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DRAPE = ROOT / "sample_blends" / "drape_on_sphere.blend"


def demonstrate(source: Path, folder: Path, percentage: int) -> int:
    """Bake `source` into `folder`, check it and render its last frame; return the check's exit code."""
    baked, picture = folder / source.name, folder / f"{source.stem}.png"
    print(f"baking {source.name}", flush=True)
    bake = taffeta(
        "bake", str(source), "--backend", "cpu", "--cache", str(folder / "cache"), "--save-blend", str(baked)
    )
    print("checking every edge against every triangle, in every frame", flush=True)
    check = taffeta("check", str(baked), may_fail=True)
    print("rendering", flush=True)
    start = time.perf_counter()
    render = ("taffeta.sample_blends.render", str(baked), str(picture), "--percentage", str(percentage))
    subprocess.run([sys.executable, "-m", *render], check=True, stdout=subprocess.DEVNULL)
    print()
    print(f"scene    {baked}")
    print(f"picture  {picture}  (rendered in {time.perf_counter() - start:.0f} s)")
    print(f"pace     {bake['seconds_per_frame']:.2f} s per frame, {bake['frames']} frames, {bake['device']}")
    print(f"check    {verdict(check)}")
    return int(check["exit_code"])


def taffeta(*arguments: str, may_fail: bool = False) -> dict[str, Any]:
    """The JSON answer of one command. Raises SystemExit with its exit code where the command failed."""
    run = subprocess.run(
        [sys.executable, "-m", "taffeta", *arguments, "--json"], stdout=subprocess.PIPE, text=True, check=False
    )
    if run.returncode and not (may_fail and run.stdout):
        raise SystemExit(run.returncode)
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


def verdict(check: dict[str, Any]) -> str:
    """One line for people."""
    if "verdicts" not in check:
        return str(check["error"]["text"])
    frames, bad = len(check["verdicts"]), len(check["intersecting_frames"])
    return f"{bad} of {frames} frames intersect" if bad else f"no intersection in any of {frames} frames"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blend", type=Path, default=DRAPE)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "demo")
    parser.add_argument("--percentage", type=int, default=100, help="of the picture's size")
    options = parser.parse_args()
    sys.exit(demonstrate(options.blend.resolve(), options.folder.resolve(), options.percentage))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""`make scenes`: every sample baked small as a user would, each frame judged twice, and a still of its end.

    python -m taffeta.benchmarks.scenes.gallery [NAME ...] [--vertices N] [--frames A:B] [--out build/scenes]

A sample has the size that its script calls small. `taffeta check` judges what was simulated and what Blender draws,
ipctk what Blender draws. A scene that was done at this commit and this size is skipped, one that was broken off goes
on. Prints a table, writes it with the pictures into OUT/README.md, and exits with 1 where a frame is not clean.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ...gpu_core.files import json_lines
from ...gpu_core.files.folder import REPORTS
from ...sample_blends import FETCHED, NAMES, small
from ..speed.results import ROOT, commit
from .staged import StageError, answer

OUT = ROOT / "build" / "scenes"
DONE, BEGUN, BAKED = "row.json", "begun.json", "baked"
CANNOT = "The sample cannot be built"  #: how the answer of `taffeta sample` begins where a package is not to be had
COMPLETE = "The cache is complete"  #: how that of `taffeta bake --resume` does where nothing is left to do
COLUMNS = (
    "scene", "vertices", "frames", "s/frame", "slowest frame, s", "largest stretch", "intersecting frames: exact",
    "as drawn", "ipctk, as drawn", "frames with released pairs", "not clean", "picture",
)  # fmt: skip


@dataclass
class Order:
    """What a row is of: two of the same at one commit are alike."""

    scene: str
    vertices: int  #: asked for
    frames: str  #: A:B, or nothing for all
    backend: str
    percentage: int
    commit: str


@dataclass
class Row:
    """What became of a sample."""

    order: Order
    vertices: int = 0  #: of all cloth
    frames: int = 0
    seconds_per_frame: float = 0.0
    slowest_frame: float = 0.0  #: s
    largest_stretch: float = 1.0  #: of any edge in any frame, by its length at rest
    exact: list[int] = field(default_factory=list)  #: frames with a crossing in what was simulated
    drawn: list[int] = field(default_factory=list)  #: the same of what Blender draws
    ipctk: list[int] = field(default_factory=list)  #: the same as ipctk has it, but for what exceptions let through
    released: list[int] = field(default_factory=list)  #: frames with pairs that had no room
    unclean: list[int] = field(default_factory=list)  #: frames that `taffeta check` does not call clean
    trouble: str = ""  #: the first of these in words
    failed: str = ""  #: why there is nothing more
    left_out: str = ""  #: why it could not be had
    picture: str = ""
    seconds: float = 0.0  #: for all of it

    @property
    def clean(self) -> bool:
        return not (self.failed or self.exact or self.drawn or self.ipctk or self.unclean)


def made(order: Order, folder: Path) -> Row:
    """Build, bake, judge and render in `folder`, or go on where that was broken off."""
    row, began = Row(order), time.perf_counter()
    try:
        _make(row, folder)
    except StageError as error:
        (folder / BEGUN).unlink(missing_ok=True)  # the next one begins anew
        if str(error).startswith(CANNOT):
            row.left_out = str(error)
        else:
            row.failed = str(error)
    row.seconds = time.perf_counter() - began
    (folder / DONE).write_text(json.dumps(asdict(row), indent=1) + "\n", encoding="utf-8")
    return row


def _make(row: Row, folder: Path) -> None:
    order = row.order
    source, baked, cache = folder / "sample.blend", folder / f"{order.scene}.blend", folder / "cache"
    begun = _read(order, folder / BEGUN)
    if begun is None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        begun = {"order": asdict(order), **answer("sample", order.scene, "--vertices", str(order.vertices),
                                                   "--out", str(source))}  # fmt: skip
        (folder / BEGUN).write_text(json.dumps(begun), encoding="utf-8")
    row.vertices = sum(begun["vertices"].values())
    if not (folder / BAKED).exists():  # the .blend itself is saved where a bake is cancelled, too
        _bake(order, source, cache, baked)
        (folder / BAKED).touch()
    check = answer("check", str(baked))
    seconds = [line["seconds"] for line in json_lines.read(Path(check["cache"]) / REPORTS) if line["seconds"]]
    row.frames, row.slowest_frame = len(check["verdicts"]), max(seconds, default=0.0)
    row.seconds_per_frame = sum(seconds) / max(1, len(seconds))
    _add_check(row, check, baked)
    if order.percentage:
        picture, (_, last) = folder / f"{order.scene}.png", check["frames"]
        size = ("--frame", str(last), "--percentage", str(order.percentage))
        _python("taffeta.sample_blends.render", str(baked), str(picture), *size)
        row.picture = picture.name


def _bake(order: Order, source: Path, cache: Path, baked: Path) -> None:
    try:
        answer(
            "bake", str(source), "--backend", order.backend, "--cache", str(cache), "--save-blend", str(baked),
            *(("--frames", order.frames) if order.frames else ()), *(("--resume",) if cache.exists() else ()),
        )  # fmt: skip
    except StageError as error:
        if not (str(error).startswith(COMPLETE) and baked.exists()):
            raise


def _add_check(row: Row, check: dict[str, Any], baked: Path) -> None:
    verdicts = check["verdicts"]
    first, last = check["frames"]
    said = _python("taffeta.benchmarks.scenes.drawn", str(baked), str(first), str(last)).splitlines()[-1]
    excepted = {verdict["frame"] for verdict in verdicts if verdict["let_through"]}
    row.ipctk = [frame for frame in json.loads(said) if frame not in excepted]
    row.exact = [verdict["frame"] for verdict in verdicts if verdict["intersections"]]
    row.drawn = [verdict["frame"] for verdict in verdicts if verdict["drawn"]]
    row.released = [verdict["frame"] for verdict in verdicts if verdict["released"]]
    row.unclean = check["unclean_frames"]
    row.largest_stretch = max(verdict["largest_stretch"] for verdict in verdicts)
    row.trouble = next((_trouble(verdict) for verdict in verdicts if not verdict["clean"]), "")


def _trouble(verdict: dict[str, Any]) -> str:
    codes = ", ".join(verdict["codes"])
    found = [*verdict["findings"], *verdict["drawn_findings"]]
    return f"frame {verdict['frame']}: {codes}" + (f" ({found[0]})" if found else "")


def _python(module: str, *arguments: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=False, cwd=ROOT
    )
    if run.returncode:
        last = (run.stderr.strip().splitlines() or [f"exit code {run.returncode}"])[-1]
        raise StageError(f"{module.rsplit('.', 1)[-1]}: {last}")
    return run.stdout


def _read(order: Order, path: Path) -> dict[str, Any] | None:
    """What stands in the file, if it is of this order, and its commit says which sources these are."""
    if order.commit.endswith("+") or not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found if found["order"] == asdict(order) else None


def earlier(order: Order, folder: Path) -> Row | None:
    """The row that is there already, unless it says that it failed."""
    found = _read(order, folder / DONE)
    row = found and Row(**{**found, "order": order})
    return row if row and not (row.failed or row.left_out) else None


def cells(row: Row) -> list[str]:
    """A row as the texts of COLUMNS."""
    if row.left_out or row.failed:
        text = f"left out: {row.left_out}" if row.left_out else f"failed: {row.failed}"
        return [row.order.scene, f"{row.vertices or row.order.vertices}", text, *[""] * (len(COLUMNS) - 3)]
    return [
        row.order.scene, f"{row.vertices}", f"{row.frames}", f"{row.seconds_per_frame:.2f}",
        f"{row.slowest_frame:.2f}", f"{row.largest_stretch:.3f}", f"{len(row.exact)}", f"{len(row.drawn)}",
        f"{len(row.ipctk)}", f"{len(row.released)}", f"{len(row.unclean)} {row.trouble}".strip(),
        f"{row.order.scene}/{row.picture}" if row.picture else "",
    ]  # fmt: skip


def page(rows: Sequence[Row]) -> str:
    """The table and the pictures, for whoever opens the folder."""
    lines = [COLUMNS, ["---"] * len(COLUMNS), *map(cells, rows)]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    pictures = [f"![{row.order.scene}]({row.order.scene}/{row.picture})\n" for row in rows if row.picture]
    return f"# Scenes at {rows[0].order.commit}\n\n{table}\n" + "\n".join(pictures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = (*NAMES, *FETCHED)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    parser.add_argument("--vertices", type=int, help="of each; default: its own small size")
    parser.add_argument("--frames", default="", metavar="A:B", help="default: all")
    parser.add_argument("--backend", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--percentage", type=int, default=50, help="of the pictures' size; 0: none")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    if unknown := set(options.names) - set(known):
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    out, at, rows = options.out.resolve(), commit(), []
    for name in options.names or known:
        vertices = options.vertices or small(name)
        order = Order(name, vertices, options.frames, options.backend, options.percentage, at)
        folder = out / name
        rows.append(earlier(order, folder) or made(order, folder))
        print(" | ".join(cells(rows[-1])), flush=True)
        (out / "README.md").write_text(page(rows), encoding="utf-8")
    unclean = [row.order.scene for row in rows if not row.clean]
    print(f"\n{len(rows) - len(unclean)} of {len(rows)} scenes are clean; {out / 'README.md'}")
    if unclean:
        sys.exit(f"not clean: {', '.join(unclean)}")


if __name__ == "__main__":
    main()

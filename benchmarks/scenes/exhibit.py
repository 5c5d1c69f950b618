# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/gallery.md from what `make scenes` has baked: a still, a picture that moves, and a row of the table for each.

    python -m taffeta.benchmarks.scenes.exhibit [NAME ...] [--of build/scenes] [--note TEXT]

Only scenes without a crossing are shown. Rows are kept in benchmarks/results, in place of an earlier one of
the same scene, and the page's table is written anew from there; what stands around it is written by hand.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from ...gpu_core.backend import select
from ...sample_blends.render import join, render, render_moving
from ..speed import machine, page, results
from ..speed.page import markdown
from .gallery import DONE, OUT

PAGE = results.ROOT / "docs" / "gallery.md"
PICTURES = PAGE.parent / "gallery"
PART = "gallery"  #: of the results, and the page's table
COLUMNS = (
    "scene", "vertices", "frames", "s/frame", "slowest frame, s", "largest stretch", "intersecting frames: exact",
    "as drawn", "ipctk", "frames with released pairs", "frames of which more is said", "commit",
)  # fmt: skip
STILL, STILL_SAMPLES = 60, 12  #: percent of the film, samples a pixel
MOVING, MOVING_SAMPLES = 36, 3  #: the same of the picture that moves
MOST = 16  #: frames of a picture that moves
HELD = 1500  #: ms that its last one is shown
QUALITY = 75  #: of WebP, percent


def shown(name: str, folder: Path) -> dict[str, Any]:
    """The row of a scene in its folder, with numbers of frames. Raises ValueError where it is not there, or crosses."""
    path = folder / DONE
    if not path.exists():
        raise ValueError(f"{name}: {path} is not there: make scenes SCENES={name}")
    row: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    trouble = row["failed"] or row["left_out"]
    if trouble or any(row[kind] for kind in ("exact", "drawn", "ipctk")):
        raise ValueError(f"{name}: {trouble or row['trouble']}")
    counts = {kind: len(row[kind]) for kind in ("exact", "drawn", "ipctk", "released", "unclean")}
    numbers = ("vertices", "frames", "seconds_per_frame", "slowest_frame", "largest_stretch")
    return {"scene": name, **{key: row[key] for key in numbers}, **counts, "of": row["order"]["commit"]}


def frames_of(blend: Path) -> tuple[int, int]:
    """First and last of the scene in a file."""
    bpy.ops.wm.open_mainfile(filepath=str(blend.resolve()))
    return bpy.context.scene.frame_start, bpy.context.scene.frame_end


def film(name: str, folder: Path, pictures: Path) -> None:
    """Write the still of the last frame, and all frames as a picture that moves, of a scene that is baked."""
    blend, still = folder / f"{name}.blend", folder / "still.png"
    baked = json.loads((folder / DONE).read_text(encoding="utf-8"))["order"]["frames"]
    first, last = map(int, baked.split(":")) if baked else frames_of(blend)
    render(blend, still, last, STILL, STILL_SAMPLES)
    join([still], pictures / f"{name}.webp", [HELD], QUALITY)
    step = -(-(last - first + 1) // MOST)
    frames = range(first + (last - first) % step, last + 1, step)
    render_moving(blend, pictures / f"{name}_moving.webp", frames, MOVING, QUALITY, MOVING_SAMPLES, HELD)


def cells(row: dict[str, Any]) -> list[str]:
    """A row as the texts of COLUMNS."""
    return [
        f"`{row['scene']}`", f"{row['vertices']}", f"{row['frames']}", f"{row['seconds_per_frame']:.2f}",
        f"{row['slowest_frame']:.1f}", f"{row['largest_stretch']:.3f}", f"{row['exact']}", f"{row['drawn']}",
        f"{row['ipctk']}", f"{row['released']}", f"{row['unclean']}", row["of"],
    ]  # fmt: skip


def table(rows: Sequence[dict[str, Any]]) -> str:
    return markdown(COLUMNS, map(cells, rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all that are there")
    parser.add_argument("--of", type=Path, default=OUT, help="the folder that make scenes filled")
    parser.add_argument("--note", default="", help="what a reader of the numbers must know: a shared machine, say")
    options = parser.parse_args()
    folder, refused = options.of.resolve(), []
    for name in options.names or sorted(path.parent.name for path in folder.glob(f"*/{DONE}")):
        try:
            row = shown(name, folder / name)
        except ValueError as error:
            refused.append(str(error))
            continue
        film(name, folder / name, PICTURES)
        results.save(machine.name(select("cpu")), PART, [row], ("scene",), "make scenes", options.note, row["of"])
        print(f"{name}: shown", flush=True)
    PAGE.write_text(page.filled(PAGE.read_text(encoding="utf-8"), results.every(), {PART: table}), encoding="utf-8")
    if refused:
        sys.exit("\n".join(refused))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures of docs/theory: runs each scene with the solver and renders it.

    python -m taffeta.benchmarks.pictures [NAME ...] [--folder DIR] [--vertices N] [--percentage P]

Prints what a caption may say: vertices, stretch, late steps, crossings. The frames' progress goes to stderr.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from . import bending, friction, guarantee, inside, locking, methods
from .part import Picture
from .stage import render

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures" / "theory"
PICTURES: dict[str, Picture] = {
    picture.name: picture
    for theme in (guarantee, locking, friction, bending, methods, inside)
    for picture in theme.PICTURES
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*PICTURES, []], metavar="NAME", help=", ".join(PICTURES))
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--vertices", type=int, help="of a run; None: each picture's own")
    parser.add_argument("--percentage", type=int, default=75, help="of the film's size")
    options = parser.parse_args()
    for name in options.names or PICTURES:
        picture = PICTURES[name]
        parts = picture.take(options.vertices or picture.vertices)
        render(picture, parts, options.folder / f"{name}.png", options.percentage)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""`make samples`: the papers' scenes as small files that open in Blender 4.2 and later, ready to bake.

    python -m taffeta.sample_blends.stored [FOLDER]

Those on the fetched character are not among them: nothing of it is passed on.
"""

from __future__ import annotations

import sys
from pathlib import Path

import bpy

import taffeta

from . import build, small

HERE = Path(__file__).resolve().parent
DEMO = 10000  #: vertices of the drape, which `make demo` bakes
STORED = (
    "bending_strip", "card_shuffle", "cloth_blender", "drape_on_sphere", "folding", "knot", "lumpy_body", "needles",
    "reef_knot", "ribbons", "stack_on_teapot", "tablecloth_pull", "teapot_spout", "twisted_cylinder", "twisting_cloth",
)  # fmt: skip


def store(folder: Path) -> None:
    """Build every one of STORED into `folder`, compressed."""
    bpy.context.preferences.filepaths.save_version = 0
    for name in STORED:
        bpy.ops.wm.read_homefile(use_empty=True)
        build(name, DEMO if name == "drape_on_sphere" else small(name))
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"), compress=True)


def main() -> None:
    taffeta.register()
    store(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
    taffeta.unregister()


if __name__ == "__main__":
    main()

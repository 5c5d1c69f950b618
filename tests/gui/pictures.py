# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the manual's pictures of the panels, in the window of Blender 4.3: python -m taffeta.tests.gui.pictures

As root, on Debian, with debootstrap.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from taffeta.extension import build
from taffeta.gpu_core.backend.build import machine
from taffeta.tests.gui.debian import prepare
from taffeta.tests.gui.drape import ROOT, open_drape, save_sample
from taffeta.tests.gui.window import Window

FOLDER = ROOT / "docs" / "pictures" / "manual"
SHOWN = {"physics": ("PROPERTIES", "WINDOW"), "sidebar": ("VIEW_3D", "UI")}  #: editor and region of each picture
SIZE = 2300, 2500  #: pixels; Properties has room for every panel, with its labels in full
CORNER = 12  #: pixels; the height in which an editor's lower corners are round
MARGIN = 8  #: pixels below the last panel
COLOURS = 256


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        shared = Path(name)
        window = Window(prepare("4.3"), build(machine(), shared / "dist"), shared, SIZE)
        try:
            show_all(window)
            window.screenshot(shared / "screen.png")
            screen = Image.open(shared / "screen.png").convert("RGB")
            for picture, region in SHOWN.items():
                panels = filled(cut(screen, window.ask(f"rectangle{region}")))
                panels.quantize(COLOURS, dither=Image.Dither.NONE).save(FOLDER / f"{picture}.png", optimize=True)
        finally:
            window.close()


def show_all(window: Window) -> None:
    """The sample at the end of a bake, and every panel of its cloth open."""
    window.do("bpy.context.preferences.system.use_region_overlap = False")
    window.do("open_panels()")
    drape = open_drape(window, save_sample(window).parent)
    window.click("bpy.ops.taffeta.bake()")
    headline = drape.until_over()
    if not headline.startswith("Baked"):
        raise RuntimeError(headline)
    window.do("bpy.context.scene.frame_set(bpy.context.scene.frame_end)")
    window.point_at("VIEW_3D", "WINDOW")  # no button is lit up, and no tooltip comes
    window.redraw()


def cut(screen: Image.Image, rectangle: tuple[int, int, int, int]) -> Image.Image:
    """The part (left, top, width, height) of the screen."""
    left, top, width, height = rectangle
    return screen.crop((left, top, left + width, top + height))


def filled(region: Image.Image) -> Image.Image:
    """A region without its empty lower part, whose rows are all alike but for its corners."""
    rows = np.asarray(region)[:-CORNER]
    last = int(np.flatnonzero((rows != rows[-1]).any(axis=(1, 2)))[-1])
    return region.crop((0, 0, region.width, last + MARGIN))


if __name__ == "__main__":
    main()

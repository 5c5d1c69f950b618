# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the manual's pictures of the panels, in the window of Blender 4.3: python -m taffeta.tests.gui.pictures

As root, on Debian, with debootstrap.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from taffeta.extension import build
from taffeta.gpu_core.backend.build import machine
from taffeta.tests.gui.debian import prepare
from taffeta.tests.gui.drape import ROOT, open_drape, save_sample
from taffeta.tests.gui.window import Window, install

FOLDER = ROOT / "docs" / "pictures" / "manual"
SHOWN = {"physics": ("PROPERTIES", "WINDOW"), "sidebar": ("VIEW_3D", "UI")}  #: editor and region of each picture
SIZE = 2300, 2500  #: pixels; Properties has room for every panel, with its labels in full
CORNER = 12  #: pixels; the height in which an editor's lower corners are round
MARGIN = 8  #: pixels below the last panel
COLOURS = 256
A_MOMENT = 2.0  #: s, in which a second window is drawn, and smooth scrolling ends


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        shared = Path(name)
        root, folder = prepare("4.3"), shared / "dist"
        window = Window(root, install(root, build(machine(), folder), folder), shared, SIZE)
        try:
            show_all(window)
            screen = seen(window)
            for picture, region in SHOWN.items():
                save(filled(cut(screen, window.ask(f"rectangle{region}"))), picture)
            show_preferences(window)
            save(cut(seen(window), window.ask("preferences_rectangle()")), "preferences")
        finally:
            window.close()


def show_all(window: Window) -> None:
    """The sample at the end of a bake, and every panel of its cloth open."""
    window.do("bpy.context.preferences.system.use_region_overlap = False")
    window.do("open_panels()")
    window.do("make_room()")
    drape = open_drape(window, save_sample(window).parent)
    drape.begin()
    headline = drape.until_over()
    if not headline.startswith("Baked"):
        raise RuntimeError(headline)
    window.do("bpy.context.scene.frame_set(bpy.context.scene.frame_end)")
    window.point_at("VIEW_3D", "WINDOW")  # no button is lit up, and no tooltip comes
    window.redraw()


def show_preferences(window: Window) -> None:
    """After a look for a graphics card, down to the last button."""
    window.do("bpy.ops.taffeta.gpu_look()")
    window.until("graphics_card()._question is None")
    window.do("show_preferences()")
    time.sleep(A_MOMENT)
    window.do("scroll_preferences()")
    time.sleep(A_MOMENT)


def seen(window: Window) -> Image.Image:
    with tempfile.NamedTemporaryFile(suffix=".png") as file:
        window.screenshot(Path(file.name))
        return Image.open(file.name).convert("RGB")


def save(picture: Image.Image, name: str) -> None:
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(FOLDER / f"{name}.png", optimize=True)


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

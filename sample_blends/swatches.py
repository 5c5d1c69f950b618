# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes one drape of every fabric and puts small pictures into one sheet: the swatches of docs/manual/fabrics.md.

    python -m taffeta.sample_blends.swatches [--folder DIR] [--vertices N] [--sheet PICTURE.webp] [FABRIC …]

What is baked in DIR already is not baked again. Needs Pillow, which the tests' environment has.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import bpy
from PIL import Image, ImageDraw, ImageFont

from ..gpu_core.scene.fabrics import FABRICS, Fabric
from .demo import ROOT, taffeta
from .render import give_body, save_picture

SHEET = ROOT / "docs" / "pictures" / "manual" / "fabrics.webp"
VERTICES = 2000
LENS = 92.0  #: mm, so that the cloth fills the picture
FILM = (300, 280)  #: pixels
SAMPLES = 16  #: a pixel; denoised
COLUMNS = 6
LINE = 26  #: pixels of a name's line
PAPER, INK = (236, 234, 230), (40, 38, 36)
QUALITY = 80  #: of WebP, in percent


def swatch(fabric: Fabric, folder: Path, vertices: int) -> Path:
    """The picture of the last frame of this fabric's drape, in `folder`; baked there where it is not yet."""
    name = fabric.identifier.lower()
    baked, picture = folder / f"{name}.blend", folder / f"{name}.png"
    if not baked.exists():
        source = folder / "drape.blend"
        taffeta("sample", "drape_on_sphere", "--vertices", str(vertices), "--out", str(source))
        place = ("--cache", str(folder / "caches" / name), "--save-blend", str(baked))
        taffeta("bake", str(source), "--backend", "cpu", "--set", f"Cloth.preset={fabric.identifier}", *place)
    bpy.ops.wm.open_mainfile(filepath=str(baked))
    scene = bpy.context.scene
    scene.camera.data.lens = LENS
    scene.render.resolution_x, scene.render.resolution_y = FILM
    scene.cycles.samples, scene.render.dither_intensity = SAMPLES, 0.0
    scene.frame_set(scene.frame_end)
    cloth = scene.objects["Cloth"]
    give_body(cloth)
    cloth.modifiers.remove(cloth.modifiers["Smooth"])  # rounded, so coarse a sheet would sink into the sphere
    save_picture(picture, 100)
    return picture


def assemble(fabrics: Sequence[Fabric], pictures: Sequence[Path], sheet: Path) -> None:
    """All pictures in rows, each above its fabric's name."""
    width, height = FILM
    columns = min(COLUMNS, len(pictures))
    rows = -(-len(pictures) // columns)
    whole = Image.new("RGB", (columns * width, rows * (height + LINE)), PAPER)
    draw, font = ImageDraw.Draw(whole), ImageFont.load_default(size=17)
    for number, (fabric, picture) in enumerate(zip(fabrics, pictures, strict=True)):
        row, column = divmod(number, columns)
        left, top = column * width, row * (height + LINE)
        with Image.open(picture) as shown:
            whole.paste(shown.convert("RGB"), (left, top))
        draw.text((left + width / 2, top + height + LINE / 2), fabric.name, INK, font, anchor="mm")
    whole.save(sheet, quality=QUALITY, method=6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [fabric.identifier.lower() for fabric in FABRICS]
    parser.add_argument("fabrics", nargs="*", metavar="FABRIC", help=f"of {', '.join(names)}; all by default")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "swatches")
    parser.add_argument("--vertices", type=int, default=VERTICES)
    parser.add_argument("--sheet", type=Path, default=SHEET)
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [fabric for fabric in FABRICS if not options.fabrics or fabric.identifier.lower() in options.fabrics]
    assemble(chosen, [swatch(fabric, folder, options.vertices) for fabric in chosen], options.sheet)


if __name__ == "__main__":
    main()

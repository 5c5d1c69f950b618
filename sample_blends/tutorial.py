# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes the first garment and renders each of its steps: the pictures of docs/manual/first_garment.md.

    python -m taffeta.sample_blends.tutorial [--folder DIR] [--pictures DIR] [--percentage P]

What is baked in DIR already is not baked again. Needs Pillow, which the tests' environment has.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import bpy
from PIL import Image

from .demo import ROOT, taffeta
from .look import plaster
from .render import open_clothed, save_picture

PICTURES = ROOT / "docs" / "pictures" / "manual"
VERTICES = 1000
STEPS = {"panels": 1, "threads": 1, "closing": 22, "sewn": 46, "gathered": 84}  #: frame, by step
THREAD = 2.5e-3  #: m, its radius in the picture
QUALITY = 80  #: of WebP, in percent


def illustrate(folder: Path, pictures: Path, percentage: int) -> None:
    """Write first_garment_STEP.webp of all STEPS into `pictures`."""
    baked = folder / "first_garment.blend"
    if not baked.exists():
        source = folder / "source.blend"
        taffeta("sample", "first_garment", "--vertices", str(VERTICES), "--out", str(source))
        taffeta("bake", str(source), "--backend", "cpu", "--save-blend", str(baked))
    for step, frame in STEPS.items():
        scene = open_clothed(baked)
        scene.render.dither_intensity = 0.0
        if step == "threads":
            show_threads(scene.objects["Tunic"])
        scene.frame_set(frame)
        still = folder / f"{step}.png"
        save_picture(still, percentage)
        with Image.open(still) as picture:
            picture.convert("RGB").save(pictures / f"first_garment_{step}.webp", quality=QUALITY, method=6)


def show_threads(tunic: bpy.types.Object) -> None:
    """Edges without a face, as tubes: nothing else would render of them."""
    curve = bpy.data.curves.new("Threads", "CURVE")
    curve.dimensions, curve.bevel_depth = "3D", THREAD
    curve.materials.append(plaster((0.80, 0.55, 0.10)))
    for edge in tunic.data.edges:
        if edge.is_loose:
            spline = curve.splines.new("POLY")
            spline.points.add(1)
            for point, vertex in zip(spline.points, edge.vertices, strict=True):
                point.co = (*tunic.data.vertices[vertex].co, 1.0)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Threads", curve))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "first_garment")
    parser.add_argument("--pictures", type=Path, default=PICTURES)
    parser.add_argument("--percentage", type=int, default=55, help="of the film's size")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    illustrate(folder, options.pictures, options.percentage)


if __name__ == "__main__":
    main()

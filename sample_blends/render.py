# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders one frame of a .blend file with the file's own camera and settings.

    python -m taffeta.sample_blends.render FILE.blend PICTURE.png [--frame N] [--percentage P]

A baked cloth needs no add-on here: Blender's Mesh Cache modifier plays it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import bpy

HEM = 1.0e-3  #: m, how thick the picture shows cloth


def render(blend: Path, picture: Path, frame: int | None = None, percentage: int = 100) -> None:
    """Write `picture` (PNG); `frame` None takes the last one, `percentage` scales the file's resolution."""
    bpy.ops.wm.open_mainfile(filepath=str(blend.resolve()))
    scene = bpy.context.scene
    scene.frame_set(scene.frame_end if frame is None else frame)
    for thing in scene.objects:
        if any(modifier.type == "MESH_CACHE" for modifier in thing.modifiers):
            give_body(thing)
    save_picture(picture, percentage)


def save_picture(picture: Path, percentage: int) -> None:
    """Render the open scene's current frame to `picture` (PNG); `percentage` scales the scene's resolution."""
    settings = bpy.context.scene.render
    picture.parent.mkdir(parents=True, exist_ok=True)
    settings.filepath = str(picture.resolve())
    settings.resolution_percentage = percentage
    _sign_nothing(settings)
    bpy.ops.render.render(write_still=True)


def give_body(cloth: bpy.types.Object, scale: float = 1.0) -> None:
    """A thickness and rounder folds, in the picture only. scale: of what is shown to what was made."""
    body = cloth.modifiers.new("Body", "SOLIDIFY")
    body.thickness, body.offset = scale * HEM, 0.0
    smooth = cloth.modifiers.new("Smooth", "SUBSURF")
    smooth.levels = smooth.render_levels = 1
    smooth.uv_smooth = "NONE"  # woven stripes stay straight


def _sign_nothing(settings: bpy.types.RenderSettings) -> None:
    """Blender writes paths, dates and times into a picture unless it is told not to."""
    for name in (
        "use_stamp_filename", "use_stamp_date", "use_stamp_render_time", "use_stamp_hostname", "use_stamp_memory"
    ):  # fmt: skip
        setattr(settings, name, False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("blend", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--frame", type=int)
    parser.add_argument("--percentage", type=int, default=100)
    options = parser.parse_args()
    render(options.blend, options.picture, options.frame, options.percentage)


if __name__ == "__main__":
    main()

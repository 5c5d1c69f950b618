# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders a .blend file with the file's own camera and settings: one frame, or several as a picture that moves.

    python -m taffeta.sample_blends.render FILE.blend PICTURE.png [--frame N] [--percentage P]
    python -m taffeta.sample_blends.render FILE.blend PICTURE.webp --frames A:B [--step S] [--quality Q] …

A baked cloth needs no add-on here: Blender's Mesh Cache modifier plays it. WebP is written by Pillow.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import bpy

HEM = 1.0e-3  #: m, how thick the picture shows cloth
QUALITY = 70  #: of WebP, in percent
PACKED = 6  #: how hard WebP tries to be small, 6 at most


def render(
    blend: Path, picture: Path, frame: int | None = None, percentage: int = 100, samples: int | None = None
) -> None:
    """Write `picture` (PNG); `frame` None takes the last one, `percentage` scales the file's resolution."""
    scene = open_clothed(blend, samples)
    scene.frame_set(scene.frame_end if frame is None else frame)
    save_picture(picture, percentage)


def render_moving(
    blend: Path,
    picture: Path,
    frames: range,
    percentage: int = 100,
    quality: int = QUALITY,
    samples: int | None = None,
    held: float | None = None,
) -> None:
    """Write `picture` (WebP): these frames, over and over, each as long as in the scene. quality: percent.

    held: ms that the last one is shown, if it is longer.
    """
    scene = open_clothed(blend, samples)
    scene.render.use_persistent_data = True  # from frame to frame
    scene.render.dither_intensity = 0.0  # noise against banding is most of a denoised picture's bytes
    with TemporaryDirectory() as folder:
        stills = [Path(folder) / f"{frame}.png" for frame in frames]
        for frame, still in zip(frames, stills, strict=True):
            scene.frame_set(frame)
            save_picture(still, percentage)
        each = 1000.0 * frames.step * scene.render.fps_base / scene.render.fps
        join(stills, picture, [each] * (len(stills) - 1) + [held or each], quality)


def join(stills: Iterable[Path], picture: Path, shown: Sequence[float], quality: int) -> None:
    """Write `picture` (WebP) of stills. shown: ms, for each of them. quality: percent."""
    from PIL import Image  # only for this, and no part of Blender

    first, *rest = [Image.open(still).convert("RGB") for still in stills]
    picture.parent.mkdir(parents=True, exist_ok=True)
    each = [*map(round, shown)]
    first.save(picture, save_all=True, append_images=rest, duration=each, loop=0, quality=quality, method=PACKED)


def open_clothed(blend: Path, samples: int | None = None) -> bpy.types.Scene:
    """Open a file whose baked cloths get their thickness. samples: a pixel; None takes the file's."""
    bpy.ops.wm.open_mainfile(filepath=str(blend.resolve()))
    scene: bpy.types.Scene = bpy.context.scene
    scene.cycles.samples = samples or scene.cycles.samples
    for thing in scene.objects:
        if any(modifier.type == "MESH_CACHE" for modifier in thing.modifiers):
            give_body(thing)
    return scene


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
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--frame", type=int, help="the last one, if it is not said")
    which.add_argument("--frames", type=_first_and_last, metavar="A:B", help="a picture that moves, of these frames")
    parser.add_argument("--step", type=int, default=1, help="every so many of them")
    parser.add_argument("--quality", type=int, default=QUALITY, help="of a picture that moves, in percent")
    parser.add_argument("--percentage", type=int, default=100, help="of the film's size")
    parser.add_argument("--samples", type=int, help="a pixel; the file's, if it is not said")
    options = parser.parse_args()
    if options.frames is None:
        render(options.blend, options.picture, options.frame, options.percentage, options.samples)
        return
    if options.picture.suffix != ".webp" or options.step < 1:
        parser.error("a picture that moves is a .webp, of every frame or of every so many")
    first, last = options.frames
    frames = range(first, last + 1, options.step)
    render_moving(options.blend, options.picture, frames, options.percentage, options.quality, options.samples)


def _first_and_last(text: str) -> tuple[int, int]:
    first, last = (int(number) for number in text.split(":"))
    if first > last:
        raise ValueError(text)
    return first, last


if __name__ == "__main__":
    main()

"""The bake back in Blender: a Mesh Cache modifier per cloth that plays its PC2 file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import bpy

from ..gpu_core.cache import frames_path
from . import modifier
from .gather import cloth_objects


def attach(cloths: Mapping[str, bpy.types.Object], frame_start: int, folder: Path) -> None:
    """Give each cloth, by its cache key, the modifier that plays its frames in `folder`.

    Paths are relative to the open .blend; Blender itself makes them right for another one that it saves.
    """
    home = Path(bpy.data.filepath) if bpy.data.filepath else None
    for key, item in cloths.items():
        own = _ensure(item)
        own.filepath = blend_path(frames_path(folder, key), home)
        own.frame_start = float(frame_start)
        item.update_tag()


def detach(scene: bpy.types.Scene) -> int:
    """Remove our modifiers from the scene's cloths; the number removed."""
    found = [(item, own) for item in cloth_objects(scene) if (own := modifier.find(item)) is not None]
    for item, own in found:
        item.modifiers.remove(own)
    return len(found)


def blend_path(path: Path, home: Path | None) -> str:
    """`path` as Blender stores it: `//…` relative to the .blend at `home`; absolute without one or on another drive."""
    path = path.resolve()
    if home is None:
        return str(path)
    try:
        relative = os.path.relpath(path, home.resolve().parent)
    except ValueError:  # Windows: no relative path between drives
        return str(path)
    return "//" + Path(relative).as_posix()


def _ensure(item: bpy.types.Object) -> bpy.types.MeshCacheModifier:
    place = modifier.place(item)
    own = modifier.find(item)
    if own is None:
        own = item.modifiers.new(modifier.NAME, "MESH_CACHE")
        item.modifiers.move(item.modifiers.find(own.name), place)
    own.cache_format = "PC2"
    own.time_mode, own.play_mode = "FRAME", "SCENE"
    own.deform_mode, own.interpolation = "OVERWRITE", "LINEAR"
    own.show_viewport = own.show_render = True
    return own

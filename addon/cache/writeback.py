# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake back in Blender: a Mesh Cache modifier per cloth that plays its PC2 file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import bpy

from ...gpu_core.files.cache import frames_path
from ..scene import modifier, triangulation
from . import place as cache_place
from . import velocity


def attach(cloths: Mapping[str, bpy.types.Object], frame_start: int, folder: Path) -> None:
    """Give each cloth, by its cache key, the modifier that plays its frames in `folder`.

    Paths are relative to the open .blend; Blender itself makes them right for another one that it saves.
    """
    home = cache_place.open_file()
    for key, item in cloths.items():
        path = cache_place.blend_path(frames_path(folder, key), home)
        modifier.play(_ensure(item), _unlike_the_librarys(item, path), frame_start)
        triangulation.attach(item)
        velocity.remove(item)  # of an earlier bake
        item.update_tag()


def _unlike_the_librarys(item: bpy.types.Object, path: str) -> str:
    """Of an override Blender saves only what is written otherwise than in its library, whatever it means there."""
    if item.override_library is None or item.override_library.reference is None:
        return path
    theirs = modifier.find(item.override_library.reference)
    return path.replace("//", "//./", 1) if theirs is not None and theirs.filepath == path else path


def detach(scene: bpy.types.Scene) -> int:
    """Remove our modifiers from what is or was cloth of the scene; the number removed."""
    found = [
        (item, own)
        for item in cache_place.players(scene)
        if (own := modifier.find(item)) is not None and not cache_place.shared(item, scene)
    ]
    for item, own in found:
        velocity.remove(item)
        item.modifiers.remove(own)
        triangulation.remove(item)
    return len(found)


def _ensure(item: bpy.types.Object) -> bpy.types.MeshCacheModifier:
    place = modifier.place(item)
    own = modifier.find(item)
    if own is None:
        own = item.modifiers.new(modifier.NAME, "MESH_CACHE")
        item.modifiers.move(item.modifiers.find(own.name), place)
    modifier.take_before(item)
    return own

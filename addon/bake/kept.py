# SPDX-License-Identifier: GPL-3.0-or-later
"""What bakes have left on the disk: it is played, freed, and another bake may take it away."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import bpy

from ...gpu_core.files import cache
from ...gpu_core.files import folder as own_folder
from ...gpu_core.scene.scene import SceneError
from ..cache import place, status, writeback
from ..scene import keys
from ..scene.gather import cloth_objects, own_cloths
from . import session


def free(scene: bpy.types.Scene) -> int:
    """Delete the scene's caches and our modifiers, and nothing else; the number of cloths that had one.

    A cache that belongs to another file stays there; only its modifiers go.

    Raises:
        BusyError: a bake writes into the folder.
        DiskError: a file cannot be deleted.
    """
    folders = place.all_of(scene)
    count = writeback.detach(scene)
    session.forget()
    try:
        for folder in folders:
            if not place.foreign(folder, scene):
                own_folder.free(folder)
    finally:
        status.look(scene)
    return count


def play(scene: bpy.types.Scene) -> int:
    """Let each cloth show the frames that lie on the disk; the number of cloths. Raises CacheError, DiskError."""
    count = 0
    for cloth in own_cloths(scene):
        folder = place.lies(scene, cloth)
        if folder is None:
            continue
        contents, assigned = cache.read_contents(folder), keys.assign(cloth_objects(scene))
        key = assigned[cloth.name_full]
        if key in contents.points:
            writeback.attach({key: cloth}, contents.frame_start, folder)
            count += 1
    status.look(scene)
    return count


def would_replace(
    scene: bpy.types.Scene, after: int | None = None, cloths: Sequence[bpy.types.Object] | None = None
) -> str:
    """What a bake of these cloths, or of all, takes away, in words, whether it is played or not; or nothing. Frames up
    to `after` stay, and so does the bake of another scene or file, which a bake here goes beside.

    Raises SceneError where some cloths have no place to be baked to.
    """
    if cloths is not None:
        return _lost(scene, [place.target(scene, cloths=cloths)], after)
    folders = [folder for cloth in cloth_objects(scene) if (folder := status.folder_of(scene, cloth)) is not None]
    with suppress(SceneError):
        folders.append(place.target(scene))
    return _lost(scene, folders, after)


def would_free(scene: bpy.types.Scene) -> str:
    """What `free` takes away, in words, or nothing."""
    return _lost(scene, place.all_of(scene))


def _lost(scene: bpy.types.Scene, folders: Sequence[Path], after: int | None = None) -> str:
    every = (status.held_in(scene, folder) for folder in dict.fromkeys(folders))
    found = [held for held in every if held.frames and not held.foreign]
    lines = []
    for held in found:
        first = held.contents.frame_start if held.contents else 0
        lost = held.frames if after is None else first + held.frames - 1 - after
        if lost > 0:
            lines.append(f"{lost} frames of {', '.join(held.contents.points) if held.contents else 'a cache'}")
    size = sum(held.size for held in found) / 2**20
    return f"{'; '.join(lines)} are lost ({size:.1f} MiB)" if lines else ""

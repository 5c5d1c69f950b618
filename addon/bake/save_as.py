# SPDX-License-Identifier: GPL-3.0-or-later
"""What a file's caches do when it is saved under another name.

A cache that lay in the temporary folder moves beside the file: nobody else can have it. Any other stays with the file
it was baked for, and Blender itself makes the modifiers' paths right, so both files play it; the next bake of the new
file goes to its own place, and a resume there first copies what is done.
"""

from __future__ import annotations

from pathlib import Path

import bpy

from ...gpu_core.files.cache import CacheError
from ...gpu_core.files.disk import DiskError
from ...gpu_core.files.folder import JOB, holds_bake
from ...gpu_core.scene.scene import SceneError
from ..cache import place
from ..scene import modifier
from . import session

stranded: dict[str, str] = {}  #: temporary folders whose caches could not be moved, and why
_playing: list[tuple[bpy.types.Object, str]] = []  #: who plays from a temporary folder, and its path there, in a save


def point(scene: bpy.types.Scene, home: Path) -> None:
    """Before the scene is written to a .blend: its modifiers name the place to which `settle` moves their frames."""
    for folder, items in _temporary(scene):
        to = place.saved(folder, scene, home)
        if holds_bake(to):  # nothing can be moved there
            continue
        for item in items:
            if (own := modifier.find(item)) is not None:
                _playing.append((item, own.filepath))
                own.filepath = place.blend_path(to / bpy.path.basename(own.filepath), place.open_file())


def point_back() -> None:
    """The .blend is written, or will not be: what was not moved yet plays from where it is."""
    for item, path in _playing:
        if (own := modifier.find(item)) is not None:
            own.filepath = path
    _playing.clear()


def settle(scene: bpy.types.Scene) -> list[str]:
    """Move the caches of this scene out of the temporary folder, once it has a place; the troubles with that.

    A bake that still writes there is left alone until it has ended.
    """
    home = place.open_file()
    if home is None or session.current is not None:
        return []
    troubles = []
    for folder, items in _temporary(scene):
        stranded.pop(str(folder), None)
        try:
            to = place.saved(folder, scene, home)
            place.move(folder, to)
            place.claim(to / JOB, to, scene)
        except (CacheError, DiskError, SceneError) as error:
            stranded[str(folder)] = str(error)
            troubles.append(str(error))
            continue
        for item in items:
            if (own := modifier.find(item)) is not None:
                own.filepath = place.blend_path(to / bpy.path.basename(own.filepath), home)
    return troubles


def forget() -> None:
    """What could not be moved was another file's."""
    stranded.clear()


def _temporary(scene: bpy.types.Scene) -> list[tuple[Path, list[bpy.types.Object]]]:
    """The folders that go with Blender, each with who plays from there, whatever its role is by now."""
    folders = place.attached(place.players(scene))
    return [(folder, items) for folder, items in folders.items() if place.is_temporary(str(folder))]

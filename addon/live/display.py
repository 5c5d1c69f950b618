# SPDX-License-Identifier: GPL-3.0-or-later
"""How Live is seen: a Mesh Cache modifier that plays one frame from a temporary folder, and is never rendered.

The mesh stays untouched, and modifiers after it refine what it shows. Saved files do not hold it (`handlers`); one that
a crash or an undo step has brought back is removed.
"""

from __future__ import annotations

from pathlib import Path

import bpy

from ..scene import modifier


def show(cloth: bpy.types.Object, path: Path) -> None:
    """Let the cloth look as this point cache of one frame says."""
    own = find(cloth)
    if own is None:
        place = modifier.place(cloth) + (modifier.find(cloth) is not None)  # after the baked frames, instead of them
        own = cloth.modifiers.new(modifier.LIVE, "MESH_CACHE")
        cloth.modifiers.move(cloth.modifiers.find(own.name), place)
        own.cache_format, own.deform_mode, own.time_mode = "PC2", "OVERWRITE", "FRAME"
        own.play_mode, own.eval_frame = "CUSTOM", 0.0  # so that another current frame alone evaluates nothing
        own.show_render = own.show_expanded = False
    own.filepath = str(path)


def find(cloth: bpy.types.Object) -> bpy.types.MeshCacheModifier | None:
    """The modifier on this object, or None."""
    return cloth.modifiers.get(modifier.LIVE)


def remove() -> None:
    """Take it from every object of the file."""
    for item in bpy.data.objects:
        own = find(item)
        if own is not None and item.library is None:
            item.modifiers.remove(own)

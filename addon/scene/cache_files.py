# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that move an object: Alembic, USD, and Mesh Caches, as a garment has that is a body by now. Without its file
Blender leaves it where it was, and says so on the terminal alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import bpy

from . import modifier


def missing(item: bpy.types.Object) -> str:
    """The path of a file that it or a parent is moved by and that is not there; or nothing. For drawing too."""
    return next((path for path, library in _of(item) if not _is_there(path, library)), "")


def _is_there(path: str, library: bpy.types.Library | None) -> bool:
    return Path(bpy.path.abspath(path, library=library)).is_file()


def _of(item: bpy.types.Object | None) -> Iterator[tuple[str, bpy.types.Library | None]]:
    """Paths as Blender stores them. What a cloth plays of its own bake does not move it in the next one."""
    while item is not None:
        shown = [entry for entry in item.modifiers if entry.show_viewport]
        movers = [entry for entry in shown if entry.type == "MESH_SEQUENCE_CACHE"]
        movers += [entry for entry in item.constraints if entry.type == "TRANSFORM_CACHE" and entry.enabled]
        files = [entry.cache_file for entry in movers if entry.cache_file is not None]
        yield from ((file.filepath, file.library) for file in files if not file.is_sequence)
        own = modifier.find(item) if item.taffeta.role == "CLOTH" else None
        caches = [entry for entry in shown if entry.type == "MESH_CACHE" and entry != own and entry.filepath]
        yield from ((entry.filepath, item.library) for entry in caches)
        item = item.parent

# SPDX-License-Identifier: GPL-3.0-or-later
"""Alembic and USD files that move an object: without its file Blender leaves it where it was, and says so on the
terminal alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import bpy


def missing(item: bpy.types.Object) -> str:
    """The path of a file that it or a parent is moved by and that is not there; or nothing. For drawing too."""
    for file in _of(item):
        path = bpy.path.abspath(file.filepath, library=file.library)
        if not file.is_sequence and not Path(path).is_file():
            return str(file.filepath)
    return ""


def _of(item: bpy.types.Object | None) -> Iterator[bpy.types.CacheFile]:
    while item is not None:
        movers = [entry for entry in item.modifiers if entry.type == "MESH_SEQUENCE_CACHE" and entry.show_viewport]
        movers += [entry for entry in item.constraints if entry.type == "TRANSFORM_CACHE" and entry.enabled]
        yield from (entry.cache_file for entry in movers if entry.cache_file is not None)
        item = item.parent

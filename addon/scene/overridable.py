# SPDX-License-Identifier: GPL-3.0-or-later
"""Linked data. Of an override Blender lets an artist edit, and saves, only what is declared so; into linked collections
nothing new goes."""

from __future__ import annotations

from typing import Any, get_type_hints

import bpy

KEPT = {"LIBRARY_OVERRIDABLE"}


def declare(group: type[bpy.types.PropertyGroup]) -> None:
    """Before it is registered: an override keeps what this group stores, and what is added to its lists."""
    for name, deferred in get_type_hints(group).items():
        if "get" not in deferred.keywords:  # that one shows another
            is_list = deferred.function is bpy.props.CollectionProperty
            deferred.keywords["override"] = KEPT | {"USE_INSERTION"} if is_list else KEPT
        group.__annotations__[name] = deferred


def pointer(group: type[bpy.types.PropertyGroup]) -> Any:
    """The property of an object that leads to such a group."""
    return bpy.props.PointerProperty(type=group, override=KEPT)


def link_beside(scene: bpy.types.Scene, item: bpy.types.Object, new: bpy.types.Object) -> None:
    """Put a new object into the collections of another, or where those are linked, into the scene's own."""
    own = [place for place in item.users_collection if place.library is None and place.override_library is None]
    for place in own or [scene.collection]:
        place.objects.link(new)


def settle() -> None:
    """Before a file is written: Blender 5 saves nothing of a group within ours that nobody has read yet in the
    library's own object, for it takes it to be missing."""
    for item in bpy.data.objects:
        theirs = item.override_library.reference if item.override_library is not None else None
        if theirs is not None:
            _ = theirs.taffeta.cloth.thickness, theirs.taffeta.collider.thickness

# SPDX-License-Identifier: GPL-3.0-or-later
"""Cache keys: the file name of each cloth's cache, and the folder name of each scene's.

A key follows from the object's name until the first bake stores it on the object; from then on it survives renaming.
So the same .blend always finds its cache, saved after the bake or not.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable

import bpy

from ...gpu_core.files.folder import DEVICES

UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
LINKED = 1 << 40  #: more objects than a session makes
LONGEST = 80  #: characters of a stem


def file_stem(name: str) -> str:
    """A name that every file system accepts; a checksum keeps names apart that would fall together."""
    safe = UNSAFE.sub("_", name).strip(".")[:LONGEST]
    if safe and safe == name and not DEVICES.match(safe):
        return safe
    return f"{'_' if DEVICES.match(safe) else ''}{safe}-{zlib.crc32(name.encode()):08x}"


def assign(cloths: Iterable[bpy.types.Object]) -> dict[str, str]:
    """The key of each cloth, by its full name (`name_full`); all different, also where case does not count.

    Of two objects with the same stored key – one is a copy – the older one keeps it, and one that is linked does not.
    """
    return _different({cloth.name_full: (_age(cloth), cloth.taffeta.cloth.cache_key) for cloth in cloths})


def _age(cloth: bpy.types.Object) -> int:
    """The lower the older; what is linked is younger than all else."""
    return cloth.session_uid + (LINKED if cloth.library is not None else 0)


def scene_key(scene: bpy.types.Scene) -> str:
    """The folder name of this scene; no other scene of the file has it."""
    return _different({other.name_full: (other.session_uid, other.taffeta.cache_key) for other in bpy.data.scenes})[
        scene.name_full
    ]


def settle(cloths: Iterable[bpy.types.Object]) -> None:
    """Take the key from every copy: who is older is known only until the file is closed."""
    items = list(cloths)
    assigned = assign(items)
    for item in items:
        stored = item.taffeta.cloth.cache_key
        if stored and item.library is None and file_stem(stored) != assigned[item.name_full]:
            item.taffeta.cloth.cache_key = ""


def _different(holders: dict[str, tuple[int, str]]) -> dict[str, str]:
    """The key of each name: the stored one where there is one that nobody older has.

    holders: of each name a number, the higher the younger, and what is stored.
    """
    stored = {name: key for name, (_, key) in holders.items()}
    taken: set[str] = set()
    keys: dict[str, str] = {}
    for name in sorted(stored, key=lambda name: (not stored[name], holders[name][0] if stored[name] else 0, name)):
        wanted = file_stem(stored[name] or name)  # what is stored in a file from elsewhere may be any text
        if wanted.casefold() in taken:
            wanted = file_stem(name)
        key, count = wanted, 1
        while key.casefold() in taken:
            count += 1
            key = f"{wanted}-{count}"
        taken.add(key.casefold())
        keys[name] = key
    return keys


def store(scene: bpy.types.Scene, cloths: Iterable[bpy.types.Object]) -> None:
    """Keep the keys on the scene and the objects, where they outlive a change of name."""
    items = list(cloths)
    assigned = assign(items)
    for holder, key in [
        (scene.taffeta, scene_key(scene)),
        *((item.taffeta.cloth, assigned[item.name_full]) for item in items),
    ]:
        if holder.cache_key != key and holder.id_data.library is None:
            holder.cache_key = key

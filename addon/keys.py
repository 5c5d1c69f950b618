"""Cache keys: the file name of each cloth's cache.

A key follows from the object's name until the first bake stores it on the object; from then on it survives renaming.
So the same .blend always finds its cache, saved after the bake or not.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable

import bpy

UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


def file_stem(name: str) -> str:
    """A name that every file system accepts; a checksum keeps names apart that would fall together."""
    safe = UNSAFE.sub("_", name).strip(".")
    return safe if safe == name else f"{safe}-{zlib.crc32(name.encode()):08x}"


def assign(cloths: Iterable[bpy.types.Object]) -> dict[str, str]:
    """The key of each cloth, by its full name (`name_full`); all different, also where case does not count.

    Of two objects with the same stored key – one is a copy – the first in the alphabet keeps it.
    """
    taken: set[str] = set()
    keys: dict[str, str] = {}
    for cloth in sorted(cloths, key=lambda item: (not item.taffeta.cloth.cache_key, item.name_full)):
        wanted = cloth.taffeta.cloth.cache_key or file_stem(cloth.name_full)
        if wanted.casefold() in taken:
            wanted = file_stem(cloth.name_full)
        key, count = wanted, 1
        while key.casefold() in taken:
            count += 1
            key = f"{wanted}-{count}"
        taken.add(key.casefold())
        keys[cloth.name_full] = key
    return keys


def store(cloths: Iterable[bpy.types.Object]) -> None:
    """Keep the keys on the objects, where they outlive a change of name."""
    items = list(cloths)
    assigned = assign(items)
    for item in items:
        if item.taffeta.cloth.cache_key != assigned[item.name_full]:
            item.taffeta.cloth.cache_key = assigned[item.name_full]

# SPDX-License-Identifier: GPL-3.0-or-later
"""From the user's collections and exceptions to who meets whom, by places in the list of a scene's objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import bpy

from ...gpu_core.scene.encounters import Encounter
from .bodies import Body, carries
from .encounter_properties import EncounterProperties


class Chosen(NamedTuple):
    """An exception for one cloth and one body, or two cloths."""

    place: int  #: in the user's list
    first: int  #: as of `Encounter`
    second: int
    entry: EncounterProperties


def chosen(scene: bpy.types.Scene, cloths: Sequence[bpy.types.Object], bodies: Sequence[Body]) -> list[Chosen]:
    """Those that a bake of these cloths and bodies knows: an object that instances others stands for all of them."""
    found = []
    for index, entry in enumerate(scene.taffeta.encounters):
        pairs = product(_places(entry.first, cloths, bodies), _places(entry.second, cloths, bodies))
        known = dict.fromkeys(pair for pair in pairs if min(pair) < len(cloths))
        found += [Chosen(index, first, second, entry) for first, second in known]
    return found


def meets(item: bpy.types.Object, bodies: Sequence[Body]) -> tuple[int, ...] | None:
    """Which of the bodies stop a cloth; None: all."""
    collection = item.taffeta.cloth.collision_collection
    if collection is None:
        return None
    among = set(collection.all_objects)
    return tuple(
        k for k, body in enumerate(bodies) if body.item.taffeta.role == "CLOTH" or among & {body.item, *body.carriers}
    )


def encounter(own: Chosen, numbers: dict[str, Any]) -> Encounter:
    """numbers: its friction, and the keys of that."""
    entry = own.entry
    return Encounter(
        own.first,
        own.second,
        entry.collides,
        numbers["friction"] if entry.use_friction else None,
        entry.frame_first if entry.use_frames else None,
        entry.frame_last if entry.use_frames else None,
        numbers.get("keys", {}) if entry.use_friction else {},
    )


def faults(scene: bpy.types.Scene) -> Iterator[tuple[int, str]]:
    """(its place, what is wrong) of exceptions that say nothing."""
    for index, entry in enumerate(scene.taffeta.encounters):
        if problem := fault(entry):
            yield index, problem


def fault(entry: EncounterProperties) -> str:
    """Why an exception says nothing, or nothing."""
    pair = (entry.first, entry.second)
    if None in pair:
        return "it does not name two objects"
    for item in pair:
        if item.taffeta.role == "NONE" and not carries(item):
            return f"“{item.name}” has no role, so nothing collides with it"
    if not any(item.taffeta.role == "CLOTH" for item in pair):
        return f"“{pair[0].name}” and “{pair[1].name}” are both bodies, which do not collide"
    if entry.use_frames and entry.frame_last < entry.frame_first:
        return f"it ends at frame {entry.frame_last}, before it begins at {entry.frame_first}"
    if pair[0] == pair[1] and not entry.collides and not pair[0].taffeta.cloth.self_collision:
        return f"Self Collision of “{pair[0].name}” is off in any case"
    collections = [item.taffeta.cloth.collision_collection for item in pair if item.taffeta.role == "CLOTH"]
    if entry.collides and not entry.use_friction and not any(collections):
        return f"“{pair[0].name}” and “{pair[1].name}” collide in any case"
    return ""


def _places(item: bpy.types.Object | None, cloths: Sequence[bpy.types.Object], bodies: Sequence[Body]) -> list[int]:
    own = [k for k, cloth in enumerate(cloths) if cloth == item]
    own += [len(cloths) + k for k, body in enumerate(bodies) if item in (body.item, *body.carriers)]
    return own if item is not None else []

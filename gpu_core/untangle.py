# SPDX-License-Identifier: GPL-3.0-or-later
"""A start in which no cloth goes through itself or through other cloth, as far as that can be had.

The scene is looked at as it is simulated, with its seams closed. What is done there to a tangle is in `untangling`;
where that helps nothing, everything stays where it was.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .contact.tangles import Meeting, meetings
from .layers import in_layers
from .order import in_order
from .scene.arrays import Array, IntArray
from .scene.garments import Garments, garments
from .scene.meetings import Meetings, Table
from .scene.mesh import edge_lengths, unique_edges
from .scene.scene import Scene
from .scene.seams import rest_lengths
from .scene_space import of_surface, start_positions, surface_of
from .sewing import Sewing
from .start import Began, freed_of_bodies, movable
from .untangling.fabric import Fabric
from .untangling.methods import lay_copies_apart, untangle
from .untangling.rests import laid_side_by_side

PASSES = 2  #: out of cloth may be into a body


def resolved(scene: Scene) -> tuple[Scene, list[str]]:
    """The scene with its cloth outside of bodies, of itself and of other cloth as far as it can be, and what was done,
    in words. What is said of crossings is said of those before the first pass; what is left in the end is not."""
    started = Began(scene)
    scene, said = freed_of_bodies(scene, started)
    scene, ordered = in_layers(scene, [movable(cloth) for cloth in scene.cloths])
    began, tangled = _crossings(scene), scene
    for _ in range(PASSES if began else 0):
        before, scene = scene, _untangled(scene)
        if scene is before:
            break
        before, scene = scene, freed_of_bodies(scene, started)[0]
        if scene is before:
            break
    if scene is tangled:
        return scene, said + ordered
    left = {(meeting.first, meeting.second): meeting.places for meeting in _crossings(scene)}
    words = (_in_words(meeting, left.get((meeting.first, meeting.second), 0)) for meeting in began)
    return scene, [*said, *ordered, *filter(None, words)]


def _crossings(scene: Scene) -> list[Meeting]:
    """Which objects cross as the scene is simulated."""
    _, sewing, fabric = _sewn(scene)
    names = [*(cloth.name for cloth in sewing.scene.cloths), *(body.name for body in scene.colliders)]
    return meetings(fabric.crossings(), names, fabric.places)


def _untangled(scene: Scene) -> Scene:
    """The same object where that helps nothing."""
    parts, sewing, fabric = _sewn(scene)
    before = len(fabric.crossings().corners)
    if not before:
        return scene
    lay_copies_apart(fabric)
    apart = _as_in(scene, parts, sewing, fabric)
    if (laid := in_order(apart)) is not apart:
        parts, sewing, fabric = _sewn(laid)
    rest = np.concatenate([cloth.rest_positions for cloth in sewing.scene.cloths])
    if untangle(fabric, rest, _lengths(sewing.scene, fabric)) >= before:
        return scene
    scene = _as_in(scene, parts, sewing, fabric)
    return replace(scene, cloths=tuple(laid_side_by_side(cloth) for cloth in scene.cloths))


def _as_in(scene: Scene, parts: Garments, sewing: Sewing, fabric: Fabric) -> Scene:
    """The scene with its cloths where the fabric is."""
    ends = np.cumsum([len(cloth.positions) for cloth in sewing.scene.cloths])
    places = parts.apart(sewing.apart(np.split(fabric.places[: ends[-1]], ends[:-1])))
    moved = zip(scene.cloths, places, strict=True)
    return replace(scene, cloths=tuple(replace(cloth, positions=own) for cloth, own in moved))


def _sewn(scene: Scene) -> tuple[Garments, Sewing, Fabric]:
    """The scene as it is simulated."""
    told = Meetings(scene)
    parts = garments(told.marked(scene))
    sewing = Sewing(parts.scene)
    return parts, sewing, _fabric(sewing.scene, (told.of_scene(sewing.scene), told.apart(scene.settings.begins)))


def _fabric(scene: Scene, let: tuple[IntArray, Table]) -> Fabric:
    free = np.concatenate([movable(cloth) for cloth in scene.cloths])
    collides = np.array([*(cloth.self_collision for cloth in scene.cloths), *(True for _ in scene.colliders)])
    return Fabric(surface_of(scene), start_positions(scene), free, of_surface(scene, "thickness"), collides, let)


def _lengths(scene: Scene, fabric: Fabric) -> Array:
    """(E,) of the fabric's edges at rest, of cords as they lie, m."""
    lengths = edge_lengths(fabric.places, fabric.edges)
    lengths[fabric.numbers(unique_edges(fabric.triangles).astype(np.int64))] = rest_lengths(scene.cloths)
    return lengths


def _in_words(meeting: Meeting, left: int) -> str:
    """left: in how many places they still cross. Nothing where that is no better."""
    if left >= meeting.places:
        return ""
    done = "Some of it was untangled" if left else "It was untangled"
    return f"{meeting.first}: it went through {meeting.second} at the start, in {meeting.where}. {done}"

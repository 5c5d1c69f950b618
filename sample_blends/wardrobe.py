# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments for a human, cut from the cages that its data has around legs, trunk and arms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import bpy
import numpy as np
import numpy.typing as npt

from .human import Human
from .look import DYES, fabric
from .puppet import skin

Array = npt.NDArray[np.float64]
LEGS = ("Hips", "LHipJoint", "RHipJoint", "LeftUpLeg", "RightUpLeg", "LeftLeg", "RightLeg", "LeftFoot", "RightFoot")
WAIST = 0.985  #: m, of leggings and skirt
NECK = 1.41  #: m: where it leaves the shoulders, which a garment without them slides off
BAND = 0.03  #: m below that are held
HELD = 0.9  #: weight of these pins: skin stretches more than wool, which then slides
PIECES = 4  #: most that an edge of a cage is cut into


@dataclass(frozen=True)
class Garment:
    """How one is cut and worn."""

    name: str
    cage: str
    #: which faces, by their middles (F, 3), m, and (F,) how far down an arm they are
    chosen: Callable[[Human, Array, Array], npt.NDArray[np.bool_]]
    out: float  #: m from the cage
    fabric: str
    dye: int
    top: float = np.inf  #: m: what is above is pinned
    ease: float = 0.0  #: share by which it is wider than its cage


def _leggings(_person: Human, middle: Array, arm: Array) -> npt.NDArray[np.bool_]:
    return np.asarray((middle[:, 2] < WAIST) & (middle[:, 2] > 0.12) & np.isnan(arm))


def _shirt(_person: Human, middle: Array, arm: Array) -> npt.NDArray[np.bool_]:
    x, _, z = middle.T
    trunk = np.isnan(arm) & (z > 1.03) & (z < NECK) & ~((np.abs(x) < 0.055) & (z > 1.375))  # low round the neck
    return np.asarray(trunk | (arm < 0.65))


def _top(_person: Human, middle: Array, arm: Array) -> npt.NDArray[np.bool_]:
    x, _, z = middle.T
    return np.asarray(np.isnan(arm) & (z > 1.0) & ~((np.abs(x) < 0.06) & (z > 1.32)))  # straps over the shoulders


def _coat(_person: Human, middle: Array, arm: Array) -> npt.NDArray[np.bool_]:
    x, y, z = middle.T
    trunk = np.isnan(arm) & (z > 0.935) & (z < NECK) & ~((np.abs(x) < 0.02) & (y < 0.0))  # open in front
    return np.asarray(trunk | (arm < 1.8))


def _skirt(_person: Human, middle: Array, _arm: Array) -> npt.NDArray[np.bool_]:
    return np.asarray((middle[:, 2] < WAIST) & (middle[:, 2] > 0.45))


GARMENTS = (
    Garment("Leggings", "helper-tights", _leggings, 0.006, "RIB_KNIT", 1, WAIST - BAND),
    Garment("Shirt", "helper-tights", _shirt, 0.011, "JERSEY_KNIT", 5),
    Garment("Skirt", "helper-skirt", _skirt, 0.018, "WOOL", 0, WAIST - BAND, 0.2),
    Garment("Coat", "helper-tights", _coat, 0.03, "WOOL", 4, ease=0.16),
)

TOP = Garment("Top", "helper-tights", _top, 0.005, "JERSEY_KNIT", 5, ease=-0.04)  #: without sleeves, and short


def dress(
    person: Human, skeleton: bpy.types.Object, vertices: int, garments: Sequence[Garment] = GARMENTS
) -> list[bpy.types.Object]:
    """All garments, with so many vertices or so; as large faces in each."""
    cut = [_cut(person, garment) for garment in garments]
    area = [_area(places, faces) for _, places, faces in cut]
    found = []
    for garment, (used, places, faces), own in zip(garments, cut, area, strict=True):
        item = _link(garment, places, faces)
        skin(item, skeleton, person, used)
        _refine(item, round(vertices * own / sum(area)))
        _set(item, garment)
        found.append(item)
    return found


def _cut(person: Human, garment: Garment) -> tuple[list[int], Array, list[tuple[int, ...]]]:
    """(the human's vertices that are used, (N, 3) their places in the garment, m, the faces)."""
    every = person.faces[garment.cage]
    corners = [person.places[list(face)] for face in every]
    middle = np.array([places.mean(axis=0) for places in corners])
    keep = garment.chosen(person, middle, _down_the_arm(person, middle))
    normals = np.zeros_like(person.places)
    for face, places in zip(every, corners, strict=True):
        normals[list(face)] += np.cross(places[2] - places[0], places[-1] - places[1])
    faces = [face for face, kept in zip(every, keep, strict=True) if kept]
    used = np.unique([vertex for face in faces for vertex in face])
    normal = normals[used] / np.linalg.norm(normals[used], axis=1, keepdims=True)
    places = person.places[used] + garment.out * normal
    return used.tolist(), places, [tuple(np.searchsorted(used, face).tolist()) for face in faces]


def _down_the_arm(person: Human, middle: Array) -> Array:
    """(F,) 0 at the shoulder, 1 at the elbow, 2 at the wrist; NaN where it is no arm."""
    found = np.full(len(middle), np.nan)
    for side in "lr":
        shoulder, elbow, wrist = (person.joints[f"joint-{side}-{name}"] for name in ("shoulder", "elbow", "hand"))
        for start, end, first in ((shoulder, elbow, 0.0), (elbow, wrist, 1.0)):
            way = end - start
            share = (middle - start) @ way / (way @ way)
            near = np.linalg.norm(middle - start - share[:, None] * way, axis=1) < 0.10
            outside = np.abs(middle[:, 0]) > np.abs(shoulder[0]) - 0.01
            own = near & outside & (middle[:, 2] > 0.95) & (share > (-0.3 if first == 0.0 else 0.0)) & (share < 1.2)
            found[own] = first + share[own]
    return found


def _area(places: Array, faces: list[tuple[int, ...]]) -> float:
    """m²"""
    return 0.5 * sum(
        float(np.linalg.norm(np.cross(places[face[2]] - places[face[0]], places[face[-1]] - places[face[1]])))
        for face in faces
    )


def _link(garment: Garment, places: Array, faces: list[tuple[int, ...]]) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(garment.name)
    mesh.from_pydata(places.tolist(), [], faces)
    item = bpy.data.objects.new(garment.name, mesh)
    bpy.context.scene.collection.objects.link(item)
    return item


def _refine(item: bpy.types.Object, wanted: int) -> None:
    """Give it so many vertices or so: Blender's Subdivision, and its Decimate for what that makes too many."""
    fine = item.modifiers.new("Fine", "SUBSURF")
    fine.levels = min(max(ceil(sqrt(wanted / len(item.data.vertices)) / 2.0), 0), PIECES // 2)
    if wanted <= len(item.data.vertices):
        item.modifiers.remove(fine)
    follow = item.modifiers["Armature"]
    follow.show_viewport = False
    bpy.context.view_layer.update()
    there = len(item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices)
    smooth = item.modifiers.new("Smooth", "SMOOTH")  # cloth bridges clefts
    smooth.iterations = 4
    coarse = item.modifiers.new("Coarse", "DECIMATE")
    coarse.ratio = min(wanted / there, 1.0)
    bpy.context.view_layer.update()
    graph = bpy.context.evaluated_depsgraph_get()
    before, item.data = (
        item.data,
        bpy.data.meshes.new_from_object(item.evaluated_get(graph), preserve_all_data_layers=True, depsgraph=graph),
    )
    for entry in [entry for entry in item.modifiers if entry != follow]:
        item.modifiers.remove(entry)
    item.data.name = before.name
    bpy.data.meshes.remove(before)
    follow.show_viewport = True


def _set(item: bpy.types.Object, garment: Garment) -> None:
    item.data.materials.append(fabric(*DYES[garment.dye]))
    item.data.shade_smooth()
    item.taffeta.role = "CLOTH"
    cloth = item.taffeta.cloth
    cloth.preset, cloth.shrink = garment.fabric, -garment.ease
    held = [vertex.index for vertex in item.data.vertices if vertex.co.z > garment.top]
    if held:
        item.vertex_groups.new(name="Waist").add(held, HELD, "REPLACE")
        cloth.pin_group = "Waist"

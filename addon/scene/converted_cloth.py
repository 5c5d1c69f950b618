# SPDX-License-Identifier: GPL-3.0-or-later
"""One cloth: from Blender's Cloth modifier to ours, and back. Yields (control, why it was not carried over)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import bpy
import numpy as np

from . import blender_cloth, blender_modifier, blender_wind, carried_keys, modifier, rest_key
from . import mesh as mesh_arrays
from .blender_cloth import BELOW, LEFT_THERE, ONLY_HERE, TIME_SCALE, Values
from .blender_modifier import ROUNDING, label, numbers, read, stem, stored, write
from .bodies import Body
from .painted import Weights
from .reader import evaluated_mesh, to_world
from .spring_sheet import SpringSheet, measure

PERCEPTIBLE = 0.01  #: relative, of a stiffness


def from_blender(
    scene: bpy.types.Scene, item: bpy.types.Object, entry: bpy.types.Modifier
) -> Iterator[tuple[str, str]]:
    there, here = read(entry), item.taffeta.cloth
    with modifier.suspended(list(item.modifiers)[item.modifiers.find(entry.name) :]):
        sheet = _sheet(scene, item, there["settings.rest_shape_key"])
    item.taffeta.role = "CLOTH"
    here.pins.clear()
    yield from write(here, blender_cloth.forward(there, sheet))
    if (wind := blender_wind.strongest(scene, item)) > 0.0:
        here.air_drag = blender_wind.drag(wind, blender_wind.frame_rate(scene))
    yield from _left_there(scene, item, entry, there)
    yield from _keys_from(item, entry, there, sheet)
    blender_modifier.show(item, False)


def _left_there(
    scene: bpy.types.Scene, item: bpy.types.Object, entry: bpy.types.Modifier, there: Values
) -> Iterator[tuple[str, str]]:
    """What of Blender's cloth we have no control for, or one that does something else."""
    for path, left in LEFT_THERE.items():
        if not left.silent(there):
            yield label(entry, path), left.why
    group = there["settings.vertex_group_mass"]
    weights = Weights(item, item, item.data).of(group, "pins") if group in item.vertex_groups else np.empty(0)
    if ((weights > 0.0) & (weights < 1.0)).any():
        yield label(entry, "settings.vertex_group_mass"), "weights below 1 hold with another stiffness"
    if (wind := blender_wind.strongest(scene, item)) > 0.0:
        drag = item.taffeta.cloth.air_drag
        yield "Wind", f"with Air Drag {drag:.2g} it pushes as before at {wind:.4g}, else by the square of its strength"
    cache = entry.point_cache
    if cache.frame_start != scene.frame_start:
        yield "Cache", f"it starts at frame {cache.frame_start}, a bake at that of the scene"
    if cache.is_baked:
        yield entry.name, "its bake is not played any more; it comes back with the modifier"


def _keys_from(
    item: bpy.types.Object, entry: bpy.types.Modifier, there: Values, sheet: SpringSheet
) -> Iterator[tuple[str, str]]:
    def convert(values: Mapping[str, float]) -> Values:
        return blender_cloth.forward({**there, **values}, sheet)

    paths = {f"{stem(entry)}.{path}": path for path in there if path not in BELOW}
    for path, why in carried_keys.carry(item, paths, "taffeta.cloth.{}".format, convert):
        yield label(entry, path), why


def to_blender(scene: bpy.types.Scene, item: bpy.types.Object, speed: float) -> Iterator[tuple[str, str]]:
    here = {entry.identifier: getattr(item.taffeta.cloth, entry.identifier) for entry in numbers(item.taffeta.cloth)}
    place = modifier.place(item)
    with modifier.suspended(modifier.simulated(item)):
        sheet = _sheet(scene, item, here["rest_shape_key"])
    entry = blender_modifier.find(item, "CLOTH")
    if entry is None:
        entry = item.modifiers.new("Cloth", "CLOTH")
        item.modifiers.move(len(item.modifiers) - 1, place)
        entry.point_cache.frame_start, entry.point_cache.frame_end = scene.frame_start, scene.frame_end
    elif entry.point_cache.is_baked:
        yield entry.name, "it plays its old bake until that is freed"
    there = read(entry)
    found = blender_cloth.backward(here, there, sheet)
    yield from write(entry, {**found, TIME_SCALE: speed})
    yield from _left_here(scene, item, here)
    yield from _inexact(here, {**there, **found}, sheet)
    yield from _keys_to(item, entry, (here, there), sheet)
    item.taffeta.role = "NONE"
    blender_modifier.show(item, True)
    if (own := modifier.find(item)) is not None:
        own.show_viewport = own.show_render = False


def _keys_to(
    item: bpy.types.Object, entry: bpy.types.Modifier, sides: tuple[Values, Values], sheet: SpringSheet
) -> Iterator[tuple[str, str]]:
    here, there = sides

    def convert(values: Mapping[str, float]) -> Values:
        return blender_cloth.backward({**here, **stored(values)}, there, sheet)

    own = item.taffeta.cloth
    paths = {f"taffeta.cloth.{prop.identifier}": prop.identifier for prop in own.bl_rna.properties}
    for name, why in carried_keys.carry(item, paths, f"{stem(entry)}.{{}}".format, convert):
        yield label(own, name), why


def _left_here(scene: bpy.types.Scene, item: bpy.types.Object, here: Values) -> Iterator[tuple[str, str]]:
    """What of a cloth Blender has no control for."""
    own = item.taffeta.cloth
    wind = blender_wind.strongest(scene, item)
    of_wind = wind > 0.0 and abs(here["air_drag"] - blender_wind.drag(wind, blender_wind.frame_rate(scene))) < ROUNDING
    for name, only in ONLY_HERE.items():
        if not _alike(here[name], only.value) and not (name == "air_drag" and of_wind):
            yield label(own, name), f"in Blender {only.why}"
    if len(own.pins):
        yield "Pins", "in Blender there is one group of them"
    if here["pressure_factor_group"] and (here["pressure_factor"], here["pressure_factor_max"]) != (0.0, 1.0):
        yield "Pressure Group", "in Blender it leads from 0 to 1"


def _alike(value: Any, other: Any) -> bool:
    """As the property stores it, in float32."""
    return bool(np.float32(value) == np.float32(other)) if isinstance(other, float) else bool(value == other)


def _inexact(here: Values, there: Values, sheet: SpringSheet) -> Iterator[tuple[str, str]]:
    """Blender has one tension for warp and weft, and edges resist shear too."""
    warp, weft, shear = sheet.moduli(there[blender_cloth.TENSION], there[blender_cloth.SHEAR])
    if abs(warp - here["stretch_warp"]) > PERCEPTIBLE * warp or abs(weft - here["stretch_weft"]) > PERCEPTIBLE * weft:
        yield "Warp, Weft", f"Blender has one tension for both: they have {warp:.4g} and {weft:.4g} N/m"
    if abs(shear - here["shear"]) > PERCEPTIBLE * shear:
        yield "Shear", f"the springs of this mesh have {shear:.4g} N/m"


def _sheet(scene: bpy.types.Scene, item: bpy.types.Object, key: str) -> SpringSheet:
    """Of the mesh as it is now without the modifiers that are suspended. key: of the rest shape, or nothing."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    depsgraph.update()
    metre = scene.unit_settings.scale_length
    with evaluated_mesh(Body(item), depsgraph, scene.frame_current) as (mesh, matrix):
        shape, points = rest_key.of_key(item, key), mesh_arrays.positions(mesh)
        if shape is not None and len(shape) == len(points):
            points = shape
        return measure(item.name, mesh, to_world(points, matrix) / metre, metre)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Every number that takes keys, found by introspection: from Blender through the solver, it changes the result at its
frame and only from there; every one that is painted acts where it is painted, and a painted constant is the number."""

from __future__ import annotations

from functools import cache

import bpy
import numpy as np
import pytest

from taffeta.addon.scene.fields import KINDS
from taffeta.addon.scene.gather import gather, gather_numbers, members
from taffeta.addon.scene.painted import PAINTED
from taffeta.addon.scene.shown import SHOWN
from taffeta.gpu_core.backend import select
from taffeta.gpu_core.files.job import describe
from taffeta.gpu_core.scene.differences import differences
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.addon.conftest import fcurves
from taffeta.tests.gpu_core.swinging import FACTORS, SECOND, SIDE, swinging

FRAMES, KEY = 5, 4  #: the range; the frame of the key
ENTRY = 1  #: of each collection, the one that is keyed
PLACES = {"cloth": "Sheets", "collider": "Slope"}
FIELDS = {f"field_{kind}": name for name, kind in KINDS.items()} | {"field_all": "FORCE"}  #: what weights act on


@pytest.fixture
def swing(make_object):
    """`swinging` in Blender, with a group for the second sheet and one for all."""
    scene, (cloth,), (floor,) = bpy.context.scene, swinging(FRAMES).cloths, swinging(FRAMES).colliders
    item = make_object("Sheets", cloth.positions, cloth.triangles.tolist(), "CLOTH")
    body = make_object("Slope", floor.positions[0] + [0, 0, 0.01], floor.triangles.tolist(), "COLLIDER")
    for name, weights in (("Pins", cloth.pins.weights), ("Second", None), ("All", None)):
        group = item.vertex_groups.new(name=name)
        if name == "Pins":
            for vertex, weight in zip(cloth.pins.vertices.tolist(), weights.tolist(), strict=True):
                group.add([vertex], weight, "REPLACE")
        else:
            group.add(np.flatnonzero(SECOND | (name == "All")).tolist(), 1.0, "REPLACE")
    for name, value in cloth.numbers.items():
        setattr(item.taffeta.cloth, name, value)
    body.taffeta.collider.thickness, body.taffeta.collider.friction = floor.thickness, floor.friction
    item.taffeta.cloth.pin_group = "Pins"
    for corner in ((SIDE - 1, SIDE - 1), (0, SIDE - 1)):
        pins, name = item.taffeta.cloth.pins.add(), f"Corner {len(item.taffeta.cloth.pins)}"
        item.vertex_groups.new(name=name).add([corner[0] * SIDE + corner[1]], 0.9, "REPLACE")
        pins.group, pins.strength = name, 0.5
    scene.frame_end, scene.taffeta.step_rate, scene.taffeta.tolerance = FRAMES, 96.0, 5e-3
    return item


def numbers() -> list[tuple[str, str]]:
    """(where, name) of every number of ours that takes keys, and gravity."""
    import taffeta

    registered = hasattr(bpy.types.Object, "taffeta")
    if not registered:
        taffeta.register()
    item, scene = (kind.bl_rna.properties["taffeta"].fixed_type for kind in (bpy.types.Object, bpy.types.Scene))
    groups = {part: item.properties[part].fixed_type for part in PLACES} | {"scene": scene}
    groups |= {
        f"{part}.{entry.identifier}[{ENTRY}]": entry.fixed_type
        for part in groups
        for entry in groups[part].properties
        if entry.type == "COLLECTION"
    }
    found = [
        (place, entry.identifier)
        for place, group in groups.items()
        for entry in group.properties
        if entry.type in ("FLOAT", "INT") and entry.is_animatable
    ]
    if not registered:
        taffeta.unregister()
    return [*found, ("scene", "gravity")]


NUMBERS = numbers()


def frames_of(scene) -> np.ndarray:
    simulator, found = Simulator(scene, select("cpu")), []
    for _ in range(FRAMES - 1):
        simulator.advance_frame()
        found.append(simulator.positions()[0])
    return np.array(found)


def read():
    bpy.context.view_layer.update()
    return gather(bpy.context)


@cache
def plain(kind: str) -> np.ndarray:
    """kind: of the force field there, if there is one."""
    return frames_of(read())


def blow(kind: str) -> None:
    """A force field of this kind under the sheets."""
    bpy.ops.object.effector_add(type=kind, location=(0.6, 0.1, -0.3), rotation=(0.3, 0.2, 0.1))
    own = bpy.context.object.field
    own.strength, own.size, own.shape = 3.0, 0.5, "PLANE"
    own.wind_factor, own.flow = 0.5, 0.5


def owner_of(place: str):
    return bpy.context.scene if place.startswith("scene") else bpy.data.objects[PLACES[place.partition(".")[0]]]


def sew(item) -> None:
    """A thread between the two sheets, which pulls with all its force."""
    item.data.edges.add(1)
    item.data.edges[-1].vertices = (int(np.flatnonzero(~SECOND)[0]), int(np.flatnonzero(SECOND)[-1]))
    item.taffeta.cloth.sewing, item.taffeta.cloth.sewing_force = True, 0.01


def close(item) -> None:
    """The second sheet beside the first, where a closed seam joins their borders."""
    right, left = np.arange(SIDE) + SIDE * (SIDE - 1), np.arange(SIDE) + SIDE**2
    mesh = item.data
    for vertex in np.flatnonzero(SECOND).tolist():
        mesh.vertices[vertex].co.x -= 0.8
    mesh.edges.add(SIDE)
    for edge, a, b in zip(list(mesh.edges)[-SIDE:], right.tolist(), left.tolist(), strict=True):
        edge.vertices, mesh.vertices[b].co = (a, b), mesh.vertices[a].co
    item.vertex_groups["Pins"].remove([SIDE**2, SIDE**2 + SIDE * (SIDE - 1), SIDE * (SIDE - 1)])
    item.taffeta.cloth.sewing = True


def rub(item) -> None:
    """Exceptions with the slope, of which the last one counts."""
    for _ in range(ENTRY + 1):
        entry = bpy.context.scene.taffeta.encounters.add()
        entry.first, entry.second = item, bpy.data.objects["Slope"]
        entry.collides = entry.use_friction = True


def fold(item) -> None:
    """Every edge across the sheets."""
    mesh, marked = item.data, item.data.attributes.new("Pleats", "FLOAT", "EDGE")
    ends = np.array([tuple(edge.vertices) for edge in mesh.edges])
    across = ends[:, 1] - ends[:, 0] == 1
    marked.data.foreach_set("value", np.where(across, 1.0, 0.0).astype(np.float32))
    item.taffeta.cloth.fold_attribute, item.taffeta.cloth.fold_angle = "Pleats", 0.3


def tie(item) -> None:
    """A cord that holds the two sheets together."""
    item.data.edges.add(1)
    item.data.edges[-1].vertices = (int(np.flatnonzero(~SECOND)[0]), int(np.flatnonzero(SECOND)[-1]))
    item.taffeta.cloth.cord_density, item.taffeta.cloth.cord_shrink = 0.01, 0.05
    item.taffeta.cloth.cord_stiffness = 1.0


def key(place: str, name: str, factor: float) -> None:
    """The number as it is, to `factor` times itself at once at KEY."""
    owner = owner_of(place)
    own = place.removeprefix("scene").removeprefix(".")
    group = owner if name == "gravity" else owner.taffeta.path_resolve(own) if own else owner.taffeta
    path = name if name == "gravity" else f"taffeta.{own}.{name}" if own else f"taffeta.{name}"
    start = np.array(getattr(group, name))
    for frame, value in ((1, start), (KEY, factor * start)):
        setattr(group, name, value)
        assert owner.keyframe_insert(path, frame=frame)
    for curve in fcurves(owner):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    bpy.context.scene.frame_set(1)


def test_every_number_of_a_cloth_that_can_be_painted_is(addon):
    assert {name for place, name in NUMBERS if place == "cloth" and name.endswith("_max")} == {
        f"{name}_max" for name in PAINTED
    }
    assert len(NUMBERS) > 30


@pytest.mark.parametrize(("place", "name"), NUMBERS, ids=" ".join)
def test_a_key_changes_the_result_at_its_frame_and_only_from_there(swing, place, name):
    stored = SHOWN.get(name, (name, None))[0]
    if stored.endswith("_max"):
        setattr(swing.taffeta.cloth, f"{stored.removesuffix('_max')}_group", "Second")
    kind = FIELDS.get(name, "")
    if kind:
        blow(kind)
    sewn = name if name in ("sewing_force", "seam_stiffness") else ""
    if sewn:
        (sew if name == "sewing_force" else close)(swing)
    tied = name.split("_")[0] if name.startswith(("cord_", "fold_")) else ""
    if tied:
        {"cord": tie, "fold": fold}[tied](swing)
    rubs = "rubs" if "encounters" in place else ""
    if rubs:
        rub(swing)
    expected = plain(kind or sewn or tied or rubs)  # paint that goes to the number itself is none
    key(place, name, FACTORS.get(name, 3.0))
    scene = read()
    found = frames_of(scene)
    assert np.array_equal(found[: KEY - 2], expected[: KEY - 2])
    assert np.abs(found[KEY - 2] - expected[KEY - 2]).max() > 1e-6
    # What drawing knows of it is what reading has found.
    drawn = gather_numbers(bpy.context.scene, members(bpy.context.scene), ["Sheets"], [])
    held = describe(scene)
    groups = [entry for cloth in held["cloths"] for entry in cloth["pins"]]
    for entry in held["cloths"] + held["colliders"] + held.get("fields", []) + groups:
        del entry["arrays"]
    assert drawn == held
    # And from which frame on it is another.
    (difference,) = differences(described_without_keys(held), drawn)
    assert difference.frames == KEY - 1
    assert difference.text.endswith(f"{stored.replace('_', ' ')} is another from frame {KEY} on")


def described_without_keys(content):
    """Of the scene, of its objects, and of their groups of pins."""
    if isinstance(content, dict):
        return {name: described_without_keys(value) for name, value in content.items() if name != "keys"}
    return [described_without_keys(value) for value in content] if isinstance(content, list) else content


@pytest.mark.parametrize("name", PAINTED)
def test_a_painted_number_acts_where_it_is_painted_and_a_painted_constant_is_the_number(swing, name):
    chosen, expected = swing.taffeta.cloth, plain("")
    setattr(chosen, f"{name}_group", "Second")
    value = 3.0 * getattr(chosen, name)
    setattr(chosen, f"{name}_max", value)
    away = np.abs(frames_of(read())[-1] - expected[-1])
    assert away[SECOND].max() > 1e-5
    assert away[~SECOND].max() < 0.3 * away[SECOND].max()
    setattr(chosen, f"{name}_group", "All")
    everywhere = frames_of(read())
    setattr(chosen, f"{name}_group", "")
    setattr(chosen, name, value)
    assert np.array_equal(everywhere, frames_of(read()))

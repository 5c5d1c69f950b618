# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields as Blender evaluates them: its own particles feel each kind, and the kernel gives a sheet of 1 kg/m² the
same acceleration at the same places. What is carried from the scene to the solver, and what is named instead."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import noise

from taffeta.addon.scene import fields
from taffeta.addon.scene.gather import gather, gather_numbers, members
from taffeta.addon.scene.surroundings import Surroundings
from taffeta.gpu_core.backend import select
from taffeta.gpu_core.files.job import describe, digest, load, save
from taffeta.gpu_core.scene.air import NUMBERS
from taffeta.gpu_core.scene.differences import differences
from taffeta.gpu_core.scene.scene import Cloth, Material, Scene, Settings
from taffeta.gpu_core.scene_space import SceneSpace
from taffeta.gpu_core.solvers.air import PERMUTATION, STILL_AIR, Air
from taffeta.tests.addon.conftest import fcurves

PLACES = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 3))
VELOCITY = (0.3, -0.5, 0.7)  #: m/s
TICK = 1.0e-3  #: s that a frame is for the particles

TUBE = {"shape": "LINE", "falloff_type": "TUBE", "falloff_power": 1.0, "radial_falloff": 2.0, "use_radial_min": True}
TUBE |= {"radial_min": 0.1, "use_radial_max": True, "radial_max": 0.8, "z_direction": "POSITIVE"}
CONE = {"falloff_type": "CONE", "falloff_power": 1.0, "radial_falloff": 0.3, "use_radial_min": True, "radial_min": 20.0}
CONE |= {"use_radial_max": True, "radial_max": 130.0, "z_direction": "BOTH"}
NEAR = {"use_min_distance": True, "distance_min": 0.2, "use_max_distance": True, "distance_max": 0.9}
FIELDS = {
    "force": ("FORCE", {}),
    "force that falls off": ("FORCE", {"falloff_power": 2.0, "wind_factor": 0.0}),
    "force like gravity": ("FORCE", {"strength": -3.0, "flow": 0.5, "use_gravity_falloff": True}),
    "force from a plane": ("FORCE", {"shape": "PLANE", "falloff_power": 1.5, **NEAR}),
    "force in a tube": ("FORCE", TUBE),
    "force in a cone": ("FORCE", CONE),
    "force behind a plane": ("FORCE", {"z_direction": "NEGATIVE"}),
    "vortex around a point": ("VORTEX", {"shape": "POINT", "falloff_power": 1.0}),
    "vortex": ("VORTEX", {"shape": "PLANE", "falloff_power": 1.0, "flow": 0.3}),
    "magnet": ("MAGNET", {"shape": "POINT"}),
    "magnet of a line": ("MAGNET", {"shape": "LINE", "falloff_power": 1.0}),
    "magnet of a plane": ("MAGNET", {"shape": "PLANE"}),
    "spring": ("HARMONIC", {"strength": 4.0, "harmonic_damping": 0.2, "rest_length": 0.5}),
    "spring of no length": ("HARMONIC", {"strength": 4.0, "harmonic_damping": 0.0, "falloff_power": 1.0}),
    "turbulence": ("TURBULENCE", {"size": 0.4, "flow": 0.0}),
    "turbulence in the world": ("TURBULENCE", {"size": 1.3, "flow": 0.2, "use_global_coords": True}),
    "turbulence of no size": ("TURBULENCE", {"size": 0.0}),
    "drag": ("DRAG", {"linear_drag": 0.7, "quadratic_drag": 0.5, "falloff_power": 1.0}),
    "drag beyond its most": ("DRAG", {"linear_drag": 5.0, "quadratic_drag": 5.0}),
    "wind": ("WIND", {"flow": 0.0, "falloff_power": 1.0}),
    "wind in a cone": ("WIND", {"flow": 0.0, **CONE}),
}


@pytest.fixture
def make_field(scene):
    def make(kind: str, name: str = "Field", **numbers) -> bpy.types.Object:
        shaped = numbers.get("shape") in ("SURFACE", "POINTS")  # which only a mesh can have
        item = bpy.data.objects.new(name, bpy.data.meshes.new(name) if shaped else None)
        scene.collection.objects.link(item)
        bpy.context.view_layer.objects.active = item
        bpy.ops.object.forcefield_toggle()
        item.location, item.rotation_euler = (0.1, -0.2, 0.15), (0.4, 0.3, 0.2)
        item.field.type = kind
        for key, value in {"strength": 2.0, **numbers}.items():
            setattr(item.field, key, value)
        bpy.context.view_layer.update()
        return item

    return make


def particles() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(where, how fast, by how much they are accelerated): of Blender's own, one at each of PLACES, 1 kg each."""
    mesh = bpy.data.meshes.new("Emitter")
    mesh.from_pydata(PLACES.tolist(), [], [])
    item = bpy.data.objects.new("Emitter", mesh)
    bpy.context.scene.collection.objects.link(item)
    item.modifiers.new("Particles", "PARTICLE_SYSTEM")
    own = item.particle_systems[0].settings
    own.count, own.frame_start, own.frame_end, own.emit_from, own.use_emit_random = len(PLACES), 1, 1, "VERT", False
    own.normal_factor, own.object_align_factor, own.mass, own.timestep = 0.0, VELOCITY, 1.0, TICK
    own.effector_weights.gravity, own.integrator, own.subframes = 0.0, "EULER", 0
    found = []
    for frame in (1, 2, 3):
        bpy.context.scene.frame_set(frame)
        every = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).particle_systems[0].particles
        found.append([np.array([list(getattr(p, name)) for p in every]) for name in ("location", "velocity")])
    (place, velocity), (_, after) = found[1:]
    return place, velocity, (after - velocity) / TICK


def ours(item: bpy.types.Object, places: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    """The acceleration that the kernel gives vertices of 1 kg/m² there, whose normals are along the field's axis."""
    reader = fields.FieldReader(item)
    reader.read(bpy.context.evaluated_depsgraph_get(), 1)
    found = reader.finish()
    cloth = Cloth("Sheet", np.int32([[0, 1, 2]]), places, places, Material(density=1.0))
    cpu, space = select("cpu"), SceneSpace(Scene((cloth,), (), Settings(), fields=(found,)))
    air, count = Air(cpu, space), len(places)
    air.renew(space.moment(1), np.full(count, 1.0 if found.kind == "wind" else 0.0))
    x, velocity, normal, nothing = (np.zeros((count, 4), np.float32) for _ in range(4))
    x[:, :3], velocity[:, :3], normal[:, :3] = places - space.centre, velocities, found.axis[0]
    cpu.run([air.push(x, velocity, normal, nothing, 1e-6)])
    acceleration = air.acceleration[:, :3].astype(np.float64)
    if found.kind == "wind":  # the drag law of rate 1 and its speed of air: where that would be a force in Blender
        along = acceleration @ found.axis[0]
        speed = np.sign(along) * (np.sqrt(0.25 * STILL_AIR**2 + np.abs(along)) - 0.5 * STILL_AIR)
        return speed[:, None] * found.axis
    return acceleration


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_accelerates_a_sheet_of_a_kilogram_as_blenders_particles(make_field, name):
    kind, numbers = FIELDS[name]
    item = make_field(kind, **numbers)
    places, velocities, expected = particles()
    found = ours(item, places, 0.0 * velocities if kind == "WIND" else velocities)
    assert (np.abs(expected).max(axis=1) > 1e-3).sum() > 12, "the field reaches some of them"
    assert np.abs(found - expected).max() < 1e-3 * np.abs(expected).max()


def test_the_lattice_of_turbulence_is_blenders():
    """Of `mathutils.noise`, whose gradients around whole numbers tell four bits of each number of the permutation."""
    h, step = np.frombuffer(PERMUTATION, np.uint8).astype(int), 1 / 256
    assert sorted(h.tolist()) == list(range(256))
    for x, y, z in np.random.default_rng(1).integers(0, 256, (300, 3)).tolist():
        code = h[(h[(h[x] + y) & 255] + z) & 255] & 15
        expected = np.zeros(3)
        u, v = (0 if code < 8 else 1), (1 if code < 4 else 0 if code in (12, 14) else 2)
        expected[u] += -1 if code & 1 else 1
        expected[v] += -1 if code & 2 else 1
        ends = [
            [noise.noise(np.array([x, y, z]) + sign * step * axis, noise_basis="PERLIN_NEW") for axis in np.eye(3)]
            for sign in (1, -1)
        ]
        assert (np.subtract(*ends) / (2 * step)).round(1).tolist() == expected.tolist()


@pytest.mark.parametrize("kind", ["CHARGE", "LENNARDJ"])
def test_what_is_said_to_move_particles_only_moves_no_cloth_of_blenders(make_field, make_cloth, kind):
    cloth = make_cloth()
    cloth.modifiers.new("Cloth", "CLOTH").settings.effector_weights.gravity = 0.0
    make_field(kind, strength=50.0)

    def moved() -> float:
        start = np.array([vertex.co for vertex in cloth.data.vertices])
        for frame in (1, 2, 3, 4):
            bpy.context.scene.frame_set(frame)
        mesh = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        return float(np.abs(np.array([vertex.co for vertex in mesh.vertices]) - start).max())

    assert moved() < 1e-6
    bpy.data.objects["Field"].field.type = "FORCE"
    bpy.context.scene.frame_set(1)
    assert moved() > 1e-3


@pytest.mark.parametrize("fps", [24, 50])
def test_blenders_cloth_has_twenty_over_the_frame_rate_of_a_pascal_for_each_unit(make_field, make_cloth, fps):
    """Relative to what gravity does in it: docs/theory/air.md. Its vertices have a mass each, whatever the mesh."""
    scene, cloth = bpy.context.scene, make_cloth()
    scene.render.fps = fps
    own = cloth.modifiers.new("Cloth", "CLOTH").settings
    own.mass, own.air_damping = 0.3, 0.0

    def fallen(weight: float) -> float:
        own.effector_weights.gravity = weight
        for frame in (1, 2, 3):
            scene.frame_set(frame)
        mesh = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        return float(np.mean([vertex.co.z for vertex in mesh.vertices]))

    gravity = fallen(1.0)
    wind = make_field("FORCE", shape="PLANE", strength=10.0)
    wind.location, wind.rotation_euler = (0.0, 0.0, -5.0), (0.0, 0.0, 0.0)
    scene.frame_set(1)
    pressure = 10.0 * 20.0 / fps
    expected = pressure * 1.0 / (25 * 0.3)  # m/s² of a square metre of 25 vertices
    assert fallen(0.0) / gravity == pytest.approx(expected / -9.81, rel=0.02)


def test_what_a_scene_has_comes_to_the_solver_with_its_motion_keys_weights_and_collection(
    scene, make_field, make_cloth, tmp_path
):
    scene.frame_end, scene.unit_settings.scale_length = 6, 0.5
    cloth, other = make_cloth("Cloth"), make_cloth("Other")
    other.location.z = 1.0
    for item in (cloth, other):
        item.taffeta.role = "CLOTH"
    fan, spring = make_field("WIND", "Fan"), make_field("HARMONIC", "Spring", rest_length=0.5, distance_max=3.0)
    for frame, place, strength in ((1, 0.0, 1.0), (6, 5.0, 6.0)):
        fan.location.x, fan.field.strength = place, strength
        fan.keyframe_insert("location", frame=frame)
        fan.keyframe_insert("field.strength", frame=frame)
    for curve in fcurves(fan):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    chosen = bpy.data.collections.new("Chosen")
    scene.collection.children.link(chosen)
    chosen.objects.link(spring)
    other.taffeta.cloth.field_collection = chosen
    other.taffeta.cloth.field_wind = 0.25
    read = gather(bpy.context)
    assert [item.name for item in read.fields] == ["Fan", "Spring"]
    assert read.cloths[0].fields is None
    assert read.cloths[1].fields == (1,)
    assert read.cloths[1].field_weights.field_wind == 0.25
    wind, harmonic = read.fields
    assert wind.location[:, 0] == pytest.approx(0.5 * np.arange(6.0))
    assert wind.keys["strength"] == pytest.approx(np.arange(1.0, 7.0))
    assert wind.axis == pytest.approx(np.array([fan.matrix_world.col[2].to_3d().normalized()]))
    assert len(harmonic.location) == 1
    assert harmonic.size == 0.25
    assert harmonic.distance_max == 0.0, "its switch is off"
    save(read, tmp_path / "job")
    assert digest(load(tmp_path / "job")) == digest(read)
    assert describe(load(tmp_path / "job")) == describe(read)
    # What drawing knows of it is what reading has found, but where it is.
    drawn, held = gather_numbers(scene, members(scene), ["Cloth", "Other"], []), describe(read)
    for entry in held["cloths"] + held["fields"]:
        del entry["arrays"]
    assert drawn == held


NAMED = sorted({alias for names in fields.NAMES.values() for alias in names})


@pytest.mark.parametrize("name", NAMED)
def test_a_key_on_a_number_of_a_field_makes_a_cache_stale_from_there(scene, make_field, make_cloth, name):
    scene.frame_end = 6
    make_cloth().taffeta.role = "CLOTH"
    kind = {"rest_length": "HARMONIC", "harmonic_damping": "HARMONIC", "size": "TURBULENCE"}.get(name, "FORCE")
    item = make_field("DRAG" if "_drag" in name else kind, **dict.fromkeys(fields.SWITCHES.values(), True))
    item.field.falloff_type = "TUBE"
    before = gather(bpy.context)
    for frame, value in ((1, getattr(item.field, name)), (4, getattr(item.field, name) + 0.5)):
        setattr(item.field, name, min(value, 1.0) if name == "wind_factor" else value)
        assert item.keyframe_insert(f"field.{name}", frame=frame)
    for curve in fcurves(item):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    after, drawn = gather(bpy.context), gather_numbers(scene, members(scene), ["Cloth"], [])
    (keyed,) = after.fields[0].keys
    assert name in fields.NAMES[keyed]
    for now in (describe(after), drawn):
        (difference,) = differences(describe(before), now)
        assert difference == (f"Field: {keyed.replace('_', ' ')} is another from frame 4 on", 3)


def test_changes_of_the_fields_are_named(scene, make_field, make_cloth):
    cloth, fan = make_cloth(), make_field("WIND", "Fan")
    cloth.taffeta.role = "CLOTH"
    held = describe(gather(bpy.context))

    def said() -> list[str]:
        bpy.context.view_layer.update()
        return [difference.text for difference in differences(held, describe(gather(bpy.context)))]

    assert said() == []
    fan.field.strength = 5.0
    assert said() == ["Fan: strength is 5, was 2"]
    fan.field.strength, fan.location.x = 2.0, 1.0
    assert said() == ["Fan: it moves otherwise"]
    fan.location.x, fan.name = 0.1, "Blower"
    assert said() == []
    fan.name = "Fan"
    cloth.taffeta.cloth.field_wind = 0.5
    assert said() == ["Cloth: field wind is 0.5, was 1"]
    cloth.taffeta.cloth.field_wind = 1.0
    cloth.taffeta.cloth.field_collection = bpy.data.collections.new("Empty")
    assert said() == ["Cloth: other force fields act on it"]
    cloth.taffeta.cloth.field_collection = None
    make_field("FORCE", "Push")
    assert said() == ["Push is a new force field"]
    for item in (fan, bpy.data.objects["Push"]):
        bpy.data.objects.remove(item)
    assert said() == ["Fan is no longer a force field"]


@pytest.mark.parametrize(
    ("kind", "numbers", "words"),
    [
        ("CHARGE", {}, "the force field Charge moves particles only, no cloth"),
        ("LENNARDJ", {}, "the force field Lennard-Jones moves particles only, no cloth"),
        ("GUIDE", {}, "the force field Curve Guide moves particles only, no cloth"),
        ("BOID", {}, "the force field Boid moves particles only, no cloth"),
        ("TEXTURE", {}, "the force field Texture does not move the cloth"),
        ("FLUID_FLOW", {}, "the force field Fluid Flow does not move the cloth"),
        ("FORCE", {"shape": "SURFACE"}, "the force field Force has the shape Surface, so it moves no cloth"),
        (
            "FORCE",
            {"shape": "POINTS"},
            "the force field Force has the shape Every Point, so it moves no cloth",
        ),
        (
            "WIND",
            {"apply_to_location": False},
            "the force field Wind does not affect locations, so it does not move the cloth",
        ),
        ("WIND", {"use_absorption": True}, "nothing absorbs the force field Wind: it acts through bodies too"),
        ("WIND", {}, None),
    ],
)
def test_what_is_not_carried_over_is_named(scene, make_field, make_cloth, kind, numbers, words):
    make_cloth().taffeta.role = "CLOTH"
    item = make_field(kind, **numbers)
    assert list(fields.ignored(item)) == ([words] if words else [])
    acting = words is None or "absorbs" in words
    assert len(gather(bpy.context).fields) == acting


def test_a_field_that_blender_does_not_evaluate_does_not_act(scene, make_field, make_cloth):
    cloth, fan = make_cloth(), make_field("WIND", "Fan")
    cloth.taffeta.role = "CLOTH"
    assert len(gather(bpy.context).fields) == 1
    fan.hide_viewport = True
    assert gather(bpy.context).fields == ()


def test_a_cloth_is_not_moved_by_its_own_field(scene, make_cloth):
    cloth = make_cloth()
    cloth.taffeta.role = "CLOTH"
    bpy.context.view_layer.objects.active = cloth
    bpy.ops.object.forcefield_toggle()
    cloth.field.type = "FORCE"
    bpy.context.view_layer.update()
    read = gather(bpy.context)
    assert (len(read.fields), read.cloths[0].fields) == (1, ())


def test_every_number_of_a_field_has_a_name_in_blender():
    known = bpy.types.FieldSettings.bl_rna.properties
    assert set(fields.NAMES) == set(NUMBERS)
    assert all(alias in known for names in fields.NAMES.values() for alias in names)
    assert {*fields.KINDS, *fields.OF_PARTICLES, "NONE", "TEXTURE", "FLUID_FLOW"} == set(
        known["type"].enum_items.keys()
    )


def test_live_is_told_of_a_field_that_is_moved_or_turned_by_hand(scene, make_field, make_cloth):
    scene.unit_settings.scale_length = 0.5
    make_cloth().taffeta.role = "CLOTH"
    make_field("CHARGE", "Idle")
    fan = make_field("WIND", "Fan")
    present = members(scene)
    around = Surroundings(present, gather(bpy.context, (1, 1)))

    def moved() -> dict[str, np.ndarray]:
        bpy.context.view_layer.update()
        return around.moved(bpy.context.evaluated_depsgraph_get(), 1)

    assert moved() == {}
    fan.location = (4.0, 0.0, 2.0)
    (name, place), *others = moved().items()
    assert (name, others) == ("location_000", [])
    assert place == pytest.approx(np.array([2.0, 0.0, 1.0]))
    fan.rotation_euler = (np.pi, 0.0, 0.0)
    (name, axis), *others = moved().items()
    assert (name, others) == ("axis_000", [])
    assert axis == pytest.approx(np.array([0.0, 0.0, -1.0]), abs=1e-6)
    assert around.are_there(scene)
    bpy.data.objects.remove(fan)
    assert not around.are_there(scene)

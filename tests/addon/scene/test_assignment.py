# SPDX-License-Identifier: GPL-3.0-or-later
"""`--set object.property=value` sets what a panel could set, and refuses the rest in words."""

from __future__ import annotations

import argparse

import bpy
import pytest

from taffeta.addon.command.line import _assignment
from taffeta.addon.scene.assignment import AssignmentError, assign
from taffeta.addon.scene.gather import gather


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Cloth.density=0.2", ("Cloth", "density", "0.2")),
        ("Cloth.001.density=0.2", ("Cloth.001", "density", "0.2")),
        ("scene.tolerance=1e-3", ("scene", "tolerance", "1e-3")),
        ("My Skirt.pin_group=a.b=c", ("My Skirt", "pin_group", "a.b=c")),
        ("Cloth.pin_group=", ("Cloth", "pin_group", "")),
        ("Cloth.pins[0].strength=0.5", ("Cloth.pins[0]", "strength", "0.5")),
    ],
)
def test_an_assignment_has_an_owner_a_property_and_a_value(text, parts):
    assert _assignment(text) == parts


@pytest.mark.parametrize("text", ["density=0.2", "Cloth.density", "Cloth.=3", ".density=1", ""])
def test_anything_else_is_usage(text):
    with pytest.raises(argparse.ArgumentTypeError, match=r"Cloth\.density=0\.2"):
        _assignment(text)


@pytest.mark.parametrize(
    ("owner", "name", "text", "value"),
    [
        ("Cloth", "density", "0.2", 0.2),
        ("Cloth", "pin_group", "Hem", "Hem"),
        ("Cloth", "preset", "denim", "DENIM"),
        ("Cloth", "role", "collider", "COLLIDER"),
        ("Floor", "friction", "0", 0.0),
        ("Cloth", "self_collision", "off", False),
        ("Cloth", "self_collision", "True", True),
        ("scene", "backend", "cpu", "CPU"),
        ("scene", "preroll", "20", 20),
        ("scene.taffeta", "preroll_from", "rest_pose", "REST_POSE"),
    ],
)
def test_a_property_is_set_to_what_the_text_says(saved_scene, owner, name, text, value):
    assert assign(saved_scene, owner, name, text) == value


@pytest.mark.parametrize(
    ("owner", "name", "text", "answer"),
    [
        ("Cloth", "density", "heavy", "Cloth.density cannot be 'heavy': it is a number"),
        ("Cloth", "density", "nan", "finite"),
        ("scene", "preroll", "2.5", "it is a whole number"),
        ("scene", "preroll", "-1", "at least 0"),
        ("Cloth", "density", "-1", "at least 0.0001"),
        ("Cloth", "softening", "2", "at most 1"),
        ("Cloth", "preset", "paper", "one of COTTON"),
        ("Cloth", "colour", "red", "It has: role, follows, rounding, preset, density"),
        ("Cloth", "cache_key", "mine", "has no property 'cache_key'"),
        ("Cloth", "name", "mine", "has no property 'name'"),
        ("Floor", "density", "1", "It has: role, follows, rounding, thickness_shown, thickness, friction"),
        ("Skirt", "density", "1", "There is no object 'Skirt'. These take part: Cloth, Floor"),
        ("Cloth", "self_collision", "maybe", "one of true, on"),
    ],
)
def test_what_cannot_be_set_is_refused_and_says_what_can(saved_scene, owner, name, text, answer):
    with pytest.raises(AssignmentError) as error:
        assign(saved_scene, owner, name, text)
    assert answer in str(error.value)


def test_a_property_of_a_role_that_is_set_first_can_be_set(saved_scene):
    bpy.context.scene.objects["Floor"].taffeta.role = "NONE"
    with pytest.raises(AssignmentError, match="It has: role"):
        assign(saved_scene, "Floor", "density", "1")
    assign(saved_scene, "Floor", "role", "CLOTH")
    assert assign(saved_scene, "Floor", "density", "1") == 1.0


def test_groups_of_pins_can_be_set_by_their_places(saved_scene):
    pins = bpy.data.objects["Cloth"].taffeta.cloth.pins.add()
    assert assign(saved_scene, "Cloth.pins[0]", "group", "Hem") == pins.group == "Hem"
    assert assign(saved_scene, "Cloth.pins[0]", "strength", "0.25") == 0.25
    assert assign(saved_scene, "Cloth.pins[0]", "target", "Floor") == "Floor"
    assert pins.target == bpy.data.objects["Floor"]
    assert assign(saved_scene, "Cloth.pins[0]", "target", "") is None
    refusals = {
        ("Cloth.pins[1]", "group", "Hem"): r"Cloth has no pins\[1\]. It has: pins\[0\]",
        ("Floor.pins[0]", "group", "Hem"): r"Floor has no pins\[0\]. It has: none beside its pin_group",
        ("Skirt.pins[0]", "group", "Hem"): "There is no object 'Skirt'",
        ("Cloth.pins[0]", "colour", "red"): "It has: group, strength, target",
        ("Cloth.pins[0]", "strength", "2"): "at most 1",
        ("Cloth.pins[0]", "target", "Nobody"): "it is one of",
        ("Cloth", "pins", "Hem"): "has no property 'pins'",
    }
    for words, answer in refusals.items():
        with pytest.raises(AssignmentError, match=answer):
            assign(saved_scene, *words)


def test_weights_a_collection_and_a_force_field_can_be_set(saved_scene):
    bpy.ops.object.effector_add(type="WIND")
    saved_scene.collection.children.link(bpy.data.collections.new("Fans"))
    fan, cloth = bpy.context.object, bpy.data.objects["Cloth"]
    assert assign(saved_scene, fan.name, "strength", "8") == fan.field.strength == 8.0
    assert assign(saved_scene, fan.name, "type", "force") == fan.field.type == "FORCE"
    assert assign(saved_scene, "Cloth", "field_wind", "0.5") == 0.5
    assert assign(saved_scene, "Cloth", "field_collection", "Fans") == "Fans"
    assert cloth.taffeta.cloth.field_collection == bpy.data.collections["Fans"]
    assert assign(saved_scene, "Cloth", "field_collection", "") is None
    with pytest.raises(AssignmentError, match="it is one of Fans, or empty"):
        assign(saved_scene, "Cloth", "field_collection", "Nowhere")


def test_numbers_that_a_script_sets_after_a_file_was_opened_arrive(make_object, tmp_path):
    """Nothing else would evaluate these anew: triangles, no modifiers, no keys."""
    for name, role, height in (("Cloth", "CLOTH", 0.0), ("Floor", "COLLIDER", -1.0)):
        make_object(name, [(0, 0, height), (1, 0, height), (0, 1, height)], [(0, 1, 2)], role)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.data.objects["Cloth"].taffeta.cloth.density = 0.75
    bpy.data.objects["Floor"].taffeta.collider.friction = 0.875
    scene = gather(bpy.context)
    assert scene.cloths[0].material.density == 0.75
    assert scene.colliders[0].friction == 0.875

# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Pins and Remove Pins, which can be undone, and take the right keys along."""

from __future__ import annotations

import bpy
import pytest

from taffeta.tests.addon.conftest import fcurves
from taffeta.tests.addon.posing import make_armature


@pytest.fixture
def cape(make_cloth):
    item = make_cloth("Cape")
    bpy.context.view_layer.objects.active = item
    return item


def strengths(item) -> dict[str, float]:
    return {curve.data_path: curve.keyframe_points[0].co.y for curve in fcurves(item)}


def test_new_pins_take_the_active_vertex_group_where_nothing_has_it_yet(cape):
    pins = cape.taffeta.cloth.pins
    bpy.ops.taffeta.pin_add()
    cape.vertex_groups.new(name="Hem")
    bpy.ops.taffeta.pin_add()
    bpy.ops.taffeta.pin_add()
    assert [entry.group for entry in pins] == ["", "Hem", ""]
    assert [entry.strength for entry in pins] == [1.0, 1.0, 1.0]


def test_new_pins_leave_the_groups_of_bones_alone(cape):
    """Weights by which a garment follows its rig would pin all of it."""
    pins = cape.taffeta.cloth.pins
    cape.modifiers.new("Armature", "ARMATURE").object = make_armature()
    bpy.context.view_layer.objects.active = cape
    for name in ("Upper", "Waist"):
        cape.vertex_groups.active = cape.vertex_groups.new(name=name)
        bpy.ops.taffeta.pin_add()
    assert [entry.group for entry in pins] == ["", "Waist"]


def test_removed_pins_take_their_keys_and_drivers_along_and_others_keep_theirs(cape):
    pins = cape.taffeta.cloth.pins
    for index in range(4):
        bpy.ops.taffeta.pin_add()
        pins[index].strength = 0.1 * (index + 1)
        if index < 3:
            pins[index].keyframe_insert("strength", frame=1)
    pins[3].driver_add("strength")
    cape.keyframe_insert("location", index=0, frame=1)
    bpy.ops.taffeta.pin_remove(index=1)
    assert len(pins) == 3
    assert strengths(cape) == pytest.approx(
        {"taffeta.cloth.pins[0].strength": 0.1, "taffeta.cloth.pins[1].strength": 0.3, "location": 0.0}
    )
    assert [curve.data_path for curve in cape.animation_data.drivers] == ["taffeta.cloth.pins[2].strength"]


def test_pins_that_are_not_there_cannot_be_removed(cape):
    with pytest.raises(RuntimeError, match="there are 0 groups of pins beside the first"):
        bpy.ops.taffeta.pin_remove(index=0)


def test_adding_and_removing_can_be_undone(cape):
    def count() -> int:
        return len(bpy.data.objects["Cape"].taffeta.cloth.pins)

    bpy.ops.ed.undo_push(message="cape")
    bpy.ops.taffeta.pin_add("EXEC_DEFAULT", True)
    bpy.ops.taffeta.pin_remove("EXEC_DEFAULT", True, index=0)
    assert count() == 0
    bpy.ops.ed.undo()
    assert count() == 1
    bpy.ops.ed.undo()
    assert count() == 0


def test_an_object_that_is_no_cloth_has_no_pins_to_add(make_collider):
    bpy.context.view_layer.objects.active = make_collider()
    assert not bpy.ops.taffeta.pin_add.poll()
    assert not bpy.ops.taffeta.pin_remove.poll()

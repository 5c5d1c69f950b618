# SPDX-License-Identifier: GPL-3.0-or-later
"""A pin group that holds no vertex is told, before a bake and by it, and costs a draw nothing."""

from __future__ import annotations

import bpy
import pytest

from taffeta.addon.bake import session
from taffeta.addon.scene import checks, pin_properties, weighted
from taffeta.addon.scene.gather import gather, members
from taffeta.tests.addon import baking
from taffeta.tests.addon.scene.conftest import HELD


def read():
    bpy.context.view_layer.update()
    return gather(bpy.context)


def found(scene) -> list[checks.Trouble]:
    checks._others.clear()
    return list(checks.troubles(scene, members(scene)))


def painted_away(item, group):
    item.vertex_groups[group].add(HELD, 0.0, "REPLACE")


def assigned_to_none(item, group):
    item.vertex_groups[group].remove(HELD)


@pytest.mark.parametrize("harm", [painted_away, assigned_to_none])
@pytest.mark.parametrize("where", ["first", "beside"])
def test_a_group_that_holds_no_vertex_is_told_and_holds_no_cloth(scene, cape, harm, where):
    if where == "first":
        cape.taffeta.cloth.pin_group, cape.taffeta.cloth.pins[0].group = "Held", ""
    assert not found(scene)
    harm(cape, "Held")
    bpy.context.view_layer.update()
    texts = [trouble.text for trouble in found(scene)]
    assert texts == [
        "no object is a collider and no cloth is pinned: the cloth falls out of sight",
        "no vertex has a weight in its pin group “Held”, so that pins nothing: assign some, or choose another",
    ]
    cape.vertex_groups["Held"].add([7], 0.5, "REPLACE")
    bpy.context.view_layer.update()
    assert not found(scene)


def test_an_attribute_without_weights_holds_no_cloth(scene, cape):
    weights = cape.data.attributes.new("Painted", "FLOAT", "POINT").data
    cape.taffeta.cloth.pins[0].group = "Painted"
    assert [trouble for trouble in found(scene) if "falls out of sight" in trouble.text]
    weights[3].value = 1.0
    assert not found(scene)


def test_what_modifiers_make_of_an_empty_group_is_known_to_the_bake_alone(scene, cape):
    cape.vertex_groups["Held"].remove(HELD)
    everywhere = cape.modifiers.new("Weights", "VERTEX_WEIGHT_EDIT")
    everywhere.vertex_group, everywhere.use_add, everywhere.default_weight, everywhere.add_threshold = (
        "Held",
        True,
        1,
        0,
    )
    assert not found(scene)
    assert pin_properties.idle(cape, read().cloths[0]) == []
    everywhere.use_add = False
    assert not found(scene)
    assert pin_properties.idle(cape, read().cloths[0]) == ["Held"]


def test_an_empty_group_is_looked_for_once_until_its_mesh_changes(scene, cape, make_cloth, monkeypatch):
    other, looked = make_cloth("Other"), []
    cape.vertex_groups["Held"].remove(HELD)
    bpy.context.view_layer.update()
    weighs = weighted._weighs
    monkeypatch.setattr(weighted, "_weighs", lambda vertex, group: looked.append(vertex.index) or weighs(vertex, group))
    for count in range(3):
        other.data.vertices[0].co.z = cape.location.x = count
        bpy.context.view_layer.update()
        assert not weighted.may_weigh(cape, "Held")
    assert len(looked) == len(cape.data.vertices)
    cape.vertex_groups["Held"].add([4], 1.0, "REPLACE")
    bpy.context.view_layer.update()
    looked.clear()
    assert weighted.may_weigh(cape, "Held")
    assert weighted.may_weigh(cape, "Held")
    assert looked == [0, 1, 2, 3, 4, 4]


def test_a_bake_names_the_cloth_and_the_group_that_pins_nothing(saved_scene):
    cloth = bpy.data.objects["Cloth"]
    for name in ("First", "Beside"):
        cloth.vertex_groups.new(name=name)
    cloth.taffeta.cloth.pin_group, cloth.taffeta.cloth.pins.add().group = "First", "Beside"
    baking.end(baking.begin())
    said = "Cloth: no vertex has a weight in its pin group “{}”, so that pins nothing: assign some, or choose another"
    assert session.last.warnings == (said.format("First"), said.format("Beside"))

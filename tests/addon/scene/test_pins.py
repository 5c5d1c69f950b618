# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups of pins as a bake reads them: what each follows, its keys, what is refused, and when a cache is stale."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from taffeta.addon.cache import checking
from taffeta.addon.scene import checks, mends, modifier
from taffeta.addon.scene.checks import troubles
from taffeta.addon.scene.gather import gather, members
from taffeta.addon.scene.surroundings import Surroundings
from taffeta.gpu_core.files.job import describe
from taffeta.gpu_core.scene.differences import differences
from taffeta.gpu_core.scene.scene import SceneError
from taffeta.tests.addon.conftest import fcurves
from taffeta.tests.addon.scene.conftest import HELD


def pins_of(item):
    return item.taffeta.cloth.pins[0]


def read():
    bpy.context.view_layer.update()
    return gather(bpy.context)


def group():
    return read().cloths[0].pin_groups[0]


def refusal() -> SceneError:
    with pytest.raises(SceneError) as caught:
        read()
    assert caught.value.remedy.strip()
    return caught.value


def empty(name: str = "Hand") -> bpy.types.Object:
    made = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(made)
    return made


def animate(item, path, values):
    for frame, value in values.items():
        setattr(item, path, value)
        item.keyframe_insert(path, frame=frame)


def turning(item) -> list[Matrix]:
    """Moves and turns it over the frames; where it is at each of them."""
    animate(item, "location", {1: (0.2, -0.3, 0.4), 4: (1.0, 0.5, 0.9)})
    animate(item, "rotation_euler", {1: (0.1, 0.0, 0.2), 4: (1.2, -0.4, 2.0)})
    found = []
    for frame in range(1, 5):
        bpy.context.scene.frame_set(frame)
        found.append(item.matrix_world.copy())
    bpy.context.scene.frame_set(1)
    return found


def carried(points: np.ndarray, places: list[Matrix]) -> np.ndarray:
    """(F, P, 3)"""
    start = np.linalg.inv(np.array(places[0]))
    whole = np.column_stack([points, np.ones(len(points))])
    return np.array([(whole @ (np.array(place) @ start).T)[:, :3] for place in places])


def test_without_a_target_a_group_follows_the_animated_mesh_as_the_first_pins_do(cape):
    animate(cape, "location", {1: (0, 0, 0), 4: (0.3, 0, 0.1)})
    more = group().pins
    cape.taffeta.cloth.pins.clear()
    cape.taffeta.cloth.pin_group = "Held"
    first = read().cloths[0].pins
    assert np.array_equal(more.vertices, first.vertices)
    assert np.array_equal(more.targets, first.targets)
    assert more.weights is first.weights is None


def test_an_empty_carries_its_pins_rigidly_from_where_they_are_at_the_first_frame(cape):
    pins_of(cape).target = hand = empty()
    places = turning(hand)
    found = group().pins.targets
    start = np.array([cape.data.vertices[vertex].co for vertex in HELD], float)
    np.testing.assert_allclose(found[0], start, atol=1e-7)
    np.testing.assert_allclose(found, carried(start, places), atol=1e-5)
    side = np.linalg.norm(np.diff(found, axis=1), axis=2)
    np.testing.assert_allclose(side, np.repeat(side[:1], 4, axis=0), atol=1e-7)


def test_a_parent_a_bone_say_carries_pins_by_its_child(cape):
    """As armatures, hooks and constraints do: what is evaluated counts."""
    bones = bpy.data.armatures.new("Arm")
    arm = bpy.data.objects.new("Arm", bones)
    bpy.context.scene.collection.objects.link(arm)
    bpy.context.view_layer.objects.active = arm
    bpy.ops.object.mode_set(mode="EDIT")
    bone = bones.edit_bones.new("Wrist")
    bone.head, bone.tail = (0, 0, 0), (0, 1, 0)
    bpy.ops.object.mode_set(mode="OBJECT")
    hand = empty()
    hand.parent, hand.parent_type, hand.parent_bone = arm, "BONE", "Wrist"
    pose = arm.pose.bones["Wrist"]
    pose.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (4, 1.0)):
        pose.rotation_euler.x = angle
        pose.keyframe_insert("rotation_euler", frame=frame)
    pins_of(cape).target = hand
    places = []
    for frame in range(1, 5):
        bpy.context.scene.frame_set(frame)
        places.append(hand.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.copy())
    bpy.context.scene.frame_set(1)
    start = np.array([cape.data.vertices[vertex].co for vertex in HELD], float)
    found = group().pins.targets
    np.testing.assert_allclose(found, carried(start, places), atol=1e-5)
    assert np.abs(found[-1] - found[0]).max() > 0.1


@pytest.fixture
def body(make_object):
    """A block below the sheet, with a shape key that bends it."""
    corners = [(x, y, z) for z in (-0.4, -0.1) for y in (-0.6, 0.6) for x in (-0.6, 0.6)]
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return make_object("Body", corners, faces, "COLLIDER")


def test_a_body_that_moves_as_a_whole_carries_its_pins_rigidly(cape, body):
    pins_of(cape).target = body
    places = turning(body)
    found = group().pins.targets
    np.testing.assert_allclose(found, carried(found[0], places), atol=1e-5)


def test_a_body_that_deforms_takes_each_pin_along_with_its_nearest_triangle(cape, body):
    """Its upper side goes up by 0.3 m where x > 0: so do the pins above that side, and keep their distance."""
    body.shape_key_add(name="Basis")
    key = body.shape_key_add(name="Up")
    for point in key.data:
        if point.co.z > -0.2:
            point.co.z += 0.3
    for frame, value in ((1, 0.0), (4, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    pins_of(cape).target = body
    found = group().pins.targets
    start = np.array([cape.data.vertices[vertex].co for vertex in HELD], float)
    np.testing.assert_allclose(found[0], start, atol=1e-7)
    np.testing.assert_allclose(found[-1], start + [0.0, 0.0, 0.3], atol=1e-5)


def test_what_stands_still_is_stored_once_whatever_carries_it(cape, body):
    for target in (empty(), body):
        pins_of(cape).target = target
        assert group().pins.targets.shape == (1, len(HELD), 3)


def test_the_unit_scale_of_the_scene_makes_metres_of_what_carries(scene, cape):
    scene.unit_settings.scale_length = 0.01
    pins_of(cape).target = hand = empty()
    animate(hand, "location", {1: (0, 0, 0), 4: (0, 0, 50)})
    found = group().pins.targets
    assert found[-1] - found[0] == pytest.approx(np.tile([0.0, 0.0, 0.5], (len(HELD), 1)), abs=1e-6)


def test_a_group_that_pins_no_vertex_or_names_none_holds_nothing(cape):
    cape.vertex_groups.new(name="None")
    cape.taffeta.cloth.pins.add().group = "None"
    cape.taffeta.cloth.pins.add()
    held, none = read().cloths[0].pin_groups
    assert (held.name, held.pins.vertices.tolist()) == ("Held", HELD)
    assert (none.name, len(none.pins.vertices)) == ("None", 0)


def test_geometry_nodes_that_make_the_attribute_of_a_group_come_before_the_cache(cape):
    tree = bpy.data.node_groups.new("Paint", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    first, last = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    store = tree.nodes.new("GeometryNodeStoreNamedAttribute")
    store.inputs["Name"].default_value = "Made"
    store.inputs["Value"].default_value = 0.5
    tree.links.new(first.outputs[0], store.inputs["Geometry"])
    tree.links.new(store.outputs[0], last.inputs[0])
    cape.modifiers.new("Nodes", "NODES").node_group = tree
    assert modifier.place(cape) == 0
    pins_of(cape).group = "Made"
    assert modifier.place(cape) == 1
    assert group().pins.weights == pytest.approx(np.full(25, 0.5))


# What is refused


def test_an_unknown_group_is_refused_by_name(cape):
    pins_of(cape).group = "Nowhere"
    error = refusal()
    assert error.object == "Cape"
    assert "“Nowhere” for its pins" in str(error)


def test_cloth_carries_no_pins(cape, make_cloth):
    for target, words in ((cape, "the cloth itself"), (make_cloth("Skirt"), "“Skirt”, which is cloth too")):
        pins_of(cape).target = target
        error = refusal()
        assert error.object == "Cape"
        assert words in str(error)


@pytest.mark.parametrize("kind", ["empty", "body"])
def test_what_is_disabled_in_the_viewport_carries_no_pins_and_is_named(cape, make_object, kind):
    target = empty() if kind == "empty" else make_object("Hand", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    pins_of(cape).target = target
    target.hide_viewport = True
    error = refusal()
    assert error.object == "Hand"
    assert "pins of “Cape” follow it" in str(error)
    assert "at frame 1" in str(error)


def test_what_is_disabled_later_is_named_with_its_frame(cape):
    pins_of(cape).target = hand = empty()
    animate(hand, "hide_viewport", {1: False, 3: True})
    error = refusal()
    assert (error.object, "at frame 3" in str(error)) == ("Hand", True)


@pytest.mark.parametrize("switch", ["hide_viewport", "exclude", "parent"])
def test_what_is_in_a_collection_that_is_switched_off_carries_no_pins(scene, cape, switch):
    """Blender gives it a place all the same, for the cloth points to it; but it would not move."""
    outer, inner = bpy.data.collections.new("Outer"), bpy.data.collections.new("Inner")
    scene.collection.children.link(outer)
    outer.children.link(inner)
    pins_of(cape).target = hand = empty()
    scene.collection.objects.unlink(hand)
    inner.objects.link(hand)
    turning(hand)
    assert group().pins.targets.shape[0] == 4
    if switch == "exclude":
        bpy.context.view_layer.layer_collection.children["Outer"].exclude = True
    else:
        (inner if switch == "hide_viewport" else outer).hide_viewport = True
    assert "“Hand”, which is in no enabled collection" in str(refusal())


@pytest.mark.parametrize("points", ["pins", "fields"])
def test_a_collider_that_is_switched_off_is_refused_though_the_cloth_points_to_it(scene, cape, body, points):
    hidden = bpy.data.collections.new("Hidden")
    scene.collection.children.link(hidden)
    scene.collection.objects.unlink(body)
    hidden.objects.link(body)
    if points == "pins":
        cape.taffeta.cloth.pins.add().target = body
    else:
        cape.taffeta.cloth.field_collection = hidden
    turning(body)
    assert len(read().colliders[0].positions) == 4
    hidden.hide_viewport = True
    error = refusal()
    assert (error.object, "disabled in the viewport" in str(error)) == ("Body", True)


def test_what_its_eye_hides_carries_its_pins_all_the_same(cape):
    pins_of(cape).target = hand = empty()
    places = turning(hand)
    hand.hide_set(True)
    found = group().pins.targets
    np.testing.assert_allclose(found, carried(found[0], places), atol=1e-5)


def test_what_is_not_in_the_scene_carries_no_pins(cape):
    pins_of(cape).target = bpy.data.objects.new("Elsewhere", None)
    error = refusal()
    assert error.object == "Cape"
    assert "“Elsewhere”, which is in no enabled collection of this scene" in str(error)


def test_a_target_without_size_is_refused_with_its_frame(cape):
    pins_of(cape).target = hand = empty()
    animate(hand, "scale", {1: (1, 1, 1), 3: (0, 1, 1)})
    error = refusal()
    assert (error.object, "scale is 0 at frame 3" in str(error)) == ("Hand", True)


def test_a_target_whose_vertices_change_in_number_is_refused_with_its_frame(cape, body):
    body.taffeta.role = "NONE"
    pins_of(cape).target = body
    finer = body.modifiers.new("Subdivision", "SUBSURF")
    for frame, levels in ((1, 0), (2, 0), (3, 1)):
        finer.levels = levels
        finer.keyframe_insert("levels", frame=frame)
    error = refusal()
    assert error.object == "Body"
    assert "vertices at frame 3 and had 8 at the first" in str(error)


# What is told before a bake


def found(scene) -> list[checks.Trouble]:
    checks._others.clear()
    return list(troubles(scene, members(scene)))


def test_checks_name_what_is_in_the_way_and_mend_it(scene, cape, make_cloth):
    hand, cloth = empty(), cape.taffeta.cloth
    more = [cloth.pins.add() for _ in range(3)]
    for pins, target in zip(more, (cape, hand, bpy.data.objects.new("Elsewhere", None)), strict=True):
        pins.group, pins.target = "Held", target
    pins_of(cape).group, hand.hide_viewport = "Nowhere", True
    told = {(trouble.name, trouble.mend): trouble.text for trouble in found(scene)}
    assert told["Cape", "PINS"] == "there is no vertex group or attribute “Nowhere” to pin"
    assert told["Hand", "ENABLE"] == "it is disabled in the viewport, but pins of “Cape” follow it"
    texts = [trouble.text for trouble in found(scene) if trouble.mend == "TARGET"]
    nowhere = "its pins follow “Elsewhere”, which is in no enabled collection of this scene"
    assert texts == ["its pins follow the cloth itself", nowhere]
    for name, mend in (("Cape", "PINS"), ("Hand", "ENABLE"), ("Cape", "TARGET")):
        mends.mend(scene, name, mend)
    assert not {"PINS", "ENABLE", "TARGET"} & {trouble.mend for trouble in found(scene)}
    assert [pins.target for pins in cloth.pins] == [None, None, hand, None]


def test_a_cloth_with_pins_beside_the_first_is_held(scene, cape):
    assert not [trouble for trouble in found(scene) if "falls out of sight" in trouble.text]
    pins_of(cape).group = ""
    assert [trouble for trouble in found(scene) if "falls out of sight" in trouble.text]


# When a cache is stale


def test_another_motion_of_what_carries_pins_is_another_scene(cape):
    pins_of(cape).target = hand = empty()
    turning(hand)
    held = describe(read())
    assert differences(held, describe(read())) == []
    animate(hand, "location", {4: (2.0, 0.5, 0.9)})
    (difference,) = differences(held, describe(read()))
    assert difference.text == "Cape: pins “Held”: they move otherwise"


def test_check_caches_finds_that_what_carries_pins_moves_otherwise(saved_scene):
    item = bpy.data.objects["Cloth"]
    item.vertex_groups.new(name="Held").add(HELD, 1.0, "REPLACE")
    item.taffeta.cloth.pins.add().group = "Held"
    item.taffeta.cloth.pins[0].target = hand = empty()
    bpy.ops.taffeta.bake()
    from taffeta.addon.cache import status

    assert status.of(saved_scene, item)[0].name == "READY"
    hand.location.z = 0.2  # it carries from where they are at the first frame: nothing changes
    bpy.ops.taffeta.check()
    assert checking.current is None
    assert status.of(saved_scene, item)[0].name == "READY"
    animate(hand, "location", {1: (0, 0, 0), 4: (0, 0, 0.2)})
    bpy.ops.taffeta.check()
    state, reason = status.of(saved_scene, item)
    assert (state.name, reason) == ("STALE", "Cloth: pins “Held”: they move otherwise")
    hand.animation_data_clear()
    bpy.ops.taffeta.check()
    animate(item.taffeta.cloth.pins[0], "strength", {1: 1.0, 4: 0.0})
    for curve in fcurves(item):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    state, reason = status.of(saved_scene, item)
    assert state.name == "PARTIAL"
    assert reason == "Good up to frame 3. Cloth: pins “Held”: strength is another from frame 4 on"


def test_a_driver_on_a_strength_is_read_at_each_frame(cape):
    driver = pins_of(cape).driver_add("strength").driver
    driver.expression = "1 - frame / 10"
    assert group().keys["strength"] == pytest.approx([0.9, 0.8, 0.7, 0.6])


# Live


def test_live_is_told_where_each_vertex_goes_by_the_group_that_holds_it(scene, cape, body):
    hand = empty()
    pins_of(cape).target = hand
    cape.vertex_groups.new(name="More").add([4, 24], 0.5, "REPLACE")
    more = cape.taffeta.cloth.pins.add()
    more.group, more.target = "More", body
    bpy.context.view_layer.update()
    around = Surroundings(members(scene), gather(bpy.context, (1, 1)))
    assert around.moved(bpy.context.evaluated_depsgraph_get(), 1) == {}
    assert around.are_there(scene)
    hand.location.z, body.location.x = 0.5, 0.25
    bpy.context.view_layer.update()
    told = around.moved(bpy.context.evaluated_depsgraph_get(), 1)
    assert set(told) == {"pins_000", "collider_000"}
    start = np.array([cape.data.vertices[vertex].co for vertex in (0, 4, 20, 24)], float)
    way = [[0, 0, 0.5], [0, 0, 0.5], [0, 0, 0.5], [0.25, 0, 0]]  # 4 is held harder by the hand
    np.testing.assert_allclose(told["pins_000"], start + way, atol=1e-6)
    bpy.data.objects.remove(hand)
    assert not around.are_there(scene)

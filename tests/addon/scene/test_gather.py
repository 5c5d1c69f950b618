# SPDX-License-Identifier: GPL-3.0-or-later
"""What the solver gets from Blender, and every refusal: it names the object and the remedy."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from taffeta.addon.scene import modifier, triangulation
from taffeta.addon.scene.gather import gather
from taffeta.gpu_core.scene.scene import SceneError


def read(frames=None):
    bpy.context.view_layer.update()
    return gather(bpy.context, frames)


def refusal(frames=None) -> SceneError:
    with pytest.raises(SceneError) as caught:
        read(frames)
    assert caught.value.remedy.strip()
    return caught.value


def animate(item, path, values):
    for frame, value in values.items():
        setattr(item, path, value)
        item.keyframe_insert(path, frame=frame)


def displayed(item):
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.matrix_world)
    local = np.array([vertex.co for vertex in evaluated.data.vertices])
    return local @ matrix[:3, :3].T + matrix[:3, 3]


# What is read


def test_settings_follow_the_scene(scene, make_cloth):
    make_cloth()
    scene.render.fps, scene.render.fps_base = 30, 1.001
    scene.taffeta.step_rate, scene.taffeta.backend, scene.taffeta.preset = 240, "CPU", "PAPER"
    scene.gravity = (0, 0, -3.7)
    settings = read().settings
    assert (settings.frame_start, settings.frame_end) == (1, 4)
    assert settings.fps == pytest.approx(30 / 1.001)
    assert (settings.step_rate, settings.backend, settings.preset) == (240, "cpu", "paper")
    assert settings.gravity == (0, 0, -3.7)


def test_gravity_switched_off_is_none(scene, make_cloth):
    make_cloth()
    scene.use_gravity = False
    assert read().settings.gravity == (0, 0, 0)


def test_a_given_range_wins_over_the_scenes(make_cloth):
    make_cloth()
    assert read((3, 9)).settings.frames == 7


def test_numbers_arrive_as_the_user_typed_them(make_cloth):
    item = make_cloth()
    item.taffeta.cloth.strain_limit, item.taffeta.cloth.bend = 0.07, 7e-6
    item.taffeta.cloth.bend_friction = 3e-4
    material = read().cloths[0].material
    assert (material.strain_limit, material.bend, material.bend_friction) == (0.07, 7e-6, 3e-4)


def test_the_cloth_starts_as_evaluated_at_the_first_frame(make_cloth):
    item = make_cloth()
    animate(item, "location", {1: (0, 0, 0), 4: (3, 0, 0)})
    twist = item.modifiers.new("Twist", "SIMPLE_DEFORM")
    twist.deform_method, twist.angle = "TWIST", 1.0
    bpy.context.scene.frame_set(3)
    cloth = read((3, 4)).cloths[0]
    np.testing.assert_allclose(cloth.positions, displayed(item), atol=1e-6)
    assert np.ptp(cloth.positions[:, 2]) > 0.01


def test_the_current_frame_and_modifiers_are_put_back(scene, make_cloth):
    item = make_cloth()
    subdivision = item.modifiers.new("Subdivision", "SUBSURF")
    scene.frame_set(2)
    read()
    assert scene.frame_current == 2
    assert subdivision.show_viewport


def test_they_are_put_back_after_a_refusal_too(scene, make_cloth):
    item = make_cloth()
    subdivision = item.modifiers.new("Subdivision", "SUBSURF")
    item.taffeta.cloth.pin_group = "Nowhere"
    scene.frame_set(2)
    refusal()
    assert scene.frame_current == 2
    assert subdivision.show_viewport


def test_the_last_bake_is_not_fed_back(make_cloth, tmp_path):
    from taffeta.gpu_core.files import point_cache

    item = make_cloth()
    before = read().cloths[0].positions
    path = tmp_path / "old.pc2"
    point_cache.create(path, len(before), 1)
    point_cache.append(path, (before + 5).astype(np.float32))
    own = item.modifiers.new(modifier.NAME, "MESH_CACHE")
    own.cache_format, own.filepath = "PC2", str(path)
    bpy.context.scene.frame_set(1)
    assert displayed(item)[0, 2] == pytest.approx(5)
    np.testing.assert_array_equal(read().cloths[0].positions, before)
    assert own.show_viewport


def test_quads_and_ngons_are_triangulated_as_the_baked_cloth_is_displayed(make_object):
    concave = [(0, 0, 0), (4, 0, 0), (1, 1, 0), (0, 4, 0)]
    star = [
        (6 + (1 + i % 2) * math.cos(i * math.pi / 5), (1 + i % 2) * math.sin(i * math.pi / 5), 0) for i in range(10)
    ]
    item = make_object("Sheet", concave + star, [(0, 1, 2, 3), tuple(range(4, 14))], "CLOTH")
    cloth = read().cloths[0]
    triangulation.attach(item)
    mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    mesh.calc_loop_triangles()
    assert {frozenset(entry) for entry in cloth.triangles.tolist()} == {
        frozenset(entry.vertices) for entry in mesh.loop_triangles
    }
    assert len(cloth.triangles) == len(mesh.loop_triangles)
    area = np.cross(
        cloth.positions[cloth.triangles[:, 1]] - cloth.positions[cloth.triangles[:, 0]],
        cloth.positions[cloth.triangles[:, 2]] - cloth.positions[cloth.triangles[:, 0]],
    )[:, 2]
    assert (area > 0).all()


@pytest.mark.parametrize("scale", [(1, 2, 3), (-1, 1, 1), (-2, -1, -3)])
def test_any_scale_but_zero_arrives_in_world_space(make_cloth, make_collider, scale):
    item, floor = make_cloth(), make_collider()
    for entry in (item, floor):
        entry.matrix_world = Matrix.LocRotScale((1, 2, 3), Euler((0.3, 0.4, 0.5)), scale)
    scene = read()
    np.testing.assert_allclose(scene.cloths[0].positions, displayed(item), atol=1e-5)
    np.testing.assert_allclose(scene.colliders[0].positions[0], displayed(floor), atol=1e-5)


def test_a_mirrored_collider_still_faces_outwards(make_object, make_cloth):
    make_cloth()
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    solid = make_object("Solid", corners, [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)], "COLLIDER")
    solid.scale = (-1, 1, 1)
    collider = read().colliders[0]
    a, b, c = (collider.positions[0][collider.triangles[:, k]] for k in range(3))
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() > 0


def test_world_to_object_undoes_the_transform_of_its_frame(scene, make_cloth):
    item = make_cloth()
    item.scale = (1, -2, 3)
    animate(item, "location", {1: (0, 0, 0), 4: (3, 1, 0)})
    matrices = read().cloths[0].world_to_object
    assert matrices.shape == (4, 4, 4)
    scene.frame_set(3)
    np.testing.assert_allclose(matrices[2] @ np.array(item.matrix_world), np.eye(4), atol=1e-6)


def test_what_stands_still_is_stored_once(make_cloth, make_collider):
    make_cloth(), make_collider()
    scene = read()
    assert scene.cloths[0].world_to_object.shape == (1, 4, 4)
    assert scene.colliders[0].positions.shape == (1, 3, 3)


def test_animated_colliders_are_read_at_every_frame(make_cloth, make_collider):
    make_cloth()
    animate(make_collider(), "location", {1: (0, 0, 0), 4: (0, 0, 0.3)})
    collider = read().colliders[0]
    assert collider.positions.dtype == np.float32
    assert collider.positions.shape == (4, 3, 3)
    assert collider.positions[-1, 0, 2] == pytest.approx(-0.2)


def test_a_collider_hidden_by_its_eye_still_takes_part(make_cloth, make_collider):
    make_cloth()
    floor = make_collider()
    animate(floor, "location", {1: (0, 0, 0), 4: (0, 0, 0.3)})
    floor.hide_set(True)
    assert read().colliders[0].animated


def test_pins_follow_the_animated_mesh(make_cloth):
    item = make_cloth()
    group = item.vertex_groups.new(name="Held")
    group.add([0, 1], 1.0, "REPLACE")
    group.add([2], 0.25, "REPLACE")
    group.add([3], 0.0, "REPLACE")
    item.taffeta.cloth.pin_group = "Held"
    item.shape_key_add(name="Basis")
    lifted = item.shape_key_add(name="Lifted")
    for point in lifted.data:
        point.co.z += 1
    lifted.value = 0
    lifted.keyframe_insert("value", frame=1)
    lifted.value = 1
    lifted.keyframe_insert("value", frame=4)
    pins = read().cloths[0].pins
    np.testing.assert_array_equal(pins.vertices, [0, 1, 2])
    np.testing.assert_allclose(pins.weights, [1, 1, 0.25])
    assert pins.targets.shape == (4, 3, 3)
    assert pins.targets[-1, 0, 2] == pytest.approx(1)


def test_full_weights_are_hard_pins_and_still_ones_are_stored_once(make_cloth):
    item = make_cloth()
    item.vertex_groups.new(name="Held").add([4], 1.0, "REPLACE")
    item.taffeta.cloth.pin_group = "Held"
    pins = read().cloths[0].pins
    assert pins.weights is None
    assert pins.targets.shape == (1, 1, 3)


def test_warp_runs_along_u(make_cloth):
    item = make_cloth()
    assert read().cloths[0].warp is None
    layer = item.data.uv_layers.new(name="Pattern")
    for loop in item.data.loops:
        x, y, _ = item.data.vertices[loop.vertex_index].co
        layer.uv[loop.index].vector = (y, x)  # mirrored and turned by a right angle
    cloth = read().cloths[0]
    assert cloth.warp.shape == (len(cloth.triangles), 3)
    np.testing.assert_allclose(cloth.warp, np.tile([0, 1, 0], (len(cloth.triangles), 1)), atol=1e-6)


def test_a_map_without_area_gives_a_finite_warp(make_cloth):
    item = make_cloth()
    layer = item.data.uv_layers.new(name="Empty")
    for entry in layer.uv:
        entry.vector = (0, 0)
    np.testing.assert_allclose(np.linalg.norm(read().cloths[0].warp, axis=1), 1)


def test_modifiers_that_add_vertices_stay_behind_the_cache(make_cloth):
    item = make_cloth()
    item.modifiers.new("Bend", "SIMPLE_DEFORM")
    item.modifiers.new("Subdivision", "SUBSURF")
    assert modifier.place(item) == 1
    assert len(read().cloths[0].positions) == 25


def test_the_scenes_unit_scale_makes_metres(scene, make_cloth):
    make_cloth()
    scene.unit_settings.scale_length = 0.01
    gathered = read()
    assert np.ptp(gathered.cloths[0].positions[:, 0]) == pytest.approx(0.01)
    assert gathered.settings.gravity[2] == pytest.approx(-0.0981)
    np.testing.assert_allclose(gathered.cloths[0].world_to_object[0], np.diag([100, 100, 100, 1]), rtol=1e-6)


def test_copies_get_cache_keys_of_their_own(make_cloth):
    first = make_cloth("Skirt")
    first.taffeta.cloth.cache_key = "Skirt"
    copy = first.copy()
    bpy.context.scene.collection.objects.link(copy)
    keys = {cloth.name: cloth.key for cloth in read().cloths}
    assert keys["Skirt"] == "Skirt"
    assert keys[copy.name] != "Skirt"


def test_a_key_survives_renaming_and_a_newcomer_with_the_old_name(make_cloth):
    first = make_cloth("Skirt")
    first.taffeta.cloth.cache_key = "Skirt"
    first.name = "Old Skirt"
    make_cloth("Skirt")
    keys = {cloth.name: cloth.key for cloth in read().cloths}
    assert keys == {"Old Skirt": "Skirt", "Skirt": "Skirt-2"}


# What is refused


def test_no_cloth_is_refused(scene, make_collider):
    make_collider()
    assert "no cloth" in refusal().problem


def test_an_empty_range_is_refused(make_cloth):
    make_cloth()
    assert "9..3" in refusal((9, 3)).problem


@pytest.mark.parametrize("role", ["CLOTH", "COLLIDER"])
def test_what_is_not_a_mesh_is_refused_by_name(scene, make_cloth, role):
    make_cloth()
    empty = bpy.data.objects.new("Marker", None)
    scene.collection.objects.link(empty)
    empty.taffeta.role = role
    error = refusal()
    assert error.object == "Marker"
    assert "Empty" in error.problem


@pytest.mark.parametrize("role", ["CLOTH", "COLLIDER"])
def test_an_empty_mesh_is_refused_by_name(make_cloth, make_object, role):
    make_cloth()
    make_object("Void", [], [], role)
    error = refusal()
    assert error.object == "Void"
    assert "no faces" in error.problem


@pytest.mark.parametrize("how", ["object", "collection", "excluded"])
def test_a_collider_that_blender_does_not_evaluate_is_refused_by_name(scene, make_cloth, make_collider, how):
    make_cloth()
    floor = make_collider()
    collection = bpy.data.collections.new("Set")
    scene.collection.children.link(collection)
    collection.objects.link(floor)
    scene.collection.objects.unlink(floor)
    if how == "object":
        floor.hide_viewport = True
    elif how == "collection":
        collection.hide_viewport = True
    else:
        bpy.context.view_layer.layer_collection.children["Set"].exclude = True
    error = refusal()
    assert error.object == "Floor"
    assert "Outliner" in error.remedy


def test_a_collider_missing_from_its_library_is_refused_by_name(scene, make_cloth, make_collider, tmp_path):
    library = tmp_path / "props.blend"
    bpy.data.libraries.write(str(library), {make_collider()})
    bpy.data.objects.remove(bpy.data.objects["Floor"])
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = ["Floor"]
    scene.collection.objects.link(wanted.objects[0])
    make_cloth()
    assert read().colliders[0].name == "Floor"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    library.unlink()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert "Floor" in bpy.context.scene.objects
    bpy.context.scene.objects["Floor"].taffeta.role = "COLLIDER"
    error = refusal()
    assert error.object == "Floor"
    assert "props.blend" in error.problem


def test_a_linked_cloth_blocks_no_other_and_is_refused_with_the_way_out(scene, make_cloth, tmp_path):
    library = tmp_path / "wardrobe.blend"
    bpy.data.libraries.write(str(library), {make_cloth("Skirt")})
    bpy.data.objects.remove(bpy.data.objects["Skirt"])
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = ["Skirt"]
    scene.collection.objects.link(wanted.objects[0])
    with pytest.raises(SceneError) as refused:
        gather(bpy.context, simulated=[wanted.objects[0]])
    assert refused.value.object == "Skirt"
    assert "Override" in refused.value.remedy
    make_cloth("Coat")
    assert [cloth.name for cloth in read().cloths] == ["Coat"]


def test_a_deleted_collider_is_simply_gone(make_cloth, make_collider):
    make_cloth()
    bpy.data.objects.remove(make_collider())
    assert read().colliders == ()


def test_a_modifier_above_the_cache_that_adds_vertices_is_refused_by_name(make_cloth):
    item = make_cloth()
    item.modifiers.new("Bend", "SIMPLE_DEFORM")
    item.modifiers.new("Refine", "SUBSURF")
    item.modifiers.new(modifier.NAME, "MESH_CACHE")
    error = refusal()
    assert error.object == "Cloth"
    assert "“Refine”" in error.problem
    assert "move it below" in error.remedy
    assert all(entry.show_viewport for entry in item.modifiers)


@pytest.mark.parametrize("role", ["CLOTH", "COLLIDER"])
def test_a_vertex_count_that_changes_is_refused_with_object_and_frame(make_cloth, make_object, role):
    make_cloth()
    strip = make_object("Strip", [(5, 0, 0), (6, 0, 0), (5, 1, 0)], [(0, 1, 2)], role)
    array = strip.modifiers.new("Array", "ARRAY")
    if role == "CLOTH":
        strip.modifiers.new(modifier.NAME, "MESH_CACHE")
    array.count = 1
    array.keyframe_insert("count", frame=2)
    array.count = 2
    array.keyframe_insert("count", frame=3)
    error = refusal()
    assert error.object == "Strip"
    assert "frame 3" in error.problem


def test_a_position_that_is_not_a_number_is_refused_by_name(make_cloth, make_collider):
    make_cloth()
    floor = make_collider()
    floor.data.vertices[1].co.x = math.nan
    floor.data.update()
    assert refusal().object == "Floor"


def test_a_cloth_position_that_is_not_a_number_is_refused_by_name(make_cloth):
    item = make_cloth()
    item.data.vertices[1].co.x = math.nan
    item.data.update()
    assert refusal().object == "Cloth"


def test_zero_scale_is_refused_by_name(make_cloth):
    make_cloth().scale = (1, 1, 0)
    error = refusal()
    assert (error.object, "scale" in error.problem) == ("Cloth", True)


def test_an_unknown_pin_group_is_refused_by_name(make_cloth):
    make_cloth().taffeta.cloth.pin_group = "Nowhere"
    error = refusal()
    assert error.object == "Cloth"
    assert "Nowhere" in error.problem


def test_faces_without_area_are_refused_by_name(make_object):
    make_object("Sheet", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (2, 0, 0)], [(0, 1, 2), (0, 1, 3)], "CLOTH")
    assert "without area" in refusal().problem


def test_a_face_that_lies_on_another_one_is_refused_by_name(make_object):
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, -1, 0)]
    make_object("Sheet", corners, [(0, 1, 2), (1, 0, 3), (0, 2, 1)], "CLOTH")
    assert "lie on another one with the same vertices" in refusal().problem

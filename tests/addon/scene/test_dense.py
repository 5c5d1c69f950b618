# SPDX-License-Identifier: GPL-3.0-or-later
"""A dense mesh follows its cloth in Blender itself: without the add-on, in renders, after undo; what cannot is said."""

from __future__ import annotations

import struct

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from taffeta.addon.live import display
from taffeta.addon.scene import binding, checks, dense, dense_nodes
from taffeta.addon.scene import mesh as mesh_arrays
from taffeta.addon.scene.gather import gather, members
from taffeta.addon.scene.mends import mend
from taffeta.gpu_core.scene.scene import SceneError
from taffeta.tests.addon.following import motion, play, sheet, world

FRAMES = 4


@pytest.fixture
def pair(make_object, tmp_path):
    """(light, dense): the dense mesh 2 mm over the light one, which rolls up from frame 1 to 4."""
    light, item = sheet(make_object, "Light", 12, "CLOTH"), sheet(make_object, "Dense", 40, lift=0.002)
    play(light, motion(light, FRAMES), tmp_path / "light.pc2")
    return light, item


def marks(mesh: bpy.types.Mesh) -> list[str]:
    """The attributes that bind it."""
    return [entry.name for entry in mesh.attributes if entry.name.startswith(dense_nodes.PREFIX)]


def column(mesh: bpy.types.Mesh, name: str, kind: type) -> np.ndarray:
    values = np.empty(len(mesh.vertices), kind)
    mesh.attributes[name].data.foreach_get("value", values)
    return values


def troubles(scene) -> list[tuple[str, str, str]]:
    checks._others.clear()
    found = checks.troubles(scene, members(scene))
    return [(entry.name, entry.text, entry.mend) for entry in found if entry.name in ("Light", "Dense")]


def test_a_bound_mesh_does_not_move_until_the_cloth_does_and_then_follows_it(pair):
    light, item = pair
    before = world(item, 3)
    bound = dense.bind(bpy.context, item, light)
    assert bpy.context.scene.frame_current == 3
    assert (bound.vertices, bound.inexact) == (41 * 41, 0)
    assert bound.farthest == pytest.approx(0.002, rel=0.1)
    np.testing.assert_allclose(world(item, 1), before, rtol=0, atol=2e-6)
    for frame in range(1, FRAMES + 1):
        points, shown = world(item, frame), world(light, frame)
        triangles = mesh_arrays.triangles(light.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)
        near, _ = binding.nearest(points, shown, triangles)
        normals = np.cross(*(shown[triangles[near, k]] - shown[triangles[near, 0]] for k in (1, 2)))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        away = ((points - shown[triangles[near, 0]]) * normals).sum(axis=1)
        assert away.min() > 0.0012, frame
        assert away.max() < 0.0028, frame


def test_blender_puts_each_vertex_where_the_numbers_say(pair):
    light, item = pair
    item.taffeta.rounding = 0.5
    dense.bind(bpy.context, item, light)
    corners = np.column_stack([column(item.data, name, np.int32) for name in dense_nodes.CORNERS])
    weights = np.column_stack([column(item.data, name, np.float32) for name in dense_nodes.WEIGHTS])
    heights = column(item.data, dense_nodes.HEIGHT, np.float32)
    places = binding.Places(corners, weights.astype(float), heights.astype(float))
    for frame in (2, 4):
        points = world(light, frame)
        shown = light.evaluated_get(bpy.context.evaluated_depsgraph_get())
        held = binding.surface(points, mesh_arrays.triangles(shown.data))
        limit = 0.5 * light.taffeta.cloth.thickness
        np.testing.assert_allclose(world(item, frame), binding.follow(places, held, limit), rtol=0, atol=2e-6)


@pytest.mark.parametrize("scale", [(1, 1, 1), (2, 2, 2), (-1, 1, 1), (1, 1.5, 0.5)])
@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_turned_mirrored_and_scaled_objects_are_bound_where_they_lie(pair, scale, unit):
    light, item = pair
    bpy.context.scene.unit_settings.scale_length = unit
    place = Matrix.LocRotScale((1.0, -2.0, 0.5), Matrix.Rotation(0.7, 3, "X"), scale)
    item.data.transform(place.inverted())
    item.matrix_world = place
    before = world(item, 1)
    assert dense.bind(bpy.context, item, light).farthest == pytest.approx(0.002 * unit, rel=0.1)
    np.testing.assert_allclose(world(item, 1), before, rtol=0, atol=5e-6)
    light.matrix_world = Matrix.Translation((0, 0, 3))
    np.testing.assert_allclose(world(item, 1), before + [0, 0, 3], rtol=0, atol=5e-6)
    assert np.linalg.norm(world(item, 4) - before - [0, 0, 3], axis=1).max() > 0.1


def test_it_is_bound_as_it_is_shown_where_it_was_modelled_on_the_baked_cloth(pair, make_object):
    light, _ = pair
    bpy.context.scene.frame_set(3)
    shown = world(light, 3)
    item = make_object("Button", shown[80] + 0.01 * np.eye(3), [(0, 1, 2)])
    before = world(item)
    dense.bind(bpy.context, item, light, as_shown=True)
    assert bpy.context.scene.frame_current == 3
    np.testing.assert_allclose(world(item, 3), before, rtol=0, atol=2e-6)
    assert np.abs(world(item, 1) - before).max() > 0.01


def test_deformers_and_what_refines_keep_their_places(pair):
    light, item = pair
    refine = item.modifiers.new("Refine", "SUBSURF")
    refine.levels = 1
    hook = item.modifiers.new("Wave", "WAVE")
    item.modifiers.move(item.modifiers.find(hook.name), 0)
    dense.bind(bpy.context, item, light)
    assert [entry.name for entry in item.modifiers] == ["Wave", dense.NAME, "Refine"]
    assert len(world(item, 3)) == 81 * 81
    dense.bind(bpy.context, item, light)
    assert [entry.name for entry in item.modifiers] == ["Wave", dense.NAME, "Refine"]


def test_it_follows_what_live_shows(pair, tmp_path):
    light, item = pair
    dense.bind(bpy.context, item, light)
    expected = world(item, 4)
    cache = tmp_path / "live.pc2"
    frame = motion(light, FRAMES)[3].astype("<f4")
    cache.write_bytes(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, len(frame), 0.0, 1.0, 1) + frame.tobytes())
    bpy.context.scene.frame_set(1)
    display.show(light, cache)
    np.testing.assert_allclose(world(item), expected, rtol=0, atol=1e-6)
    display.remove()


def test_the_file_plays_without_the_addon(pair, tmp_path):
    import taffeta

    light, item = pair
    dense.bind(bpy.context, item, light)
    expected = world(item, 4)
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    taffeta.unregister()
    try:
        bpy.ops.wm.open_mainfile(filepath=path)
        np.testing.assert_array_equal(world(bpy.data.objects["Dense"], 4), expected)
    finally:
        taffeta.register()


def test_a_light_mesh_that_no_render_shows_is_followed_in_renders(pair, tmp_path):
    """Seen from above: the sheet covers all of the picture, rolled up it does not."""
    light, item = pair
    dense.bind(bpy.context, item, light)
    dense.hide_light(light, True)
    scene = bpy.context.scene
    item.data.materials.append(bpy.data.materials.new("Glow"))
    item.data.materials[0].use_nodes = True
    item.data.materials[0].node_tree.nodes["Principled BSDF"].inputs["Emission Strength"].default_value = 5.0
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale, camera.location = "ORTHO", 0.9, (0, 0, 3)
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.render.engine, scene.cycles.samples, scene.render.film_transparent = "CYCLES", 1, True
    scene.render.resolution_x = scene.render.resolution_y = 24
    scene.render.image_settings.file_format, scene.render.image_settings.color_mode = "PNG", "RGBA"
    covered = []
    for frame in (1, 4):
        scene.frame_set(frame)
        scene.render.filepath = str(tmp_path / f"{frame}.png")
        bpy.ops.render.render(write_still=True)
        picture = bpy.data.images.load(scene.render.filepath)
        covered.append(float(np.mean(np.array(picture.pixels[:])[3::4])))
    assert covered[0] == 1.0
    assert 0.1 < covered[1] < 0.9


def test_unbinding_leaves_the_mesh_as_it_was_modelled(pair):
    light, item = pair
    names = lambda: (sorted(entry.name for entry in item.data.attributes), len(bpy.data.node_groups))  # noqa: E731
    before, attributes = world(item), names()
    dense.bind(bpy.context, item, light)
    dense.unbind(item)
    assert (names(), item.taffeta.follows, list(item.modifiers)) == (attributes, None, [])
    np.testing.assert_array_equal(world(item, 4), before)
    dense.bind(bpy.context, item, light)
    item.taffeta.follows = None  # the cross in the panel
    assert dense.find(item) is None


def test_nothing_is_left_of_a_binding_of_an_earlier_release(pair):
    light, item = pair
    dense.bind(bpy.context, item, light)
    item.data.attributes.new("taffeta_follow_weights", "FLOAT_VECTOR", "POINT")
    dense.bind(bpy.context, item, light)
    assert sorted(marks(item.data)) == sorted((*dense_nodes.CORNERS, *dense_nodes.WEIGHTS, dense_nodes.HEIGHT))
    dense.unbind(item)
    assert not marks(item.data)


def test_a_mesh_that_was_bound_is_no_part_of_the_simulation(pair):
    light, item = pair
    bpy.context.scene.frame_end = 2
    before = gather(bpy.context)
    dense.bind(bpy.context, item, light)
    after = gather(bpy.context)
    assert [cloth.name for cloth in after.cloths] == ["Light"]
    assert after.colliders == before.colliders == ()
    np.testing.assert_array_equal(after.cloths[0].positions, before.cloths[0].positions)
    np.testing.assert_array_equal(after.cloths[0].triangles, before.cloths[0].triangles)


def test_without_its_light_mesh_it_stays_where_it_was_modelled(pair):
    light, item = pair
    before = world(item)
    dense.bind(bpy.context, item, light)
    light.modifiers.new("Refine", "SUBSURF").levels = 1
    np.testing.assert_array_equal(world(item, 4), before)
    bpy.data.objects.remove(light)
    np.testing.assert_array_equal(world(item, 4), before)


def test_a_copy_follows_too_and_can_be_bound_by_itself(pair):
    light, item = pair
    dense.bind(bpy.context, item, light)
    copy = item.copy()
    copy.data = item.data.copy()
    bpy.context.scene.collection.objects.link(copy)
    np.testing.assert_array_equal(world(copy, 4), world(item, 4))
    dense.unbind(copy)
    assert dense.light_of(item) == light
    assert np.abs(world(copy, 4) - world(item, 4)).max() > 0.1


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda light, item: setattr(light.taffeta, "role", "NONE"), "no other cloth"),
        (lambda light, item: setattr(item.taffeta, "role", "COLLIDER"), "Set its role to None"),
        (lambda light, item: bpy.data.objects.new("Twin", item.data), "2 objects share its mesh"),
        (lambda light, item: light.modifiers.new("Shell", "SOLIDIFY"), "“Shell” after its cache makes other vertices"),
        (lambda light, item: setattr(item, "hide_viewport", True), "disabled in the viewport"),
        (lambda light, item: light.data.clear_geometry(), "no triangle has an area"),
        (lambda light, item: item.data.clear_geometry(), "it has no vertices"),
        (lambda light, item: item.modifiers.new("Sculpted", "MULTIRES"), "“Sculpted” makes other vertices"),
    ],
)
def test_what_cannot_be_bound_is_said_before_anything_is_changed(pair, spoil, words):
    light, item = pair
    spoil(light, item)
    with pytest.raises(SceneError, match=words):
        dense.bind(bpy.context, item, light)
    assert (dense.find(item), item.taffeta.follows) == (None, None)
    assert not marks(item.data)


def test_checks_name_a_binding_that_is_stale_and_mend_it(pair, scene):
    light, item = pair
    item.taffeta.follows = light
    assert ("Dense", "it is to follow Light and is not bound to it", "BIND") in troubles(scene)
    mend(scene, "Dense", "BIND")
    assert troubles(scene) == [("Light", "it renders beside “Dense”, which follows it", "HIDE_LIGHT")]
    mend(scene, "Light", "HIDE_LIGHT")
    assert (troubles(scene), light.hide_render) == ([], True)
    item.data.vertices[7].co.z += 0.01
    item.data.update()
    assert troubles(scene) == [("Dense", "its mesh has changed since it was bound to Light", "BIND")]
    before = world(item, 1)[7]
    mend(scene, "Dense", "BIND")
    assert world(item, 1)[7, 2] - before[2] == pytest.approx(0.01, abs=1e-5)
    light.modifiers.new("Shell", "SOLIDIFY")
    text = "“Shell” after the cache makes other vertices, so “Dense” does not follow it"
    assert ("Light", text, "LIGHT_AFTER") in troubles(scene)
    mend(scene, "Light", "LIGHT_AFTER")
    assert troubles(scene) == []
    light.taffeta.role = "NONE"
    assert troubles(scene) == []  # it follows the mesh all the same
    dense.find(item).show_render = False
    assert "is switched off" in troubles(scene)[0][1]


def test_a_light_mesh_with_other_vertices_is_named(pair, scene):
    light, item = pair
    dense.bind(bpy.context, item, light)
    light.data.vertices.add(1)
    assert ("Dense", "Light has 170 vertices, and had 169 when this was bound to it", "BIND") in troubles(scene)

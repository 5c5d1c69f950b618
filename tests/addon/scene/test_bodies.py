# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies collide wherever they are: in the scene, linked, in instanced collections; in every cut that Blender draws."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.cache import checking, status
from taffeta.addon.scene import mesh as mesh_arrays
from taffeta.addon.scene.gather import gather, members
from taffeta.gpu_core.files.cache import CacheState
from taffeta.gpu_core.untangle import resolved


@pytest.fixture
def character(scene, make_object, make_cloth, tmp_path):
    """A linked collection of a parent that moves and the body below it, instanced by an empty that is turned."""
    body = make_object("Body", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 1, 2), (0, 1, 3)], "NONE")
    root = bpy.data.objects.new("Root", None)
    body.parent = root
    root.location.x = 1.0
    root.keyframe_insert("location", frame=1)
    root.location.x = 4.0
    root.keyframe_insert("location", frame=4)
    collection = bpy.data.collections.new("Character")
    collection.instance_offset = (0.5, 0, 0)
    for item in (root, body):
        collection.objects.link(item)
    library = tmp_path / "character.blend"
    bpy.data.libraries.write(str(library), {collection})
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.collections = ["Character"]
    empty = bpy.data.objects.new("Hero", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", wanted.collections[0]
    empty.location, empty.rotation_euler.z = (0, 0, 2), 0.3
    bpy.context.scene.collection.objects.link(empty)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 4
    return empty


def cloth():
    mesh = bpy.data.meshes.new("Cloth")
    mesh.from_pydata([(0, 0, 9), (1, 0, 9), (0, 1, 9)], [], [(0, 1, 2)])
    item = bpy.data.objects.new("Cloth", mesh)
    bpy.context.scene.collection.objects.link(item)
    item.taffeta.role = "CLOTH"
    return item


def shown(frame: int) -> np.ndarray:
    """World positions of the body's instance, as Blender itself says."""
    bpy.context.scene.frame_set(frame)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    found = [
        [entry.matrix_world @ vertex.co for vertex in entry.object.data.vertices]
        for entry in depsgraph.object_instances
        if entry.is_instance and entry.object.type == "MESH"
    ]
    assert len(found) == 1
    return np.array(found[0])


def test_the_mesh_of_a_linked_character_collides_where_its_empty_has_the_role(character):
    cloth()
    assert gather(bpy.context).colliders == ()
    character.taffeta.role = "COLLIDER"
    character.taffeta.collider.friction = 0.7
    (body,) = gather(bpy.context).colliders
    assert body.name == "Hero/Body"
    assert body.friction == pytest.approx(0.7)
    for frame in range(1, 5):
        np.testing.assert_allclose(body.positions[frame - 1], shown(frame), atol=1e-5)
    assert np.ptp(body.positions[:, 0], axis=0).max() > 1


def test_what_has_the_role_within_an_instance_collides_with_its_own_surface(scene, make_object, make_cloth):
    make_cloth()
    inner, outer = bpy.data.collections.new("Inner"), bpy.data.collections.new("Outer")
    body = make_object("Body", [(0, 0, -1), (1, 0, -1), (0, 1, -1)], [(0, 1, 2)], "COLLIDER")
    hidden = make_object("Hidden", [(0, 0, -2), (1, 0, -2), (0, 1, -2)], [(0, 1, 2)], "COLLIDER")
    hidden.hide_viewport = True
    prop = make_object("Prop", [(0, 0, -3), (1, 0, -3), (0, 1, -3)], [(0, 1, 2)], "NONE")
    body.taffeta.collider.thickness = 0.004
    for item in (body, hidden, prop):
        scene.collection.objects.unlink(item)
        inner.objects.link(item)
    names = []
    for name, collection, within in (("A", inner, outer.objects), ("B", outer, scene.collection.objects)):
        empty = bpy.data.objects.new(name, None)
        empty.instance_type, empty.instance_collection = "COLLECTION", collection
        empty.location.x = 3.0
        within.link(empty)
        names.append(empty)
    bpy.context.view_layer.update()
    (found,) = gather(bpy.context).colliders
    assert (found.name, found.thickness) == ("B/A/Body", pytest.approx(0.004))
    np.testing.assert_allclose(found.positions[0][0], (6, 0, -1), atol=1e-6)


def test_the_bake_of_a_scene_with_an_instance_is_ready_and_its_surface_counts(character, tmp_path):
    item = cloth()
    character.taffeta.role = "COLLIDER"
    bpy.context.scene.taffeta.backend = "CPU"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.taffeta.bake()
    scene = bpy.context.scene
    assert status.of(scene, item)[0] is CacheState.READY
    checking.check(bpy.context)
    assert status.of(scene, item)[0] is CacheState.READY
    character.taffeta.collider.thickness = 0.02
    assert status.of(scene, item) == (CacheState.STALE, "Hero/Body: thickness is 0.02, was 0.001")


def test_a_scene_of_many_instances_is_looked_at_quickly(scene, make_object):
    import time

    collection = bpy.data.collections.new("Tree")
    item = make_object("Leaf", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    scene.collection.objects.unlink(item)
    collection.objects.link(item)
    for _ in range(2000):
        empty = bpy.data.objects.new("Tree", None)
        empty.instance_type, empty.instance_collection = "COLLECTION", collection
        scene.collection.objects.link(empty)
    began = time.process_time()
    assert members(scene).bodies == []
    assert time.process_time() - began < 0.5


def test_every_cut_that_blender_draws_of_a_body_is_guarded(make_object, make_cloth):
    make_cloth()
    ring = [(3 + np.cos(k * np.pi / 3), np.sin(k * np.pi / 3), -5) for k in range(6)]
    squares = [(x + row, y, -5) for row in range(0, -12, -2) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    faces = [tuple(range(6)), *(tuple(range(k, k + 4)) for k in range(6, 30, 4))]
    item = make_object("Body", [*ring, *squares], faces, "COLLIDER")
    rng = np.random.default_rng(2)
    item.shape_key_add(name="Basis")
    for number in range(2, 21):
        key = item.shape_key_add(name=str(number))
        for point in key.data:
            point.co = np.array(point.co) + rng.normal(0, 0.8, 3)
        for frame, value in ((number - 1, 0.0), (number, 1.0), (number + 1, 0.0)):
            key.value = value
            key.keyframe_insert("value", frame=frame)
    bpy.context.scene.frame_end = 20
    (body,) = gather(bpy.context).colliders
    guarded = {frozenset(entry) for entry in body.triangles.tolist()}
    drawn = []
    for frame in range(1, 21):
        bpy.context.scene.frame_set(frame)
        evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
        drawn.append({frozenset(entry) for entry in mesh_arrays.triangles(evaluated.to_mesh()).tolist()})
        evaluated.to_mesh_clear()
    assert set().union(*drawn) <= guarded
    assert len({frozenset(cut) for cut in drawn}) > 3
    for last in range(1, 21):  # a longer range only adds some at the end, so that a bake can go on into it
        (shorter,) = gather(bpy.context, (1, last)).colliders
        np.testing.assert_array_equal(shorter.triangles, body.triangles[: len(shorter.triangles)])


def prism(radius, sides, rings, each):
    """Around the z axis, of faces `each` rings high: (points, faces, the two that close it)."""
    turns = np.arange(sides) * 2.0 * np.pi / sides
    points = [(radius * np.cos(t), radius * np.sin(t), 0.1 * ring) for ring in range(rings) for t in turns]
    faces = [
        (*(r * sides + k for r in range(first, first + each + 1)),
         *(r * sides + (k + 1) % sides for r in range(first + each, first - 1, -1)))
        for first in range(0, rings - 1, each)
        for k in range(sides)
    ]  # fmt: skip
    caps = [tuple(range(sides - 1, -1, -1)), tuple(range((rings - 1) * sides, rings * sides))]
    return points, faces, caps


def test_cloth_beside_a_body_whose_faces_are_cut_otherwise_later_is_not_inside_of_it(make_object):
    points, faces, caps = prism(0.2, 10, 7, 6)
    item = make_object("Body", points, faces + caps, "COLLIDER")
    rng = np.random.default_rng(3)
    item.shape_key_add(name="Basis")
    for number in range(2, 21):
        key = item.shape_key_add(name=str(number))
        for point in key.data:
            point.co = np.array(point.co) + rng.normal(0, 0.003, 3)
        for frame, value in ((number - 1, 0.0), (number, 1.0), (number + 1, 0.0)):
            key.value = value
            key.keyframe_insert("value", frame=frame)
    bpy.context.scene.frame_end = 20
    sleeve, around, _ = prism(0.213, 40, 7, 1)
    make_object("Sleeve", sleeve, around, "CLOTH")
    scene = gather(bpy.context)
    (body,) = scene.colliders
    assert body.drawn == len(body.shell) < len(body.triangles)
    assert resolved(scene)[1] == []

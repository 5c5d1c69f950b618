# SPDX-License-Identifier: GPL-3.0-or-later
"""The light mesh that is made of a dense one: even triangles on the same surface, with what a cloth needs."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.scene import dense, light_mesh
from taffeta.addon.scene import mesh as mesh_arrays
from taffeta.addon.scene.gather import gather
from taffeta.gpu_core.scene.scene import SceneError
from taffeta.tests.addon.following import sheet


def quality(mesh: bpy.types.Mesh) -> np.ndarray:
    """(T,) 1 for an equilateral triangle, 0 for one without area."""
    corner = mesh_arrays.positions(mesh).astype(float)[mesh_arrays.triangles(mesh)]
    sides = np.roll(corner, -1, axis=1) - corner
    area = 0.5 * np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    return 4 * np.sqrt(3) * area / (sides**2).sum(axis=(1, 2))


def tube(make_object) -> bpy.types.Object:
    """Bent one way only, open at both ends: left to itself, Decimate makes long triangles of it."""
    angles, heights = np.arange(90) * np.pi / 45, np.linspace(-0.5, 0.5, 49)
    points = [(0.3 * np.cos(angle), 0.3 * np.sin(angle), z) for z in heights for angle in angles]
    corners = ((y * 90, x, (x + 1) % 90) for y in range(48) for x in range(90))
    return make_object("Dense", points, [(y + a, y + b, y + 90 + b, y + 90 + a) for y, a, b in corners])


@pytest.mark.parametrize("kind", ["sheet", "tube"])
def test_its_triangles_are_even_and_on_the_surface(make_object, kind):
    item = sheet(make_object, "Dense", 60) if kind == "sheet" else tube(make_object)
    light = light_mesh.make(bpy.context, item, 400)
    assert len(light.data.vertices) == pytest.approx(400, rel=0.15)
    assert all(len(face.vertices) == 3 for face in light.data.polygons)
    found = quality(light.data)
    assert np.percentile(found, 5) > 0.7
    assert found.min() > 0.3
    if kind == "tube":
        radius = np.linalg.norm(mesh_arrays.positions(light.data)[:, :2], axis=1)
        assert radius.min() > 0.297
        assert radius.max() < 0.3001
    np.testing.assert_allclose(light.dimensions, item.dimensions, rtol=0.02, atol=0.002)


def suzanne() -> None:
    """With small holes, eyes that go through the head, and ears."""
    bpy.ops.mesh.primitive_monkey_add()


def cluttered() -> None:
    """A fine box, a rivet of a fiftieth of its size, and a cone through it."""
    bpy.ops.mesh.primitive_cube_add(size=1)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=8)
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.02, location=(1, 0, 0))
    bpy.ops.mesh.primitive_cone_add(location=(0, 0, 1))
    bpy.ops.object.mode_set(mode="OBJECT")


def dented() -> None:
    """A sphere whose vertices lie up to half a radius in or out."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=4)
    mesh = bpy.context.object.data
    points = mesh_arrays.positions(mesh)
    far = np.random.default_rng(3).normal(1.0, 0.15, (len(points), 1))
    mesh.vertices.foreach_set("co", (points * far).astype(np.float32).ravel())


def ring() -> None:
    """Thinner than an edge of the light mesh is long."""
    bpy.ops.mesh.primitive_torus_add(minor_radius=0.02, major_segments=64)


@pytest.mark.parametrize("add", [suzanne, cluttered, dented, ring])
@pytest.mark.parametrize("vertices", [0, 200])
def test_an_untidy_mesh_gives_neither_specks_nor_needles(scene, add, vertices):
    add()
    mesh = light_mesh.make(bpy.context, bpy.context.object, vertices).data
    gather(bpy.context)  # which refuses faces that lie on each other
    ends = np.array([edge.vertices for edge in mesh.edges])
    points = mesh_arrays.positions(mesh).astype(float)
    lengths = np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1)
    assert lengths.min() >= 0.1 * np.median(lengths)
    assert quality(mesh).min() > 0.02
    assert all(len(face.vertices) == 3 for face in mesh.polygons)
    assert len(mesh.vertices) > 0.8 * (vertices or len(bpy.context.object.data.vertices) // light_mesh.PART)


def test_it_is_the_same_every_time(make_object):
    first, second = (
        mesh_arrays.positions(light_mesh.make(bpy.context, sheet(make_object, "Dense", 40), 200).data) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_it_takes_over_the_fabric_the_groups_and_the_deformers(make_object):
    item = sheet(make_object, "Dress", 40, "CLOTH")
    item.taffeta.cloth.preset, item.taffeta.cloth.pin_group, item.location.z = "DENIM", "Waist", 1.0
    item.vertex_groups.new(name="Waist").add(list(range(41)), 1.0, "REPLACE")
    item.shape_key_add(name="Basis")
    item.modifiers.new("Wave", "WAVE")
    item.modifiers.new("Refine", "SUBSURF")
    before = len(bpy.data.meshes), len(bpy.data.objects)
    light = light_mesh.make(bpy.context, item, 200)
    assert (len(bpy.data.meshes), len(bpy.data.objects)) == (before[0] + 1, before[1] + 1)
    assert (light.name, light.taffeta.role, item.taffeta.role) == ("Dress Light", "CLOTH", "NONE")
    assert (light.taffeta.cloth.preset, light.taffeta.cloth.pin_group) == ("DENIM", "Waist")
    assert [entry.name for entry in light.modifiers] == ["Wave"]
    assert list(light.users_collection) == list(item.users_collection)
    assert light.matrix_world == item.matrix_world
    pinned = [vertex.index for vertex in light.data.vertices if any(entry.weight > 0.5 for entry in vertex.groups)]
    assert len(pinned) >= 5
    assert max(light.data.vertices[index].co.y for index in pinned) < -0.4  # where the dense one is pinned


def test_panels_that_lie_on_each_other_at_a_border_become_one(make_object):
    line = np.linspace(-0.5, 0.5, 31)
    points = [(x, y, 0.0) for y in line for x in line]
    faces = [(a, a + 1, a + 32, a + 31) for a in (y * 31 + x for y in range(30) for x in range(30))]
    twice = [*points, *((x + 1.0, y, z) for x, y, z in points)]
    item = make_object("Dense", twice, [*faces, *(tuple(v + 961 for v in face) for face in faces)])
    light = light_mesh.make(bpy.context, item, 200)
    sides = np.sort(np.concatenate([mesh_arrays.triangles(light.data)[:, [k, (k + 1) % 3]] for k in range(3)]), axis=1)
    each, faces_there = np.unique(sides, axis=0, return_counts=True)
    border = mesh_arrays.positions(light.data)[np.unique(each[faces_there == 1])]
    assert not ((np.abs(border[:, 0] - 0.5) < 0.05) & (np.abs(border[:, 1]) < 0.4)).any()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda item: setattr(item.taffeta, "role", "COLLIDER"), "it is a collider"),
        (lambda item: bpy.data.objects.new("Twin", item.data), "2 objects share its mesh"),
        (lambda item: item.modifiers.new("Taffeta Cache", "MESH_CACHE"), "it is baked itself"),
        (lambda item: item.modifiers.new("Sculpted", "MULTIRES"), "“Sculpted” makes other vertices"),
        (lambda item: item.data.clear_geometry(), "it has 0 vertices"),
    ],
)
def test_what_no_light_mesh_can_be_made_of_is_said(make_object, spoil, words):
    item = sheet(make_object, "Dense", 20)
    spoil(item)
    before = len(bpy.data.objects), len(bpy.data.meshes)
    with pytest.raises(SceneError, match=words):
        light_mesh.make(bpy.context, item)
    assert (len(bpy.data.objects), len(bpy.data.meshes)) == before
    assert dense.find(item) is None

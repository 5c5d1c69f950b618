# SPDX-License-Identifier: GPL-3.0-or-later
"""The dense mesh is judged in place of the light one that it follows: against itself, bodies and other cloth."""

from __future__ import annotations

import bpy
import ipctk
import numpy as np
import pytest
from mathutils import Matrix

from taffeta.addon.cache import checking, drawn
from taffeta.addon.scene import dense
from taffeta.addon.scene.bodies import Body
from taffeta.tests.addon.finalising import choose
from taffeta.tests.addon.following import motion, play, sheet, world

FRAMES = 3
LIGHT, DENSE = 27, 99  #: parts of a side: 784 and 10 000 vertices


@pytest.fixture
def pair(make_object, tmp_path):
    light, item = sheet(make_object, "Light", 12, "CLOTH"), sheet(make_object, "Dense", 40, lift=0.0005)
    play(light, motion(light, FRAMES), tmp_path / "light.pc2")
    dense.bind(bpy.context, item, light)
    bpy.context.scene.frame_end = FRAMES
    return light, item


def found() -> dict[int, set[frozenset[str]]]:
    """By frame, between which objects something crosses."""
    return {
        frame: {frozenset((entry.edge_object, entry.triangle_object)) for entry in entries}
        for frame, entries in drawn.findings(bpy.context, (1, FRAMES))
    }


@pytest.mark.parametrize("hidden", [True, False])
def test_a_light_mesh_does_not_count_as_crossing_what_follows_it(pair, hidden):
    light, _ = pair
    light.hide_render = hidden
    assert found() == {1: set(), 2: set(), 3: set()}
    assert drawn.differs_from_simulated(bpy.context.scene)


@pytest.mark.parametrize("hidden", [True, False])
def test_a_body_between_light_and_dense_is_found_by_the_dense_ones_name(pair, make_object, hidden):
    light, item = pair
    light.hide_render = hidden
    top = world(item, 2)[820]
    make_object("Pin", top + [(0, 0, 0.0003), (0.01, 0, 0.1), (0, 0.01, 0.1)], [(0, 1, 2)], "COLLIDER")
    assert found() == {1: set(), 2: set(), 3: set()}
    bpy.data.objects["Pin"].location.z = -0.0006
    assert found()[2] == {frozenset(("Dense", "Pin"))}
    bpy.data.objects["Pin"].location.z = -0.002
    assert found()[2] == {frozenset(("Dense", "Pin"))} | (set() if hidden else {frozenset(("Light", "Pin"))})


def test_panels_that_share_the_places_of_a_border_do_not_cross_there(pair, make_object):
    left, right = sheet(make_object, "Whole", 20), sheet(make_object, "Right", 20)
    points = np.concatenate([world(left), world(right)])
    faces = [tuple(face.vertices) for face in left.data.polygons]
    near = [face for face in faces if points[list(face), 0].mean() < 0]
    far = [tuple(vertex + 441 for vertex in face) for face in faces if face not in near]
    panels = make_object("Panels", points, near + far)
    for item in (left, right, pair[1]):
        bpy.data.objects.remove(item)
    dense.bind(bpy.context, panels, pair[0])
    assert len(np.unique(world(panels, 3), axis=0)) == 441
    assert found() == {1: set(), 2: set(), 3: set()}


def test_what_refines_the_dense_mesh_is_judged_as_it_renders(pair):
    _, item = pair
    shell = item.modifiers.new("Shell", "SOLIDIFY")
    shell.thickness, shell.offset, shell.show_viewport = 1.5, 1.0, False
    assert frozenset(("Dense",)) in found()[3]
    assert not shell.show_viewport


def test_another_cloth_with_a_dense_mesh_of_its_own_is_judged_by_that(pair, make_object, tmp_path):
    other, upper = sheet(make_object, "Other", 12, "CLOTH", 0.004), sheet(make_object, "Upper", 30, lift=0.0042)
    play(other, motion(other, FRAMES), tmp_path / "other.pc2")
    for light in (pair[0], other):
        light.hide_render = True
    assert found() == {1: set(), 2: set(), 3: set()}
    dense.bind(bpy.context, upper, other)
    assert found() == {1: set(), 2: set(), 3: set()}
    upper.data.transform(Matrix.Translation((0, 0, -0.0037)) @ Matrix.Rotation(0.01, 4, "X"))
    dense.bind(bpy.context, upper, other)
    assert frozenset(("Dense", "Upper")) in found()[1]


def test_a_dense_mesh_that_is_disabled_does_not_stop_the_check(pair):
    pair[1].hide_viewport = True
    assert found() == {1: set(), 2: set(), 3: set()}


def _drape(make_object) -> tuple[bpy.types.Object, bpy.types.Object]:
    """(light, dense) sheets of 0.5 m that fall over a ball on a floor."""
    items = []
    for name, parts, role in (("Light", LIGHT, "CLOTH"), ("Dense", DENSE, "NONE")):
        item = sheet(make_object, name, parts, role)
        item.scale, item.rotation_euler, item.location = (0.5, 0.5, 0.5), (0.1, 0.05, 0.3), (0, 0, 0.19)
        items.append(item)
    make_object("Floor", [(-2, -2, 0), (2, -2, 0), (0, 2, 0)], [(0, 1, 2)], "COLLIDER")
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.1, location=(0.02, 0.02, 0.05))
    bpy.context.object.taffeta.role = "COLLIDER"
    return items[0], items[1]


def test_a_dense_mesh_of_10k_on_a_light_one_of_800_does_not_cross_where_that_keeps_one_and_a_half_mm(
    scene, make_object, tmp_path
):
    light, item = _drape(make_object)
    light.taffeta.cloth.preset, light.taffeta.cloth.thickness = "COTTON", 0.0015
    scene.taffeta.backend, scene.frame_end = "CPU", 16
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    choose(light, item)
    assert bpy.ops.taffeta.bind_dense() == {"FINISHED"}
    assert bpy.ops.taffeta.bake() == {"FINISHED"}  # which looks at what Blender draws
    assert checking.troubles(scene) == []
    assert not checking.unjudged(scene)
    for frame in (8, 16):
        scene.frame_set(frame)
        points, triangles = drawn.mesh(Body(item), bpy.context.evaluated_depsgraph_get(), frame)
        assert len(points) == (DENSE + 1) ** 2
        mesh = ipctk.CollisionMesh(points, ipctk.edges(triangles), triangles)
        assert not ipctk.has_intersections(mesh, points)
    assert np.ptp(world(item, 16)[:, 2]) > 2 * np.ptp(world(item, 1)[:, 2])  # it hangs over the ball

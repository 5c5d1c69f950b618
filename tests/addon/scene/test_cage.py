# SPDX-License-Identifier: GPL-3.0-or-later
"""A cage stands in for a body: watertight, near to it, bound to what moves it, and seen by nobody."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.bake import session
from taffeta.addon.scene import cage, checks
from taffeta.addon.scene import mesh as mesh_arrays
from taffeta.addon.scene.gather import gather, members
from taffeta.gpu_core.check.intersection import intersections
from taffeta.gpu_core.scene.mesh import counted_edges
from taffeta.gpu_core.scene.scene import SceneError
from taffeta.tests.addon import baking
from taffeta.tests.addon.posing import make_armature, pose, skin


@pytest.fixture
def arm(scene, make_object, make_cloth):
    """A limb along x, 1 m long and 0.12 m thick, that bends in its middle; a sheet far above."""
    rings, sides = 33, 12
    angle = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    points = [(x, 0.06 * np.cos(a), 0.06 * np.sin(a)) for x in np.linspace(0.0, 1.0, rings) for a in angle]
    faces = [
        (r * sides + k, r * sides + (k + 1) % sides, (r + 1) * sides + (k + 1) % sides, (r + 1) * sides + k)
        for r in range(rings - 1)
        for k in range(sides)
    ]
    faces += [tuple(range(sides))[::-1], tuple(range((rings - 1) * sides, rings * sides))]
    item = skin(make_object("Arm", points, [face[::-1] for face in faces], "COLLIDER"), make_armature(0.0))
    item.taffeta.collider.friction = 0.7
    make_cloth().location.z = 1.0
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = item
    return item


def shape(item) -> tuple[np.ndarray, np.ndarray]:
    """(N, 3) of the world, (T, 3), as it is evaluated now."""
    bpy.context.view_layer.update()
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    world = np.array(evaluated.matrix_world)
    return mesh_arrays.positions(mesh) @ world[:3, :3].T + world[:3, 3], mesh_arrays.triangles(mesh)


def test_it_takes_the_bodys_role_is_watertight_and_does_not_cross_itself(arm):
    arm.location, arm.scale = (0.3, 0.0, 0.0), (1.0, 1.5, 1.0)
    assert bpy.ops.taffeta.make_cage() == {"FINISHED"}
    item = bpy.data.objects["Arm Cage"]
    assert (item.taffeta.role, arm.taffeta.role) == ("COLLIDER", "NONE")
    assert item.taffeta.collider.friction == pytest.approx(0.7)
    assert (item.display_type, item.hide_render, item.parent) == ("WIRE", True, arm)
    assert bpy.context.object == item
    points, triangles = shape(item)
    assert (counted_edges(triangles)[1] == 2).all()
    assert len(intersections(points, triangles)) == 0
    body, _ = shape(arm)
    for axis in range(3):
        assert np.ptp(points[:, axis]) == pytest.approx(np.ptp(body[:, axis]), abs=0.03)


@pytest.mark.parametrize("bend", [0.4, 1.2])
def test_it_follows_the_bones(arm, bend):
    made = cage.make(arm, 60, 0.1, soft=False)
    straight, _ = shape(made.item)
    pose(bpy.data.objects["Skeleton"], bend)
    bent, triangles = shape(made.item)
    assert np.ptp(straight[:, 2]) < 0.15
    assert np.ptp(bent[:, 2]) > 0.4 * np.sin(bend)
    away = cage._outside(bent, triangles, shape(arm)[0])
    assert np.quantile(away, 0.9) < 0.01  # the body is still inside of it, but for the fold


def test_it_is_made_at_rest_and_the_pose_comes_back(arm):
    pose(bpy.data.objects["Skeleton"], 1.0)
    made = cage.make(arm, 40, 0.1, soft=False)
    assert bpy.data.armatures["Skeleton"].pose_position == "POSE"
    assert np.ptp(mesh_arrays.positions(made.item.data)[:, 2]) < 0.15
    assert np.ptp(shape(made.item)[0][:, 2]) > 0.3


def test_more_voxels_are_nearer_to_the_body(arm):
    sizes = [cage.make(arm, voxels, 0.0, soft=False) for voxels in (24,)]
    arm.taffeta.role = "COLLIDER"
    sizes.append(cage.make(arm, 96, 0.0, soft=False))
    assert sizes[1].vertices > 4 * sizes[0].vertices
    assert sizes[1].farthest <= sizes[0].farthest


def test_a_body_that_does_not_deform_is_only_a_parent(make_cloth, make_object):
    make_cloth()
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    box = make_object("Box", corners, faces, "COLLIDER")
    bpy.context.view_layer.update()
    made = cage.make(box, 20, 0.1, soft=False)
    assert len(made.item.modifiers) == 0
    box.location.x = 3.0
    assert shape(made.item)[0][:, 0].min() > 2.9


def test_one_that_gives_way_does_not_cross_itself_where_the_body_does(arm, tmp_path):
    """The limb is folded by 170°: its halves go through each other, and those of the cage lie on each other."""
    made = cage.make(arm, 40, 0.1, soft=True)
    assert made.item.taffeta.role == "CLOTH"
    assert arm.taffeta.role == "NONE"
    assert made.item.taffeta.cloth.friction == pytest.approx(0.7)
    scene = bpy.context.scene
    scene.frame_end, scene.taffeta.backend = 12, "CPU"
    for frame, bend in ((1, 0.0), (12, np.radians(170.0))):
        pose(bpy.data.objects["Skeleton"], bend, frame)
    bpy.data.objects["Cloth"].taffeta.role = "NONE"
    scene.frame_set(12)
    assert len(intersections(*shape(arm)))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    baking.end(baking.begin())
    session.close()
    scene.frame_set(12)
    points, triangles = shape(made.item)
    assert len(intersections(points, triangles)) == 0
    body = shape(arm)[0]
    far = np.linalg.norm(points[:, None] - body[None], axis=2).min(axis=1)
    assert np.median(far) < 0.02  # nearly all of it is where the body takes it


def test_the_button_makes_one_that_gives_way_and_nothing_stands_in_its_way(arm):
    assert bpy.ops.taffeta.make_cage(kind="SOFT", voxels=40) == {"FINISHED"}
    item = bpy.data.objects["Arm Cage"]
    assert (item.taffeta.role, item.taffeta.cloth.pin_group) == ("CLOTH", cage.FLESH)
    scene = bpy.context.scene
    checks._others.clear()
    assert [each.text for each in checks.troubles(scene, members(scene)) if each.name == item.name] == []
    read = gather(bpy.context)
    (flesh,) = [each for each in read.cloths if each.name == item.name]
    assert len(flesh.pins.vertices) == len(item.data.vertices)
    assert flesh.pins.weights == pytest.approx(cage.HELD)
    assert read.colliders == ()


def test_a_bake_reads_it_in_the_bodys_place(arm):
    cage.make(arm, 40, 0.1, soft=False)
    read = gather(bpy.context)
    assert [collider.name for collider in read.colliders] == ["Arm Cage"]


def plane(make_object, _arm):
    line = [(x, y, 0.0) for y in (0, 1, 2) for x in (0, 1, 2)]
    return make_object("Plane", line, [(0, 1, 4, 3), (1, 2, 5, 4), (3, 4, 7, 6), (4, 5, 8, 7)], "COLLIDER")


def nothing(make_object, _arm):
    return make_object("Nothing", [(0, 0, 0)], [], "COLLIDER")


def no_collider(_make_object, arm):
    arm.taffeta.role = "NONE"
    return arm


def many_faces(make_object, arm):
    """Three faces at an edge, which Surface Deform does not take."""
    mesh = arm.data
    points = [tuple(vertex.co) for vertex in mesh.vertices] + [(0.0, 0.0, 0.2)]
    faces = [tuple(face.vertices) for face in mesh.polygons]
    a, b = faces[0][:2]
    item = make_object("Finned", points, [*faces, (a, b, len(points) - 1)], "COLLIDER")
    return skin(item, bpy.data.objects["Skeleton"])


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (plane, "there is no inside"),
        (nothing, "no faces or no size"),
        (no_collider, "no mesh with the role Collider"),
        (many_faces, "does not bind"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_cannot_be_is_refused_in_words_and_leaves_nothing(arm, make_object, build, problem):
    body = build(make_object, arm)
    bpy.context.view_layer.update()
    before = {kind: len(getattr(bpy.data, kind)) for kind in ("objects", "meshes")}
    role = body.taffeta.role
    with pytest.raises(SceneError, match=problem):
        cage.make(body, 40, 0.1, soft=False)
    assert {kind: len(getattr(bpy.data, kind)) for kind in ("objects", "meshes")} == before
    assert body.taffeta.role == role


def test_undo_takes_it_away(arm):
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.taffeta.make_cage()
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert "Arm Cage" not in bpy.data.objects
    assert bpy.data.objects["Arm"].taffeta.role == "COLLIDER"

# SPDX-License-Identifier: GPL-3.0-or-later
"""A cage stands in for a body: watertight, near to it, bound to what moves it, and seen by nobody."""

from __future__ import annotations

import bmesh
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


def test_it_is_bound_to_a_body_with_concave_faces_and_follows_it(scene):
    """A cylinder's caps of 120 corners, which are bent by the modifier: Surface Deform itself does not take them."""
    bpy.ops.mesh.primitive_cylinder_add(vertices=24)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=4)
    bpy.ops.object.mode_set(mode="OBJECT")
    body = bpy.context.object
    bend, body.taffeta.role = body.modifiers.new("Bend", "SIMPLE_DEFORM"), "COLLIDER"
    bend.deform_method, bend.angle = "BEND", 0.5
    bpy.context.view_layer.update()
    made = cage.make(body, 40, 0.1, soft=False)
    assert list(body.modifiers) == [bend]
    assert made.farthest < 0.1
    for angle in (0.5, 1.5):
        bend.angle = angle
        points, triangles = shape(made.item)
        away = cage._outside(points, triangles, shape(body)[0])
        assert away.max() < made.farthest + 0.02


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


def region(arm, name: str, low: float, high: float) -> np.ndarray:
    """A vertex group of what lies between two places along the arm; (N,) who is in it."""
    points = mesh_arrays.positions(arm.data)
    chosen = (points[:, 0] > low) & (points[:, 0] < high)
    arm.vertex_groups.new(name=name).add(np.flatnonzero(chosen).tolist(), 1.0, "REPLACE")
    return chosen


def test_that_of_a_region_is_closed_covers_it_and_lets_the_rest_of_the_body_be(arm):
    chosen = region(arm, "Fore", 0.55, 2.0)
    assert bpy.ops.taffeta.make_cage(voxels=60, region="Fore") == {"FINISHED"}
    item = bpy.data.objects["Arm Cage"]
    assert (item.taffeta.role, arm.taffeta.role) == ("COLLIDER", "COLLIDER")
    assert arm.taffeta.collider.lets_through_group == "Fore"
    points, triangles = shape(item)
    assert (counted_edges(triangles)[1] == 2).all()
    assert len(intersections(points, triangles)) == 0
    assert 0.45 < points[:, 0].min() < 0.54  # beyond the region, and not much
    body = mesh_arrays.positions(arm.data)[chosen].astype(float)
    along = body[body[:, 0] < 0.95]  # voxels round off the rim of its end, as of any body
    assert cage._outside(points, triangles, along).max() < 0.004


def test_faces_of_a_region_stop_no_cloth_and_what_is_inside_the_body_is_told_by_all_of_them(arm):
    chosen = region(arm, "Fore", 0.55, 2.0)
    cage.make(arm, 60, 0.1, False, "Fore")
    bpy.data.objects["Cloth"].location.z = 1.0
    bpy.context.scene.frame_end = 2
    body = next(item for item in gather(bpy.context).colliders if item.name == "Arm")
    every = mesh_arrays.triangles(arm.data)
    assert len(body.shell) == len(every)
    assert len(body.stopping) == (~chosen[every].all(axis=1)).sum() < len(every)
    assert not chosen[body.triangles].all(axis=1).any()


def test_the_cuts_of_quads_that_fold_are_let_through_too(arm):
    chosen = region(arm, "Fore", 0.55, 2.0)
    cage.make(arm, 60, 0.1, False, "Fore")
    bpy.data.objects["Cloth"].location.z, bpy.context.scene.frame_end = 1.0, 6
    for frame, bend in ((1, 0.0), (6, 1.5)):
        pose(bpy.data.objects["Skeleton"], bend, frame)
    body = next(item for item in gather(bpy.context).colliders if item.name == "Arm")
    assert body.drawn is not None
    assert body.drawn < len(body.triangles)
    np.testing.assert_array_equal(body.stopping, body.shell[~chosen[body.shell].all(axis=1)])
    assert not chosen[body.triangles].all(axis=1).any()


def test_a_second_region_is_added_to_the_first(arm):
    fore, upper = region(arm, "Fore", 0.55, 2.0), region(arm, "Shoulder", -1.0, 0.3)
    for name in ("Fore", "Shoulder"):
        cage.make(arm, 60, 0.1, False, name)
    group = arm.vertex_groups[arm.taffeta.collider.lets_through_group].index
    inside = [any(entry.group == group for entry in vertex.groups) for vertex in arm.data.vertices]
    np.testing.assert_array_equal(inside, fore | upper)
    assert {item.name for item in members(bpy.context.scene).colliders} == {"Arm", "Arm Cage", "Arm Cage.001"}


def test_cages_that_give_way_pass_through_their_own_body_and_through_each_other(arm, tmp_path):
    """Their regions lie side by side, so the cages overlap."""
    for name, low, high in (("Hand", 0.75, 2.0), ("Fore", 0.5, 0.75), ("Shoulder", -1.0, 0.5)):
        region(arm, name, low, high)
        cage.make(arm, 60, 0.1, name != "Shoulder", name)
    pairs = {(entry.first.name, entry.second.name) for entry in bpy.context.scene.taffeta.encounters}
    cages = ("Arm Cage", "Arm Cage.001", "Arm Cage.002")
    assert pairs == {
        (cages[0], "Arm"), (cages[1], "Arm"), (cages[1], cages[0]), (cages[0], cages[2]), (cages[1], cages[2])
    }  # fmt: skip
    bpy.data.objects["Cloth"].taffeta.role = "NONE"
    bpy.context.scene.frame_end, bpy.context.scene.taffeta.backend = 3, "CPU"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    baking.end(baking.begin())
    assert not session.last.warnings


@pytest.mark.parametrize(("name", "said"), [("Gone", "no vertex group"), ("Two", "no face of it is in the region")])
def test_a_region_that_is_none_is_refused_and_nothing_has_changed(arm, name, said):
    arm.vertex_groups.new(name="Two").add([0, 200], 1.0, "REPLACE")
    with pytest.raises(SceneError, match=said):
        cage.make(arm, 60, 0.1, False, name)
    assert arm.taffeta.role == "COLLIDER"
    assert arm.taffeta.collider.lets_through_group == ""
    assert "Arm Cage" not in bpy.data.objects


def test_a_body_that_lets_everything_through_is_refused_by_name(arm):
    region(arm, "All", -1.0, 2.0)
    arm.taffeta.collider.lets_through_group = "All"
    with pytest.raises(SceneError, match="Arm: every face of it lets cloth through"):
        gather(bpy.context)


@pytest.mark.parametrize("soft", [False, True])
def test_cloth_rests_on_the_cage_of_a_region_and_on_the_rest_of_the_body(arm, soft, make_object, tmp_path):
    """A narrow sheet along the whole arm: over the border of the two it lies as over one body."""
    region(arm, "Fore", 0.55, 2.0)
    made = cage.make(arm, 60, 0.1, soft, "Fore")
    bpy.data.objects["Cloth"].taffeta.role = "NONE"
    x, y = np.meshgrid(np.linspace(0.1, 0.9, 41), np.linspace(-0.1, 0.1, 11), indexing="ij")
    points = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, 0.075)])
    faces = [(r * 11 + k, (r + 1) * 11 + k, (r + 1) * 11 + k + 1, r * 11 + k + 1) for r in range(40) for k in range(10)]
    strip = make_object("Strip", points, faces, "CLOTH")
    scene = bpy.context.scene
    scene.frame_end, scene.taffeta.backend = 14, "CPU"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bake = baking.begin()
    baking.end(bake)
    assert not session.last.warnings
    scene.frame_set(14)
    found, _ = shape(strip)
    middle = found.reshape(41, 11, 3)[:, 5, 2]
    assert middle.min() > 0.055  # the top of the arm is at 0.06
    assert middle.max() < 0.075
    whole, triangles = shape(made.item)
    assert (cage._outside(whole, triangles, found) > 0.0).all()


@pytest.mark.parametrize("seed", range(4))
def test_pieces_as_small_as_a_voxel_do_not_leave_it_open(arm, seed):
    """As the tips of a human's fingers did at the default resolution."""
    random, points, faces = np.random.default_rng(seed), [], []
    for k in range(24):
        middle = np.array([0.1 + 0.1 * (k % 8), 0.3 + 0.1 * (k // 8), 0.0]) + random.uniform(-0.01, 0.01, 3)
        size, first = random.uniform(0.012, 0.05, 3), len(points)
        points += [tuple(middle + way) for way in (*np.diag(size), *-np.diag(size))]
        corners = ((0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5))
        faces += [tuple(first + corner for corner in face) for face in corners]
    flakes = bpy.data.meshes.new("Flakes")
    flakes.from_pydata(points, [], faces)
    whole = bmesh.new()
    whole.from_mesh(arm.data)
    whole.from_mesh(flakes)
    whole.to_mesh(arm.data)
    whole.free()
    made = cage.make(arm, 20, 0.1, soft=False)
    assert (counted_edges(shape(made.item)[1])[1] == 2).all()

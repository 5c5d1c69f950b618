# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender draws is what was simulated, and what it makes of that otherwise is judged."""

from __future__ import annotations

import bpy
import ipctk
import numpy as np
import pytest

from taffeta.addon.cache import checking, drawn, status
from taffeta.addon.scene import mesh as mesh_arrays
from taffeta.addon.scene import modifier, triangulation
from taffeta.addon.scene.bodies import Body
from taffeta.addon.scene.gather import gather
from taffeta.gpu_core.files.cache import CacheState
from taffeta.tests.addon.following import play
from taffeta.tests.gpu_core.small_scene import ball, sheet

SCENES = 60


def drawn_triangles(item: bpy.types.Object) -> set[frozenset[int]]:
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    triangles = mesh_arrays.triangles(evaluated.to_mesh()).copy()
    evaluated.to_mesh_clear()
    return {frozenset(entry) for entry in triangles.tolist()}


@pytest.fixture
def folded(make_object, tmp_path):
    """Faces of four and of six corners that fold over all their diagonals in turn."""
    rng = np.random.default_rng(5)
    ring = [(3 + np.cos(k * np.pi / 3), np.sin(k * np.pi / 3), 0) for k in range(6)]
    points = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), *ring])
    item = make_object("Sheet", points, [(0, 1, 2, 3), tuple(range(4, 10))], "CLOTH")
    frames = points + rng.normal(0, 0.8, (40, *points.shape))
    frames[0] = points
    play(item, frames, tmp_path / "sheet.pc2")
    return item


def test_the_triangles_of_quads_and_ngons_are_the_solvers_in_every_frame(folded):
    bpy.context.scene.frame_end = 40
    simulated = {frozenset(entry) for entry in gather(bpy.context).cloths[0].triangles.tolist()}
    own = triangulation.find(folded)
    cuts = []
    for frame in range(1, 41):
        bpy.context.scene.frame_set(frame)
        assert drawn_triangles(folded) == simulated
        own.show_viewport = False
        with modifier.otherwise():
            cuts.append(drawn_triangles(folded))
        own.show_viewport = True
    assert len({frozenset(cut) for cut in cuts}) > 2  # what Blender would have drawn


def test_animated_shape_keys_and_deformers_change_no_cut(folded):
    bpy.context.scene.frame_end = 6
    folded.shape_key_add(name="Basis")
    key = folded.shape_key_add(name="Folded")
    for k, point in enumerate(key.data):
        point.co.z += (-1) ** k * 2
    key.value = 0.0
    key.keyframe_insert("value", frame=1)
    key.value = 1.0
    key.keyframe_insert("value", frame=6)
    wave = folded.modifiers.new("Wave", "WAVE")
    folded.modifiers.move(folded.modifiers.find(wave.name), 0)
    simulated = {frozenset(entry) for entry in gather(bpy.context).cloths[0].triangles.tolist()}
    for frame in range(1, 7):
        bpy.context.scene.frame_set(frame)
        assert drawn_triangles(folded) == simulated


def test_subdivision_gets_the_artists_faces(folded):
    refine = folded.modifiers.new("Refine", "SUBSURF")
    refine.levels = refine.render_levels = 1
    bpy.context.view_layer.update()
    mesh = folded.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    assert len(mesh.polygons) == 4 + 6  # of a quad four, of a hexagon six
    refine.show_viewport = False
    bpy.context.view_layer.update()
    assert all(
        len(face.vertices) == 3 for face in folded.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.polygons
    )


def test_materials_uvs_and_smooth_faces_survive_the_cut(folded):
    folded.data.uv_layers.new(name="UV")
    folded.data.polygons[1].material_index = 1
    folded.data.polygons[0].use_smooth = True
    bpy.context.view_layer.update()
    mesh = folded.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    assert [layer.name for layer in mesh.uv_layers] == ["UV"]
    assert sorted(face.material_index for face in mesh.polygons) == [0, 0, 1, 1, 1, 1]
    assert sum(face.use_smooth for face in mesh.polygons) == 2


def test_a_solidified_layer_that_crosses_is_found_and_said(baked):
    item = bpy.data.objects["Cloth"]
    checking.check(bpy.context)
    assert checking.troubles(baked) == []
    shell = item.modifiers.new("Shell", "SOLIDIFY")
    shell.thickness, shell.offset = 2.0, -1.0  # through the floor
    shell.show_viewport = False  # it renders all the same
    checking.check(bpy.context)
    assert "frames cross as Blender draws them" in checking.troubles(baked)[0]
    assert not shell.show_viewport
    assert status.of(baked, item)[0] is CacheState.READY


def test_a_bake_looks_at_what_blender_makes_of_it(saved_scene):
    """Of an operator that a script calls; in a window it goes on beside the interface."""
    shell = bpy.data.objects["Cloth"].modifiers.new("Shell", "SOLIDIFY")
    shell.thickness, shell.offset = 2.0, -1.0
    assert not checking.unjudged(saved_scene)  # nothing is baked
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert "frames cross as Blender draws them" in checking.troubles(saved_scene)[0]
    assert not checking.unjudged(saved_scene)
    status.look(saved_scene)
    assert checking.unjudged(saved_scene)


def test_a_check_that_is_broken_off_leaves_the_scene_as_it_was(baked):
    baked.frame_set(3)
    shell = bpy.data.objects["Cloth"].modifiers.new("Shell", "SOLIDIFY")
    shell.show_viewport = False
    for only_drawn in (False, True):
        checking.start(bpy.context, only_drawn)
        assert not bpy.ops.taffeta.bake.poll()
        assert checking.current.step(1e-9)
        assert 0 < checking.current.share < 1
        assert status.of(baked, bpy.data.objects["Cloth"])[0] is CacheState.READY  # though its modifier is off for now
        checking.close()
        assert checking.current is None
        assert baked.frame_current == 3
        assert not shell.show_viewport
        assert bpy.data.objects["Cloth"].modifiers["Taffeta Cache"].show_viewport
    assert checking.unjudged(baked)


def ipctk_crosses(points: np.ndarray, triangles: np.ndarray) -> bool:
    edges = ipctk.edges(triangles)
    mesh = ipctk.CollisionMesh(points, edges, triangles)
    return ipctk.has_intersections(mesh, points)


@pytest.mark.parametrize("seed", range(SCENES))
def test_the_judge_of_what_is_drawn_agrees_with_ipctk(make_object, tmp_path, seed):
    """Random sheets of quads and n-gons, rough enough that about half of them cross themselves."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    line = np.linspace(0, 1, n + 1)
    points = np.array([(x, y, 0.0) for y in line for x in line])
    row = n + 1
    faces = [(a, a + 1, a + row + 1, a + row) for a in (y * row + x for y in range(n) for x in range(n))]
    joined = [(0, 1, 2, row + 2, row + 1, row), *(face for k, face in enumerate(faces) if k not in (0, 1))]
    item = make_object("Sheet", points, joined, "CLOTH")
    frames = points + rng.normal(0, rng.uniform(0.02, 0.15) / n, (3, *points.shape)) * np.array([1, 1, 6])
    frames[0] = points
    play(item, frames, tmp_path / "sheet.pc2")
    scene = bpy.context.scene
    scene.frame_end = 3
    simulated = gather(bpy.context).cloths[0].triangles
    for frame, found in drawn.findings(bpy.context, (1, 3)):
        world, triangles = drawn.mesh(Body(item), bpy.context.evaluated_depsgraph_get(), frame)
        assert {frozenset(entry) for entry in triangles.tolist()} == {frozenset(entry) for entry in simulated.tolist()}
        assert bool(found) == ipctk_crosses(world, triangles)


def test_what_is_excepted_from_collisions_may_cross_where_it_is_drawn(make_object, tmp_path):
    """A sheet through a ball, refined for the picture: by an exception in its frames, and where it is left out."""
    points, faces = sheet(6, 0.3)
    points = points - [0.15, 0.15, 0]
    item = make_object("Sheet", points, faces.tolist(), "CLOTH")
    body, triangles = ball(0.1)
    ball_item = make_object("Ball", body + [0.01, 0.02, 0.03], triangles.tolist(), "COLLIDER")
    play(item, np.repeat(points[None], 3, axis=0), tmp_path / "sheet.pc2")
    item.modifiers.new("Finer", "SUBSURF").render_levels = 1
    crossing = {frame: len(found) for frame, found in drawn.findings(bpy.context, (1, 3))}
    assert min(crossing.values()) > 0
    entry = bpy.context.scene.taffeta.encounters.add()
    entry.first, entry.second = ball_item, item
    entry.use_frames, entry.frame_first, entry.frame_last = True, 2, 2
    assert {frame: len(found) for frame, found in drawn.findings(bpy.context, (1, 3))} == {**crossing, 2: 0}
    bpy.context.scene.taffeta.encounters.clear()
    group = item.vertex_groups.new(name="Passing")
    item.taffeta.cloth.left_out_of_bodies_group = "Passing"
    group.add(np.flatnonzero(points[:, 0] > 0).tolist(), 1.0, "REPLACE")
    some = {frame: len(found) for frame, found in drawn.findings(bpy.context, (1, 3))}
    assert all(0 < some[frame] < crossing[frame] for frame in some)
    group.add(list(range(len(points))), 1.0, "REPLACE")
    assert not any(found for _, found in drawn.findings(bpy.context, (1, 3)))

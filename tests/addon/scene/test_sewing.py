# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels out of Blender: threads from edges without faces, and the pattern from a UV map."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.cache import drawn
from taffeta.addon.scene.gather import gather
from taffeta.gpu_core.scene.scene import SceneError


def read():
    bpy.context.view_layer.update()
    return gather(bpy.context).cloths[0]


@pytest.fixture
def panels(make_object):
    """Two upright panels of 20 cm, 10 cm apart, their sides joined by edges without faces."""

    def make(side=7):
        line = np.linspace(-0.1, 0.1, side)
        one = np.array([(x, -0.05, z) for z in line for x in line])
        faces = np.array(
            [
                (a, a + 1, a + side + 1, a + side)
                for a in (z * side + x for z in range(side - 1) for x in range(side - 1))
            ]
        )
        vertices = np.concatenate([one, one * [1, -1, 1]])
        item = make_object("Tube", vertices, [*faces.tolist(), *(faces[:, ::-1] + len(one)).tolist()], "CLOTH")
        sides = np.flatnonzero(abs(one[:, 0]) > 0.0999)
        first = len(item.data.edges)
        item.data.edges.add(len(sides))
        for edge, vertex in zip(item.data.edges[first:], sides.tolist(), strict=True):
            edge.vertices = (vertex, vertex + len(one))
        item.taffeta.cloth.sewing = True
        return item

    return make


def test_edges_without_faces_are_threads_where_sewing_is_on(panels):
    item = panels(3)
    item.taffeta.cloth.sewing_time, item.taffeta.cloth.sewing_force = 0.5, 2.5
    cloth = read()
    assert {tuple(sorted(pair)) for pair in cloth.seams.tolist()} == {(v, v + 9) for v in (0, 2, 3, 5, 6, 8)}
    assert (cloth.sewing_time, cloth.sewing_force) == (0.5, 2.5)
    item.taffeta.cloth.sewing = False
    assert read().seams is None


def test_a_keyed_sewing_force_reaches_the_solver(scene, panels):
    item = panels(3)
    scene.frame_end = 4
    for frame, force in ((1, 0.0), (4, 3.0)):
        item.taffeta.cloth.sewing_force = force
        item.keyframe_insert("taffeta.cloth.sewing_force", frame=frame)
    keys = read().keys["sewing_force"]
    assert (keys[0], keys[-1], len(keys)) == (0.0, 3.0, 4)


def test_panels_become_a_tube_that_blender_draws_without_a_crossing(scene, panels, tmp_path):
    item = panels()
    item.taffeta.cloth.sewing_time = 0.5
    scene.use_gravity, scene.frame_end, scene.taffeta.backend = False, 20, "CPU"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "tube.blend"))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    found = dict(drawn.findings(bpy.context, (1, 20)))
    assert [frame for frame, crossings in found.items() if crossings] == []
    scene.frame_set(20)
    mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    points = np.array([vertex.co for vertex in mesh.vertices])
    sides = np.flatnonzero(abs(np.tile(np.linspace(-0.1, 0.1, 7), 7)) > 0.0999)
    gap = np.linalg.norm(points[sides] - points[sides + 49], axis=1)
    assert gap.max() < 1e-4  # m


def test_a_pattern_is_the_shape_without_stress(make_cloth):
    item = make_cloth()
    layer = item.data.uv_layers.new(name="Cut")
    for loop in item.data.loops:
        x, y, _ = item.data.vertices[loop.vertex_index].co
        layer.uv[loop.index].vector = (0.5 + 0.4 * x, 0.5 + 0.4 * y)
    item.taffeta.cloth.pattern_map, item.taffeta.cloth.pattern_scale = "Cut", 5.0
    cloth = read()
    places = cloth.positions[cloth.triangles]
    expected = np.linalg.norm(places - np.roll(places, 1, axis=1), axis=2)
    found = np.linalg.norm(cloth.rest_corners - np.roll(cloth.rest_corners, 1, axis=1), axis=2)
    assert found == pytest.approx(2.0 * expected, rel=1e-5)  # 0.4 × 5 m
    assert cloth.warp is None
    item.taffeta.cloth.pattern_scale = 0.0
    fitted = read().rest_corners
    assert np.linalg.norm(fitted - np.roll(fitted, 1, axis=1), axis=2) == pytest.approx(expected, rel=1e-5)


def test_a_pattern_follows_a_mirrored_object_and_the_quads_that_are_cut_otherwise(make_cloth):
    item = make_cloth()
    item.data.vertices[6].co.z = 0.4  # folds quads, so that some are cut along the other diagonal
    layer = item.data.uv_layers.new(name="Cut")
    for loop in item.data.loops:
        x, y, _ = item.data.vertices[loop.vertex_index].co
        layer.uv[loop.index].vector = (x, y)
    item.taffeta.cloth.pattern_map, item.taffeta.cloth.pattern_scale = "Cut", 1.0
    item.scale.x = -1.0
    cloth = read()
    assert np.allclose(cloth.rest_corners[:, :, 0], -cloth.positions[cloth.triangles][:, :, 0], atol=1e-6)
    assert np.allclose(cloth.rest_corners[:, :, 1], cloth.positions[cloth.triangles][:, :, 1], atol=1e-6)


def test_a_pattern_that_is_not_there_or_has_no_area_is_refused(make_cloth):
    item = make_cloth()
    item.taffeta.cloth.pattern_map = "Cut"
    with pytest.raises(SceneError, match="Cloth: there is no UV map “Cut” for its pattern"):
        read()
    layer = item.data.uv_layers.new(name="Cut")
    for entry in layer.uv:
        entry.vector = (0.5, 0.5)
    with pytest.raises(SceneError, match="32 triangles have no area in the UV map “Cut” of its pattern"):
        read()


def test_a_dome_with_a_flat_pattern_has_no_curvature_at_rest():
    """A UV pattern is flat, so a body that is unrolled from it wants to lie flat."""
    from taffeta.gpu_core.elasticity.bending import bending
    from taffeta.gpu_core.scene.scene import Cloth
    from taffeta.tests.gpu_core.small_scene import sheet

    flat, triangles = sheet(5, 0.2)
    dome = flat + np.column_stack([0 * flat[:, :2], 0.05 - ((flat[:, :2] - 0.1) ** 2).sum(axis=1)])
    curved, pattern = (Cloth("Cap", triangles, dome, dome, rest_corners=corners) for corners in (None, flat[triangles]))
    assert abs(bending(curved, "plate").rest).max() > 0.0
    assert not bending(pattern, "plate").rest.any()


def test_an_import_that_was_never_welded_is_one_sheet_and_draws_clean(scene, make_object, make_collider, tmp_path):
    """Every face has vertices of its own, as STL and some converters leave them."""
    line = np.linspace(-0.2, 0.2, 7)
    corners = [(x, y) for x in range(6) for y in range(6)]
    points = [(line[x + a], line[y + b], 0.1) for x, y in corners for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
    item = make_object("Import", points, [tuple(range(4 * k, 4 * k + 4)) for k in range(36)], "CLOTH")
    make_collider()
    scene.frame_end, scene.taffeta.backend = 10, "CPU"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "import.blend"))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert [frame for frame, crossings in drawn.findings(bpy.context, (1, 10)) if crossings] == []
    scene.frame_set(10)
    mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    found = np.array([vertex.co for vertex in mesh.vertices])
    assert len(np.unique(found, axis=0)) == 49
    item.taffeta.cloth.weld_seams = False
    assert read().seams is None

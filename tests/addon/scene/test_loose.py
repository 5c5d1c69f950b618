# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a mesh no face has: cords, threads, and vertices that stay."""

from __future__ import annotations

import bpy

from taffeta.addon.scene.gather import gather


def test_edges_without_a_face_are_cords(make_object):
    places = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 2), (0, 0, 4)]
    item = make_object("Sheet", places, [(0, 1, 2)], "CLOTH")
    item.data.edges.add(2)
    item.data.edges[-2].vertices, item.data.edges[-1].vertices = (0, 3), (3, 4)
    item.taffeta.cloth.cord_stiffness, item.taffeta.cloth.cord_shrink = 70.0, 0.25
    for sewing in (False, True):  # a vertex without a face is not sewn
        item.taffeta.cloth.sewing = sewing
        cloth = gather(bpy.context).cloths[0]
        assert (cloth.cords.ends.tolist(), cloth.cords.lengths.tolist()) == ([[0, 3], [3, 4]], [2.0, 2.0])
        assert (cloth.cord_stiffness, cloth.cord_density, cloth.cord_shrink) == (70.0, 0.003, 0.25)
        assert cloth.seams is None or not len(cloth.seams)


def test_a_rope_alone_bakes(scene, make_object, make_collider, tmp_path):
    item = make_object("Rope", [(0.05 * k, 0, 0.3) for k in range(20)], [], "CLOTH")
    item.data.edges.add(19)
    for k, edge in enumerate(item.data.edges):
        edge.vertices = (k, k + 1)
    make_collider()
    scene.frame_end, scene.taffeta.backend = 12, "CPU"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rope.blend"))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    scene.frame_set(12)
    mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    assert max(vertex.co.z for vertex in mesh.vertices) < 0.0


def test_a_loose_vertex_is_no_hindrance(make_object):
    make_object("Sheet", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (5, 5, 5)], [(0, 1, 2)], "CLOTH")
    assert gather(bpy.context).cloths[0].loose.tolist() == [False, False, False, True]

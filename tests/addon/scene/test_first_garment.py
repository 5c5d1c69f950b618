# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of docs/manual/first_garment.md, done as they are written, make the garment of the sample."""

from __future__ import annotations

from math import radians

import bpy
import numpy as np

from taffeta.sample_blends import first_garment


def select(mesh: bpy.types.Mesh, x: tuple[float, float], z: tuple[float, float]) -> None:
    """In Edit Mode: the vertices within, and the edges between them."""
    bpy.ops.mesh.select_mode(type="VERT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    for vertex in mesh.vertices:
        vertex.select = x[0] <= vertex.co.x <= x[1] and z[0] <= vertex.co.z <= z[1]
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_mode(type="VERT")


def shape(item: bpy.types.Object) -> tuple[list, list, int]:
    """Places, threads by the places of their ends, and the number of faces."""
    places = [tuple(np.round(item.matrix_world @ vertex.co, 4).tolist()) for vertex in item.data.vertices]
    threads = [sorted(places[vertex] for vertex in edge.vertices) for edge in item.data.edges if edge.is_loose]
    return sorted(places), sorted(threads), len(item.data.polygons)


def test_the_steps_of_the_tutorial_make_the_sample(scene):
    sample = first_garment.add_panels(1000)
    bpy.ops.mesh.primitive_grid_add(
        x_subdivisions=15, y_subdivisions=30, size=1.0, location=(0.0, -0.13, 1.06), rotation=(radians(90.0), 0.0, 0.0)
    )
    tunic = bpy.context.object
    tunic.dimensions = (0.46, 0.88, 0.0)
    bpy.ops.object.transform_apply(location=False, rotation=True, scale=True)
    bpy.ops.object.transform_apply(location=True)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.duplicate()
    bpy.ops.transform.translate(value=(0.0, 0.26, 0.0))
    sides = [(-1.0, -0.229), (0.229, 1.0)]
    seams = [(x, (0.0, 1.2)) for x in sides] + [((-1.0, -0.13), (1.499, 2.0)), ((0.13, 1.0), (1.499, 2.0))]
    for x, z in seams:
        select(tunic.data, x, z)
        assert bpy.ops.mesh.bridge_edge_loops() == {"FINISHED"}
        bpy.ops.mesh.delete(type="ONLY_FACE")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert shape(tunic) == shape(sample)

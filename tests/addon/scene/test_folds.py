# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges that an attribute marks have an angle at rest; another object's mesh may be the rest shape."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.scene.gather import gather
from taffeta.gpu_core.scene.scene import SceneError


def read():
    bpy.context.view_layer.update()
    (cloth,) = gather(bpy.context).cloths
    return cloth


def mark(item, name, *, kind="FLOAT", domain="EDGE"):
    attribute = item.data.attributes.new(name, kind, domain)
    if kind == "FLOAT":
        values = np.zeros(len(attribute.data), np.float32)
        values[:3] = 1.0, -0.5, 4.0
        attribute.data.foreach_set("value", values)
    return attribute


def test_marked_edges_are_folds_of_the_keyed_angle(make_cloth):
    item = make_cloth()
    mark(item, "Pleats")
    item.taffeta.cloth.fold_attribute, item.taffeta.cloth.fold_angle = "Pleats", 1.25
    cloth = read()
    expected = [sorted(edge.vertices) for edge in list(item.data.edges)[:3]]
    assert [sorted(pair) for pair in cloth.folds.ends.tolist()] == expected
    assert cloth.folds.weights.tolist() == [1.0, -0.5, 1.0]
    assert cloth.fold_angle == 1.25
    item.taffeta.cloth.fold_attribute = ""
    assert read().folds is None


def test_blenders_own_crease_marks_folds(make_cloth):
    item = make_cloth()
    item.data.attributes.new("crease_edge", "FLOAT", "EDGE").data[5].value = 0.5
    item.taffeta.cloth.fold_attribute = "crease_edge"
    folds = read().folds
    assert folds.ends.tolist() == [list(item.data.edges[5].vertices)]
    assert folds.weights.tolist() == [0.5]


@pytest.mark.parametrize(("kind", "domain"), [(None, ""), ("FLOAT", "POINT"), ("INT", "EDGE")])
def test_an_attribute_that_marks_no_edges_is_refused_by_name(make_cloth, kind, domain):
    item = make_cloth()
    if kind:
        mark(item, "Pleats", kind=kind, domain=domain)
    item.taffeta.cloth.fold_attribute = "Pleats"
    with pytest.raises(SceneError, match=r"Cloth.*Pleats.*folds"):
        read()


def test_another_objects_mesh_is_the_rest_shape(make_cloth):
    item = make_cloth()
    other = bpy.data.objects.new("Cut", item.data.copy())
    bpy.context.collection.objects.link(other)
    for vertex in other.data.vertices:
        vertex.co = (0.5 * vertex.co.x, vertex.co.y, 0.0)
    other.scale, other.location = (1.0, 3.0, 1.0), (7.0, 0.0, 0.0)
    item.taffeta.cloth.rest_object = other
    cloth, plain = read(), np.array([vertex.co for vertex in item.data.vertices])
    assert cloth.rest_positions == pytest.approx(plain * [0.5, 3.0, 0.0] + [7.0, 0.0, 0.0], abs=1e-5)
    assert cloth.positions[:, :2] == pytest.approx(plain[:, :2], abs=1e-5)


def test_a_rest_object_of_other_vertices_or_kind_is_refused_by_name(make_cloth):
    item = make_cloth()
    for other in (
        bpy.data.objects.new("Dot", bpy.data.meshes.new("Dot")),
        bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT")),
    ):
        bpy.context.collection.objects.link(other)
        item.taffeta.cloth.rest_object = other
        with pytest.raises(SceneError, match=other.name):
            read()

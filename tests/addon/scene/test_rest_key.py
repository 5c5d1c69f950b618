# SPDX-License-Identifier: GPL-3.0-or-later
"""A shape key as the rest shape: in the world, whatever its value; the cloth starts where the mesh is."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.scene import checks, mends
from taffeta.addon.scene.gather import gather, members
from taffeta.gpu_core.backend import select
from taffeta.gpu_core.scene.mesh import edge_lengths, unique_edges
from taffeta.gpu_core.scene.scene import SceneError
from taffeta.gpu_core.simulator import Simulator


@pytest.fixture
def keyed(make_cloth):
    """A sheet with a key that is half as wide, off, and one that bends it, on."""
    item = make_cloth()
    item.shape_key_add(name="Basis")
    narrow, bent = item.shape_key_add(name="Narrow"), item.shape_key_add(name="Bent")
    for point, other in zip(narrow.data, bent.data, strict=True):
        x, y, _ = point.co
        point.co = (0.5 * x, y, 0.0)
        other.co = (x, y, 0.1 * x * x)
    narrow.value, bent.value = 0.0, 1.0
    item.scale = (2.0, 2.0, 2.0)
    item.location = (0.0, 0.0, 1.0)
    return item


def read():
    bpy.context.view_layer.update()
    (cloth,) = gather(bpy.context).cloths
    return cloth


def test_the_rest_shape_is_the_keys_and_the_start_is_the_meshs(keyed):
    plain = read()
    keyed.taffeta.cloth.rest_shape_key = "Narrow"
    cloth = read()
    assert np.array_equal(cloth.positions, plain.positions)
    x, y, _ = (plain.positions[:, k] for k in range(3))
    assert cloth.rest_positions == pytest.approx(np.column_stack([0.5 * x, y, np.ones_like(x)]), abs=1e-6)
    assert np.ptp(cloth.positions[:, 2]) == pytest.approx(0.05, abs=1e-6)


def test_warp_runs_along_u_of_the_rest_shape(keyed):
    layer = keyed.data.uv_layers.new(name="Map")
    for loop in keyed.data.loops:
        point = keyed.data.vertices[loop.vertex_index].co
        layer.uv[loop.index].vector = (point.x + 0.5, point.y + 0.5)
    keyed.taffeta.cloth.rest_shape_key = "Narrow"
    assert read().warp == pytest.approx(np.tile([1.0, 0.0, 0.0], (32, 1)), abs=1e-5)


def test_the_cloth_strives_for_the_key(keyed):
    """It has the key's lengths, flat or buckled."""
    keyed.taffeta.cloth.rest_shape_key = "Narrow"
    bpy.context.scene.gravity, bpy.context.scene.frame_end = (0.0, 0.0, 0.0), 12
    scene = gather(bpy.context)
    edges, rest = unique_edges(scene.cloths[0].triangles), scene.cloths[0].rest_positions
    assert np.median(edge_lengths(scene.cloths[0].positions, edges) / edge_lengths(rest, edges)) > 1.2
    simulator = Simulator(scene, select("cpu"))
    for _ in range(11):
        simulator.advance_frame()
    ratio = edge_lengths(simulator.positions()[0], edges) / edge_lengths(rest, edges)
    assert np.median(ratio) == pytest.approx(1.0, abs=0.03)


def test_a_key_that_does_not_exist_is_refused_and_named_by_the_checks(keyed):
    keyed.taffeta.cloth.rest_shape_key = "Nowhere"
    with pytest.raises(SceneError, match="there is no shape key “Nowhere” for its rest shape") as caught:
        read()
    assert caught.value.remedy
    scene = bpy.context.scene
    (trouble,) = [item for item in checks.troubles(scene, members(scene)) if "Nowhere" in item.text]
    _, mend = mends.MENDS[trouble.mend]
    mend(scene, keyed)
    assert keyed.taffeta.cloth.rest_shape_key == ""
    read()


def test_the_field_offers_the_keys(keyed):
    from taffeta.addon.scene import rest_key

    assert rest_key.choices(keyed.taffeta.cloth, bpy.context, "") == ["Basis", "Narrow", "Bent"]

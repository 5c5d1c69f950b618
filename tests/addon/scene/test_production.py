# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes from other departments: bodies and garments as Alembic and USD, bodies that keys hide."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from taffeta.addon.scene import checks
from taffeta.addon.scene.gather import gather, members
from taffeta.gpu_core.scene.scene import SceneError


@pytest.fixture
def moving(make_object):
    """A sheet that moves along y and tilts, from frame 1 to 4."""
    line = [(x, y, 0.0) for y in (0, 1, 2) for x in (0, 1, 2)]
    item = make_object("Body", line, [(0, 1, 4, 3), (1, 2, 5, 4), (3, 4, 7, 6), (4, 5, 8, 7)])
    item.shape_key_add(name="Flat")
    tilted = item.shape_key_add(name="Tilted")
    for point in tilted.data:
        point.co.z += point.co.x
    for frame, share in ((1, 0.0), (4, 1.0)):
        tilted.value, item.location.y = share, 2.0 * share
        tilted.keyframe_insert("value", frame=frame), item.keyframe_insert("location", frame=frame)
    return item


def exchanged(folder: Path, kind: str) -> bpy.types.Object:
    """What is in the scene, by way of a file, in an empty scene."""
    path = str(folder / f"body.{kind}")
    if kind == "abc":
        bpy.ops.wm.alembic_export(filepath=path, start=1, end=4, as_background_job=False)
    else:
        bpy.ops.wm.usd_export(filepath=path, export_animation=True)
    bpy.ops.wm.read_homefile(use_empty=True)
    if kind == "abc":
        bpy.ops.wm.alembic_import(filepath=path, as_background_job=False)
    else:
        bpy.ops.wm.usd_import(filepath=path)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 4
    return next(item for item in bpy.context.scene.objects if item.type == "MESH")


@pytest.mark.parametrize("kind", ["abc", "usdc"])
@pytest.mark.parametrize("samples", [1, 3])
def test_a_body_of_a_file_collides_where_it_was_exported(moving, make_cloth, tmp_path, kind, samples):
    make_cloth().location.z = 5.0
    moving.taffeta.role = "COLLIDER"
    before = gather(bpy.context).colliders[0].positions
    bpy.data.objects.remove(bpy.data.objects["Cloth"])
    exchanged(tmp_path, kind).taffeta.role = "COLLIDER"
    mesh = bpy.data.meshes.new("Cloth")
    mesh.from_pydata([(0, 0, 9), (1, 0, 9), (0, 1, 9)], [], [(0, 1, 2)])
    item = bpy.data.objects.new("Cloth", mesh)
    bpy.context.scene.collection.objects.link(item)
    item.taffeta.role = "CLOTH"
    bpy.context.scene.taffeta.samples_per_frame = samples
    after = gather(bpy.context).colliders[0].positions
    assert len(after) == 3 * samples + 1
    np.testing.assert_allclose(after[::samples], before, atol=1e-5)


@pytest.mark.parametrize("kind", ["abc", "usdc"])
def test_a_garment_of_a_file_is_cloth_and_its_pins_follow_the_file(moving, tmp_path, kind):
    item = exchanged(tmp_path, kind)
    item.taffeta.role = "CLOTH"
    item.vertex_groups.new(name="Held").add([2], 1.0, "REPLACE")
    item.taffeta.cloth.pin_group = "Held"
    (cloth,) = gather(bpy.context).cloths
    assert len(cloth.positions) == 9
    np.testing.assert_allclose(cloth.pins.targets[0, 0], cloth.positions[2], atol=1e-6)
    assert cloth.pins.targets[3, 0, 1] - cloth.pins.targets[0, 0, 1] == pytest.approx(2.0, abs=1e-5)


def test_a_file_that_is_gone_is_named_and_not_baked_as_a_still_body(moving, tmp_path):
    item = exchanged(tmp_path, "abc")
    item.taffeta.role = "CLOTH"
    (tmp_path / "body.abc").unlink()
    with pytest.raises(SceneError, match=r"the file .*body\.abc that moves it is missing"):
        gather(bpy.context)
    scene = bpy.context.scene
    assert any("body.abc that moves it is missing" in each.text for each in checks.troubles(scene, members(scene)))


def test_a_body_that_keys_disable_is_refused_with_the_frame(moving, make_cloth):
    make_cloth().location.z = 5.0
    moving.taffeta.role = "COLLIDER"
    for frame, hidden in ((1, False), (3, True), (4, False)):
        moving.hide_viewport = hidden
        moving.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_set(1)
    with pytest.raises(SceneError, match="keys disable it in the viewport at frame 3"):
        gather(bpy.context)


def test_a_body_that_keys_hide_in_renders_collides_all_the_same(moving, make_cloth):
    make_cloth().location.z = 5.0
    moving.taffeta.role = "COLLIDER"
    before = gather(bpy.context).colliders[0].positions
    for frame, hidden in ((1, False), (3, True)):
        moving.hide_render = hidden
        moving.keyframe_insert("hide_render", frame=frame)
    np.testing.assert_array_equal(gather(bpy.context).colliders[0].positions, before)

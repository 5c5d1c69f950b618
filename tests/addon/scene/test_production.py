# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes from other departments: bodies and garments as Alembic and USD, bodies that keys hide."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from taffeta.addon.bake import session
from taffeta.addon.cache import status
from taffeta.addon.scene import checks, light_mesh, modifier, resolution
from taffeta.addon.scene.gather import gather, members
from taffeta.gpu_core.files.cache import CacheState
from taffeta.gpu_core.scene.scene import SceneError
from taffeta.tests.addon import baking


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


def exchanged(folder: Path, kind: str, blend_shapes: bool = True) -> bpy.types.Object:
    """What is in the scene, by way of a file, in an empty scene. blend_shapes: USD has them instead of each frame."""
    path = str(folder / f"body.{kind}")
    if kind == "abc":
        bpy.ops.wm.alembic_export(filepath=path, start=1, end=4, as_background_job=False)
    else:
        bpy.ops.wm.usd_export(filepath=path, export_animation=True, export_shapekeys=blend_shapes)
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


@pytest.fixture
def garment(moving, tmp_path, request):
    """One of a file that bends it, pinned at a corner that goes up by 2 m, in a saved scene."""
    item = exchanged(tmp_path, request.param, blend_shapes=False)
    item.taffeta.role, bpy.context.scene.taffeta.backend = "CLOTH", "CPU"
    item.vertex_groups.new(name="Held").add([2, 5], 1.0, "REPLACE")
    item.taffeta.cloth.pin_group = "Held"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    yield item
    session.close()


def baked_frames(item: bpy.types.Object) -> np.ndarray:
    return baking.frames(baking.folder(bpy.context.scene), item.taffeta.cloth.cache_key)


def files_shape(item: bpy.types.Object, frame: int) -> np.ndarray:
    with modifier.suspended(entry for entry in item.modifiers if entry.type != "MESH_SEQUENCE_CACHE"):
        return baking.played(item, frame)


@pytest.mark.parametrize("garment", ["abc", "usdc"], indirect=True)
def test_what_is_baked_of_a_garment_of_a_file_is_shown_and_hangs_from_what_the_file_moves(garment):
    assert [entry.type for entry in garment.modifiers] == ["MESH_SEQUENCE_CACHE"]
    first, last = files_shape(garment, 1), files_shape(garment, 4)
    assert np.abs(last - first).max() > 1.9
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert [entry.type for entry in garment.modifiers] == ["MESH_SEQUENCE_CACHE", "NODES", "MESH_CACHE"]
    frames = baked_frames(garment)
    np.testing.assert_allclose(frames[0], first, atol=1e-5)
    np.testing.assert_allclose(frames[3][[2, 5]], last[[2, 5]], atol=1e-5)
    assert np.abs(frames[3] - last).max() > 0.01  # what is not pinned does not
    for frame in range(1, 5):
        np.testing.assert_array_equal(baking.played(garment, frame), frames[frame - 1])


@pytest.mark.parametrize("garment", ["abc"], indirect=True)
def test_a_file_after_the_cache_is_named_refused_and_moved_before_it(garment):
    scene, said = bpy.context.scene, "comes after the cache and shows its file instead"
    bpy.ops.taffeta.bake()
    garment.modifiers.move(0, len(garment.modifiers) - 1)
    assert status.of(scene, garment)[0] is CacheState.HIDDEN
    assert said in status.of(scene, garment)[1]
    (trouble,) = [each for each in checks.troubles(scene, members(scene)) if said in each.text]
    with pytest.raises(RuntimeError, match=said):
        bpy.ops.taffeta.bake()
    bpy.ops.taffeta.mend(name=trouble.name, how=trouble.mend)
    assert [entry.type for entry in garment.modifiers] == ["MESH_SEQUENCE_CACHE", "NODES", "MESH_CACHE"]
    assert status.of(scene, garment)[0] is CacheState.READY
    garment.modifiers.move(0, len(garment.modifiers) - 1)
    bpy.ops.taffeta.play()
    np.testing.assert_array_equal(baking.played(garment, 4), baked_frames(garment)[3])


def test_a_mesh_cache_of_others_after_ours_is_named_unless_it_only_adds_to_it(make_cloth):
    item = make_cloth()
    ours, theirs = (item.modifiers.new(name, "MESH_CACHE") for name in (modifier.NAME, "Theirs"))
    assert modifier.overriding(item) == [theirs]
    for name, value, other in (("deform_mode", "INTEGRATE", "OVERWRITE"), ("factor", 0.5, 1.0)):
        setattr(theirs, name, value)
        assert modifier.overriding(item) == []
        setattr(theirs, name, other)
    modifier.take_before(item)
    assert list(item.modifiers) == [theirs, ours]


@pytest.mark.parametrize("garment", ["abc"], indirect=True)
def test_a_light_mesh_of_a_garment_of_a_file_does_not_take_the_files_vertices(garment):
    garment.taffeta.cloth.pin_group = ""
    bpy.context.view_layer.objects.active = garment
    resolution.subdivide(garment, 8)
    light = light_mesh.make(bpy.context, garment, 40)
    assert list(light.modifiers) == []


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

# SPDX-License-Identifier: GPL-3.0-or-later
"""The attribute that renderers take motion blur from: finite differences of the cached frames."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.cache import place, status, velocity
from taffeta.gpu_core.files import cache
from taffeta.gpu_core.files.folder import VELOCITIES
from taffeta.tests.addon.baking import folder, played
from taffeta.tests.addon.finalising import FPS, attribute, choose, differences, item, simulated, without_refining


def test_velocities_are_finite_differences_of_the_frames_per_second(baked):
    expected = differences(simulated(baked))
    assert np.abs(expected).max() > 1.0
    assert bpy.ops.taffeta.velocity() == {"FINISHED"}
    cloth = without_refining(item())
    for frame in range(1, 5):
        np.testing.assert_allclose(attribute(cloth, frame), expected[frame - 1], rtol=1e-6, atol=1e-5)
        np.testing.assert_array_equal(played(cloth, frame), simulated(baked)[frame - 1])


def test_velocities_play_after_reopening_and_go_with_a_new_bake_or_with_free(baked):
    expected = differences(simulated(baked))
    bpy.ops.taffeta.velocity()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    np.testing.assert_allclose(attribute(without_refining(item()), 3), expected[2], rtol=1e-6, atol=1e-5)
    path = folder(bpy.context.scene) / VELOCITIES / "Cloth.pc2"
    assert path.is_file()
    bpy.ops.taffeta.bake()
    assert velocity.find(item()) is None
    bpy.ops.taffeta.velocity()
    bpy.ops.taffeta.free()
    assert velocity.find(item()) is None
    assert not path.parent.exists()
    assert not [tree for tree in bpy.data.node_groups if "Velocity" in tree.name]


def test_velocities_do_not_make_a_bake_stale_and_are_no_part_of_its_scene(baked):
    bpy.ops.taffeta.velocity()
    bpy.ops.taffeta.check()
    assert status.of(baked, item())[0] is cache.CacheState.READY


def test_where_one_file_cannot_be_written_no_cloth_gets_velocities(saved_scene, make_cloth, monkeypatch):
    make_cloth("Upper").location.z = 0.2
    bpy.ops.taffeta.bake()
    choose(item(), item("Upper"))
    (folder(saved_scene) / VELOCITIES / "Upper.pc2.new").mkdir(parents=True)
    with pytest.raises(RuntimeError, match=r"Upper\.pc2"):
        bpy.ops.taffeta.velocity()
    assert [velocity.find(cloth) for cloth in (item(), item("Upper"))] == [None, None]


def test_velocities_of_a_file_that_was_never_saved_are_refused(baked, monkeypatch):
    monkeypatch.setattr(place, "is_temporary", lambda path: True)
    with pytest.raises(RuntimeError, match="Save the file first"):
        bpy.ops.taffeta.velocity()
    assert velocity.find(item()) is None


def test_cycles_blurs_motion_by_this_attribute(scene, make_object, tmp_path):
    """A still square of 1 m, 12 pixels wide, that claims to move by 1 m a frame, with the shutter open all the time."""
    square = make_object("Square", [(-0.5, -0.5, 0), (0.5, -0.5, 0), (0.5, 0.5, 0), (-0.5, 0.5, 0)], [(0, 1, 2, 3)])
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.location.z, camera.data.type, camera.data.ortho_scale = 5.0, "ORTHO", 4.0
    scene.camera, scene.render.engine, scene.cycles.samples = camera, "CYCLES", 32
    scene.render.resolution_x = scene.render.resolution_y = 48
    scene.render.film_transparent = scene.render.use_motion_blur = True
    scene.render.motion_blur_shutter, scene.render.filepath = 1.0, str(tmp_path / "square.png")

    def covered() -> int:
        """Pixels of the middle row on which anything of the square is seen."""
        bpy.ops.render.render(write_still=True)
        picture = bpy.data.images.load(scene.render.filepath)
        row = np.array(picture.pixels[:]).reshape(48, 48, 4)[24, :, 3]
        bpy.data.images.remove(picture)
        return int((row > 0.04).sum())

    still = covered()
    values = square.data.attributes.new(velocity.ATTRIBUTE, "FLOAT_VECTOR", "POINT").data
    for value in values:
        value.vector = (FPS, 0.0, 0.0)
    assert (still, covered()) == (pytest.approx(12, abs=2), pytest.approx(24, abs=2))

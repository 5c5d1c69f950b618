# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line about what Blender draws: crossings that modifiers make, and Time Stretching."""

from __future__ import annotations

import bpy
import pytest

from taffeta.tests.addon.commanding import Commands


@pytest.fixture
def taffeta(capfd) -> Commands:
    return Commands(capfd)


def test_a_bake_that_renders_crossing_says_so(taffeta, saved_scene, tmp_path):
    shell = bpy.data.objects["Cloth"].modifiers.new("Shell", "SOLIDIFY")
    shell.thickness, shell.offset, shell.show_viewport = 2.0, -1.0, False
    bpy.ops.wm.save_mainfile()
    code, answer = taffeta("bake", tmp_path / "shot.blend", "--save-blend", tmp_path / "out.blend")
    assert code == 0
    assert "4 of 4 frames cross as Blender draws them" in answer["warnings"][-1]
    code, answer = taffeta("check", tmp_path / "out.blend")
    assert code == 1
    assert [verdict["intersections"] for verdict in answer["verdicts"]] == [0, 0, 0, 0]
    assert all(verdict["drawn"] > 0 for verdict in answer["verdicts"])


def test_time_stretching_changes_nothing_of_a_bake_and_plays_it(taffeta, saved_scene, tmp_path):
    floor = bpy.data.objects["Floor"]
    floor.keyframe_insert("location", frame=1)
    floor.location.z += 0.2
    floor.keyframe_insert("location", frame=4)
    bpy.ops.wm.save_mainfile()
    assert taffeta("bake", tmp_path / "shot.blend", "--save-blend", tmp_path / "shot.blend")[0] == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    scene, item = bpy.context.scene, bpy.data.objects["Cloth"]

    def heights(frames):
        found = []
        for frame in frames:
            scene.frame_set(frame)
            depsgraph = bpy.context.evaluated_depsgraph_get()
            vertex = item.evaluated_get(depsgraph).data.vertices[0].co.z
            found.append((vertex, bpy.data.objects["Floor"].evaluated_get(depsgraph).matrix_world.translation.z))
        return found

    played = heights(range(1, 5))
    for retime in (
        {"frame_map_new": 200},
        {"frame_map_new": 100, "fps": 30},
        {"fps": 24, "fps_base": 1.001},
    ):
        for name, value in retime.items():
            setattr(scene.render, name, value)
        pace = scene.render.frame_map_new // 100
        assert heights(range(pace, 4 * pace + 1, pace)) == played
    scene.render.fps_base = 1.0
    for frame_map in ((100, 200), (100, 50), (100, 400)):
        scene = bpy.context.scene  # the command has opened the file anew
        scene.render.frame_map_old, scene.render.frame_map_new = frame_map
        scene.frame_end = 4 * frame_map[1] // 100
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "retimed.blend"))
        code, answer = taffeta("job", tmp_path / "retimed.blend", "--out", tmp_path / f"job{frame_map[1]}")
        assert code == 0
        assert answer["frames"][1] == 4
        if frame_map[1] > 100:
            assert answer["frames"] == [1, 4]
            assert (tmp_path / f"job{frame_map[1]}" / "collider_000_positions.npy").read_bytes() == (
                next((tmp_path / "taffeta_cache").rglob("collider_000_positions.npy")).read_bytes()
            )

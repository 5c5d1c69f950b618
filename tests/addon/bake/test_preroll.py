# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake in Blender that begins before its range: the cache begins with it, and all that goes on from a cache does."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.bake import report, session
from taffeta.addon.bake.state import Happening, Phase
from taffeta.addon.cache import status
from taffeta.addon.interface import bake_panels
from taffeta.addon.live import session as live
from taffeta.gpu_core.bake.certificate import read
from taffeta.gpu_core.files import cache, job
from taffeta.gpu_core.files.cache import CacheState
from taffeta.tests.addon.baking import begin, end, folder, frames, played
from taffeta.tests.addon.commanding import Commands
from taffeta.tests.addon.posing import make_armature, skin, strip
from taffeta.tests.addon.recording_layout import RecordingLayout

PREROLL = 6


@pytest.fixture
def dressed(scene, make_object, tmp_path):
    """An arm that is bent in the first frame, in a saved file, and a sleeve above it that only its cuff holds."""
    armature = make_armature()
    skin(make_object("Arm", *strip(0.0), "COLLIDER"), armature)
    sleeve = skin(make_object("Cloth", *strip(0.02, 16), "CLOTH"), armature)
    sleeve.vertex_groups.new(name="Cuff").add([0, 1, 32, 33], 1.0, "REPLACE")
    sleeve.taffeta.cloth.pin_group = "Cuff"
    scene.taffeta.backend, scene.taffeta.preroll, scene.taffeta.preroll_from = "CPU", PREROLL, "REST_POSE"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    yield scene
    live.close()
    session.close()


def state(scene):
    return status.of(scene, bpy.data.objects["Cloth"])


def baked(order=None) -> session.Bake:
    bake = begin(order)
    end(bake)
    assert session.last.phase is Phase.DONE, session.last.text
    return bake


def headlines(bake: session.Bake, until) -> list[str]:
    """What the panel says, until something is so."""
    said = [bake.state.headline]
    while bake.state.busy and not until(bake.state):
        bake.step(0.01)
        if bake.state.headline != said[-1]:
            said.append(bake.state.headline)
    return said


def test_the_cache_begins_with_the_range_where_the_morph_has_ended(dressed):
    bake = baked()
    contents = cache.read_contents(folder(dressed))
    assert (contents.frame_start, contents.frame_end, contents.frames) == (1, 4, 4)
    assert [line["frame"] for line in bake.reports] == [1, 2, 3, 4]
    item = bpy.data.objects["Cloth"]
    np.testing.assert_array_equal(played(item, 1), frames(folder(dressed))[0])
    assert played(item, 1)[:, 2].max() > 0.3  # the sleeve came along
    certificates = read(folder(dressed))
    assert [entry.intersections for entry in certificates] == [0, 0, 0, 0]
    assert (certificates[0].preroll["frames"], certificates[1].preroll) == (PREROLL, {})


def test_nothing_moves_any_more_where_the_cloth_has_settled(scene, make_cloth, tmp_path):
    cloth = make_cloth()
    cloth.vertex_groups.new(name="Pins").add([20, 24], 1.0, "REPLACE")
    cloth.taffeta.cloth.pin_group, cloth.taffeta.cloth.velocity_damping = "Pins", 0.05
    scene.taffeta.backend, scene.taffeta.preroll_from = "CPU", "STILL"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    way = {}
    for count in (0, 60):
        scene.taffeta.preroll = count
        baked()
        way[count] = np.abs(np.diff(frames(folder(scene)), axis=0)).max()
    assert way[60] < 0.2 * way[0]


def test_a_bake_tells_how_far_the_pre_roll_is_and_its_report_what_it_took(dressed):
    bake = begin()
    said = headlines(bake, lambda state: state.done)
    assert any(text.startswith("0 / 4, pre-roll ") and text.endswith(f"/{PREROLL}") for text in said), said
    end(bake)
    text = report.text(dressed, session.state())
    assert f"Its first frame comes after a pre-roll of {PREROLL} frames, " in text
    assert f"Frames 1–4 at 24 fps, after {PREROLL} of pre-roll" in text
    dressed.frame_set(1)
    layout = RecordingLayout()
    bake_panels.draw_frames(layout, bpy.context, bpy.data.objects["Cloth"])
    assert f"After a pre-roll of {PREROLL} frames" in layout.texts()


def test_a_pause_and_a_cancel_within_it_leave_nothing_that_plays_and_resume_gives_the_same_bytes(dressed):
    baked()
    expected = np.array(frames(folder(dressed)))
    dressed.taffeta.preroll = 300
    bake = begin()
    headlines(bake, lambda state: "pre-roll" in state.headline)
    bake.handle(Happening.PAUSE)
    assert bake.state.phase is Phase.PAUSED
    bake.handle(Happening.CONTINUE)
    bake.handle(Happening.CANCEL)
    assert end(bake).headline == "Cancelled: 0 of 4 frames are in the cache."
    assert cache.inspect(folder(dressed))[::2] == (CacheState.PARTIAL, 0)
    dressed.taffeta.preroll = PREROLL
    with pytest.raises(RuntimeError, match="preroll is 6, was 300"):
        bpy.ops.taffeta.bake(resume=True)
    stopped = begin()
    headlines(stopped, lambda state: "pre-roll" in state.headline)
    stopped.handle(Happening.CANCEL)
    end(stopped)
    baked(session.Order(resume=True))
    assert np.array_equal(frames(folder(dressed)), expected)


def test_another_number_of_frames_makes_the_cache_stale_and_a_longer_range_goes_on(dressed):
    baked()
    assert state(dressed)[0] is CacheState.READY
    dressed.taffeta.preroll = PREROLL + 1
    assert state(dressed) == (CacheState.STALE, "Scene: preroll is 7, was 6")
    dressed.taffeta.preroll, dressed.frame_end = PREROLL, 6
    assert status.left(dressed)
    before = np.array(frames(folder(dressed)))
    bake = baked(session.Order(resume=True))
    assert min(line["frame"] for line in bake.reports) > 4
    assert np.array_equal(frames(folder(dressed))[:4], before)
    assert state(dressed)[0] is CacheState.READY
    baked(session.Order(from_frame=3))
    assert np.array_equal(frames(folder(dressed))[:3], before[:3])


def test_a_sleeve_that_crosses_the_arm_in_the_rest_pose_is_untangled_or_told_of(dressed):
    for vertex in bpy.data.objects["Cloth"].data.vertices[8:12]:
        vertex.co.z = -0.02
    begin().wait()
    warned = session.finish(bpy.context).warnings
    assert len(warned) == 1
    assert "Cloth: it went through Arm at the start" in warned[0]
    assert warned[0].endswith("It was untangled")
    dressed.taffeta.start = "TOLERATE"
    begin().wait()
    warned = session.finish(bpy.context).warnings
    assert any("Cloth: it intersects Arm at the start" in text for text in warned), warned
    assert "still cross at frame 1. Give it more frames" in warned[-1]
    dressed.taffeta.start = "REFUSE"
    with pytest.raises(RuntimeError, match="it intersects Arm at the start"):
        bpy.ops.taffeta.bake()


def test_the_command_line_sets_it_bakes_resumes_and_checks(dressed, capfd):
    command, place = Commands(capfd), bpy.data.filepath
    dressed.taffeta.preroll = 0
    bpy.ops.wm.save_mainfile()
    chosen = ("--set", "scene.taffeta.preroll=6", "--set", "scene.taffeta.preroll_from=REST_POSE")
    code, answer = command("bake", place, *chosen, "--save-blend", place)
    assert code == 0, answer
    assert answer["reports"][0]["preroll"]["frames"] == PREROLL
    code, answer = command("check", place)
    assert code == 0, answer
    assert (answer["frames"], answer["verdicts"][0]["preroll"]["frames"]) == ([1, 4], PREROLL)
    assert command("bake", place, "--resume")[0] == 4  # there is nothing to do


def test_a_job_bakes_elsewhere_with_it_and_comes_back(dressed, capfd, tmp_path):
    command, place, away = Commands(capfd), bpy.data.filepath, tmp_path / "away"
    code, answer = command("job", place, "--out", away)
    assert code == 0, answer
    assert job.load(away).settings.begins == 1 - PREROLL
    code, answer = command("run", away)
    assert (code, answer["frames_done"]) == (0, 4), answer
    code, answer = command("fetch", place, "--from", away, "--save-blend", place)
    assert code == 0, answer
    assert state(bpy.context.scene)[0] is CacheState.READY


def test_live_does_without(dressed):
    running = live.start(bpy.context)
    while running.state.active and running.state.turn is None:
        running.wait()
    begun = job.load(next(running._folder.glob("job")))
    assert (begun.settings.preroll, begun.settings.frame_start) == (0, 1)
    assert np.ptp(begun.colliders[0].positions[0][:, 2]) > 0.4  # bent as in the first frame

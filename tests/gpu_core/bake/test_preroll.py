# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames before the range are simulated like any other and not stored; the range begins where they end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.bake.bake import BakeProcess, bake
from taffeta.gpu_core.bake.events import Frame, Prerolled, to_json
from taffeta.gpu_core.bake.extension import same_beginning
from taffeta.gpu_core.bake.log import statistics
from taffeta.gpu_core.files import handover, job, json_lines
from taffeta.gpu_core.files.cache import CacheState, inspect, read_contents, read_frames
from taffeta.gpu_core.files.errors import StaleError
from taffeta.gpu_core.scene.differences import differences
from taffeta.gpu_core.scene.pins import PinGroup, Pins
from taffeta.gpu_core.scene.scene import Scene, SceneError, Settings
from taffeta.tests.gpu_core.small_scene import full_scene, small_scene

PREROLL, FRAMES = 4, 6  #: so many frames before the range, and in it


def of_range(scene: Scene, first: int) -> Scene:
    """Everything that changes is the same; of the frames those before `first` are a pre-roll."""
    settings = scene.settings
    return replace(scene, settings=replace(settings, frame_start=first, preroll=first - settings.frame_start))


def moving_scene() -> Scene:
    """A sheet falls on a ball that moves; it hangs from a corner, which lets go, and its density and gravity change."""
    scene = small_scene(PREROLL + FRAMES)
    (cloth,), (ball,) = scene.cloths, scene.colliders
    shift = np.linspace(0.0, 0.05, PREROLL + FRAMES, dtype=np.float32)[:, None, None]
    pins = Pins(np.int32([0]), cloth.positions[None, [0]] + np.float64(shift))
    group = PinGroup("Hand", pins, 1.0, {"strength": np.array([1.0] * 6 + [0.0])})
    cloth = replace(cloth, pin_groups=(group,), keys={"density": np.linspace(0.1, 0.3, PREROLL + FRAMES)})
    gravity = np.array([[0.0, 0.0, -9.81]] * 5 + [[0.0, 1.0, -9.0]])
    return replace(
        scene, cloths=(cloth,), colliders=(replace(ball, positions=ball.positions + shift),), keys={"gravity": gravity}
    )


def run(scene, folder, stop_at=None, **options):
    """Bake, until this many events came. Returns the events."""
    asked = handover.incoming(folder / "cache")
    job.save(scene, asked)
    events = []
    bake(
        asked,
        folder / "cache",
        **{"check": False, **options},
        on_event=events.append,
        cancelled=lambda: stop_at is not None and len(events) >= stop_at,
    )
    return events


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The moving scene baked with all its frames in the range."""
    folder = tmp_path_factory.mktemp("whole")
    run(moving_scene(), folder)
    return np.array(read_frames(folder / "cache" / "sheet.pc2"))


def shifted() -> Scene:
    return of_range(moving_scene(), 11 + PREROLL)


def cached(folder):
    return np.array(read_frames(folder / "cache" / "sheet.pc2"))


def test_the_range_has_the_bits_that_it_has_at_the_end_of_a_longer_one(whole, tmp_path):
    run(shifted(), tmp_path, check=True)
    contents = read_contents(tmp_path / "cache")
    assert (contents.frame_start, contents.frame_end) == (15, 20)
    assert inspect(tmp_path / "cache", job.digest(shifted())) == (CacheState.READY, f"{FRAMES} frames", FRAMES)
    assert np.array_equal(cached(tmp_path), whole[PREROLL:])
    lines = json_lines.read(tmp_path / "cache" / "certificates.jsonl")
    assert [(line["frame"], line["intersections"]) for line in lines] == [(frame, 0) for frame in range(15, 21)]


def test_it_is_told_frame_by_frame_and_summed_up_in_the_first_frames_report(tmp_path):
    events = run(shifted(), tmp_path)
    rolled = [event for event in events if isinstance(event, Prerolled)]
    assert [(event.frame, event.done, event.frames) for event in rolled] == [(11 + k, k, 4) for k in range(1, 5)]
    assert events.index(rolled[-1]) < events.index(next(event for event in events if isinstance(event, Frame)))
    first, second, *_ = json_lines.read(tmp_path / "cache" / "frames.jsonl")
    assert (first["frame"], first["preroll"]["frames"], first["preroll"]["steps"]) == (15, 4, 32)
    assert first["preroll"]["seconds"] == pytest.approx(sum(event.seconds for event in rolled))
    assert "after a pre-roll of 4 frames" in statistics(first)
    assert "preroll" not in second
    unfinished = statistics({**first, "preroll": {**first["preroll"], "unfinished_steps": 2}})
    assert unfinished.endswith("2 of 32 steps unfinished")


@pytest.mark.parametrize("stop_at", [1, 3, 7], ids=["before it", "within it", "after it"])
def test_a_bake_that_was_stopped_resumes_to_the_same_bits(whole, tmp_path, stop_at):
    stopped = run(shifted(), tmp_path, stop_at)
    done = sum(isinstance(event, Frame) for event in stopped)
    expected = (CacheState.PARTIAL, f"cancelled: {done} of {FRAMES} frames", done)
    assert inspect(tmp_path / "cache", job.digest(shifted())) == expected
    assert len(cached(tmp_path)) == done
    resumed = run(shifted(), tmp_path, resume=True)
    rolled = [[event.done for event in events if isinstance(event, Prerolled)] for events in (stopped, resumed)]
    assert [count for counts in rolled for count in counts] == [1, 2, 3, 4]
    assert np.array_equal(cached(tmp_path), whole[PREROLL:])
    first = json_lines.read(tmp_path / "cache" / "frames.jsonl")[0]
    assert (first["preroll"]["frames"], first["preroll"]["steps"]) == (4, 32)


def test_a_state_within_it_that_is_damaged_or_of_another_scene_is_not_gone_on_from(whole, tmp_path):
    run(shifted(), tmp_path, stop_at=3)
    (state,) = (tmp_path / "cache").glob("checkpoint*")
    state.write_bytes(b"nothing")
    events = run(shifted(), tmp_path, resume=True)
    assert [event.done for event in events if isinstance(event, Prerolled)] == [1, 2, 3, 4]
    assert np.array_equal(cached(tmp_path), whole[PREROLL:])
    run(shifted(), tmp_path, stop_at=3)
    scene = shifted()
    longer = replace(scene, settings=replace(scene.settings, tolerance=0.1))
    with pytest.raises(StaleError, match="has changed"):
        run(longer, tmp_path, resume=True)


def test_a_longer_range_goes_on_where_the_shorter_one_ended(whole, tmp_path):
    every = shifted()
    shorter = moving_scene()
    part = slice(0, PREROLL + 3)
    (cloth,), (ball,) = shorter.cloths, shorter.colliders
    (group,) = cloth.pin_groups
    cloth = replace(
        cloth,
        world_to_object=cloth.world_to_object[part],
        pin_groups=(replace(group, pins=replace(group.pins, targets=group.pins.targets[part])),),
        keys={"density": cloth.keys["density"][part]},
    )
    settings = replace(every.settings, frame_end=17)
    shorter = replace(
        every, cloths=(cloth,), colliders=(replace(ball, positions=ball.positions[part]),), settings=settings
    )
    run(shorter, tmp_path)
    assert same_beginning(shorter, every) == 3
    events = run(every, tmp_path, resume=True)
    assert [event.frame for event in events if isinstance(event, Frame)] == [18, 19, 20]
    assert np.array_equal(cached(tmp_path), whole[PREROLL:])


def test_nothing_of_the_range_bakes_alike_after_another_pre_roll():
    scene = shifted()
    (ball,) = scene.colliders
    places = np.array(ball.positions)
    places[2] += np.float32(0.01)
    assert same_beginning(scene, replace(scene, colliders=(replace(ball, positions=places),))) == 0
    longer = replace(scene, settings=replace(scene.settings, preroll=3))
    (found,) = differences(job.describe(scene), {**job.describe(scene), "settings": job.describe(longer)["settings"]})
    assert (found.text, found.frames) == ("Scene: preroll is 3, was 4", 0)


def test_a_key_that_changes_in_the_range_leaves_the_frames_before_it_good():
    scene = shifted()
    (cloth,) = scene.cloths
    density = np.array(cloth.keys["density"])
    density[PREROLL + 2 :] += 0.1
    changed = replace(scene, cloths=(replace(cloth, keys={"density": density}),))
    (found,) = differences(job.describe(scene), job.describe(changed))
    assert (found.text, found.frames) == ("Sheet: density is another from frame 17 on", 2)
    assert same_beginning(scene, changed) == 2
    density[1] += 0.1
    (found,) = differences(job.describe(scene), job.describe(changed))
    assert (found.text, found.frames) == ("Sheet: density is another from frame 12 on", 0)


def test_going_on_from_the_midst_leaves_it_out(whole, tmp_path):
    for scene, name, kept in ((moving_scene(), "long", PREROLL + 3), (shifted(), "rolled", 3)):
        run(scene, tmp_path / name)
        assert np.array_equal(cached(tmp_path / name), whole[-len(cached(tmp_path / name)) :])
        events = run(scene, tmp_path / name, keep=kept)
        assert not any(isinstance(event, Prerolled) for event in events)
    assert np.array_equal(cached(tmp_path / "rolled"), cached(tmp_path / "long")[PREROLL:])


def test_a_cloth_that_crosses_a_body_is_told_of_at_its_begin_and_at_its_end(tmp_path):
    scene = small_scene(PREROLL + 2)
    (cloth,) = scene.cloths
    crossing = of_range(replace(scene, cloths=(replace(cloth, positions=cloth.positions - [0, 0, 0.1]),)), 15)
    warned = [event["text"] for event in map(to_json, run(crossing, tmp_path)) if event["event"] == "warning"]
    assert "intersects Ball at the start" in warned[0]
    assert warned[-1].endswith("still cross at frame 15. Give it more frames")


def test_what_crossed_and_comes_apart_in_it_is_told_so_and_the_range_is_free(tmp_path):
    scene = small_scene(PREROLL + 2)
    (ball,) = scene.colliders
    away = np.repeat(ball.positions, PREROLL + 2, axis=0) + np.float32([0.0, 0.0, 0.02])
    away[1:] -= np.float32([0.0, 0.0, 1.0])  # it is pulled out below
    scene = of_range(replace(scene, colliders=(replace(ball, positions=away),)), 15)
    warned = [event["text"] for event in map(to_json, run(scene, tmp_path)) if event["event"] == "warning"]
    assert "intersects Ball at the start" in warned[0]
    assert "What crossed at the start of the pre-roll has come apart before frame 15" in warned
    first = json_lines.read(tmp_path / "cache" / "frames.jsonl")[0]
    assert first["tangled"] == 0


def test_the_worker_tells_how_far_it_is_and_what_is_left(tmp_path):
    job.save(shifted(), tmp_path / "job")
    process = BakeProcess(tmp_path / "job", tmp_path / "cache")
    left = []
    for event in process.follow(0.001):
        if isinstance(event, Prerolled):
            left.append(process.eta)
    assert process.state == "done", process.error
    assert all(seconds is not None and seconds > 0 for seconds in left)
    assert "pre-roll 4 of 4: " in (tmp_path / "cache" / "bake.log").read_text(encoding="utf-8")
    assert "after 4 of pre-roll" in (tmp_path / "cache" / "bake.log").read_text(encoding="utf-8")


def test_a_scene_without_one_has_the_digest_that_it_had():
    content = job.describe(full_scene())
    older = {**content, "settings": {name: value for name, value in content["settings"].items() if name != "preroll"}}
    assert job.digest_of(content) == job.digest_of(older)
    rolled = {**content, "settings": {**content["settings"], "preroll": 1}}
    assert job.digest_of(content) != job.digest_of(rolled)
    assert differences(older, content) == []


def test_a_negative_one_and_arrays_of_the_range_alone_are_refused():
    with pytest.raises(SceneError, match="the pre-roll has -1 frames"):
        Settings(preroll=-1).validate()
    with pytest.raises(SceneError, match="has more than 1048574 frames"):
        Settings(frame_end=10, preroll=1048574).validate()
    scene = small_scene(FRAMES)
    with pytest.raises(SceneError, match="cover 6 frames, the range has 9"):
        replace(scene, settings=replace(scene.settings, preroll=3)).validate()

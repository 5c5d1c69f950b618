# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificate of a frame, and the check beside the bake that it rests on."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.bake.bake import bake
from taffeta.gpu_core.bake.certificate import Certificate, certificate, read, summary
from taffeta.gpu_core.bake.events import to_json
from taffeta.gpu_core.bake.frame_checker import FrameChecker, check
from taffeta.gpu_core.check.scene_check import SceneCheck
from taffeta.gpu_core.files import json_lines, point_cache
from taffeta.gpu_core.files.cache import verify
from taffeta.gpu_core.files.cache_writer import CacheWriter
from taffeta.gpu_core.files.job import save
from taffeta.tests.gpu_core.small_scene import small_scene
from taffeta.tests.gpu_core.test_simulator import squeezed_scene

FRAMES = 4


def never() -> bool:
    return False


@pytest.fixture
def baked(tmp_path):
    """(scene, job folder, cache folder, events) of a bake with its checks."""
    scene, events = small_scene(FRAMES), []
    save(scene, tmp_path / "job")
    bake(tmp_path / "job", tmp_path / "cache", on_event=lambda event: events.append(to_json(event)), cancelled=never)
    return scene, tmp_path / "job", tmp_path / "cache", events


def test_a_bake_certifies_every_frame(baked):
    _, _, cache, events = baked
    told = [event for event in events if event["event"] == "certificate"]
    assert [event["frame"] for event in told] == [11, 12, 13, 14]
    assert events[-1] == {"event": "done"}
    certificates = read(cache)
    assert [(entry.frame, entry.intersections, entry.clean) for entry in certificates] == [
        (frame, 0, True) for frame in (11, 12, 13, 14)
    ]
    assert certificates[-1].steps == 8
    assert summary(certificates) == "none of 4 frames intersects"
    verify(cache)


def test_a_frame_that_intersects_is_found_in_the_cache_itself(baked):
    """Not in the solver's memory: here the file is changed behind its back."""
    scene, _, cache, _ = baked
    path = cache / "sheet.pc2"
    frames = np.array(point_cache.read_frames(path))
    frames[2, 44] -= np.float32([0, 0, 1.0])  # a vertex in the middle, drawn through the ball
    path.write_bytes(path.read_bytes()[:32] + frames.tobytes())
    found = check(SceneCheck(scene), cache, 13)
    assert found["intersections"] > 0
    assert any("Ball" in text for text in found["findings"])
    assert check(SceneCheck(scene), cache, 12)["intersections"] == 0


def test_frames_that_were_not_checked_are_checked_when_the_bake_is_resumed(baked, tmp_path):
    _, job, _, _ = baked
    cache = tmp_path / "unchecked"
    bake(job, cache, check=False, on_event=lambda event: None, cancelled=never)
    assert [entry.intersections for entry in read(cache)] == [None] * FRAMES
    assert not read(cache)[0].clean
    assert "4 are unchecked" in summary(read(cache))
    bake(job, cache, resume=True, on_event=lambda event: None, cancelled=never)
    assert [entry.intersections for entry in read(cache)] == [0] * FRAMES


def test_a_checker_that_dies_leaves_frames_unchecked_and_ends_nothing(baked, tmp_path):
    scene, job, _, _ = baked
    cache = tmp_path / "cache of the dead"
    writer = CacheWriter(cache, scene, "cpu")
    writer.begin()
    checker = FrameChecker(job, cache, 11)
    checker._process.kill()
    checker._process.wait()
    checker.submit_until(11)
    assert list(checker.answers(wait=5.0)) == []
    assert checker.open == 0
    checker.close()
    assert json_lines.read(cache / "certificates.jsonl") == []


def test_a_release_is_in_the_certificate_by_name(tmp_path):
    save(squeezed_scene(), tmp_path / "job")
    bake(tmp_path / "job", tmp_path / "cache", check=False, on_event=lambda event: None, cancelled=never)
    released = [entry for entry in read(tmp_path / "cache") if entry.released]
    assert released
    assert any("Upper" in name for entry in released for name in entry.released)
    assert not any(entry.clean for entry in released)
    assert any("no room between" in text for text in released[0].troubles)


def test_the_first_frame_says_how_far_the_start_stretches_its_cloth(tmp_path):
    """Untangling may draw edges to several times their length: it was certified as 1.000."""
    scene = small_scene(2)
    cloth = replace(scene.cloths[0], rest_positions=scene.cloths[0].rest_positions / 2)
    save(replace(scene, cloths=(cloth,)), tmp_path / "job")
    bake(tmp_path / "job", tmp_path / "cache", check=False, on_event=lambda event: None, cancelled=never)
    assert read(tmp_path / "cache")[0].largest_stretch == pytest.approx(2.0, rel=0.05)


def test_what_is_not_clean_is_said_most_serious_first():
    entry = Certificate(
        7,
        2,
        steps=8,
        unfinished_steps=3,
        strained_steps=1,
        heated_steps=2,
        released=("Arm and Sleeve",),
        faults=("Sleeve and itself, in 1 place",),
    )
    assert entry.troubles == [
        "2 intersections",
        "fault: Sleeve and itself, in 1 place",
        "no room between Arm and Sleeve",
        "3 of 8 steps not solved to the tolerance",
        "cloth beyond its strain limit after 1 of 8 steps",
        "free cloth gained energy in 2 of 8 steps",
    ]
    assert not replace(entry, intersections=0).clean
    assert Certificate(7, 0).clean
    assert not Certificate(7).clean  # nobody has looked
    assert summary([entry, Certificate(8, 0)]) == (
        "1 of 2 frames intersect, 1 with released pairs, 1 with faults, 1 with unfinished steps, "
        "1 with cloth beyond its strain limit, 1 with energy from nowhere"
    )


def test_a_certificate_is_made_of_the_report_and_the_check(baked):
    _, _, cache, _ = baked
    report = json.loads((cache / "frames.jsonl").read_text().splitlines()[-1])
    entry = certificate(report, {"frame": 14, "intersections": 0})
    assert (entry.frame, entry.steps, entry.largest_stretch) == (14, 8, report["largest_stretch"])

# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that passes through itself where cloth is near is told before the bake, and no other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taffeta.gpu_core.bake.bake import bake
from taffeta.gpu_core.bake.events import Warn
from taffeta.gpu_core.check.folding import folding
from taffeta.gpu_core.files import handover, job
from taffeta.gpu_core.scene.scene import Collider
from taffeta.tests.gpu_core.small_scene import ball, small_scene

FRAMES = 5


def of_two_halves(gap: np.ndarray, height: float = 0.0) -> Collider:
    """Two balls of one mesh that come together: gap (F,) m between their middles."""
    points, triangles = ball(0.1)
    left = np.repeat((points - [1.0, 0.0, -height])[None], len(gap), axis=0)
    both = np.concatenate([left, left + gap[:, None, None] * [1.0, 0.0, 0.0]], axis=1)
    return Collider("Limbs", np.concatenate([triangles, triangles + len(points)]), both.astype(np.float32))


def scene_with(body: Collider):
    scene = small_scene(FRAMES)
    cloth = replace(scene.cloths[0], positions=scene.cloths[0].positions - [1.0, 0.0, 0.0])
    return replace(scene, cloths=(cloth,), colliders=(body,)).validate()


CLOSING = np.array([0.5, 0.4, 0.3, 0.15, 0.1])


def test_the_worst_frame_is_named_with_the_others_and_a_mend():
    (text,) = folding(scene_with(of_two_halves(CLOSING)))
    assert text.startswith("Limbs: it passes through itself at frame 15, in ")
    assert "and at frame 14. " in text
    assert "Make Cage" in text


@pytest.mark.parametrize(
    "body",
    [
        of_two_halves(np.array([0.5, 0.4, 0.3, 0.3, 0.25])),
        of_two_halves(np.full(1, 0.15)),
        of_two_halves(CLOSING, height=3.0),
    ],
    ids=["apart", "still", "far from cloth"],
)
def test_nothing_is_said_of_others(body):
    assert list(folding(scene_with(body))) == []


def collapsed(share: float) -> Collider:
    """A finely meshed sheet that bends, but for a share of its vertices that are a point in the middle frames: 5000
    triangles there have twelve million pairs."""
    side = np.linspace(-0.1, 0.1, 51)
    points = np.stack([*(axis.ravel() for axis in np.meshgrid(side, side)), np.zeros(51 * 51)], axis=1) - [
        1.0,
        0.0,
        0.1,
    ]
    frames = np.repeat(points[None], FRAMES, axis=0)
    frames[:, :, 2] += np.linspace(0.0, 0.05, FRAMES)[:, None] * np.abs(points[:, 0] + 1.0) / 0.1
    frames[1:4, : round(share * len(points))] = [-1.0, 0.0, -0.1]
    corner = (np.arange(50)[:, None] * 51 + np.arange(50)).ravel()
    triangles = np.concatenate([corner[:, None] + [0, 1, 52], corner[:, None] + [0, 52, 51]]).astype(np.int32)
    return Collider("Rig", triangles, frames.astype(np.float32))


@pytest.mark.parametrize("share", [1.0, 0.9])
def test_what_a_rig_hides_by_a_scale_of_zero_passes_through_nothing_and_holds_nothing_up(share):
    """It had not ended after ten minutes."""
    assert list(folding(scene_with(collapsed(share)))) == []


def test_a_bake_says_so_once_before_its_first_frame(tmp_path):
    folder, events = tmp_path / "cache", []
    asked = handover.incoming(folder)
    job.save(scene_with(of_two_halves(CLOSING)), asked)
    bake(asked, folder, on_event=events.append, cancelled=lambda: False)
    (place,) = [k for k, event in enumerate(events) if isinstance(event, Warn) and "through itself" in event.text]
    assert place < next(k for k, event in enumerate(events) if type(event).__name__ == "Frame")

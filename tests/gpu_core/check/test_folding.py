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


def test_a_bake_says_so_once_before_its_first_frame(tmp_path):
    folder, events = tmp_path / "cache", []
    asked = handover.incoming(folder)
    job.save(scene_with(of_two_halves(CLOSING)), asked)
    bake(asked, folder, on_event=events.append, cancelled=lambda: False)
    (place,) = [k for k, event in enumerate(events) if isinstance(event, Warn) and "through itself" in event.text]
    assert place < next(k for k, event in enumerate(events) if type(event).__name__ == "Frame")

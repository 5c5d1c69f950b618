# SPDX-License-Identifier: GPL-3.0-or-later
"""A strain limit of 5 % holds (no edge beyond 1.06 in the drape, twist and hang scenes)."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.benchmarks.stress.motions import moved
from taffeta.benchmarks.stress.scenes import SCENES
from taffeta.benchmarks.stress.shapes import cylinder, lathe, sheet, sphere
from taffeta.benchmarks.stress.stress import cloth, collider, held, limited, scene
from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.intersection import intersections
from taffeta.gpu_core.scene.scene import Material
from taffeta.gpu_core.simulator import Simulator


def drape():
    """A square that falls on a ball."""
    return scene([cloth("Cloth", sheet(900, 0.8).shifted(0, 0, 0.3))], [collider("Ball", sphere(0.25, 24))], 24)


def hang():
    """A square held by two corners of one side: it swings down and comes taut with a jerk."""
    square = sheet(400, 0.8)
    x, y = square.positions[:, 0], square.positions[:, 1]
    pins = held(square, (np.abs(x) > 0.399) & (y > 0.399))
    return scene([cloth("Cloth", square, pins=pins)], [], 48)


def twist():
    """Eight turns, with length to spare."""
    return SCENES["slack_twist"].build(300, SCENES["slack_twist"].frames)


@pytest.mark.parametrize("build", [drape, hang, twist])
def test_no_edge_is_longer_than_1_06_with_a_limit_of_5_percent(build):
    made = limited(build(), 0.05)
    simulator = Simulator(made, select("cpu"))
    stretch = [simulator.advance_frame().largest_stretch for _ in range(1, made.settings.frames)]
    assert max(stretch) <= 1.06
    assert max(stretch) > 1.03, "nothing pulled at the limit"


def test_wringing_to_the_limit_is_solved_to_its_end():
    """With one stiffness for all limits a few triangles at the pins took so much of the pull that half of all steps
    found no end, and the state that such a step then took was strained elsewhere."""
    made = limited(SCENES["twist"].build(400, SCENES["twist"].frames), 0.05)
    simulator = Simulator(made, select("cpu"))
    reports = [simulator.advance_frame() for _ in range(1, made.settings.frames)]
    assert max(report.largest_stretch for report in reports) <= 1.06
    assert sum(report.unfinished_steps for report in reports) <= 0.05 * sum(report.steps for report in reports)


def test_cloth_that_cannot_keep_its_limit_makes_room_for_the_collider():
    """A ball lifts a sheet that is held at four corners: no state within the limit is left. Limits that stayed hard let
    the ball pass through."""
    square = sheet(256, 0.5)
    corners = held(square, (np.abs(square.positions[:, :2]) > 0.249).all(axis=1))
    ball = sphere(0.1, 12)
    lift = moved(ball.positions, x=np.full(14, 0.02), y=np.full(14, 0.01), z=-0.2 + 0.02 * np.arange(14))
    simulator = Simulator(
        scene([cloth("Sheet", square, pins=corners)], [collider("Ball", ball, lift)], 14), select("cpu")
    )
    reports = [simulator.advance_frame() for _ in range(13)]
    assert reports[-1].largest_stretch > 1.08, "the ball asks for more than the limit"
    assert sum(report.late_steps for report in reports) == 0


def test_a_step_that_stretches_cloth_beyond_its_limit_says_so():
    """Pins that part by a fifth of the length leave no choice."""
    strip = sheet(60, 0.4, 0.1)
    x = strip.positions[:, 0]
    ends = np.abs(x) > 0.199
    path = np.repeat(strip.positions[None], 3, axis=0)
    path[1:, :, 0] *= 1.2
    made = scene([cloth("Strip", strip, pins=held(strip, ends, path), material=Material(strain_limit=0.05))], [], 3)
    report = Simulator(made, select("cpu")).advance_frame()
    assert report.strained_steps > 0
    assert report.unfinished_steps == 0, "where it ends is known: the iterations have settled"


def test_a_band_that_a_body_stretches_beyond_its_limit_is_solved_and_not_late():
    """Tight clothes: a body grows by a fifth, cloth on it may stretch by 5 %. Each step took all full CCDs that it may
    have, eight times as many as now, for a stretch that none of them could take away."""
    band = lathe([[0.152, z] for z in np.linspace(-0.1, 0.1, 8)], 32)
    body = cylinder(0.15, 0.5, 48)
    grown = 1.0 + 0.2 * np.clip((np.arange(14) - 2) / 8.0, 0.0, 1.0)
    path = body.positions[None] * np.stack([grown, grown, np.ones(14)], axis=1)[:, None]
    made = limited(scene([cloth("Band", band)], [collider("Body", body, path)], 14), 0.05)
    simulator = Simulator(made, select("cpu"))
    reports = [simulator.advance_frame() for _ in range(13)]
    last = reports[-1]
    assert last.strained_steps == last.steps, "it is said"
    assert 1.17 < last.largest_stretch < 1.21
    assert sum(report.unfinished_steps + report.late_steps for report in reports) == 0
    assert max(report.iterations / report.steps for report in reports) < 12
    places = np.concatenate([*simulator.positions(), path[-1].astype(np.float32)]).astype(float)
    triangles = np.concatenate([band.triangles, body.triangles + len(band.positions)])
    assert not len(intersections(places, triangles, collider_start=len(band.positions)))

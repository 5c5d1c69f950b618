"""A strain limit of 5 % holds (issue: no edge beyond 1.06 in the drape, twist and hang scenes)."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.benchmarks.stress.scenes import SCENES
from taffeta.benchmarks.stress.shapes import sheet, sphere
from taffeta.benchmarks.stress.stress import body, cloth, held, limited, scene
from taffeta.gpu_core.backend import select
from taffeta.gpu_core.scene import Material
from taffeta.gpu_core.simulator import Simulator


def drape():
    """A square that falls on a ball."""
    return scene([cloth("Cloth", sheet(900, 0.8).shifted(0, 0, 0.3))], [body("Ball", sphere(0.25, 24))], 24)


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
    assert report.unfinished_steps >= report.strained_steps

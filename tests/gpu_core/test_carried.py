# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that a body takes along: a character walks, a train speeds up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from taffeta.benchmarks.stress.motions import moved
from taffeta.benchmarks.stress.shapes import cylinder, lathe
from taffeta.benchmarks.stress.stress import cloth, collider, scene
from taffeta.gpu_core.backend import select
from taffeta.gpu_core.check.intersection import intersections
from taffeta.gpu_core.scene.fabrics import named
from taffeta.gpu_core.simulator import Simulator

FRAMES = 16


def test_a_body_does_not_wait_for_tight_cloth_that_goes_with_it():
    """Up to 1.8 m in half a second, 15 mm a step. The first motion of a step is that of inertia, in which cloth of 5 %
    too little width closes in on the body by a fraction of a millimetre: its front half stopped the body, contact was
    set up with the cloth ahead of it, and steps took 25 iterations and five full CCDs where six and two will do."""
    band = lathe([[0.1515, z] for z in np.linspace(-0.1, 0.1, 12)], 56)
    body = cylinder(0.15, 0.5, 48)
    share = np.arange(FRAMES) / (FRAMES - 1)
    path = moved(body.positions, x=1.2 * share**2 * (3.0 - 2.0 * share))
    worn = cloth("Band", band, material=named("wool").material)
    worn = replace(worn, rest_positions=worn.rest_positions * [0.95, 0.95, 1.0])
    simulator = Simulator(scene([worn], [collider("Body", body, path)], FRAMES), select("cpu"))
    reports = [simulator.advance_frame() for _ in range(FRAMES - 1)]
    assert max(report.iterations / report.steps for report in reports) < 8
    assert max(report.largest_stretch for report in reports) < 1.06
    assert sum(report.unfinished_steps + report.late_steps for report in reports) == 0
    places = np.concatenate([*simulator.positions(), path[-1].astype(np.float32)]).astype(float)
    triangles = np.concatenate([band.triangles, body.triangles + len(band.positions)])
    assert not len(intersections(places, triangles, collider_start=len(band.positions)))

# SPDX-License-Identifier: GPL-3.0-or-later
"""What crosses for long although nothing is late is untangled, once, and only if nothing crosses then."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.bake.certificate import Certificate
from taffeta.gpu_core.check.intersection import intersections
from taffeta.gpu_core.closed_in import in_a_fold
from taffeta.gpu_core.contact.tangles import tangles
from taffeta.gpu_core.relief import WAIT, Patience
from taffeta.gpu_core.scene.scene import Cloth, Collider, Material, Scene, Settings
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.small_scene import ball, sheet

cpu = select("cpu")


def over(crossing, late=False, patience=None):
    patience = patience or Patience()
    return [patience.over(count, late) for count in crossing]


def test_it_waits_for_as_long_as_anything_else_helps():
    assert not any(over([0.85**k * 1e6 for k in range(40)]))
    assert not any(over([7] * 40, late=True))
    assert not any(over([0] * 40))


def test_a_second_attempt_comes_after_twice_as_long():
    assert np.flatnonzero(over([7] * 50)).tolist() == [WAIT, 3 * WAIT]


def test_its_state_goes_on():
    one, other = Patience(), Patience()
    over([7] * 9, patience=one)
    other.resume(one.state)
    assert over([7] * 30, patience=one) == over([7] * 30, patience=other)


def through_itself(policy, patience):
    """A simulator of a weightless sheet, one side of which has come to go through the rest of it."""
    points, triangles = sheet(12, 0.5)
    cloth = Cloth("Sheet", triangles, points, points, Material())
    settings = Settings(frame_end=60, gravity=(0.0, 0.0, 0.0), start=policy)
    simulator = Simulator(Scene((cloth,), (), settings), cpu)
    state = simulator.state()
    state["x"][:, :3] = simulator.space.local(rolled(points))
    state["patience"] = np.array(patience)
    simulator.restore(state)
    simulator.crossings.renew(simulator._state.x)
    return simulator


def rolled(points):
    """Turned over along one side, and down through what lies below."""
    along = np.maximum(points[:, 0] - 0.2, 0.0)
    angle = np.radians(250.0) * np.clip(along / 0.15, 0.0, 1.0)
    radius = 0.15 / np.radians(250.0)
    rest = np.maximum(along - 0.15, 0.0)
    ahead = np.minimum(points[:, 0], 0.2) + radius * np.sin(angle) + rest * np.cos(angle)
    return np.column_stack([ahead, points[:, 1], radius * (1.0 - np.cos(angle)) + rest * np.sin(angle)])


def crossings(simulator):
    (places,) = simulator.positions()
    return len(intersections(places, simulator.scene.cloths[0].triangles))


def test_cloth_that_stays_in_itself_is_untangled():
    simulator = through_itself("resolve", [1, WAIT - 1, WAIT])
    assert crossings(simulator)
    report = simulator.advance_frame()
    assert (report.untangled, report.tangled, report.faults) == (["Sheet and itself"], 0, [])
    assert not crossings(simulator)
    after = [simulator.advance_frame() for _ in range(4)]
    assert not any(report.untangled or report.tangled or report.faults for report in after)
    assert not crossings(simulator)


@pytest.mark.parametrize(("policy", "patience"), [("tolerate", [1, WAIT - 1, WAIT]), ("resolve", [1, 0, WAIT])])
def test_what_is_to_be_left_alone_or_has_time_is(policy, patience):
    simulator = through_itself(policy, patience)
    report = simulator.advance_frame()
    assert report.tangled
    assert not report.untangled


@pytest.mark.parametrize(("at", "apart", "folded"), [(0.0, 0.14, True), (0.15, 0.14, False), (0.0, 0.22, False)])
def test_cloth_in_a_fold_waits_until_that_opens(at, apart, folded):
    """A small sheet that pierces two balls, or one of them, where these meet and elsewhere."""
    points, triangles = sheet(4, 0.06)
    points = points + [at - points[:, 0].mean(), -points[:, 1].mean(), 0.02]
    cloth = Cloth("Sheet", triangles, points, points, Material())
    round_, faces = ball(0.1)
    bodies = [
        Collider(name, faces, (round_ + [side * apart / 2.0, 0.0, 0.0])[None].astype(np.float32))
        for name, side in (("Left", -1.0), ("Right", 1.0))
    ]
    simulator = Simulator(Scene((cloth,), tuple(bodies), Settings(start="tolerate")), cpu)
    x = np.asarray(simulator.state()["x"][:, :3], np.float64)
    found = tangles(x, simulator.space.surface)
    assert in_a_fold(x, simulator.space.surface, found) is folded


def test_the_frame_says_so():
    assert (
        "brought apart by untangling: Sheet and itself" in Certificate(3, 0, untangled=("Sheet and itself",)).troubles
    )

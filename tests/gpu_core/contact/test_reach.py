# SPDX-License-Identifier: GPL-3.0-or-later
"""The pairs of a motion hold all that come within reach in it, whatever was found before and is kept."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.gpu_core.backend import select
from taffeta.gpu_core.contact.pairs import AHEAD, Proximity
from taffeta.gpu_core.elasticity.assembly import vectors
from taffeta.gpu_core.scene.mesh import unique_edges
from taffeta.tests.gpu_core.contact.hard_meshes import all_collide, between, brute_force, meshes
from taffeta.tests.gpu_core.contact.hard_pairs import distance

cpu = select("cpu")


class Crumple:
    """A crumpled sheet and a ball, all pairs of which come within 4 cm where the thickness is 2 cm."""

    def __init__(self) -> None:
        x0, surface, *_ = meshes()["crumpled"]
        self.x0, self.thickness = np.float32(x0), np.full(len(x0), 0.02)
        apart = vectors(np.random.default_rng(1).normal(size=x0.shape) * 1e3)  # at rest none is near another
        own = surface.object, all_collide(surface)
        self.proximity = Proximity(cpu, surface, x0, cpu.array(apart), self.thickness, 0.0, 0.1, *own)
        every = brute_force(surface, np.float64(x0), np.float64(x0), 1e9)
        edges = unique_edges(surface.triangles)
        self.every = list(every)
        self.corners = np.array([[*edges[~a], *edges[b]] if a < 0 else [a, *surface.triangles[b]] for a, b in every])
        self.kinds = np.array([a < 0 for a, _ in every])

    def lacking(self, found, states):
        """How many pairs that come within reach in one of the states (V, 3) were not found."""
        near = np.zeros(len(self.every), bool)
        for x in states:
            near |= distance(np.float64(x)[self.corners], self.kinds) <= 0.04
        wanted = {pair for pair, hit in zip(self.every, near, strict=True) if hit}
        assert len(wanted) > 200
        return len(wanted - {tuple(pair) for pair in found.feature.tolist()})


def test_pairs_hold_all_that_come_within_reach_at_one_pace():
    scene, rng = Crumple(), np.random.default_rng(3)
    x1 = np.float32(scene.x0 + rng.normal(size=scene.x0.shape) * 0.02 + [0, 0, 0.3])
    found = scene.proximity.pairs(vectors(scene.x0), vectors(x1))
    assert scene.lacking(found, [between(scene.x0, x1, time) for time in np.linspace(0, 1, 11)]) == 0


def test_pairs_hold_all_that_come_within_reach_of_what_waits():
    """Some vertices, then more, take any part of their ways while the others take all of it."""
    scene, rng = Crumple(), np.random.default_rng(3)
    x1 = np.float32(scene.x0 + rng.normal(size=scene.x0.shape) * 0.02 + [0, 0, 0.3])
    found, waits = scene.proximity.pairs(vectors(scene.x0), vectors(x1)), np.zeros(len(x1), bool)
    for share in (0.1, 0.5):
        waits = waits | (rng.random(len(x1)) < share)
        found = scene.proximity.released(waits)
        fractions = [np.where(waits[:, None], rng.random((len(x1), 1)), 1.0) for _ in range(20)]
        states = [between(scene.x0, x1, f * time) for f in fractions for time in (0.25, 0.5, 0.75, 1.0)]
        assert scene.lacking(found, states) == 0


def test_pairs_hold_all_that_come_within_reach_in_the_motions_after():
    """Small ones are not detected anew; each begins where the last has ended, or some vertices have waited."""
    scene, rng = Crumple(), np.random.default_rng(3)
    x, proximity = scene.x0, scene.proximity
    x1 = np.float32(x + rng.normal(size=x.shape) * 0.02 + [0, 0, 0.3])
    for size in (0.002, 0.004, 0.002, 0.01, 0.002):
        proximity.pairs(vectors(x), vectors(x1))
        waits = rng.random(len(x)) < 0.05
        found = proximity.released(waits)
        fraction = np.where(waits[:, None], rng.random((len(x), 1)), 1.0)
        assert scene.lacking(found, [between(x, x1, fraction * time) for time in np.linspace(0, 1, 11)]) == 0
        x = np.float32(between(x, x1, fraction))
        x1 = np.float32(x + rng.normal(size=x.shape) * size * (rng.random((len(x), 1)) < 0.3))
    assert proximity.detections < 5


@pytest.mark.parametrize("lies", [False, True], ids=["falls", "lies"])
def test_pairs_hold_all_that_come_within_reach_in_the_steps_after(lies):
    """What moves as it did is not looked for anew: it falls, or lies still though each step would let it fall; some of
    it is thrown, corrected, or waits."""
    scene, rng = Crumple(), np.random.default_rng(3)
    x, proximity, fall = scene.x0, scene.proximity, np.array([0.0, 0.0, -0.002])
    speed = np.zeros(x.shape) if lies else rng.normal(size=x.shape) * 0.001 + [0.02, 0, 0]
    steps = 3 * AHEAD
    for _ in range(steps):
        speed = np.where(rng.random((len(x), 1)) < 0.02, rng.normal(size=x.shape) * 0.03, speed)
        proximity.begin_step()
        z = np.float32(x + speed + fall)
        found = proximity.pairs(vectors(x), vectors(z))
        assert scene.lacking(found, [between(x, z, time) for time in np.linspace(0, 1, 11)]) == 0
        waits = rng.random(len(x)) < 0.03
        found = proximity.released(waits)
        fraction = np.where(waits[:, None], rng.random((len(x), 1)), 1.0)
        assert scene.lacking(found, [between(x, z, fraction * time) for time in np.linspace(0, 1, 11)]) == 0
        start, now = x, np.float32(between(x, z, fraction))
        for size in (1e-3, 1e-4):
            end = np.float32((start + speed if lies else now) + rng.normal(size=x.shape) * size)
            found = proximity.pairs(vectors(now), vectors(end))
            assert scene.lacking(found, [between(now, end, time) for time in np.linspace(0, 1, 11)]) == 0
            now = end
        x = now
    assert proximity.detections < 0.6 * steps

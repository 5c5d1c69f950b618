# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines in which surfaces cross grow shorter along their gradients."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.gpu_core.contact.line_gradients import LineGradients
from taffeta.gpu_core.contact.outlines import outlines
from taffeta.gpu_core.contact.patches import Surface
from taffeta.gpu_core.contact.tangles import tangles
from taffeta.tests.gpu_core.small_scene import sheet


def crossing(seed: int):
    """A wrinkled sheet through a triangle, far from the triangle's sides: all crossings are of the sheet's edges."""
    rng = np.random.default_rng(seed)
    small, faces = sheet(5, 0.4)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    small = (small - [0.2, 0.2, 0.0]) @ turn + rng.normal(size=small.shape) * 0.01
    large = np.array([[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]])
    triangles = np.concatenate([faces, [np.arange(3) + len(small)]]).astype(np.int32)
    owner = np.repeat([0, 1], [len(small), 3]).astype(np.int32)
    return np.concatenate([small, large]), Surface(len(owner), triangles, len(triangles), owner)


def length(places, surface):
    lines = outlines(places, surface, tangles(places, surface))
    return np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1).sum()


@pytest.mark.parametrize("seed", range(6))
def test_a_gradient_is_how_fast_the_line_gets_shorter_along_it(seed):
    places, surface = crossing(seed)
    found, step, gradients = tangles(places, surface), 1e-6, LineGradients(surface)
    assert len(found.corners) > 4
    total = gradients(places, found).sum(axis=0)
    own = (surface.object == 0)[:, None]
    for way in np.eye(3):
        ends = [length(places + own * t * way, surface) for t in (-step, step)]
        assert (ends[1] - ends[0]) / (2.0 * step) == pytest.approx(-total @ way, rel=1e-4, abs=1e-6)
    ways = gradients.of_vertices(places, found)
    moved = places + np.where(own, 1e-3 * ways / np.abs(ways).max(), 0.0)
    assert length(moved, surface) < length(places, surface)
    assert ways[:25].sum(axis=0) == pytest.approx(2.0 * total)  # both ends of an edge
    assert ways[25:].sum(axis=0) == pytest.approx(-3.0 * total)  # three corners of a triangle


def test_a_cord_through_a_sheet_has_no_line():
    places, faces = sheet(5, 1.0)
    places = np.concatenate([places, [[0.6, 0.55, -0.1], [0.6, 0.55, 0.1]]])
    cords = np.array([[25, 26]], np.int32)
    surface = Surface(27, faces, len(faces), np.zeros(27, np.int32), cords)
    found = tangles(places, surface)
    assert len(found.corners) == 1
    assert (LineGradients(surface).of_vertices(places, found) == 0.0).all()

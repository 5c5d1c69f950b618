# SPDX-License-Identifier: GPL-3.0-or-later
"""What crosses is shown where it is: the objects, their vertices, the lines."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.benchmarks.starts.scenes import scene_of, standing, worn
from taffeta.benchmarks.stress.shapes import grid
from taffeta.gpu_core.scene.scene import Scene, Settings
from taffeta.gpu_core.tangled_places import at_start


def wall_through_sheet():
    sheet = grid(np.linspace(-0.2, 0.2, 21), np.linspace(-0.2, 0.2, 21))
    wall = grid(np.linspace(-0.1, 0.1, 12), np.linspace(-0.1, 0.1, 12)).turned((1, 0, 0), 90.0).shifted(0.003, 0.007, 0)
    return Scene((worn("Sheet", sheet),), (standing("Wall", wall),), Settings(frame_end=2))


def test_the_lines_are_as_long_as_the_surfaces_cross():
    found = at_start(wall_through_sheet())
    length = np.linalg.norm(found.lines[:, 1] - found.lines[:, 0], axis=1).sum()
    assert length == pytest.approx(0.2, rel=0.02)
    assert np.abs(found.lines[..., 1] - 0.007).max() < 1e-6
    assert np.abs(found.lines[..., 2]).max() < 1e-6


def test_a_place_names_both_objects_and_the_vertices_that_cross():
    (place,) = at_start(wall_through_sheet()).places
    assert str(place) == f"Sheet and Wall: {place.crossings}"
    points = grid(np.linspace(-0.2, 0.2, 21), np.linspace(-0.2, 0.2, 21)).positions
    near = points[place.vertices["Sheet"]]
    assert (np.abs(near[:, 1] - 0.007) < 0.021).all()
    assert len(near) > 15
    assert place.vertices["Wall"]
    assert np.abs(place.middle).max() < 0.03
    assert 0.2 < place.size < 0.3


def test_a_cloth_that_crosses_itself_is_one_place_and_a_welded_seam_is_none():
    (place,) = at_start(scene_of("self-tangled", 0)).places
    assert str(place).startswith("Sheet and itself: ")
    assert at_start(scene_of("unwelded seam", 0)).places == []

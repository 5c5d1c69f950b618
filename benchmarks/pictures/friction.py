# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb's law seen: what stays and what slides, what stands and what falls (docs/theory/physics.md)."""

from __future__ import annotations

import numpy as np

from ..physics.friction import cards, slope
from ..physics.result import DEFAULT
from ..physics.shapes import grid, square, turned
from ..stress.shapes import Mesh, tube
from .part import Part, Picture, beside

FRICTION = 0.3
SHARES = (0.9, 0.98, 1.02, 1.1)  #: tan θ over μ
SECONDS = 1.25
FALLING = 5  #: frame, at 24 a second
START, END, HALF_WIDTH = -0.63, -0.12, 0.13  #: m, of the wedge that is shown of the slope, in the slope's frame


def incline(vertices: int) -> list[Part]:
    """Four slopes, two below the friction angle and two above, at the same time. The sheets have 81 vertices each."""
    parts: list[Part] = []
    for row, share in enumerate(SHARES):
        tangent = share * FRICTION
        motion = slope(FRICTION, tangent, "two triangles", DEFAULT, SECONDS)
        points, triangles = square(9, 0.2)
        angle = np.arctan(tangent)
        way = np.linalg.norm((motion.positions[-1] - motion.positions[0]).mean(axis=0))
        print(f"incline: tan θ = {share} μ, after {SECONDS} s {1e3 * way:.2f} mm from its start", flush=True)
        sheet = Part(f"Sheet {row}", motion.positions[-1], triangles, "cloth", row, points)
        low = np.array([END, 0.0, 0.0]) @ turned(angle, np.eye(3))
        parts += [
            part.shifted(-low[0], -row * (2 * HALF_WIDTH + 0.03), -low[2])
            for part in (sheet, _wedge(row, angle), _start_line(row, angle))
        ]
    return parts


def _wedge(row: int, angle: float) -> Part:
    """The slope's upper side as it is in the scene, and below it what a picture needs to hold it up."""
    top = np.array([[x, y, -2.0e-4] for x in (START, END) for y in (-HALF_WIDTH, HALF_WIDTH)])
    upper = turned(angle, top)
    lower = upper * [1.0, 1.0, 0.0] + [0.0, 0.0, upper[:, 2].min() - 0.02]
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    halves = [half for a, b, c, d in faces for half in ((a, b, c), (a, c, d))]
    return Part(f"Wedge {row}", np.concatenate([upper, lower]), np.array(halves, np.int32))


def _start_line(row: int, angle: float) -> Part:
    """Where the lower edge of the sheet began."""
    ends = turned(angle, np.array([[-0.4, side * HALF_WIDTH, 0.0] for side in (-1.0, 0.0, 1.0)]))
    line: Mesh = tube(ends, 1.5e-3)
    return Part(f"Start {row}", line.positions, line.triangles, "line")


def card_house(vertices: int) -> list[Part]:
    """Two cards with μ 0.5 and two with μ 0.05, at the same frame of the fall. 63 vertices a card."""
    houses = []
    for friction in (0.5, 0.05):
        motion = cards(friction, DEFAULT)
        points, triangles = grid(9, 7, 0.1, 0.07)
        halves = np.split(motion.positions[FALLING], 2)
        for frame in (FALLING, -1):
            height = motion.positions[frame][:, 2].max()
            print(f"card house: μ {friction}, frame {frame}: highest vertex at {1e3 * height:.1f} mm", flush=True)
        houses.append([Part(f"Card {k}, {friction}", at, triangles, "cloth", k, points) for k, at in enumerate(halves)])
    return beside(houses[0], houses[1], gap=0.05)


PICTURES = (
    Picture(incline, 324, -40.0, 22.0),
    Picture(card_house, 252, -70.0, 20.0, film=(960, 400)),
)

# SPDX-License-Identifier: GPL-3.0-or-later
"""An ascot: a tie that lies loosely knotted around a neck is pulled tight by both ends, and let go."""

from __future__ import annotations

from functools import partial
from math import pi, radians, sqrt, tau

import bpy
import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d

from .actors import add_garment, add_hand, hold, let_go, move
from .character import add_body
from .human import human
from .look import DYES, fabric
from .puppet import add_skeleton
from .studio import light_and_film

Array = npt.NDArray[np.float64]
FRAMES = 120
WIDTH = 0.045  #: m
#: Its middle line from the shorter end to the longer, m. That crosses over the shorter, goes behind it, up through the
#: loop around the neck, and hangs down before all.
LINE = (
    (0.030, -0.205, 1.02), (0.020, -0.210, 1.14), (0.020, -0.205, 1.25), (0.058, -0.160, 1.34), (0.084, -0.095, 1.405),
    (0.095, -0.030, 1.450), (0.062, 0.042, 1.472), (0.0, 0.064, 1.478), (-0.062, 0.042, 1.472), (-0.095, -0.030, 1.450),
    (-0.084, -0.095, 1.405), (-0.058, -0.165, 1.345), (0.0, -0.245, 1.265), (0.045, -0.270, 1.220),
    (0.075, -0.235, 1.210), (0.045, -0.170, 1.235), (0.008, -0.148, 1.285), (0.0, -0.148, 1.345),
    (0.0, -0.180, 1.390), (0.0, -0.235, 1.385), (0.0, -0.275, 1.330), (0.0, -0.290, 1.20), (0.0, -0.280, 0.96),
)  # fmt: skip
HELD = 0.03  #: m around the middle of each end
PULLED = (4, 52)  #: frames between which both are pulled
#: By name, the place of each in the line, and the way it is pulled, m.
PULLS = {"Shorter": (0, (0.02, 0.0, -0.27)), "Longer": (-1, (0.0, -0.56, 0.28))}
GRAVITY = ((1, 0.0), (52, 0.0), (58, -9.81))  #: frame, m/s²: a loose knot would slide down
LET_GO = 62
SMOOTH = 2.0  #: places along the line, over which the direction across it is evened
TURNS = 72  #: directions across the line that are compared
TWIST = 0.05  #: how bad a twist of 1 rad/m is beside a curve of 1/m in the cloth's own plane, squared


def build(vertices: int) -> None:
    """Fill the empty session: the tie has `vertices` or so. Raises NotFetchedError."""
    person = human()
    light_and_film((0.0, -0.1, 1.30), 1.9, FRAMES, azimuth=radians(-72.0), elevation=radians(6.0), film=(720, 720))
    add_body(person, add_skeleton(person))
    line, across = ribbon(np.array(LINE), 120)
    length = np.linalg.norm(np.diff(line, axis=0), axis=1).sum()
    columns = max(3, round(sqrt(vertices * WIDTH / length)))
    rows = round(vertices / columns)
    chosen = np.linspace(0, len(line) - 1, rows)
    middle, side = (
        np.column_stack([np.interp(chosen, np.arange(len(line)), part) for part in each.T]) for each in (line, across)
    )
    aside = np.linspace(-0.5 * WIDTH, 0.5 * WIDTH, columns)
    places = (middle[:, None] + aside[:, None] * side[:, None]).reshape(-1, 3)
    first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    faces = np.column_stack([first, first + 1, first + columns + 1, first + columns])
    along = np.linspace(0.0, length, rows)
    flat = np.stack(np.meshgrid(along, aside, indexing="ij"), axis=-1).reshape(-1, 2)
    tie = add_garment("Tie", places, faces, fabric(*DYES[1]), flat=flat)
    cloth = tie.taffeta.cloth
    cloth.preset, cloth.pattern_map, cloth.pattern_scale = "SATIN", "UVMap", 1.0
    for name, (end, way) in PULLS.items():
        start = np.array(LINE[end])
        hand = add_hand(name, tuple(start))
        move(hand, zip(PULLED, (tuple(start), tuple(start + way)), strict=True))
        let_go(hold(tie, name, partial(_near, start), hand), LET_GO)
    scene = bpy.context.scene
    for frame, gravity in GRAVITY:
        scene.gravity[2] = gravity
        scene.keyframe_insert("gravity", index=2, frame=frame)


def _near(place: Array, *vertex: float) -> bool:
    return bool(np.linalg.norm(place - vertex) < HELD)


def ribbon(points: Array, count: int) -> tuple[Array, Array]:
    """((count, 3) places along a line through the points, m, (count, 3) unit vectors across it).

    A flat strip bends about the direction across it, twists a little, and hardly curves in its own plane. Among all
    choices of that direction along the line this is the best one, by dynamic programming.
    """
    chord = np.insert(np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)), 0, 0.0)
    smooth = CubicSpline(chord, points)
    fine = smooth(np.linspace(0.0, chord[-1], 20 * count))
    way = np.insert(np.cumsum(np.linalg.norm(np.diff(fine, axis=0), axis=1)), 0, 0.0)
    line = smooth(np.interp(np.linspace(0.0, way[-1], count), way, np.linspace(0.0, chord[-1], 20 * count)))
    step = way[-1] / (count - 1)
    tangent = np.gradient(line, step, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    bend = np.gradient(tangent, step, axis=0)
    first = [np.cross(tangent[0], [0.0, 1.0, 0.0])]
    for along in tangent[1:]:  # carried along without a twist
        first.append(first[-1] - (first[-1] @ along) * along)
        first[-1] /= np.linalg.norm(first[-1])
    frame = np.stack([np.array(first), np.cross(tangent, first)], axis=1)
    angle = np.arange(TURNS) * tau / TURNS
    sideways = np.einsum("nki,ni->nk", frame, bend) @ np.array([np.cos(angle), np.sin(angle)])
    apart = (angle[:, None] - angle + pi) % tau - pi
    turning = TWIST * (apart / step) ** 2
    cost, came = sideways[0] ** 2, []
    for own in sideways[1:]:
        through = cost[:, None] + turning
        came.append(through.argmin(axis=0))
        cost = through.min(axis=0) + own**2
    best = [int(cost.argmin())]
    for back in came[::-1]:
        best.append(int(back[best[-1]]))
    turn = gaussian_filter1d(np.unwrap(angle[best[::-1]]), SMOOTH)
    return line, np.cos(turn)[:, None] * frame[:, 0] + np.sin(turn)[:, None] * frame[:, 1]

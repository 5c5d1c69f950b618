# SPDX-License-Identifier: GPL-3.0-or-later
"""Trousers of denim: four flat panels are sewn around two legs, with a pocket on each half of the back."""

from __future__ import annotations

from math import radians

import bpy
import numpy as np
import numpy.typing as npt

from .actors import add_figure, add_garment
from .look import denim
from .panels import Panel, cut, distance
from .pose import lift_knee
from .studio import light_and_film

FRAMES = 96
BEHIND = radians(55.0)  #: where the camera stands
AWAY = 0.16  #: m from the body's middle to each panel
CLOSED = 1.5  #: s
GAP = 0.003  #: m from the middle to the crotch
STANCE = 0.08  #: m by which each foot stands farther out
#: The right half of the front, m: waist, side, hem, inner leg, crotch, and up the middle. The back is cut alike.
OUTLINE = (
    (0.030, 1.01), (0.200, 1.01), (0.272, 0.84), (0.300, 0.70), (0.310, 0.13), (0.085, 0.13), (GAP, 0.655),
    (0.036, 0.75),
)  # fmt: skip
SIDES, MIDDLE = (1, 2, 3, 5), (6, 7)  #: sides of it, from the waist on, that are sewn front to back; right to left
POCKET = ((0.080, 0.92), (0.080, 0.81), (0.140, 0.785), (0.200, 0.81), (0.200, 0.92))  #: open between first and last
SLIP = 0.1  #: friction of the figure, so that the cloth gives where a joint bends
GIVES = 0.1  #: largest stretch: denim with elastane
PUFF = 0.006  #: m, how far a pocket stands off at first
SHOWN = 0.5  #: of the UV map by a metre, U down the leg
AREA = 1.02  #: m² of all panels, or so
GRAVITY = ((1, 0.0), (36, 0.0), (42, -9.81))  #: frame, m/s²
STEP = ((48, 0.0), (72, 1.0))  #: frame, share of the lifted knee


def build(vertices: int) -> None:
    """Fill the empty session: the panels have `vertices` or so."""
    light_and_film((0.0, 0.0, 0.57), 2.5, FRAMES, azimuth=BEHIND, film=(720, 900))
    figure = add_figure("Body", STANCE)
    figure.taffeta.collider.friction = SLIP
    lift_knee(figure, STEP)
    panel = cut(OUTLINE, POCKET, np.sqrt(AREA / (np.sqrt(0.75) * vertices)))
    pieces = (Piece(panel, 1.0, -1.0), Piece(panel, -1.0, -1.0), Piece(panel, 1.0, 1.0), Piece(panel, -1.0, 1.0))
    first = np.cumsum([0, *(len(piece.places) for piece in pieces)])
    jeans = add_garment(
        "Jeans",
        np.concatenate([piece.places for piece in pieces]),
        np.concatenate([piece.faces + at for piece, at in zip(pieces, first, strict=False)]),
        denim(),
        edges=threads(panel, first),
        flat=np.concatenate([piece.places[:, [2, 0]] * SHOWN + number for number, piece in enumerate(pieces)]),
    )
    stitches = jeans.data.attributes.new("Seam", "FLOAT", "CORNER")
    stitches.data.foreach_set("value", np.concatenate([piece.seam for piece in pieces]).astype(np.float32))
    cloth = jeans.taffeta.cloth
    cloth.preset, cloth.sewing, cloth.sewing_time, cloth.seam_stiffness = "DENIM", True, CLOSED, 4.0
    cloth.strain_limit = GIVES
    scene = bpy.context.scene
    for frame, gravity in GRAVITY:
        scene.gravity[2] = gravity
        scene.keyframe_insert("gravity", index=2, frame=frame)


class Piece:
    """One of the four: at the right (side 1) or left (−1), of the front (depth −1) or, with a pocket, the back (1)."""

    def __init__(self, panel: Panel, side: float, depth: float) -> None:
        points, faces = panel.points, panel.triangles
        self.seam = distance(points, np.array(OUTLINE))[faces].ravel()  #: (3T,) of each corner from a stitched line, m
        out = np.full(len(points), depth * AWAY)
        if depth > 0.0:
            again, pocket = panel.pocket()
            points = np.concatenate([points, points[again]])
            out = np.concatenate([out, np.full(len(again), AWAY + PUFF)])
            faces = np.concatenate([faces, pocket])
            self.seam = np.concatenate([self.seam, distance(points[pocket].reshape(-1, 2), panel.patch)])
        if side * depth > 0.0:  # seen from outside
            faces = faces[:, ::-1]
            self.seam = self.seam.reshape(-1, 3)[:, ::-1].ravel()
        self.places = np.column_stack([side * points[:, 0], out, points[:, 1]])
        self.faces = faces


def threads(panel: Panel, first: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """(S, 2) edges without a face: each front to its back, and right to left. first: (4,) vertices of the pieces."""
    sides, middle = panel.on(SIDES), panel.on(MIDDLE)
    joined = ((sides, 0, 2), (sides, 1, 3), (middle, 0, 1), (middle, 2, 3))
    return np.concatenate([np.column_stack([on + first[a], on + first[b]]) for on, a, b in joined])

# SPDX-License-Identifier: GPL-3.0-or-later
"""How a model walks: one foot before the other, the arms loose, the hips swinging."""

from __future__ import annotations

from math import cos, radians, sin

import bpy

from .puppet import ELBOW, Pose, X, Y, Z, key, mirrored

STRIDE = 0.60  #: m a step
STEP = 13  #: frames a step, 0.54 s
IN = 6.5  #: degrees by which each leg is closer to the other than it is modelled

ARM = {"LeftArm": [(Y, 12.0)], "LeftForeArm": [(ELBOW, 8.0)]}
LEG = {"LeftUpLeg": [(Y, IN)], "LeftFoot": [(Y, -IN)]}
STANDING: Pose = {**ARM, **LEG, **mirrored(ARM), **mirrored(LEG)}

#: The left leg before, the right arm too.
STRIDING: Pose = {
    **STANDING,
    "LeftUpLeg": [(X, -24.0), (Y, IN)], "LeftLeg": [(X, 5.0)], "LeftFoot": [(X, 12.0), (Y, -IN)],
    "RightUpLeg": [(X, 19.0), (Y, -IN)], "RightLeg": [(X, 24.0)], "RightFoot": [(X, -8.0), (Y, IN)],
    "LeftArm": [(Y, 12.0), (X, 18.0)], "RightArm": [(Y, -12.0), (X, -20.0)],
    "Spine": [(Z, 6.0)], "Hips": [(Z, -5.0)],
}  # fmt: skip
#: On the left leg, the right one lifted.
PASSING: Pose = {
    **STANDING,
    "RightUpLeg": [(X, -20.0), (Y, -IN)], "RightLeg": [(X, 46.0)], "RightFoot": [(X, 4.0), (Y, IN)],
    "Hips": [(Y, -3.0)], "LowerBack": [(Y, 3.0)],
}  # fmt: skip


def walk(
    skeleton: bpy.types.Object, frame: int, steps: int, place: tuple[float, float], turn: float = 0.0
) -> tuple[int, tuple[float, float]]:
    """Key so many steps, standing at first and last; turn: degrees, at 0 towards −y. Returns frame and place then."""
    forwards = (sin(radians(turn)), -cos(radians(turn)))

    def gone(share: float) -> tuple[float, float]:
        return place[0] + share * STRIDE * forwards[0], place[1] + share * STRIDE * forwards[1]

    key(skeleton, frame, STANDING, place, turn)
    for step in range(steps):
        side = mirrored if step % 2 else dict
        key(skeleton, frame + STEP * step + STEP // 2, side(STRIDING), gone(step + 0.5), turn)
        last = step + 1 == steps
        key(skeleton, frame + STEP * (step + 1), STANDING if last else side(PASSING), gone(step + 1.0), turn)
    return frame + STEP * steps, gone(steps)

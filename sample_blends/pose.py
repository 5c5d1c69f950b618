# SPDX-License-Identifier: GPL-3.0-or-later
"""A figure that lifts a knee: its mesh as it is, with a shape key."""

from __future__ import annotations

from collections.abc import Sequence
from math import radians

import bpy
import numpy as np
import numpy.typing as npt

HIP, KNEE = 0.86, 0.48  #: m, heights of the joints' axes
HIP_REACH, KNEE_REACH = (0.80, 0.92), (0.42, 0.54)  #: m, heights between which the flesh bends
ACROSS = (-0.01, 0.035)  #: m from the middle within which a leg takes hold of the trunk
LIFT, BEND = radians(20.0), radians(28.0)  #: of the thigh forwards, and of the lower leg back


def lift_knee(figure: bpy.types.Object, keys: Sequence[tuple[int, float]]) -> None:
    """Lift the leg at x > 0 of a figure that looks along −y. keys: frame, share."""
    bpy.context.view_layer.update()
    mesh = bpy.data.meshes.new_from_object(figure.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    figure.modifiers.clear()
    figure.data = mesh
    places = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", places.ravel())
    figure.shape_key_add(name="Standing")
    lifted = figure.shape_key_add(name="Knee")
    lifted.data.foreach_set("co", with_knee(places.astype(np.float64)).astype(np.float32).ravel())
    for frame, share in keys:
        lifted.value = share
        lifted.keyframe_insert("value", frame=frame)


def with_knee(places: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(N, 3) of the standing figure's places (N, 3), m: the lower leg bent first, then all of the leg lifted."""
    x, _, z = places.T
    leg = smooth(x, *ACROSS)
    bent = turned(places, KNEE, -BEND * leg * smooth(z, *KNEE_REACH[::-1]))
    return turned(bent, HIP, LIFT * leg * smooth(z, *HIP_REACH[::-1]))


def turned(places: npt.NDArray[np.float64], height: float, angle: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(N, 3) places turned about the axis along x at this height, below forwards; angle: (N,) rad."""
    x, y, z = places.T
    below = height - z
    return np.column_stack(
        [x, y * np.cos(angle) - below * np.sin(angle), height - below * np.cos(angle) - y * np.sin(angle)]
    )


def smooth(value: npt.NDArray[np.float64], start: float, end: float) -> npt.NDArray[np.float64]:
    """0 at `start`, 1 at `end`."""
    share = np.clip((value - start) / (end - start), 0.0, 1.0)
    return np.asarray(share**2 * (3.0 - 2.0 * share))

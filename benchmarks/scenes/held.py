# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds a cloth, for solvers that know no more than vertices which are held hard until they are let go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...gpu_core.scene.arrays import Array, IntArray
from ...gpu_core.scene.keyed import pins_at
from ...gpu_core.scene.pins import together, weights_of
from ...gpu_core.scene.scene import Cloth
from ...gpu_core.scene.settings import Settings

HARD = 0.5  #: of a pin's weight: what is held more is held hard


class CannotError(RuntimeError):
    """A method cannot be had, or cannot do this scene; the text says why."""


class Held(NamedTuple):
    """Of one cloth."""

    vertices: IntArray  #: (P,)
    targets: Array  #: (F, P, 3) world, m; after they were let go, the last
    frames: int  #: of the range, in which they are held


def held(cloth: Cloth, settings: Settings) -> Held:
    """Raises CannotError where vertices are let go one after another, or taken again."""
    vertices, samples = np.zeros(0, np.int32), settings.samples_per_frame
    places: list[Array] = []
    for index in range(settings.frames):
        when = float(settings.preroll + index)
        pins = pins_at(cloth, when, samples)
        if pins is None:
            continue
        now = together([pins], when, samples)
        hard = weights_of(now) >= HARD
        if not hard.any():
            continue
        if index == 0:
            vertices = now.vertices[hard]
        if len(places) < index or not np.array_equal(vertices, now.vertices[hard]):
            raise CannotError(f"vertices of {cloth.name} are held at some times only, which is not put to it here")
        places.append(now.targets[0][hard])
    count = len(places)
    places += [places[-1] if places else np.zeros((0, 3))] * (settings.frames - count)
    return Held(vertices, np.stack(places), count)

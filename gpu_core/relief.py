# SPDX-License-Identifier: GPL-3.0-or-later
"""What crosses for long although everything has arrived is untangled, as a tangled start is (`untangle.py`).

Springs draw cloth out of bodies while these move, a little a frame, and what has room comes apart so. Some does not: an
edge may be longer than what pierces it is thick, or a fold has closed around what should come out. That is not drawn
any longer, and would cross for ever. To untangle is to jump, so it waits until nothing else has helped for half a
second, and it counts only if nothing crosses after it: a fold that is still closed is left alone. Where bodies pass
through themselves there, it is not even tried, for it takes the time of many frames and has never come off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .scene import keyed
from .scene.arrays import Array
from .scene.scene import Scene
from .untangle import resolved

WAIT = 12  #: frames without a gain, until the first attempt; twice as many after each that has failed
GAIN = 0.9  #: share of what crossed at the last gain, that it must come below to be one


class Patience:
    """Counts the frames in which something crosses, everything has arrived, and it does not get less."""

    def __init__(self) -> None:
        self._least, self._idle, self._wait = 0, 0, WAIT

    def over(self, crossing: int, late: bool) -> bool:
        """Whether to untangle at the end of this frame. crossing: pairs; late: something had no room to arrive."""
        if not crossing:
            self._least, self._idle, self._wait = 0, 0, WAIT
        elif late or not self._least or crossing < GAIN * self._least:
            self._least, self._idle, self._wait = crossing, 0, WAIT
        else:
            self._idle += 1
        if self._idle < self._wait:
            return False
        self._idle, self._wait = 0, 2 * self._wait
        return True

    @property
    def state(self) -> npt.NDArray[np.int64]:
        """(3,) what a bake goes on with."""
        return np.array([self._least, self._idle, self._wait])

    def resume(self, state: npt.ArrayLike) -> None:
        self._least, self._idle, self._wait = map(int, np.asarray(state))


def relieved(scene: Scene, frame: int, places: Sequence[Array], bodies: Sequence[Array]) -> list[Array]:
    """(N, 3) of each cloth without what can be untangled, world, m.

    places: (N, 3) of each cloth now; bodies: (M, 3) of each collider.
    """
    now = keyed.at(scene, frame)
    settings = replace(now.settings, frame_start=frame, frame_end=frame, preroll=0, samples_per_frame=1)
    cloths = zip(now.cloths, places, strict=True)
    colliders = zip(now.colliders, bodies, strict=True)
    now = replace(
        now,
        settings=settings,
        cloths=tuple(replace(cloth, positions=own) for cloth, own in cloths),
        colliders=tuple(replace(body, positions=own[None]) for body, own in colliders),
    )
    return [cloth.positions for cloth in resolved(now)[0].cloths]

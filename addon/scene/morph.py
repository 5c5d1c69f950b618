# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices on their way from the rest pose to the pose of the first frame: straight, each eased in and out."""

from __future__ import annotations

from collections.abc import Callable

from ...gpu_core.files.frame_spool import Frames, FrameSeries

#: Begins a series that takes a frame at a time: of the file's name, or of none; and so many samples a frame.
Begin = Callable[..., "FrameSeries | Morph"]


class Morph:
    """A series whose first frame is the rest pose, and then so many are between it and what comes."""

    def __init__(self, series: FrameSeries, frames: int) -> None:
        """frames: after which the pose is reached."""
        self._series, self._frames, self._taken = series, frames, 0

    def append(self, frame: Callable[[], Frames], size: int) -> None:
        """As of `FrameSeries`."""
        share = eased(min(self._taken / self._frames, 1.0))
        self._taken += 1
        if share == 0.0:
            self._rest = rest = frame()
            self._series.append(lambda: rest, size)
        elif share < 1.0:
            self._series.append(lambda: between(self._rest, frame(), share), size)
        else:
            self._series.append(frame, size)

    def finish(self) -> Frames:
        return self._series.finish()


def eased(share: float) -> float:
    """Of the way, when this share of the time has passed: slow at both ends."""
    return share * share * (3.0 - 2.0 * share)


def between(first: Frames, last: Frames, share: float) -> Frames:
    """Exactly what does not differ, in the type that both have."""
    return (first + share * (last - first)).astype(first.dtype)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames before the range: simulated like any other, with the same guarantee, and not stored.

The state after each is saved as that after no frame, so a bake that is stopped among them goes on there too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .events import BakeEvent, Prerolled, Warn
from .frame_report import warnings, with_memory

if TYPE_CHECKING:
    from ..report import FrameReport
    from ..simulator import Simulator

SUMMED = {"seconds": float, "steps": int, "unfinished_steps": int, "strained_steps": int, "late_steps": int}
SUMS = "preroll_sums"  #: beside the simulator's own state, in the order of SUMMED

State = Mapping[str, npt.NDArray[Any]]


def first_frame(
    simulator: Simulator,
    advance: Callable[[], FrameReport],
    save: Callable[[State], None],
    state: State,
    on_event: Callable[[BakeEvent], None],
) -> dict[str, Any]:
    """Bring the simulator to the first frame of the range; what frames.jsonl has of that one.

    Where there is a pre-roll, `preroll` has its number of frames, and sums over them.

    Args:
        advance: takes the simulator on by a frame.
        save: puts a state into the cache folder.
        state: what was saved there and is gone on from; nothing at the start.
    """
    settings, crossing = simulator.scene.settings, simulator.crossings.count
    if not settings.preroll:
        return {"frame": settings.frame_start, "seconds": 0.0, "largest_stretch": simulator.longest()}
    sums = np.array(state.get(SUMS, np.zeros(len(SUMMED))))
    while simulator.frame < settings.frame_start:
        report = advance()
        sums += [getattr(report, name) for name in SUMMED]
        if simulator.frame < settings.frame_start:  # the next state is that after the first frame
            save({**simulator.state(), SUMS: sums})
        on_event(Prerolled(with_memory(report), simulator.frame - settings.begins, settings.preroll))
        for text in warnings(report):
            on_event(Warn(text))
    if crossing:
        on_event(Warn(_after(simulator.crossings.count, settings.frame_start)))
    named = {name: kind(value) for (name, kind), value in zip(SUMMED.items(), sums, strict=True)}
    return {**with_memory(report), "preroll": {"frames": settings.preroll, **named}}


def _after(crossing: int, frame: int) -> str:
    if crossing:
        return f"{crossing} pairs that the pre-roll began with still cross at frame {frame}. Give it more frames"
    return f"What crossed at the start of the pre-roll has come apart before frame {frame}"

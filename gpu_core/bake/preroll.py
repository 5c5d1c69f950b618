# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames before the range: simulated like any other, with the same guarantee, and not stored.

A bake that is stopped among them begins anew: there is no frame yet to go on from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .events import BakeEvent, Prerolled, Warn
from .frame_report import warnings, with_memory

if TYPE_CHECKING:
    from ..simulator import FrameReport, Simulator

SUMMED = ("seconds", "steps", "unfinished_steps", "strained_steps", "late_steps")


def first_frame(
    simulator: Simulator, advance: Callable[[], FrameReport], on_event: Callable[[BakeEvent], None]
) -> dict[str, Any]:
    """Bring the simulator to the first frame of the range; what frames.jsonl has of that one.

    advance: the simulator by a frame. Where there was a pre-roll, `preroll` has its number of frames, and sums over
    them.
    """
    settings = simulator.scene.settings
    reports: list[FrameReport] = []
    crossing = simulator.crossings.count
    while simulator.frame < settings.frame_start:
        report = advance()
        reports.append(report)
        on_event(Prerolled(with_memory(report), len(reports), settings.preroll))
        for text in warnings(report):
            on_event(Warn(text))
    if not reports:
        return {"frame": settings.frame_start, "seconds": 0.0}
    if crossing:
        on_event(Warn(_after(simulator.crossings.count, settings.frame_start)))
    sums = {name: sum(getattr(report, name) for report in reports) for name in SUMMED}
    return {**with_memory(reports[-1]), "preroll": {"frames": len(reports), **sums}}


def _after(crossing: int, frame: int) -> str:
    if crossing:
        return f"{crossing} pairs that the pre-roll began with still cross at frame {frame}. Give it more frames"
    return f"What crossed at the start of the pre-roll has come apart before frame {frame}"

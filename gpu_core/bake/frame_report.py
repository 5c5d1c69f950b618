# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake says of a frame that the simulator has done."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .certificate import who_met
from .memory import peak_memory

if TYPE_CHECKING:
    from ..report import FrameReport


def report_values(report: FrameReport) -> dict[str, Any]:
    """The report as JSON values; JSON knows no infinity (the gap where nothing is near)."""
    values = asdict(report)
    return {key: None if isinstance(x, float) and not math.isfinite(x) else x for key, x in values.items()}


def with_memory(report: FrameReport) -> dict[str, Any]:
    """`report_values`, and the process's peak memory."""
    return {**report_values(report), "memory": peak_memory()}


def warnings(report: FrameReport) -> Iterator[str]:
    """What of it the user should know, in words."""
    if report.released:
        text = f"Frame {report.frame}: no room was left between {who_met(report.released)}"
        yield f"{text}. There the cloth may be crossed until they part, or is on their other side now"
    if report.begun:
        text = f"Frame {report.frame}: {', '.join(report.begun)} crossed when they began to collide"
        yield f"{text}. These pairs are left alone until they separate"
    if report.faults:
        text = f"Frame {report.frame}: {'; '.join(report.faults)} cross although nothing was released there"
        yield f"{text}. This is a fault of Taffeta: please report the scene"

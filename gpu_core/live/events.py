# SPDX-License-Identifier: GPL-3.0-or-later
"""What the worker of Live says, as types; on the way between the processes each is one JSON line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..bake.events import Failed, event_of, line_of


@dataclass(frozen=True)
class Ready:
    """It stands where the job begins."""

    backend: str
    device: str
    warnings: list[str]
    turn: int  #: of the files that it has written


@dataclass(frozen=True)
class Advanced:
    """One frame on."""

    report: Mapping[str, Any]  #: what the solver says of it (`FrameReport`), without the frame's number
    turn: int


@dataclass(frozen=True)
class Ended:
    """The process is gone; no line, but what its parent sees."""

    text: str


Said = Ready | Advanced | Failed
LiveEvent = Said | Ended

NAMES: Mapping[type[Said], str] = {Ready: "ready", Advanced: "frame", Failed: "error"}


def to_json(event: Said) -> dict[str, Any]:
    """The event as its line has it."""
    return line_of(event, NAMES[type(event)])


def from_json(line: Mapping[str, Any]) -> Said:
    """The event of a line. Raises EventError."""
    said: Said = event_of(line, NAMES)
    return said

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake's worker says, as types; on the way between the processes each is one JSON line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..messages import code_of


class EventError(ValueError):
    """A line that is no event of this version; the text says what is wrong with it."""


@dataclass(frozen=True)
class Start:
    """The scene is read, and the device chosen."""

    frames: int
    backend: str
    device: str


@dataclass(frozen=True)
class Warn:
    """Something that the user should know; the bake goes on."""

    text: str
    code: str = ""  #: of the message (`messages`); found by the text where it is left out

    def __post_init__(self) -> None:
        vars(self)["code"] = self.code or code_of(self.text)  # it is frozen


@dataclass(frozen=True)
class Frame:
    """A frame has landed in the cache."""

    report: Mapping[str, Any]  #: frame, seconds, and what else the solver says of it (`FrameReport`)
    done: int  #: frames in the cache
    frames: int  #: of the whole range

    @property
    def frame(self) -> int:
        return int(self.report["frame"])

    @property
    def seconds(self) -> float:
        return float(self.report["seconds"])


@dataclass(frozen=True)
class Prerolled:
    """A frame before the range has been simulated. It is not stored."""

    report: Mapping[str, Any]  #: as of `Frame`
    done: int  #: frames of the pre-roll
    frames: int  #: that it has

    @property
    def frame(self) -> int:
        return int(self.report["frame"])

    @property
    def seconds(self) -> float:
        return float(self.report["seconds"])


@dataclass(frozen=True)
class Working:
    """A frame takes long; so far it has come to this step."""

    frame: int
    step: int
    steps: int  #: of the frame; those that had to be halved count once


@dataclass(frozen=True)
class Checked:
    """A frame was looked through for intersections."""

    report: Mapping[str, Any]  #: frame, intersections, findings (`frame_checker.check`)

    @property
    def frame(self) -> int:
        return int(self.report["frame"])


@dataclass(frozen=True)
class Done:
    """Every frame is in the cache."""


@dataclass(frozen=True)
class Cancelled:
    """Somebody asked for it; the frames so far are kept."""


@dataclass(frozen=True)
class Failed:
    """It cannot go on."""

    kind: str  #: nothing (to do), scene, backend, solver, disk, busy, stale, damaged, crash
    text: str
    object: str = ""  #: the one to blame, where one is
    code: str = ""  #: as of `Warn`

    def __post_init__(self) -> None:
        vars(self)["code"] = self.code or code_of(self.text) or OF_KIND.get(self.kind, "")


#: Codes of failures that have no words of their own.
OF_KIND = {"solver": "TAF-B005", "crash": "TAF-B004"}

BakeEvent = Start | Warn | Prerolled | Frame | Working | Checked | Done | Cancelled | Failed

NAMES: Mapping[type[BakeEvent], str] = {
    Start: "start",
    Warn: "warning",
    Prerolled: "preroll",
    Frame: "frame",
    Working: "working",
    Checked: "certificate",
    Done: "done",
    Cancelled: "cancelled",
    Failed: "error",
}


def to_json(event: BakeEvent) -> dict[str, Any]:
    """The event as its line has it."""
    return line_of(event, NAMES[type(event)])


def from_json(line: Mapping[str, Any]) -> BakeEvent:
    """The event of a line. Raises EventError."""
    return event_of(line, NAMES)


def line_of(event: Any, name: str) -> dict[str, Any]:
    """An event's fields behind its name; what it reports lies among them, not in a field of its own."""
    values = {field.name: getattr(event, field.name) for field in fields(event)}
    return {"event": name, **values.pop("report", {}), **values}


def event_of(line: Mapping[str, Any], names: Mapping[type[Any], str]) -> Any:
    """The event of a line, of one of the classes that `names` names. Raises EventError."""
    kind = next((kind for kind, name in names.items() if name == line.get("event")), None)
    if kind is None:
        raise EventError(f"{line.get('event')!r} is no event that this version knows")
    own = {field.name: field for field in fields(kind)}
    values = {name: value for name, value in line.items() if name in own}
    others = {name: value for name, value in line.items() if name not in own and name != "event"}
    if "report" in own:
        values["report"], others = others, {}
    try:
        event = kind(**values, **others)
    except TypeError as error:
        raise EventError(f"the event {line['event']!r} has other fields: {error}") from error
    for name, field in own.items():
        wanted = {"int": int, "str": str}.get(str(field.type))
        if wanted is not None and not isinstance(getattr(event, name), wanted):
            raise EventError(f"the event {line['event']!r} has a {name} of another type: {getattr(event, name)!r}")
    return event

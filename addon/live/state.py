# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of Live as a value, and the pure function that moves it: (state, event) → (state, effects).

No bpy, no I/O: `session.Live` sends the events and carries the effects out. Events are the worker's and how it ended
(`gpu_core.live.events`), and those of this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from ...gpu_core.bake.events import Failed
from ...gpu_core.live.events import Advanced, Ended, LiveEvent, Ready

Point = tuple[float, float, float]


class Phase(Enum):
    IDLE = "idle"
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    ENDED = "ended"
    FAILED = "failed"


class Effect(Enum):
    """What is to be done in the world."""

    BEGIN = "read the scene and let the worker start over with it"
    ADVANCE = "let the worker compute the next frame"
    FOLLOW = "let the timeline go to the frame that is there"
    STAY = "take the current frame for the one that is there"
    SHOW = "let the cloth look as the worker says"
    HIDE = "let the cloth look as without Live"
    GRAB = "let the worker take hold of the cloth"
    RELEASE = "let it let go"
    KILL_WORKER = "end the worker"


ACTIVE = frozenset({Phase.STARTING, Phase.RUNNING, Phase.PAUSED})

Effects = tuple[Effect, ...]


@dataclass(frozen=True)
class Grab:
    """The mouse takes hold of a cloth."""

    cloth: str  #: key
    point: Point  #: world, m


@dataclass(frozen=True)
class Drag:
    """The mouse has moved on."""

    point: Point  #: world, m


class Occurrence(Enum):
    """What happens in Blender, to a button or to the mouse."""

    DUE = "it is time for the next frame"
    RESTART = "start over, with the scene as it is"
    PAUSE = "the user"
    CONTINUE = "the user too"
    STOP = "and again"
    RELEASE = "the mouse lets go"
    UNDONE = "undo or redo was"
    SAVING = "the file is about to be saved"
    SAVED = "it is"
    BAKE_BEGINS = "a bake needs the processors"
    FILE_CLOSING = "another file is opened, or Blender quits"
    SCENE_GONE = "another scene was chosen, or what takes part was deleted"
    RENDER_BEGINS = "nobody may change the scene"
    RENDER_ENDED = "now one may"


Event = LiveEvent | Grab | Drag | Occurrence

ENDINGS = {
    Occurrence.STOP: "",
    Occurrence.FILE_CLOSING: "",
    Occurrence.BAKE_BEGINS: "A bake began",
    Occurrence.SCENE_GONE: "Another scene was chosen, or a cloth or a collider was deleted",
}


@dataclass(frozen=True)
class LiveState:
    phase: Phase = Phase.IDLE
    waiting: bool = False  #: for the worker's answer; until then nothing else may be asked
    again: bool = False  #: start over once it has come
    turn: int | None = None  #: of the files to be shown; None while there are none
    cloth: str = ""  #: key of the cloth that the mouse holds
    hand: Point | None = None  #: where the mouse holds it, world, m
    device: str = ""
    latest: Mapping[str, Any] = field(default_factory=dict)  #: what the solver reported of the last frame
    warnings: tuple[str, ...] = ()
    text: str = ""  #: why it ended, or failed
    culprit: str = ""  #: the object to blame, where one is
    rendering: bool = False  #: Blender renders, and nobody may change the scene

    @property
    def active(self) -> bool:
        """A worker lives."""
        return self.phase in ACTIVE

    @property
    def busy(self) -> bool:
        """The cloth cannot be left alone yet."""
        return self.active or self.rendering

    @property
    def headline(self) -> str:
        """One line for the panel."""
        match self.phase:
            case Phase.IDLE:
                return ""
            case Phase.STARTING:
                return "Starting the solver"
            case Phase.RUNNING:
                return "Pulling" if self.cloth else "Live"
            case Phase.PAUSED:
                return "Live is paused"
            case Phase.ENDED:
                return f"Live has ended. {self.text}".strip()
            case Phase.FAILED:
                return self.text


def transition(state: LiveState, event: Event) -> tuple[LiveState, Effects]:
    """The state after an event, and what to do then. What comes too late for its phase changes nothing."""
    match event:
        case Occurrence.RENDER_BEGINS:
            rendering = replace(state, rendering=True)
            return _end(rendering, Phase.ENDED, "A render began") if state.active else (rendering, ())
        case Occurrence.RENDER_ENDED:
            return replace(state, rendering=False), ()
    if not state.active:
        return state, ()
    match event:
        case Occurrence() if event in ENDINGS:
            return _end(state, Phase.ENDED, ENDINGS[event])
        case Ready():
            ready = replace(state, device=event.device, warnings=tuple(event.warnings), latest={})
            return _answered(replace(ready, phase=Phase.RUNNING), event.turn, (Effect.SHOW,))
        case Advanced():
            return _answered(replace(state, latest=event.report), event.turn, (Effect.FOLLOW, Effect.SHOW))
        case Failed():
            return _end(replace(state, culprit=event.object or ""), Phase.FAILED, event.text)
        case Ended():
            return _end(state, Phase.FAILED, event.text)
        case Occurrence.RESTART:
            return (replace(state, again=True), ()) if state.waiting else _begin(state)
        case Occurrence.UNDONE:
            return state, (Effect.STAY, *_shown(state))
        case Occurrence.SAVING:
            return state, (Effect.HIDE,)
        case Occurrence.SAVED:
            return state, _shown(state)
        case _:
            return _handled(state, event)


def _handled(state: LiveState, event: Event) -> tuple[LiveState, Effects]:
    """What the clock and the user's hand do to a Live that runs."""
    match event:
        case Occurrence.DUE if state.phase is Phase.RUNNING and not state.waiting:
            return replace(state, waiting=True), (Effect.ADVANCE,)
        case Occurrence.PAUSE if state.phase is Phase.RUNNING:
            return _released(replace(state, phase=Phase.PAUSED))
        case Occurrence.CONTINUE if state.phase is Phase.PAUSED:
            return replace(state, phase=Phase.RUNNING), ()
        case Grab() if state.phase is Phase.RUNNING:
            return replace(state, cloth=event.cloth, hand=event.point), (Effect.GRAB,)
        case Drag() if state.cloth:
            return replace(state, hand=event.point), ()
        case Occurrence.RELEASE:
            return _released(state)
        case _:
            return state, ()


def _begin(state: LiveState) -> tuple[LiveState, Effects]:
    fresh = replace(state, phase=Phase.STARTING, waiting=True, again=False, cloth="", hand=None)
    return fresh, (Effect.BEGIN,)


def _answered(state: LiveState, turn: int, effects: Effects) -> tuple[LiveState, Effects]:
    """The worker has written its files and waits."""
    shown = replace(state, waiting=False, turn=turn)
    if not state.again:
        return shown, effects
    begun, more = _begin(shown)
    return begun, (*effects, *more)


def _released(state: LiveState) -> tuple[LiveState, Effects]:
    return (replace(state, cloth="", hand=None), (Effect.RELEASE,)) if state.cloth else (state, ())


def _shown(state: LiveState) -> Effects:
    return () if state.turn is None else (Effect.SHOW,)


def _end(state: LiveState, phase: Phase, text: str) -> tuple[LiveState, Effects]:
    over = replace(state, phase=phase, text=text, waiting=False, again=False, cloth="", hand=None, turn=None)
    return over, (Effect.KILL_WORKER,) if state.rendering else (Effect.KILL_WORKER, Effect.HIDE)

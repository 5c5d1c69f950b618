# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a bake as a value, and the pure function that moves it: (state, event) → (state, effects).

No bpy, no I/O: `session.Bake` sends the events and carries the effects out. Events are the worker's
(`gpu_core.bake.events`) and those of this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from ...gpu_core.bake.events import BakeEvent, Cancelled, Done, Failed, Frame, Prerolled, Start, Warn, Working


class Phase(Enum):
    IDLE = "idle"
    READING = "reading"
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    CANCELLING = "cancelling"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Effect(Enum):
    """What is to be done in the world."""

    STOP_READING = "give modifiers and the current frame back"
    START_WORKER = "hand the scene that was read to a process of its own"
    PAUSE_WORKER = "let it wait after its step"
    CONTINUE_WORKER = "let it go on"
    CANCEL_WORKER = "let it stop after its step; what it wrote stays"
    KILL_WORKER = "end it at once; what it wrote stays"
    PLAY = "give each cloth the modifier that plays its frames"


ACTIVE = frozenset({Phase.READING, Phase.STARTING, Phase.RUNNING, Phase.PAUSED, Phase.CANCELLING})

Effects = tuple[Effect, ...]


@dataclass(frozen=True)
class Read:
    """The scene is being read."""

    share: float  #: of it so far, 0..1


@dataclass(frozen=True)
class Ended:
    """The worker process is gone and did not say why."""

    text: str  #: what its parent saw


class Happening(Enum):
    """What happens in Blender or to a button."""

    SCENE_READ = "the scene is read whole"
    CANCEL = "the user"
    PAUSE = "the user too"
    CONTINUE = "and again"
    FILE_CLOSING = "another file is opened, or Blender quits"
    WINDOW_CLOSING = "of several windows, the one in which the bake was started"
    SCENE_GONE = "the scene that is baked, or all its cloth, was deleted"
    UNDO_BEGINS = "undo or redo"
    UNDONE = "it is over"
    RENDER_BEGINS = "nobody may change the scene"
    RENDER_ENDED = "now one may"


Event = BakeEvent | Read | Ended | Happening


@dataclass(frozen=True)
class BakeState:
    phase: Phase = Phase.IDLE
    share: float = 0.0  #: of the phase's work, 0..1
    done: int = 0  #: frames in the cache
    frames: int = 0
    backend: str = ""
    device: str = ""
    working: str = ""  #: where a frame is that takes long, or the pre-roll
    latest: Mapping[str, Any] = field(default_factory=dict)  #: what the solver reported of the last frame
    warnings: tuple[str, ...] = ()
    kind: str = ""  #: of the failure: see `Failed`
    culprit: str = ""  #: the object to blame, where one is
    code: str = ""  #: of the failure (`gpu_core.messages`)
    text: str = ""  #: the failure, or why the bake was stopped, in words
    rendering: bool = False  #: Blender renders, and nobody may change the scene or the current frame
    owed: bool = False  #: frames wait for a render to end before they may play

    @property
    def active(self) -> bool:
        """The scene is read, or a worker lives."""
        return self.phase in ACTIVE

    @property
    def busy(self) -> bool:
        """Something is still to come."""
        return self.active or self.owed

    @property
    def headline(self) -> str:
        """One line for the panel."""
        match self.phase:
            case Phase.IDLE:
                return ""
            case Phase.READING:
                return "Waiting for the render" if self.rendering else "Reading the scene"
            case Phase.STARTING:
                return "Starting"
            case Phase.RUNNING:
                if self.working:
                    return f"{self.done} / {self.frames}, {self.working.partition(': ')[2].replace(' of ', '/')}"
                return f"{self.done} / {self.frames} frames" if self.done else "Setting up"
            case Phase.PAUSED:
                return f"Paused: {self.done} / {self.frames} frames"
            case Phase.CANCELLING:
                return "Stopping after this step"
            case Phase.DONE:
                return f"Baked {self.done} frames"
            case Phase.CANCELLED:
                return " ".join(filter(None, (f"Cancelled: {self._kept}.", self.text)))
            case Phase.FAILED:
                return self.text

    @property
    def _kept(self) -> str:
        return f"{self.done} of {self.frames} frames are in the cache" if self.frames else "nothing was baked"


def transition(state: BakeState, event: Event) -> tuple[BakeState, Effects]:
    """The state after an event, and what to do then. What comes too late for its phase changes nothing."""
    match event:
        case Happening.RENDER_BEGINS:
            return replace(state, rendering=True), ()
        case Happening.RENDER_ENDED:
            ended = replace(state, rendering=False)
            return _play(replace(ended, owed=False)) if state.owed else (ended, ())
        case Happening.FILE_CLOSING:
            return _close(state)
        case Happening.WINDOW_CLOSING if state.busy:
            return _close(replace(state, text="Its window was closed"))
    if not state.active:
        return state, ()
    return _while_reading(state, event) if state.phase is Phase.READING else _while_working(state, event)


def _close(state: BakeState) -> tuple[BakeState, Effects]:
    effect = Effect.STOP_READING if state.phase is Phase.READING else Effect.KILL_WORKER
    closed = replace(state, owed=False)
    return (replace(closed, phase=Phase.CANCELLED), (effect,)) if state.active else (closed, ())


def _while_reading(state: BakeState, event: Event) -> tuple[BakeState, Effects]:
    match event:
        case Read():
            return replace(state, share=event.share), ()
        case Happening.SCENE_READ:
            return replace(state, phase=Phase.STARTING, share=0.0), (Effect.START_WORKER,)
        case Happening.CANCEL:
            return replace(state, phase=Phase.CANCELLED), (Effect.STOP_READING,)
        case Happening.UNDO_BEGINS:  # what the readers hold is gone after it
            return _stopped_reading(state, "Undo came while the scene was read")
        case Happening.SCENE_GONE:
            return _stopped_reading(state, "The scene or its cloth was deleted while it was read")
        case Failed():
            return _fail(state, event), (Effect.STOP_READING,)
        case Warn():
            return _warned(state, event), ()
        case _:
            return state, ()


def _stopped_reading(state: BakeState, text: str) -> tuple[BakeState, Effects]:
    return replace(state, phase=Phase.CANCELLED, text=text), (Effect.STOP_READING,)


def _while_working(state: BakeState, event: Event) -> tuple[BakeState, Effects]:
    match event:
        case Happening():
            return _asked(state, event)
        case Start():
            started = replace(state, backend=event.backend, device=event.device, frames=event.frames)
            return _unless_held(started), ()
        case Prerolled():
            working = f"frame {event.frame}: pre-roll {event.done} of {event.frames}"
            share = event.done / event.frames
            return _unless_held(replace(state, share=share, working=working, latest=event.report)), ()
        case Frame():
            return _land(state, event)
        case Working():
            return replace(state, working=f"frame {event.frame}: step {event.step} of {event.steps}"), ()
        case Warn():
            return _warned(state, event), ()
        case Done():
            return _play(replace(state, phase=Phase.DONE, share=1.0))
        case Cancelled():
            return _over(replace(state, phase=Phase.CANCELLED))
        case Failed():
            return _over(_fail(state, event))
        case Ended():
            return _over(_fail(state, Failed("crash", event.text)))
        case _:
            return state, ()


def _asked(state: BakeState, event: Happening) -> tuple[BakeState, Effects]:
    """Of a worker that is at work."""
    match event:
        case Happening.PAUSE if state.phase in (Phase.STARTING, Phase.RUNNING):
            return replace(state, phase=Phase.PAUSED), (Effect.PAUSE_WORKER,)
        case Happening.CONTINUE if state.phase is Phase.PAUSED:
            return replace(state, phase=_working(state)), (Effect.CONTINUE_WORKER,)
        case Happening.CANCEL if state.phase is not Phase.CANCELLING:
            return replace(state, phase=Phase.CANCELLING), (Effect.CANCEL_WORKER,)
        case Happening.SCENE_GONE if state.phase is not Phase.CANCELLING:
            text = "The scene or its cloth was deleted"
            return replace(state, phase=Phase.CANCELLING, text=text), (Effect.CANCEL_WORKER,)
        case Happening.UNDONE if state.done:  # undo takes modifiers back that it does not know of
            return _play(state)
        case _:
            return state, ()


def _land(state: BakeState, event: Frame) -> tuple[BakeState, Effects]:
    first = state.done == 0
    share = event.done / event.frames
    landed = replace(state, done=event.done, frames=event.frames, share=share, working="", latest=event.report)
    return _play(_unless_held(landed)) if first else (_unless_held(landed), ())


def _over(state: BakeState) -> tuple[BakeState, Effects]:
    """Whatever ended the bake, the frames so far play."""
    return _play(state) if state.done else (state, ())


def _play(state: BakeState) -> tuple[BakeState, Effects]:
    return (replace(state, owed=True), ()) if state.rendering else (state, (Effect.PLAY,))


def _fail(state: BakeState, event: Failed) -> BakeState:
    return replace(
        state, phase=Phase.FAILED, kind=event.kind, text=event.text, culprit=event.object or "", code=event.code
    )


def _warned(state: BakeState, event: Warn) -> BakeState:
    return replace(state, warnings=(*state.warnings, event.text))


def _working(state: BakeState) -> Phase:
    return Phase.RUNNING if state.frames else Phase.STARTING


def _unless_held(state: BakeState) -> BakeState:
    """Running, unless the user has asked for something else meanwhile."""
    return state if state.phase in (Phase.PAUSED, Phase.CANCELLING) else replace(state, phase=_working(state))

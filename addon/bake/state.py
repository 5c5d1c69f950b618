"""The state of a bake as a value, and the pure function that moves it: (state, event) → (state, effects).

No bpy, no I/O: `session.Bake` sends the events and carries the effects out. Events are the worker's JSON lines (see
`gpu_core.bake.worker`) and these of our own:

    {"event": "read", "share": 0..1}       the scene is being read
    {"event": "scene_read"}                it is read whole
    {"event": "ended", "text": str}        the worker process is gone, with what it said last
    {"event": "cancel" | "pause" | "continue"}              the user
    {"event": "file_closing"}              another file is opened, or Blender quits
    {"event": "scene_gone"}                the scene that is baked, or all its cloth, was deleted
    {"event": "undo_begins" | "undone"}    undo and redo alike
    {"event": "render_begins" | "render_ended"}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any


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

Event = Mapping[str, Any]
Effects = tuple[Effect, ...]


@dataclass(frozen=True)
class BakeState:
    phase: Phase = Phase.IDLE
    share: float = 0.0  #: of the phase's work, 0..1
    done: int = 0  #: frames in the cache
    frames: int = 0
    backend: str = ""
    device: str = ""
    latest: Event = field(default_factory=dict)  #: what the solver reported of the last frame
    warnings: tuple[str, ...] = ()
    kind: str = ""  #: of the failure: nothing (to do), scene, backend, solver, disk, crash
    culprit: str = ""  #: the object to blame, where one is
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
                return "Starting the solver"
            case Phase.RUNNING:
                return f"{self.done} / {self.frames} frames"
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
    """The state after an event, and what to do then. Events of a newer worker, unknown here, change nothing."""
    kind = event["event"]
    match kind:
        case "render_begins":
            return replace(state, rendering=True), ()
        case "render_ended":
            ended = replace(state, rendering=False)
            return _play(replace(ended, owed=False)) if state.owed else (ended, ())
        case "file_closing":
            return _close(state)
    if not state.active:
        return state, ()
    if state.phase is Phase.READING:
        return _while_reading(state, kind, event)
    return _while_working(state, kind, event)


def _close(state: BakeState) -> tuple[BakeState, Effects]:
    effect = Effect.STOP_READING if state.phase is Phase.READING else Effect.KILL_WORKER
    closed = replace(state, owed=False)
    return (replace(closed, phase=Phase.CANCELLED), (effect,)) if state.active else (closed, ())


def _while_reading(state: BakeState, kind: str, event: Event) -> tuple[BakeState, Effects]:
    match kind:
        case "read":
            return replace(state, share=float(event["share"])), ()
        case "scene_read":
            return replace(state, phase=Phase.STARTING, share=0.0), (Effect.START_WORKER,)
        case "cancel":
            return replace(state, phase=Phase.CANCELLED), (Effect.STOP_READING,)
        case "undo_begins":  # what the readers hold is gone after it
            return _stopped_reading(state, "Undo came while the scene was read")
        case "scene_gone":
            return _stopped_reading(state, "The scene or its cloth was deleted while it was read")
        case "error":
            return _fail(state, event), (Effect.STOP_READING,)
        case _:
            return state, ()


def _stopped_reading(state: BakeState, text: str) -> tuple[BakeState, Effects]:
    return replace(state, phase=Phase.CANCELLED, text=text), (Effect.STOP_READING,)


def _while_working(state: BakeState, kind: str, event: Event) -> tuple[BakeState, Effects]:
    match kind:
        case "pause" if state.phase in (Phase.STARTING, Phase.RUNNING):
            return replace(state, phase=Phase.PAUSED), (Effect.PAUSE_WORKER,)
        case "continue" if state.phase is Phase.PAUSED:
            return replace(state, phase=_working(state)), (Effect.CONTINUE_WORKER,)
        case "cancel" if state.phase is not Phase.CANCELLING:
            return replace(state, phase=Phase.CANCELLING), (Effect.CANCEL_WORKER,)
        case "scene_gone" if state.phase is not Phase.CANCELLING:
            text = "The scene or its cloth was deleted"
            return replace(state, phase=Phase.CANCELLING, text=text), (Effect.CANCEL_WORKER,)
        case "undone" if state.done:  # undo takes modifiers back that it does not know of
            return _play(state)
        case "start":
            started = replace(state, backend=str(event["backend"]), device=str(event["device"]))
            started = replace(started, frames=int(event["frames"]))
            return _unless_held(started), ()
        case "frame":
            return _land(state, event)
        case "warning":
            return replace(state, warnings=(*state.warnings, str(event["text"]))), ()
        case "done":
            return _play(replace(state, phase=Phase.DONE, share=1.0))
        case "cancelled":
            return _over(replace(state, phase=Phase.CANCELLED))
        case "error":
            return _over(_fail(state, event))
        case "ended":
            return _over(_fail(state, {"kind": "crash", "text": event["text"]}))
        case _:
            return state, ()


def _land(state: BakeState, event: Event) -> tuple[BakeState, Effects]:
    done, frames = int(event["done"]), int(event["frames"])
    first = state.done == 0
    landed = _unless_held(replace(state, done=done, frames=frames, share=done / frames, latest=event))
    return _play(landed) if first else (landed, ())


def _over(state: BakeState) -> tuple[BakeState, Effects]:
    """Whatever ended the bake, the frames so far play."""
    return _play(state) if state.done else (state, ())


def _play(state: BakeState) -> tuple[BakeState, Effects]:
    return (replace(state, owed=True), ()) if state.rendering else (state, (Effect.PLAY,))


def _fail(state: BakeState, event: Event) -> BakeState:
    return replace(
        state,
        phase=Phase.FAILED,
        kind=str(event["kind"]),
        text=str(event["text"]),
        culprit=str(event.get("object") or ""),
    )


def _working(state: BakeState) -> Phase:
    return Phase.RUNNING if state.frames else Phase.STARTING


def _unless_held(state: BakeState) -> BakeState:
    """Running, unless the user has asked for something else meanwhile."""
    return state if state.phase in (Phase.PAUSED, Phase.CANCELLING) else replace(state, phase=_working(state))

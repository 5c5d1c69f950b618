"""The state of Live as a value, and the pure function that moves it: (state, event) → (state, effects).

No bpy, no I/O: `live.Live` sends the events and carries the effects out. Events are the worker's JSON lines (see
`gpu_core.live`), how it ended (`gpu_core.live.process`), and these of our own:

    {"event": "due"}                       it is time for the next frame
    {"event": "restart"}                   start over, with the scene as it is
    {"event": "pause" | "continue" | "stop"}
    {"event": "grab", "cloth": key, "point": (x, y, z)}     the mouse takes hold; world, m
    {"event": "drag", "point": (x, y, z)}
    {"event": "release"}
    {"event": "undone"}                    undo and redo alike
    {"event": "saving" | "saved"}
    {"event": "bake_begins" | "file_closing" | "scene_gone"}
    {"event": "render_begins" | "render_ended"}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

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

Event = Mapping[str, Any]
Effects = tuple[Effect, ...]

ENDINGS = {
    "stop": "",
    "file_closing": "",
    "bake_begins": "A bake began",
    "scene_gone": "Another scene was chosen, or a cloth or a body was deleted",
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
    latest: Event = field(default_factory=dict)  #: what the solver reported of the last frame
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
    """The state after an event, and what to do then. Events of a newer worker, unknown here, change nothing."""
    kind = event["event"]
    match kind:
        case "render_begins":
            rendering = replace(state, rendering=True)
            return _end(rendering, Phase.ENDED, "A render began") if state.active else (rendering, ())
        case "render_ended":
            return replace(state, rendering=False), ()
    if not state.active:
        return state, ()
    if kind in ENDINGS:
        return _end(state, Phase.ENDED, ENDINGS[kind])
    match kind:
        case "ready":
            ready = replace(state, device=str(event["device"]), warnings=tuple(event["warnings"]), latest={})
            return _answered(replace(ready, phase=Phase.RUNNING), event, (Effect.SHOW,))
        case "frame":
            return _answered(replace(state, latest=event), event, (Effect.FOLLOW, Effect.SHOW))
        case "error":
            failed = replace(state, culprit=str(event.get("object") or ""))
            return _end(failed, Phase.FAILED, str(event["text"]))
        case "ended":
            return _end(state, Phase.FAILED, str(event["text"]))
        case "restart":
            return (replace(state, again=True), ()) if state.waiting else _begin(state)
        case "undone":
            return state, (Effect.STAY, *_shown(state))
        case "saving":
            return state, (Effect.HIDE,)
        case "saved":
            return state, _shown(state)
        case _:
            return _handled(state, kind, event)


def _handled(state: LiveState, kind: str, event: Event) -> tuple[LiveState, Effects]:
    """What the clock and the user's hand do to a Live that runs."""
    match kind:
        case "due" if state.phase is Phase.RUNNING and not state.waiting:
            return replace(state, waiting=True), (Effect.ADVANCE,)
        case "pause" if state.phase is Phase.RUNNING:
            return _released(replace(state, phase=Phase.PAUSED))
        case "continue" if state.phase is Phase.PAUSED:
            return replace(state, phase=Phase.RUNNING), ()
        case "grab" if state.phase is Phase.RUNNING:
            return replace(state, cloth=str(event["cloth"]), hand=event["point"]), (Effect.GRAB,)
        case "drag" if state.cloth:
            return replace(state, hand=event["point"]), ()
        case "release":
            return _released(state)
        case _:
            return state, ()


def _begin(state: LiveState) -> tuple[LiveState, Effects]:
    fresh = replace(state, phase=Phase.STARTING, waiting=True, again=False, cloth="", hand=None)
    return fresh, (Effect.BEGIN,)


def _answered(state: LiveState, event: Event, effects: Effects) -> tuple[LiveState, Effects]:
    """The worker has written its files and waits."""
    shown = replace(state, waiting=False, turn=int(event["turn"]))
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

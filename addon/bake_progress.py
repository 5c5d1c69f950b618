"""The state of a bake as a value, and the pure function that moves it: (progress, event) → progress. No bpy, no I/O.

Events are the worker's JSON lines (see `gpu_core.bake`) and three of our own:
    {"event": "read", "share": 0..1}     the scene is being read
    {"event": "cancelling"}              the user asked to stop
    {"event": "ended", "text": str}      the worker process is gone, with what it said last
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any


class Phase(Enum):
    IDLE = "idle"
    READING = "reading"
    STARTING = "starting"
    RUNNING = "running"
    CANCELLING = "cancelling"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


BUSY = frozenset({Phase.READING, Phase.STARTING, Phase.RUNNING, Phase.CANCELLING})


@dataclass(frozen=True)
class Progress:
    phase: Phase = Phase.IDLE
    share: float = 0.0  #: of the phase's work, 0..1
    done: int = 0  #: frames in the cache
    frames: int = 0
    backend: str = ""
    device: str = ""
    warnings: tuple[str, ...] = ()
    kind: str = ""  #: of the failure: nothing (to do), scene, backend, solver, disk, crash
    culprit: str = ""  #: the object to blame, where one is
    text: str = ""  #: the failure in words

    @property
    def busy(self) -> bool:
        return self.phase in BUSY

    @property
    def headline(self) -> str:
        """One line for the panel."""
        match self.phase:
            case Phase.IDLE:
                return ""
            case Phase.READING:
                return "Reading the scene"
            case Phase.STARTING:
                return "Starting the solver"
            case Phase.RUNNING:
                return f"{self.done} / {self.frames} frames"
            case Phase.CANCELLING:
                return "Stopping after this step"
            case Phase.DONE:
                return f"Baked {self.done} frames"
            case Phase.CANCELLED:
                return f"Cancelled: {self.done} of {self.frames} frames are in the cache"
            case Phase.FAILED:
                return self.text


def transition(progress: Progress, event: Mapping[str, Any]) -> Progress:
    """The progress after an event. Events of a newer worker that this version does not know change nothing."""
    if not progress.busy:
        return progress
    match event["event"]:
        case "read" if progress.phase is Phase.READING:
            share = float(event["share"])
            return replace(progress, share=share) if share < 1 else replace(progress, phase=Phase.STARTING, share=0.0)
        case "start":
            started = replace(progress, backend=str(event["backend"]), device=str(event["device"]))
            return replace(_unless_cancelling(started, Phase.RUNNING), frames=int(event["frames"]))
        case "frame":
            done, frames = int(event["done"]), int(event["frames"])
            return replace(_unless_cancelling(progress, Phase.RUNNING), done=done, frames=frames, share=done / frames)
        case "warning":
            return replace(progress, warnings=(*progress.warnings, str(event["text"])))
        case "cancelling":
            return replace(progress, phase=Phase.CANCELLING)
        case "done":
            return replace(progress, phase=Phase.DONE, share=1.0)
        case "cancelled":
            return replace(progress, phase=Phase.CANCELLED)
        case "error":
            return fail(progress, str(event["kind"]), str(event["text"]), str(event.get("object") or ""))
        case "ended":
            return fail(progress, "crash", str(event["text"]))
        case _:
            return progress


def fail(progress: Progress, kind: str, text: str, culprit: str = "") -> Progress:
    return replace(progress, phase=Phase.FAILED, kind=kind, text=text, culprit=culprit)


def _unless_cancelling(progress: Progress, phase: Phase) -> Progress:
    return progress if progress.phase is Phase.CANCELLING else replace(progress, phase=phase)

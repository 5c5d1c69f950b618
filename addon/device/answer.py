# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command says: lines for people, or one JSON object for programs, and the exit code."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import IO, Any

from ...gpu_core.bake.certificate import certificate
from ...gpu_core.messages import code_of, coded


class Exit(IntEnum):
    DONE = 0
    INTERSECTING = 1
    USAGE = 2
    BAD_SCENE = 3  #: the scene, a file or the device must be fixed
    NOTHING_TO_DO = 4
    CANCELLED = 5
    SOLVER_FAILURE = 6
    SCENE_CHANGED = 7  #: the frames so far are of another scene, or of another version of the solver
    DISK = 8  #: it is full, or may not be written
    BUSY = 9  #: another bake writes into the cache
    DAMAGED = 10  #: the cache is damaged, or holds files of others
    FAULT = 11  #: of Taffeta


#: By the kind of trouble that a bake ended with (`gpu_core.bake.failure`).
FAILURES = {
    "nothing": Exit.NOTHING_TO_DO,
    "scene": Exit.BAD_SCENE,
    "backend": Exit.BAD_SCENE,
    "disk": Exit.DISK,
    "busy": Exit.BUSY,
    "stale": Exit.SCENE_CHANGED,
    "damaged": Exit.DAMAGED,
    "solver": Exit.SOLVER_FAILURE,
    "crash": Exit.SOLVER_FAILURE,
}


#: Codes of messages that say no more than the exit code does.
MESSAGES = {Exit.CANCELLED: "TAF-B015", Exit.FAULT: "TAF-B005", Exit.SOLVER_FAILURE: "TAF-B005"}


class CommandError(Exception):
    """Ends a command with a message and an exit code. `culprit` is the object to blame, where one is."""

    def __init__(self, code: Exit, text: str, culprit: str = "") -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.culprit = culprit


class Report:
    """Collects what a command found: `values` for the JSON object, `lines` for people."""

    def __init__(self, command: str) -> None:
        self.exit_code = Exit.DONE
        self.values: dict[str, Any] = {"command": command}
        self.lines: list[str] = []

    def bake(self, cache: Path, **values: Any) -> None:
        """How a bake went: state, frames_done, frames, backend, device, warnings, and the solver's `reports`."""
        values["reports"] = [{**line, "codes": certificate(line, {}).codes} for line in values["reports"]]
        values["warning_codes"] = [code_of(text) for text in values["warnings"]]
        seconds = [float(line["seconds"]) for line in values["reports"] if line["seconds"]]
        mean = sum(seconds) / len(seconds) if seconds else None
        self.values |= {"cache": str(cache), "seconds_per_frame": mean, **values}
        if values["state"] == "done":
            pace = f", {mean:.3f} s per frame" if mean else ""
            self.lines += [f"{values['frames_done']} frames on {values['device']}{pace}", f"cache {cache}"]

    def fail(self, failure: CommandError) -> None:
        self.exit_code = failure.code
        code = code_of(failure.text) or MESSAGES.get(failure.code, "")
        self.values["error"] = {"text": failure.text, "object": failure.culprit, "code": code}
        tell(f"taffeta: {coded(failure.text, code)}", sys.stderr)

    def write(self, output: IO[str], as_json: bool) -> None:
        if as_json:
            tell(json.dumps({**self.values, "exit_code": int(self.exit_code)}, allow_nan=False), output)
        else:
            for line in self.lines:
                tell(line, output)


def tell(line: str, output: IO[str]) -> None:
    """Write a line at once. Who listened may have gone: that ends no bake, whose frames are on the disk."""
    try:
        print(line, file=output, flush=True)
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, output.fileno())
        os.close(nowhere)


def tell_frame(line: Mapping[str, Any], quiet: bool) -> None:
    """Say that a frame has landed: on standard output, or where that is kept for the report, on standard error."""
    text = f"frame {line['frame']}: {line['done']} of {line['frames']}, {line['seconds']:.2f} s"
    tell(text, sys.stderr if quiet else sys.stdout)


@contextmanager
def standard_output(reserved: bool) -> Iterator[IO[str]]:
    """The stream for the report.

    Where it is reserved, everything else that is written to standard output – Blender does so below Python – goes to
    standard error until the end.
    """
    if not reserved:
        yield sys.stdout
        return
    sys.stdout.flush()
    kept = os.dup(1)
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        yield stream
    finally:
        sys.stdout.flush()
        stream.close()
        os.dup2(kept, 1)
        os.close(kept)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificate of a frame: what is known of it, from the solver's own report and from the exact check.

The report says what the solver could not do (steps it did not finish, pairs it had to release); the exact check, which
shares no code with the solver, says whether the frame on disk intersects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..files import json_lines
from ..files.folder import CERTIFICATES, REPORTS
from ..messages import code_of

LATE = "TAF-F008"  #: the code of what is no trouble: it arrived, but not at the step's end


@dataclass(frozen=True)
class Certificate:
    """One frame of a cache."""

    frame: int
    intersections: int | None = None  #: edges that meet triangles in the frame on disk; None = not checked
    findings: tuple[str, ...] = ()  #: the first of them in words
    largest_stretch: float = 1.0  #: longest edge relative to its rest length
    smallest_gap: float | None = None  #: of any pair, m; None where nothing is near
    steps: int = 0
    unfinished_steps: int = 0  #: steps that ran out of iterations
    given_up_steps: int = 0  #: of them, those that the budget of the frame ended
    late_steps: int = 0  #: steps at whose end a collider or hard pin had not arrived
    strained_steps: int = 0  #: steps that ended with cloth beyond its strain limit
    heated_steps: int = 0  #: steps that gave cloth which nothing holds more energy than it had
    released: tuple[str, ...] = ()  #: colliders and pins that had no room, and objects that cross since
    begun: tuple[str, ...] = ()  #: objects that crossed when they began to collide
    untangled: tuple[str, ...] = ()  #: objects that crossed for long, and were brought apart at the frame's end
    let_through: int = 0  #: crossings in the frame on disk that the user's exceptions let through
    faults: tuple[str, ...] = ()  #: objects that cross although nothing was released there
    drawn: int | None = None  #: the same of the meshes that Blender draws, as they render; None = not checked
    drawn_findings: tuple[str, ...] = ()  #: the first of them in words
    tangled: int = 0  #: pairs left alone because they intersect since the start or a release
    preroll: Mapping[str, Any] = field(default_factory=dict)  #: sums over the one before it, of a first frame

    @property
    def clean(self) -> bool:
        """Nothing crosses, nothing was released, and every step was solved to its tolerance, limits and energy."""
        return self.intersections == 0 and not self.troubles

    @property
    def troubles(self) -> list[str]:
        """What is not clean about the frame, most serious first; empty where it is clean or only unchecked."""
        texts = []
        if self.intersections:
            texts.append(f"{self.intersections} intersections")
        if self.drawn:
            texts.append(f"{self.drawn} intersections as Blender draws it")
        texts += [f"fault: {fault}" for fault in self.faults]
        if self.released:
            texts.append(f"no room between {who_met(self.released)}")
        if self.begun:
            texts.append(f"crossing when they began to collide: {', '.join(self.begun)}")
        if self.untangled:
            texts.append(f"brought apart by untangling: {', '.join(self.untangled)}")
        if unsolved := self.unfinished_steps - self.given_up_steps:
            texts.append(f"{unsolved} of {self.steps} steps not solved to the tolerance")
        if self.given_up_steps:
            texts.append(f"{self.given_up_steps} of {self.steps} steps ended early by the frame's budget")
        if self.strained_steps:
            texts.append(f"cloth beyond its strain limit after {self.strained_steps} of {self.steps} steps")
        if self.heated_steps:
            texts.append(f"free cloth gained energy in {self.heated_steps} of {self.steps} steps")
        return texts

    @property
    def codes(self) -> list[str]:
        """Of its troubles, as `messages` has them, and of what was late."""
        return [*map(code_of, self.troubles), *([LATE] if self.late_steps and not self.released else [])]


def read(folder: Path) -> list[Certificate]:
    """The certificates of a cache folder, by frame. Raises CacheError (damaged), DiskError."""
    checks = {line["frame"]: line for line in json_lines.read(Path(folder) / CERTIFICATES)}
    reports = json_lines.read(Path(folder) / REPORTS)
    return [certificate(report, checks.get(report["frame"], {})) for report in reports]


def certificate(report: Mapping[str, Any], check: Mapping[str, Any]) -> Certificate:
    """From a line of frames.jsonl and the line of certificates.jsonl of that frame ({} where it is not checked)."""
    return Certificate(
        frame=report["frame"],
        intersections=check.get("intersections"),
        findings=tuple(check.get("findings", ())),
        drawn=check.get("drawn"),
        drawn_findings=tuple(check.get("drawn_findings", ())),
        largest_stretch=report.get("largest_stretch", 1.0),
        smallest_gap=report.get("smallest_gap"),
        steps=report.get("steps", 0),
        unfinished_steps=report.get("unfinished_steps", 0),
        given_up_steps=report.get("given_up_steps", 0),
        late_steps=report.get("late_steps", 0),
        strained_steps=report.get("strained_steps", 0),
        heated_steps=report.get("heated_steps", 0),
        released=tuple(report.get("released", ())),
        faults=tuple(report.get("faults", ())),
        begun=tuple(report.get("begun", ())),
        untangled=tuple(report.get("untangled", ())),
        let_through=check.get("let_through", 0),
        tangled=report.get("tangled", 0),
        preroll=report.get("preroll", {}),
    )


def preroll_text(sums: Mapping[str, Any]) -> str:
    """What a first frame's report says of the pre-roll before it, in words; nothing where there was none."""
    if not sums:
        return ""
    unfinished = f", {sums['unfinished_steps']} of {sums['steps']} steps unfinished" if sums["unfinished_steps"] else ""
    return f"after a pre-roll of {sums['frames']} frames, {sums['seconds']:.2f} s{unfinished}"


def who_met(released: Sequence[str]) -> str:
    """“Sleeve and Arm, between Sleeve and itself”: what a report has `released`. An object that is in a pair is not
    named besides."""

    def paired(name: str) -> bool:
        return any(pair.startswith(f"{name} and ") or pair.endswith(f" and {name}") for pair in released)

    texts = [text if " and " in text else f"{text} and what is near" for text in released if not paired(text)]
    return ", between ".join(texts)


def summary(certificates: Iterable[Certificate]) -> str:
    """“48 frames: none intersects, …” in one line."""
    every = list(certificates)
    crossing = sum(bool(entry.intersections) for entry in every)
    unchecked = sum(entry.intersections is None for entry in every)
    texts = [f"{crossing} of {len(every)} frames intersect" if crossing else f"none of {len(every)} frames intersects"]
    if unchecked:
        texts[0] = f"{crossing} of {len(every) - unchecked} checked frames intersect, {unchecked} are unchecked"
    for word, count in (
        ("released pairs", sum(bool(entry.released) for entry in every)),
        ("crossings where objects began to collide", sum(bool(entry.begun) for entry in every)),
        ("objects brought apart by untangling", sum(bool(entry.untangled) for entry in every)),
        ("crossings that exceptions let through", sum(bool(entry.let_through) for entry in every)),
        ("faults", sum(bool(entry.faults) for entry in every)),
        ("unfinished steps", sum(bool(entry.unfinished_steps) for entry in every)),
        ("steps that the budget ended", sum(bool(entry.given_up_steps) for entry in every)),
        ("cloth beyond its strain limit", sum(bool(entry.strained_steps) for entry in every)),
        ("energy from nowhere", sum(bool(entry.heated_steps) for entry in every)),
    ):
        if count:
            texts.append(f"{count} with {word}")
    return ", ".join(texts)

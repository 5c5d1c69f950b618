# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of the stress suite that end in layers upon layers (docs/theory/stress.md)."""

from __future__ import annotations

from ..stress.scenes import SCENES
from .part import Part, Picture
from .run import run


def _stress(name: str, vertices: int, frame: int) -> list[Part]:
    stress = SCENES[name]
    return run(stress.build(vertices, stress.frames), frame, said=name)


def slack_twist(vertices: int) -> list[Part]:
    """Eight turns with half the length to spare, at the end of the motion."""
    return _stress("slack_twist", vertices, 96)


def teapot_pile(vertices: int) -> list[Part]:
    """Ten cloths on a teapot, at the end."""
    return _stress("teapot_pile", vertices, 48)


def zigzag(vertices: int) -> list[Part]:
    """Three strips dropped on edge, at the end."""
    return [part for part in _stress("zigzag", vertices, 48) if part.name != "Floor"]  # the studio has one


def knot(vertices: int) -> list[Part]:
    """The overhand knot, drawn shut."""
    return _stress("knot", vertices, 72)


def meeting_pins(vertices: int) -> list[Part]:
    """Pinned edges that were led through each other: what crosses is marked."""
    return _stress("meeting_pins", vertices, 36)


PICTURES = (
    Picture(slack_twist, 1600, -80.0, 12.0, raised=0.18, film=(960, 360)),
    Picture(teapot_pile, 3000, -62.0, 8.0, film=(960, 440)),
    Picture(zigzag, 1600, -65.0, 14.0, film=(960, 400)),
    Picture(knot, 2000, -70.0, 20.0, raised=0.3, close=0.16, film=(960, 440)),
    Picture(meeting_pins, 700, -60.0, 24.0, raised=0.2),
)

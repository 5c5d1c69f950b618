# SPDX-License-Identifier: GPL-3.0-or-later
"""What the host does for a step on a card, counted on the pretended one: no time is measured, all runs count alike.

An array operation is a call into CuPy that launches something; a wait is where the host stands until the device has
come so far: an event, a number or an array that it reads, the length of a list.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from ...gpu_core.backend import select
from ...gpu_core.simulator import Simulator
from .scenes import built

CARD = Path(__file__).resolve().parents[2] / "tests" / "gpu_core" / "backend" / "pretended_card"
SEEN_AS = {
    "array operation": "operations",
    "launch": "launches",
    "graph launch": "graphs",
    "graph build": "builds",
    "wait": "waits",
    "blocking copy": "waits",
    "upload": "uploads",
    "copy": "copies",
}
COUNTED = tuple(dict.fromkeys(SEEN_AS.values()))
TOTAL = "all"
DEVICE = "Pretended card"


def counts(vertices: int, first: int, last: int) -> list[dict[str, Any]]:
    """Of the drape's frames `first` to `last`: per step, by the module that asked for it, and of all."""
    sys.path.insert(0, str(CARD))
    scene = built("drape", vertices, last)
    simulator = Simulator(scene, select("cuda"))
    import cupy

    card, steps = sys.modules[f"{cupy.__name__}._card"], 0
    for frame in range(2, last + 1):
        if frame == first:
            card.counts.clear()
        report = simulator.advance_frame()
        steps += report.steps if frame >= first else 0
    found: dict[str, dict[str, float]] = defaultdict(lambda: dict.fromkeys(COUNTED, 0.0))
    for (what, stage), number in card.counts.items():
        if what in SEEN_AS:
            for name in (stage or "elsewhere", TOTAL):
                found[name][SEEN_AS[what]] += number / steps
    order = sorted(found, key=lambda name: (name == TOTAL, -sum(found[name].values())))
    vertices = simulator.space.cloth_vertices
    return [{"vertices": vertices, "stage": name, "contacts": report.contacts, **found[name]} for name in order]


def cells(row: dict[str, Any]) -> list[str]:
    return [row["stage"], *(f"{row[name]:.1f}" if row[name] else "" for name in COUNTED)]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins: vertices of a cloth that follow targets, in groups each of which holds as firmly as it wants to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .arrays import Array, FloatArray, IntArray
from .motion import between


@dataclass(frozen=True)
class Pins:
    """Vertices that follow a target: kinematic where weight is 1, springs below."""

    vertices: IntArray  #: (P,) indices into the cloth's vertices
    targets: npt.NDArray[np.floating]  #: (K or 1, P, 3) world positions, K: `Settings.places`, m
    weights: FloatArray | None = None  #: (P,) in (0, 1]; None = all 1 (hard)


@dataclass(frozen=True)
class PinGroup:
    """Pins beside the first ones of a cloth. At a vertex of several groups the strongest of the moment holds."""

    name: str
    pins: Pins
    strength: float = 1.0  #: factor on the weights: 0 lets go
    keys: Mapping[str, Array] = field(default_factory=dict)  #: of strength, as `scene.Keys`


def weights_of(pins: Pins) -> FloatArray:
    """(P,)"""
    return np.ones(len(pins.vertices), np.float32) if pins.weights is None else pins.weights


def pulling(pins: Pins, strength: float) -> Pins:
    """With the weights that they have at this strength."""
    return pins if strength == 1.0 else Pins(pins.vertices, pins.targets, np.float32(strength) * weights_of(pins))


def strongest(vertices: IntArray, weights: FloatArray) -> tuple[IntArray, npt.NDArray[np.int64]]:
    """(the vertices (Q,) each once, which of the pins (P,) holds each): the first of equals."""
    order = np.lexsort((-weights, vertices))
    each, first = np.unique(vertices[order], return_index=True)
    return each.astype(np.int32), order[first]


def together(groups: Sequence[Pins], when: float, samples: int = 1) -> Pins:
    """One for all groups so many frames after the first, with the targets of that moment, (1, Q, 3)."""
    weights = np.concatenate([weights_of(pins) for pins in groups])
    vertices, holds = strongest(np.concatenate([pins.vertices for pins in groups]), weights)
    targets = np.concatenate([between(pins.targets, when, samples) for pins in groups])
    return Pins(vertices, targets[holds][None], weights[holds])

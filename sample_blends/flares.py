# SPDX-License-Identifier: GPL-3.0-or-later
"""Wide skirts for a human, one over the other: cloth of one slope all around a waist, so that it could be cut flat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi, sqrt, tau

import bpy
import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from .actors import add_garment
from .human import Human
from .look import DYES, fabric
from .puppet import skin
from .rings import hem_below, ring_faces

Array = npt.NDArray[np.float64]
WAIST = 0.985  #: m
BAND = 0.025  #: m of each that are held
HELD = 0.9  #: weight of these pins: skin stretches more than cloth, which then slides
SLICE = 0.02  #: m above and below the waist that its line goes around
ARMS = 0.25  #: m from the middle, where they begin
SMOOTH = 10  #: waves around the waist that are kept
FINE = 1440  #: directions around it


@dataclass(frozen=True)
class Flare:
    """One skirt."""

    name: str
    length: float  #: m, of the cloth from the waist to the hem
    wide: float  #: m by which a metre of that stands off the waist, less than 1
    out: float  #: m from the body to the waistband
    fabric: str
    dye: int


def add_flares(
    person: Human, skeleton: bpy.types.Object, flares: Sequence[Flare], vertices: int
) -> list[bpy.types.Object]:
    """All of them, from the innermost to the outermost, with so many vertices or so."""
    support = around(person, WAIST)
    girth = [tau * (support.mean() + flare.out + 0.5 * flare.wide * flare.length) for flare in flares]
    cell = sqrt(sum(width * flare.length for width, flare in zip(girth, flares, strict=True)) / vertices)
    columns = round(max(girth) / cell)  # as many in all, so that none crosses the next
    middle = sum(flare.out + 0.5 * flare.wide * flare.length for flare in flares) / len(flares)
    near = cKDTree(person.places[: 1 + max(v for face in person.faces["body"] for v in face)])
    found = []
    for layer, (flare, width) in enumerate(zip(flares, girth, strict=True)):
        rows = max(4, round(flare.length / cell * (width / cell) / columns))
        share = np.linspace(0.0, 1.0, rows)[:, None]
        down = share * flare.length
        plan = rings(support, flare.out + flare.wide * down, columns, middle)
        height = np.broadcast_to(WAIST - sqrt(1.0 - flare.wide**2) * down, plan.shape[:2])
        places = np.concatenate([plan, height[..., None]], axis=2).reshape(-1, 3)
        skirt = add_garment(
            flare.name, places, ring_faces(rows, columns), fabric(*DYES[flare.dye]), flat=hem_below(share, columns)
        )
        skin(skirt, skeleton, person, np.tile(near.query(places[:columns])[1], rows).tolist())  # all as its waist does
        pins = skirt.vertex_groups.new(name="Waist")
        pins.add(np.flatnonzero(places[:, 2] > WAIST - BAND).tolist(), HELD, "REPLACE")
        cloth = skirt.taffeta.cloth
        cloth.preset, cloth.pin_group = flare.fabric, pins.name
        cloth.layer = layer + 1 if len(flares) > 1 else 0
        found.append(skirt)
    return found


def around(person: Human, height: float) -> Array:
    """(FINE,) m, how far a line around the body at this height reaches in each direction from the axis."""
    body = person.places[np.unique([vertex for face in person.faces["body"] for vertex in face])]
    slice_ = body[(np.abs(body[:, 2] - height) < SLICE) & (np.abs(body[:, 0]) < ARMS), :2]
    angle = np.arange(FINE) * tau / FINE
    return np.asarray((slice_ @ [np.cos(angle), np.sin(angle)]).max(axis=0))


def rings(support: Array, out: Array, columns: int, middle: float) -> Array:
    """(R, columns, 2) m, lines that are `out` (R, 1) m from the convex one; evenly spaced on the one `middle` m off it.

    support: (FINE,) as `around` has it. A convex line of support h has, where its normal is n, the place h·n + h′·n′.
    """
    waves = np.fft.rfft(support)
    waves[SMOOTH:] = 0.0
    angle = np.arange(FINE) * tau / FINE
    normal, along = (np.column_stack([np.cos(turn), np.sin(turn)]) for turn in (angle, angle + 0.5 * pi))
    reach = np.fft.irfft(waves, FINE)
    line = reach[:, None] * normal + np.fft.irfft(1j * np.arange(len(waves)) * waves, FINE)[:, None] * along
    spaced = np.concatenate([line + middle * normal, line[:1] + middle * normal[:1]])
    way = np.insert(np.cumsum(np.linalg.norm(np.diff(spaced, axis=0), axis=1)), 0, 0.0)
    at = np.interp(np.arange(columns) / columns * way[-1], way, np.append(angle, tau))
    chosen, facing = (
        np.column_stack([np.interp(at, angle, part, period=tau) for part in values.T]) for values in (line, normal)
    )
    facing /= np.linalg.norm(facing, axis=1, keepdims=True)
    return np.asarray(chosen + out[..., None] * facing)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Two piles of cards, bent up, are let go card by card, from either in turn: a riffle shuffle (li2021, figure 8)."""

from __future__ import annotations

from math import cos, radians, sin

import bpy

from .actors import add_sheet, hold, let_go
from .look import DYES, fabric
from .studio import light_and_film

CARDS = 16  #: half of them in each pile
LENGTH, SHARE = 0.178, 0.127 / 0.178  #: m: jumbo cards
LAPPED = 0.04  #: m by which the piles reach over each other in the end
APART = 1.5e-3  #: m from each card of a pile to the next
CLAMPED = 0.2  #: of the length, which lies flat under a hand
BENT = radians(60.0)  #: what is free, along a circle, so that it is no longer than flat
FIRST, EACH, AFTER = 8, 2, 3  #: frames: the first is let go, from each to the next, and the hand on it
FRAMES = 72
#: Plastic cards, 0.3 mm of 2.5 GPa and 1.2 g/cm³: D = E t³ / 12 (1 − ν²). Their stretch is softened, for time's sake.
CARD = {
    "density": 0.36, "stretch": 5.0e4, "shear": 2.0e4, "bend": 6.0e-3, "bend_friction": 0.0, "bend_damping": 4.0e-3,
    "strain_limit": 0.0, "softening": 1.0, "friction": 0.2,
}  # fmt: skip


def build(vertices: int) -> None:
    """Fill the empty session: the cards have about `vertices` in all."""
    floor = light_and_film(target=(0.0, 0.0, 0.03), distance=1.0, frames=FRAMES, elevation=radians(20.0))
    floor.taffeta.role = "COLLIDER"
    backs = [fabric(*dye) for dye in DYES[:2]]
    for number in range(CARDS):
        add_card(number, vertices // CARDS, backs[number % 2])


def add_card(number: int, vertices: int, material: bpy.types.Material) -> None:
    """Even ones lie in the left pile, odd ones in the right."""
    side, level = 1.0 if number % 2 else -1.0, number // 2
    place = (side * 0.5 * (LENGTH - LAPPED), 0.0, 2.5e-3 + APART * level)
    card = add_sheet(f"Card {number + 1}", vertices, LENGTH, place, share=SHARE)
    card.data.materials[0] = material
    for name, value in CARD.items():
        setattr(card.taffeta.cloth, name, value)
    bend_up(card, side)
    inner, outer = -side * 0.499 * LENGTH, side * (0.5 - CLAMPED) * LENGTH
    end = hold(card, "Inner End", lambda x, y, z: side * x < side * inner, None)
    hand = hold(card, "Outer End", lambda x, y, z: side * x > side * outer, None)
    let_go(end, FIRST + EACH * number)
    let_go(hand, FIRST + EACH * number + AFTER)


def bend_up(card: bpy.types.Object, side: float) -> None:
    """It begins bent, its inner end held above where it will come to lie, and strives for the flat."""
    card.shape_key_add(name="Flat")
    key = card.shape_key_add(name="Bent")
    radius = (1.0 - CLAMPED) * LENGTH / BENT
    for point in key.data:
        way = max(0.0, (0.5 - CLAMPED) * LENGTH - side * point.co.x)  # from the hand
        point.co.x += side * (way - radius * sin(way / radius))
        point.co.z += radius * (1.0 - cos(way / radius))
    key.value = 1.0
    card.taffeta.cloth.rest_shape_key = "Flat"

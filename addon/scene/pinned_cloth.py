# SPDX-License-Identifier: GPL-3.0-or-later
"""The pins of one cloth in Live, which moves them as their targets are now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...gpu_core.scene import keyed
from ...gpu_core.scene.arrays import Array
from ...gpu_core.scene.scene import Cloth
from . import pin_properties
from .carrier import carrier_of


class PinnedCloth:
    """Objects by number: undo replaces them."""

    def __init__(self, item: bpy.types.Object, cloth: Cloth, depsgraph: bpy.types.Depsgraph) -> None:
        """cloth: as it was read at the frame that is evaluated now. Raises SceneError."""
        self._cloth = cloth
        targets = [pins.target for _, pins in pin_properties.chosen(item)]
        self._carriers = [
            None
            if target is None
            else (target.session_uid, carrier_of(item.name, target, group.pins.targets[0], depsgraph))
            for target, group in zip(targets, cloth.pin_groups, strict=True)
        ]

    @property
    def followed(self) -> set[int]:
        """The numbers of what carries its pins."""
        return {known[0] for known in self._carriers if known is not None}

    def start(self) -> Array:
        """(Q, 3) where its pins go at the first frame, world, m."""
        return self._places([pins.targets[0] for pins in self._cloth.every_pins])

    def now(self, every: Array, items: Mapping[int, bpy.types.Object], depsgraph: bpy.types.Depsgraph) -> Array:
        """(Q, 3) the same of now. every: (N, 3) of the cloth's mesh above our modifiers. Raises SceneError."""
        if len(every) != len(self._cloth.positions):
            return every  # fits nothing: who compares shapes says so
        own = [every[pins.vertices] for pins in self._cloth.every_pins]
        for count, known in enumerate(self._carriers, start=len(own) - len(self._carriers)):
            if known is not None:
                number, carrier = known
                own[count] = carrier.carried(items[number], depsgraph)
        return self._places(own)

    def _places(self, groups: Sequence[Array]) -> Array:
        """(Q, 3) of all groups (P, 3): at each vertex that of the strongest."""
        places = [np.asarray(group, np.float64)[None] for group in groups]
        cloth = self._cloth
        first = cloth.pins and replace(cloth.pins, targets=places.pop(0))
        others = tuple(
            replace(group, pins=replace(group.pins, targets=place))
            for group, place in zip(cloth.pin_groups, places, strict=True)
        )
        pins = keyed.pins_at(replace(cloth, pins=first, pin_groups=others), 0.0)
        return np.zeros((0, 3)) if pins is None else np.asarray(pins.targets[0])

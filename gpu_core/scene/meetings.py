# SPDX-License-Identifier: GPL-3.0-or-later
"""Who collides with whom at a moment, and how the two rub: a table over the parties of a scene.

A party is vertices that are all alike in this: a cloth, the part of one that is left out of something, or all bodies of
which nothing special is said. Features of several parties, such as the triangles at the border of a part, keep apart
from whatever any of their corners keeps apart from. So what the user lets through is the same for a pair of an edge and
a triangle, which the exact check knows, and for the pairs by whose passing they come to cross, which contact knows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .arrays import IntArray
from .keyed import value_at
from .scene import Cloth, Scene

Table = npt.NDArray[np.bool_]  #: (P, P) by party
BODIES, ITSELF = 1, 2  #: what a vertex is left out of
State = tuple[tuple[bool, float | None], ...]  #: of each encounter: whether it holds, and its friction


class Meetings:
    """Of a scene of O objects and P parties."""

    def __init__(self, scene: Scene) -> None:
        self._encounters, self._begins = scene.encounters, scene.settings.begins
        cloths = len(scene.cloths)
        known: dict[tuple[int, int], int] = {}  # of an object that stands for it, and what it is left out of
        #: (N,) the parties of each cloth's vertices
        self.of_cloths: list[IntArray] = [_of_cloth(cloth, k, known) for k, cloth in enumerate(scene.cloths)]
        named = {index for item in scene.encounters for index in (item.first, item.second)}
        alike: dict[tuple[int, ...], int] = {}
        of_colliders = []
        for number in range(len(scene.colliders)):
            unmet = (k for k, cloth in enumerate(scene.cloths) if cloth.meets is not None and number not in cloth.meets)
            own = cloths + number
            stands = alike.setdefault((own if own in named else -1, *unmet), own)
            of_colliders.append(known.setdefault((stands, 0), len(known)))
        self.of_colliders: IntArray = np.array(of_colliders, np.int32)  #: the party of each
        parts = np.array(list(known), np.int64).reshape(-1, 2)
        self.objects, left_out = parts.T  #: (P,) an object that each party is of, or stands for
        body = self.objects >= cloths
        self._unmet: Table = np.zeros((len(parts), len(parts)), bool)  # by the cloths' collections
        for k, cloth in enumerate(scene.cloths):
            if cloth.meets is not None:
                self._set(self._unmet, self.objects == k, body & ~np.isin(self.objects - cloths, cloth.meets), True)
        from_bodies, from_itself = (left_out & BODIES) > 0, (left_out & ITSELF) > 0
        same = self.objects[:, None] == self.objects
        self._left_out: Table = (from_bodies[:, None] & body) | (from_itself[:, None] & same)
        self._left_out |= self._left_out.T
        self._known: dict[State, tuple[Table, npt.NDArray[np.float32]]] = {}
        self.any_friction = any(item.friction is not None for item in scene.encounters)

    def state(self, frame: float) -> State:
        """What of the encounters holds in a step that ends at this frame: equal where the tables are."""
        when = frame - self._begins
        return tuple(
            (True, float(value_at(item.keys["friction"], when)) if "friction" in item.keys else item.friction)
            if item.holds(frame) else (False, None)
            for item in self._encounters
        )  # fmt: skip

    def apart(self, frame: float) -> Table:
        """(P, P) which parties the user lets through each other."""
        return self._tables(frame)[0]

    def friction(self, frame: float) -> npt.NDArray[np.float32]:
        """(P, P) Coulomb μ of a pair; below 0 where both sides' own numbers count."""
        return self._tables(frame)[1]

    def marked(self, scene: Scene) -> Scene:
        """The scene with the parties noted in its cloths, which may then be joined and sewn."""
        cloths = zip(scene.cloths, self.of_cloths, strict=True)
        return replace(scene, cloths=tuple(replace(cloth, party=own) for cloth, own in cloths))

    def of_scene(self, scene: Scene) -> IntArray:
        """(V,) the party of each vertex, cloths first. scene: the own one, or what a `marked` one has become."""
        cloths = [
            self.of_cloths[k] if cloth.party is None else cloth.party for k, cloth in enumerate(scene.cloths)
        ]  # fmt: skip
        sizes = [collider.positions.shape[1] for collider in scene.colliders]
        return np.concatenate([*cloths, np.repeat(self.of_colliders, sizes)]).astype(np.int32)

    def _tables(self, frame: float) -> tuple[Table, npt.NDArray[np.float32]]:
        state = self.state(frame)
        if state not in self._known:
            unmet, friction = self._unmet.copy(), np.full(self._unmet.shape, -1.0, np.float32)
            for item, (holds, own) in zip(self._encounters, state, strict=True):
                if holds:
                    first, second = self.objects == item.first, self.objects == item.second
                    self._set(unmet, first, second, not item.collides)
                    self._set(friction, first, second, -1.0 if own is None else own)
            self._known = {state: (unmet | self._left_out, friction)}
        return self._known[state]

    @staticmethod
    def _set(table: npt.NDArray[np.generic], first: Table, second: Table, value: float) -> None:
        for one, other in ((first, second), (second, first)):
            table[np.ix_(one, other)] = value


def let_through(
    party: IntArray, apart: Table, first: npt.NDArray[np.integer], second: npt.NDArray[np.integer]
) -> npt.NDArray[np.bool_]:
    """(K,) of pairs of features with corners (K, a) and (K, b): may they cross? party: (V,). apart: (P, P)."""
    if not apart.any():
        return np.zeros(len(first), bool)
    return np.asarray(apart[party[first][:, :, None], party[second][:, None, :]].any(axis=(1, 2)))


def _of_cloth(cloth: Cloth, number: int, known: dict[tuple[int, int], int]) -> IntArray:
    """(N,) the parties of its vertices. known: those that there are, by (object, what it is left out of)."""
    left_out = np.zeros(len(cloth.positions), np.int64)
    for flag, own in ((BODIES, cloth.left_out_of_bodies), (ITSELF, cloth.left_out_of_itself)):
        if own is not None:
            left_out[own] |= flag
    party = np.zeros(4, np.int32)
    for flags in sorted({0, *np.unique(left_out).tolist()}):
        party[flags] = known.setdefault((number, flags), len(known))
    return np.asarray(party[left_out])

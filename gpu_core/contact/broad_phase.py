# SPDX-License-Identifier: GPL-3.0-or-later
"""Candidate pairs from the overlap of swept boxes (docs/theory/method.md §6), kernels `broad_phase.h`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..backend import Backend, Launch, launch
from ..messages import Told
from ..scene.arrays import IntArray
from ..scene.meetings import Table
from .classes import Classes
from .patches import PATCH_SIZE, Surface, patches

CHUNK = 1 << 17  #: pairs of patches whose candidates are listed, and culled, at once
PARTNERS = 16  #: numbers that the kernel `overlapping_patches` notes for a patch
NOTES = 3 * (1 + 3 * PATCH_SIZE)  #: most overlaps that the kernel `candidates` notes for a pair of patches
INEXACT = 0.5  #: share of the margin that rounding of a way may take that goes on beyond its motion
MOST_PAIRS = (1 << 29) - 1  #: kernels index the four corners of a pair with 32 bits


class TooManyPairsError(Told, RuntimeError):
    """More pairs are near each other than can be counted; the text is for the user."""


@dataclass(frozen=True)
class Candidates:
    """Pairs whose swept boxes overlap: all that can come within the reach they were detected with."""

    count: int
    feature: Any  #: (count, 2) (vertex, triangle) or (~edge, edge)
    corner: Any  #: (count, 4) vertices
    room: Any  #: (count,) by how much its sides were farther apart than their range, m (`Proximity`); 0 = not known


Part = tuple[Candidates, Any]  #: and which of them, (K,) int32


class Time(NamedTuple):
    """Which part of whole ways, which take from 0 to 1, a motion is."""

    first: float
    last: float  #: no later than `first` where it corrects the end of another
    since: float  #: when that, or it, began


WHOLE = Time(0.0, 1.0, 0.0)


def joined(backend: Backend, parts: Sequence[Part]) -> Candidates:
    """What is taken of all parts, one after the other."""
    xp, total, first = backend.xp, sum(len(kept) for _, kept in parts), 0
    feature, corner = xp.empty((total, 2), xp.int32), xp.empty((total, 4), xp.int32)
    every = Candidates(total, feature, corner, xp.empty(total, xp.float32))
    for part, kept in parts:
        backend.launch(
            "candidate_taken", len(kept), kept=kept, first=first, feature_in=part.feature, corner_in=part.corner,
            room_in=part.room, feature=every.feature, corner=every.corner, room=every.room,
        )  # fmt: skip
        first += len(kept)
    return every


class BroadPhase:
    """Trees over patches of cloth and of colliders, refitted in each detection."""

    def __init__(
        self,
        backend: Backend,
        surface: Surface,
        positions: npt.NDArray[np.floating],
        party: IntArray,
        apart: Table,
    ) -> None:
        """positions: (V, 3) at the start. party: (V,). apart: (P, P) which parties do not collide (`part`)."""
        found = patches(surface, positions)
        integers = lambda values: backend.array(values, np.int32)  # noqa: E731
        self.backend, self.vertices, self.depths = backend, surface.vertices, found.depths
        self.vertex_corners = integers(found.vertices.entries)
        self.edge_corners = integers(found.edge_corners[found.edges.entries])
        self.triangle_corners = integers(found.corners[found.triangles.entries])
        own = found.vertices.entries[:, None], found.edge_corners[found.edges.entries]
        self.classes = Classes(backend, party, apart, [*own, found.corners[found.triangles.entries]])
        tables = {
            "vertex_start": found.vertices.start,
            "vertices": found.vertices.entries,
            "edge_start": found.edges.start,
            "edges": found.edges.entries,
            "triangle_start": found.triangles.start,
            "triangles": found.triangles.entries,
        }
        self.tables = {
            name: integers(table) for name, table in tables.items()
        }  #: of the patches, as `candidates` has it
        self.patches = len(found.triangles.start) - 1
        xp = backend.xp
        self.vertex_box, self.edge_box, self.triangle_box = (
            xp.zeros((4 * len(table.entries), 4), xp.float32)
            for table in (found.vertices, found.edges, found.triangles)
        )
        self.trees = [xp.zeros((4 * ((2 << depth) - 1), 4), xp.float32) for depth in self.depths]
        self.start, self.end = (xp.zeros((surface.vertices, 4), xp.float32) for _ in range(2))  #: of the ways
        self.free = xp.zeros(surface.vertices, xp.int32)  #: 1 = may take any part of its way
        #: what is kept of each part of a list, with its room
        self.cull: Callable[[Candidates], Part] = lambda found: (found, xp.arange(found.count, dtype=xp.int32))
        self.strays, self._count = xp.zeros(surface.vertices, xp.float32), xp.zeros(1, xp.int32)
        self._look = backend.look(self._count)
        self.all = xp.ones(surface.vertices, xp.int32)
        # 1: vertices that are looked for now, before that those that have strayed; whose way has changed since the
        # boxes were made
        self.strayed, self._stale = (xp.zeros(surface.vertices, xp.int32) for _ in range(2))
        self._leaf_boxes = xp.zeros((4 * sum(1 << depth for depth in self.depths), 4), xp.float32)
        leaves = 1 << self.depths[0]
        self._counts, self._noted = (xp.zeros(many * leaves, xp.int32) for many in (2, 2 * PARTNERS))
        self._refit, self._inflation = backend.sequence([]), -1.0
        self.before: Any | None = None  #: (V, 4) where the motion that began the last step ended, if that is known
        #: bound to these ways and this margin, for each of their times
        self._strays: tuple[Any, Any, float, dict[Time, Callable[[], None]]] | None = None
        settle = {"free": self.free, "way_start": self.start, "way_end": self.end, "stale": self._stale}
        self.settle: Callable[[], None] = backend.sequence([launch("settle_way", surface.vertices, **settle)])
        """All ways have come to their ends: time begins anew, and what is not renewed stands."""
        self._inexact = 0.0  #: m by which a way that is drawn out may be rounded, at most

    def detect(
        self, x0: Any, x1: Any, reach: float, margin: float, free: Any | None = None, time: Time = WHOLE
    ) -> Candidates:
        """All pairs that can come within `reach` while all vertices go on as from x0 to x1, with a common time
        parameter, but for the `free` ones (V,) (None = all), each of which takes any part of its way from x0 to x1.

        margin: the candidates stay complete while no vertex strays (`stray`) by more. m
        time: which part of their whole way the motion is, of 0 to 1.
        Raises TooManyPairsError, rather than drop any.
        """
        inflation = 0.5 * reach + margin
        if inflation != self._inflation:
            self._refit, self._inflation = self.backend.sequence(self._refitting(inflation)), inflation
        self._inexact = INEXACT * margin
        return joined(self.backend, self.renew(x0, x1, self.all, free, time))

    def renew(self, x0: Any, x1: Any, fresh: Any, free: Any | None = None, time: Time = WHOLE) -> list[Part]:
        """All pairs with at least one of the `fresh` vertices (V,) int32, whose ways are now those from x0 to x1; the
        others keep the ways that they were last given, all of them the reach and margin of the last `detect`.

        Raises TooManyPairsError.
        """
        self.backend.launch(
            "renew_way", self.vertices, x0=x0, x1=x1, before=x0 if self.before is None else self.before,
            known=int(self.before is not None), free_now=self.all if free is None else free, fresh=fresh,
            since=time.since, first=time.first, last=time.last, most=self._inexact, way_start=self.start,
            way_end=self.end, free=self.free, stale=self._stale, stray=self.strays,
        )  # fmt: skip
        if fresh is not self.strayed:
            self.strayed[:] = fresh
        self._refit()
        return self._collect(self._overlaps())

    def stray(self, x0: Any, x1: Any, margin: float = float("inf"), time: Time = WHOLE) -> tuple[Any, int]:
        """(V,) how far a vertex on its way from x0 to x1 strays at most, m: a free one from its own way, any other
        from where it should be on it at this time. And of how many that is beyond the margin: `strayed` says of which.

        Both arrays are overwritten by the next call.
        """
        bound = self._strays
        if bound is None or bound[0] is not x0 or bound[1] is not x1 or bound[2] != margin:
            self._strays = bound = x0, x1, margin, {}
        if time not in bound[3]:
            measure = launch(
                "sweep_stray", self.vertices, x0=x0, x1=x1, **self._ways(time), margin=margin, stray=self.strays,
                fresh=self.strayed, strayed=self._count,
            )  # fmt: skip
            none = launch("clear_number", 1, to=self._count)
            bound[3][time] = self.backend.sequence([none, measure])
        bound[3][time]()
        return self.strays, int(self._look()()[0][0])

    def _ways(self, time: Time) -> dict[str, Any]:
        return {"way_start": self.start, "way_end": self.end, "free": self.free, "first": time.first, "last": time.last}

    def _refitting(self, inflation: float) -> list[Launch]:
        """Kernels that make the boxes of what is stale, mark those of what is fresh, and refit the trees."""
        ways = {"x0": self.start, "x1": self.end, "fresh": self.strayed, "stale": self._stale, "free": self.free}
        launches = [
            launch("swept_box", len(box) // 4, **ways, corners=corners, size=size, inflation=inflation, box=box)
            for corners, size, box in (
                (self.vertex_corners, 1, self.vertex_box),
                (self.edge_corners, 2, self.edge_box),
                (self.triangle_corners, 3, self.triangle_box),
            )
        ]
        first = 0
        for depth, tree in zip(self.depths, self.trees, strict=True):
            patch = {"start": self.tables["triangle_start"], "triangle_box": self.triangle_box, "first_patch": first}
            launches.append(launch("patch_box", 1 << depth, **patch, depth=depth, tree=tree, boxes=self._leaf_boxes))
            launches += [
                launch("tree_refit", 1 << level, first_node=(1 << level) - 1, tree=tree)
                for level in reversed(range(depth))
            ]
            first += 1 << depth
        return [*launches, launch("clear_number", self.vertices, to=self._stale)]

    def _overlaps(self) -> Any:
        """(P, 2) patches of cloth and any that overlap."""
        xp, leaves = self.backend.xp, 1 << self.depths[0]
        nothing = xp.empty((1, 2), xp.int32)
        counts = self._counts[: len(self.depths) * leaves]
        for other in range(len(self.depths)):
            self._search(other, writing=0, end=counts, pairs=nothing)
        end, total = self._ends(counts)
        pairs = xp.empty((max(total, 1), 2), xp.int32)
        for other in range(len(self.depths)):
            self._search(other, writing=1, end=end, pairs=pairs)
        return pairs[:total]

    def _search(self, other: int, writing: int, end: Any, pairs: Any) -> None:
        """Cloth's patches against those of the tree `other`."""
        leaves = 1 << self.depths[0]
        own = slice(other * leaves, (other + 1) * leaves)
        self.backend.launch(
            "overlapping_patches", leaves, tree=self.trees[0], depth=self.depths[0], other=self.trees[other],
            other_depth=self.depths[other], other_first=leaves if other else 0, within=int(other == 0), notes=PARTNERS,
            noted=self._noted[PARTNERS * own.start : PARTNERS * own.stop], writing=writing, counts=self._counts[own],
            end=end[own], pairs=pairs,
        )  # fmt: skip

    def _collect(self, pairs: Any) -> list[Part]:
        """The candidates of these pairs of patches (P, 2), culled part by part: most of them never are in memory."""
        if len(pairs) <= CHUNK:
            return [self.cull(self._listed(pairs))]
        parts = []
        for k in range(0, len(pairs), CHUNK):
            found = joined(self.backend, [self.cull(self._listed(pairs[k : k + CHUNK]))])
            parts.append((found, self.backend.xp.arange(found.count, dtype=self.backend.xp.int32)))
        self._within_index(sum(found.count for found, _ in parts))
        return parts

    def _listed(self, pairs: Any) -> Candidates:
        xp, count = self.backend.xp, len(pairs)
        counts, nothing = xp.empty(count, xp.int32), xp.empty((1, 4), xp.int32)
        arguments = {
            "patches": pairs,
            "patch_boxes": self._leaf_boxes,
            **self.tables,
            "vertex_box": self.vertex_box,
            "edge_box": self.edge_box,
            "triangle_box": self.triangle_box,
            "edge_corners": self.edge_corners,
            "triangle_corners": self.triangle_corners,
            "vertex_class": self.classes.of[0],
            "edge_class": self.classes.of[1],
            "triangle_class": self.classes.of[2],
            "classes": self.classes.count,
            "apart": self.classes.table,
            "notes": NOTES,
            "noted": xp.empty(NOTES * count, xp.int32),
        }
        first = {"writing": 0, "counts": counts, "end": counts, "feature": nothing, "corner": nothing}
        self.backend.launch("candidates", count, **arguments, **first)
        end, total = self._ends(counts)
        feature, corner = xp.empty((total, 2), xp.int32), xp.empty((total, 4), xp.int32)
        second = {"writing": 1, "counts": counts, "end": end, "feature": feature, "corner": corner}
        self.backend.launch("candidates", count, **arguments, **second)
        return Candidates(total, feature, corner, xp.empty(total, xp.float32))

    def _ends(self, counts: Any) -> tuple[Any, int]:
        """(up to where each element writes, how many there are) of what the first pass has counted."""
        end, total = self.backend.ends(counts)
        return end, self._within_index(total)

    def _within_index(self, total: int) -> int:
        if total > MOST_PAIRS:
            raise TooManyPairsError(
                f"{total} pairs of vertices, edges and triangles are near each other, more than {MOST_PAIRS}. "
                "Lower the thickness, raise the step rate, or see whether parts of the mesh lie in one place"
            )
        return total

# SPDX-License-Identifier: GPL-3.0-or-later
"""Candidate pairs from the overlap of swept boxes (docs/theory/method.md §6), kernels `broad_phase.h`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend import Backend, Launch, launch
from .patches import PATCH_SIZE, Surface, patches

CHUNK = 1 << 17  #: pairs of patches whose candidates are listed, and culled, at once
PARTNERS = 16  #: numbers that the kernel `overlapping_patches` notes for a patch
NOTES = 3 * (1 + 3 * PATCH_SIZE)  #: most overlaps that the kernel `candidates` notes for a pair of patches
MOST_PAIRS = (1 << 29) - 1  #: kernels index the four corners of a pair with 32 bits


class TooManyPairsError(RuntimeError):
    """More pairs are near each other than can be counted; the text is for the user."""


@dataclass(frozen=True)
class Candidates:
    """Pairs whose swept boxes overlap: all that can come within the reach they were detected with."""

    count: int
    feature: Any  #: (count, 2) (vertex, triangle) or (~edge, edge)
    corner: Any  #: (count, 4) vertices
    room: Any  #: (count,) by how much its sides were farther apart than their range, m (`Proximity`); 0 = not known

    def subset(self, kept: Any) -> Candidates:
        return Candidates(len(kept), *(array.take(kept, axis=0) for array in (self.feature, self.corner, self.room)))


def joined(backend: Backend, parts: Sequence[Candidates]) -> Candidates:
    """The candidates of all parts, one after the other."""
    every = lambda name: backend.xp.concatenate([getattr(part, name)[: part.count] for part in parts])  # noqa: E731
    return Candidates(sum(part.count for part in parts), every("feature"), every("corner"), every("room"))


class BroadPhase:
    """Trees over patches of cloth and of colliders, refitted in each detection."""

    def __init__(
        self,
        backend: Backend,
        surface: Surface,
        positions: npt.NDArray[np.floating],
        self_collision: npt.NDArray[np.bool_],
    ) -> None:
        """positions: (V, 3) at the start. self_collision: (objects,) whether an object collides with itself."""
        found = patches(surface, positions)
        integers = lambda values: backend.array(values, np.int32)  # noqa: E731
        self.backend, self.vertices, self.depths = backend, surface.vertices, found.depths
        self.vertex_corners = integers(found.vertices.entries)
        self.edge_corners = integers(found.edge_corners[found.edges.entries])
        self.triangle_corners = integers(surface.triangles[found.triangles.entries])
        self.object, self.ignore = integers(surface.object), integers(~self_collision)
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
        self.cull: Callable[[Candidates], Candidates] = lambda found: found  #: what is kept of each part of a list
        self._stray = xp.zeros(surface.vertices, xp.float32)
        # 1: vertices looked for now; those whose way has changed since the last `settle`; … since the boxes were made
        self._fresh, self._moving, self._stale = (xp.zeros(surface.vertices, xp.int32) for _ in range(3))
        self._refit = backend.sequence([])

    def detect(self, x0: Any, x1: Any, reach: float, margin: float, free: Any | None = None) -> Candidates:
        """All pairs that can come within `reach` while all vertices go from x0 to x1 with a common time parameter, but
        for the `free` ones (V,) (None = all), each of which takes any part of its way.

        margin: the candidates stay complete while no vertex strays (`stray`) by more. m
        Raises TooManyPairsError, rather than drop any.
        """
        self._refit = self.backend.sequence(self._refitting(0.5 * reach + margin))
        return self.renew(x0, x1, self.backend.xp.ones(self.vertices, bool), free)

    def renew(self, x0: Any, x1: Any, fresh: Any, free: Any | None = None) -> Candidates:
        """All pairs with at least one of the `fresh` (V,) vertices, whose ways are now those from x0 to x1; the other
        vertices keep the ways that they were last given, all of them the reach and margin of the last `detect`.

        Raises TooManyPairsError.
        """
        xp = self.backend.xp
        self.start[:], self.end[:] = (
            xp.where(fresh[:, None], new, old) for new, old in ((x0, self.start), (x1, self.end))
        )
        self.free[:] = xp.where(fresh, 1 if free is None else free, self.free)
        self._fresh[:] = fresh
        self._moving |= self._fresh
        self._stale |= self._fresh
        self._refit()
        self._stale[:] = 0
        pairs = [self._overlaps(0, 0, 0)]
        if len(self.depths) > 1:
            pairs.append(self._overlaps(0, 1, 1 << self.depths[0]))
        return self._collect(xp.concatenate(pairs))

    def settle(self) -> None:
        """The motion is over: who went with the common time parameter is looked for at the end of its way alone."""
        self.start[:] = self.backend.xp.where(self.free[:, None] != 0, self.start, self.end)
        self._stale |= self._moving
        self._moving[:] = 0

    def stray(self, x0: Any, x1: Any) -> Any:
        """(V,) how far a vertex on its way from x0 to x1 strays at most, m: a free one from its own way, any other
        from the end of it, since all must be on theirs at one time.

        Overwritten by the next call.
        """
        self.backend.launch(
            "sweep_stray", self.vertices, x0=x0, x1=x1, way_start=self.start, way_end=self.end, free=self.free,
            stray=self._stray,
        )  # fmt: skip
        return self._stray

    def _refitting(self, inflation: float) -> list[Launch]:
        """Kernels that make the boxes of what is stale, mark those of what is fresh, and refit the trees."""
        ways = {"x0": self.start, "x1": self.end, "fresh": self._fresh, "stale": self._stale, "free": self.free}
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
            launches.append(launch("patch_box", 1 << depth, **patch, depth=depth, tree=tree))
            launches += [
                launch("tree_refit", 1 << level, first_node=(1 << level) - 1, tree=tree)
                for level in reversed(range(depth))
            ]
            first += 1 << depth
        return launches

    def _overlaps(self, tree: int, other: int, other_first: int) -> Any:
        """(P, 2) patches of two trees that overlap."""
        xp, leaves = self.backend.xp, 1 << self.depths[tree]
        start, nothing = xp.zeros(leaves, xp.int32), xp.zeros((1, 2), xp.int32)
        arguments = {
            "tree": self.trees[tree],
            "depth": self.depths[tree],
            "other": self.trees[other],
            "other_depth": self.depths[other],
            "other_first": other_first,
            "within": int(tree == other),
            "notes": PARTNERS,
            "noted": xp.empty(PARTNERS * leaves, xp.int32),
        }
        self.backend.launch("overlapping_patches", leaves, **arguments, writing=0, start=start, pairs=nothing)
        start, total = self._starts(start)
        pairs = xp.zeros((max(total, 1), 2), xp.int32)
        self.backend.launch("overlapping_patches", leaves, **arguments, writing=1, start=start, pairs=pairs)
        return pairs[:total]

    def _collect(self, pairs: Any) -> Candidates:
        """The candidates of these pairs of patches (P, 2), culled part by part: most of them never are in memory."""
        boxes = self._patch_boxes()
        parts = [self.cull(self._listed(pairs[k : k + CHUNK], boxes)) for k in range(0, max(len(pairs), 1), CHUNK)]
        self._within_index(sum(part.count for part in parts))
        return joined(self.backend, parts)

    def _listed(self, pairs: Any, boxes: Any) -> Candidates:
        xp, count = self.backend.xp, len(pairs)
        start, nothing = xp.zeros(count, xp.int32), xp.zeros((1, 4), xp.int32)
        arguments = {
            "patches": pairs,
            "patch_boxes": boxes,
            **self.tables,
            "vertex_box": self.vertex_box,
            "edge_box": self.edge_box,
            "triangle_box": self.triangle_box,
            "edge_corners": self.edge_corners,
            "triangle_corners": self.triangle_corners,
            "object": self.object,
            "ignore": self.ignore,
            "notes": NOTES,
            "noted": xp.empty(NOTES * count, xp.int32),
        }
        self.backend.launch("candidates", count, **arguments, writing=0, start=start, feature=nothing, corner=nothing)
        start, total = self._starts(start)
        feature, corner = xp.zeros((max(total, 1), 2), xp.int32), xp.zeros((max(total, 1), 4), xp.int32)
        self.backend.launch("candidates", count, **arguments, writing=1, start=start, feature=feature, corner=corner)
        return Candidates(total, feature, corner, xp.zeros(max(total, 1), xp.float32))

    def _starts(self, counts: Any) -> tuple[Any, int]:
        """(where each element writes, how many there are) of what the first pass has counted."""
        start, total = self.backend.exclusive_sum(counts)
        return start, self._within_index(total)

    def _within_index(self, total: int) -> int:
        if total > MOST_PAIRS:
            raise TooManyPairsError(
                f"{total} pairs of vertices, edges and triangles are near each other, more than {MOST_PAIRS}. "
                "Lower the thickness, raise the step rate, or see whether parts of the mesh lie in one place"
            )
        return total

    def _patch_boxes(self) -> Any:
        """(4 patches, 4) leaves of all trees, in the order of the patches."""
        leaves = [tree[4 * ((1 << depth) - 1) :] for depth, tree in zip(self.depths, self.trees, strict=True)]
        return self.backend.xp.concatenate(leaves)

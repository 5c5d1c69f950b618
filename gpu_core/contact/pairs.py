# SPDX-License-Identifier: GPL-3.0-or-later
"""The pairs of the moment: candidates that can matter in this motion, with thickness (docs/theory/method.md §6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend import Backend, launch
from ..scene.arrays import IntArray
from ..scene.meetings import Table
from ..scene.seams import NearSeams
from .broad_phase import WHOLE, BroadPhase, Candidates, Part, Time, joined
from .patches import Surface
from .tangles import pair_keys

COLLIDERS = 1 << 30  #: which piece their vertices lie in
SEAM_GAP = 2.0e-5  #: m that the two sides of a seam keep, at least
REST_SHARE = 0.3  #: thickness of a pair of one cloth, at most, as a share of its rest distance
MARGIN_SHARES = (0.04, 0.1)  #: how far a vertex may stray before its part of the broad phase is redone, in mean edges
MARGIN_REACH = 0.25  #: and in reaches of contact, at most
CELL_SHARE = 0.8  #: of a mean edge: as far apart are most neighbours in cloth, at least
CROWD = 0.1  #: share of the vertices that wait in a motion, from which all are released at once
UNKNOWN = 0x7F800000  #: of a vertex, to the kernels of pinch.h: the bits of infinity
AHEAD = 4  #: steps that candidates are listed for, along ways that go on as they began
FEW = 0.3  #: share of the vertices up to which it is quicker to redo their part than all of it


@dataclass(frozen=True)
class Pairs:
    """P pairs; corner indices count cloth vertices first, then collider vertices."""

    count: int
    feature: Any  #: (P, 2)
    corner: Any  #: (P, 4)
    offset: Any  #: (P,) ξ, m
    activation: Any  #: (P,) d̂, m


def thickness_within_edges(
    thickness: npt.NDArray[np.floating], length: npt.NDArray[np.floating], edges: npt.NDArray[np.integer]
) -> npt.NDArray[np.float64]:
    """ξ per vertex (V,), m, at most the mean length of its edges at rest: what a mesh cannot show it cannot keep.

    thickness: (V,) m. length: (E,) at rest, m, of the edges (E, 2). Vertices without edges keep ξ.
    """
    count = np.bincount(edges.ravel(), minlength=len(thickness))
    total = np.bincount(edges.ravel(), np.repeat(length, 2), minlength=len(thickness))
    mean = np.divide(total, count, out=np.full(len(thickness), np.inf), where=count > 0)
    return np.minimum(np.asarray(thickness, np.float64), mean)


def margin_of(reach: float, edge_length: float) -> float:
    """How far a vertex may stray before its part of the broad phase is redone, m: where that is enough to leave a
    vertex's neighbours out of its boxes, no more (on edges of 2.9 mm there were nine times as many candidates)."""
    least, most = (share * edge_length for share in MARGIN_SHARES)
    beside = 0.5 * (CELL_SHARE * edge_length - reach)
    return min(beside if least <= beside <= most else most, MARGIN_REACH * reach)


def _padded(values: npt.ArrayLike, count: int, fill: float) -> npt.NDArray[Any]:
    """(count,) of cloth and colliders."""
    return np.append(values, np.full(count - np.size(values), fill))


class Proximity:
    """Finds the pairs of a motion. Redoes the broad phase only when the last one no longer covers it."""

    def __init__(
        self,
        backend: Backend,
        surface: Surface,
        positions: npt.NDArray[np.floating],
        rest: Any,
        thickness: npt.NDArray[np.floating],
        activation: float,
        edge_length: float,
        party: IntArray,
        apart: Table,
        seams: NearSeams | None = None,
    ) -> None:
        """rest: (V, 4) on the device. thickness: (V,) ξ per vertex, m. activation: least d̂, m. party: (V,).
        apart: (P, P) which parties do not collide. seams: of the cloth."""
        self.backend = backend
        self.broad_phase = BroadPhase(backend, surface, positions, party, apart)
        self.broad_phase.cull = self._culled
        self._ranges = {
            "rest": rest,
            "piece": backend.array(_padded(seams.piece, len(thickness), COLLIDERS), np.int32)
            if seams
            else backend.array(surface.object, np.int32),
            "thickness": backend.array(thickness),
            "seam": backend.array(_padded(seams.seam if seams else [], len(thickness), -1), np.int32),
            "seam_distance": backend.array(_padded(seams.distance if seams else [], len(thickness), 0.0)),
            "seam_gap": SEAM_GAP,
            "activation_least": activation,
            "rest_share": REST_SHARE,
        }
        self._activation, self._edge_length = activation, edge_length
        self._thickness = np.zeros(0)
        self.thicken(thickness)
        self.detections = 0
        self.freed = backend.array([], np.int64)  #: keys of tangled pairs, which are left alone
        self._let: tuple[Any, Any] | None = None  #: (V,) bool, see `let`; (V,) bool, of bodies
        self._cloth_vertices = surface.cloth_vertices
        self._free, self._any_free = backend.xp.zeros(surface.vertices, backend.xp.int32), False
        self._ahead, self._step = 1, 0  #: for how many steps the candidates' ways are drawn out; which of them it is
        self._time: Time = WHOLE  #: of the motion, on those ways
        self._before = backend.xp.zeros((surface.vertices, 4), backend.xp.float32)  #: `BroadPhase.before`
        #: (3, V) bits of how much of its thickness a vertex keeps in this step, and what tells it (kernels/pinch.h)
        self._pinched = backend.xp.full((3, surface.vertices), UNKNOWN, backend.xp.int32)
        self._step_begins = True

    def thicken(self, thickness: npt.NDArray[np.floating]) -> None:
        """ξ per vertex (V,), m, from the next motion on. Pairs that are nearer than that now are pushed apart."""
        if np.array_equal(thickness, self._thickness):
            return
        self._thickness = thickness
        self._ranges["thickness"][:] = self.backend.array(thickness)
        thickest = float(np.max(thickness))
        self.reach = thickest + max(self._activation, thickest)
        self.margin = margin_of(self.reach, self._edge_length)
        self._candidates: Candidates | None = None

    def let(self, vertices: npt.NDArray[np.integer]) -> None:
        """From the next motion on, bodies do not keep these cloth vertices (K,) out, and what hangs on them."""
        self._let = None
        if len(vertices):
            chosen = np.zeros(len(self._thickness), bool)
            chosen[vertices] = True
            of_body = np.arange(len(chosen)) >= self._cloth_vertices
            self._let = self.backend.array(chosen, bool), self.backend.array(of_body, bool)

    def part(self, apart: Table) -> None:
        """Which parties (P, P) do not collide, from the next motion on."""
        if self.broad_phase.classes.part(apart):
            self._candidates = None

    def pairs(self, x0: Any, x1: Any) -> Pairs:
        """Pairs that can come within thickness and activation while all vertices go from x0 to x1 with a common time
        parameter."""
        self._ways = x0, x1
        if self._any_free:
            self._free, self._any_free = self.backend.xp.zeros(len(x0), self.backend.xp.int32), False
        self._step += self._step_begins
        self._complete()
        if self._step_begins:
            self._pinched[:] = UNKNOWN
        self.found = self._within_reach()
        if self._step_begins:
            self._pinch(self.found)
            self._before[:], self.broad_phase.before = x1, self._before
        self._step_begins = False
        return self.found

    def begin_step(self) -> None:
        """The next motion is the first of a step: see anew where cloth has less room than it is thick."""
        self._step_begins = True

    def _pinch(self, found: Pairs) -> None:
        """Where bodies stand on both sides of cloth, its thickness gives way for this step; not while something
        crosses: there cloth is on its way out."""
        if not found.count or self._cloth_vertices == self.broad_phase.vertices or len(self.freed):
            return
        count, (x0, x1), (share, nearest, first) = found.count, self._ways, self._pinched
        way = self.backend.xp.empty((count, 4), self.backend.xp.float32)
        pairs = {"corner": found.corner, "cloth_vertices": self._cloth_vertices, "way": way}
        full = {"offset": found.offset, "activation": found.activation}
        self.backend.run(
            [
                launch("pinch_gap", count, feature=found.feature, x=x0, x1=x1, nearest=nearest, **pairs, **full),
                launch("pinch_nearest", count, nearest=nearest, first=first, **pairs),
                launch("pinch_share", count, first=first, share=share, **pairs, **full),
                launch("pinch_yield", count, corner=found.corner, share=share, **full),
            ]
        )

    def released(self, vertices: Any) -> Pairs:
        """The pairs of the same motion when these vertices (V,) may take any part of their ways, and all others that
        were released in it."""
        fresh = (vertices | bool(vertices.mean() > CROWD)) & (self._free == 0)
        if bool(fresh.any()):
            self._free[fresh], self._any_free = 1, True
            self._renew(fresh.astype(self.backend.xp.int32))
            self.found = self._within_reach()
        return self.found

    def _within_reach(self) -> Pairs:
        """Of the candidates, in an order that does not tell when each was listed: what is summed up has no other."""
        found, xp, (x0, x1) = self._candidates, self.backend.xp, self._ways
        assert found is not None
        kept = self._flagged(
            "candidate_nears", found.count, "nears", feature=found.feature, corner=found.corner, room=found.room,
            stray=self.broad_phase.strays, x=x0, x1=x1, free=self._free, **self._ranges, most_range=self.reach,
        )  # fmt: skip
        key = pair_keys(found.feature[kept])
        order = xp.argsort(key)
        kept = kept[order]
        if len(self.freed):
            kept = kept[~xp.isin(key[order], self.freed)]
        if self._let is not None:
            corner = found.corner[kept]
            chosen, of_body = self._let
            kept = kept[~(chosen[corner].any(axis=1) & of_body[corner].any(axis=1))]
        return self._thick(found, kept)

    def _flagged(self, kernel: str, count: int, flag: str, **arguments: Any) -> Any:
        """For which of its elements a kernel sets its argument `flag`."""
        flags = self.backend.xp.empty(count, self.backend.xp.int32)
        self.backend.launch(kernel, count, **{flag: flags}, **arguments)
        return self.backend.selected(flags)

    def begin_frame(self) -> None:
        """Start from nothing, so that a bake resumed here goes on with the same candidates in the same order."""
        self._candidates = self.broad_phase.before = None

    def near(self, pairs: Pairs, x0: Any, x1: Any, slack: float) -> Any:
        """(C,) which of the pairs can become contacts in the motion x0 → x1, give or take `slack`."""
        return self._flagged(
            "pair_near", pairs.count, "near", feature=pairs.feature, corner=pairs.corner, x=x0, x1=x1,
            offset=pairs.offset, activation=pairs.activation, slack=slack,
        )  # fmt: skip

    def smallest_gap(self, x: Any) -> float:
        """Distance that every pair keeps at x for certain, m; the reach of contact where nothing is nearer."""
        pairs, xp = self.pairs(x, x), self.backend.xp
        gap = xp.full(pairs.count + 1, self.reach, xp.float32)
        self.backend.launch("pair_separation", pairs.count, feature=pairs.feature, corner=pairs.corner, x=x, gap=gap)
        return max(0.0, float(gap.min()))

    def _complete(self) -> None:
        """Bring the candidates up to date for this motion: the first one of a step takes its vertices on along their
        ways, those after it are near where it ends."""
        broad, ways = self.broad_phase, self._ways
        if self._candidates is not None:
            if self._step > self._ahead:
                broad.settle()
                self._step, self._ahead = 1, AHEAD
            before, now = (self._step - 1) / self._ahead, self._step / self._ahead
            self._time = Time(before if self._step_begins else now, now, before)
            _, strayed = broad.stray(*ways, self.margin, self._time)
            if strayed <= FEW * broad.vertices:
                if strayed:
                    self._renew(broad.strayed)
                return
        self._step, self._ahead = 1, AHEAD if self._step_begins else 1
        self._time = Time(0.0, 1.0 / self._ahead, 0.0)
        self._candidates = broad.detect(*ways, self.reach, self.margin, self._free, self._time)
        self.detections += 1

    def _renew(self, fresh: Any) -> None:
        """Look again for the candidates of the `fresh` vertices (V,) int32: their ways are now those of the motion."""
        found, broad = self._candidates, self.broad_phase
        assert found is not None
        others = self._flagged("candidate_stays", found.count, "stays", corner=found.corner, fresh=fresh)
        renewed = broad.renew(*self._ways, fresh, self._free, self._time)
        self._candidates = joined(self.backend, [(found, others), *renewed])

    def _culled(self, found: Candidates) -> Part:
        """Those that can come within range while no vertex strays from the last detection by more than the margin."""
        broad, spare = self.broad_phase, (1.0 + 1e-6) * 2.0 * self.margin
        near = self._flagged(
            "candidate_room", found.count, "near", feature=found.feature, corner=found.corner, x=broad.start,
            x1=broad.end, free=broad.free, **self._ranges, most_range=self.reach, enough=spare, room=found.room,
        )  # fmt: skip
        return found, near

    def _thick(self, found: Candidates, kept: Any) -> Pairs:
        xp, count = self.backend.xp, len(kept)
        feature, corner = xp.empty((count, 2), xp.int32), xp.empty((count, 4), xp.int32)
        offset, activation = xp.empty(count, xp.float32), xp.empty(count, xp.float32)
        self.backend.launch(
            "pair_thickness", count, kept=kept, feature_in=found.feature, corner_in=found.corner, **self._ranges,
            share=self._pinched[0], feature=feature, corner=corner, offset=offset, activation=activation,
        )  # fmt: skip
        return Pairs(count, feature, corner, offset, activation)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The seams of a scene while it is simulated: threads first, then one vertex for each that they have brought together.

A thread can bring two vertices near each other, but contact keeps them apart, and cloth bends freely there. So once a
seam is closed its vertices become one, between two frames, and the simulation goes on with a mesh that knows no seam
(docs/theory/sewing.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .contact.patches import Surface
from .contact.tangles import tangles
from .scene.arrays import Array, IntArray
from .scene.meetings import Table, let_through
from .scene.scene import Cloth, Scene
from .scene.seams import TOGETHER, mean_of, welded
from .scene.welds import NEAR as MEANT
from .scene_space import surface_of

NEAR = 0.5  #: of a cloth's thickness: no farther apart are vertices that become one
EASE = 1.0e-4  #: m by which a vertex of a seam that opens goes back into its own panel


class Sewing:
    """What of a scene's seams is closed. `scene` is the one to simulate."""

    def __init__(self, scene: Scene) -> None:
        """scene: with its seams open, but where both ends of a thread begin in one place."""
        self.original = self.scene = scene
        self.excepted: Table | None = None  #: (P, P) which parties the user lets through each other now
        self.done = np.zeros(sum(len(c.seams) for c in scene.cloths if c.seams is not None), bool)  #: (S,) of all
        self.vertex_of: list[IntArray] = [np.arange(len(cloth.positions), dtype=np.int32) for cloth in scene.cloths]
        gaps = [np.linalg.norm(places[:, 0] - places[:, 1], axis=1) for places in map(_ends, scene.cloths)]
        meant = [max(TOGETHER, MEANT * cloth.thickness) for cloth in scene.cloths]
        closed = [gap <= near for gap, near in zip(gaps, meant, strict=True)]
        self.weld(np.concatenate(closed))

    def weld(self, done: npt.NDArray[np.bool_]) -> None:
        """These threads (S,) are closed."""
        cloths, first = list(self.original.cloths), 0
        for k, cloth in enumerate(cloths):
            if cloth.seams is None:
                continue
            own = slice(first, first + len(cloth.seams))
            first = own.stop
            result = welded(cloth, done[own], self.done[own] & done[own])
            cloths[k], self.vertex_of[k] = result.cloth if done[own].any() else cloth, result.vertex_of
            done[own] = result.done
        self.done, self.scene = done, replace(self.original, cloths=tuple(cloths))

    def closing(self, positions: Sequence[Array], seconds: float, forces: Sequence[float]) -> npt.NDArray[np.bool_]:
        """(S,) the threads that are closed, or may be now. positions: (N, 3) of each original cloth, m.
        forces: of each cloth, that a thread pulls with now, N."""
        near = [self.done[:0]]
        for cloth, places, force in zip(self.original.cloths, positions, forces, strict=True):
            if cloth.seams is not None:
                apart = np.linalg.norm(places[cloth.seams[:, 1]] - places[cloth.seams[:, 0]], axis=1)
                near.append((apart <= NEAR * cloth.thickness) & (seconds >= cloth.sewing_time) & (force > 0.0))
        return self.done | np.concatenate(near)

    def open(self, positions: Sequence[Array], seconds: float, forces: Sequence[float]) -> list[str]:
        """Of each original cloth, in words, threads that should have closed by now. Arguments as for `closing`."""
        said, first = [], 0
        for cloth, places, force in zip(self.original.cloths, positions, forces, strict=True):
            if cloth.seams is None:
                continue
            own = slice(first, first := first + len(cloth.seams))
            late = cloth.seams[~self.done[own]]
            if len(late) and force > 0.0 and seconds >= cloth.sewing_time:
                widest = 1e3 * np.linalg.norm(places[late[:, 1]] - places[late[:, 0]], axis=1).max()
                said.append(
                    f"{cloth.name}: {len(late)} of {len(cloth.seams)} threads are still open at the end, up to "
                    f"{widest:.3g} mm. Raise Max Force or Closing Time, or cut the panels to meet"
                )
        return said

    def holding(self, forces: Sequence[float]) -> npt.NDArray[np.bool_]:
        """(S,) the closed threads that stay so: those of a cloth whose threads have no force open again."""
        held = [np.full(len(cloth.seams), force > 0.0) for cloth, force in self._sewn(forces)]
        return self.done & np.concatenate([self.done[:0], *held])

    def clear(self, positions: Sequence[Array], done: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Of these threads (S,), those that can be closed at these places without a crossing."""
        while (done != self.done).any():
            tried, crossed = self._tried(positions, done)
            if not crossed.any():
                return tried.done
            done = tried.done & (self.done | ~crossed)
        return self.done

    def parted(self, positions: Sequence[Array], done: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """(S,) of the closed threads, those that cannot open yet, beside the `done` that are not to: a panel that lies
        on the other would cross it. positions: (N, 3) of each original cloth, m."""
        while (done != self.done).any():
            tried, crossed = self._tried(self.eased(positions, done), done)
            if not crossed.any():
                return tried.done
            done = tried.done | (self.done & crossed)
        return self.done

    def eased(self, positions: Sequence[Array], done: npt.NDArray[np.bool_]) -> list[Array]:
        """(N, 3) of each original cloth at positions (N, 3), with a gap where closed threads are not `done`."""
        result, first = list(positions), 0
        for k, cloth in enumerate(self.original.cloths):
            if cloth.seams is None:
                continue
            own = slice(first, first := first + len(cloth.seams))
            opened = np.unique(cloth.seams[self.done[own] & ~done[own]])
            if len(opened):
                inwards = _inwards(cloth, positions[k])[opened]
                length = np.linalg.norm(inwards, axis=1, keepdims=True)
                step = np.minimum(EASE, 0.5 * length) / np.maximum(length, 1e-30)
                result[k] = positions[k].copy()
                result[k][opened] += step * inwards
        return result

    def _tried(self, positions: Sequence[Array], done: npt.NDArray[np.bool_]) -> tuple[Sewing, npt.NDArray[np.bool_]]:
        """(with these threads closed, (S,) those that then cross something with an end that is another than now)."""
        tried = Sewing(self.original)
        tried.done = self.done
        tried.weld(done.copy())
        surface = surface_of(replace(tried.scene, colliders=()))
        crossed, new = np.zeros((2, surface.vertices), bool)
        places = self._numbered(tried.vertex_of)
        new[places[tried.done != self.done]] = True
        found = tried._crossing(np.concatenate(tried.joined(positions)), surface, self.excepted)
        crossed[found[new[found].any(axis=1)]] = True
        return tried, crossed[places].any(axis=1)

    def _crossing(self, positions: Array, surface: Surface, apart: Table | None) -> IntArray:
        """(K, 5) corners of what crosses at positions (V, 3) of the cloths and may not."""
        found = tangles(positions, surface).corners
        parties = [cloth.party for cloth in self.scene.cloths if cloth.party is not None]
        if apart is None or not parties:
            return found
        return found[~let_through(np.concatenate(parties), apart, found[:, :2], found[:, 2:])]

    def _sewn(self, forces: Sequence[float]) -> list[tuple[Any, float]]:
        """The cloths with seams, and their forces."""
        return [item for item in zip(self.original.cloths, forces, strict=True) if item[0].seams is not None]

    def _numbered(self, vertex_of: Sequence[IntArray]) -> IntArray:
        """(S, 2) the ends of all threads, as vertices of all cloths that these numbers make."""
        ends, first = [np.zeros((0, 2), np.int32)], 0
        for cloth, of in zip(self.original.cloths, vertex_of, strict=True):
            if cloth.seams is not None:
                ends.append(of[cloth.seams] + first)
            first += int(of.max()) + 1
        return np.concatenate(ends).astype(np.int32)

    def number(self, vertices: npt.NDArray[np.integer]) -> IntArray:
        """(G,) of vertices (G,) of all original cloths, among those that are simulated."""
        first = np.cumsum([0, *(int(of.max()) + 1 for of in self.vertex_of[:-1])])
        return np.concatenate([of + at for of, at in zip(self.vertex_of, first, strict=True)])[vertices]

    def one_of_each(self) -> IntArray:
        """(N′,) for each vertex that is simulated, the first of all original ones that it stands for."""
        number = self.number(np.arange(sum(len(cloth.positions) for cloth in self.original.cloths)))
        return np.unique(number, return_index=True)[1].astype(np.int32)

    def apart(self, values: Sequence[Array]) -> list[Array]:
        """(N, …) of each original cloth, from those that are simulated."""
        return [of[vertices] for of, vertices in zip(values, self.vertex_of, strict=True)]

    def joined(self, values: Sequence[Array]) -> list[Array]:
        """(N′, …) of each cloth that is simulated, from the original ones."""
        return [mean_of(of, vertices) for of, vertices in zip(values, self.vertex_of, strict=True)]


def _inwards(cloth: Cloth, positions: Array) -> Array:
    """(N, 3) from each vertex at positions (N, 3) to the middle of the triangles around it, m."""
    sums, count = np.zeros_like(positions), np.bincount(cloth.triangles.ravel(), minlength=len(positions))
    np.add.at(sums, cloth.triangles, positions[cloth.triangles].mean(axis=1)[:, None, :])
    return sums / np.maximum(count, 1)[:, None] - positions * (count > 0)[:, None]


def _ends(cloth: Cloth) -> Array:
    """(S, 2, 3) where the threads of a cloth begin, m."""
    return cloth.positions[np.zeros((0, 2), np.int32) if cloth.seams is None else cloth.seams]

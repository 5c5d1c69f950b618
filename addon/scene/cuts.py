# SPDX-License-Identifier: GPL-3.0-or-later
"""Every triangle that Blender draws of a body in any frame.

Blender turns a quad's diagonal where the quad folds, and cuts n-gons anew in each frame. Cloth has to stay out of all
of it.
"""

from __future__ import annotations

import bpy
import numpy as np

from ...gpu_core.scene.arrays import FloatArray, IntArray
from . import mesh as mesh_arrays

FIRST = np.array([[0, 1, 2], [0, 2, 3]])  #: corners of the triangles on both sides of a quad's first diagonal
OTHER = np.array([[0, 1, 3], [1, 2, 3]])
AT_ONCE = 1 << 14  #: quads whose arrays stay in the processor's cache
NEAR = 1.0e-4  #: as near to turning, as the cosine of the fold, a quad counts as drawn both ways


class Cuts:
    """Of one mesh over the frames, with the same faces in each."""

    def __init__(self, mesh: bpy.types.Mesh) -> None:
        """mesh: at the first frame."""
        self._drawn = mesh_arrays.triangles(mesh)
        self._last = mesh_arrays.positions(mesh)
        self._folds: _Folds | None = None  # of a mesh that deforms

    def see(self, mesh: bpy.types.Mesh, points: FloatArray) -> None:
        """One frame of it. points: (N, 3) its vertices, object space."""
        if np.array_equal(points, self._last):
            return
        if self._folds is None:
            self._folds = _Folds(mesh)
            self._folds.see(mesh, self._last)
        self._folds.see(mesh, points)
        self._last = points

    def finish(self) -> tuple[IntArray, int | None]:
        """((T, 3) those of the first frame as Blender draws them, then what else was seen, how many the first are;
        None = all)."""
        more = self._folds.triangles() if self._folds is not None else self._drawn[:0]
        if not len(more):
            return self._drawn, None
        every = np.concatenate([self._drawn, more])
        _, first = np.unique(np.sort(every, axis=1), axis=0, return_index=True)
        drawn = int((first < len(self._drawn)).sum())
        return every[np.sort(first)], drawn if drawn < len(first) else None


class _Folds:
    """Which quads were drawn both ways, and how n-gons were cut, in the order in which the frames show it: so a longer
    range only adds triangles at the end, and a bake can go on into it."""

    def __init__(self, mesh: bpy.types.Mesh) -> None:
        sizes, corners = mesh_arrays.faces(mesh)
        self._quads = corners[np.repeat(sizes == 4, sizes)].reshape(-1, 4)
        self._seen = np.zeros((2, len(self._quads)), bool)  # cut along the first diagonal, along the other one
        self._has_ngons = bool((sizes > 4).any())
        self._cut: set[tuple[int, ...]] = set()
        self._found: list[IntArray] = []

    def see(self, mesh: bpy.types.Mesh, points: FloatArray) -> None:
        before = self._seen.all(axis=0)
        for start in range(0, len(self._quads), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            fold = mesh_arrays.quad_folds(points[self._quads[part]])
            self._seen[0, part] |= fold < NEAR
            self._seen[1, part] |= fold > -NEAR
        both = self._quads[self._seen.all(axis=0) & ~before]
        self._found += [both[:, FIRST].reshape(-1, 3), both[:, OTHER].reshape(-1, 3)]
        if self._has_ngons:
            new = [
                corners for corners in mesh_arrays.triangles(mesh).tolist() if tuple(sorted(corners)) not in self._cut
            ]
            self._cut.update(tuple(sorted(corners)) for corners in new)
            self._found.append(np.array(new, np.int32).reshape(-1, 3))

    def triangles(self) -> IntArray:
        return np.concatenate(self._found)

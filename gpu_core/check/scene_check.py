# SPDX-License-Identifier: GPL-3.0-or-later
"""Is one frame of a scene free of intersections? Asks `intersection` and answers in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from ..scene.arrays import Array, IntArray
from ..scene.meetings import Meetings, Table, let_through
from ..scene.scene import Cloth, Collider, Scene
from ..scene.seams import TOGETHER
from .intersection import intersections, unique_edges


@dataclass(frozen=True)
class Finding:
    """An edge that passes through, or touches, a triangle."""

    frame: int
    edge_object: str
    edge: tuple[int, int]  #: vertex indices within edge_object
    triangle_object: str
    triangle: int  #: index within triangle_object's triangles
    place: tuple[float, float, float]  #: middle of the edge, world, m

    def __str__(self) -> str:
        x, y, z = self.place
        return (
            f"frame {self.frame}: the edge {self.edge[0]}–{self.edge[1]} of {self.edge_object} meets triangle "
            f"{self.triangle} of {self.triangle_object} near ({x:.4g}, {y:.4g}, {z:.4g})"
        )


def to_world(cloth: Cloth, cached: npt.NDArray[np.float32], frame_index: int) -> Array:
    """World positions (N, 3), m, float64, of a cached frame (N, 3) in object space. frame_index counts from the
    first frame that is simulated, which is 0."""
    positions = np.asarray(cached, np.float64)
    if cloth.world_to_object is None:
        return positions
    matrices = cloth.world_to_object
    object_to_world = np.linalg.inv(np.asarray(matrices[frame_index if len(matrices) > 1 else 0], np.float64))
    return positions @ object_to_world[:3, :3].T + object_to_world[:3, 3]


def check_frame(scene: Scene, frame: int, cached: Sequence[npt.NDArray[np.float32]]) -> list[Finding]:
    """`SceneCheck.cached_findings` of a single frame."""
    return SceneCheck(scene).cached_findings(frame, cached)


class Exceptions(NamedTuple):
    """What the user lets through."""

    party: IntArray  #: (V,) of each vertex
    apart: Callable[[float], Table]  #: (P, P) which parties may cross, at a frame


class MeshCheck:
    """Objects as one mesh, cloths first, and the way back to names and local indices."""

    def __init__(
        self,
        names: Sequence[str],
        sizes: Sequence[int],
        triangles: Sequence[npt.NDArray[np.integer]],
        cloths: int,
        seams: Sequence[npt.NDArray[np.integer]] = (),
        cords: Sequence[npt.NDArray[np.integer]] = (),
        threads: npt.NDArray[np.integer] | None = None,
        exceptions: Exceptions | None = None,
    ) -> None:
        """sizes: vertices of each object. triangles: (T, 3) of each, by its own vertices. cloths: so many are cloth.
        seams, cords: (S, 2) of each of the first objects, by its own vertices; a cord is an edge without a triangle.
        threads: (S, 4) of seams between objects: object, its vertex, object, its vertex."""
        self.names, self.exceptions = list(names), exceptions
        self.let_through = 0  #: crossings of the last frame that the exceptions explain
        self.vertex_start = np.cumsum([0, *sizes])
        self.triangle_start = np.cumsum([0, *(len(entry) for entry in triangles)])
        self.collider_start = int(self.vertex_start[cloths])
        starts = self.vertex_start[:-1]
        self.triangles = np.concatenate(
            [np.asarray(entry, np.int64).reshape(-1, 3) + start for entry, start in zip(triangles, starts, strict=True)]
        )
        self.seams, self.cords = (
            np.concatenate(
                [np.zeros((0, 2), np.int64)]
                + [np.asarray(ends, np.int64).reshape(-1, 2) + at for ends, at in zip(of, starts, strict=False)]
            )
            for of in (seams, cords)
        )
        if threads is not None:
            self.seams = np.concatenate([self.seams, starts[threads[:, ::2]] + threads[:, 1::2]])
        self.edges = np.concatenate([unique_edges(self.triangles), self.cords])

    def findings(self, frame: int, vertices: Array) -> list[Finding]:
        """Every edge against every triangle, but bodies among themselves. vertices: (V, 3) of all, world, m.

        Where a seam is closed its vertices lie in one place, to the last bit in one object, in two as far as float32
        tells: they count as one. What the user lets through is counted in `let_through` and is no finding.
        """
        triangles, edges = self.triangles, self.edges
        gap = np.linalg.norm(vertices[self.seams[:, 0]] - vertices[self.seams[:, 1]], axis=1)
        closed = self.seams[gap <= TOGETHER]
        if len(closed):
            first = _first_of(closed, len(vertices))
            triangles = first[triangles]
            edges = np.concatenate([unique_edges(triangles), first[self.cords]])
        pairs = intersections(vertices, triangles, edges, self.collider_start)
        if self.exceptions is not None:
            party, apart = self.exceptions.party, self.exceptions.apart(frame)
            through = let_through(party, apart, edges[pairs[:, 0]], triangles[pairs[:, 1]])
            pairs, self.let_through = pairs[~through], int(through.sum())
        return [self._finding(frame, vertices, edges[edge], int(triangle)) for edge, triangle in pairs]

    def _finding(self, frame: int, vertices: Array, ends: npt.NDArray[np.int64], triangle: int) -> Finding:
        owner = int(np.searchsorted(self.vertex_start, ends[0], "right")) - 1
        other = int(np.searchsorted(self.triangle_start, triangle, "right")) - 1
        first, second = (int(end - self.vertex_start[owner]) for end in ends)
        x, y, z = vertices[ends].mean(axis=0).tolist()
        return Finding(
            frame,
            self.names[owner],
            (first, second),
            self.names[other],
            int(triangle - self.triangle_start[other]),
            (x, y, z),
        )


def _first_of(pairs: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """(count,) the first of the vertices that pairs (K, 2) join with each."""
    graph = sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    _, part = csgraph.connected_components(graph, directed=False)
    _, first = np.unique(part, return_index=True)
    return np.asarray(first[part], np.int64)


class SceneCheck(MeshCheck):
    """The check of a scene's frames as they were simulated. What is the same in every frame is made once."""

    def __init__(self, scene: Scene) -> None:
        self.scene, meetings = scene, Meetings(scene)
        objects: list[Cloth | Collider] = [*scene.cloths, *scene.colliders]
        sizes = [len(cloth.positions) for cloth in scene.cloths] + [item.positions.shape[1] for item in scene.colliders]
        super().__init__(
            [entry.name for entry in objects], sizes, [entry.triangles for entry in objects], len(scene.cloths),
            [np.zeros((0, 2), int) if cloth.seams is None else cloth.seams for cloth in scene.cloths],
            [np.zeros((0, 2), int) if cloth.cords is None else cloth.cords.ends for cloth in scene.cloths],
            scene.threads, Exceptions(meetings.of_scene(scene), meetings.apart),
        )  # fmt: skip

    def cached_findings(self, frame: int, cached: Sequence[npt.NDArray[np.float32]]) -> list[Finding]:
        """Every edge of every cloth and collider against every triangle, at `frame`.

        Cloth against itself, cloth against cloth and cloth against collider; colliders among themselves are not looked
        at. Self-intersections count even where the scene has self-collision off: they are in the picture.

        Args:
            frame: scene frame, within the scene's range.
            cached: for each cloth its frame (N, 3) as it lies in the cache: object space, float32.

        Raises:
            ValueError: the frame is outside the range, or vertex counts do not match.
        """
        return self.findings(frame, self._vertices(frame, cached))

    def _vertices(self, frame: int, cached: Sequence[npt.NDArray[np.float32]]) -> Array:
        settings, cloths = self.scene.settings, self.scene.cloths
        if not settings.frame_start <= frame <= settings.frame_end:
            raise ValueError(f"frame {frame} is outside {settings.frame_start}..{settings.frame_end}")
        index = frame - settings.begins
        for cloth, positions in zip(cloths, cached, strict=True):
            if positions.shape != cloth.positions.shape:
                text = f"the frame has {len(positions)} vertices, the mesh {len(cloth.positions)}"
                raise ValueError(f"{cloth.name}: {text}")
        worlds = [to_world(cloth, positions, index) for cloth, positions in zip(cloths, cached, strict=True)]
        place = index * settings.samples_per_frame
        posed = [item.positions[place if item.animated else 0] for item in self.scene.colliders]
        return np.concatenate([*worlds, *(np.asarray(positions, np.float64) for positions in posed)])

# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene's cloths and colliders in one index space, relative to its centre: what simulator and solvers share of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .contact.pairs import REST_SHARE, thickness_within_edges
from .contact.patches import Surface
from .elasticity.assembly import vectors
from .scene import air, keyed
from .scene.arrays import Array, FloatArray, IntArray
from .scene.fields import of_vertices
from .scene.meetings import Meetings, Table
from .scene.mesh import edge_lengths, unique_edges
from .scene.motion import between
from .scene.scene import Cloth, Collider, Scene
from .scene.seams import near_seams, rest_lengths
from .scene.settings import MOST_SAMPLES

SHORT = 1.0 / 300.0  #: of the median edge. At 1/2000 a drape takes half as many iterations again, at 1/20000 ten times
LONG_WAY = 3.0  #: m that a collider moves in a frame: 72 m/s at 24 fps
SAMPLES = 16  #: vertices that are looked at for that
#: numbers that no matrix has in it
BESIDE_THE_MATRIX = frozenset(
    {"air_drag", "friction", "gravity", "thickness", "pressure", "ambient_pressure", "target_volume", "fluid_density",
     "pressure_factor", "velocity_damping", "fields", "encounters", *air.WEIGHTS}
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Moment:
    """The numbers that hold at one moment of a bake."""

    cloths: tuple[Cloth, ...]  #: without keys
    thickness: Array  #: (V,) that the mesh can resolve, m
    rest_length: Array  #: (E,) of the cloths' edges, as far as they have shrunk, m
    friction: Array  #: (V,)
    gravity: tuple[float, float, float]  #: m/s²
    time_scale: float
    apart: Table  #: (P, P) which parties the user lets through each other
    party_friction: npt.NDArray[np.float32]  #: (P, P) of a pair; below 0 = by both sides' own
    values: list[tuple[str, Any]]  #: of all that is keyed
    fields: tuple[air.Field, ...] = ()  #: without keys
    frames: float = 0.0  #: after the first; counts where noise does

    @cached_property
    def held(self) -> bytes:
        """Which vertices hard pins hold: a solver is made for those."""
        return b"".join(
            (cloth.pins.weights >= 1.0).tobytes()
            for cloth in self.cloths
            if cloth.pins is not None and cloth.pins.weights is not None
        )

    @property
    def of_matrix(self) -> list[tuple[str, Any]]:
        """What of `values` enters the matrix of a step."""
        return [item for item in self.values if item[0].removesuffix("_max") not in BESIDE_THE_MATRIX]


class SceneSpace:
    """V vertices: those of the N cloth vertices first, then the colliders'. Lengths in m.

    Positions of the solver are relative to `centre`, so a scene far off keeps its digits in float32.
    """

    def __init__(
        self,
        scene: Scene,
        origin: Array | None = None,
        begins: float | None = None,
        meetings: Meetings | None = None,
    ) -> None:
        """origin: (3,) of the solver's coordinates, m; None = the scene's own centre. begins: the frame that solvers
        are set up for; None = the first. meetings: of the scene that this one is made of; None = its own."""
        self.begins = scene.settings.begins if begins is None else begins
        self.scene, self.centre = scene, centre(scene) if origin is None else origin
        self.names = [cloth.name for cloth in scene.cloths] + [collider.name for collider in scene.colliders]
        self.surface = surface_of(scene)
        self.meetings = meetings or Meetings(scene)
        self.party = self.meetings.of_scene(scene)  #: (V,)
        #: (objects,) whether each collides with itself; that colliders do not is the broad phase's
        self.self_collision = np.ones(len(self.names), bool)
        self.self_collision[: len(scene.cloths)] = [cloth.self_collision for cloth in scene.cloths]
        self._alone = self._not_colliding_with_itself()
        #: first vertex of each cloth, and N
        self.offsets: IntArray = np.cumsum([0, *(len(cloth.positions) for cloth in scene.cloths)]).astype(np.int32)
        self.cloth_vertices = int(self.offsets[-1])
        self.edges = unique_edges(self.surface.triangles[: self.surface.cloth_triangles])  #: (E, 2) of the cloths
        self.rest: Array = np.concatenate([cloth.rest_positions for cloth in scene.cloths])  #: (N, 3)
        self.rest_length = rest_lengths(scene.cloths)  #: (E,)
        cords = [cloth.cords.lengths for cloth in scene.cloths if cloth.cords is not None]
        self.edge = float((self.rest_length if len(self.rest_length) else np.concatenate(cords)).mean())
        self.warnings: list[str] = []
        self._moment: Moment | None = None
        thickest = of_surface(keyed.with_peak(scene, "thickness"), "thickness")
        self._warn_of_thick_cloth(thickest)
        reach = float(thickest.max()) / REST_SHARE
        self.seams = near_seams(scene.cloths, self.edges, self.rest_length, reach)  #: of the N cloth vertices
        self._warn_of_short_edges()
        self._warn_of_motion()
        moving = any(collider.animated for collider in scene.colliders) or any(
            cloth.pin_groups or (cloth.pins is not None and len(cloth.pins.targets) > 1) for cloth in scene.cloths
        )
        self._still: FloatArray | None = None if moving else self._goal(scene.settings.begins)

    def local(self, world: npt.NDArray[np.floating]) -> Array:
        return np.asarray(world - self.centre)

    def world(self, local: npt.NDArray[np.floating]) -> Array:
        return np.asarray(np.asarray(local, np.float64) + self.centre)

    def cloths(self, vertices: Array) -> list[Array]:
        """(N, …) apart by cloth."""
        return [vertices[a:b] for a, b in pairwise(self.offsets)]

    def cloth_of(self, vertex: int) -> str:
        """The name of the cloth that has a vertex."""
        return self.scene.cloths[int(np.searchsorted(self.offsets, vertex, side="right")) - 1].name

    def start(self) -> FloatArray:
        """(V, 4) where everything begins."""
        return vectors(self.local(start_positions(self.scene)))

    def start_velocity(self) -> FloatArray:
        """(N, 4) of the cloths, m/s."""
        cloths = self.scene.cloths
        return vectors(
            np.concatenate([np.zeros_like(c.positions) if c.velocities is None else c.velocities for c in cloths])
        )

    def goal(self, frame: float) -> FloatArray:
        """(V, 4) where pins and colliders are at `frame`, linear between samples; free vertices are at their start."""
        return self._goal(frame) if self._still is None else self._still

    def moment(self, frame: float) -> Moment:
        """What the keys say at a frame of the range; the same object for as long as they say the same."""
        scene, when = self.scene, frame - self.scene.settings.begins
        owners = [scene.keys, *(cloth.keys for cloth in scene.cloths), *(body.keys for body in scene.colliders)]
        values = [item for keys in owners for item in keyed.moment(keys, when).items()]
        groups = [group for cloth in scene.cloths for group in cloth.pin_groups]
        values += [("pin_strength", value) for group in groups for value in keyed.moment(group.keys, when).values()]
        values += [("fields", values_of_field) for values_of_field in air.moments(scene.fields, when)]
        values += [("encounters", held) for held in self.meetings.state(frame)]
        if self._moment is None or self._moment.values != values:
            now = keyed.at(scene, frame)
            length = self._rest_length(now)
            self._moment = Moment(
                cloths=now.cloths,
                thickness=thickness_within_edges(of_surface(now, "thickness"), length, self.edges),
                rest_length=length,
                friction=of_surface(now, "friction"),
                gravity=now.settings.gravity,
                time_scale=now.settings.time_scale,
                apart=self.meetings.apart(frame),
                party_friction=self.meetings.friction(frame),
                values=values,
                fields=now.fields,
                frames=when,
            )
        return self._moment

    def not_colliding(self, moment: Moment) -> Table:
        """(P, P) the parties without contact: what the user lets through, and cloth that may cross itself."""
        return moment.apart | self._alone

    def pinned(self) -> IntArray:
        """(P,) the vertices in the cloths' pins, hard and soft."""
        pairs = zip(self.scene.cloths, self.offsets, strict=False)
        groups = [pins.vertices + first for cloth, first in pairs for pins in cloth.every_pins]
        every = np.concatenate([np.zeros(0, np.int32), *groups]).astype(np.int32)
        return np.unique(every) if any(cloth.pin_groups for cloth in self.scene.cloths) else every

    def _not_colliding_with_itself(self) -> Table:
        """(P, P)"""
        owner = np.full(len(self.meetings.objects), -1)
        owner[self.party] = self.surface.object
        alone = np.isin(owner, np.flatnonzero(~self.self_collision))
        return np.asarray((owner[:, None] == owner) & alone)

    def _rest_length(self, scene: Scene) -> Array:
        """(E,) m. A vertex that shrinks by itself takes half of each of its edges along."""
        scale = 1.0 - np.concatenate([of_vertices(cloth, "shrink") for cloth in scene.cloths])
        a, b = self.edges.T
        return np.asarray(self.rest_length * (0.5 * (scale[a] + scale[b])))

    def _goal(self, frame: float) -> FloatArray:
        at, goal = frame - self.scene.settings.begins, start_positions(self.scene)
        samples = self.scene.settings.samples_per_frame
        for cloth, offset in zip(self.scene.cloths, self.offsets, strict=False):
            pins = keyed.pins_at(cloth, at, samples)
            if pins is not None:
                goal[pins.vertices + offset] = between(pins.targets, at, samples)
        row = self.cloth_vertices
        for collider in self.scene.colliders:
            count = collider.positions.shape[1]
            goal[row : row + count] = between(collider.positions, at, samples)
            row += count
        return vectors(self.local(goal))

    def _warn_of_thick_cloth(self, wanted: Array) -> None:
        """Where it is less than what was asked for, (V,) at the thickest that keys make it."""
        thickness = thickness_within_edges(wanted, self.rest_length, self.edges)
        for cloth, (a, b) in zip(self.scene.cloths, pairwise(self.offsets), strict=True):
            thinner = int((thickness[a:b] < wanted[a:b]).sum())
            if thinner:
                self.warnings.append(
                    f"{cloth.name}: the thickness {wanted[a:b].max():g} m is larger than the edges at {thinner} of "
                    f"{b - a} vertices; there it is lowered to their length"
                )

    def _warn_of_short_edges(self) -> None:
        for cloth in (cloth for cloth in self.scene.cloths if len(cloth.triangles)):
            edges = unique_edges(cloth.triangles)
            length = edge_lengths(cloth.rest_positions, edges)
            short = np.flatnonzero(length < SHORT * np.median(length))
            if len(short):
                a, b = edges[short[np.argmin(length[short])]]
                self.warnings.append(
                    f"{cloth.name}: {len(short)} edges are less than 1/{round(1 / SHORT)} as long as the others "
                    f"(vertices {a} and {b} are {length[short].min():.2g} m apart); steps may not converge there. "
                    "Merge them: Mesh > Merge > By Distance"
                )

    def _warn_of_motion(self) -> None:
        """Of jumps, and of bends that straight ways cut off. Of what everything moves with, so a few vertices tell."""
        samples = self.scene.settings.samples_per_frame
        for name, places in [
            *((collider.name, collider.positions) for collider in self.scene.colliders),
            *((cloth.name, pins.targets) for cloth in self.scene.cloths for pins in cloth.every_pins),
        ]:
            if len(places) < 2 or places.shape[1] == 0:
                continue
            some = np.linspace(0, places.shape[1] - 1, SAMPLES).astype(int)
            path = np.asarray(places[:, some], np.float64)
            self._warn_of_jumps(name, path[::samples])
            self._warn_of_bends(name, path)

    def _warn_of_jumps(self, name: str, path: Array) -> None:
        """path: (F, n, 3) of some vertices at each frame."""
        way = np.linalg.norm(np.diff(path, axis=0), axis=2).max(axis=1)
        if way.max() > LONG_WAY:
            frame = self.scene.settings.begins + int(np.argmax(way))
            self.warnings.append(
                f"{name}: it moves {way.max():.3g} m from frame {frame} to {frame + 1}. Cloth that it carries "
                "along may take minutes a frame; let the bake begin after such a jump"
            )

    def _warn_of_bends(self, name: str, path: Array) -> None:
        """path: (K, n, 3) of some vertices at each sample. A parabola through three of them is an eighth of their
        second difference away from its chords; what bends at both ends of a chord is round, and no sudden stop."""
        samples = self.scene.settings.samples_per_frame
        bend = np.linalg.norm(_turns(path), axis=2) / 8.0
        aside = np.minimum(bend[:-1], bend[1:]).max(axis=1, initial=0.0)
        if aside.max(initial=0.0) > self.edge:
            frame = self.scene.settings.begins + (1 + int(np.argmax(aside > self.edge))) // samples
            enough = samples * 2 ** math.ceil(math.log2(2.0 * math.sqrt(aside.max() / self.edge)))
            self.warnings.append(
                f"{name}: its path is round, and straight ways leave it by up to {aside.max():.2g} m, first after "
                f"frame {frame}. Set Samples per Frame to {min(enough, MOST_SAMPLES)}"
            )


def _turns(path: Array) -> Array:
    """(K - 2, n, 3) the second differences of paths (K, n, 3) across them. What is along a path is another speed on
    the same line, which straight ways do not leave. Back at the same place there is no along: that counts whole."""
    change, chord = np.diff(path, n=2, axis=0), path[2:] - path[:-2]
    along = (change * chord).sum(axis=2, keepdims=True)
    square = (chord * chord).sum(axis=2, keepdims=True)
    return np.asarray(change - chord * np.divide(along, square, out=np.zeros_like(along), where=square > 0.0))


def centre(scene: Scene) -> Array:
    """Middle of the cloths at the start, rounded so that a scene near the origin keeps its own coordinates."""
    every = np.concatenate([cloth.positions for cloth in scene.cloths])
    middle = 0.5 * (every.min(axis=0) + every.max(axis=0))
    return np.asarray(np.round(middle / 8.0) * 8.0)


def start_positions(scene: Scene) -> Array:
    """(V, 3) where everything begins, in world space."""
    cloth = [c.positions for c in scene.cloths]
    return np.concatenate([*cloth, *(np.asarray(c.positions[0], np.float64) for c in scene.colliders)])


def surface_of(scene: Scene) -> Surface:
    """Cloths and colliders in one index space."""
    objects: list[tuple[Cloth | Collider, int]] = [
        *((c, len(c.positions)) for c in scene.cloths),
        *((c, c.positions.shape[1]) for c in scene.colliders),
    ]
    counts = np.array([count for _, count in objects])
    first = np.concatenate([[0], np.cumsum(counts)])
    triangles = np.concatenate([item.triangles + at for (item, _), at in zip(objects, first, strict=False)])
    cords = [cloth.cords.ends + at for cloth, at in zip(scene.cloths, first, strict=False) if cloth.cords]
    return Surface(
        int(first[-1]),
        triangles.astype(np.int32),
        sum(len(c.triangles) for c in scene.cloths),
        np.repeat(np.arange(len(objects)), counts).astype(np.int32),
        np.concatenate([np.zeros((0, 2), np.int32), *cords]).astype(np.int32),
    )


def of_surface(scene: Scene, name: str) -> Array:
    """(V,) the thickness, m, or the friction of cloths and colliders."""
    return np.concatenate(
        [
            *(of_vertices(cloth, name) for cloth in scene.cloths),
            *(np.full(c.positions.shape[1], getattr(c, name)) for c in scene.colliders),
        ]
    )

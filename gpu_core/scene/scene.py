# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene as plain data: arrays in SI units and world space, validated once, here.

Everything downstream (job folder, simulator, solvers) trusts these dataclasses, so a bad scene is refused in this
file with the name of the object and the remedy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from . import air
from .arrays import Array, FloatArray, IntArray
from .edges import Cords, Folds
from .encounters import Encounter, validate_encounters
from .error import SceneError
from .limits import require_number, require_numbers
from .material import Material
from .mesh import counted_edges, turned_edges
from .pins import PinGroup, Pins
from .settings import Settings
from .shape import Shape

FARTHEST = 1.0e6  #: m from the origin that a vertex may be; float32 tells 6 cm apart there
MOST_LAYERS = 16
JUMP = 100.0  #: m that a collider or pin may move in a frame: 2400 m/s at 24 fps, faster than any bullet


#: The numbers of a cloth that may differ from vertex to vertex: those of the material, its thickness, and its shape.
PAINTABLE = (
    "density", "stretch_warp", "stretch_weft", "shear", "bend", "bend_friction", "strain_limit", "air_drag",
    "friction", "thickness", "shrink", "pressure_factor",
)  # fmt: skip


@dataclass(frozen=True)
class Painted:
    """How a number differs over a cloth: its own value where the weight is 0, `maximum` where it is 1 (`fields.py`)."""

    weights: FloatArray  #: (N,) in [0, 1]
    maximum: float  #: in the number's unit; may be less than the other value


#: Numbers by name and frame: (K,), or (K, 3) of vectors. The first value is that of the first frame that is
#: simulated, the last one stays. `keyed.py` has what they mean.
Keys = Mapping[str, Array]


OF_SEAMS = ("sewing_time", "sewing_force", "seam_stiffness")
OF_FOLDS = ("fold_angle",)
OF_CORDS = ("cord_stiffness", "cord_density", "cord_shrink")
#: numbers of a cloth that are of none of its parts
OF_CLOTH = ("thickness", "pin_strength", *OF_SEAMS[1:], *OF_FOLDS, *OF_CORDS)


@dataclass(frozen=True)
class Cloth:
    """A triangulated sheet."""

    name: str
    triangles: IntArray  #: (T, 3)
    rest_positions: Array  #: (N, 3) the shape without stress, m
    positions: Array  #: (N, 3) where the simulation starts, world, m
    material: Material = field(default_factory=Material)
    velocities: Array | None = None  #: (N, 3) initial velocities, m/s
    warp: Array | None = None  #: (T, 3) warp direction of each triangle in rest space; None = along rest x (then y, z)
    pins: Pins | None = None
    pin_strength: float = 1.0  #: factor on the weights of these pins: 0 lets go
    pin_groups: tuple[PinGroup, ...] = ()  #: more of them
    thickness: float = 1.0e-3  #: distance that mid-surfaces keep from each other (ξ), m
    painted: Mapping[str, Painted] = field(default_factory=dict)  #: by names of `PAINTABLE`
    keys: Keys = field(default_factory=dict)  #: of `numbers`, and of `bend_max` where bend is painted
    self_collision: bool = True  #: with itself
    meets: tuple[int, ...] | None = None  #: the scene's colliders that it collides with; None = all
    left_out_of_bodies: npt.NDArray[np.bool_] | None = None  #: (N,) the vertices that no body stops
    left_out_of_itself: npt.NDArray[np.bool_] | None = None  #: (N,) those that its own other parts do not stop
    layer: int = 0  #: of several that begin in a wrong order a higher one is brought outside; 0 = no order
    party: IntArray | None = None  #: (N,) of `Meetings`; of a scene in motion alone
    seams: IntArray | None = None  #: (S, 2) vertices that threads pull together and hold
    sewing_time: float = 1.0  #: s from the start until the threads have pulled the seams closed
    sewing_force: float = 5.0  #: most that one thread pulls with, N
    seam_stiffness: float = 1.0  #: times which cloth is stiffer against bending at a closed seam
    sewn: npt.NDArray[np.bool_] | None = None  #: (N,) where a seam is closed; of a scene in motion alone (`sewing.py`)
    folds: Folds | None = None
    fold_angle: float = 0.0  #: rad, by which the faces beside a fold of weight 1 are turned from each other at rest
    cords: Cords | None = None
    cord_stiffness: float = 200.0  #: what a cord of twice its length pulls with, N
    cord_density: float = 0.003  #: kg/m
    cord_shrink: float = 0.0  #: share of the cords' lengths that is taken away
    field_weights: air.FieldWeights = field(default_factory=air.FieldWeights)  #: they take keys
    fields: tuple[int, ...] | None = None  #: those of the scene's fields that act on it; None = all
    world_to_object: Array | None = None  #: (F or 1, 4, 4) from world to the space the cache is written in
    key: str = ""  #: file name stem of the cache; name is used where empty
    #: (T, 3, 3) m, the triangles' shapes without stress where those are of no one sheet: a pattern, or a sewn cloth
    rest_corners: npt.NDArray[np.float64] | None = None
    shape: Shape = field(default_factory=Shape)

    @property
    def loose(self) -> npt.NDArray[np.bool_]:
        """(N,) the vertices that no triangle and no cord has: they stay where they are."""
        used = np.zeros(len(self.positions), bool)
        used[self.triangles.ravel()] = True
        if self.cords is not None:
            used[self.cords.ends.ravel()] = True
        return ~used

    @property
    def patterns(self) -> npt.NDArray[np.float64]:
        """(T, 3, 3) the corners of each triangle without stress, m."""
        return self.rest_positions[self.triangles] if self.rest_corners is None else self.rest_corners

    @property
    def cache_key(self) -> str:
        return self.key or self.name

    @property
    def every_pins(self) -> tuple[Pins, ...]:
        """Those of all groups, the first ones first."""
        return (*(() if self.pins is None else (self.pins,)), *(group.pins for group in self.pin_groups))

    @property
    def numbers(self) -> dict[str, float]:
        """Those of the material, the shape and the field weights, and its own: all that keys may change."""
        own = {name: getattr(self, name) for name in OF_CLOTH}
        return {**vars(self.material), **vars(self.shape), **vars(self.field_weights), **own}


@dataclass(frozen=True)
class Collider:
    """An obstacle that cloth must not enter. It follows its frames and is not pushed back: coupling is one-way."""

    name: str
    triangles: IntArray  #: (T, 3) that stop cloth
    positions: npt.NDArray[np.floating]  #: (K or 1, M, 3) world, K: `Settings.places`, m; may be memory-mapped
    friction: float = 0.4  #: Coulomb μ
    thickness: float = 1.0e-3  #: offset ξ of this surface, m
    keys: Keys = field(default_factory=dict)  #: of friction and thickness
    #: so many of the first triangles are those of the first frame; the rest cuts the same faces as later frames show
    #: them. None = all
    drawn: int | None = None
    whole: IntArray | None = None  #: (T′, 3) one cut of each face where some faces stop nothing; None = all stop cloth

    @property
    def stopping(self) -> IntArray:
        """(T″, 3) one cut of each face that stops cloth."""
        return self.triangles[: self.drawn]

    @property
    def shell(self) -> IntArray:
        """(T′, 3) one cut of each face: what has an inside, if the body is closed."""
        return self.stopping if self.whole is None else self.whole

    @property
    def animated(self) -> bool:
        return self.positions.shape[0] > 1


@dataclass(frozen=True)
class Scene:
    cloths: tuple[Cloth, ...]
    colliders: tuple[Collider, ...] = ()
    settings: Settings = field(default_factory=Settings)
    keys: Keys = field(default_factory=dict)  #: of gravity, (K, 3), and time_scale
    fields: tuple[air.Field, ...] = ()
    threads: IntArray | None = None  #: (S, 4) of seams between cloths: cloth, its vertex, another cloth, its vertex
    encounters: tuple[Encounter, ...] = ()  #: exceptions for pairs of objects

    @property
    def vertices(self) -> int:
        """Of all cloth."""
        return sum(len(cloth.positions) for cloth in self.cloths)

    def validate(self) -> Scene:
        """Return self, or raise SceneError that names the object and the remedy."""
        self.settings.validate()
        _validate_keys("Scene", self.keys, ("gravity", "time_scale"), self.settings)
        if not self.cloths:
            raise SceneError("Scene", "there is no cloth", "Give at least one mesh object the role Cloth")
        keys = [cloth.cache_key for cloth in self.cloths]
        for key in keys:
            if keys.count(key) > 1:
                raise SceneError(key, "two cloths share this cache key", "Give each cloth its own")
        for cloth in self.cloths:
            _validate_cloth(cloth, self.settings)
            _validate_filters(cloth, len(self.colliders))
        for collider in self.colliders:
            _validate_collider(collider, self.settings)
        if self.threads is not None:
            _validate_threads(self.cloths, self.threads)
        names = [cloth.name for cloth in self.cloths] + [collider.name for collider in self.colliders]
        validate_encounters(self.encounters, names, len(self.cloths))
        for encounter in self.encounters:
            _validate_keys(names[encounter.first], encounter.keys, ("friction",), self.settings)
        for item in self.fields:
            for problem, remedy in air.faults(item, len(self.settings.simulated)):
                raise SceneError(item.name, problem, remedy)
        return self


def _validate_cloth(cloth: Cloth, settings: Settings) -> None:
    require_numbers(cloth.name, cloth.numbers)
    _validate_triangles(cloth.name, cloth.triangles, cloth.positions.shape, required=cloth.cords is None)
    if cloth.rest_positions.shape != cloth.positions.shape:
        raise SceneError(
            cloth.name,
            f"the rest shape has {len(cloth.rest_positions)} vertices, the mesh {len(cloth.positions)}",
            "Use a rest shape with the same vertices",
        )
    _require_places(cloth.name, cloth.rest_positions, "the rest position of vertex")
    _require_places(cloth.name, cloth.positions, "the position of vertex")
    if cloth.cords is not None:
        _validate_cords(cloth, cloth.cords)
    if cloth.rest_corners is not None:
        _require_places(cloth.name, cloth.rest_corners.reshape(-1, 3), "the pattern of corner")
    _refuse_zero_area(cloth)
    _refuse_doubled(cloth)
    _refuse_turned_faces(cloth)
    for key, painted in cloth.painted.items():
        _validate_painted(cloth.name, key, painted, len(cloth.positions))
    maxima = [f"{key}_max" for key in cloth.painted]
    _validate_keys(cloth.name, cloth.keys, (*cloth.numbers, *maxima), settings)
    if cloth.seams is not None:
        _validate_seams(cloth, cloth.seams)
    if cloth.folds is not None:
        _validate_ends(cloth, cloth.folds.ends, "fold")
        if cloth.folds.weights.shape != (len(cloth.folds.ends),) or not np.isfinite(cloth.folds.weights).all():
            raise SceneError(cloth.name, "a fold's weight is not a number", "Mark these edges again")
    if cloth.velocities is not None:
        if cloth.velocities.shape != cloth.positions.shape:
            raise SceneError(cloth.name, "velocities do not match the vertices", "Give one velocity per vertex")
        if not np.isfinite(cloth.velocities).all():
            raise SceneError(cloth.name, "a velocity is not a number", "Give each vertex a finite one")
    if cloth.pins is not None:
        _validate_pins(cloth.name, cloth.pins, len(cloth.positions), settings)
    for group in cloth.pin_groups:
        _validate_pins(cloth.name, group.pins, len(cloth.positions), settings)
        require_number(cloth.name, "strength", group.strength)
        _validate_keys(cloth.name, group.keys, ("strength",), settings)
    if cloth.world_to_object is not None:
        _require_frames(cloth.name, cloth.world_to_object, settings, "object transforms")


def _validate_filters(cloth: Cloth, colliders: int) -> None:
    if cloth.meets is not None and not all(0 <= number < colliders for number in cloth.meets):
        raise SceneError(cloth.name, "it meets a body that does not exist", "Export the scene again")
    for left_out in (cloth.left_out_of_bodies, cloth.left_out_of_itself):
        if left_out is not None and (left_out.shape != (len(cloth.positions),) or left_out.dtype != np.bool_):
            raise SceneError(cloth.name, "what is left out does not match the vertices", "Assign the group again")
    if not 0 <= cloth.layer <= MOST_LAYERS:
        raise SceneError(cloth.name, f"its layer is {cloth.layer}", f"Set it to 0 to {MOST_LAYERS}")


def _validate_collider(collider: Collider, settings: Settings) -> None:
    if collider.positions.ndim != 3 or collider.positions.shape[2] != 3:
        raise SceneError(collider.name, "collider positions must be (frames, vertices, 3)", "Export the collider again")
    _require_places_of(collider.name, collider.positions, settings, "positions")
    for triangles in (collider.triangles, collider.shell):
        _validate_triangles(collider.name, triangles, collider.positions.shape[1:])
    _require_motion(collider.name, collider.positions, settings, "vertex")
    require_number(collider.name, "thickness", collider.thickness)
    require_number(collider.name, "friction", collider.friction)
    _validate_keys(collider.name, collider.keys, ("thickness", "friction"), settings)


def _validate_keys(name: str, keys: Keys, known: Sequence[str], settings: Settings) -> None:
    for key, values in keys.items():
        if key not in known:
            raise SceneError(name, f"{key} has no keys", f"Key one of {', '.join(known)}")
        if not 0 < len(values) <= len(settings.simulated) or values.shape[1:] != ((3,) if key == "gravity" else ()):
            raise SceneError(name, f"the keys of {key} do not fit the frame range", "Export the scene again")
        for index, value in enumerate(values.tolist()):
            require_number(name, key, value, f" at frame {settings.begins + index}")


def _validate_painted(name: str, key: str, painted: Painted, vertices: int) -> None:
    if key not in PAINTABLE:
        raise SceneError(name, f"{key} cannot be painted", f"Paint one of {', '.join(PAINTABLE)}")
    require_number(name, f"{key}_max", painted.maximum)
    if painted.weights.shape != (vertices,):
        raise SceneError(name, f"the weights of {key} do not match the vertices", "Give one weight per vertex")
    if not ((painted.weights >= 0) & (painted.weights <= 1)).all():  # false for what is no number, too
        raise SceneError(name, f"a weight of {key} is outside 0 to 1", "Paint weights between 0 and 1")


def _validate_triangles(name: str, triangles: IntArray, shape: tuple[int, ...], required: bool = True) -> None:
    if len(shape) != 2 or shape[1] != 3:
        raise SceneError(name, "positions must be (vertices, 3)", "Export the object again")
    if shape[0] == 0 or (required and len(triangles) == 0):
        raise SceneError(name, "the mesh has no faces", "Add faces, or take the object out of the simulation")
    if triangles.ndim != 2 or triangles.shape[1] != 3:
        raise SceneError(name, "triangles must be (count, 3)", "Export the object again")
    if triangles.min(initial=0) < 0 or triangles.max(initial=-1) >= shape[0]:
        raise SceneError(name, "a face names a vertex that does not exist", "Repair the mesh (Mesh > Clean Up)")


def _validate_pins(name: str, pins: Pins, vertices: int, settings: Settings) -> None:
    if len(pins.vertices) and (pins.vertices.min() < 0 or pins.vertices.max() >= vertices):
        raise SceneError(name, "a pin names a vertex that does not exist", "Assign the pin group again")
    if len(np.unique(pins.vertices)) != len(pins.vertices):
        raise SceneError(name, "a vertex is pinned twice", "Assign the pin group again")
    _require_places_of(name, pins.targets, settings, "pin targets")
    if pins.targets.shape[1:] != (len(pins.vertices), 3):
        raise SceneError(name, "pin targets must be (frames, pins, 3)", "Export the pins again")
    _require_motion(name, pins.targets, settings, "pin target")
    if pins.weights is not None and not ((pins.weights > 0) & (pins.weights <= 1)).all():
        raise SceneError(name, "a pin weight is outside (0, 1]", "Assign weights between 0 and 1")


def _validate_seams(cloth: Cloth, seams: IntArray) -> None:
    require_number(cloth.name, "sewing_time", cloth.sewing_time)
    _validate_ends(cloth, seams, "sewing thread")


def _validate_threads(cloths: Sequence[Cloth], threads: IntArray) -> None:
    if threads.ndim != 2 or threads.shape[1] != 4:
        raise SceneError("Scene", "the threads between cloths must be (count, 4)", "Export the scene again")
    of, vertex = threads[:, ::2], threads[:, 1::2]
    sizes = np.array([len(cloth.positions) for cloth in cloths])
    if (of < 0).any() or (of >= len(cloths)).any() or (vertex < 0).any() or (vertex >= sizes[of]).any():
        raise SceneError("Scene", "a thread names a cloth or a vertex that does not exist", "Sew the edges again")
    if (of[:, 0] == of[:, 1]).any():
        raise SceneError(cloths[int(of[0, 0])].name, "it is sewn to itself as if to another", "Sew its edges instead")


def _validate_cords(cloth: Cloth, cords: Cords) -> None:
    _validate_ends(cloth, cords.ends, "cord")
    if cords.lengths.shape != (len(cords.ends),) or not (np.isfinite(cords.lengths) & (cords.lengths > 0.0)).all():
        raise SceneError(cloth.name, "a cord has no length", "Merge its ends: Mesh > Merge > By Distance")


def _validate_ends(cloth: Cloth, ends: IntArray, what: str) -> None:
    if ends.ndim != 2 or ends.shape[1] != 2:
        raise SceneError(cloth.name, f"the ends of each {what} must be two vertices", "Export the object again")
    if len(ends) and (ends.min() < 0 or ends.max() >= len(cloth.positions)):
        raise SceneError(cloth.name, f"a {what} names a vertex that does not exist", "Make these edges again")
    if len(ends) and (ends[:, 0] == ends[:, 1]).any():
        raise SceneError(cloth.name, f"a {what} joins a vertex to itself", "Make these edges again")


def _require_frames(name: str, array: npt.NDArray[np.generic], settings: Settings, what: str) -> None:
    frames = len(settings.simulated)
    if array.shape[0] not in (1, frames):
        raise SceneError(
            name, f"{what} cover {array.shape[0]} frames, the range has {frames}", "Export the whole range"
        )


def _require_places_of(name: str, array: npt.NDArray[np.generic], settings: Settings, what: str) -> None:
    """Of what moves: as many as there are frames and samples between them."""
    if settings.samples_per_frame == 1:
        _require_frames(name, array, settings, what)
    elif array.shape[0] not in (1, settings.places):
        problem = f"{what} have {array.shape[0]} places, the range has {settings.places}"
        raise SceneError(name, problem, "Export the whole range")


def _require_motion(name: str, positions: npt.NDArray[np.floating], settings: Settings, what: str) -> None:
    """(K, P, 3): a place at a time, for there may be more of them than fit into memory."""
    before, samples = None, settings.samples_per_frame
    for count, places in enumerate(positions):
        frame = settings.begins + count / samples
        _require_places(name, places, f"{what}", f" at frame {frame:.10g}")
        if before is not None and len(places):
            way = float(np.abs(places - before).max())
            if way > JUMP:
                raise SceneError(
                    name,
                    f"it moves {way:.4g} m from frame {frame - 1.0 / samples:.10g} to {frame:.10g}",
                    "Let the bake begin after that jump, or animate the way slower",
                )
        before = places


def _require_places(name: str, places: npt.NDArray[np.floating], what: str, when: str = "") -> None:
    """(P, 3): numbers, and none so far away that float32 cannot tell it from others."""
    if (np.abs(places) <= FARTHEST).all():  # false for what is no number, too
        return
    bad = int(np.flatnonzero(~(np.abs(places) <= FARTHEST).all(axis=1))[0])
    if not np.isfinite(places[bad]).all():
        problem, remedy = "is not a number", "Repair the mesh or the modifier that moves it"
    else:
        far = float(np.abs(places[bad]).max())
        problem, remedy = (
            f"lies {far:.3g} m from the origin",
            "Move it back, or delete it; check the scene's unit scale",
        )
    raise SceneError(name, f"{what} {bad} {problem}{when}", remedy)


def _refuse_zero_area(cloth: Cloth) -> None:
    a, b, c = (cloth.patterns[:, k] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest = np.maximum.reduce(
        [np.linalg.norm(b - a, axis=1), np.linalg.norm(c - b, axis=1), np.linalg.norm(a - c, axis=1)]
    )
    bad = np.flatnonzero(area <= 1e-7 * longest**2)
    if len(bad):
        raise SceneError(
            cloth.name,
            f"{len(bad)} faces without area (the first is triangle {bad[0]})",
            "Merge them: Mesh > Clean Up > Degenerate Dissolve",
        )


def _refuse_doubled(cloth: Cloth) -> None:
    """No two triangles have the same vertices."""
    _, first, count = np.unique(np.sort(cloth.triangles, axis=1), axis=0, return_index=True, return_counts=True)
    bad = first[count > 1]
    if len(bad):
        raise SceneError(
            cloth.name,
            f"{len(bad)} faces lie on another one with the same vertices (the first is triangle {bad.min()})",
            "Delete one of them: Select > All by Trait > Interior Faces, or Mesh > Split",
        )


def _refuse_turned_faces(cloth: Cloth) -> None:
    """What is inside must be clear where there is a pressure."""
    loads = ("pressure", "ambient_pressure", "fluid_density")
    if not any(cloth.numbers[name] != 0.0 or name in cloth.keys for name in loads):
        return
    many = int((counted_edges(cloth.triangles)[1] > 2).sum())
    if many:
        problem = f"{many} edges have more than two faces, so pressure has no inside"
        raise SceneError(cloth.name, problem, "Separate what is sewn on: Mesh > Separate, or set the pressure to 0")
    count = turned_edges(cloth.triangles)
    if count:
        raise SceneError(
            cloth.name,
            f"{count} edges lie between faces that look to opposite sides, so pressure has no inside",
            "Turn them alike: Mesh > Normals > Recalculate Outside",
        )

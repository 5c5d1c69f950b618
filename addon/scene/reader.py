# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading one object over the frames: the evaluated mesh, in world space and metres."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import bpy
import numpy as np

from ...gpu_core.scene.air import WEIGHTS, FieldWeights
from ...gpu_core.scene.arrays import Array, IntArray
from ...gpu_core.scene.mesh import edge_lengths
from ...gpu_core.scene.pins import PinGroup
from ...gpu_core.scene.scene import Cloth, Collider, Cords, Material, Painted, SceneError, Settings
from ...gpu_core.scene.shape import Shape
from ...gpu_core.scene.welds import NEAR, lying_seams
from . import (
    cache_files,
    collision_properties,
    folds,
    frozen_shape,
    loose,
    modifier,
    painted,
    pattern,
    pin_properties,
    rest_key,
    sewn_to,
    triangulation,
)
from . import mesh as mesh_arrays
from .bodies import Body
from .collision_properties import BoolArray
from .cuts import Cuts
from .evaluated import evaluated_mesh, require_enabled, require_shown, to_world
from .morph import Begin
from .painted import PAINTED, Weights
from .pin_reader import PinReader
from .sampled import CORDS, FOLDS, SEAMS, SURFACE, Samples, number, of_cloth


class Reader(ABC):
    """Reads the same object at each frame that is simulated, first frame first; `finish` gives what `Scene` wants.

    Raises:
        SceneError: from every method, naming the object and the remedy.
    """

    def __init__(self, body: Body, settings: Settings) -> None:
        self.body = body
        self.item = item = body.item
        self.settings = settings
        _require_mesh(item)

    def read(self, depsgraph: bpy.types.Depsgraph, frame: int) -> None:
        if frame == self.settings.begins:
            if not self.body.carriers:
                require_enabled(self.item, depsgraph.view_layer.layer_collection)
            if path := cache_files.missing(self.item):
                problem = f"the file {path} that moves it is missing"
                raise SceneError(self.body.name, problem, "Restore it, or choose it anew where the modifier names it")
            self._prepare(depsgraph, frame)
        require_shown(self.item, depsgraph, frame)
        with evaluated_mesh(self.body, depsgraph, frame) as (mesh, matrix):
            if frame == self.settings.begins:
                self.vertices = len(mesh.vertices)
                self._read_start(mesh, matrix, depsgraph)
            self._require_vertices(mesh, frame)
            self._read_frame(mesh, matrix, depsgraph)

    def read_between(self, depsgraph: bpy.types.Depsgraph, moment: float) -> None:
        """Between two frames, of the frame that Blender shows now: what moves, and nothing else."""
        if not self._moves():
            return
        require_shown(self.item, depsgraph, moment)
        with evaluated_mesh(self.body, depsgraph, moment) as (mesh, matrix):
            self._require_vertices(mesh, moment)
            self._read_places(mesh, matrix, depsgraph)

    def _require_vertices(self, mesh: bpy.types.Mesh, frame: float) -> None:
        if len(mesh.vertices) != self.vertices:
            raise SceneError(
                self.body.name,
                f"the mesh has {len(mesh.vertices)} vertices at frame {frame:.10g} but {self.vertices} at frame "
                f"{self.settings.begins}",
                "Remove the modifier or the animation that changes the number of vertices",
            )

    def _moves(self) -> bool:
        """Is there something to read between frames?"""
        return True

    def _prepare(self, depsgraph: bpy.types.Depsgraph, frame: int) -> None:  # noqa: B027
        """Before the first frame is read: what needs an evaluation of its own."""

    @abstractmethod
    def _read_start(self, mesh: bpy.types.Mesh, matrix: Array, depsgraph: bpy.types.Depsgraph) -> None: ...

    @abstractmethod
    def _read_frame(self, mesh: bpy.types.Mesh, matrix: Array, depsgraph: bpy.types.Depsgraph) -> None: ...

    @abstractmethod
    def _read_places(self, mesh: bpy.types.Mesh, matrix: Array, depsgraph: bpy.types.Depsgraph) -> None: ...

    @abstractmethod
    def finish(self) -> Cloth | Collider: ...


class ClothReader(Reader):
    def __init__(self, item: bpy.types.Object, settings: Settings, begin: Begin, key: str) -> None:
        """begin: series that take the frames; `finish` wants them to be done."""
        super().__init__(Body(item), settings)
        if item.library is not None:
            raise SceneError(
                item.name,
                f"it is linked from {item.library.filepath}, so it cannot get a modifier",
                "Make it an override: Object > Library Override > Make",
            )
        self.key = key
        self.world_to_object = begin()
        self._cut: tuple[IntArray, Array | None, Array | None] | None = None
        self.numbers = Samples(of_cloth(item))
        self.sewn: set[str] = set()  #: groups of its vertices that seams to other objects are of
        self.ends: dict[str, sewn_to.Ends] = {}
        own = item.taffeta.cloth.pin_group
        samples = settings.samples_per_frame
        self.pins = PinReader(item, own, None, begin(samples=samples)) if own else None
        self.pin_groups = [
            (index, PinReader(item, pins.group, pins.target, begin(samples=samples)), Samples(("strength",)))
            for index, pins in pin_properties.chosen(item)
        ]

    def _prepare(self, depsgraph: bpy.types.Depsgraph, frame: int) -> None:
        """The triangles that Blender is to draw in every frame, and the direction of U in them."""
        if (entry := triangulation.obstacle(self.item)) is not None:
            problem = f"“{entry.name}” makes other vertices, and Multiresolution cannot come after the cache"
            raise SceneError(
                self.item.name, problem, "Apply or delete it, or apply it to a copy that follows as a dense mesh"
            )
        for entry in modifier.overriding(self.item):
            problem = f"“{entry.name}” comes after the cache and shows its file instead"
            raise SceneError(self.item.name, problem, f"Move it before “{modifier.NAME}”, or remove it")
        if not triangulation.wanted(self.item):
            return
        with triangulation.shown(self.item):
            depsgraph.update()
            with evaluated_mesh(self.body, depsgraph, frame) as (mesh, matrix):
                points = self._rest(mesh, matrix, depsgraph)
                warp = mesh_arrays.warp_directions(mesh, points)
                self._cut = mesh_arrays.triangles(mesh), warp, pattern.corners(self.item, mesh, points)
        depsgraph.update()

    def _read_start(self, mesh: bpy.types.Mesh, matrix: Array, depsgraph: bpy.types.Depsgraph) -> None:
        if self.vertices != len(self.item.data.vertices):
            _refuse_modifier(self.item, depsgraph)
        self.rest, start = self._rest(mesh, matrix, depsgraph), frozen_shape.start(self.item)
        self.start = to_world(mesh_arrays.positions(mesh) if start is None else start, matrix)
        triangles, self.warp = mesh_arrays.triangles(mesh), mesh_arrays.warp_directions(mesh, self.rest)
        if self._cut is not None:
            cut, warp, corners = self._cut
            triangles, sequence = triangulation.order(cut, triangles)
            self.warp = None if warp is None else warp[sequence]
            known = None if corners is None else (cut[sequence], corners[sequence])
        else:
            corners = pattern.corners(self.item, mesh, self.rest)
            known = None if corners is None else (triangles, corners)
        self.triangles = _facing_out(triangles, matrix)
        self.pattern = None if known is None else pattern.ordered(*known, self.triangles)
        self.seams, self.cords = loose.split(self.item, mesh)
        self.folds = folds.of_mesh(self.item, mesh)
        self._weld(number(self.item.evaluated_get(depsgraph).taffeta.cloth.thickness))
        weights = Weights(self.item, self.item.evaluated_get(depsgraph), mesh)
        for pins in self._every_pins():
            pins.begin(weights, mesh, matrix, depsgraph)
        self.ends = {name: sewn_to.ends(self.item, mesh, name, weights, self.start) for name in self.sewn}
        if sewn_to.other_of(self.item) is not None and self.seams is None:
            self.seams = np.zeros((0, 2), np.int32)
        self.left_out = collision_properties.read(self.item, weights)
        self.paint = {
            name: weights.of(group, PAINTED[name].label.lower()) for name, group in painted.groups(self.item).items()
        }

    def _weld(self, thickness: float) -> None:
        """Sew borders that lie on each other."""
        if not self.item.taffeta.cloth.weld_seams or not np.isfinite(self.start).all():
            return
        found = lying_seams(self.triangles, self.start, NEAR * thickness)
        if len(found):
            self.seams = found if self.seams is None else np.concatenate([self.seams, found])

    def _rest(self, mesh: bpy.types.Mesh, matrix: Array, depsgraph: bpy.types.Depsgraph) -> Array:
        """(N, 3) the shape without stress, world, m."""
        if (other := self.item.taffeta.cloth.rest_object) is not None:
            return self._rest_of(other, len(mesh.vertices), depsgraph)
        shape = rest_key.shape(self.item)
        return to_world(mesh_arrays.positions(mesh) if shape is None else shape, matrix)

    def _rest_of(self, other: bpy.types.Object, vertices: int, depsgraph: bpy.types.Depsgraph) -> Array:
        _require_mesh(other)
        with evaluated_mesh(Body(other), depsgraph, self.settings.begins) as (mesh, matrix):
            points = mesh_arrays.positions(mesh)
        if len(points) != vertices:
            problem = f"its rest object {other.name} has {len(points)} vertices, the mesh {vertices}"
            raise SceneError(self.body.name, problem, "Choose a copy of this object, or clear the field")
        return to_world(points, matrix)

    def _every_pins(self) -> list[PinReader]:
        return [*([self.pins] if self.pins else []), *(pins for _, pins, _ in self.pin_groups)]

    def _read_frame(self, mesh: bpy.types.Mesh, matrix: Array, depsgraph: bpy.types.Depsgraph) -> None:
        chosen = self.item.evaluated_get(depsgraph).taffeta.cloth
        self.numbers.see(chosen)
        for index, _, strength in self.pin_groups:
            strength.see(chosen.pins[index])
        self.world_to_object.append(lambda: np.linalg.inv(matrix), matrix.nbytes)
        self._read_places(mesh, matrix, depsgraph)

    def _moves(self) -> bool:
        return bool(self._every_pins())

    def _read_places(self, mesh: bpy.types.Mesh, matrix: Array, depsgraph: bpy.types.Depsgraph) -> None:
        for pins in self._every_pins():
            pins.read(mesh, matrix, depsgraph)

    def finish(self) -> Cloth:
        numbers = self.numbers.first
        return Cloth(
            name=self.item.name,
            triangles=self.triangles,
            rest_positions=self.rest,
            positions=self.start,
            material=material(numbers),
            shape=shape(numbers),
            warp=self.warp if self.pattern is None else None,  # the pattern's own x
            rest_corners=self.pattern,
            seams=self.seams,
            sewing_time=number(self.item.taffeta.cloth.sewing_time),
            folds=self.folds,
            cords=None if self.cords is None else Cords(self.cords, edge_lengths(self.rest, self.cords)),
            **{name: numbers[name] for name in (*SEAMS, *FOLDS, *CORDS) if name in numbers},
            pins=self.pins.finish() if self.pins and len(self.pins.vertices) else None,
            pin_strength=numbers["pin_strength"],
            pin_groups=tuple(
                PinGroup(pins.group, pins.finish(), strength.first["strength"], strength.keys())
                for _, pins, strength in self.pin_groups
            ),
            thickness=numbers["thickness"],
            painted={name: Painted(weights, numbers[f"{name}_max"]) for name, weights in self.paint.items()},
            keys=self.numbers.keys(),
            self_collision=self.item.taffeta.cloth.self_collision,
            layer=self.item.taffeta.cloth.layer,
            **self.left_out,
            field_weights=FieldWeights(**{name: numbers[name] for name in WEIGHTS}),
            world_to_object=self.world_to_object.finish(),
            key=self.key,
        )


class ColliderReader(Reader):
    def __init__(self, body: Body, settings: Settings, begin: Begin, file: str) -> None:
        """begin: as of a cloth. file: the name of the one for all its frames."""
        super().__init__(body, settings)
        self.positions = begin(file, settings.samples_per_frame)
        self.numbers = Samples(SURFACE)

    def _surface(self, depsgraph: bpy.types.Depsgraph) -> bpy.types.PropertyGroup:
        """Where its friction and thickness are, evaluated."""
        return self.body.owner.evaluated_get(depsgraph).taffeta.collider

    def _lets_through(self, mesh: bpy.types.Mesh, depsgraph: bpy.types.Depsgraph) -> BoolArray | None:
        return collision_properties.lets_through(self.item, self.item.evaluated_get(depsgraph), mesh)

    def _read_start(self, mesh: bpy.types.Mesh, matrix: Array, depsgraph: bpy.types.Depsgraph) -> None:
        self._cuts, self._first_matrix, self._through = Cuts(mesh), matrix, self._lets_through(mesh, depsgraph)

    def _read_frame(self, mesh: bpy.types.Mesh, matrix: Array, depsgraph: bpy.types.Depsgraph) -> None:
        self.numbers.see(self._surface(depsgraph))
        self._cuts.see(mesh, mesh_arrays.positions(mesh))
        self._read_places(mesh, matrix, depsgraph)

    def _read_places(self, mesh: bpy.types.Mesh, matrix: Array, depsgraph: bpy.types.Depsgraph) -> None:
        points = mesh_arrays.positions(mesh)
        self.positions.append(lambda: to_world(points, matrix).astype(np.float32), points.nbytes)

    def finish(self) -> Collider:
        triangles, drawn = self._cuts.finish()
        triangles, whole = _facing_out(triangles, self._first_matrix), None
        if self._through is not None:
            whole = triangles[:drawn]
            triangles = collision_properties.stopping(triangles, self._through)
            if not len(triangles):
                problem = "every face of it lets cloth through"
                raise SceneError(self.body.name, problem, "Clear Lets Through, or set its role to None")
            drawn = None if drawn is None else len(collision_properties.stopping(whole, self._through))
        return Collider(
            name=self.body.name,
            triangles=triangles,
            positions=self.positions.finish(),
            drawn=drawn,
            whole=whole,
            **self.numbers.first,
            keys=self.numbers.keys(),
        )


class PlayedReader(ColliderReader):
    """A cloth that was baked before and acts as a collider for the others."""

    def _lets_through(self, mesh: bpy.types.Mesh, depsgraph: bpy.types.Depsgraph) -> None:
        return None

    def _surface(self, depsgraph: bpy.types.Depsgraph) -> bpy.types.PropertyGroup:
        return self.item.evaluated_get(depsgraph).taffeta.cloth


def material(numbers: Mapping[str, float]) -> Material:
    """Of the numbers of a cloth, by name."""
    return Material(**{name: numbers[name] for name in Material.__dataclass_fields__})


def shape(numbers: Mapping[str, float]) -> Shape:
    """Of the numbers of a cloth, by name."""
    return Shape(**{name: numbers[name] for name in Shape.__dataclass_fields__})


def _require_mesh(item: bpy.types.Object) -> None:
    # A linked file that is gone leaves a placeholder, which would pass for an empty object.
    lost = next((part for part in (item, item.data) if part is not None and part.is_missing), None)
    if lost is not None:
        raise SceneError(
            item.name,
            f"it is missing from the linked file {lost.library.filepath}",
            "Restore that file (File > External Data > Find Missing Files) or remove the object",
        )
    if item.type != "MESH":
        kind = item.bl_rna.properties["type"].enum_items[item.type].name
        raise SceneError(
            item.name, f"it is of type {kind}, not a mesh", "Convert it (Object > Convert > Mesh) or give it no role"
        )
    if item.mode == "EDIT":
        item.update_from_editmode()


def _refuse_modifier(item: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
    """Name the modifier above our cache that changes the number of vertices."""
    above = list(item.modifiers)[: modifier.place(item)]
    for index, suspect in enumerate(above):
        with modifier.suspended(above[index + 1 :]):
            depsgraph.update()
            count = len(item.evaluated_get(depsgraph).data.vertices)
        if count != len(item.data.vertices):
            raise SceneError(
                item.name,
                f"the modifier “{suspect.name}” changes the number of vertices above “{modifier.NAME}” "
                f"({len(item.data.vertices)} to {count})",
                f"Apply it, or move it below “{modifier.NAME}”",
            )
    raise SceneError(item.name, "its modifiers change the number of vertices", "Apply them")


def _facing_out(triangles: IntArray, matrix: Array) -> IntArray:
    """A mirroring transform turns a mesh inside out; turn it back."""
    return triangles[:, ::-1].copy() if np.linalg.det(matrix[:3, :3]) < 0 else triangles

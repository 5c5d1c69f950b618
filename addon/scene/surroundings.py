# SPDX-License-Identifier: GPL-3.0-or-later
"""What Live has to be told of the scene as it is now: colliders, pins, force fields, and the spaces of the cloths'
objects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...gpu_core.scene.scene import Scene, SceneError
from . import fields, modifier
from . import mesh as mesh_arrays
from .bodies import Body
from .evaluated import evaluated_mesh, to_world
from .gather import Members
from .pinned_cloth import PinnedCloth

Place = npt.NDArray[Any]


class Surroundings:
    """Remembers where everything was, so that only what has moved is told. Objects by number: undo replaces them."""

    def __init__(self, present: Members, scene: Scene) -> None:
        """present: the members that `scene` was read from, in its order, at the frame that is current. Raises
        SceneError."""
        self._cloths = [item.session_uid for item in present.cloths]
        self._bodies = [_numbers(body) for body in present.bodies]
        self._fields = [item.session_uid for item in present.fields if fields.acts(item)]
        self._pinned = {
            k: PinnedCloth(item, cloth, bpy.context.evaluated_depsgraph_get())
            for k, (item, cloth) in enumerate(zip(present.cloths, scene.cloths, strict=False))
            if cloth.every_pins
        }
        self._places: dict[str, Place] = {
            **{f"collider_{k:03}": np.asarray(item.positions[0]) for k, item in enumerate(scene.colliders)},
            **{f"pins_{k:03}": cloth.start() for k, cloth in self._pinned.items()},
            **{f"space_{k:03}": np.asarray(cloth.world_to_object)[0] for k, cloth in enumerate(scene.cloths)},
            **{f"location_{k:03}": item.location[0] for k, item in enumerate(scene.fields)},
            **{f"axis_{k:03}": item.axis[0] for k, item in enumerate(scene.fields)},
        }

    def are_there(self, scene: bpy.types.Scene) -> bool:
        """Is every object still in the scene?"""
        outermost = {numbers[0] for numbers in self._bodies}
        followed = {number for cloth in self._pinned.values() for number in cloth.followed}
        return {*self._cloths, *self._fields, *outermost} <= {item.session_uid for item in scene.objects} and all(
            number in _every() for numbers in (*self._bodies, followed) for number in numbers
        )

    def without_simulation(self, scene: bpy.types.Scene) -> AbstractContextManager[None]:
        """While it lasts, pinned cloth is evaluated as its pins need it: as it is above our modifiers."""
        items = _by_number(scene)
        pinned = [items[self._cloths[k]] for k in self._pinned]
        return modifier.suspended(own for item in pinned for own in modifier.simulated(item))

    def moved(self, depsgraph: bpy.types.Depsgraph, frame: int) -> dict[str, Place]:
        """What is elsewhere than at the last call, by the names of `gpu_core.live.live.Live.move`.

        frame: the current one, for errors. Raises SceneError, also where a mesh has other vertices than before.
        """
        moved = {}
        for item, name, place in self._read(depsgraph, frame):
            if place.shape != self._places[name].shape:
                raise SceneError(item.name, "its mesh has other vertices than when Live began", "Start Live again")
            if not np.array_equal(place, self._places[name]):
                moved[name] = self._places[name] = place
        return moved

    def _read(self, depsgraph: bpy.types.Depsgraph, frame: int) -> Iterator[tuple[bpy.types.Object, str, Place]]:
        items = _every()
        for k, numbers in enumerate(self._bodies):
            *carriers, item = (items[number] for number in numbers)
            with evaluated_mesh(Body(item, tuple(carriers)), depsgraph, frame) as (mesh, matrix):
                yield item, f"collider_{k:03}", to_world(mesh_arrays.positions(mesh), matrix).astype(np.float32)
        for k, uid in enumerate(self._fields):
            location, axis = fields.stance(items[uid], depsgraph, frame)
            yield items[uid], f"location_{k:03}", location
            yield items[uid], f"axis_{k:03}", axis
        for k, uid in enumerate(self._cloths):
            with evaluated_mesh(Body(items[uid]), depsgraph, frame) as (mesh, matrix):
                yield items[uid], f"space_{k:03}", np.linalg.inv(matrix)
                if k in self._pinned:
                    every = to_world(mesh_arrays.positions(mesh), matrix)
                    yield items[uid], f"pins_{k:03}", self._pinned[k].now(every, items, depsgraph)


def _numbers(body: Body) -> tuple[int, ...]:
    """Of its carriers, outermost first, and of itself."""
    return tuple(item.session_uid for item in (*body.carriers, body.item))


def _every() -> dict[int, bpy.types.Object]:
    return {item.session_uid: item for item in bpy.data.objects}


def _by_number(scene: bpy.types.Scene) -> dict[int, bpy.types.Object]:
    return {item.session_uid: item for item in scene.objects}

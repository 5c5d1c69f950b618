# SPDX-License-Identifier: GPL-3.0-or-later
"""Air that moves and force fields, on the device (docs/theory/air.md, kernels `air.h`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from ..backend import Backend, Launch, launch
from ..elasticity.assembly import lightness, vectors
from ..scene.air import KINDS, Field, FieldDirection, FieldFalloff, FieldShape
from ..scene.arrays import Array, FloatArray
from ..scene.scene import Cloth, Scene
from ..scene_space import Moment, SceneSpace

ROW = 28  #: numbers of a field in the kernels' table
STILL_AIR = 0.5  #: m/s, u of the drag at small amplitudes: plates of 0.2 m that move at 0.03–0.1 m/s give 0.6–1.2
#: The lattice of Blender's turbulence: the permutation that `mathutils.noise` shows. Its gradients around whole numbers
#: have one such, which `tests/addon/scene/test_fields.py` compares with Blender.
PERMUTATION = bytes.fromhex(
    "a2a0193bf8ebaaeef31c67281ded00de952edc3f3a82354d6cba36d0f60c7932d159f4088b63892fb8b49783f28f18c7"
    "51146587482042a880b54013b2227e57bc7f6b9d864cc8db7cd5254e5a557450cdb37abbc3cbb6e2e4ecfd980b96d39e"
    "5ca164f18161e1c42472498c904b843438ab78ca1f01d79311c158a931f9446dbf339c5f0994a38506c69a1e7b461530"
    "272b1b713c5bd66f62ac4fc2c00eb123a7df47b0776905e9e6e776730ffe6e9b56ef12a537fcaed9038edd10b9cec98d"
    "da2abd68179fbed40accd2e8433d70b7027d99d80d608a042c3e92e5af5307e029a6c5e3f5f74a41266a165e522d21ad"
    "f091ffea54fa661a4539cf75a488fb5d"
)


def may_blow(scene: Scene) -> bool:
    """Is there, at any time, what still air and the scene's gravity do not do?"""
    keyed = any("field_gravity" in cloth.keys for cloth in scene.cloths)
    return keyed or blows(scene.fields, scene.cloths)


def blows(fields: Sequence[Field], cloths: Sequence[Cloth]) -> bool:
    """Is there now?"""
    return bool(fields) or any(cloth.field_weights.field_gravity != 1.0 for cloth in cloths)


class Air:
    """Of N cloth vertices."""

    def __init__(self, backend: Backend, space: SceneSpace) -> None:
        xp, count = backend.xp, space.cloth_vertices
        cloths, fields = len(space.scene.cloths), len(space.scene.fields)
        self.backend, self._centre_of_scene = backend, space.centre
        self._cloth = backend.array(np.repeat(np.arange(cloths), np.diff(space.offsets)), np.int32)
        self._permutation = backend.array(np.frombuffer(PERMUTATION, np.uint8), np.int32)
        self._centre = backend.array(vectors(space.centre[None]))
        self._fields, self._cloths = fields, cloths
        self._table = xp.zeros((max(1, 7 * fields), 4), xp.float32)
        self._weight = xp.zeros(max(1, fields * cloths), xp.float32)
        self._gravity = xp.zeros((cloths, 4), xp.float32)
        self._lightness = xp.zeros(count, xp.float32)
        self._drag, self.no_drag = xp.zeros(count, xp.float32), xp.zeros(count, xp.float32)
        self.blows = False  #: now
        self.acceleration, self.pushed = (xp.zeros((count, 4), xp.float32) for _ in range(2))  #: (N, 4) after `push`

    def renew(self, moment: Moment, drag: Array) -> None:
        """Take the numbers of a moment. drag: (N,) as `assembly.drag` has it, 1/m."""
        array, cloths = self.backend.array, moment.cloths
        self.blows = blows(moment.fields, cloths)
        self._lightness[:], self._drag[:] = array(lightness(cloths)), array(drag)
        surplus = np.array([[cloth.field_weights.field_gravity - 1.0] for cloth in cloths])
        self._gravity[:] = array(vectors(surplus * np.array([moment.gravity])))
        if moment.fields:
            self._table[:] = array(table(moment.fields, moment.frames, self._centre_of_scene).reshape(-1, 4))
            self._weight[:] = array(weights(moment.fields, cloths).ravel())

    def push(self, start: Any, velocity: Any, normal: Any, forwarded: Any, h: float) -> Launch:
        """Kernel: `acceleration` at start (V, 4), of velocity and normal (N, 4); `pushed` ← it and forwarded (N, 4)."""
        return launch(
            "air_push", len(self._cloth), x=start, velocity=velocity, normal=normal, lightness=self._lightness,
            drag=self._drag, cloth=self._cloth, field=self._table, fields=self._fields, weight=self._weight,
            cloths=self._cloths, gravity=self._gravity, centre=self._centre, permutation=self._permutation,
            still_air=STILL_AIR, h=h, forwarded=forwarded, acceleration=self.acceleration, pushed=self.pushed,
        )  # fmt: skip


def table(fields: Sequence[Field], frames: float, centre: Array) -> FloatArray:
    """(fields, `ROW`) as kernels read them, places relative to the scene's centre (3,). frames: after the first."""
    frame = np.floor(frames)
    rows = [
        [
            *(item.location[0] - centre), KINDS.index(item.kind),
            *item.axis[0], get_args(FieldShape).index(item.shape),
            get_args(FieldFalloff).index(item.falloff), get_args(FieldDirection).index(item.z_direction),
            item.gravity_falloff, item.global_coordinates,
            item.strength, item.damping, item.flow, item.wind_factor,
            item.size, item.power, item.distance_min, item.distance_max,
            item.radial_power, item.radial_min, item.radial_max, item.noise,
            item.seed, frame, frames - frame, 0.0,
        ]
        for item in fields
    ]  # fmt: skip
    return np.asarray(rows, np.float32)


def weights(fields: Sequence[Field], cloths: Sequence[Cloth]) -> FloatArray:
    """(fields, cloths) by how much each acts on each."""
    found = [
        [
            cloth.field_weights.of(item.kind) if cloth.fields is None or index in cloth.fields else 0.0
            for cloth in cloths
        ]
        for index, item in enumerate(fields)
    ]
    return np.asarray(found, np.float32)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading one group of pins over the frames: which vertices it holds, and where they go."""

from __future__ import annotations

import bpy
import numpy as np

from ...gpu_core.files.frame_spool import FrameSeries
from ...gpu_core.scene.arrays import Array
from ...gpu_core.scene.pins import Pins
from ...gpu_core.scene.scene import SceneError
from . import mesh as mesh_arrays
from . import pin_properties
from .carrier import Carrier, carrier_of
from .evaluated import to_world
from .morph import Morph
from .painted import Weights


class PinReader:
    """Reads the pins of one group at each frame that is simulated, first frame first.

    Raises:
        SceneError: from every method, naming the object and the remedy.
    """

    def __init__(
        self, item: bpy.types.Object, group: str, target: bpy.types.Object | None, frames: FrameSeries | Morph
    ) -> None:
        """target: what carries them; None: they follow the mesh of the cloth itself. frames: takes their targets."""
        self.item, self.group, self.target = item, group, target
        self._frames = frames
        self._carrier: Carrier | None = None
        if target is not None and (problem := pin_properties.unfit(item, target)):
            remedy = "Choose a body or an empty; with no target they follow the cloth's animated mesh"
            raise SceneError(item.name, problem, remedy)

    def begin(self, weights: Weights, mesh: bpy.types.Mesh, matrix: Array, depsgraph: bpy.types.Depsgraph) -> None:
        """At the first frame. mesh, matrix: of the cloth, as `evaluated_mesh` has them."""
        every = weights.of(self.group, "pins")
        self.vertices = np.flatnonzero(every).astype(np.int32)
        self.weights = every[self.vertices]
        if self.target is not None:
            places = to_world(mesh_arrays.positions(mesh)[self.vertices], matrix)
            self._carrier = carrier_of(self.item.name, self.target, places, depsgraph)

    def read(self, mesh: bpy.types.Mesh, matrix: Array, depsgraph: bpy.types.Depsgraph) -> None:
        """At each frame, of the first one too."""
        if self._carrier is not None and self.target is not None:
            carried = self._carrier.carried(self.target, depsgraph)
            self._frames.append(lambda: carried, carried.nbytes)
        else:
            pinned = mesh_arrays.positions(mesh)[self.vertices]
            self._frames.append(lambda: to_world(pinned, matrix), pinned.nbytes)

    def finish(self) -> Pins:
        soft = bool((self.weights < 1).any())
        return Pins(self.vertices, self._frames.finish(), self.weights if soft else None)

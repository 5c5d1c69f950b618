# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of a cloth whose cache is whole, ready to become something else; any other cache is refused here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np
import numpy.typing as npt

from ...gpu_core.files import cache
from ...gpu_core.files.cache import CacheError, CacheState
from ...gpu_core.files.errors import StaleError
from ...gpu_core.files.program import program
from ...gpu_core.scene.arrays import FloatArray
from ...gpu_core.scene.scene import SceneError
from ..scene import modifier
from ..scene.bodies import Body
from ..scene.evaluated import disabled
from . import place as cache_place
from . import status

MENDS = {
    CacheState.MISSING: "Bake first",
    CacheState.PARTIAL: "Resume the bake",
    CacheState.STALE: "Bake again",
    CacheState.CORRUPT: "Resume the bake, which keeps what is good, or bake again",
}


@dataclass(frozen=True)
class BakedFrames:
    """Every frame of one cloth, as its Mesh Cache modifier plays it."""

    cloth: bpy.types.Object
    path: Path  #: of the point cache
    positions: npt.NDArray[np.float32]  #: (F, N, 3) object space, memory-mapped
    frame_start: int
    fps: float

    @property
    def frame_end(self) -> int:
        return self.frame_start + len(self.positions) - 1

    @property
    def vertices(self) -> int:
        return self.positions.shape[1]

    def at(self, frame: int) -> FloatArray:
        """Positions (N, 3) at a scene frame, object space. Raises SceneError where the cache does not hold it."""
        if not self.frame_start <= frame <= self.frame_end:
            problem = f"its cache holds frames {self.frame_start} to {self.frame_end}, not {frame}"
            raise SceneError(self.cloth.name, problem, "Go to one of them")
        return np.array(self.positions[frame - self.frame_start])

    def velocities(self, frame: int) -> FloatArray:
        """Velocities (N, 3) at a scene frame, object space, scene units per second.

        Half the way from the frame before to the frame after; at both ends the way between the last two frames there.
        """
        index, last = frame - self.frame_start, len(self.positions) - 1
        before, after = max(index - 1, 0), min(index + 1, last)
        way = self.positions[after].astype(np.float64) - self.positions[before]
        return (way * (self.fps / max(after - before, 1))).astype(np.float32)


def trouble(scene: bpy.types.Scene, cloth: bpy.types.Object) -> CacheError | None:
    """Why this cloth cannot be finalised, as far as memory knows: cheap enough for drawing, once."""
    return _trouble(cloth, *status.of(scene, cloth))


def known_trouble(scene: bpy.types.Scene, cloth: bpy.types.Object) -> CacheError | None:
    """The same without a look at the scene, which may have changed since the bake: for every button of every draw."""
    held = status.held(scene, cloth)
    return _trouble(cloth, held.state, held.reason)


def read(context: bpy.types.Context, cloth: bpy.types.Object) -> BakedFrames:
    """The frames of this cloth, each compared with its checksum.

    Raises:
        CacheError: there is none, or it is partial, stale or damaged.
        SceneError: Blender does not evaluate the object, or its mesh has changed.
        DiskError: the cache cannot be read.
    """
    error = trouble(context.scene, cloth)
    own, folder = modifier.find(cloth), cache_place.played(cloth)
    if error is None and folder is not None:
        state, reason, _ = cache.inspect(folder, solver=program())  # the disk may have changed since we looked
        error = _trouble(cloth, state, reason)
    if error is not None or own is None or folder is None:
        raise error or CacheError(f"{cloth.name} has no cache", MENDS[CacheState.MISSING])
    cache.verify(folder)
    path = folder / bpy.path.basename(own.filepath)
    render = context.scene.render
    start, fps = cache.read_contents(folder).frame_start, render.fps / render.fps_base
    frames = BakedFrames(cloth, path, cache.read_frames(path), start, fps)
    _require_same_mesh(context, frames)
    return frames


def _trouble(cloth: bpy.types.Object, state: CacheState, reason: str) -> CacheError | None:
    if state in (CacheState.READY, CacheState.HIDDEN):  # the frames are good, whatever Blender shows
        return None
    kind = StaleError if state is CacheState.STALE else CacheError
    return kind(f"The cache of {cloth.name} is {state.value}: {reason}", MENDS[state])


def _require_same_mesh(context: bpy.types.Context, frames: BakedFrames) -> None:
    """Blender itself plays a cache of another mesh as no motion at all, and says so only on the console."""
    cloth = frames.cloth
    with modifier.suspended(list(cloth.modifiers)[modifier.place(cloth) + 1 :]):
        evaluated = cloth.evaluated_get(context.evaluated_depsgraph_get())
        shown, count = evaluated.is_evaluated, len(evaluated.data.vertices)
    if not shown:
        raise disabled(Body(cloth), context.view_layer.layer_collection, otherwise="")
    if count != frames.vertices:
        raise SceneError(
            cloth.name, f"the mesh has {count} vertices, the cache {frames.vertices}", MENDS[CacheState.STALE]
        )

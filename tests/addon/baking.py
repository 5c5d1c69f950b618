# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake in the hands of a test: begin it, let it get somewhere, see how it ended."""

from __future__ import annotations

import time
from pathlib import Path

import bpy
import numpy as np

from taffeta.addon.bake import session
from taffeta.addon.bake.state import BakeState, Phase
from taffeta.addon.cache import place as cache_place
from taffeta.gpu_core.files import cache

LONG = 400  #: frames; a bake of so many is still running when something happens to it


def begin(order: session.Order | None = None) -> session.Bake:
    bake = session.Bake(bpy.context, order)
    session.start(bake)
    return bake


def until_frame(bake: session.Bake, done: int) -> session.Bake:
    """Step until so many frames are in the cache."""
    while bake.state.done < done:
        assert bake.state.busy, bake.state
        bake.step(0.05)
        time.sleep(0.01)
    return bake


def until_reading(bake: session.Bake) -> session.Bake:
    """Step into the middle of reading the scene."""
    while bake.state.share == 0:
        bake.step(0.0001)
    assert bake.state.phase is Phase.READING
    return bake


def end(bake: session.Bake) -> BakeState:
    bake.wait()
    return session.finish(bpy.context)


def folder(scene: bpy.types.Scene) -> Path:
    return cache_place.target(scene)


def frames(place: Path, key: str = "Cloth") -> np.ndarray:
    return cache.read_frames(cache.frames_path(place, key))


def played(item: bpy.types.Object, frame: int) -> np.ndarray:
    bpy.context.scene.frame_set(frame)
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([vertex.co for vertex in evaluated.data.vertices], np.float32)

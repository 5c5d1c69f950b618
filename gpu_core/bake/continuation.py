# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene that begins in the middle of its own cache: the frames before stay as an earlier bake made them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..check.scene_check import to_world
from ..files.errors import CacheError
from ..files.folder import frames_path
from ..files.point_cache import read_frames
from ..scene import air, keyed
from ..scene.pins import Pins
from ..scene.scene import Cloth, Collider, Scene

Frames = TypeVar("Frames", bound=npt.NDArray[np.generic])


def continued(scene: Scene, cache: Path, kept: int) -> Scene:
    """The scene from frame number `kept` (1 is the first) on, where the cache has it, and as fast as it moves there.

    The speed is that of the last two frames, so it is the mean over a frame and not what the solver's last step had:
    going on so is not the same as never having stopped.

    Raises CacheError where the cache has fewer frames or other cloths, DiskError.
    """
    first = scene.settings.frame_start + kept - 1
    past = scene.settings.preroll + kept  # frames that arrays and keys have of it
    now = keyed.moment(scene.keys, past - 1)
    settings = replace(scene.settings, frame_start=first, preroll=0, **now)
    pace = scene.settings.fps / settings.time_scale
    places = (past - 1) * settings.samples_per_frame + 1  # that arrays of what moves have of it
    cloths = tuple(_cloth(cloth, cache, kept, past, pace, places) for cloth in scene.cloths)
    colliders = tuple(_collider(collider, past, places) for collider in scene.colliders)
    fields = tuple(air.rest_of(item, past, keyed.rest_of(item.keys, past)) for item in scene.fields)
    return Scene(cloths, colliders, settings, keyed.rest_of(scene.keys, past), fields, scene.threads)


def _cloth(cloth: Cloth, cache: Path, kept: int, past: int, pace: float, places: int) -> Cloth:
    """past: kept frames, and those of the pre-roll. pace: frames in a second of the cloth's time. places: kept ones."""
    frames = read_frames(frames_path(cache, cloth.cache_key))
    if len(frames) < kept or frames.shape[1:] != cloth.positions.shape:
        raise CacheError(f"The cache of {cloth.name} does not reach there", "Bake from the start")
    last = to_world(cloth, frames[kept - 1], past - 1)
    velocities = cloth.velocities
    if kept > 1:
        velocities = (last - to_world(cloth, frames[kept - 2], past - 2)) * pace
    pins = cloth.pins and _pins(cloth.pins, places)
    groups = tuple(
        replace(group, pins=_pins(group.pins, places), keys=keyed.rest_of(group.keys, past))
        for group in cloth.pin_groups
    )
    spaces = cloth.world_to_object
    return replace(
        cloth,
        positions=last,
        velocities=velocities,
        pins=pins,
        pin_groups=groups,
        keys=keyed.rest_of(cloth.keys, past),
        world_to_object=None if spaces is None else _rest_of(spaces, past),
    )


def _pins(pins: Pins, places: int) -> Pins:
    return replace(pins, targets=_rest_of(pins.targets, places))


def _collider(collider: Collider, past: int, places: int) -> Collider:
    positions = _rest_of(collider.positions, places)
    return replace(collider, positions=positions, keys=keyed.rest_of(collider.keys, past))


def _rest_of(frames: Frames, past: int) -> Frames:
    rest: Frames = frames[past - 1 :] if len(frames) > 1 else frames  # type: ignore[assignment]
    return rest

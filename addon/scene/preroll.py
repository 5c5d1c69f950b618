# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames before the range that a bake simulates: what Blender shows for each of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import bpy

from ...gpu_core.scene.settings import Settings

Moment = TypeVar("Moment", int, float)


def morphs(scene: bpy.types.Scene, frames: int) -> bool:
    """Do bodies and pins go from the rest pose to that of the first frame, in a pre-roll of so many frames?"""
    return frames > 0 and scene.taffeta.preroll_from == "REST_POSE"


def source(scene: bpy.types.Scene, settings: Settings, frame: Moment) -> Moment:
    """The frame of the animation, or the moment between two, that stands for a simulated one."""
    return frame if scene.taffeta.preroll_from == "ANIMATION" else max(frame, settings.frame_start)


@contextmanager
def shown(scene: bpy.types.Scene, settings: Settings, frame: float) -> Iterator[None]:
    """While it lasts, Blender shows what a simulated frame is read from: of a morph first the pose that it begins with,
    and then the one that it leads to."""
    at_rest = posed(bpy.data.armatures) if morphs(scene, settings.preroll) and frame == settings.begins else []
    try:
        for armature in at_rest:
            armature.pose_position = "REST"
        when = source(scene, settings, frame)
        scene.frame_set(math.floor(when), subframe=when % 1.0)
        yield
    finally:
        for armature in at_rest:
            armature.pose_position = "POSE"


def posed(armatures: bpy.types.BlendDataArmatures) -> list[bpy.types.Armature]:
    """Those that bodies may follow out of their rest position: linked ones and those of instanced collections too."""
    return [armature for armature in armatures if armature.pose_position == "POSE"]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Floor, light, camera and film of the sample scenes, so that a saved sample renders as it is."""

from __future__ import annotations

from math import cos, radians, sin

import bpy
import numpy as np
import numpy.typing as npt
from mathutils import Vector

from .look import plaster

Point = tuple[float, float, float]

AZIMUTH, ELEVATION = radians(-62.0), radians(16.0)  #: where the camera stands, seen from the target
LENS = 70.0  #: mm
KEY = ((1.6, -1.5, 2.6), 1.4, 105.0)  #: place, m; width, m; power, W
FILL = ((-2.4, -1.0, 1.6), 2.0, 22.0)
RIM = ((-0.8, 2.2, 2.2), 1.0, 60.0)
BACKDROP = 30.0  #: m, half the floor's width
SAMPLES = 20  #: a pixel; denoised
FILM = (960, 540)  #: pixels


def light_and_film(
    target: Point,
    distance: float,
    frames: int,
    *,
    azimuth: float = AZIMUTH,
    elevation: float = ELEVATION,
    film: tuple[int, int] = FILM,
) -> bpy.types.Object:
    """Set up everything but the actors: a camera `distance` m from `target`, and `frames` frames at 24 fps.

    Returns the floor, which cloth does not notice.

    azimuth, elevation: where the camera stands, rad; the lights go round with it. film: width, height, pixels.
    """
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    scene.render.fps, scene.render.fps_base = 24, 1.0
    scene.gravity = (0.0, 0.0, -9.81)
    scene.frame_set(1)
    floor = _add_floor()
    _add_sky(scene)
    for name, (place, width, power) in (("Key", KEY), ("Fill", FILL), ("Rim", RIM)):
        x, y, z = place
        turn = azimuth - AZIMUTH
        around = (x * cos(turn) - y * sin(turn), x * sin(turn) + y * cos(turn), z)
        _add_light(name, around, width, power, target)
    away = Vector((cos(azimuth) * cos(elevation), sin(azimuth) * cos(elevation), sin(elevation)))
    _add_camera(scene, Vector(target), distance * away)
    _load_film(scene, film)
    return floor


def approach(target: Point, distance: float, first: int, last: int) -> None:
    """From frame `first` to `last` the camera goes, without a turn, to where it sees `target` from `distance` m."""
    camera = bpy.context.scene.camera
    bpy.context.view_layer.update()
    camera.keyframe_insert("location", frame=first)
    away = camera.matrix_world.to_quaternion() @ Vector((0.0, 0.0, 1.0))
    camera.location = Vector(target) + distance * away
    camera.keyframe_insert("location", frame=last)


def go_along(way: Point, first: int, last: int) -> None:
    """From frame `first` to `last` camera and lights go `way`, m, with an actor who does."""
    for thing in bpy.context.scene.objects:
        if thing.type in ("CAMERA", "LIGHT"):
            thing.keyframe_insert("location", frame=first)
            thing.location += Vector(way)
            thing.keyframe_insert("location", frame=last)


def look_at_all(corners: npt.NDArray[np.float64], margin: float) -> None:
    """Move the camera, not turn it, until all `corners` (N, 3) m are in the picture; then back by `margin` times."""
    scene = bpy.context.scene
    bpy.context.view_layer.update()
    place, _ = scene.camera.camera_fit_coords(bpy.context.evaluated_depsgraph_get(), corners.ravel().tolist())
    middle = Vector((0.5 * (corners.min(axis=0) + corners.max(axis=0))).tolist())
    axis = scene.camera.matrix_world.to_quaternion() @ Vector((0.0, 0.0, 1.0))
    scene.camera.location = place + (margin - 1.0) * (place - middle).dot(axis) * axis


def _add_floor() -> bpy.types.Object:
    mesh = bpy.data.meshes.new("Floor")
    corners = [(x * BACKDROP, y * BACKDROP, 0.0) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    mesh.from_pydata(corners, [], [(0, 1, 2, 3)])
    mesh.materials.append(plaster())
    floor = bpy.data.objects.new("Floor", mesh)
    bpy.context.scene.collection.objects.link(floor)
    return floor


def _add_sky(scene: bpy.types.Scene) -> None:
    scene.world = bpy.data.worlds.new("Sky")
    scene.world.use_nodes = True
    background = next(node for node in scene.world.node_tree.nodes if node.type == "BACKGROUND")
    background.inputs["Color"].default_value = (0.60, 0.68, 0.80, 1.0)
    background.inputs["Strength"].default_value = 0.25


def _add_light(name: str, place: Point, width: float, power: float, target: Point) -> None:
    lamp = bpy.data.lights.new(name, "AREA")
    lamp.shape, lamp.size, lamp.energy = "DISK", width, power
    light = bpy.data.objects.new(name, lamp)
    bpy.context.scene.collection.objects.link(light)
    _aim(light, Vector(place), Vector(target))


def _add_camera(scene: bpy.types.Scene, target: Vector, away: Vector) -> None:
    optics = bpy.data.cameras.new("Camera")
    optics.lens = LENS
    camera = bpy.data.objects.new("Camera", optics)
    scene.collection.objects.link(camera)
    _aim(camera, target + away, target)
    scene.camera = camera


def _aim(thing: bpy.types.Object, place: Vector, target: Vector) -> None:
    thing.location = place
    thing.rotation_euler = (target - place).to_track_quat("-Z", "Y").to_euler()


def _load_film(scene: bpy.types.Scene, film: tuple[int, int]) -> None:
    scene.render.engine = "CYCLES"
    scene.render.resolution_x, scene.render.resolution_y = film
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format = "PNG"
    scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = "CPU", SAMPLES, True
    scene.cycles.use_adaptive_sampling = True
    scene.view_settings.view_transform = "AgX"
    scene.view_settings.look = "AgX - Medium High Contrast"

# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene small enough to bake in a second: a sheet falls on a ball."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import ipctk
import numpy as np

from taffeta.gpu_core.bake.bake import bake
from taffeta.gpu_core.check.intersection import unique_edges
from taffeta.gpu_core.check.scene_check import check_frame, to_world
from taffeta.gpu_core.files.cache import frames_path, read_frames
from taffeta.gpu_core.files.job import save
from taffeta.gpu_core.scene.air import Field, FieldWeights
from taffeta.gpu_core.scene.encounters import Encounter
from taffeta.gpu_core.scene.pins import PinGroup
from taffeta.gpu_core.scene.scene import (
    PAINTABLE,
    Cloth,
    Collider,
    Cords,
    Folds,
    Material,
    Painted,
    Pins,
    Scene,
    Settings,
)
from taffeta.gpu_core.scene.shape import Shape


def sheet(side: int, size: float = 1.0):
    """A flat square of side × side vertices in the plane z = 0: positions (side², 3), triangles (T, 3) int32."""
    i, j = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    vertices = np.stack([i, j, 0 * i], axis=-1).reshape(-1, 3) * (size / (side - 1))
    corner = (i[:-1, :-1] * side + j[:-1, :-1]).ravel()
    lower = np.stack([corner, corner + side, corner + side + 1], axis=1)
    upper = np.stack([corner, corner + side + 1, corner + 1], axis=1)
    return vertices, np.concatenate([lower, upper]).astype(np.int32)


def ball(radius: float):
    """A closed octahedron, each face cut in four: (18, 3), (32, 3)."""
    axes = np.concatenate([np.eye(3), -np.eye(3)])
    faces = np.array([[i, j, k] for i, j, k in itertools.product((0, 3), (1, 4), (2, 5))])
    middles = np.array(sorted({tuple(sorted(pair)) for f in faces for pair in itertools.combinations(f, 2)}))
    number = {tuple(pair): 6 + index for index, pair in enumerate(middles.tolist())}
    vertices = np.concatenate([axes, axes[middles].mean(axis=1)])
    vertices *= radius / np.linalg.norm(vertices, axis=1, keepdims=True)
    triangles = []
    for a, b, c in faces.tolist():
        ab, bc, ca = (number[tuple(sorted(pair))] for pair in ((a, b), (b, c), (c, a)))
        triangles += [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
    return vertices, np.array(triangles, np.int32)


def sewn_tube(side: int, frames: int) -> Scene:
    """Two panels of 20 cm, 20 cm apart, upright, whose sides are to be sewn in half a second. No gravity."""
    flat, triangles = sheet(side, 0.2)
    upright, count = flat[:, [0, 2, 1]], side * side
    start = np.concatenate([upright - [0, 0.1, 0], upright + [0, 0.1, 0]])
    faces = np.concatenate([triangles, triangles[:, ::-1] + count]).astype(np.int32)
    sides = np.flatnonzero((flat[:, 0] < 1e-9) | (flat[:, 0] > 0.2 - 1e-9))
    seams = np.column_stack([sides, sides + count]).astype(np.int32)
    cloth = Cloth("Tube", faces, start, start, Material(), seams=seams, sewing_time=0.5)
    return Scene((cloth,), (), Settings(frame_end=frames, gravity=(0.0, 0.0, 0.0)))


def pocket(side: int, frames: int) -> Scene:
    """A sheet of 20 cm whose two upper corners come 8 cm nearer, with a pocket: a patch that shares three of its sides.

    side: 6 or more. At the pocket's seams three faces meet.
    """
    flat, triangles = sheet(side, 0.2)
    upright = flat[:, [0, 2, 1]]
    row, column = np.divmod(np.arange(side * side), side)  # row along x, column along z
    low, high = side // 4, side - 1 - side // 4
    within = (row >= low) & (row <= high) & (column >= low) & (column <= high)
    seam = within & ((row == low) | (row == high) | (column == low))
    inner = np.flatnonzero(within & ~seam)
    number = np.arange(side * side)
    number[inner] = side * side + np.arange(len(inner))
    patch = triangles[within[triangles].all(axis=1)]
    patch = number[patch[(number[patch] != patch).any(axis=1)]]  # a corner's own triangle is the sheet's
    places = np.concatenate([upright, upright[inner] - [0.0, 0.01, 0.0]])
    faces = np.concatenate([triangles, patch]).astype(np.int32)
    held = np.int32([side - 1, side * side - 1])
    nearer = np.linspace(0.0, 0.04, frames)[:, None, None] * np.array([[[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]])
    pins = Pins(held, places[held] + nearer)
    cloth = Cloth("Jeans", faces, places, places, Material(), pins=pins, thickness=1e-3)
    return Scene((cloth,), (), Settings(frame_end=frames))


def globe(radius: float, cuts: int = 3):
    """An octahedron whose faces were cut in four so many times, its corners on a sphere: (4^(cuts+1) + 2, 3), …"""
    vertices, triangles = ball(1.0)
    for _ in range(cuts - 1):
        edges = unique_edges(triangles)
        number = {tuple(edge): len(vertices) + k for k, edge in enumerate(edges.tolist())}
        vertices = np.concatenate([vertices, vertices[edges].mean(axis=1)])
        finer = []
        for a, b, c in triangles.tolist():
            ab, bc, ca = (number[tuple(sorted(pair))] for pair in ((a, b), (b, c), (c, a)))
            finer += [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        triangles = np.array(finer, np.int32)
    corner = vertices[triangles]
    inward = (np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]) * corner[:, 0]).sum(axis=1) < 0.0
    triangles[inward] = triangles[inward, ::-1]
    return radius * vertices / np.linalg.norm(vertices, axis=1, keepdims=True), triangles


def small_scene(frames: int = 6, side: int = 10) -> Scene:
    """side × side vertices, 30 cm, above a ball; the cache is written in a space that turns with the frames."""
    vertices, triangles = sheet(side, 0.3)
    start = vertices - [0.15, 0.15, -0.12]
    surface, faces = ball(0.1)
    angle = 0.1 * np.arange(frames)
    turning = np.tile(np.eye(4), (frames, 1, 1))
    turning[:, 0, 0], turning[:, 0, 1], turning[:, 1, 0] = np.cos(angle), -np.sin(angle), np.sin(angle)
    turning[:, 1, 1], turning[:, :3, 3] = np.cos(angle), [1.0, 2.0, 3.0]
    vacuum = Material(air_drag=0.0)  # so that the fall has a closed form
    return Scene(
        (Cloth("Sheet", triangles, vertices, start, vacuum, key="sheet", world_to_object=turning),),
        (Collider("Ball", faces, surface[None].astype(np.float32)),),
        Settings(frame_start=11, frame_end=10 + frames, backend="cpu"),
    )


def bake_unbroken(frames: int, folder: Path) -> tuple[Path, bytes]:
    """Bake the small scene without a break: (job folder, bytes of the point cache)."""
    save(small_scene(frames), folder / "job")
    bake(folder / "job", folder / "cache", check=False, on_event=lambda event: None, cancelled=lambda: False)
    return folder / "job", frames_path(folder / "cache", "sheet").read_bytes()


def painted(cloth: Cloth, *names: str, factor: float = 2.0) -> Cloth:
    """These numbers, or all, `factor` times as large at one side of a sheet in x and as they are at the other."""
    x = cloth.rest_positions[:, 0]
    weights = ((x - x.min()) / np.ptp(x)).astype(np.float32)
    value = cloth.numbers
    return replace(cloth, painted={name: Painted(weights, factor * value[name]) for name in names or PAINTABLE})


def full_scene() -> Scene:
    """Every optional field in use: two cloths, pins that move, velocities, warp, paint, keys, an animated collider."""
    scene = small_scene(3, 4)
    (first,), (collider,) = scene.cloths, scene.colliders
    count = len(first.positions)
    pins = Pins(np.array([0, 3], np.int32), first.positions[[[0, 3]]] + np.zeros((3, 1, 1)), np.float32([1, 0.5]))
    moved = PinGroup("Moved", replace(pins, targets=pins.targets + np.linspace(0, 0.1, 3)[:, None, None]), 0.5)
    still = PinGroup("Still", Pins(np.int32([5]), first.positions[None, [5]]), 1.0, {"strength": np.array([1, 0.5])})
    second = replace(
        first,
        name="Çurtain / left",
        key="",
        positions=first.positions + np.array([0, 0, 1.0]),
        pins=pins,
        pin_strength=0.9,
        pin_groups=(moved, still),
        velocities=np.full((count, 3), 0.25),
        warp=np.tile([0.0, 1.0, 0.0], (len(first.triangles), 1)),
        world_to_object=None,
        seams=np.int32([[1, 14]]),
        sewing_time=2.0,
        sewing_force=0.5,
        seam_stiffness=3.0,
        folds=Folds(np.int32([[1, 2]]), np.array([-0.5])),
        fold_angle=1.0,
        cords=Cords(np.int32([[2, 12], [12, 7]]), np.array([0.05, 0.3])),
        cord_stiffness=20.0,
        cord_density=0.01,
        cord_shrink=0.1,
        rest_corners=first.rest_positions[first.triangles],
        shape=Shape(0.1, 20.0, 5.0, 1.0e-3, 2.0, 0.5),
        layer=2,
        meets=(0,),
        left_out_of_bodies=np.arange(count) < 3,
        left_out_of_itself=np.arange(count) > 12,
    )
    moving = replace(collider, name="Moving", positions=np.repeat(collider.positions, 3, axis=0) + np.float32(0.5))
    second = replace(painted(second), keys={"bend": np.array([5e-6, 6e-6]), "bend_max": np.array([1e-5, 2e-5, 3e-5])})
    moving = replace(moving, keys={"friction": np.array([0.4, 0.5])})
    keys = {"gravity": np.array([[0.0, 0.0, -9.81], [0.0, 1.0, -9.0]]), "time_scale": np.array([1.0, 0.9])}
    weights = FieldWeights(field_gravity=0.9, field_wind=0.5)
    second = replace(
        second, field_weights=weights, fields=(0, 2), keys={**second.keys, "field_all": np.array([1, 0.8])}
    )
    met = (
        Encounter(0, 2, False, since=12),
        Encounter(1, 1, friction=0.2, until=12, keys={"friction": np.array([0.2, 0.3])}),
    )
    scene = replace(scene, encounters=met)
    moving = replace(moving, drawn=len(moving.triangles) - 1, whole=moving.triangles[:-1])
    return replace(scene, cloths=(first, second), colliders=(collider, moving), keys=keys, fields=every_field())


def every_field() -> tuple[Field, ...]:
    """One of each kind, with each shape, falloff and side, some of them moving and with keys."""
    turn = np.array([[0.0, 0.0, 1.0], [0.0, 0.6, 0.8], [0.0, 0.8, 0.6]])
    way = np.array([[0.1, 0.0, -0.2], [0.2, 0.0, -0.2], [0.3, 0.1, -0.2]])
    still, gust = (
        {"location": way[:1], "axis": turn[1:2]},
        {"strength": np.array([1.0, 2.0]), "flow": np.array([1, 0.5])},
    )
    return (
        Field("Fan", way, turn, "wind", "plane", strength=1.0, flow=1.0, wind_factor=0.8, noise=0.5, seed=7, keys=gust),
        Field("Pull", **still, kind="force", gravity_falloff=True, strength=-0.2, flow=0.1, wind_factor=0.5),
        Field(
            "Twist", **still, kind="vortex", falloff="tube", z_direction="positive", radial_power=1.0, radial_max=9.0
        ),
        Field("Whirl", **still, kind="vortex", shape="plane", power=1.0),
        Field("Coil", **still, kind="magnetic", shape="line", falloff="cone", radial_power=0.5, radial_min=10.0),
        Field("Plates", **still, kind="magnetic", shape="plane", z_direction="negative"),
        Field("Spring", **still, kind="harmonic", damping=0.1, size=0.1, noise=0.3),
        Field("Eddies", **still, kind="turbulence", size=0.3, global_coordinates=True),
        Field("More", **still, kind="turbulence", size=0.0, power=2.0, distance_min=0.1, distance_max=5.0),
        Field("Syrup", **still, kind="drag", strength=0.5, damping=0.5),
    )


def assert_frames_are_free_of_intersections(scene: Scene, cache: Path, frames: int) -> None:
    """By the exact check and by ipctk, from the float32 positions in the cache. One cloth, and colliders that do not
    cross each other."""
    (cloth,), bodies = scene.cloths, scene.colliders
    cached = read_frames(frames_path(cache, cloth.cache_key))
    assert len(cached) == frames
    first = np.cumsum([len(cloth.positions), *(body.positions.shape[1] for body in bodies)])
    parts = [cloth.triangles, *(body.triangles + at for body, at in zip(bodies, first, strict=False))]
    triangles = np.concatenate(parts).astype(np.int32)
    for index in range(frames):
        assert check_frame(scene, scene.settings.frame_start + index, [cached[index]]) == []
        around = [np.float64(body.positions[index if body.animated else 0]) for body in bodies]
        vertices = np.concatenate([to_world(cloth, cached[index], index), *around])
        mesh = ipctk.CollisionMesh(vertices, unique_edges(triangles).astype(np.int32), triangles)
        assert not ipctk.has_intersections(mesh, vertices)

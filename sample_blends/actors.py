# SPDX-License-Identifier: GPL-3.0-or-later
"""What the sample scenes are played by: sheets of cloth and spheres."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from math import sqrt

import bmesh
import bpy
import numpy as np
import numpy.typing as npt
from mathutils import Matrix, Vector

from .look import fabric, plaster, varnish

FABRIC = "COTTON"
SPHERE_SUBDIVISIONS = 5  #: of an icosahedron: 2 562 vertices, no needle-shaped triangles at poles
STAND_RADIUS = 0.012  #: m
TABLE_TOP, TABLE_LEG = 0.04, 0.05  #: m, how thick they are
GAP = 2.0e-3  #: m between the two, and to the floor


def add_sheet(
    name: str,
    vertices: int,
    size: float,
    location: tuple[float, float, float],
    rotation: tuple[float, float, float] = (0.0, 0.0, 0.0),
    share: float = 1.0,
) -> bpy.types.Object:
    """Cotton, `size` m wide and `share` times that high, in its own xy plane; UVs 0…1, with U along the warp."""
    side, rows = max(2, round(sqrt(vertices / share))), max(2, round(sqrt(vertices * share)))
    u, v = (axis.ravel() for axis in np.meshgrid(np.linspace(0.0, 1.0, side), np.linspace(0.0, 1.0, rows)))
    positions = np.column_stack(((u - 0.5) * size, (v - 0.5) * (size * share), np.zeros_like(u)))
    first = (np.arange(rows - 1)[:, None] * side + np.arange(side - 1)).ravel()
    quads = np.column_stack((first, first + 1, first + side + 1, first + side))
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(positions.tolist(), [], quads.tolist())
    uvs = np.column_stack((u, v))[quads.ravel()]
    mesh.uv_layers.new(name="UVMap").uv.foreach_set("vector", uvs.astype(np.float32).ravel())
    mesh.shade_smooth()
    sheet = _link(name, mesh, fabric())
    sheet.location, sheet.rotation_euler = location, rotation
    sheet.taffeta.role = "CLOTH"
    sheet.taffeta.cloth.preset = FABRIC
    return sheet


def pin(sheet: bpy.types.Object, chosen: Callable[[float, float, float], bool]) -> None:
    """Hold the vertices whose local position (x, y, z) in m is chosen."""
    group = sheet.vertex_groups.new(name="Pins")
    group.add([vertex.index for vertex in sheet.data.vertices if chosen(*vertex.co)], 1.0, "REPLACE")
    sheet.taffeta.cloth.pin_group = group.name


def hold(
    sheet: bpy.types.Object, name: str, chosen: Callable[[float, float, float], bool], target: bpy.types.Object
) -> bpy.types.PropertyGroup:
    """Let an object carry the vertices whose local position (x, y, z) in m is chosen; returns those pins."""
    group = sheet.vertex_groups.new(name=name)
    group.add([vertex.index for vertex in sheet.data.vertices if chosen(*vertex.co)], 1.0, "REPLACE")
    pins: bpy.types.PropertyGroup = sheet.taffeta.cloth.pins.add()
    pins.group, pins.target = group.name, target
    return pins


def beyond(side: float, least: float) -> Callable[[float, float, float], bool]:
    """Which places are at least so many m along x; of side −1 against it."""
    return lambda x, _y, _z: side * x > least


def let_go(pins: bpy.types.PropertyGroup, frame: int) -> None:
    """At this frame, at once."""
    for strength, at in ((1.0, frame - 1), (0.0, frame)):
        pins.strength = strength
        pins.keyframe_insert("strength", frame=at)


def add_sphere(name: str, radius: float, location: tuple[float, float, float], stand: bool = False) -> bpy.types.Object:
    """A sphere that cloth collides with; `radius` and `location` in m. The stand below it is for the eye only."""
    mesh = bpy.data.meshes.new(name)
    with _edited(mesh) as shape:
        bmesh.ops.create_icosphere(shape, subdivisions=SPHERE_SUBDIVISIONS, radius=radius)
    mesh.shade_smooth()
    sphere = _link(name, mesh, varnish())
    sphere.location = location
    sphere.taffeta.role = "COLLIDER"
    if stand:
        add_stand(location)
    return sphere


def add_panels(
    name: str,
    points: npt.NDArray[np.float64],
    triangles: npt.NDArray[np.int32],
    sewn: npt.NDArray[np.int32],
    away: float,
) -> bpy.types.Object:
    """One panel before and one behind the plane y = 0, `away` m from it, with threads between the vertices `sewn`.

    points: (N, 2) places of the panel in x and z, m. triangles: (T, 3). The UV map has the panels side by side.
    """
    count = len(points)
    places = np.concatenate([np.insert(points, 1, side * away, axis=1) for side in (-1.0, 1.0)])
    faces = np.concatenate([triangles, triangles[:, ::-1] + count])
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(places.tolist(), np.column_stack([sewn, sewn + count]).tolist(), faces.tolist())
    size = np.ptp(points, axis=0).max()
    flat = np.concatenate([points - points.min(axis=0), points - points.min(axis=0) + [1.1 * size, 0.0]]) / (2.2 * size)
    mesh.uv_layers.new(name="UVMap").uv.foreach_set("vector", flat[faces.ravel()].astype(np.float32).ravel())
    mesh.shade_smooth()
    panels = _link(name, mesh, fabric())
    weld = panels.modifiers.new("Weld", "WELD")  # closed seams are shaded as one sheet
    weld.merge_threshold = 1.0e-5
    panels.taffeta.role = "CLOTH"
    panels.taffeta.cloth.preset = FABRIC
    return panels


def add_garment(
    name: str,
    places: npt.NDArray[np.float64],
    faces: npt.NDArray[np.integer],
    material: bpy.types.Material,
    *,
    edges: npt.NDArray[np.integer] | None = None,
    flat: npt.NDArray[np.float64] | None = None,
) -> bpy.types.Object:
    """A cloth of places (N, 3), m. faces: (F, 3) or (F, 4). edges: (E, 2) without a face. flat: (N, 2) its UV map."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(places.tolist(), [] if edges is None else edges.tolist(), faces.tolist())
    if flat is not None:
        mesh.uv_layers.new(name="UVMap").uv.foreach_set("vector", flat[faces.ravel()].astype(np.float32).ravel())
    mesh.shade_smooth()
    garment = _link(name, mesh, material)
    garment.taffeta.role = "CLOTH"
    garment.taffeta.cloth.preset = FABRIC
    return garment


#: Joints of the figure's right half by name: place and radii of the body there, m.
JOINTS = {
    "hip": ((0.0, 0.0, 0.90), (0.155, 0.105)), "waist": ((0.0, 0.0, 1.05), (0.125, 0.09)),
    "chest": ((0.0, 0.0, 1.27), (0.145, 0.1)), "collar": ((0.0, 0.0, 1.41), (0.09, 0.065)),
    "neck": ((0.0, 0.0, 1.50), (0.05, 0.05)), "head": ((0.0, 0.0, 1.66), (0.09, 0.1)),
    "crown": ((0.0, 0.0, 1.76), (0.06, 0.06)), "shoulder": ((0.175, 0.0, 1.385), (0.055, 0.055)),
    "elbow": ((0.40, 0.0, 1.265), (0.042, 0.042)), "wrist": ((0.62, 0.0, 1.145), (0.03, 0.03)),
    "thigh": ((0.09, 0.0, 0.70), (0.075, 0.08)), "ankle": ((0.11, 0.0, 0.1), (0.045, 0.045)),
}  # fmt: skip
TRUNK, ARM, LEG = ("hip", "waist", "chest", "collar", "neck", "head", "crown"), ("shoulder", "elbow", "wrist"), (
    "thigh", "ankle",
)  # fmt: skip


def add_figure(name: str, stance: float = 0.0) -> bpy.types.Object:
    """A standing figure that looks along −y, its arms half raised: a skin around bones. Cloth collides with it.

    stance: by how much each foot stands farther out, m.
    """
    places: list[tuple[float, float, float]] = []
    radii: list[tuple[float, float]] = []
    bones: list[tuple[int, int]] = []
    number: dict[tuple[str, float], int] = {}
    for side in (1.0, -1.0):
        for joint in (*TRUNK, *ARM, *LEG):
            if side < 0.0 and joint in TRUNK:
                number[joint, side] = number[joint, 1.0]
                continue
            (x, y, z), size = JOINTS[joint]
            number[joint, side] = len(places)
            out = stance * (1.0 - z / JOINTS["hip"][0][2]) if joint in LEG else 0.0
            places.append((side * (x + out), y, z))
            radii.append(size)
        for chain in (("collar", *ARM), ("hip", *LEG), *([TRUNK] if side > 0.0 else [])):
            bones += [(number[a, side], number[b, side]) for a, b in pairwise(chain)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(places, bones, [])
    figure = _link(name, mesh, varnish())
    skin = figure.modifiers.new("Skin", "SKIN")
    for vertex, radius in zip(mesh.skin_vertices[0].data, radii, strict=True):
        vertex.radius = radius
    skin.use_smooth_shade = True
    refined = figure.modifiers.new("Subdivision", "SUBSURF")
    refined.levels = refined.render_levels = 2
    figure.taffeta.role = "COLLIDER"
    return figure


def add_table(name: str, width: float, height: float) -> bpy.types.Object:
    """A square table on four legs, m, on the floor in the middle. Cloth collides with it."""
    mesh = bpy.data.meshes.new(name)
    away, under = 0.5 * width - 2.0 * TABLE_LEG, height - TABLE_TOP
    with _edited(mesh) as shape:
        _add_box(shape, (0.0, 0.0, height - 0.5 * TABLE_TOP), (width, width, TABLE_TOP))
        for x, y in ((-away, -away), (-away, away), (away, -away), (away, away)):
            _add_box(shape, (x, y, 0.5 * under), (TABLE_LEG, TABLE_LEG, under - 2.0 * GAP))
        rounded = {"offset": 0.2 * TABLE_TOP, "segments": 3, "profile": 0.5, "affect": "EDGES"}
        bmesh.ops.bevel(shape, geom=list(shape.edges), **rounded)
    table = _link(name, mesh, varnish())
    table.taffeta.role = "COLLIDER"
    return table


def _add_box(shape: bmesh.types.BMesh, middle: tuple[float, float, float], size: tuple[float, float, float]) -> None:
    place = Matrix.LocRotScale(Vector(middle), None, Vector(size))
    bmesh.ops.create_cube(shape, size=1.0, matrix=place)


def add_hand(name: str, location: tuple[float, float, float]) -> bpy.types.Object:
    """An empty that may carry pins."""
    hand = bpy.data.objects.new(name, None)
    hand.empty_display_size = 0.1
    hand.location = location
    bpy.context.scene.collection.objects.link(hand)
    return hand


def move(item: bpy.types.Object, way: Iterable[tuple[int, tuple[float, float, float]]]) -> None:
    """Keys its location: (frame, place in m)."""
    for frame, place in way:
        item.location = place
        item.keyframe_insert("location", frame=frame)


def add_stand(top: tuple[float, float, float]) -> bpy.types.Object:
    """A pole from the floor to `top`, m, which cloth does not notice."""
    mesh = bpy.data.meshes.new("Stand")
    with _edited(mesh) as shape:
        bmesh.ops.create_cone(
            shape, cap_ends=True, segments=32, radius1=STAND_RADIUS, radius2=STAND_RADIUS, depth=top[2]
        )
    stand = _link("Stand", mesh, plaster((0.05, 0.05, 0.05)))
    stand.location = (top[0], top[1], 0.5 * top[2])
    return stand


def add_field(
    kind: str, strength: float, location: tuple[float, float, float], rotation: tuple[float, float, float]
) -> bpy.types.Object:
    """A force field of Blender's, of this type, along its own z axis."""
    bpy.ops.object.effector_add(type=kind, location=location, rotation=rotation)
    made: bpy.types.Object = bpy.context.object
    made.field.strength, made.field.seed = strength, 1  # which Blender takes from the clock
    return made


def _link(name: str, mesh: bpy.types.Mesh, material: bpy.types.Material) -> bpy.types.Object:
    mesh.materials.append(material)
    made = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(made)
    return made


@contextmanager
def _edited(mesh: bpy.types.Mesh) -> Iterator[bmesh.types.BMesh]:
    shape = bmesh.new()
    try:
        yield shape
        shape.to_mesh(mesh)
    finally:
        shape.free()

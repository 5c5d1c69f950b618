# SPDX-License-Identifier: GPL-3.0-or-later
"""What the sample scenes are played by: sheets of cloth and spheres."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import sqrt

import bmesh
import bpy
import numpy as np

from .look import fabric, plaster, varnish

FABRIC = "COTTON"
SPHERE_SUBDIVISIONS = 5  #: of an icosahedron: 2 562 vertices, no needle-shaped triangles at poles
STAND_RADIUS = 0.012  #: m


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

# SPDX-License-Identifier: GPL-3.0-or-later
"""The attribute `velocity` on a baked cloth, as Cycles, Alembic and USD read it.

A mesh that no scene shows carries the velocities in place of positions: a Mesh Cache modifier plays them from a file
beside the cache, and geometry nodes on the cloth copy them. So they play without the add-on, as the cache does.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import bpy

from ...gpu_core.files.cache import CacheError
from ...gpu_core.files.disk import make_folder, write_whole
from ...gpu_core.files.folder import VELOCITIES
from ...gpu_core.files.point_cache import PointCacheHeader
from ..scene import modifier
from . import place as cache_place
from .frames import BakedFrames

NAME = "Taffeta Velocity"
ATTRIBUTE = "velocity"
CARRIER = "Carrier"


def find(cloth: bpy.types.Object) -> bpy.types.Modifier | None:
    """Our velocity modifier on this object, or None."""
    found = cloth.modifiers.get(NAME)
    return found if found is not None and found.type == "NODES" else None


def write(baked: BakedFrames) -> Path:
    """Write the velocities beside the cache; the file that `add` takes.

    Raises:
        CacheError: the cache lies in a folder that is lost when Blender closes.
        DiskError: they cannot be written.
    """
    folder = baked.path.parent / VELOCITIES
    if cache_place.is_temporary(str(folder)):
        raise CacheError(f"The cache of {baked.cloth.name} lies in a temporary folder", "Save the file first")
    make_folder(folder)
    path = folder / baked.path.name
    write_whole(path, lambda file: _write(file, baked))
    return path


def add(baked: BakedFrames, path: Path) -> None:
    """Give the cloth the velocities that were written, in place of those it may have."""
    cloth = baked.cloth
    remove(cloth)
    mesh = bpy.data.meshes.new(f"{cloth.name} Velocity")
    mesh.vertices.add(baked.vertices)
    carrier = bpy.data.objects.new(mesh.name, mesh)
    playing = carrier.modifiers.new(modifier.NAME, "MESH_CACHE")
    modifier.play(playing, cache_place.blend_path(path, cache_place.open_file()), baked.frame_start)
    own = cloth.modifiers.new(NAME, "NODES")
    own.node_group = _nodes(carrier)
    cloth.modifiers.move(cloth.modifiers.find(own.name), modifier.place(cloth) + 1)


def remove(cloth: bpy.types.Object) -> None:
    """Take the velocities away from the cloth, where it has some."""
    own = find(cloth)
    if own is None:
        return
    tree = own.node_group
    cloth.modifiers.remove(own)
    if tree is None or tree.users or CARRIER not in tree.nodes:
        return
    carrier = tree.nodes[CARRIER].inputs["Object"].default_value
    bpy.data.node_groups.remove(tree)
    if carrier is not None and not carrier.users:
        mesh = carrier.data
        bpy.data.objects.remove(carrier)
        bpy.data.meshes.remove(mesh)


def _write(file: BinaryIO, baked: BakedFrames) -> None:
    file.write(PointCacheHeader(baked.vertices, baked.frame_start, len(baked.positions)).pack())
    for frame in range(baked.frame_start, baked.frame_end + 1):
        file.write(baked.velocities(frame).astype("<f4").tobytes())


def _nodes(carrier: bpy.types.Object) -> bpy.types.GeometryNodeTree:
    """Nodes that store the position of each vertex of the carrier as the velocity of the same vertex."""
    tree = bpy.data.node_groups.new(carrier.name, "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    kinds = {
        "cloth": "NodeGroupInput",
        CARRIER: "GeometryNodeObjectInfo",
        "position": "GeometryNodeInputPosition",
        "index": "GeometryNodeInputIndex",
        "sample": "GeometryNodeSampleIndex",
        "store": "GeometryNodeStoreNamedAttribute",
        "result": "NodeGroupOutput",
    }
    nodes = {name: tree.nodes.new(kind) for name, kind in kinds.items()}
    for column, (name, node) in enumerate(nodes.items()):
        node.name, node.location.x = name, 200.0 * column
    sample, store = nodes["sample"], nodes["store"]
    nodes[CARRIER].inputs["Object"].default_value = carrier
    for node in (sample, store):
        node.data_type, node.domain = "FLOAT_VECTOR", "POINT"
    store.inputs["Name"].default_value = ATTRIBUTE
    for source, output, to, socket in (
        (CARRIER, "Geometry", sample, "Geometry"),
        ("position", "Position", sample, "Value"),
        ("index", "Index", sample, "Index"),
        ("cloth", "Geometry", store, "Geometry"),
        ("sample", "Value", store, "Value"),
        ("store", "Geometry", nodes["result"], "Geometry"),
    ):
        tree.links.new(nodes[source].outputs[output], to.inputs[socket])
    return tree

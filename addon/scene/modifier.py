# SPDX-License-Identifier: GPL-3.0-or-later
"""Our Mesh Cache modifiers: their names, their place in the stack, and switching them off while the scene is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import bpy

PREFIX = "Taffeta "  #: of all modifiers that are ours
NAME = "Taffeta Cache"
TRIANGLES = "Taffeta Triangles"  #: keeps the solver's triangles in what Blender draws: `triangulation`
LIVE = "Taffeta Live"  #: shows what Live simulates, and goes with it

AXES = "POS_Y", "POS_Z"  #: forward and up, of a Mesh Cache that plays what is in object space

#: Modifiers that keep every vertex, so that the simulated mesh may come after them.
KEEPS_VERTICES = frozenset(
    {
        "ARMATURE", "CAST", "CLOTH", "COLLISION", "CORRECTIVE_SMOOTH", "CURVE", "DATA_TRANSFER", "DISPLACE", "HOOK",
        "LAPLACIANDEFORM", "LAPLACIANSMOOTH", "LATTICE", "MESH_CACHE", "MESH_DEFORM", "MESH_SEQUENCE_CACHE",
        "NORMAL_EDIT", "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "SOFT_BODY", "SURFACE", "SURFACE_DEFORM",
        "UV_PROJECT", "UV_WARP", "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY",
        "VOLUME_DISPLACE", "WARP", "WAVE", "WEIGHTED_NORMAL",
    }
)  # fmt: skip

#: Modifiers that move no vertex and make no face.
SHAPELESS = frozenset(
    {"DATA_TRANSFER", "NORMAL_EDIT", "UV_PROJECT", "UV_WARP", "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX",
     "VERTEX_WEIGHT_PROXIMITY", "WEIGHTED_NORMAL", "COLLISION"}
)  # fmt: skip


def find(cloth: bpy.types.Object) -> bpy.types.Modifier | None:
    """Our modifier on this object, or None."""
    modifier = cloth.modifiers.get(NAME)
    return modifier if modifier is not None and modifier.type == "MESH_CACHE" else None


def shows_file(entry: bpy.types.Modifier) -> bool:
    """Does it, in place of what comes before it, show the places of vertices that lie in a file of others?"""
    if entry.name.startswith(PREFIX):
        return False
    if entry.type == "MESH_SEQUENCE_CACHE":
        return "VERT" in entry.read_data
    whole = entry.type == "MESH_CACHE" and entry.factor == 1.0 and not entry.vertex_group
    return whole and entry.deform_mode == "OVERWRITE"


def overriding(cloth: bpy.types.Object) -> list[bpy.types.Modifier]:
    """What after ours shows a file in place of what is simulated."""
    after = list(cloth.modifiers)[place(cloth) + 1 :]
    return [entry for entry in after if (entry.show_viewport or entry.show_render) and shows_file(entry)]


def take_before(cloth: bpy.types.Object) -> None:
    """Let what shows a file come before ours: the simulation begins with what it shows, and pins follow it."""
    if multires(cloth) is not None:  # nothing but deformers may pass it
        return
    for entry in overriding(cloth):
        cloth.modifiers.move(cloth.modifiers.find(entry.name), len(cloth.modifiers) - len(simulated(cloth)))


def may_make_attributes(item: bpy.types.Object) -> bool:
    """Has it geometry nodes of others, as far as one sees without evaluating the object? Ours make none to read."""
    return any(entry.type == "NODES" and not entry.name.startswith(PREFIX) for entry in item.modifiers)


def multires(item: bpy.types.Object) -> bpy.types.Modifier | None:
    """Its Multires, or None: Blender lets none come after what may make other faces, as geometry nodes."""
    return next((entry for entry in item.modifiers if entry.type == "MULTIRES"), None)


def place(cloth: bpy.types.Object) -> int:
    """Index in the stack where our modifier is, or belongs: behind the deformers, and geometry nodes that make what the
    cloth is painted with; before what adds vertices."""
    own = find(cloth)
    if own is not None:
        return cloth.modifiers.find(own.name)
    stack = list(cloth.modifiers)
    following = (k for k, item in enumerate(stack) if not comes_before(cloth, item) or item.name == LIVE)
    return next(following, len(stack))


def comes_before(cloth: bpy.types.Object, item: bpy.types.Modifier) -> bool:
    """Should our modifier come after this one?"""
    return item.type in KEEPS_VERTICES or _paints(cloth, item)


def _paints(cloth: bpy.types.Object, item: bpy.types.Modifier) -> bool:
    """Are these geometry nodes that make an attribute by whose name the cloth is painted or pinned?"""
    if item.type != "NODES" or item.node_group is None:
        return False
    chosen = cloth.taffeta.cloth
    fields = (entry.identifier for entry in chosen.bl_rna.properties if entry.identifier.endswith("_group"))
    names = {*(getattr(chosen, field) for field in fields), *(pins.group for pins in chosen.pins)} - {""}
    return bool(names and names & written(item)) or any(
        node.bl_idname == "GeometryNodeStoreNamedAttribute" and node.inputs["Name"].default_value in names
        for node in (nodes(item.node_group) if names else ())
    )


def written(item: bpy.types.NodesModifier) -> set[str]:
    """The attributes that the modifier has its node group's outputs written to."""
    if not hasattr(item, "properties"):  # before Blender 5.2
        return {str(value) for key, value in item.items() if key.endswith("_attribute_name")}
    sockets = (entry for entry in item.node_group.interface.items_tree if getattr(entry, "in_out", "") == "OUTPUT")
    outputs = (getattr(item.properties.outputs, socket.identifier, None) for socket in sockets)
    return {str(getattr(output, "attribute_name", "")) for output in outputs} - {""}


def nodes(tree: bpy.types.NodeTree) -> Iterator[bpy.types.Node]:
    """Those of groups within, too."""
    for node in tree.nodes:
        yield node
        if (inner := getattr(node, "node_tree", None)) is not None:
            yield from nodes(inner)


def simulated(cloth: bpy.types.Object) -> list[bpy.types.Modifier]:
    """The modifiers from ours on: what the mesh that is simulated does not have."""
    stack = list(cloth.modifiers)
    end = place(cloth)
    while end and stack[end - 1].name == TRIANGLES:
        end -= 1
    return stack[end:]


def play(own: bpy.types.MeshCacheModifier, path: str, frame_start: int) -> None:
    """Let a Mesh Cache modifier play the PC2 file at this path, as Blender stores it, from this frame on."""
    own.filepath, own.frame_start = path, float(frame_start)
    own.cache_format = "PC2"
    own.time_mode, own.play_mode = "FRAME", "SCENE"
    own.deform_mode, own.interpolation = "OVERWRITE", "LINEAR"
    own.forward_axis, own.up_axis = AXES
    own.flip_axis = set() if isinstance(own.flip_axis, set) else (False, False, False)  # a set in 4.2
    own.factor, own.vertex_group, own.frame_scale = 1.0, "", 1.0
    own.show_viewport = own.show_render = True


@contextmanager
def suspended(modifiers: Iterable[bpy.types.Modifier]) -> Iterator[None]:
    """Switch modifiers off in the viewport (what evaluation in Blender's main depsgraph reads), then back on."""
    shown = [modifier for modifier in modifiers if modifier.show_viewport]
    with otherwise():
        for modifier in shown:
            modifier.show_viewport = False
        try:
            yield
        finally:
            for modifier in shown:
                modifier.show_viewport = True


_otherwise = 0  # how many ask for it


@contextmanager
def otherwise() -> Iterator[None]:
    """While it lasts, modifiers show otherwise than the user has them: nobody may put them right."""
    global _otherwise
    _otherwise += 1
    try:
        yield
    finally:
        _otherwise -= 1


def are_the_users() -> bool:
    return _otherwise == 0

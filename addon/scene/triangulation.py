# SPDX-License-Identifier: GPL-3.0-or-later
"""The triangles that the solver knows, in what Blender draws.

Blender cuts faces of more than three corners as they are in each frame: it turns a quad's diagonal where the quad
folds and cuts n-gons anew, so it would draw other triangles than were simulated. Geometry nodes before our cache cut
them once and for all: by the order of their corners, and n-gons as they are at rest. They move no vertex, so the cache
plays on. What refines faces after the cache, as Subdivision does, gets the artist's own faces.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from ...gpu_core.scene.arrays import Array, IntArray
from . import mesh as mesh_arrays
from . import modifier

NAME = modifier.TRIANGLES
ALTERNATE = "taffeta_alternate"  #: boolean of each face: a quad that only its other diagonal divides
KEPT = "taffeta_kept"  #: where the vertices were, while they are at rest
REST = "rest_position"  #: Blender's attribute: the mesh before shape keys and modifiers

#: Modifiers whose result depends on which faces they get, beyond how those are cut.
REFINING = frozenset({"BEVEL", "DECIMATE", "MULTIRES", "REMESH", "SKIN", "SUBSURF", "WIREFRAME"})
REFINING_NODES = frozenset({"GeometryNodeSubdivisionSurface", "GeometryNodeSubdivideMesh", "GeometryNodeDualMesh"})


def find(cloth: bpy.types.Object) -> bpy.types.Modifier | None:
    """Our triangulating modifier on this object, or None."""
    found = cloth.modifiers.get(NAME)
    return found if found is not None and found.type == "NODES" else None


def wanted(cloth: bpy.types.Object) -> bool:
    """Has the mesh a face that Blender may cut in several ways?"""
    mesh = cloth.data
    return len(mesh.loops) > 3 * len(mesh.polygons)


def obstacle(cloth: bpy.types.Object) -> bpy.types.Modifier | None:
    """The Multires that can only come before our triangles or before other nodes, or None. Those of a mesh of triangles
    may come after our cache, which only deforms."""
    found = modifier.multires(cloth)
    before = found is not None and cloth.modifiers.find(found.name) < modifier.place(cloth)
    return found if before or wanted(cloth) else None


def attach(cloth: bpy.types.Object) -> None:
    """Let Blender draw the triangles that were simulated, where the mesh is not of triangles anyway."""
    if not wanted(cloth) or obstacle(cloth) is not None:
        remove(cloth)
        return
    own = find(cloth) or cloth.modifiers.new(NAME, "NODES")
    own.node_group = _nodes()
    own.show_expanded = False
    cloth.add_rest_position_attribute = True
    _mark_quads(cloth.data)
    place = modifier.place(cloth)
    before = cloth.modifiers.find(NAME) < place
    cloth.modifiers.move(cloth.modifiers.find(NAME), place - 1 if before else place)
    settle(cloth)


def settle(cloth: bpy.types.Object) -> bool:
    """Give faces to what refines them after the cache, and triangles to Blender otherwise; was it otherwise before?"""
    own = find(cloth)
    if own is None:
        return False
    after = [item for item in list(cloth.modifiers)[modifier.place(cloth) + 1 :] if refines(item)]
    changed = False
    for flag in ("show_viewport", "show_render"):
        shown = not any(getattr(item, flag) for item in after)
        if getattr(own, flag) != shown:
            setattr(own, flag, shown)
            changed = True
    return changed


def remove(cloth: bpy.types.Object) -> None:
    """Let Blender cut the faces as it likes."""
    own = find(cloth)
    if own is not None:
        cloth.modifiers.remove(own)


def refines(item: bpy.types.Modifier) -> bool:
    """Does this modifier make other faces of those that it gets, not only of their triangles?"""
    if item.type == "SUBSURF":
        return max(item.levels, item.render_levels) > 0
    return item.type in REFINING or (item.type == "NODES" and _refines(item.node_group, frozenset()))


@contextmanager
def shown(cloth: bpy.types.Object) -> Iterator[None]:
    """While it lasts, the cloth is evaluated in triangles, whether it was baked before or not."""
    held = find(cloth)
    flags = (held.show_viewport, held.show_render) if held is not None else ()
    with modifier.otherwise():
        try:
            attach(cloth)
            if (own := find(cloth)) is not None:
                own.show_viewport = True
            yield
        finally:
            if (own := find(cloth)) is not None and flags:
                own.show_viewport, own.show_render = flags
            else:
                remove(cloth)


def order(cut_triangles: IntArray, drawn: IntArray) -> tuple[IntArray, IntArray]:
    """(triangles (T, 3), where each stood before (T,)): those of a cut, in the order in which Blender draws them now.

    Which order the cut comes in depends on Blender's version, and the solver's result on the order. What is not drawn
    now follows by its vertices.
    """
    corners = np.sort(np.concatenate([drawn, cut_triangles]), axis=1)
    labels = np.unique(corners, axis=0, return_inverse=True)[1].reshape(-1)
    place = np.full(labels.max(initial=-1) + 1, len(drawn))
    place[labels[: len(drawn)]] = np.arange(len(drawn))
    label = labels[len(drawn) :]
    sequence = np.lexsort((label, place[label]))
    known = place[label[sequence]]
    triangles = cut_triangles[sequence]
    triangles[known < len(drawn)] = drawn[known[known < len(drawn)]]  # also with the same corner first
    return triangles, sequence


def _mark_quads(mesh: bpy.types.Mesh) -> None:
    """Quads that their first diagonal does not divide are to be cut along the other one."""
    alternate = folded_quads(mesh)
    held = mesh.attributes.get(ALTERNATE)
    if mesh.library is not None or (held is None and not alternate.any()):
        return
    if held is None or held.domain != "FACE" or held.data_type != "BOOLEAN":
        if held is not None:
            mesh.attributes.remove(held)
        held = mesh.attributes.new(ALTERNATE, "BOOLEAN", "FACE")
    held.data.foreach_set("value", alternate)


def folded_quads(mesh: bpy.types.Mesh) -> Array:
    """Of each face (F,): is it a quad whose diagonal from first to third corner lies outside of it?"""
    sizes, corners = mesh_arrays.faces(mesh)
    quads = sizes == 4
    points = mesh_arrays.positions(mesh)[corners[np.repeat(quads, sizes)].reshape(-1, 4)]
    folded = np.zeros(len(sizes), bool)
    folded[quads] = mesh_arrays.quad_folds(points) > 0
    return folded


def _refines(tree: bpy.types.NodeTree | None, seen: frozenset[str]) -> bool:
    if tree is None or tree.name_full in seen:
        return False
    return any(
        node.bl_idname in REFINING_NODES
        or (node.bl_idname == "GeometryNodeGroup" and _refines(node.node_tree, seen | {tree.name_full}))
        for node in tree.nodes
    )


def _nodes() -> bpy.types.GeometryNodeTree:
    """The nodes that all cloths of the file share."""
    found = next((tree for tree in bpy.data.node_groups if tree.name == NAME and tree.library is None), None)
    if found is not None and found.bl_idname == "GeometryNodeTree":
        return found
    tree = bpy.data.node_groups.new(NAME, "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    kinds = {
        "cloth": "NodeGroupInput",
        "rest": "GeometryNodeInputNamedAttribute",
        "alternate": "GeometryNodeInputNamedAttribute",
        "position": "GeometryNodeInputPosition",
        "keep": "GeometryNodeStoreNamedAttribute",
        "at rest": "GeometryNodeSetPosition",
        "other diagonal": "GeometryNodeTriangulate",
        "first diagonal": "GeometryNodeTriangulate",
        "kept": "GeometryNodeInputNamedAttribute",
        "back": "GeometryNodeSetPosition",
        "forget": "GeometryNodeRemoveAttribute",
        "result": "NodeGroupOutput",
    }
    nodes = {name: tree.nodes.new(kind) for name, kind in kinds.items()}
    for column, (name, node) in enumerate(nodes.items()):
        node.name, node.label, node.location.x = name, name, 200.0 * column
    for name, attribute, kind in (
        ("rest", REST, "FLOAT_VECTOR"),
        ("alternate", ALTERNATE, "BOOLEAN"),
        ("kept", KEPT, "FLOAT_VECTOR"),
    ):
        nodes[name].data_type = kind
        nodes[name].inputs["Name"].default_value = attribute
    nodes["keep"].data_type, nodes["keep"].domain = "FLOAT_VECTOR", "POINT"
    nodes["keep"].inputs["Name"].default_value = nodes["forget"].inputs["Name"].default_value = KEPT
    _choose_diagonal(nodes["other diagonal"], "FIXED_ALTERNATE", "Fixed Alternate")
    _choose_diagonal(nodes["first diagonal"], "FIXED", "Fixed")
    for source, output, to, socket in (
        ("cloth", "Geometry", "keep", "Geometry"),
        ("position", "Position", "keep", "Value"),
        ("keep", "Geometry", "at rest", "Geometry"),
        ("rest", "Attribute", "at rest", "Position"),
        ("rest", "Exists", "at rest", "Selection"),
        ("at rest", "Geometry", "other diagonal", "Mesh"),
        ("alternate", "Attribute", "other diagonal", "Selection"),
        ("other diagonal", "Mesh", "first diagonal", "Mesh"),
        ("first diagonal", "Mesh", "back", "Geometry"),
        ("kept", "Attribute", "back", "Position"),
        ("back", "Geometry", "forget", "Geometry"),
        ("forget", "Geometry", "result", "Geometry"),
    ):
        tree.links.new(nodes[source].outputs[output], nodes[to].inputs[socket])
    return tree


def _choose_diagonal(node: bpy.types.Node, identifier: str, name: str) -> None:
    if bpy.app.version < (5, 0, 0):
        node.quad_method = identifier
    else:
        node.inputs["Quad Method"].default_value = name

# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometry nodes that put each vertex of a dense mesh where `binding.follow` says, on the light mesh as it is now.

They play without the add-on, in the viewport, in a render and in an export.
"""

from __future__ import annotations

from typing import Any

import bpy

from .binding import ROUND

LIGHT = "light"  #: the node that has the light mesh
COUNT = "as many as bound"  #: the node that compares its vertices
PREFIX = "taffeta_follow"  #: of the attributes, also of those that earlier releases wrote
PLACES = ("first", "second", "third")
CORNERS = tuple(f"{PREFIX}_{place}" for place in PLACES)
WEIGHTS = tuple(f"{PREFIX}_weight_{place}" for place in PLACES)  #: apart, for taking a vector apart costs each frame
HEIGHT = f"{PREFIX}_height"

Socket = bpy.types.NodeSocket


class Tree:
    """A group of geometry nodes that grows by terms."""

    def __init__(self, name: str) -> None:
        self.tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
        for direction in ("INPUT", "OUTPUT"):
            self.tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")

    def node(self, kind: str, inputs: dict[str | int, Any], **choices: Any) -> bpy.types.Node:
        """inputs: a socket to link, or a value, by the input's name or place."""
        node = self.tree.nodes.new(kind)
        node.location.x = 200.0 * len(self.tree.nodes)
        for name, value in choices.items():
            setattr(node, name, value)
        for place, value in inputs.items():
            if isinstance(value, Socket):
                self.tree.links.new(value, node.inputs[place])
            else:
                node.inputs[place].default_value = value
        return node

    def number(self, operation: str, *terms: Socket | float) -> Socket:
        return self.node("ShaderNodeMath", dict(enumerate(terms)), operation=operation).outputs[0]

    def vector(self, operation: str, *terms: Socket) -> Socket:
        return self.node("ShaderNodeVectorMath", dict(enumerate(terms)), operation=operation).outputs["Vector"]

    def scaled(self, vector: Socket, factor: Socket) -> Socket:
        return self.node("ShaderNodeVectorMath", {0: vector, "Scale": factor}, operation="SCALE").outputs["Vector"]

    def dot(self, first: Socket, second: Socket) -> Socket:
        node = self.node("ShaderNodeVectorMath", {0: first, 1: second}, operation="DOT_PRODUCT")
        return node.outputs["Value"]

    def attribute(self, name: str, kind: str) -> Socket:
        node = self.node("GeometryNodeInputNamedAttribute", {"Name": name}, data_type=kind)
        return next(output for output in node.outputs if output.name == "Attribute" and output.enabled)

    def sample(self, geometry: Socket, value: Socket, index: Socket) -> Socket:
        node = self.node("GeometryNodeSampleIndex", {}, data_type="FLOAT_VECTOR", domain="POINT", clamp=True)  # faster
        for name, link in (("Geometry", geometry), ("Value", value), ("Index", index)):
            self.tree.links.new(link, next(entry for entry in node.inputs if entry.name == name and entry.enabled))
        return next(output for output in node.outputs if output.enabled)


def build(name: str, light: bpy.types.Object, vertices: int, limit: float) -> bpy.types.GeometryNodeTree:
    """vertices: of the light mesh; where it has others, the dense one stays as it was modelled. limit: as in `follow`,
    in the dense object's own units."""
    tree = Tree(name)
    dense = tree.node("NodeGroupInput", {}).outputs[0]
    info = tree.node("GeometryNodeObjectInfo", {"Object": light}, transform_space="RELATIVE")
    info.name = info.label = LIGHT
    geometry = info.outputs["Geometry"]
    position, normal = tree.node("GeometryNodeInputPosition", {}).outputs[0], _normal(tree)
    corners = [tree.attribute(corner, "INT") for corner in CORNERS]
    points = [tree.sample(geometry, position, corner) for corner in corners]
    normals = [tree.sample(geometry, normal, corner) for corner in corners]
    weights = [tree.attribute(weight, "FLOAT") for weight in WEIGHTS]
    height = tree.attribute(HEIGHT, "FLOAT")
    first, second, third = (tree.scaled(point, weight) for point, weight in zip(points, weights, strict=True))
    place = flat = tree.vector("ADD", tree.vector("ADD", first, second), third)
    for point, across, weight in zip(points, normals, weights, strict=True):
        off = tree.dot(tree.vector("SUBTRACT", flat, point), across)  # the corner's plane
        held = tree.node("ShaderNodeClamp", {"Value": off, "Min": -limit / ROUND, "Max": limit / ROUND}).outputs[0]
        way = tree.number("MULTIPLY", tree.number("MULTIPLY_ADD", held, -ROUND, height), weight)
        place = tree.vector("ADD", place, tree.scaled(across, way))
    moved = tree.node("GeometryNodeSetPosition", {"Geometry": dense, "Position": place}).outputs[0]
    tree.node("NodeGroupOutput", {0: _where_it_fits(tree, geometry, vertices, dense, moved)})
    return tree.tree


def _normal(tree: Tree) -> Socket:
    """Of the faces around a vertex, whatever normals an artist has set."""
    outputs = tree.node("GeometryNodeInputNormal", {}).outputs
    return outputs["True Normal"] if "True Normal" in outputs else outputs["Normal"]


def _where_it_fits(tree: Tree, light: Socket, vertices: int, dense: Socket, moved: Socket) -> Socket:
    size = tree.node("GeometryNodeAttributeDomainSize", {0: light}, component="MESH")
    as_many = tree.node("FunctionNodeCompare", {}, data_type="INT", operation="EQUAL")
    as_many.name = as_many.label = COUNT
    counted, bound = (entry for entry in as_many.inputs if entry.enabled and entry.type == "INT")
    tree.tree.links.new(size.outputs["Point Count"], counted)
    bound.default_value = vertices
    switch = tree.node("GeometryNodeSwitch", {}, input_type="GEOMETRY")
    for name, link in (("Switch", as_many.outputs[0]), ("False", dense), ("True", moved)):
        tree.tree.links.new(link, next(entry for entry in switch.inputs if entry.name == name and entry.enabled))
    return next(output for output in switch.outputs if output.enabled)


def forget(mesh: bpy.types.Mesh) -> None:
    """Take the attributes off it."""
    for name in [entry.name for entry in mesh.attributes if entry.name.startswith(PREFIX)]:
        mesh.attributes.remove(mesh.attributes[name])


def count(tree: bpy.types.NodeTree) -> int:
    """So many vertices had the light mesh."""
    inputs = (entry for entry in tree.nodes[COUNT].inputs if entry.type == "INT" and entry.enabled)
    return next(entry for entry in inputs if not entry.is_linked).default_value

# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials of the sample scenes, all procedural."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

Colour = tuple[float, float, float]  #: linear RGB

GROUND: Colour = (0.30, 0.028, 0.035)  #: madder red
STRIPE: Colour = (0.80, 0.70, 0.52)  #: undyed cotton
#: (ground, stripes) of cloths that lie together: madder, indigo, weld, woad, walnut, undyed.
DYES: tuple[tuple[Colour, Colour], ...] = (
    (GROUND, STRIPE),
    ((0.022, 0.060, 0.170), STRIPE),
    ((0.520, 0.300, 0.055), STRIPE),
    ((0.110, 0.230, 0.260), STRIPE),
    ((0.110, 0.062, 0.036), STRIPE),
    ((0.640, 0.570, 0.440), GROUND),
)
STRIPES = ((0.050, 0.062), (0.072, 0.078))  #: from … to, as fractions of the sheet's width from its hem
INDIGO: Colour = (0.028, 0.055, 0.130)
THREAD: Colour = (0.62, 0.29, 0.07)
STITCHED = 0.05  #: m from a seam
STITCHES = ((0.10, 0.16), (0.26, 0.32))  #: from … to, as fractions of that


def fabric(ground: Colour = GROUND, stripe: Colour = STRIPE) -> bpy.types.Material:
    """Matt cotton with woven stripes along the hem, which show how the cloth stretches and folds."""
    material, nodes, links, surface = _surface("Cotton", ground)
    surface.inputs["Roughness"].default_value = 0.85
    surface.inputs["Sheen Weight"].default_value = 0.25
    surface.inputs["Sheen Roughness"].default_value = 0.4
    uv = nodes.new("ShaderNodeUVMap")
    axes = nodes.new("ShaderNodeSeparateXYZ")
    links.new(uv.outputs["UV"], axes.inputs["Vector"])
    hem = _math(material, "MINIMUM", *(_math(material, "PINGPONG", axes.outputs[axis], 0.5) for axis in "XY"))
    ramp = nodes.new("ShaderNodeValToRGB")
    links.new(hem, ramp.inputs["Fac"])
    links.new(ramp.outputs["Color"], surface.inputs["Base Color"])
    _paint_stripes(ramp.color_ramp, ground, stripe, STRIPES)
    return material


def denim() -> bpy.types.Material:
    """Indigo twill, with stitches along the lines that the attribute Seam gives the distance from, m."""
    material, nodes, links, surface = _surface("Denim", INDIGO)
    surface.inputs["Roughness"].default_value = 0.9
    surface.inputs["Sheen Weight"].default_value = 0.3
    seam = nodes.new("ShaderNodeAttribute")
    seam.attribute_name = "Seam"
    ramp = nodes.new("ShaderNodeValToRGB")
    links.new(_math(material, "MULTIPLY", seam.outputs["Fac"], 1.0 / STITCHED), ramp.inputs["Fac"])
    links.new(ramp.outputs["Color"], surface.inputs["Base Color"])
    _paint_stripes(ramp.color_ramp, INDIGO, THREAD, STITCHES)
    return material


def satin(colour: Colour) -> bpy.types.Material:
    """A woven ribbon that shines."""
    material, _, _, surface = _surface("Satin", colour)
    surface.inputs["Roughness"].default_value = 0.32
    surface.inputs["Sheen Weight"].default_value = 0.2
    return material


def plaster(colour: Colour = (0.55, 0.53, 0.50)) -> bpy.types.Material:
    material, _, _, surface = _surface("Plaster", colour)
    surface.inputs["Roughness"].default_value = 0.9
    return material


def warning() -> bpy.types.Material:
    """For what is wrong in a picture and must be seen to be."""
    material, _, _, surface = _surface("Warning", (0.00, 0.42, 0.80))
    surface.inputs["Emission Color"].default_value = (0.00, 0.42, 0.80, 1.0)
    surface.inputs["Emission Strength"].default_value = 0.25
    return material


def varnish() -> bpy.types.Material:
    material, _, _, surface = _surface("Varnish", (0.62, 0.60, 0.56))
    surface.inputs["Roughness"].default_value = 0.35
    return material


def _surface(
    name: str, colour: Colour
) -> tuple[bpy.types.Material, bpy.types.Nodes, bpy.types.NodeLinks, bpy.types.ShaderNode]:
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    material.diffuse_color = (*colour, 1.0)
    surface = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    surface.inputs["Base Color"].default_value = (*colour, 1.0)
    return material, material.node_tree.nodes, material.node_tree.links, surface


def _math(
    material: bpy.types.Material, operation: str, *operands: bpy.types.NodeSocket | float
) -> bpy.types.NodeSocket:
    node = material.node_tree.nodes.new("ShaderNodeMath")
    node.operation = operation
    for socket, operand in zip(node.inputs, operands, strict=False):
        if isinstance(operand, float):
            socket.default_value = operand
        else:
            material.node_tree.links.new(operand, socket)
    return node.outputs[0]


def _paint_stripes(
    ramp: bpy.types.ColorRamp, ground: Colour, stripe: Colour, stripes: Sequence[tuple[float, float]]
) -> None:
    ramp.interpolation = "CONSTANT"
    first, last = ramp.elements
    first.color = last.color = (*ground, 1.0)
    last.position = 1.0
    for start, end in stripes:
        ramp.elements.new(start).color = (*stripe, 1.0)
        ramp.elements.new(end).color = (*ground, 1.0)

# SPDX-License-Identifier: GPL-3.0-or-later
"""How a garment is made and worn: its pattern, its seams, how its pins hold."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, FloatProperty, PointerProperty, StringProperty

from ...gpu_core.scene.scene import Cloth
from .painted import SHRINK
from .shown import KEYED, UNKEYED, shown_length


def properties() -> dict[str, bpy.props._PropertyDeferred]:
    """For `ClothProperties`."""
    return {
        "pin_strength": FloatProperty(
            name="Pin Strength",
            description="Factor on the weights of the pins: below 1 hard pins are soft, 0 lets go",
            default=Cloth.pin_strength,
            min=0.0,
            max=1.0,
            precision=3,
            step=1,
            options=KEYED,
        ),
        "sewing": BoolProperty(
            name="Sewing",
            description="Edges without a face are threads: they pull their two vertices together and sew them to one",
            default=False,
            options=UNKEYED,
        ),
        "sewing_time": FloatProperty(
            name="Closing Time",
            description="How long the threads take to pull the seams closed. Panels that lie far apart can tangle in "
            "a short time",
            default=Cloth.sewing_time,
            min=0.0,
            soft_max=4.0,
            precision=2,
            step=10,
            subtype="TIME_ABSOLUTE",
            unit="TIME_ABSOLUTE",
            options=UNKEYED,
        ),
        "sewing_force": FloatProperty(
            name="Max Force (N)",
            description="The most that one thread pulls with. 0 lets go, and opens seams that are closed",
            default=Cloth.sewing_force,
            min=0.0,
            soft_max=20.0,
            precision=2,
            step=10,
            options=KEYED,
        ),
        "sew_object": PointerProperty(
            name="Sew To",
            description="Another cloth that this one is sewn to",
            type=bpy.types.Object,
            poll=_may_be_sewn_to,
            options=UNKEYED,
        ),
        "sew_group": StringProperty(
            name="Seam Group",
            description="Vertex group on both cloths: each vertex is sewn to the nearest of the other's. An integer "
            "attribute of points instead sews equal numbers above 0",
            search=_seam_groups,
            search_options={"SUGGESTION"},
            options=UNKEYED,
        ),
        "weld_seams": BoolProperty(
            name="Weld Borders",
            description="Borders that lie on each other, nearer than a tenth of the thickness, are one in the "
            "simulation, as imports mean it; the mesh keeps both",
            default=True,
            options=UNKEYED,
        ),
        "seam_stiffness": FloatProperty(
            name="Seam Stiffness",
            description="Times which the cloth beside a closed seam resists bending more: 3 to 10 for two layers and "
            "thread, 0 for a hinge",
            default=Cloth.seam_stiffness,
            min=0.0,
            soft_max=20.0,
            precision=2,
            step=10,
            options=KEYED,
        ),
        "cord_stiffness": FloatProperty(
            name="Cord Stiffness (N)",
            description="What a cord, an edge without a face, pulls with at twice its length: 20 for an elastic band, "
            "500 for a string",
            default=Cloth.cord_stiffness,
            min=1.0e-3,
            soft_min=1.0,
            soft_max=2000.0,
            precision=1,
            step=1000,
            options=KEYED,
        ),
        "cord_density": FloatProperty(
            name="Cord Density (kg/m)",
            description="Mass of a metre of cord",
            default=Cloth.cord_density,
            min=1.0e-5,
            soft_max=0.05,
            precision=4,
            step=0.1,
            options=KEYED,
        ),
        "cord_shrink": FloatProperty(
            name="Cord Shrink",
            description="Share of the cords' lengths that is taken away; with keys a drawstring is pulled tight",
            default=Cloth.cord_shrink,
            options=KEYED,
            **SHRINK,
        ),
        "pattern_map": StringProperty(
            name="Pattern UV Map",
            description="UV map with the panels as they were cut, flat: the shape without stress. Empty: the mesh",
            search=_uv_maps,
            search_options={"SUGGESTION"},
            options=UNKEYED,
        ),
        "pattern_scale_shown": shown_length(
            "pattern_scale_shown",
            "Pattern Scale",
            "Length of one unit of the pattern's UV map; 0 gives the pattern the area of the mesh",
            10.0,
        ),
        "pattern_scale": FloatProperty(
            name="Pattern Scale (m)",
            description="Length of one unit of the pattern's UV map; 0 gives the pattern the area of the mesh",
            default=0.0,
            min=0.0,
            soft_max=10.0,
            precision=4,
            options=UNKEYED,
        ),
    }


def _uv_maps(cloth: bpy.types.PropertyGroup, _context: bpy.types.Context, text: str) -> list[str]:
    data = cloth.id_data.data
    return [layer.name for layer in data.uv_layers] if isinstance(data, bpy.types.Mesh) else []


def _may_be_sewn_to(cloth: bpy.types.PropertyGroup, item: bpy.types.Object) -> bool:
    return item.taffeta.role == "CLOTH" and item != cloth.id_data


def _seam_groups(cloth: bpy.types.PropertyGroup, _context: bpy.types.Context, _text: str) -> list[str]:
    item = cloth.id_data
    if item.type != "MESH":
        return []
    points = [entry.name for entry in item.data.attributes if (entry.domain, entry.data_type) == ("POINT", "INT")]
    return [*(group.name for group in item.vertex_groups), *(name for name in points if not name.startswith("."))]

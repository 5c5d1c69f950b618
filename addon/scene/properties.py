# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user sets: `object.taffeta`, and `scene.taffeta` of `scene_properties`.

Names and units are those of `gpu_core.scene`: kg/m², N/m, N·m, metres. Blender stores them as float32.
"""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, PointerProperty, StringProperty

from ...gpu_core.scene.fabrics import COTTON, FABRIC_NUMBERS, FABRICS, fabric_of
from ...gpu_core.scene.scene import Cloth, Collider, Material
from . import (
    collision_properties,
    dense,
    encounter_properties,
    field_weights,
    garment_properties,
    inelastic_properties,
    overridable,
    painted,
    pin_properties,
    roster,
    shape_properties,
)
from .painted import field
from .scene_properties import SceneProperties
from .shown import KEYED, UNKEYED, shown, shown_length

ROLES = (
    ("NONE", "None", "Taffeta leaves this object alone"),
    ("CLOTH", "Cloth", "Simulate this mesh as a sheet of fabric"),
    ("COLLIDER", "Collider", "Cloth rests on this mesh and never enters it; it may be animated"),
)

CUSTOM_PRESET = len(FABRICS)
FABRIC_PRESETS = (
    *((fabric.identifier, fabric.name, f"Source: {fabric.source}", index) for index, fabric in enumerate(FABRICS)),
    ("CUSTOM", "Custom", "Numbers of your own", CUSTOM_PRESET),
)


def _get_preset(cloth: ClothProperties) -> int:
    fabric = fabric_of({name: getattr(cloth, name) for name in FABRIC_NUMBERS})
    return CUSTOM_PRESET if fabric is None else FABRICS.index(fabric)


def _set_preset(cloth: ClothProperties, index: int) -> None:
    if index == CUSTOM_PRESET:
        return
    fabric = FABRICS[index]
    for key in FABRIC_NUMBERS:
        setattr(cloth, key, getattr(fabric.material, key))
    cloth.thickness = fabric.contact_thickness


def _redraw(cloth: ClothProperties, context: bpy.types.Context) -> None:
    """The numbers stand in Properties, in the sidebar and below the timeline; Blender 5 draws only the one anew in
    which they were changed."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            area.tag_redraw()


def _get_stretch(cloth: ClothProperties) -> float:
    return 0.5 * (cloth.stretch_warp + cloth.stretch_weft)


def _set_stretch(cloth: ClothProperties, value: float) -> None:
    cloth.stretch_warp = cloth.stretch_weft = value


class ClothProperties(bpy.types.PropertyGroup):
    """The fabric of one cloth object; names and units as `gpu_core.scene.scene.Material` and `Cloth`."""

    # Derived from the numbers, so it can never disagree with them.
    preset: EnumProperty(
        name="Fabric",
        description="Fill in the numbers of a real fabric",
        items=FABRIC_PRESETS,
        get=_get_preset,
        set=_set_preset,
        options=UNKEYED,
        update=_redraw,
    )
    density: FloatProperty(
        name="Density (kg/m²)",
        description="Mass of one square metre; independent of the mesh's resolution",
        default=Material.density,
        min=1.0e-4,
        soft_min=0.02,
        soft_max=0.6,
        precision=3,
        step=1,
        options=KEYED,
    )
    stretch_warp: FloatProperty(
        name="Warp (N/m)",
        description="Tensile stiffness along the warp, the U direction of the active UV map: against being stretched",
        default=Material.stretch_warp,
        min=1.0e-3,
        soft_min=30.0,
        soft_max=60000.0,
        precision=0,
        step=1000,
        options=KEYED,
    )
    stretch_weft: FloatProperty(
        name="Weft (N/m)",
        description="Tensile stiffness across the warp: against being stretched",
        default=Material.stretch_weft,
        min=1.0e-3,
        soft_min=30.0,
        soft_max=60000.0,
        precision=0,
        step=1000,
        options=KEYED,
    )
    stretch: FloatProperty(
        name="Stretch (N/m)",
        description="Tensile stiffness of warp and weft together; reads their mean",
        min=1.0e-3,
        soft_min=30.0,
        soft_max=60000.0,
        precision=0,
        step=1000,
        get=_get_stretch,
        set=_set_stretch,
        options=UNKEYED,
    )
    shear: FloatProperty(
        name="Shear (N/m)",
        description="Stiffness against changing the angle between warp and weft; low in woven cloth",
        default=Material.shear,
        min=0.0,
        soft_min=5.0,
        soft_max=3000.0,
        precision=0,
        step=100,
        options=KEYED,
    )
    bend: FloatProperty(
        name="Bend (N·m)",
        description="Flexural rigidity",
        default=Material.bend,
        min=0.0,
        soft_max=2.0e-4,
        precision=6,
        options=KEYED,
    )
    # Blender's number fields show six decimals, too few for cloth in N·m.
    bend_micro: shown(
        "bend_micro",
        "Bend (µN·m)",
        "Flexural rigidity: small numbers make soft folds, large ones wide arcs",
        soft_min=0.3,
        soft_max=200.0,
        precision=2,
        step=10,
        options=KEYED,
    )
    bend_friction: FloatProperty(
        name="Hysteresis (N)",
        description="Moment per width at which yarns slide on each other: half the width of the loop in bending",
        default=COTTON.bend_friction,
        min=0.0,
        soft_max=1.0e-2,
        precision=6,
        options=KEYED,
    )
    bend_friction_milli: shown(
        "bend_friction_milli",
        "Hysteresis (mN)",
        "How hard yarns rub when the cloth bends: it hangs stiffer, comes to rest sooner and keeps its "
        "folds. 0.5 to 1 in denim; 0 is a cloth that springs back",
        soft_max=3.0,
        precision=3,
        step=1,
        options=KEYED,
    )
    strain_limit: FloatProperty(
        name="Strain Limit (1)",
        description="Largest stretch beyond the rest shape: 0.06 is 6 %. 0 switches the limit off",
        default=Material.strain_limit,
        min=0.0,
        soft_max=0.6,
        precision=3,
        step=1,
        options=KEYED,
    )
    softening: FloatProperty(
        name="Softening",
        description="Factor on the stretch stiffness below the strain limit, so that coarse meshes still fold",
        default=Material.softening,
        min=1.0e-3,
        max=1.0,
        precision=2,
        step=1,
        options=KEYED,
    )
    strain_percent: shown(
        "strain_percent",
        "Strain Limit",
        "Largest stretch beyond the rest shape. 0 switches the limit off",
        soft_max=60.0,
        precision=1,
        step=10,
        subtype="PERCENTAGE",
        options=KEYED,
    )
    thickness_shown: shown_length(
        "thickness_shown",
        "Thickness",
        "Distance that layers of this cloth keep from each other and from colliders. "
        "Fabrics thinner than 1 mm keep 1 mm, the resolution of contact",
        0.01,
        KEYED,
    )
    thickness: FloatProperty(
        name="Thickness (m)",
        description="Distance that layers of this cloth keep from each other and from colliders. "
        "Fabrics thinner than 1 mm keep 1 mm, the resolution of contact",
        default=Cloth.thickness,
        min=1.0e-5,
        soft_min=3.0e-4,
        soft_max=0.01,
        precision=4,
        step=0.01,
        options=KEYED,
    )
    friction: FloatProperty(
        name="Friction",
        description="Coulomb's coefficient of this surface",
        default=Material.friction,
        min=0.0,
        soft_max=1.3,
        precision=2,
        step=1,
        options=KEYED,
    )
    air_drag: FloatProperty(
        name="Air Drag",
        description="Drag coefficient of the sheet against the air that it meets; 0 is vacuum",
        default=Material.air_drag,
        min=0.0,
        soft_max=3.0,
        precision=2,
        step=10,
        options=KEYED,
    )
    self_collision: BoolProperty(
        name="Self Collision",
        description="Keep this cloth from passing through itself",
        default=Cloth.self_collision,
        options=UNKEYED,
    )
    pin_group: field(
        "Pin Group",
        "Vertices of this group, or with this float attribute, follow the animated mesh: weight 1 holds them, less "
        "pulls them",
    )
    field_collection: PointerProperty(
        name="Collection",
        description="Only force fields of objects in this collection act on this cloth; empty: all of the scene",
        type=bpy.types.Collection,
        options=UNKEYED,
    )
    cache_key: StringProperty(
        name="Cache Key",
        description="File name of this cloth's cache, kept when the object is renamed",
        options={"HIDDEN"},
    )


PARTS = (
    shape_properties, inelastic_properties, garment_properties, pin_properties, collision_properties, field_weights,
    painted,
)  # fmt: skip
for part in PARTS:
    ClothProperties.__annotations__.update(part.properties())


class ColliderProperties(bpy.types.PropertyGroup):
    """One collider; names and units as `gpu_core.scene.scene.Collider`."""

    thickness_shown: shown_length(
        "thickness_shown", "Thickness", "Distance that cloth keeps from this surface", 0.05, KEYED
    )
    thickness: FloatProperty(
        name="Thickness (m)",
        description="Distance that cloth keeps from this surface",
        default=Collider.thickness,
        min=1.0e-5,
        soft_min=3.0e-4,
        soft_max=0.05,
        precision=4,
        step=0.01,
        options=KEYED,
    )
    friction: FloatProperty(
        name="Friction",
        description="Coulomb's coefficient of this surface",
        default=Collider.friction,
        min=0.0,
        soft_max=1.3,
        precision=2,
        step=1,
        options=KEYED,
    )


ColliderProperties.__annotations__.update(collision_properties.collider_properties())


def _follow(owner: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Whoever follows nothing any more is let go."""
    roster.forget()
    if owner.follows is None and dense.find(owner.id_data) is not None:
        dense.unbind(owner.id_data)


def _may_be_followed(owner: bpy.types.PropertyGroup, item: bpy.types.Object) -> bool:
    return item.taffeta.role == "CLOTH" and item != owner.id_data


class ObjectProperties(bpy.types.PropertyGroup):
    """`object.taffeta`."""

    role: EnumProperty(
        name="Role",
        description="What this object is in the simulation",
        items=ROLES,
        default="NONE",
        update=roster.forget,
        options=UNKEYED,
    )
    follows: PointerProperty(
        name="Follows",
        description="The cloth whose motion this mesh takes on, once it is bound: simulate a light mesh, show this one",
        type=bpy.types.Object,
        poll=_may_be_followed,
        update=_follow,
        options=UNKEYED,
    )
    rounding: FloatProperty(
        name="Rounding",
        description="How far this mesh may leave the flat triangles of the cloth that it follows, as a share of the "
        "cloth's thickness. More shows less of them; 0 keeps to them. It counts from the next binding on",
        default=0.25,
        min=0.0,
        max=0.5,
        precision=2,
        step=1,
        options=UNKEYED,
    )
    bound_shape: StringProperty(
        name="Bound Shape",
        description="What tells whether the mesh has changed since it was bound",
        options={"HIDDEN"},
    )
    cloth: PointerProperty(type=ClothProperties)
    collider: PointerProperty(type=ColliderProperties)


OF_OBJECTS = (pin_properties.PinProperties, ClothProperties, ColliderProperties, ObjectProperties)
for group in OF_OBJECTS:
    overridable.declare(group)
CLASSES = (*OF_OBJECTS, encounter_properties.EncounterProperties, SceneProperties)
_register_classes, _unregister_classes = bpy.utils.register_classes_factory(CLASSES)


def register() -> None:
    _register_classes()
    bpy.types.Object.taffeta = overridable.pointer(ObjectProperties)
    bpy.types.Scene.taffeta = PointerProperty(type=SceneProperties)


def unregister() -> None:
    del bpy.types.Scene.taffeta
    del bpy.types.Object.taffeta
    _unregister_classes()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers of a cloth that are painted: a vertex group or a float attribute leads from the number to a second one.

As in Blender's cloth: the number itself where the weight is 0, its *Max* where it is 1. A row of `PAINTED` is all that
one more such number needs here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.props import FloatProperty, StringProperty

from ...gpu_core.scene.arrays import FloatArray
from ...gpu_core.scene.scene import Cloth, Material, SceneError
from ...gpu_core.scene.shape import Shape
from . import modifier
from .shown import KEYED, UNKEYED, shown, shown_length


class Number(NamedTuple):
    """What the properties of a painted number are made of."""

    label: str
    unit: str
    most: str  #: the name of the property that shows the value at weight 1
    options: Mapping[str, Any]  #: of that value


def _stiffness(precision: int, **options: float) -> dict[str, Any]:
    return {"min": 1.0e-3, "soft_min": 30.0, "soft_max": 60000.0, "precision": precision, "step": 1000, **options}


#: Blender's own range, as far as edges keep a length.
SHRINK = {"min": -9.0, "soft_min": -1.0, "max": 0.9, "soft_max": 0.9, "precision": 3, "step": 1}

PAINTED: dict[str, Number] = {
    "density": Number(
        "Density", " (kg/m²)", "density_max", {"min": 1.0e-4, "soft_max": 0.6, "precision": 3, "step": 1}
    ),
    "stretch_warp": Number("Warp", " (N/m)", "stretch_warp_max", _stiffness(0)),
    "stretch_weft": Number("Weft", " (N/m)", "stretch_weft_max", _stiffness(0)),
    "shear": Number("Shear", " (N/m)", "shear_max", _stiffness(0, min=0.0, soft_min=5.0, soft_max=3000.0, step=100)),
    "bend": Number("Bend", " (N·m)", "bend_max_micro", {"min": 0.0, "soft_max": 2.0e-4, "precision": 6}),
    "bend_friction": Number(
        "Hysteresis", " (N)", "bend_friction_max_milli", {"min": 0.0, "soft_max": 1.0e-2, "precision": 6}
    ),
    "strain_limit": Number(
        "Strain Limit", " (1)", "strain_max_percent", {"min": 0.0, "soft_max": 0.6, "precision": 3, "step": 1}
    ),
    "air_drag": Number("Air Drag", "", "air_drag_max", {"min": 0.0, "soft_max": 3.0, "precision": 2, "step": 10}),
    "friction": Number("Friction", "", "friction_max", {"min": 0.0, "soft_max": 1.3, "precision": 2, "step": 1}),
    "thickness": Number(
        "Thickness", " (m)", "thickness_max_shown", {"min": 1.0e-5, "soft_max": 0.01, "precision": 4, "step": 0.01}
    ),
    "shrink": Number("Shrink", "", "shrink_max", SHRINK),
    "pressure_factor": Number(
        "Pressure", "", "pressure_factor_max", {"min": 0.0, "soft_max": 1.0, "precision": 3, "step": 1}
    ),
}


def _choices(cloth: bpy.types.PropertyGroup, _context: bpy.types.Context, _text: str) -> list[str]:
    return names(cloth.id_data)


def names(item: bpy.types.Object) -> list[str]:
    """Of its vertex groups and of the attributes that may stand in for one."""
    if item.type != "MESH":
        return []
    return [*(group.name for group in item.vertex_groups), *(a.name for a in item.data.attributes if _is_weight(a))]


def _is_weight(attribute: bpy.types.Attribute) -> bool:
    return attribute.domain == "POINT" and attribute.data_type == "FLOAT" and not attribute.name.startswith(".")


def field(label: str, description: str, **options: Any) -> bpy.props._PropertyDeferred:
    """A property that names a vertex group or an attribute, which geometry nodes may yet have to make."""
    return StringProperty(
        name=label, description=description, search=_choices, search_options={"SUGGESTION"}, options=UNKEYED, **options
    )


def _begin(name: str) -> Any:
    """The second value starts at the first, so that nothing changes until it does."""

    def update(cloth: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
        if getattr(cloth, f"{name}_group") and not cloth.is_property_set(f"{name}_max"):
            setattr(cloth, f"{name}_max", getattr(cloth, name))

    return update


def properties() -> dict[str, bpy.props._PropertyDeferred]:
    """Of painted numbers, for `ClothProperties`."""
    default = {**vars(Material()), **vars(Shape()), "thickness": Cloth.thickness}
    made = {}
    for name, number in PAINTED.items():
        label = number.label
        made[f"{name}_group"] = field(
            f"{label} Group",
            f"Vertex group or float attribute that leads from {label} at weight 0 to {label} Max at weight 1",
            update=_begin(name),
        )
        made[f"{name}_max"] = FloatProperty(
            name=f"{label} Max{number.unit}",
            description=f"{label} where the weight is 1; it may be less than where it is 0",
            default=default[name],
            options=KEYED,
            **number.options,
        )
    small = {"step": 10, "precision": 2, "options": KEYED}
    made["bend_max_micro"] = shown(
        "bend_max_micro", "Bend Max (µN·m)", "Bend where the weight is 1", soft_max=200.0, **small
    )
    made["bend_friction_max_milli"] = shown(
        "bend_friction_max_milli",
        "Hysteresis Max (mN)",
        "Hysteresis where the weight is 1",
        soft_max=3.0,
        **small,
    )
    made["strain_max_percent"] = shown(
        "strain_max_percent", "Strain Limit Max",
        "Strain Limit where the weight is 1. Where one of the two is 0, the limit widens towards it, to none",
        soft_max=60.0, precision=1, step=10, subtype="PERCENTAGE", options=KEYED,
    )  # fmt: skip
    made["thickness_max_shown"] = shown_length(
        "thickness_max_shown", "Thickness Max", "Thickness where the weight is 1", 0.01, KEYED
    )
    return made


def groups(item: bpy.types.Object) -> dict[str, str]:
    """What the numbers of this cloth are painted with, by the numbers' names."""
    chosen = item.taffeta.cloth
    return {name: group for name in PAINTED if (group := getattr(chosen, f"{name}_group"))}


def exists(item: bpy.types.Object, name: str) -> bool:
    """May there be such a group or attribute, as far as one sees without evaluating the object?"""
    return (
        name in item.vertex_groups
        or (item.type == "MESH" and name in item.data.attributes)
        or modifier.may_make_attributes(item)
    )


class Weights:
    """The vertex groups and attributes of one evaluated mesh as fields over its vertices."""

    def __init__(self, item: bpy.types.Object, evaluated: bpy.types.Object, mesh: bpy.types.Mesh) -> None:
        """item: the object, for errors. evaluated: which has the mesh."""
        self.item, self.mesh = item, mesh
        self._number = {group.name: group.index for group in evaluated.vertex_groups}
        self._groups: dict[int, FloatArray] | None = None

    def of(self, name: str, what: str) -> FloatArray:
        """(N,) in [0, 1]. what: is painted so, for errors. Raises SceneError."""
        if name in self._number:
            if self._groups is None:
                self._groups = self._read()
            return self._groups.get(self._number[name], np.zeros(len(self.mesh.vertices), np.float32))
        attribute = self.mesh.attributes.get(name)
        if attribute is None:
            problem = f"there is no vertex group or attribute “{name}” for its {what}"
            raise SceneError(self.item.name, problem, "Choose another group or clear the field")
        if not _is_weight(attribute):
            kind = f"one {attribute.data_type.lower()} for each {attribute.domain.lower()}"
            problem = f"the attribute “{name}” for its {what} has {kind}"
            raise SceneError(self.item.name, problem, "Make it a float for each point")
        weights = np.empty(len(self.mesh.vertices), np.float32)
        attribute.data.foreach_get("value", weights)
        if np.isnan(weights).any():
            problem = f"“{name}” for its {what} is not a number at vertex {int(np.flatnonzero(np.isnan(weights))[0])}"
            raise SceneError(self.item.name, problem, "Repair what makes the attribute")
        return np.clip(weights, 0.0, 1.0)

    def _read(self) -> dict[int, FloatArray]:
        """All groups in one look at the vertices."""
        found: dict[int, tuple[list[int], list[float]]] = {}
        for vertex in self.mesh.vertices:
            for element in vertex.groups:
                places, weights = found.setdefault(element.group, ([], []))
                places.append(vertex.index)
                weights.append(element.weight)
        fields = {}
        for group, (places, weights) in found.items():
            fields[group] = np.zeros(len(self.mesh.vertices), np.float32)
            fields[group][places] = np.clip(np.array(weights, np.float32), 0.0, 1.0)
        return fields

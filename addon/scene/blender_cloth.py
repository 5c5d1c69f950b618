# SPDX-License-Identifier: GPL-3.0-or-later
"""What each number of Blender's cloth is here, and back: a table, for dictionaries of plain values.

Names of Blender's are paths below its modifier, those of ours are of `ClothProperties`. docs/manual/from_blender.md has
the same table in words, and a test compares them. What stands in no row is named to the user.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...gpu_core.scene.air import WEIGHTS
from ...gpu_core.scene.material import Material
from ...gpu_core.scene.scene import Cloth
from .painted import PAINTED
from .shape_properties import FOLD_ANGLE
from .spring_sheet import FORCE, TIME, SpringSheet

Values = dict[str, Any]
Convert = Callable[[Values, Values, SpringSheet], Sequence[Any]]  #: (there, here, sheet), of which one side is known

COULOMB = 0.01  #: coefficient of friction of a friction of 1
VISCOSITY = 0.01  #: of an air viscosity of 1, in units of force, time and length
OURS = Cloth.sewing_force  #: N, what stands for Blender's 0, which is no limit
EMPTY = 1.0e-6  #: volume below which Blender has no gas


class Rule(NamedTuple):
    """Numbers that carry over together."""

    there: tuple[str, ...]
    here: tuple[str, ...]
    forward: Convert  #: values of `here`
    backward: Convert  #: values of `there`
    group: str = ""  #: of ours, without which these numbers do nothing


def _same(there: str, here: str) -> Rule:
    return Rule((there,), (here,), lambda a, b, sheet: (a[there],), lambda a, b, sheet: (b[here],))


def _factor(there: str, here: str, factor: Callable[[SpringSheet], float]) -> Rule:
    """here = factor × there; where the factor is 0, as of bending without an inner edge, Blender's stays."""
    return Rule(
        (there,), (here,),
        lambda a, b, sheet: (a[there] * factor(sheet),),
        lambda a, b, sheet: (b[here] / factor(sheet) if factor(sheet) else a[there],),
    )  # fmt: skip


def _group(there: str, *here: str) -> Rule:
    return Rule(
        (there,), here,
        lambda a, b, sheet: (a[there],) * len(here), lambda a, b, sheet: (b[here[0]],),
    )  # fmt: skip


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0.0 else 0.0


def _damping(there: Values, stiffness: str, damping: str, time: float, lag: float) -> float:
    """Of a time constant (s), where that of a damping and a stiffness of 1 is lag; as it was where nothing resists."""
    return float(time * there[stiffness] / lag if lag and there[stiffness] else there[damping])


def _mean(here: Values, end: str = "") -> float:
    return 0.5 * (float(here[f"stretch_warp{end}"]) + float(here[f"stretch_weft{end}"]))


TENSION, SHEAR, BENDING = "settings.tension_stiffness", "settings.shear_stiffness", "settings.bending_stiffness"
COMPRESSION = "settings.compression_stiffness"


def _springs(there: Values, here: Values, sheet: SpringSheet) -> tuple[float, float, float]:
    """Where the mesh has no diagonals, Blender's shear stays as it is."""

    def shear(tension: float) -> float:
        return sheet.shear_of(here["shear"], tension) if sheet.sheared else float(there[SHEAR])

    tension = sheet.tension_of(_mean(here), shear)
    return tension, tension, shear(tension)


def _most_tension(there: Values, here: Values, sheet: SpringSheet) -> tuple[float, float]:
    most = sheet.tension_of(_mean(here, "_max"), lambda _: float(there[SHEAR]))
    return most, most


def _pressure(there: Values, here: Values, sheet: SpringSheet) -> tuple[float, ...]:
    """Pa, Pa, m³, kg/m³."""
    if not there["settings.use_pressure"]:
        return 0.0, 0.0, 0.0, 0.0
    custom, volume = there["settings.use_pressure_volume"], there["settings.target_volume"]
    scale = FORCE * there["settings.pressure_factor"] / sheet.metre
    return (
        there["settings.uniform_pressure_force"] * scale,
        0.0 if custom and volume <= EMPTY else scale,
        volume * sheet.metre**3 if custom else 0.0,
        FORCE * there["settings.fluid_density"] / sheet.metre**3,
    )


def _pressure_back(there: Values, here: Values, sheet: SpringSheet) -> tuple[Any, ...]:
    """Without a gas Blender's scale is free: it stays."""
    share = 1.0 if here["pressure_factor_group"] else here["pressure_factor"]
    pressure, gas = (here[name] * share * sheet.metre / FORCE for name in ("pressure", "ambient_pressure"))
    fluid = here["fluid_density"] * share * sheet.metre**3 / FORCE
    if not (pressure or gas or fluid):
        return (False, *(there[name] for name in PRESSURES[1:]))
    factor = gas or there["settings.pressure_factor"] or 1.0
    volume = here["target_volume"] / sheet.metre**3 if gas else 0.0
    return True, pressure / factor, factor, volume > 0.0 or not gas, volume, fluid


PRESSURES = (
    "settings.use_pressure", "settings.uniform_pressure_force", "settings.pressure_factor",
    "settings.use_pressure_volume", "settings.target_volume", "settings.fluid_density",
)  # fmt: skip


def _air(there: Values, here: Values, sheet: SpringSheet) -> tuple[float]:
    """1/s: Blender's air takes force by velocity from each vertex, whatever its mass is."""
    return (VISCOSITY / TIME * _ratio(there["settings.air_damping"], there["settings.mass"]),)


def _thread(there: Values, here: Values, sheet: SpringSheet) -> tuple[float]:
    force = there["settings.sewing_force_max"]
    return (force * FORCE * sheet.metre if force else OURS,)


def _thread_back(there: Values, here: Values, sheet: SpringSheet) -> tuple[float]:
    force = here["sewing_force"]
    return (0.0 if force == OURS else force / (FORCE * sheet.metre),)


#: In the order in which they are applied: those below may look at what those above have found.
RULES: tuple[Rule, ...] = (
    _group("settings.vertex_group_mass", "pin_group"),
    _group("settings.vertex_group_structural_stiffness", "stretch_warp_group", "stretch_weft_group"),
    _group("settings.vertex_group_shear_stiffness", "shear_group"),
    _group("settings.vertex_group_bending", "bend_group"),
    _group("settings.vertex_group_shrink", "shrink_group"),
    _group("settings.vertex_group_pressure", "pressure_factor_group"),
    _factor("settings.mass", "density", lambda sheet: sheet.vertices / (sheet.area * sheet.metre**2)),
    Rule(
        ("settings.air_damping",), ("velocity_damping",), _air,
        lambda a, b, sheet: (b["velocity_damping"] * a["settings.mass"] * TIME / VISCOSITY,),
    ),
    Rule(
        (TENSION, COMPRESSION, SHEAR), ("stretch_warp", "stretch_weft", "shear"),
        lambda a, b, sheet: sheet.moduli(a[TENSION], a[SHEAR]), _springs,
    ),
    Rule(
        (f"{TENSION}_max", f"{COMPRESSION}_max"), ("stretch_warp_max", "stretch_weft_max"),
        lambda a, b, sheet: sheet.moduli(a[f"{TENSION}_max"], a[SHEAR])[:2], _most_tension, "stretch_warp_group",
    ),
    Rule(
        (f"{SHEAR}_max",), ("shear_max",),
        lambda a, b, sheet: sheet.moduli(a[TENSION], a[f"{SHEAR}_max"])[2:],
        lambda a, b, sheet: (sheet.shear_of(b["shear_max"], a[TENSION]),), "shear_group",
    ),
    _factor(BENDING, "bend", lambda sheet: sheet.bend * sheet.metre**2),
    _factor(f"{BENDING}_max", "bend_max", lambda sheet: sheet.bend * sheet.metre**2)._replace(group="bend_group"),
    Rule(
        ("settings.tension_damping", "settings.compression_damping"), ("stretch_damping",),
        lambda a, b, sheet: (sheet.edge * TIME * _ratio(a["settings.tension_damping"], a[TENSION]),),
        lambda a, b, sheet: (_damping(a, TENSION, "settings.tension_damping", b["stretch_damping"], sheet.edge * TIME),)
        * 2,
    ),
    Rule(
        ("settings.shear_damping",), ("shear_damping",),
        lambda a, b, sheet: (sheet.edge * TIME * _ratio(a["settings.shear_damping"], a[SHEAR]),),
        lambda a, b, sheet: (_damping(a, SHEAR, "settings.shear_damping", b["shear_damping"], sheet.edge * TIME),),
    ),
    Rule(
        ("settings.bending_damping",), ("bend_damping",),
        lambda a, b, sheet: (sheet.bend_lag * _ratio(a["settings.bending_damping"], a[BENDING]),),
        lambda a, b, sheet: (_damping(a, BENDING, "settings.bending_damping", b["bend_damping"], sheet.bend_lag),),
    ),
    _same("settings.rest_shape_key", "rest_shape_key"),
    _same("settings.shrink_min", "shrink"),
    _same("settings.shrink_max", "shrink_max")._replace(group="shrink_group"),
    Rule(
        PRESSURES, ("pressure", "ambient_pressure", "target_volume", "fluid_density"), _pressure, _pressure_back
    ),
    Rule(
        (), ("pressure_factor",),
        lambda a, b, sheet: (0.0 if b["pressure_factor_group"] else 1.0,), lambda a, b, sheet: (),
    ),
    Rule((), ("pressure_factor_max",), lambda a, b, sheet: (1.0,), lambda a, b, sheet: (), "pressure_factor_group"),
    _same("settings.use_sewing_springs", "sewing"),
    Rule(("settings.sewing_force_max",), ("sewing_force",), _thread, _thread_back),
    Rule(
        ("collision_settings.distance_min", "collision_settings.self_distance_min"), ("thickness",),
        lambda a, b, sheet: (a["collision_settings.distance_min"] * sheet.metre,),
        lambda a, b, sheet: (b["thickness"] / sheet.metre,) * 2,
    ),
    _same("collision_settings.use_self_collision", "self_collision"),
    _factor("collision_settings.self_friction", "friction", lambda sheet: COULOMB),
    _same("collision_settings.collection", "collision_collection"),
    _same("collision_settings.vertex_group_object_collisions", "left_out_of_bodies_group"),
    _same("collision_settings.vertex_group_self_collisions", "left_out_of_itself_group"),
    _same("settings.effector_weights.collection", "field_collection"),
    *(_same(f"settings.effector_weights.{name.removeprefix('field_')}", name) for name in WEIGHTS),
)  # fmt: skip

#: Of a collider: Blender's, ours, and how many of ours one of Blender's is, for metres.
SURFACES = (
    ("thickness_outer", "thickness", lambda metre: metre),
    ("cloth_friction", "friction", lambda metre: COULOMB),
)

TIME_SCALE = "settings.time_scale"  #: of the scene here


def pace(fps: float) -> float:
    """Seconds that pass for Blender's cloth in a second of the animation: each frame is the same to it."""
    return TIME * fps


class Left(NamedTuple):
    """What has no counterpart: why, and when there is nothing to say."""

    why: str
    silent: Callable[[Values], bool]


def _unless(name: str, usual: Any, why: str) -> tuple[str, Left]:
    return name, Left(why, lambda values: bool(values[name] == usual))


#: Of Blender's.
LEFT_THERE: dict[str, Left] = dict(
    (
        _unless("settings.quality", 5, "a bake chooses its time steps itself"),
        _unless("settings.bending_model", "ANGULAR", "cloth bends by angle, with the same number"),
        ("settings.compression_stiffness", Left(
            "cloth that is pressed along the sheet resists as it does to stretch, or buckles",
            lambda a: bool(a[COMPRESSION] == a[TENSION]),
        )),
        ("settings.compression_stiffness_max", Left(
            "cloth that is pressed along the sheet resists as it does to stretch, or buckles",
            lambda a: not a["settings.vertex_group_structural_stiffness"]
            or bool(a[f"{COMPRESSION}_max"] == a[f"{TENSION}_max"]),
        )),
        ("settings.compression_damping", Left(
            "stretch has one damping",
            lambda a: bool(a["settings.compression_damping"] == a["settings.tension_damping"]),
        )),
        _unless("settings.use_internal_springs", False, "nothing joins one side of a body to the other"),
        ("settings.pin_stiffness", Left(
            "how soft a pin is follows from its weight",
            lambda a: not a["settings.vertex_group_mass"] or bool(a["settings.pin_stiffness"] == 1.0),
        )),
        _unless("settings.use_dynamic_mesh", False, "the rest shape is that of the first frame"),
        _unless("collision_settings.use_collision", True, "cloth meets every Collider"),
        _unless("collision_settings.collision_quality", 2, "no step ends with a crossing, or it is reported"),
        _unless("collision_settings.impulse_clamp", 0.0, "nothing is clamped"),
        _unless("collision_settings.self_impulse_clamp", 0.0, "nothing is clamped"),
        ("collision_settings.self_distance_min", Left(
            "cloth has one thickness, that of object collisions",
            lambda a: not a["collision_settings.use_self_collision"]
            or bool(a["collision_settings.self_distance_min"] == a["collision_settings.distance_min"]),
        )),
        _unless("settings.effector_weights.texture", 1.0, "such fields do not move cloth"),
        _unless("settings.effector_weights.smokeflow", 1.0, "such fields do not move cloth"),
    )
)  # fmt: skip

#: What belongs to a switch of `LEFT_THERE`, which is named for it.
BELOW: dict[str, str] = dict.fromkeys(
    (
        "settings.internal_spring_max_length", "settings.internal_spring_max_diversion",
        "settings.internal_spring_normal_check", "settings.internal_tension_stiffness",
        "settings.internal_tension_stiffness_max", "settings.internal_compression_stiffness",
        "settings.internal_compression_stiffness_max", "settings.vertex_group_intern",
    ),
    "settings.use_internal_springs",
)  # fmt: skip

#: What Blender's panel does not have: it is for hair, or for particles, or does nothing.
UNSEEN = frozenset(
    {
        *(f"settings.goal_{name}" for name in ("min", "max", "default", "spring", "friction")),
        *(f"settings.{name}" for name in ("internal_friction", "collider_friction", "density_target", "gravity")),
        *(f"settings.{name}" for name in ("density_strength", "voxel_cell_size")),
        *(f"collision_settings.{name}" for name in ("friction", "damping")),
        *(f"settings.effector_weights.{name}" for name in ("apply_to_hair_growing", "curve_guide", "charge")),
        *(f"settings.effector_weights.{name}" for name in ("lennardjones", "boid")),
    }
)

#: Of Blender's collision.
LEFT_OF_SURFACE: dict[str, Left] = dict(
    (
        _unless("thickness_inner", 0.2, "a surface has no inside: cloth never enters it"),
        _unless("use_normal", False, "both sides of a surface keep cloth out"),
        _unless("damping", 0.1, "cloth does not bounce"),
    )
)


class Only(NamedTuple):
    """What only Taffeta has: the value with which its cloth is as Blender's, and what Blender lacks."""

    value: Any
    why: str


#: Of ours.
ONLY_HERE: dict[str, Only] = {
    "bend_friction": Only(0.0, "yarns do not rub"),
    "strain_limit": Only(0.0, "there is no limit"),
    "softening": Only(1.0, "stretch has one stiffness"),
    "stretch_yield": Only(0.0, "all springs back"),
    "bend_yield": Only(0.0, "all springs back"),
    "air_drag": Only(Material.air_drag, "air acts by velocity, or as wind"),
    "pin_strength": Only(1.0, "pins hold by their weights"),
    "sewing_time": Only(Cloth.sewing_time, "threads pull at once"),
    "layer": Only(Cloth.layer, "no cloth is brought outside of another"),
    "seam_stiffness": Only(Cloth.seam_stiffness, "seams bend as the cloth does"),
    "sew_object": Only(None, "only edges of one mesh are sewn"),
    "sew_group": Only("", "only edges of one mesh are sewn"),
    "cord_stiffness": Only(Cloth.cord_stiffness, "edges without a face are springs like all others"),
    "cord_density": Only(Cloth.cord_density, "edges without a face weigh nothing"),
    "cord_shrink": Only(Cloth.cord_shrink, "edges without a face shrink as the cloth does"),
    "fold_attribute": Only("", "edges have the angle of the mesh"),
    "fold_angle": Only(FOLD_ANGLE, "edges have the angle of the mesh"),
    "rest_object": Only(None, "the rest shape is of its own mesh"),
    "pattern_map": Only("", "the rest shape is a mesh"),
    "pattern_scale": Only(0.0, "the rest shape is a mesh"),
    **{
        f"{name}_group": Only("", "it cannot be painted")
        for name in PAINTED
        if not any(f"{name}_group" in rule.here for rule in RULES)
    },
}


def forward(there: Mapping[str, Any], sheet: SpringSheet) -> Values:
    """Of ours, from all of Blender's."""
    here: Values = {name: only.value for name, only in ONLY_HERE.items()}
    for rule in RULES:
        if not rule.group or here[rule.group]:
            here.update(zip(rule.here, rule.forward(dict(there), here, sheet), strict=True))
    return here


def backward(here: Mapping[str, Any], there: Mapping[str, Any], sheet: SpringSheet) -> Values:
    """Of Blender's, from all of ours. there: what the modifier has."""
    found = dict(there)
    for rule in RULES:
        if not rule.group or here[rule.group]:
            found.update(zip(rule.there, rule.backward(found, dict(here), sheet), strict=True))
    carried = {name for rule in RULES if not rule.group or here[rule.group] for name in rule.there}
    return {name: value for name, value in found.items() if name in carried}

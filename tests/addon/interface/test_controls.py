# SPDX-License-Identifier: GPL-3.0-or-later
"""Every control has a name and a word of help, and a line in the manual; so has every one of Blender's cloth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest

from taffeta.addon import registration
from taffeta.addon.scene import encounter_properties, pin_properties, properties

ROOT = Path(__file__).resolve().parents[3]
CONTROLS, GARMENTS, COLLISIONS, FROM_BLENDER = (
    (ROOT / "docs" / "manual" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("controls", "garments", "collisions", "from_blender")
)
PAGE = CONTROLS + GARMENTS + COLLISIONS
CODE = set(re.findall(r"`([^`]+)`", PAGE + FROM_BLENDER))
ROWS = [[cell.strip().strip("*") for cell in line.strip("|").split("|")] for line in PAGE.splitlines()]
PLACES = {
    "object.taffeta": properties.ObjectProperties,
    "object.taffeta.cloth": properties.ClothProperties,
    "object.taffeta.cloth.pins[0]": pin_properties.PinProperties,
    "object.taffeta.collider": properties.ColliderProperties,
    "scene.taffeta": properties.SceneProperties,
    "scene.taffeta.encounters[0]": encounter_properties.EncounterProperties,
}
OWN = {"rna_type", "name"}  # of every property group


def controls() -> Iterator[tuple[str, bpy.types.Property]]:
    """(path in Python, property) of all that a user can set."""
    for place, group in PLACES.items():
        for item in group.bl_rna.properties:
            group_of_its_own = item.type == "POINTER" and item.fixed_type.identifier not in ("Collection", "Object")
            if item.identifier not in OWN and not group_of_its_own and not item.is_hidden:
                yield f"{place}.{item.identifier}", item


def operators() -> list[type[bpy.types.Operator]]:
    classes = [item for part in registration.PARTS for item in getattr(part, "CLASSES", ())]
    return [item for item in classes if issubclass(item, bpy.types.Operator)]


def test_every_property_has_a_line_in_the_manual_under_its_own_name(addon):
    documented = {row[-1].strip("`"): row[0] for row in ROWS if len(row) == 3}
    assert {path: item.name for path, item in controls()} == {
        path: name for path, name in documented.items() if path.startswith(("object.", "scene."))
    }


def choices(operator: type[bpy.types.Operator]) -> Iterator[dict[str, object]]:
    """Its options as they are by default, and with each switch turned and each item chosen."""
    category, name = operator.bl_idname.split(".")
    own = [
        item
        for item in getattr(getattr(bpy.ops, category), name).get_rna_type().properties
        if item.identifier != "rna_type"
    ]
    usual = {item.identifier: getattr(item, "default", None) for item in own}
    yield usual
    for item in own:
        if item.type == "BOOLEAN":
            yield usual | {item.identifier: not item.default}
        if item.type == "ENUM":
            yield from (usual | {item.identifier: each.identifier} for each in item.enum_items)


@pytest.mark.parametrize("operator", [item for item in operators() if "description" in vars(item)])
def test_every_operator_says_what_it_does_with_each_of_its_options(addon, operator):
    """A description that fails is a button without a word, and a traceback in Blender's log."""
    for options in choices(operator):
        assert len(operator.description(bpy.context, SimpleNamespace(**options))) > 10, options


def test_every_operator_has_a_line_in_the_manual(addon):
    assert {operator.bl_idname for operator in operators()} == {
        name for name in CODE if re.match(r"taffeta\.\w+$", name)
    }


def test_every_control_can_be_found_by_its_words(addon):
    for path, item in controls():
        assert item.name, path
        assert len(item.description) > 10, path
        assert not item.description.endswith("."), path
    for operator in operators():
        assert operator.bl_label, operator
        assert len(operator.bl_description) > 10, operator
        assert not operator.bl_description.endswith("."), operator


@pytest.fixture(scope="module")
def blenders_panel() -> str:
    from bl_ui import properties_physics_cloth

    return Path(properties_physics_cloth.__file__).read_text(encoding="utf-8")


def test_every_control_of_blenders_cloth_has_a_line_in_the_manual(blenders_panel):
    drawn = set(re.findall(r'prop(?:_search)?\(\s*cloth, "(\w+)"', blenders_panel))
    assert len(drawn) > 50, "Blender's panel is written in another way"
    assert drawn <= CODE, drawn - CODE


def test_no_line_is_of_a_control_that_blender_does_not_have(blenders_panel):
    table = FROM_BLENDER[: FROM_BLENDER.index("On a body, Blender's")]
    named = {name for row in re.findall(r"^\|[^|]*\|([^|]*)\|", table, re.M) for name in re.findall(r"`(\w+)`", row)}
    holders = (bpy.types.ClothSettings, bpy.types.ClothCollisionSettings, bpy.types.ClothModifier)
    settings = {item.identifier for holder in holders for item in holder.bl_rna.properties}
    assert named <= settings, named - settings

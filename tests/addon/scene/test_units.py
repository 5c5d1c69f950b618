# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths are Blender's lengths, at any scale of the scene; what is stored stays in metres."""

from __future__ import annotations

import bpy
import pytest

PROPERTIES = ("object.cloth.thickness", "object.collider.thickness", "scene.grab_radius")


def group(item, path):
    return {
        "object.cloth": item.taffeta.cloth,
        "object.collider": item.taffeta.collider,
        "scene": bpy.context.scene.taffeta,
    }[path]


@pytest.mark.parametrize("scale", [1.0, 0.01, 100.0])
@pytest.mark.parametrize("name", PROPERTIES)
def test_a_length_is_shown_and_taken_in_scene_units(make_cloth, scale, name):
    place, _, name = name.rpartition(".")
    owner = group(make_cloth(), place)
    bpy.context.scene.unit_settings.scale_length = scale
    setattr(owner, name, 0.004)
    assert getattr(owner, f"{name}_shown") == pytest.approx(0.004 / scale)
    typed = bpy.utils.units.to_value("METRIC", "LENGTH", "2mm") / scale  # what Blender makes of the text
    setattr(owner, f"{name}_shown", typed)
    assert getattr(owner, name) == pytest.approx(0.002)
    entry = owner.bl_rna.properties[f"{name}_shown"]
    assert (entry.subtype, entry.unit) == ("DISTANCE", "LENGTH")


def test_the_strain_limit_is_in_percent_and_the_tolerance_a_velocity(make_cloth):
    cloth, chosen = make_cloth().taffeta.cloth, bpy.context.scene.taffeta
    cloth.strain_percent = 6.0
    assert cloth.strain_limit == pytest.approx(0.06)
    assert cloth.bl_rna.properties["strain_percent"].subtype == "PERCENTAGE"
    chosen.tolerance = 0.3
    assert chosen.tolerance_shown == pytest.approx(0.3)
    assert chosen.bl_rna.properties["tolerance_shown"].unit == "VELOCITY"

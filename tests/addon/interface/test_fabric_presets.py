# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabrics of the user's own: saved, listed, loaded and deleted with Blender's own presets."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from taffeta.addon.interface import fabric_presets
from taffeta.addon.scene import collision_properties, painted
from taffeta.gpu_core.scene.air import WEIGHTS
from taffeta.gpu_core.scene.fabrics import FABRICS
from taffeta.gpu_core.scene.shape import Shape


@pytest.fixture
def cloth(make_cloth):
    item = make_cloth()
    bpy.context.view_layer.objects.active = item
    yield item.taffeta.cloth
    for path in saved():
        path.unlink()


def saved() -> list[Path]:
    return [path for folder in bpy.utils.preset_paths(fabric_presets.FOLDER) for path in Path(folder).glob("*.py")]


def test_a_saved_fabric_comes_back_with_every_number(cloth):
    cloth.preset = "WOOL"
    cloth.density, cloth.air_drag, cloth.thickness = 0.3125, 0.75, 0.00390625
    numbers = {name: getattr(cloth, name) for name in fabric_presets.SAVED}
    bpy.ops.taffeta.fabric_preset_add(name="Heavy wool")
    cloth.preset = "SILK"
    (path,) = saved()
    bpy.ops.taffeta.fabric_preset_load(filepath=str(path))
    assert {name: getattr(cloth, name) for name in fabric_presets.SAVED} == numbers
    assert cloth.preset == "CUSTOM"


def test_every_property_that_makes_the_fabric_is_saved():
    of_the_place = {
        "preset",
        "stretch",
        "bend_micro",
        "bend_friction_milli",
        "pattern_map",
        "pattern_scale",
        "pattern_scale_shown",
        "pin_group",
        "pin_strength",
        "pins",
        "self_collision",
        "sewing",
        "sewing_force",
        "sewing_time",
        *vars(Shape()),
        "rest_shape_key",
        "thickness_shown",
        "strain_percent",
        "seam_stiffness",
        "weld_seams",
        "sew_object",
        "sew_group",
        "fold_attribute",
        "fold_angle",
        "rest_object",
        "cord_stiffness",
        "cord_density",
        "cord_shrink",
        "cache_key",
        "rna_type",
        "name",
    }
    of_the_place |= set(painted.properties())  # paint is of a mesh
    of_the_place |= set(collision_properties.properties())
    of_the_place |= {"field_collection", *WEIGHTS}  # and these are of a scene
    properties = bpy.types.Object.bl_rna.properties["taffeta"].fixed_type.properties["cloth"].fixed_type.properties
    assert set(fabric_presets.SAVED) == set(properties.keys()) - of_the_place


def test_a_saved_fabric_can_be_deleted(cloth):
    bpy.ops.taffeta.fabric_preset_add(name="Heavy wool")
    assert len(saved()) == 1
    bpy.ops.taffeta.fabric_preset_add(name="Heavy wool", remove_name=True)
    assert saved() == []


def test_a_name_that_is_taken_is_refused_and_keeps_its_fabric(cloth):
    cloth.preset = "WOOL"
    bpy.ops.taffeta.fabric_preset_add(name="Mine")
    before = saved()[0].read_text()
    cloth.preset = "SILK"
    bpy.ops.taffeta.fabric_preset_add(name="Mine")
    assert [path.read_text() for path in saved()] == [before]


def test_loading_a_fabric_can_be_undone(cloth):
    cloth.preset = "WOOL"
    bpy.ops.taffeta.fabric_preset_add(name="Mine")
    cloth.preset = "SILK"
    bpy.ops.ed.undo_push(message="silk")
    bpy.ops.taffeta.fabric_preset_load("EXEC_DEFAULT", True, filepath=str(saved()[0]))
    assert bpy.data.objects["Cloth"].taffeta.cloth.preset == "WOOL"
    bpy.ops.ed.undo()
    assert bpy.data.objects["Cloth"].taffeta.cloth.preset == "SILK"


@pytest.mark.parametrize("name", ["add", "load"])
def test_without_a_cloth_the_buttons_are_grey_and_say_why(make_collider, name):
    said: list[str] = []
    operator = getattr(fabric_presets, f"TAFFETA_OT_fabric_preset_{name}")
    stand_in = type("StandIn", (operator,), {"poll_message_set": said.append})
    with bpy.context.temp_override(object=make_collider()):
        assert not operator.poll.__func__(stand_in, bpy.context)
    assert "no cloth" in said[0]


def test_the_menu_offers_the_fabrics_of_taffeta_and_the_own_ones(cloth):
    bpy.ops.taffeta.fabric_preset_add(name="Heavy wool")
    shown: list[str] = []

    class Layout:
        def row(self, align=False):
            return self

        column = row

        def prop_enum(self, data, name, value):
            shown.append(value)

        def operator(self, name, **options):
            shown.append(options.get("text") or options.get("icon"))
            return type("Properties", (), {})()

        def prop(self, data, name, text):
            shown.append(name)

        def separator(self):
            pass

    class Panel(fabric_presets.PresetPanel):
        """The panel as a plain object: Blender makes panels only to draw a window."""

        draw = fabric_presets.TAFFETA_PT_fabric_presets.draw
        layout = Layout()

    menu = fabric_presets.TAFFETA_PT_fabric_presets
    for name in ("preset_subdir", "preset_operator", "preset_add_operator"):
        setattr(Panel, name, getattr(menu, name))
    Panel().draw(bpy.context)
    assert shown == [*(fabric.identifier for fabric in FABRICS), "Heavy wool", "REMOVE", "preset_name", "ADD"]


@pytest.mark.parametrize("path", ["", "gone.py"])
def test_a_file_that_is_not_there_is_said_in_words(cloth, path, tmp_path):
    path = path and str(tmp_path / path)
    with pytest.raises(RuntimeError, match=r"^Error: Cloth: There is no fabric in .*TAF-U002"):
        bpy.ops.taffeta.fabric_preset_load(filepath=path)

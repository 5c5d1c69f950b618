# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import bpy
import pytest

from taffeta.addon.scene.gather import gather_settings
from taffeta.gpu_core.scene.fabrics import COTTON, FABRICS
from taffeta.gpu_core.scene.scene import Cloth, Collider, Material, Settings


def test_a_new_object_takes_no_part(scene, make_object):
    item = make_object("Plain", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    assert item.taffeta.role == "NONE"


def test_defaults_are_those_of_cotton(make_cloth):
    cloth = make_cloth().taffeta.cloth
    for key in Material.__dataclass_fields__:
        assert getattr(cloth, key) == pytest.approx(getattr(COTTON.material, key), rel=1e-6), key
    assert cloth.thickness == pytest.approx(Cloth.thickness)
    collider = make_cloth("Other").taffeta.collider
    assert (collider.thickness, collider.friction) == pytest.approx((Collider.thickness, Collider.friction))


def test_scene_defaults_are_those_of_the_settings(scene):
    chosen = scene.taffeta
    assert chosen.step_rate == Settings.step_rate
    assert chosen.tolerance == pytest.approx(Settings.tolerance)
    assert chosen.start == "RESOLVE"
    assert (chosen.solver, chosen.preset, chosen.backend) == ("NDB", "DEFAULT", "AUTO")


def test_a_new_cloth_is_cotton(make_cloth):
    assert make_cloth().taffeta.cloth.preset == "COTTON"


@pytest.mark.parametrize("fabric", FABRICS, ids=lambda fabric: fabric.identifier)
def test_choosing_a_fabric_writes_its_numbers(make_cloth, fabric):
    cloth = make_cloth().taffeta.cloth
    cloth.preset = fabric.identifier
    for key in set(Material.__dataclass_fields__) - {"air_drag", "velocity_damping"}:
        assert getattr(cloth, key) == pytest.approx(getattr(fabric.material, key), rel=1e-6), key
    assert cloth.thickness == pytest.approx(fabric.contact_thickness)
    assert cloth.preset == fabric.identifier


def test_changing_a_number_makes_the_fabric_custom_and_back(make_cloth):
    cloth = make_cloth().taffeta.cloth
    cloth.density = 0.5
    assert cloth.preset == "CUSTOM"
    cloth.density = Material.density
    assert cloth.preset == "COTTON"


def test_custom_keeps_the_numbers(make_cloth):
    cloth = make_cloth().taffeta.cloth
    cloth.density = 0.5
    cloth.preset = "CUSTOM"
    assert cloth.density == 0.5


def test_stretch_sets_warp_and_weft(make_cloth):
    cloth = make_cloth().taffeta.cloth
    assert cloth.stretch == pytest.approx((4500 + 2800) / 2)
    cloth.stretch = 1000
    assert (cloth.stretch_warp, cloth.stretch_weft, cloth.stretch) == (1000, 1000, 1000)


def test_bend_in_micro_newton_metres_is_the_same_number(make_cloth):
    cloth = make_cloth().taffeta.cloth
    cloth.bend_micro = 12
    assert cloth.bend == pytest.approx(1.2e-5)
    cloth.bend = 5e-6
    assert cloth.bend_micro == pytest.approx(5)


def test_bend_friction_in_milli_newton_is_the_same_number(make_cloth):
    cloth = make_cloth().taffeta.cloth
    cloth.bend_friction_milli = 0.75
    assert cloth.bend_friction == pytest.approx(7.5e-4)
    cloth.bend_friction = 2e-4
    assert cloth.bend_friction_milli == pytest.approx(0.2)


def test_properties_are_saved_with_the_file(scene, make_cloth, tmp_path):
    cloth = make_cloth().taffeta
    cloth.cloth.preset = "DENIM"
    scene.taffeta.step_rate = 240
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert bpy.data.objects["Cloth"].taffeta.cloth.preset == "DENIM"
    assert bpy.context.scene.taffeta.step_rate == 240


@pytest.mark.parametrize(
    ("method", "preset"), [("NEWTON", "default"), ("SUBSPACE", "subspace"), ("PUBLISHED", "paper")]
)
def test_the_method_is_the_scripts_variant(scene, method, preset):
    scene.taffeta.method = method
    assert gather_settings(scene).preset == preset
    assert scene.taffeta.preset == preset.upper()
    scene.taffeta.preset = "DEFAULT"
    assert scene.taffeta.method == "NEWTON"

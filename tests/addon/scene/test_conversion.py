# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects with Blender's Cloth and Collision become ours and come back with the numbers that they had."""

from __future__ import annotations

import bpy
import pytest

from taffeta.addon.scene import blender_cloth
from taffeta.addon.scene.blender_cloth import RULES
from taffeta.addon.scene.blender_modifier import read
from taffeta.addon.scene.conversion import from_blender, to_blender
from taffeta.addon.scene.gather import gather
from taffeta.tests.addon.conftest import fcurves

AREA, VERTICES, EDGE = 1.0, 25, 0.25  #: of the sheet: m², m

#: Numbers that no default has, by their paths below the modifier.
CHOSEN = {
    "settings.mass": 0.02, "settings.air_damping": 0.7, "settings.tension_stiffness": 31.0,
    "settings.compression_stiffness": 31.0, "settings.shear_stiffness": 7.0, "settings.bending_stiffness": 1.3,
    "settings.tension_damping": 3.0, "settings.compression_damping": 3.0, "settings.shear_damping": 2.0,
    "settings.bending_damping": 0.9, "settings.tension_stiffness_max": 50.0,
    "settings.compression_stiffness_max": 50.0, "settings.shear_stiffness_max": 11.0,
    "settings.bending_stiffness_max": 6.0, "settings.shrink_min": -0.2, "settings.shrink_max": 0.4,
    "settings.use_pressure": True, "settings.uniform_pressure_force": 0.6, "settings.pressure_factor": 2.5,
    "settings.use_pressure_volume": True, "settings.target_volume": 0.3, "settings.fluid_density": 0.4,
    "settings.use_sewing_springs": True, "settings.sewing_force_max": 0.02, "settings.time_scale": 0.8,
    "settings.effector_weights.gravity": 0.5, "settings.effector_weights.wind": 0.25,
    "settings.effector_weights.all": 0.75, "collision_settings.distance_min": 0.004,
    "collision_settings.self_distance_min": 0.004, "collision_settings.use_self_collision": True,
    "collision_settings.self_friction": 12.0,
}  # fmt: skip
GROUPS = {
    f"settings.vertex_group_{name}": f"Group {name}"
    for name in ("mass", "structural_stiffness", "shear_stiffness", "bending", "shrink", "pressure")
} | {f"collision_settings.vertex_group_{name}": f"Group {name}" for name in ("object_collisions", "self_collisions")}


def with_cloth(item: bpy.types.Object, **values) -> bpy.types.Modifier:
    item.taffeta.role = "NONE"
    entry = item.modifiers.new("Cloth", "CLOTH")
    for path, value in values.items():
        place, _, name = path.rpartition(".")
        setattr(entry.path_resolve(place), name, value)
    return entry


def assert_the_same(found: dict, expected: dict) -> None:
    """Numbers to the rounding of float32, all else as it is."""
    for name, value in expected.items():
        assert found[name] == (pytest.approx(value, rel=1e-5) if isinstance(value, float) else value), name


@pytest.fixture
def sheet(make_cloth) -> bpy.types.Object:
    return make_cloth()


def converted(*items: bpy.types.Object) -> list[str]:
    return from_blender(bpy.context.scene, items)


def test_a_sheet_of_blenders_has_the_physical_numbers_of_its_mesh(sheet, scene):
    entry = with_cloth(sheet, **{"settings.mass": 0.02, "collision_settings.self_friction": 12.0})
    assert converted(sheet) == []
    cloth, numbers = sheet.taffeta.cloth, entry.settings
    assert (sheet.taffeta.role, entry.show_viewport, entry.show_render) == ("CLOTH", False, False)
    assert cloth.density == pytest.approx(0.02 * VERTICES / AREA)
    assert cloth.shear == pytest.approx(1000 * numbers.shear_stiffness / EDGE / 2)
    assert cloth.bend == pytest.approx(50 * numbers.bending_stiffness * EDGE**2)
    assert cloth.velocity_damping == pytest.approx(0.01 / 0.001**0.5 / 0.02)
    assert cloth.friction == pytest.approx(0.12)
    assert cloth.thickness == pytest.approx(0.015)
    assert (cloth.strain_limit, cloth.softening, cloth.bend_friction) == (0.0, 1.0, 0.0)
    assert scene.taffeta.time_scale == pytest.approx(24 * 0.001**0.5)
    gather(bpy.context)  # a bake takes it


@pytest.mark.parametrize("metre", [1.0, 0.01])
def test_every_number_comes_back(sheet, scene, metre):
    scene.unit_settings.scale_length = metre
    for name in GROUPS.values():
        sheet.vertex_groups.new(name=name)
    wind = bpy.data.collections.new("Wind")
    sheet.shape_key_add(name="Basis")
    key = sheet.shape_key_add(name="Cut")
    values = {**CHOSEN, **GROUPS, "settings.effector_weights.collection": wind, "settings.rest_shape_key": key}
    values["collision_settings.collection"] = wind
    entry = with_cloth(sheet, **values)
    before = read(entry)
    assert converted(sheet) == []
    for name, value in read(entry).items():  # none of it may be a number that was left there
        if name in CHOSEN and isinstance(value, float):
            place, _, last = name.rpartition(".")
            setattr(entry.path_resolve(place), last, 0.5 * value)
    for name in GROUPS:
        place, _, last = name.rpartition(".")
        setattr(entry.path_resolve(place), last, "")
    assert to_blender(scene, [sheet]) == []
    after = read(entry)
    assert_the_same(after, before)
    assert (sheet.taffeta.role, entry.show_viewport, entry.show_render) == ("NONE", True, True)


def test_no_number_is_missing_among_those_that_come_back():
    carried = {name for rule in RULES for name in rule.there} | {blender_cloth.TIME_SCALE}
    weights = {name for name in carried if "effector_weights" in name}
    assert carried - weights == {name for name in (*CHOSEN, *GROUPS) if name not in weights} | {
        "settings.rest_shape_key",
        "collision_settings.collection",
    }


def test_the_default_cloth_on_triangles_comes_back(make_object, scene):
    item = make_object("Sheet", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    entry = with_cloth(item)
    before = read(entry)
    assert converted(item) == []
    assert to_blender(scene, [item]) == []
    assert_the_same(read(entry), before)


def test_what_the_springs_of_a_mesh_cannot_be_is_named(make_object, scene):
    item = make_object("Sheet", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)], "CLOTH")
    cloth = item.taffeta.cloth
    cloth.stretch_warp, cloth.stretch_weft, cloth.shear = 3000.0, 1000.0, 1.0
    cloth.strain_limit, cloth.softening, cloth.bend_friction = 0.0, 1.0, 0.0
    assert [line.split(": ")[1] for line in to_blender(scene, [item])] == ["Warp, Weft", "Shear"]


def test_pressure_of_a_scale_without_gas_is_the_same_pressure(sheet, scene):
    numbers = {"use_pressure": True, "uniform_pressure_force": 0.6, "pressure_factor": 2.5, "use_pressure_volume": True}
    with_cloth(sheet, **{f"settings.{name}": value for name, value in numbers.items()})
    assert converted(sheet) == []
    cloth = sheet.taffeta.cloth
    assert (cloth.pressure, cloth.ambient_pressure, cloth.target_volume) == pytest.approx((1500.0, 0.0, 0.0))
    sheet.modifiers["Cloth"].settings.use_pressure_volume = False
    converted(sheet)
    assert (cloth.pressure, cloth.ambient_pressure, cloth.target_volume) == pytest.approx((1500.0, 2500.0, 0.0))


def test_painted_pressure_leads_from_none_to_all(sheet):
    sheet.vertex_groups.new(name="Air")
    with_cloth(sheet, **{"settings.use_pressure": True, "settings.vertex_group_pressure": "Air"})
    converted(sheet)
    cloth = sheet.taffeta.cloth
    assert (cloth.pressure_factor, cloth.pressure_factor_max, cloth.pressure_factor_group) == (0.0, 1.0, "Air")


def test_no_limit_of_the_force_of_threads_is_ours(sheet):
    entry = with_cloth(sheet, **{"settings.use_sewing_springs": True})
    converted(sheet)
    assert sheet.taffeta.cloth.sewing_force == blender_cloth.OURS
    entry.settings.sewing_force_max = 0.02
    converted(sheet)
    assert sheet.taffeta.cloth.sewing_force == pytest.approx(20.0)


def test_a_collider_keeps_its_surface(make_collider, scene):
    floor = make_collider()
    floor.taffeta.role = "NONE"
    entry = floor.modifiers.new("Collision", "COLLISION")
    entry.settings.thickness_outer, entry.settings.cloth_friction, entry.settings.damping = 0.03, 40.0, 0.6
    (told,) = converted(floor)
    assert told == "Floor: Damping: cloth does not bounce"
    surface = floor.taffeta.collider
    assert (surface.thickness, surface.friction) == pytest.approx((0.03, 0.4))
    assert (floor.taffeta.role, entry.show_viewport, entry.show_render) == ("COLLIDER", False, False)
    entry.settings.thickness_outer = 0.1
    assert to_blender(scene, [floor]) == []
    assert (entry.settings.thickness_outer, entry.settings.cloth_friction) == pytest.approx((0.03, 40.0))
    assert (floor.taffeta.role, entry.show_viewport) == ("NONE", True)


def test_a_cloth_that_others_meet_in_blender_is_met_by_them_when_it_is_back(sheet, scene):
    with_cloth(sheet)
    entry = sheet.modifiers.new("Collision", "COLLISION")
    converted(sheet)
    assert (sheet.taffeta.role, entry.show_viewport) == ("CLOTH", False)
    to_blender(scene, [sheet])
    assert entry.show_viewport


def test_a_cloth_and_a_collider_of_ours_get_blenders_modifiers(sheet, make_collider, scene):
    floor = make_collider()
    sheet.modifiers.new("Smooth", "SUBSURF")
    sheet.taffeta.cloth.preset = "COTTON"
    told = to_blender(scene, [sheet, floor])
    assert [line.split(": ")[1] for line in told] == ["Hysteresis (N)", "Strain Limit (1)", "Softening", "Warp, Weft"]
    assert [entry.type for entry in sheet.modifiers] == ["CLOTH", "SUBSURF"]
    assert sheet.modifiers["Cloth"].point_cache.frame_end == scene.frame_end
    assert sheet.modifiers["Cloth"].settings.mass * VERTICES / AREA == pytest.approx(sheet.taffeta.cloth.density)
    assert [entry.type for entry in floor.modifiers] == ["COLLISION"]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"settings.quality": 12}, "Quality: a bake"),
        ({"settings.compression_stiffness": 40.0}, "Compression Stiffness: cloth that is pressed"),
        ({"settings.use_internal_springs": True}, "Create Internal Springs"),
        ({"settings.use_dynamic_mesh": True}, "Dynamic Base Mesh: the rest shape"),
        ({"settings.bending_model": "LINEAR"}, "Bending Model: cloth bends by angle"),
        ({"collision_settings.impulse_clamp": 1.0}, "Impulse Clamping"),
        ({"settings.shrink_min": 0.97}, "Shrink: 0.97 is beyond its limits, so it is 0.9"),
        ({"settings.effector_weights.wind": -1.0}, "Wind: -1 is beyond its limits, so it is 0"),
    ],
)
def test_what_is_not_carried_over_is_named(sheet, values, told):
    with_cloth(sheet, **values)
    (line,) = converted(sheet)
    assert line.startswith(f"Cloth: {told}")


def test_a_thickness_that_blender_cannot_have_is_held_to_its_limit_by_name(sheet, scene):
    sheet.taffeta.cloth.thickness = 0.5
    assert "Cloth: Self Minimum Distance: 0.5 is beyond its limits, so it is 0.1" in to_blender(scene, [sheet])
    assert sheet.modifiers["Cloth"].collision_settings.self_distance_min == pytest.approx(0.1)


def test_an_attribute_cannot_pin_blenders_cloth(sheet, scene):
    sheet.data.attributes.new("Held", "FLOAT", "POINT")
    sheet.taffeta.cloth.pin_group = "Held"
    assert "Cloth: Pin Vertex Group: “Held” is an attribute, and Blender's cloth takes vertex groups" in to_blender(
        scene, [sheet]
    )


def test_a_rest_shape_gives_the_springs_their_lengths(sheet, scene):
    sheet.shape_key_add(name="Basis")
    key = sheet.shape_key_add(name="Cut")
    for point in key.data:
        point.co *= 2.0
    with_cloth(sheet, **{"settings.rest_shape_key": key, "settings.mass": 0.02})
    converted(sheet)
    assert sheet.taffeta.cloth.density == pytest.approx(0.02 * VERTICES / 4.0)
    assert sheet.taffeta.cloth.rest_shape_key == "Cut"


def test_the_mesh_is_that_above_blenders_cloth_in_the_world(sheet):
    sheet.scale = (2.0, 2.0, 2.0)
    sheet.modifiers.new("Fine", "SUBSURF").subdivision_type = "SIMPLE"
    with_cloth(sheet, **{"settings.mass": 0.02})
    sheet.modifiers.new("Finer", "SUBSURF")
    bpy.context.view_layer.update()
    converted(sheet)
    assert sheet.taffeta.cloth.density == pytest.approx(0.02 * 81 / 4.0)
    assert sheet.modifiers["Finer"].show_viewport


def test_keys_are_carried_over_as_what_they_are_here_and_back(sheet, scene):
    entry = with_cloth(sheet)
    path = 'modifiers["Cloth"].settings.'
    for frame, bending, shrink in ((1, 0.5, 0.0), (4, 2.0, 0.3)):
        entry.settings.bending_stiffness, entry.settings.shrink_min = bending, shrink
        sheet.keyframe_insert(f"{path}bending_stiffness", frame=frame)
        sheet.keyframe_insert(f"{path}shrink_min", frame=frame)
    assert converted(sheet) == []
    curves = {curve.data_path: curve for curve in fcurves(sheet)}
    bend = [point.co.y for point in curves["taffeta.cloth.bend"].keyframe_points]
    assert bend == pytest.approx([50 * 0.5 * EDGE**2, 50 * 2.0 * EDGE**2])
    assert [point.co.x for point in curves["taffeta.cloth.shrink"].keyframe_points] == [1, 4]
    curves["taffeta.cloth.shrink"].keyframe_points[1].co.y = 0.2
    to_blender(scene, [sheet])
    curves = {curve.data_path: curve for curve in fcurves(sheet)}
    assert [p.co.y for p in curves[f"{path}shrink_min"].keyframe_points] == pytest.approx([0.0, 0.2])
    assert [p.co.y for p in curves[f"{path}bending_stiffness"].keyframe_points] == pytest.approx([0.5, 2.0])


def test_keys_of_a_collider_are_carried_over(make_collider, scene):
    floor = make_collider()
    entry = floor.modifiers.new("Collision", "COLLISION")
    for frame, friction in ((1, 5.0), (3, 50.0)):
        entry.settings.cloth_friction = friction
        floor.keyframe_insert("collision.cloth_friction", frame=frame)
    assert converted(floor) == []
    (curve,) = [curve for curve in fcurves(floor) if curve.data_path == "taffeta.collider.friction"]
    assert [point.co.y for point in curve.keyframe_points] == pytest.approx([0.05, 0.5])


def test_keys_of_a_number_as_the_panel_shows_it_are_carried_over(sheet, make_collider, scene):
    floor, micro = make_collider(), 50 * EDGE**2 * 1e6
    for frame, times in ((1, 1.0), (4, 3.0)):
        sheet.taffeta.cloth.bend_micro = micro * times
        sheet.keyframe_insert("taffeta.cloth.bend_micro", frame=frame)
        floor.taffeta.collider.thickness_shown = 0.01 * times
        floor.keyframe_insert("taffeta.collider.thickness_shown", frame=frame)
    to_blender(scene, [sheet, floor])
    found = {curve.data_path: [p.co.y for p in curve.keyframe_points] for curve in (*fcurves(sheet), *fcurves(floor))}
    assert found['modifiers["Cloth"].settings.bending_stiffness'] == pytest.approx([1.0, 3.0])
    assert found["collision.thickness_outer"] == pytest.approx([0.01, 0.03])


def test_numbers_that_follow_from_two_have_a_key_where_one_of_them_has(sheet):
    entry = with_cloth(sheet, **{"settings.compression_stiffness": 20.0})
    for name, keys in (("tension_stiffness", ((1, 10.0), (5, 20.0))), ("shear_stiffness", ((3, 4.0), (5, 8.0)))):
        for frame, value in keys:
            setattr(entry.settings, name, value)
            sheet.keyframe_insert(f'modifiers["Cloth"].settings.{name}', frame=frame)
    assert converted(sheet) == []
    warp = next(curve for curve in fcurves(sheet) if curve.data_path == "taffeta.cloth.stretch_warp")
    assert [point.co.x for point in warp.keyframe_points] == [1, 3, 5]
    assert warp.keyframe_points[2].co.y == pytest.approx(2 * warp.keyframe_points[0].co.y, rel=0.01)


def test_a_wind_pushes_as_hard_as_it_did_and_is_named(sheet, scene):
    with_cloth(sheet)
    bpy.ops.object.effector_add(type="WIND")
    bpy.context.object.field.strength = 100.0
    (told,) = converted(sheet)
    assert told.startswith("Cloth: Wind: with Air Drag 0.014 it pushes as before at 100")
    drag = sheet.taffeta.cloth.air_drag
    assert 0.5 * 1.2 * drag * 100.0 * 100.5 == pytest.approx(20.0 / 24.0 * 100.0)
    assert to_blender(scene, [sheet]) == []


def test_soft_pins_are_named(sheet):
    sheet.vertex_groups.new(name="Held").add([0, 1], 0.5, "REPLACE")
    with_cloth(sheet, **{"settings.vertex_group_mass": "Held"})
    assert converted(sheet) == ["Cloth: Pin Vertex Group: weights below 1 hold with another stiffness"]


def test_keys_and_drivers_without_a_counterpart_are_named(sheet):
    entry = with_cloth(sheet)
    sheet.keyframe_insert('modifiers["Cloth"].settings.time_scale', frame=1)
    sheet.driver_add('modifiers["Cloth"].settings.mass')
    assert [line.split(": ", 1)[1] for line in converted(sheet)] == [
        "Vertex Mass: its driver is not carried over, its value of now is",
        "Speed: its keys are not carried over",
    ]
    assert not entry.show_viewport


def test_the_scenes_time_scale_follows_if_all_agree(sheet, make_cloth, scene):
    other = make_cloth("Other")
    with_cloth(sheet, **{"settings.time_scale": 0.5})
    with_cloth(other)
    told = converted(sheet, other)
    assert [line.startswith("Scene: Speed Multiplier: it differs (Cloth 0.5, Other 1)") for line in told] == [True]
    assert scene.taffeta.time_scale == 1.0
    from_blender(scene, [other], keep_pace=False)
    (told,) = from_blender(scene, [sheet], keep_pace=False)
    assert told == "Scene: Speed Multiplier: other cloths have Time Scale 1; Blender's pace is 0.5"


def test_a_bake_of_blenders_is_kept_and_named(sheet, scene):
    entry = with_cloth(sheet)
    entry.point_cache.frame_end = 2
    with bpy.context.temp_override(scene=scene, active_object=sheet, point_cache=entry.point_cache):
        bpy.ops.ptcache.bake(bake=True)
    assert converted(sheet) == ["Cloth: Cloth: its bake is not played any more; it comes back with the modifier"]
    assert (entry.show_viewport, entry.point_cache.is_baked) == (False, True)
    assert "Cloth: Cloth: it plays its old bake until that is freed" in to_blender(scene, [sheet])


def test_an_object_that_cannot_be_converted_does_not_stop_the_others(sheet, make_object):
    with_cloth(sheet)
    thread = make_object("Thread", [(0, 0, 0), (1, 0, 0)], [])
    with_cloth(thread)
    (told,) = converted(thread, sheet)
    assert told.startswith("Thread: it has no face")
    assert (thread.taffeta.role, thread.modifiers["Cloth"].show_viewport) == ("NONE", True)
    assert sheet.taffeta.role == "CLOTH"


def test_a_linked_object_is_left_alone_and_named(sheet, tmp_path):
    with_cloth(sheet)
    file = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(file, link=True) as (_, wanted):
        wanted.objects = ["Cloth"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    assert from_blender(bpy.context.scene, wanted.objects) == ["Cloth: it is linked: Object > Library Override > Make"]
    assert wanted.objects[0].modifiers["Cloth"].show_viewport

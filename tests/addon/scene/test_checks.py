# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing that spoils a bake, or that it ignores, is dropped in silence; each has a button."""

from __future__ import annotations

import math

import bpy
import pytest

from taffeta.addon.bake import session
from taffeta.addon.scene import checks, evaluated, keyed, modifier, triangulation
from taffeta.addon.scene.gather import members
from taffeta.addon.scene.mends import MENDS
from taffeta.gpu_core.scene.scene import SceneError
from taffeta.tests.addon.conftest import fcurves


def found() -> list[checks.Trouble]:
    checks._others.clear()  # as a second later
    return list(checks.troubles(bpy.context.scene, members(bpy.context.scene)))


def add(kind: str):
    return lambda cloth: cloth.modifiers.new(kind.title(), kind)


def both(cloth):
    cloth.taffeta.cloth.density = 0.3
    cloth.modifiers.new("Cloth", "CLOTH")


def blenders(cloth):
    item = bpy.data.objects.new("Drape", cloth.data.copy())
    bpy.context.scene.collection.objects.link(item)
    item.modifiers.new("Cloth", "CLOTH")


def subdivision_before_the_cache(cloth):
    cloth.modifiers.new("Refine", "SUBSURF")
    from taffeta.addon.scene import modifier

    cloth.modifiers.new(modifier.NAME, "MESH_CACHE")


def loose_vertex(cloth):
    cloth.data.vertices.add(1)


def sewing(cloth):
    cloth.data.edges.add(1)
    cloth.data.edges[-1].vertices = (0, 6)


def texture_field(_cloth):
    bpy.ops.object.effector_add(type="TEXTURE")
    bpy.context.object.name = "Fan"


def collision(_cloth):
    mesh = bpy.data.meshes.new("Ground")
    mesh.from_pydata([(0, 0, -1), (1, 0, -1), (0, 1, -1)], [], [(0, 1, 2)])
    item = bpy.data.objects.new("Ground", mesh)
    bpy.context.scene.collection.objects.link(item)
    item.modifiers.new("Collision", "COLLISION")
    bpy.context.view_layer.update()


def no_body(_cloth):
    bpy.data.objects.remove(bpy.data.objects["Floor"])


def curve_of(owner, path, values=((1, 100.0), (10, 200.0))):
    """Keys as an older file may have them, where nothing takes keys now."""
    owner.keyframe_insert("gravity" if owner is bpy.context.scene else "location", frame=1)
    action = owner.animation_data.action
    holder = action if bpy.app.version < (4, 4, 0) else action.layers[0].strips[0].channelbags[0]
    holder.fcurves.clear()
    curve = holder.fcurves.new(path)
    for frame, value in values:
        curve.keyframe_points.insert(frame, value)
    return curve


def keyed_step_rate(_cloth):
    curve_of(bpy.context.scene, "taffeta.step_rate")


def no_group(cloth):
    cloth.taffeta.cloth.bend_group = "Nowhere"


def no_seam(cloth):
    cloth.taffeta.cloth.sew_object, cloth.taffeta.cloth.sew_group = bpy.data.objects["Floor"], "Seam"


def no_folds(cloth):
    cloth.taffeta.cloth.fold_attribute = "Nowhere"


def no_pattern(cloth):
    cloth.taffeta.cloth.pattern_map = "Nowhere"


def instances(_cloth):
    """On the floor, by nodes within a group."""
    inner, outer = (bpy.data.node_groups.new(name, "GeometryNodeTree") for name in ("Inner", "Outer"))
    inner.nodes.new("GeometryNodeInstanceOnPoints")
    outer.nodes.new("GeometryNodeGroup").node_tree = inner
    bpy.data.objects["Floor"].modifiers.new("Scatter", "NODES").node_group = outer


def fan(_cloth):
    """The floor turns three times a second."""
    floor = bpy.data.objects["Floor"]
    for frame, turns in ((1, 0.0), (25, 3.0)):
        floor.rotation_euler.z = 2.0 * math.pi * turns
        floor.keyframe_insert("rotation_euler", frame=frame)
    for curve in fcurves(floor):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def hidden_by_keys(_cloth):
    floor = bpy.data.objects["Floor"]
    for frame, hidden in ((1, False), (3, True)):
        floor.hide_viewport = hidden
        floor.keyframe_insert("hide_viewport", frame=frame)
    floor.hide_viewport = False


def hidden(_cloth):
    bpy.data.objects["Floor"].hide_set(True)


def centimetres(_cloth):
    bpy.context.scene.unit_settings.scale_length = 0.01


SEEN = {
    "default gravity in centimetres": (centimetres, "Scene: gravity is 0.0981 m/s²", "EARTH", False),
    "hidden by keys": (hidden_by_keys, "Floor: keys disable it in the viewport", "SHOW", False),
    "hidden body": (hidden, "Floor: it is hidden in the viewport, and stops the cloth all the same", "", False),
    "fan": (fan, "Floor: it turns by 45° in a frame", "SAMPLES", False),
    "instances": (instances, "Floor: cloth passes through what it instances", "", True),
    "loose vertex": (loose_vertex, "Cloth: 1 loose vertex stays where it is", "LOOSE", True),
    "sewing": (sewing, "Cloth: 1 edge without a face is a cord: Sewing is off", "SEW", False),
    "no seam": (no_seam, "Cloth: it is sewn to Floor, which is no cloth", "SEAM", False),
    "no folds": (no_folds, "Cloth: there is no attribute “Nowhere” for its folds", "FOLDS", False),
    "no pattern": (no_pattern, "Cloth: there is no UV map “Nowhere” for its pattern", "PATTERN", False),
    "Subdivision before the cache": (
        subdivision_before_the_cache,
        "Cloth: “Refine” comes before",
        "AFTER_CACHE",
        False,
    ),
    "Blender's cloth": (add("CLOTH"), "Cloth: Blender's own Cloth", "CONVERT", False),
    "Blender's cloth beside numbers of ours": (both, "Cloth: Blender's own Cloth", "BLENDER_CLOTH", False),
    "Blender's cloth alone": (blenders, "Drape: Blender's own Cloth moves it", "CONVERT", False),
    "texture field": (texture_field, "Fan: the force field Texture", "", True),
    "collision": (collision, "Ground: Blender's Collision", "COLLIDER", True),
    "no body": (no_body, "Scene: no object is a collider", "", False),
    "keyed step rate": (keyed_step_rate, "Scene: keys on step rate", "KEYS", True),
    "no group to paint with": (
        no_group,
        "Cloth: there is no vertex group or attribute “Nowhere” for its bend",
        "PAINT",
        False,
    ),
}


@pytest.mark.parametrize("name", SEEN)
def test_it_is_named_and_mended(make_cloth, make_collider, name):
    cloth, _ = make_cloth(), make_collider()
    assert found() == []
    harm, text, mend, ignored = SEEN[name]
    harm(cloth)
    (trouble,) = found()
    assert f"{trouble.name}: {trouble.text}".startswith(text)
    assert (trouble.mend, trouble.ignored) == (mend, ignored)
    if mend:
        assert bpy.ops.taffeta.mend(name=trouble.name, how=mend) == {"FINISHED"}
        assert [left for left in found() if not left.notice] == []


def test_a_plane_of_four_vertices_is_told_and_subdivided(make_cloth, make_collider):
    cloth, _ = make_cloth(divisions=1), make_collider()
    assert [trouble.mend for trouble in found()] == ["SUBDIVIDE"]
    triangulation.attach(cloth)  # as after a bake
    assert [trouble.mend for trouble in found()] == ["SUBDIVIDE"]
    bpy.ops.taffeta.mend(name="Cloth", how="SUBDIVIDE")
    assert len(cloth.data.vertices) > 400
    assert found() == []


def no_pins(cloth):
    cloth.taffeta.cloth.pin_group = "Nowhere"


@pytest.mark.parametrize("harm", [no_pins, no_group, no_folds, no_pattern])
def test_a_name_that_is_gone_is_told_and_cleared_after_a_bake_too(saved_scene, harm):
    """Our own geometry nodes give nothing that a cloth is painted with."""
    bpy.ops.taffeta.bake()
    cloth = bpy.data.objects["Cloth"]
    assert triangulation.find(cloth) is not None
    harm(cloth)
    trouble = next(each for each in found() if "“Nowhere”" in each.text)
    bpy.ops.taffeta.mend(name="Cloth", how=trouble.mend)
    assert found() == []


def excluded(part):
    part.exclude = True


def switched_off(part):
    part.collection.hide_viewport = True


def carried(item):
    """By an empty that instances its collection; the empty to look at."""
    inner, carrier = bpy.data.collections.new("Inner"), bpy.data.objects.new("Carrier", None)
    inner.objects.link(item)
    bpy.context.scene.collection.objects.unlink(item)
    carrier.instance_type, carrier.instance_collection = "COLLECTION", inner
    bpy.context.scene.collection.objects.link(carrier)
    return carrier


@pytest.mark.parametrize("hide", [excluded, switched_off])
@pytest.mark.parametrize("name", ["Cloth", "Floor", "Carrier"])
def test_what_lies_in_a_collection_that_is_off_is_told_in_the_words_of_the_bake_that_refuses_it(
    saved_scene, hide, name
):
    item = carried(bpy.data.objects["Floor"]) if name == "Carrier" else bpy.data.objects[name]
    part = bpy.data.collections.new("Part")
    saved_scene.collection.children.link(part)
    part.objects.link(item)
    for place in item.users_collection:
        if place != part:
            place.objects.unlink(item)
    assert found() == []
    hide(bpy.context.view_layer.layer_collection.children["Part"])
    (trouble,) = found()
    assert trouble.name == name
    mend = {excluded: "Tick the checkbox of that collection", switched_off: "Enable that collection"}[hide]
    with pytest.raises(RuntimeError, match=f"{name}.*: {trouble.text}. {mend}"):
        bpy.ops.taffeta.bake()


def test_of_what_is_off_the_object_is_named_or_the_collection_and_the_mend_is_enough(scene, make_cloth):
    """One after the other: the object's own icon, the checkbox of its collection, the icon of one above."""
    cloth, layer = make_cloth(), bpy.context.view_layer.layer_collection
    outer, inner = bpy.data.collections.new("Outer"), bpy.data.collections.new("Inner")
    scene.collection.children.link(outer)
    outer.children.link(inner)
    scene.collection.objects.unlink(cloth)
    inner.objects.link(cloth)
    cloth.hide_viewport = outer.hide_viewport = layer.children["Outer"].children["Inner"].exclude = True
    said = []
    for enable in (
        lambda: setattr(cloth, "hide_viewport", False),
        lambda: setattr(layer.children["Outer"].children["Inner"], "exclude", False),
        lambda: setattr(outer, "hide_viewport", False),
    ):
        with pytest.raises(SceneError) as caught:
            evaluated.require_enabled(cloth, layer)
        assert caught.value.code == "TAF-S004"
        said.append((caught.value.problem.partition(", so")[0], caught.value.remedy.partition(" (")[0]))
        enable()
    evaluated.require_enabled(cloth, layer)
    assert said == [
        ("it is disabled in the viewport", "Enable it"),
        (
            "its collection “Inner” is excluded from the view layer",
            "Tick the checkbox of that collection in the Outliner or set its role to None",
        ),
        ("its collection “Outer” is disabled in the viewport", "Enable that collection"),
    ]


@pytest.mark.parametrize("after_a_bake", [False, True])
@pytest.mark.parametrize("levels", [0, 1])
def test_multires_on_quads_is_refused_before_the_bake_in_words_and_without_a_button(saved_scene, after_a_bake, levels):
    """Blender lets it come after no geometry nodes, so not after our triangles."""
    cloth = bpy.data.objects["Cloth"]
    if after_a_bake:
        cloth.modifiers.new(modifier.NAME, "MESH_CACHE")
        triangulation.attach(cloth)
    cloth.modifiers.new("Sculpted", "MULTIRES")
    bpy.context.view_layer.objects.active = cloth
    for _ in range(levels):
        bpy.ops.object.multires_subdivide(modifier="Sculpted")
    stack = [entry.name for entry in cloth.modifiers]
    (trouble,) = found()
    assert (trouble.text.split(":")[0], trouble.mend) == (
        "“Sculpted” makes other vertices, and Multiresolution cannot come after the cache",
        "",
    )
    with pytest.raises(RuntimeError, match="“Sculpted” makes other vertices, and Multiresolution"):
        bpy.ops.taffeta.bake()
    for how in ("AFTER_CACHE", "BEFORE_CACHE"):  # a script may call what no button offers
        bpy.ops.taffeta.mend(name="Cloth", how=how)
    assert [entry.name for entry in cloth.modifiers] == stack


def test_multires_on_triangles_refines_what_is_simulated(saved_scene):
    cloth = bpy.data.objects["Cloth"]
    cloth.data.clear_geometry()
    cloth.data.from_pydata([(x, y, 0) for y in (0, 1, 2) for x in range(9)], [], [
        face for y in (0, 1) for x in range(8)
        for a in (9 * y + x,) for face in ((a, a + 1, a + 9), (a + 1, a + 10, a + 9))
    ])  # fmt: skip
    cloth.modifiers.new("Sculpted", "MULTIRES")
    bpy.context.view_layer.objects.active = cloth
    bpy.ops.object.multires_subdivide(modifier="Sculpted")
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert [entry.name for entry in cloth.modifiers] == [modifier.NAME, "Sculpted"]
    bpy.context.scene.frame_set(4)
    shown = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    assert len(shown.vertices) > 27
    assert max(vertex.co.z for vertex in shown.vertices) < -0.01


def test_what_fails_while_a_cloth_is_read_leaves_no_modifier_on_it(make_cloth, monkeypatch):
    item = make_cloth()
    monkeypatch.setattr(modifier, "place", lambda cloth: 1 // 0)
    with pytest.raises(ZeroDivisionError), triangulation.shown(item):
        pass
    assert list(item.modifiers) == []


def test_sewing_without_threads_is_told(make_cloth, make_collider):
    cloth, _ = make_cloth(), make_collider()
    cloth.taffeta.cloth.sewing = True
    (trouble,) = found()
    assert (trouble.text, trouble.notice) == ("Sewing is on, but no thread joins vertices of faces", True)
    sewing(cloth)
    assert found() == []


def test_every_mend_has_a_trouble_that_it_is_for():
    import inspect

    text = inspect.getsource(checks)
    assert all(f'"{name}"' in text for name in MENDS)


def test_what_a_bake_ignores_is_in_its_report(saved_scene):
    texture_field(None)
    bpy.ops.taffeta.bake()
    assert session.state().warnings == ("Fan: the force field Texture does not move the cloth",)


def groups():
    item, scene = bpy.types.Object.bl_rna.properties["taffeta"], bpy.types.Scene.bl_rna.properties["taffeta"]
    yield from (item.fixed_type, scene.fixed_type)
    parts = [item.fixed_type.properties[name].fixed_type for name in ("cloth", "collider")]
    yield from parts
    yield from (entry.fixed_type for part in parts for entry in part.properties if entry.type == "COLLECTION")


#: Numbers that take no keys, and why.
UNKEYED = {
    "stretch": "sets two others, which have keys of their own",
    "sewing_time": "the time that the threads take as a whole",
    "pattern_scale": "of the shape without stress, which is read once",
    "pattern_scale_shown": "the same",
    "preroll": "where the simulation begins, which is once",
    "samples_per_frame": "how finely the motion of bodies is read",
    "frame_budget": "how much is computed at most, not what moves",
    "step_rate": "how finely the motion is computed, not what moves",
    "tolerance": "how exactly the motion is computed, not what moves",
    "tolerance_shown": "the same",
    "rounding": "of a binding, which is made once",
    "layer": "of how the cloth begins, which is once",
    "encounter_index": "which one of a list is shown",
    "live_steps": "of Live, which a bake does not read",
    "live_coarseness": "of Live",
    "grab_radius": "of Live",
    "grab_radius_shown": "of Live",
    "grab_strength": "of Live",
}


def test_every_number_takes_keys_or_there_is_a_reason(scene, make_cloth):
    entries = [
        entry for group in groups() for entry in group.properties if entry.identifier not in ("rna_type", "name")
    ]
    still = {entry.identifier for entry in entries if entry.type in ("FLOAT", "INT") and not entry.is_animatable}
    assert still == set(UNKEYED)
    assert not [entry for entry in entries if entry.type not in ("FLOAT", "INT", "POINTER") and entry.is_animatable]
    with pytest.raises(TypeError, match="not animatable"):
        scene.taffeta.keyframe_insert("step_rate", frame=1)


def test_keys_of_an_older_file_are_found_and_removed_and_others_stay(scene):
    curve_of(scene, "taffeta.step_rate")
    scene.keyframe_insert("gravity", frame=3)
    scene.taffeta.keyframe_insert("time_scale", frame=3)
    assert keyed.ignored(scene) == ["taffeta.step_rate"]
    keyed.remove(scene)
    assert keyed.ignored(scene) == []
    assert {curve.data_path for curve in keyed.curves(scene.animation_data)} == {"gravity", "taffeta.time_scale"}

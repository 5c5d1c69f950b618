# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing that spoils a bake, or that it ignores, is dropped in silence; each has a button."""

from __future__ import annotations

import bpy
import pytest

from taffeta.addon.bake import session
from taffeta.addon.scene import checks, keyed
from taffeta.addon.scene.gather import members
from taffeta.addon.scene.mends import MENDS


def found() -> list[checks.Trouble]:
    checks._others.clear()  # as a second later
    return list(checks.troubles(bpy.context.scene, members(bpy.context.scene)))


def add(kind: str):
    return lambda cloth: cloth.modifiers.new(kind.title(), kind)


def subdivision_before_the_cache(cloth):
    cloth.modifiers.new("Refine", "SUBSURF")
    from taffeta.addon.scene import modifier

    cloth.modifiers.new(modifier.NAME, "MESH_CACHE")


def loose_vertex(cloth):
    cloth.data.vertices.add(1)


def sewing(cloth):
    cloth.data.edges.add(1)
    cloth.data.edges[-1].vertices = (0, 6)


def wind(_cloth):
    bpy.ops.object.effector_add(type="WIND")
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


def keyed_gravity(_cloth):
    bpy.context.scene.keyframe_insert("gravity", frame=1)


def instances(_cloth):
    """On the floor, by nodes within a group."""
    inner, outer = (bpy.data.node_groups.new(name, "GeometryNodeTree") for name in ("Inner", "Outer"))
    inner.nodes.new("GeometryNodeInstanceOnPoints")
    outer.nodes.new("GeometryNodeGroup").node_tree = inner
    bpy.data.objects["Floor"].modifiers.new("Scatter", "NODES").node_group = outer


SEEN = {
    "instances": (instances, "Floor: cloth passes through what it instances", "", True),
    "loose vertex": (loose_vertex, "Cloth: 1 loose vertex", "LOOSE", True),
    "sewing": (sewing, "Cloth: 1 edge has no face", "LOOSE", True),
    "Subdivision before the cache": (
        subdivision_before_the_cache,
        "Cloth: “Refine” comes before",
        "AFTER_CACHE",
        False,
    ),
    "Blender's cloth": (add("CLOTH"), "Cloth: Blender's own Cloth", "BLENDER_CLOTH", False),
    "wind": (wind, "Fan: the force field Wind", "", True),
    "collision": (collision, "Ground: Blender's Collision", "COLLIDER", True),
    "no body": (no_body, "Scene: no object is a collider", "", False),
    "keyed gravity": (keyed_gravity, "Scene: keys on gravity", "KEYS", True),
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
    bpy.ops.taffeta.mend(name="Cloth", how="SUBDIVIDE")
    assert len(cloth.data.vertices) > 400
    assert found() == []


def test_every_mend_has_a_trouble_that_it_is_for():
    import inspect

    text = inspect.getsource(checks)
    assert all(f'"{name}"' in text for name in MENDS)


def test_what_a_bake_ignores_is_in_its_report(saved_scene):
    wind(None)
    bpy.ops.taffeta.bake()
    assert session.state().warnings == ("Fan: the force field Wind does not move the cloth",)


def groups():
    item, scene = bpy.types.Object.bl_rna.properties["taffeta"], bpy.types.Scene.bl_rna.properties["taffeta"]
    yield from (item.fixed_type, scene.fixed_type)
    yield from (item.fixed_type.properties[name].fixed_type for name in ("cloth", "collider"))


def test_no_number_of_ours_takes_keys(scene, make_cloth):
    cloth = make_cloth()
    for group in groups():
        for entry in group.properties:
            assert entry.type == "POINTER" or entry.identifier in ("rna_type", "name") or not entry.is_animatable, entry
    with pytest.raises(TypeError, match="not animatable"):
        cloth.taffeta.cloth.keyframe_insert("density", frame=1)


def test_keys_of_an_older_file_are_found_and_removed(scene):
    curve = scene.driver_add("gravity", 2)
    assert curve is not None
    assert keyed.keyed(scene) == ["gravity"]
    scene.keyframe_insert("gravity", frame=3)
    keyed.remove(scene)
    assert keyed.keyed(scene) == []

# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles for whole selections, from Blender's own menus, and back with undo."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from taffeta.addon.interface import object_menu
from taffeta.addon.scene import checks
from taffeta.addon.scene.gather import members
from taffeta.tests.addon.recording_layout import RecordingLayout


def select(*names: str) -> None:
    for item in bpy.data.objects:
        item.select_set(item.name in names)
    bpy.context.view_layer.objects.active = bpy.data.objects[names[0]] if names else None


def roles() -> dict[str, str]:
    return {item.name: item.taffeta.role for item in bpy.data.objects}


@pytest.fixture
def meshes(make_cloth):
    for name in ("Sheet", "Body", "Far"):
        make_cloth(name).taffeta.role = "NONE"


def test_quick_cloth_makes_the_selection_cloth_of_the_fabric(meshes):
    select("Sheet", "Far")
    assert bpy.ops.taffeta.quick_cloth(fabric="DENIM") == {"FINISHED"}
    assert roles() == {"Sheet": "CLOTH", "Body": "COLLIDER", "Far": "CLOTH"}
    assert bpy.data.objects["Sheet"].taffeta.cloth.preset == "DENIM"


def test_quick_cloth_makes_the_visible_rest_colliders_unless_told_not_to(meshes):
    bpy.data.objects["Far"].hide_set(True)
    select("Sheet")
    bpy.ops.taffeta.quick_cloth(colliders=False)
    assert roles() == {"Sheet": "CLOTH", "Body": "NONE", "Far": "NONE"}
    bpy.ops.taffeta.quick_cloth()
    assert roles() == {"Sheet": "CLOTH", "Body": "COLLIDER", "Far": "NONE"}


def test_quick_cloth_makes_a_plane_over_a_monkey_ready_to_bake(scene):
    bpy.ops.mesh.primitive_monkey_add()
    bpy.ops.mesh.primitive_plane_add(size=4, location=(0, 0, 1.5))
    plane = bpy.context.object
    assert bpy.ops.taffeta.quick_cloth() == {"FINISHED"}
    assert len(plane.data.vertices) == 41 * 41
    assert all(face.use_smooth for face in plane.data.polygons)
    assert plane.data.uv_layers.active is not None
    assert list(checks.troubles(scene, members(scene))) == []
    bpy.ops.taffeta.quick_cloth()
    assert len(plane.data.vertices) == 41 * 41  # fine enough


def test_quick_cloth_cuts_long_faces_across_first(scene):
    """A skirt of 64 long faces had become 640 × 11 slivers."""
    bpy.ops.mesh.primitive_cone_add(vertices=64, radius1=1.1, radius2=0.07, depth=2.2, end_fill_type="NOTHING")
    cone = bpy.context.object
    assert bpy.ops.taffeta.quick_cloth() == {"FINISHED"}
    assert 1000 < len(cone.data.vertices) < 2500
    ends = np.array([[cone.data.vertices[index].co for index in edge.vertices] for edge in cone.data.edges])
    assert np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).max() < 0.2
    assert {len(face.vertices) for face in cone.data.polygons} == {4}


def test_quick_cloth_says_how_fine_the_sheet_is(scene):
    bpy.ops.mesh.primitive_plane_add(size=1)
    told = object_menu._fineness(scene, bpy.context.object)
    assert told == "Plane: 4 vertices, edges of 1 m"


def test_quick_cloth_says_what_became_a_collider(meshes):
    bodies = [bpy.data.objects["Body"], bpy.data.objects["Far"]]
    assert object_menu._colliders(bodies[:1]) == "Body is a collider now"
    assert object_menu._colliders(bodies) == "Body and Far are colliders now"


def test_quick_cloth_leaves_a_shared_mesh_alone_and_says_so(scene):
    bpy.ops.mesh.primitive_plane_add(size=1)
    twin = bpy.data.objects.new("Twin", bpy.context.object.data)
    scene.collection.objects.link(twin)
    assert bpy.ops.taffeta.quick_cloth() == {"FINISHED"}
    assert len(twin.data.vertices) == 4


@pytest.mark.parametrize("call", ["quick_cloth", "set_role"])
def test_a_role_can_be_undone_and_redone(meshes, call):
    select("Sheet")
    bpy.ops.ed.undo_push(message="before")
    getattr(bpy.ops.taffeta, call)("EXEC_DEFAULT", True, **({"role": "CLOTH"} if call == "set_role" else {}))
    assert roles()["Sheet"] == "CLOTH"
    bpy.ops.ed.undo()
    assert roles()["Sheet"] == "NONE"
    bpy.ops.ed.redo()
    assert roles()["Sheet"] == "CLOTH"


def test_a_role_leaves_what_is_no_mesh_alone(meshes, scene):
    empty = bpy.data.objects.new("Marker", None)
    scene.collection.objects.link(empty)
    select("Sheet", "Marker")
    bpy.ops.taffeta.set_role(role="COLLIDER")
    assert roles() == {"Sheet": "COLLIDER", "Marker": "NONE", "Body": "NONE", "Far": "NONE"}


def test_a_selection_without_meshes_is_refused_with_the_reason(scene):
    said: list[str] = []
    for operator in (object_menu.TAFFETA_OT_quick_cloth, object_menu.TAFFETA_OT_set_role):
        stand_in = type("StandIn", (operator,), {"poll_message_set": said.append})
        assert not operator.poll.__func__(stand_in, bpy.context)
    assert said == ["No mesh is selected"] * 2


def test_blenders_own_menus_lead_here_and_forget_it_with_the_addon(addon):
    import taffeta

    def drawn(name: str) -> list[tuple[str, str]]:
        layout = RecordingLayout()
        for function in getattr(bpy.types, name)._dyn_ui_initialize():
            if function.__module__ == object_menu.__name__:
                function(SimpleNamespace(layout=layout), bpy.context)
        return layout.shown

    assert ("operator", "taffeta.quick_cloth") in drawn("VIEW3D_MT_object_quick_effects")
    assert drawn("VIEW3D_MT_object") == drawn("VIEW3D_MT_object_context_menu") == [("menu", "TAFFETA_MT_object")]
    taffeta.unregister()
    try:
        assert not [shown for name, _ in object_menu.MENUS for shown in drawn(name)]
    finally:
        taffeta.register()


def test_the_menu_gives_roles_and_bakes(addon):
    layout = RecordingLayout()
    object_menu.TAFFETA_MT_object.draw(SimpleNamespace(layout=layout), bpy.context)
    assert layout.buttons() == [
        "No Cloth Role",
        "Make Cloth",
        "Make Collider",
        "Convert Blender's Cloth",
        "To Blender's Cloth",
        "Bind Dense Mesh",
        "Make Light Mesh",
        "Live Cloth",
        "Bake Selected Cloth",
        "Bake Stale Cloth",
        "Free Cloth Caches",
    ]

# SPDX-License-Identifier: GPL-3.0-or-later
"""What is set on a linked object is kept where Blender keeps it, and refused where it would be lost with the file."""

from __future__ import annotations

import bpy
import pytest

from taffeta.addon.scene import properties
from taffeta.addon.scene.gather import members
from taffeta.addon.scene.shown import SHOWN


@pytest.fixture
def body(scene, tmp_path):
    """A mesh linked into a shot from a library that knows nothing of Taffeta; not in the scene yet."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.3)
    item = bpy.context.object
    item.name = "Body"
    scene.collection.objects.unlink(item)
    held = bpy.data.collections.new("Character")
    scene.collection.children.link(held)
    held.objects.link(item)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Body"]
    return wanted.objects[0]


def linked() -> bpy.types.Object:
    return next(item for item in bpy.data.objects if item.library is not None)


def reopened() -> bpy.types.Object:
    """The override, after the file was closed."""
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    return next(item for item in bpy.data.objects if item.override_library is not None)


def sheet() -> bpy.types.Object:
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=8, y_subdivisions=8, size=0.5, location=(0, 0, 1))
    return bpy.context.object


def test_an_override_keeps_its_role_and_settings(body):
    own = body.override_create()
    bpy.context.scene.collection.objects.link(own)
    own.taffeta.role, own.taffeta.collider.thickness, own.taffeta.cloth.preset = "CLOTH", 0.007, "DENIM"
    pins = own.taffeta.cloth.pins.add()
    pins.group, pins.strength, pins.target = "Waist", 0.5, sheet()
    stiffness = own.taffeta.cloth.stretch_warp
    own = reopened()
    assert (own.taffeta.role, own.taffeta.cloth.preset) == ("CLOTH", "DENIM")
    assert (own.taffeta.collider.thickness, own.taffeta.cloth.stretch_warp) == pytest.approx((0.007, stiffness))
    assert [(pins.group, pins.strength, pins.target.name) for pins in own.taffeta.cloth.pins] == [
        ("Waist", 0.5, "Grid")
    ]
    own.taffeta.role = "COLLIDER"
    assert reopened().taffeta.role == "COLLIDER"
    assert linked().taffeta.role == "NONE"


@pytest.mark.parametrize("group", properties.OF_OBJECTS)
def test_all_that_is_stored_of_an_object_can_be_overridden(group):
    stored = [entry for entry in group.bl_rna.properties if entry.identifier not in ("rna_type", "name")]
    shown = {entry.identifier for entry in stored if not entry.is_overridable}
    assert len(stored) > len(shown)
    assert shown <= {"preset", "stretch", *SHOWN}  # these are computed of others


def test_an_overridden_character_gets_cages_and_keeps_them(body):
    with bpy.data.libraries.load(body.library.filepath, link=True) as (_, wanted):
        wanted.collections = ["Character"]
    bpy.context.scene.collection.children.link(wanted.collections[0])
    wanted.collections[0].override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    own = next(item for item in bpy.context.scene.objects if item.override_library is not None)
    own.taffeta.role = "COLLIDER"
    body.vertex_groups.new(name="Half").add(range(200), 1.0, "REPLACE")
    bpy.context.view_layer.objects.active = own
    assert bpy.ops.taffeta.make_cage(region="Half") == {"FINISHED"}
    assert own.taffeta.collider.lets_through_group == "Half"
    bpy.context.view_layer.objects.active = own
    assert bpy.ops.taffeta.make_cage() == {"FINISHED"}
    own = reopened()
    assert (own.taffeta.role, own.taffeta.collider.lets_through_group) == ("NONE", "Half")
    roles = {item.name: item.taffeta.role for item in own.children}
    assert roles == {"Body Cage": "COLLIDER", "Body Cage.001": "COLLIDER"}


def test_quick_cloth_leaves_a_linked_body_alone_and_says_so(body, capfd):
    bpy.context.scene.collection.objects.link(body)
    sheet()
    assert bpy.ops.taffeta.quick_cloth() == {"FINISHED"}
    assert (bpy.context.object.taffeta.role, body.taffeta.role) == ("CLOTH", "NONE")
    assert "Body: linked from another file, which keeps the role" in capfd.readouterr().out
    body.select_set(True)
    bpy.ops.taffeta.set_role(role="COLLIDER")
    assert body.taffeta.role == "NONE"


def test_quick_cloth_makes_an_instanced_character_a_collider(body):
    with bpy.data.libraries.load(body.library.filepath, link=True) as (_, wanted):
        wanted.collections = ["Character"]
    instance = bpy.data.objects.new("Instance", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", wanted.collections[0]
    bpy.context.scene.collection.objects.link(instance)
    bare = bpy.data.objects.new("Bare", None)
    bpy.context.scene.collection.objects.link(bare)
    sheet()
    bpy.ops.taffeta.quick_cloth()
    assert (instance.taffeta.role, bare.taffeta.role) == ("COLLIDER", "NONE")
    assert [found.name for found in members(bpy.context.scene).bodies] == ["Instance/Body"]
    bpy.ops.object.select_all(action="DESELECT")
    instance.select_set(True)
    bpy.ops.taffeta.set_role(role="CLOTH")
    assert instance.taffeta.role == "COLLIDER"
    bpy.ops.taffeta.set_role(role="NONE")
    assert instance.taffeta.role == "NONE"
    body.taffeta.role = "COLLIDER"  # as its library may say, which knows better what of it collides
    bpy.context.view_layer.objects.active = bpy.data.objects["Grid"]
    bpy.data.objects["Grid"].select_set(True)
    bpy.ops.taffeta.quick_cloth()
    assert instance.taffeta.role == "NONE"

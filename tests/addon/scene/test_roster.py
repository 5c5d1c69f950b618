# SPDX-License-Identifier: GPL-3.0-or-later
"""Who takes part is looked for once while nothing changes, and is never out of date when Blender draws or asks."""

from __future__ import annotations

import bpy
import pytest

from taffeta.addon.scene import roster


@pytest.fixture
def names(scene):
    """Draws, as it were: after Blender's update, what the roster has."""

    def ask() -> tuple[list[str], list[str]]:
        bpy.context.view_layer.update()
        cloths, colliders, *_ = roster.members(bpy.context.scene)
        return [item.name for item in cloths], [item.name for item in colliders]

    return ask


@pytest.fixture
def looked(monkeypatch):
    """How often the objects of a scene were looked at."""
    looks: list[bpy.types.Scene] = []
    look = roster.look
    monkeypatch.setattr(roster, "look", lambda scene: looks.append(scene) or look(scene))
    return looks


def test_objects_are_looked_at_once_while_they_only_move(names, looked, make_cloth, make_collider):
    cloth = make_cloth()
    make_collider()
    for step in range(4):
        cloth.location.x = step
        bpy.context.scene.frame_set(step)
        assert names() == (["Cloth"], ["Floor"])
    assert len(looked) == 1


def test_a_role_that_changes_is_known_at_once(scene, make_cloth):
    cloth = make_cloth()
    bpy.context.view_layer.update()
    for role, count in (("NONE", 0), ("CLOTH", 1), ("COLLIDER", 0)):
        cloth.taffeta.role = role
        assert len(roster.members(scene).cloths) == count


def test_objects_that_come_and_go_are_known_when_blender_has_updated(names, make_cloth):
    first, second = make_cloth("First"), make_cloth("Second")
    assert names() == (["First", "Second"], [])
    bpy.data.objects.remove(second)
    assert names() == (["First"], [])
    bpy.context.scene.collection.objects.unlink(first)
    assert names() == ([], [])
    collection = bpy.data.collections.new("Wardrobe")
    collection.objects.link(first)
    bpy.context.scene.collection.children.link(collection)
    assert names() == (["First"], [])
    first.name = "Renamed"
    assert names() == (["Renamed"], [])
    bpy.context.scene.collection.children.unlink(collection)
    assert names() == ([], [])


def test_another_scene_has_its_own(names, make_cloth):
    make_cloth()
    assert names() == (["Cloth"], [])
    bpy.context.window.scene = bpy.data.scenes.new("Another")
    assert names() == ([], [])


def test_another_file_has_its_own(names, make_cloth, tmp_path):
    make_cloth()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "one.blend"))
    assert names() == (["Cloth"], [])
    bpy.ops.wm.read_homefile(use_empty=True)
    assert names() == ([], [])
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "one.blend"))
    assert names() == (["Cloth"], [])


def test_undo_and_redo_are_followed(names, make_cloth):
    bpy.ops.ed.undo_push(message="empty")
    make_cloth()
    bpy.ops.ed.undo_push(message="cloth")
    assert names() == (["Cloth"], [])
    bpy.ops.ed.undo()
    assert names() == ([], [])
    bpy.ops.ed.redo()
    assert names() == (["Cloth"], [])


def test_a_button_knows_what_a_script_has_just_linked(scene, make_cloth):
    """bpy.ops lets Blender update before it asks."""
    cloth = make_cloth()
    scene.collection.objects.unlink(cloth)
    bpy.context.view_layer.update()
    assert not roster.members(scene).cloths
    scene.collection.objects.link(cloth)
    with pytest.raises(RuntimeError, match="never been saved"):  # it gets further than “no cloth”
        bpy.ops.taffeta.bake()


def test_a_button_knows_what_a_script_has_just_deleted(scene, make_cloth, make_collider):
    first, second, body = make_cloth("First"), make_cloth("Second"), make_collider()
    assert roster.members(scene).cloths == [first, second]
    for item, left in ((first, [second]), (body, [second]), (second, [])):
        bpy.data.objects.remove(item)
        assert roster.members(scene).cloths == left
        assert bpy.ops.taffeta.bake.poll() == bool(left)


def test_objects_of_a_library_that_was_loaded_anew_are_known(scene, make_cloth, tmp_path):
    bpy.data.libraries.write(str(tmp_path / "wardrobe.blend"), {make_cloth()})
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "wardrobe.blend"), link=True) as (_, linked):
        linked.objects = ["Cloth"]
    bpy.context.scene.collection.objects.link(linked.objects[0])
    assert [item.name for item in roster.members(bpy.context.scene).cloths] == ["Cloth"]
    bpy.data.libraries[0].reload()
    assert [item.name for item in roster.members(bpy.context.scene).cloths] == ["Cloth"]

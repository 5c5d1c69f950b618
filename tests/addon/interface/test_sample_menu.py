# SPDX-License-Identifier: GPL-3.0-or-later
"""Add › Taffeta Sample builds each sample beside what is in the file, which stays as it is."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from taffeta.addon.interface import sample_menu
from taffeta.addon.scene import checks
from taffeta.addon.scene.gather import gather, members
from taffeta.sample_blends import FETCHED, NAMES, label, summary
from taffeta.tests.addon.recording_layout import RecordingLayout

VERTICES = 900


@pytest.fixture
def shot(addon):
    """A file that somebody works in, with names that samples have too: the scene, and what it looks like."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    for name in ("Floor", "Body", "Cloth", "Shirt", "Tunic", "Sphere"):
        item = bpy.data.objects.new(name, bpy.data.meshes.new(name))
        scene.collection.objects.link(item)
    for kind, name in (("worlds", "Sky"), ("materials", "Cotton"), ("scenes", "Cape")):
        getattr(bpy.data, kind).new(name)
    return scene, seen(scene)


def seen(scene: bpy.types.Scene) -> list:
    """What of a scene a sample could spoil."""
    objects = [(item.name, item.taffeta.role, len(item.modifiers), tuple(item.location)) for item in scene.objects]
    settings = (scene.frame_start, scene.frame_end, tuple(scene.gravity), scene.render.engine, scene.world)
    return [scene.name, objects, settings, scene.animation_data, scene.camera]


@pytest.mark.parametrize("name", NAMES)
def test_every_sample_is_a_new_scene_that_can_be_baked_and_the_old_one_stays(shot, name):
    before, looks = shot
    assert bpy.ops.taffeta.add_sample(name=name, vertices=VERTICES) == {"FINISHED"}
    scene = bpy.context.scene
    assert scene is not before
    assert scene.name.startswith(label(name))
    assert seen(before) == looks
    assert not set(scene.objects) & set(before.objects)
    assert [found.text for found in checks.troubles(scene, members(scene)) if found.icon == "ERROR"] == []
    assert len(gather(bpy.context, (1, 1)).cloths) == len(members(scene).cloths) > 0
    assert bpy.context.view_layer.objects.active in members(scene).cloths


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_beside_another_is_what_it_is_alone(addon, name):
    """Or a script took the object of somebody else that has the name."""

    def built() -> list:
        assert bpy.ops.taffeta.add_sample(name=name, vertices=VERTICES) == {"FINISHED"}
        scene = bpy.context.scene
        things = [
            (item.name.partition(".")[0], item.type, item.taffeta.role, item.taffeta.cloth.pin_group,
             len(item.taffeta.cloth.pins), item.animation_data is not None)
            for item in scene.objects
        ]  # fmt: skip
        strangers = [item.name for item in scene.objects if item.parent and item.parent.name not in scene.objects]
        return [sorted(things), strangers, scene.frame_end, scene.animation_data is not None]

    bpy.ops.wm.read_homefile(use_empty=True)
    alone = built()
    assert alone == built()
    assert alone[1] == []


def test_it_is_undone_and_the_redo_panel_makes_it_finer(shot):
    before, looks = shot
    name, scenes = before.name, len(bpy.data.scenes)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.taffeta.add_sample("EXEC_DEFAULT", True, name="drape_on_sphere", vertices=400)
    assert len(bpy.data.scenes) == scenes + 1
    assert len(bpy.context.scene.objects["Cloth.001"].data.vertices) == 400
    bpy.ops.ed.undo()
    assert len(bpy.data.scenes) == scenes
    assert bpy.context.scene.name == name
    assert seen(bpy.context.scene)[:2] == looks[:2]
    bpy.ops.taffeta.add_sample("EXEC_DEFAULT", True, name="drape_on_sphere", vertices=900)
    assert len(bpy.context.scene.objects["Cloth.001"].data.vertices) == 900
    assert sample_menu.TAFFETA_OT_add_sample.bl_options == {"REGISTER", "UNDO"}


def test_the_menu_lists_every_sample_by_a_name_for_people(addon):
    layout = RecordingLayout()
    sample_menu.TAFFETA_MT_samples.draw(SimpleNamespace(layout=layout), bpy.context)
    assert layout.buttons() == [label(name) for name in NAMES]
    assert label("flag_in_a_gust") == "Flag in a Gust"
    assert not set(FETCHED) & set(NAMES)
    for name in NAMES:
        told = sample_menu.TAFFETA_OT_add_sample.description(bpy.context, SimpleNamespace(name=name))
        assert told.startswith(summary(name))
        assert len(summary(name)) > 20


def test_blender_s_add_menu_leads_here_and_forgets_it_with_the_addon(addon):
    import taffeta

    def drawn() -> list[tuple[str, str]]:
        layout = RecordingLayout()
        for function in bpy.types.VIEW3D_MT_add._dyn_ui_initialize():
            if function.__module__ == sample_menu.__name__:
                function(SimpleNamespace(layout=layout), bpy.context)
        return layout.shown

    assert drawn() == [("menu", "TAFFETA_MT_samples")]
    taffeta.unregister()
    try:
        assert drawn() == []
    finally:
        taffeta.register()


def test_it_waits_for_object_mode_and_for_a_bake(shot, monkeypatch):
    said: list[str] = []
    stand_in = type("StandIn", (sample_menu.TAFFETA_OT_add_sample,), {"poll_message_set": said.append})
    assert stand_in.poll.__func__(stand_in, bpy.context)
    monkeypatch.setattr(sample_menu, "busy", lambda context: "A bake is running")
    assert not stand_in.poll.__func__(stand_in, bpy.context)
    assert said == ["A bake is running"]

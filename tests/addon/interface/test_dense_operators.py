# SPDX-License-Identifier: GPL-3.0-or-later
"""Bind Dense Mesh, Unbind and Make Light Mesh as buttons: on whom they act, undo and redo, and the panel."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from taffeta.addon.interface import dense_operators, dense_panel
from taffeta.addon.scene import dense
from taffeta.tests.addon.finalising import choose
from taffeta.tests.addon.following import motion, play, sheet, world
from taffeta.tests.addon.recording_layout import RecordingLayout


@pytest.fixture
def pair(make_object, tmp_path):
    light, item = sheet(make_object, "Light", 8, "CLOTH"), sheet(make_object, "Dense", 24)
    play(light, motion(light, 4), tmp_path / "light.pc2")
    return light, item


def item(name: str) -> bpy.types.Object:
    return bpy.data.objects[name]


def drawn(name: str) -> RecordingLayout:
    layout, bpy.context.view_layer.objects.active = RecordingLayout(), item(name)
    panel = SimpleNamespace(layout=layout)
    for draw in ("_draw_followers", "_draw_follows"):
        setattr(panel, draw, lambda context, draw=draw: getattr(dense_panel.TAFFETA_PT_dense, draw)(panel, context))
    dense_panel.TAFFETA_PT_dense.draw(panel, bpy.context)
    return layout


def test_selected_meshes_follow_the_active_cloth_which_is_hidden(pair):
    light, dense_mesh = pair
    choose(light, dense_mesh)
    assert bpy.ops.taffeta.bind_dense() == {"FINISHED"}
    assert (dense.light_of(dense_mesh), dense_mesh.taffeta.follows) == (light, light)
    assert (light.hide_render, light.display_type) == (True, "WIRE")
    choose(dense_mesh)
    assert bpy.ops.taffeta.bind_dense() == {"FINISHED"}  # anew, to what it follows
    assert bpy.ops.taffeta.unbind_dense() == {"FINISHED"}
    assert (dense.find(dense_mesh), light.hide_render, light.display_type) == (None, False, "TEXTURED")


def test_the_active_mesh_follows_what_its_field_names(pair):
    light, dense_mesh = pair
    dense_mesh.taffeta.follows = light
    choose(dense_mesh)
    bpy.ops.taffeta.bind_dense(hide_light=False)
    assert (dense.light_of(dense_mesh), light.hide_render) == (light, False)


def test_a_light_mesh_that_crosses_itself_is_told(scene, capfd):
    bpy.ops.mesh.primitive_monkey_add()
    bpy.ops.taffeta.make_light()
    assert "Suzanne Light: it crosses itself in" in capfd.readouterr().out
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=20, y_subdivisions=20)
    bpy.ops.taffeta.make_light()
    assert "crosses itself" not in capfd.readouterr().out


def test_binding_is_undone_and_redone(pair):
    choose(*pair)
    before = world(item("Dense"), 4)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.taffeta.bind_dense("EXEC_DEFAULT", True)
    bound = world(item("Dense"), 4)
    assert np.abs(bound - before).max() > 0.1
    bpy.ops.ed.undo()
    assert (dense.find(item("Dense")), item("Light").hide_render) == (None, False)
    np.testing.assert_array_equal(world(item("Dense"), 4), before)
    bpy.ops.ed.redo()
    assert item("Light").hide_render
    np.testing.assert_array_equal(world(item("Dense"), 4), bound)


def test_what_is_in_the_way_is_said(pair):
    light, dense_mesh = pair
    choose(light)
    said: list[str] = []
    operator = dense_operators.TAFFETA_OT_bind_dense
    assert not operator.poll.__func__(type("StandIn", (operator,), {"poll_message_set": said.append}), bpy.context)
    assert "Select a mesh without a role, then the cloth" in said[0]
    light.modifiers.new("Refine", "SUBSURF")
    choose(light, dense_mesh)
    with pytest.raises(RuntimeError, match="“Refine” after its cache makes other vertices"):
        bpy.ops.taffeta.bind_dense()


def test_a_light_mesh_is_made_bound_and_active(make_object):
    dense_mesh = sheet(make_object, "Dress", 40)
    choose(dense_mesh)
    before = world(dense_mesh)
    assert bpy.ops.taffeta.make_light(vertices=200) == {"FINISHED"}
    light = item("Dress Light")
    assert bpy.context.object == light
    assert (light.hide_render, dense_mesh.hide_render) == (True, False)
    np.testing.assert_allclose(world(dense_mesh), before, rtol=0, atol=2e-6)
    light.location.z = 1.0
    np.testing.assert_allclose(world(dense_mesh), before + [0, 0, 1], rtol=0, atol=2e-6)
    bpy.ops.taffeta.make_light.poll()
    choose(dense_mesh)
    with pytest.raises(RuntimeError, match="it follows a light mesh already"):
        bpy.ops.taffeta.make_light()


def test_the_panel_shows_who_follows_whom(pair):
    light, dense_mesh = pair
    assert "Nothing follows this cloth" in drawn("Light").texts()
    dense_mesh.taffeta.follows = light
    assert "It is not bound to Light yet" in drawn("Dense").texts()
    assert "Bind Dense Mesh" in drawn("Dense").buttons()
    choose(dense_mesh)
    bpy.ops.taffeta.bind_dense()
    assert "Bind Again" in drawn("Dense").buttons()
    assert "Dense" in drawn("Light").buttons()

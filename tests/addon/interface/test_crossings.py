# SPDX-License-Identifier: GPL-3.0-or-later
"""What crosses is shown, listed, gone to and selected, at the start and in a frame; older files keep their policy."""

from __future__ import annotations

from types import SimpleNamespace

import bmesh
import bpy
import numpy as np
import pytest

from taffeta.addon.cache import crossings
from taffeta.addon.interface import sidebar
from taffeta.addon.scene import older_start
from taffeta.addon.scene.gather import gather_settings
from taffeta.tests.addon.recording_layout import RecordingLayout
from taffeta.tests.gpu_core.small_scene import sheet


@pytest.fixture
def tangled(make_object):
    """A sheet of cloth with a wall through it."""
    flat, faces = sheet(11, 0.4)
    wall = flat[:, [0, 2, 1]] * 0.5 + [0.103, 0.207, -0.1]
    make_object("Sheet", flat, [tuple(face) for face in faces.tolist()], "CLOTH")
    make_object("Wall", wall, [tuple(face) for face in faces.tolist()], "COLLIDER")
    yield
    crossings.clear()


@pytest.mark.parametrize("what", ["START", "FRAME"])
def test_what_crosses_is_listed_and_its_lines_are_where_it_crosses(tangled, what):
    assert bpy.ops.taffeta.show_crossings(what=what) == {"FINISHED"}
    (place,) = crossings.current.found.places
    assert str(place).startswith("Sheet and Wall: ")
    lines = np.array(crossings.current.lines)
    assert len(lines) > 10
    assert np.abs(lines[:, 1] - 0.207).max() < 1e-5
    layout = RecordingLayout()
    sidebar.TAFFETA_PT_sidebar_crossings.draw(SimpleNamespace(layout=layout), bpy.context)
    assert str(place) in layout.texts()
    assert ("operator", "taffeta.go_to_crossing") in layout.shown
    assert bpy.ops.taffeta.clear_crossings() == {"FINISHED"}
    assert crossings.current is None


def test_lines_and_views_are_in_units_of_the_scene(tangled, scene):
    scene.unit_settings.scale_length = 0.1
    bpy.ops.taffeta.show_crossings()
    assert np.abs(np.array(crossings.current.lines)[:, 1] - 0.207).max() < 1e-5
    view = SimpleNamespace(view_location=None, view_distance=0.0)
    crossings.look_at(view, 0, 0.05)
    assert view.view_location[1] == pytest.approx(0.207, abs=0.02)
    assert 0.3 < view.view_distance < 1.0


def test_the_vertices_of_a_place_are_selected_in_edit_mode(tangled):
    bpy.ops.taffeta.show_crossings()
    (place,) = crossings.current.found.places
    assert bpy.ops.taffeta.select_crossing(index=0) == {"FINISHED"}
    assert bpy.context.mode == "EDIT_MESH"
    mesh = bpy.data.objects["Sheet"].data
    chosen = {vertex.index for vertex in bmesh.from_edit_mesh(mesh).verts if vertex.select}
    assert chosen == set(place.vertices["Sheet"])
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_clean_scene_has_nothing_to_show(make_cloth):
    make_cloth("Skirt")
    assert bpy.ops.taffeta.show_crossings() == {"FINISHED"}
    assert crossings.current.found.places == []
    assert crossings.current.lines == []
    crossings.clear()


def test_another_file_clears_it(tangled):
    bpy.ops.taffeta.show_crossings()
    bpy.ops.wm.read_homefile(use_empty=True)
    assert crossings.current is None


@pytest.mark.parametrize(
    ("stored", "policy"),
    [({"strict_start": True}, "refuse"), ({"resolve_start": False}, "tolerate"), ({"strict_start": False}, "resolve")],
)
def test_an_older_file_keeps_its_policy(scene, stored, policy):
    held = older_start._stored(scene)
    for name, value in stored.items():
        held[name] = value
    older_start.carry_over(scene)
    assert gather_settings(scene).start == policy
    scene.taffeta.start = "TOLERATE"
    older_start.carry_over(scene)  # once
    assert scene.taffeta.start == "TOLERATE"

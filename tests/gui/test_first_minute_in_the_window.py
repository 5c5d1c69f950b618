# SPDX-License-Identifier: GPL-3.0-or-later
"""What somebody does who has just installed the zip, in Blender's real window, without a manual."""

from __future__ import annotations

import pytest

from taffeta.gpu_core.files import cache
from taffeta.gpu_core.files.cache import CacheState
from taffeta.tests.gui.window import Window

PLANE_OVER_SUZANNE = """
bpy.ops.wm.read_homefile(use_empty=False)
redraw()
bpy.data.meshes.remove(bpy.data.meshes['Cube'])
bpy.ops.mesh.primitive_monkey_add()
bpy.ops.mesh.primitive_plane_add(location=(0, 0, 1.5))
open_sidebar()
redraw()
show_tab('Taffeta')
redraw()
"""
FEW = 5  #: frames
MANY = 2000  #: frames, so that the bake still runs when the mouse looks for its cross


@pytest.fixture
def plane(window: Window) -> Window:
    """Blender's own first scene, in which somebody added Suzanne, then a plane over her."""
    window.do(PLANE_OVER_SUZANNE)
    return window


def test_two_clicks_lead_from_a_plane_over_suzanne_to_a_running_bake(plane, pictures):
    plane.screenshot(pictures / "first_look.png")
    plane.click("bpy.ops.taffeta.quick_cloth()")
    plane.until("bpy.data.objects['Plane'].taffeta.role == 'CLOTH'")
    plane.do(f"bpy.context.scene.frame_end = {MANY}")
    plane.redraw()
    plane.screenshot(pictures / "quick_cloth.png")
    plane.click("bpy.ops.taffeta.bake()")
    plane.until(f"session().state().done >= {FEW}")
    plane.do(f"bpy.context.scene.frame_set({FEW})")
    plane.redraw()
    plane.screenshot(pictures / "first_bake.png")
    plane.click("bpy.ops.taffeta.cancel()")
    plane.until("session().current is None")
    assert plane.ask("bpy.data.objects['Suzanne'].taffeta.role") == "COLLIDER"
    assert plane.ask("len(bpy.data.objects['Plane'].data.vertices)") > 1000


@pytest.mark.parametrize("when", ["during", "after"])
def test_the_first_bake_is_there_when_the_saved_file_is_opened_again(plane, when):
    plane.click("bpy.ops.taffeta.quick_cloth()")
    plane.until("bpy.data.objects['Plane'].taffeta.role == 'CLOTH'")
    plane.do(f"bpy.context.scene.frame_end = {FEW if when == 'after' else MANY}")
    plane.redraw()
    plane.click("bpy.ops.taffeta.bake()")
    plane.until("session().state().done >= 2")
    if when == "during":
        plane.do(f"bpy.ops.wm.save_as_mainfile(filepath='/shared/{when}.blend')")
        plane.redraw()
        plane.click("bpy.ops.taffeta.cancel()")
    plane.until("session().current is None")
    plane.redraw()
    if when == "after":
        plane.do(f"bpy.ops.wm.save_as_mainfile(filepath='/shared/{when}.blend')")
    plane.do(f"bpy.ops.wm.open_mainfile(filepath='/shared/{when}.blend')")
    played = plane.ask("next(one for one in bpy.data.objects['Plane'].modifiers if one.type == 'MESH_CACHE').filepath")
    assert played == f"//taffeta_cache/{when}/Scene/Plane.pc2"
    path = plane.shared / "taffeta_cache" / when / "Scene" / "Plane.pc2"
    assert path.stat().st_size > 100_000


def test_a_bake_that_is_saved_and_quit_leaves_its_frames_beside_the_file(debian, installed, tmp_path):
    window = Window(debian, installed, tmp_path)
    try:
        window.do(PLANE_OVER_SUZANNE)
        window.click("bpy.ops.taffeta.quick_cloth()")
        window.until("bpy.data.objects['Plane'].taffeta.role == 'CLOTH'")
        window.redraw()
        window.click("bpy.ops.taffeta.bake()")
        window.until("session().state().done >= 2")
        window.do("bpy.ops.wm.save_as_mainfile(filepath='/shared/left.blend')")
        window.quit()
    finally:
        window.close()
    folder = tmp_path / "taffeta_cache" / "left" / "Scene"
    state, reason, frames = cache.inspect(folder)
    assert (state, frames >= 2) == (CacheState.PARTIAL, True), reason

# SPDX-License-Identifier: GPL-3.0-or-later
"""A garment and a character, a tangled start, a dense mesh: with the mouse, and without a manual."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from taffeta.tests.gui.window import Window

#: a figure that bends its arm, keyed by bones, and a tube around that arm which somebody has modelled half into it
FIGURE_AND_SLEEVE = """
from math import cos, sin
bpy.ops.wm.read_homefile(use_empty=False)
redraw()
with in_region('VIEW_3D', 'WINDOW'):
    bpy.data.objects.remove(bpy.data.objects['Cube'])
    bpy.ops.mesh.primitive_cylinder_add(vertices=24, radius=0.06, depth=0.8, end_fill_type='TRIFAN')
    arm = bpy.context.object
    arm.name = 'Arm'
    bpy.ops.object.mode_set(mode='EDIT')
    bpy.ops.mesh.select_all(action='SELECT')
    bpy.ops.mesh.bisect(plane_co=(0, 0, 0), plane_no=(0, 0, 1))
    bpy.ops.mesh.subdivide(number_cuts=3)
    bpy.ops.object.mode_set(mode='OBJECT')
    bpy.ops.object.armature_add(location=(0, 0, -0.4))
    bones = bpy.context.object
    bpy.ops.object.mode_set(mode='EDIT')
    bones.data.edit_bones[0].tail = (0, 0, 0.4)
    fore = bones.data.edit_bones.new('Fore')
    fore.head, fore.tail, fore.parent = (0, 0, 0.4), (0, 0, 0.8), bones.data.edit_bones[0]
    bpy.ops.object.mode_set(mode='POSE')
    bone = bones.pose.bones['Fore']
    bone.rotation_mode = 'XYZ'
    for frame, angle in ((1, 0.0), (20, 0.6)):
        bone.rotation_euler[0] = angle
        bone.keyframe_insert('rotation_euler', frame=frame)
    bpy.ops.object.mode_set(mode='OBJECT')
    bpy.ops.object.select_all(action='DESELECT')
    arm.select_set(True)
    bones.select_set(True)
    bpy.context.view_layer.objects.active = bones
    bpy.ops.object.parent_set(type='ARMATURE_AUTO')
    bpy.ops.object.select_all(action='DESELECT')
    around, along = 24, 14
    turns = [6.2832 * k / around for k in range(around)]
    points = [(0.078 * cos(t), 0.078 * sin(t), 0.02 * z - 0.1) for z in range(along) for t in turns]
    faces = [(r * around + k, r * around + (k + 1) % around, (r + 1) * around + (k + 1) % around, (r + 1) * around + k)
             for r in range(along - 1) for k in range(around)]
    sleeve = bpy.data.objects.new('Sleeve', bpy.data.meshes.new('Sleeve'))
    sleeve.data.from_pydata(points, [], faces)
    sleeve.location.x = 0.008
    bpy.context.scene.collection.objects.link(sleeve)
    sleeve.select_set(True)
    bpy.context.view_layer.objects.active = sleeve
    bpy.context.scene.frame_end = 12
    bpy.context.scene.frame_set(1)
open_sidebar()
redraw()
show_tab('Taffeta')
redraw()
"""
HALF_IN = "bpy.data.objects['Sleeve'].location.x += 0.03"
DENSE = """
bpy.ops.object.select_all(action='DESELECT')
sleeve = bpy.data.objects['Sleeve']
dense = sleeve.copy()
dense.data, dense.name = sleeve.data.copy(), 'Dense'
bpy.context.scene.collection.objects.link(dense)
dense.taffeta.role = 'NONE'
dense.select_set(True)
bpy.context.view_layer.objects.active = dense
with in_region('VIEW_3D', 'WINDOW'):
    bpy.ops.object.mode_set(mode='EDIT')
    bpy.ops.mesh.select_all(action='SELECT')
    bpy.ops.mesh.subdivide(number_cuts=1)
    bpy.ops.object.mode_set(mode='OBJECT')
dense.taffeta.follows = sleeve
"""
CATCH_PAGES = """
import webbrowser
opened = []
webbrowser.open = lambda url, *rest, **more: opened.append(url)
"""
FEW = 3  #: frames
SIZE = 1100, 1500  #: pixels; all panels of the sidebar are seen
CROSSINGS = "sys.modules['bl_ext.user_default.taffeta.addon.cache.crossings'].current"


@pytest.fixture
def figure(window: Window) -> Window:
    window.do(FIGURE_AND_SLEEVE)
    return window


@pytest.fixture(scope="module")
def tangled(debian: Path, installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window with all panels open, and the sleeve half in the arm."""
    window = Window(debian, installed, tmp_path_factory.mktemp("tangled"), SIZE)
    window.do("open_panels()")
    window.do(FIGURE_AND_SLEEVE)
    window.do("with in_region('VIEW_3D', 'WINDOW'): bpy.ops.taffeta.quick_cloth()")
    window.do(HALF_IN)
    window.redraw()
    yield window
    window.close()


def test_two_clicks_lead_from_a_figure_and_a_sleeve_to_a_running_bake(figure, pictures):
    """The sleeve is chosen, as it is after an import. Nothing is said of the arm, whose bones bend it."""
    figure.screenshot(pictures / "garment_first_look.png")
    before = figure.clicks
    figure.click("bpy.ops.taffeta.quick_cloth()")
    figure.until("bpy.data.objects['Sleeve'].taffeta.role == 'CLOTH'")
    figure.redraw()
    figure.screenshot(pictures / "garment_quick_cloth.png")
    figure.do(CATCH_PAGES)
    figure.click("bpy.ops.taffeta.help(")
    page = figure.until("opened and opened[-1]")
    assert figure.ask(f"__import__('os').path.isfile({page.removeprefix('file://')!r})")
    before += 1
    figure.do("bpy.context.scene.frame_end = 250")  # it must still run when its cross is looked for
    figure.click("bpy.ops.taffeta.bake()")
    figure.until(f"session().state().done >= {FEW}", patience=180.0)
    assert figure.clicks - before == 2
    figure.do(f"bpy.context.scene.frame_set({FEW})")
    figure.redraw()
    figure.screenshot(pictures / "garment_baked.png")
    figure.click("bpy.ops.taffeta.cancel()")
    figure.until("session().current is None")
    assert figure.ask("bpy.data.objects['Arm'].taffeta.role") == "COLLIDER"
    assert not figure.ask("[entry for entry in session().last.warnings if 'intersect' in entry]")


def test_where_it_crosses_is_seen_explained_and_gone_to_with_the_mouse(tangled, pictures):
    window = tangled
    window.click("bpy.ops.taffeta.show_crossings(what='START')")
    window.until(f"{CROSSINGS} is not None")
    assert window.ask(f"len({CROSSINGS}.found.places)") > 0
    window.redraw()
    window.screenshot(pictures / "crossings.png")
    before = window.ask("tuple(area('VIEW_3D').spaces.active.region_3d.view_location)")
    window.click("bpy.ops.taffeta.go_to_crossing(")
    window.until(f"tuple(area('VIEW_3D').spaces.active.region_3d.view_location) != {before}")
    window.redraw()
    window.screenshot(pictures / "crossings_near.png")
    window.click("bpy.ops.taffeta.select_crossing(")
    window.until("bpy.context.mode == 'EDIT_MESH'")
    window.redraw()
    window.screenshot(pictures / "crossings_selected.png")
    window.do("with in_region('VIEW_3D', 'WINDOW'): bpy.ops.object.mode_set(mode='OBJECT')")
    window.click("bpy.ops.taffeta.clear_crossings()")
    window.until(f"{CROSSINGS} is None")


def test_a_dense_mesh_is_bound_with_one_click(tangled, pictures):
    window = tangled
    window.do(DENSE)
    window.do("show_physics()")
    window.redraw()
    window.click("bpy.ops.taffeta.bind_dense()", "PROPERTIES", "WINDOW")
    window.until("len(bpy.data.objects['Dense'].modifiers) > 0")
    window.redraw()
    window.screenshot(pictures / "bound.png")

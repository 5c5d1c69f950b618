# SPDX-License-Identifier: GPL-3.0-or-later
"""Live in Blender's real window: its button, the mouse in the cloth, freezing, undo, Esc, and a bake that ends it."""

from __future__ import annotations

import numpy as np

LIFT = 0.1  #: m
TOWARDS_CAMERA = -0.08  #: m from the middle of the sheet, which rests on the sphere
WAY = 200  #: pixels of the mouse, upwards
STEPS = 20


def test_the_mouse_pulls_the_cloth_its_shape_is_frozen_and_esc_ends_it(drape, pictures):
    window, flat = drape.window, drape.shown()
    window.click("bpy.ops.taffeta.live()")
    window.until("bpy.context.scene.frame_current >= 12")
    assert drape.shown()[:, 2].min() < flat[:, 2].min() - LIFT
    vertex = int(np.argmin(np.linalg.norm(flat[:, :2] - [0.0, TOWARDS_CAMERA], axis=1)))
    before = drape.shown()[vertex, 2]
    x, y = window.ask(f"place_of('Cloth', {vertex})")
    window.move(x, y)
    window.hold(True)
    window.until("live().state().cloth == 'Cloth'")
    for step in range(1, STEPS + 1):
        window.move(x, y - step * WAY // STEPS)
    window.until(f"shown_height('Cloth', {vertex}) > {before + LIFT}")
    window.screenshot(pictures / "live.png")
    window.hold(False)
    window.until("not live().state().cloth")
    with_undo = "bpy.ops.taffeta.freeze_start('INVOKE_DEFAULT', True)"  # to look for its button takes long meanwhile
    window.do(f"with in_region('VIEW_3D', 'UI'): {with_undo}")
    window.until("'taffeta_start' in bpy.data.objects['Cloth'].data.attributes")
    window.press("Escape", "VIEW_3D")
    window.until("live().current is None")
    assert window.ask("len(bpy.data.objects['Cloth'].modifiers)") == 0
    assert np.array_equal(drape.shown(), flat)
    window.press("ctrl+z")
    window.until("'taffeta_start' not in bpy.data.objects['Cloth'].data.attributes")
    assert window.ask("len(bpy.data.objects['Cloth'].modifiers)") == 0


def test_a_click_beside_the_cloth_selects_as_ever_and_bake_ends_live(drape):
    window = drape.window
    window.do("bpy.context.scene.frame_end = 3")
    window.click("bpy.ops.taffeta.live()")
    window.until("live().state().latest")
    left, top, _, height = window.ask("rectangle('VIEW_3D', 'WINDOW')")
    window.move(left + 150, top + height - 60)  # the floor
    window.hold(True)
    window.hold(False)
    window.until("not bpy.data.objects['Cloth'].select_get()")
    assert not window.ask("live().state().cloth")
    window.do("live().tell(live().Occurrence.PAUSE)")  # drawing slows the look for the button down
    drape.begin()
    assert drape.until_over() == "Baked 3 frames"
    assert window.ask("live().state().text") == "A bake began"
    assert window.ask("bpy.data.objects['Cloth'].modifiers.keys()") == ["Taffeta Triangles", "Taffeta Cache"]

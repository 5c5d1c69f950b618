# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user does with a bake that is done, in Blender's real window: scrub, save as, open again, finalise."""

from __future__ import annotations

import numpy as np

SEEN = (1, 5, 12, 24, 31, 48)  #: frames on the mouse's way


def test_dragging_in_the_timeline_shows_the_frames_of_the_cache(baked):
    window, frames = baked.window, baked.frames()
    ruler = window.ask("rectangle('DOPESHEET_EDITOR', 'WINDOW')")[1] + 8
    window.move(window.ask("column_of(1)"), ruler)
    window.hold(True)
    for frame in SEEN:
        window.move(window.ask(f"column_of({frame})"), ruler)
        window.until(f"bpy.context.scene.frame_current == {frame}")
        assert np.array_equal(baked.shown(), frames[frame - 1])
    window.hold(False)


def test_save_as_and_open_again_show_the_same_frames(baked):
    window, frames = baked.window, baked.frames()
    window.press("ctrl+shift+s")
    window.choose_file(baked.folder / "another.blend")
    for name in ("another", "drape"):
        window.until(f"bpy.path.display_name_from_filepath(bpy.data.filepath) == {name!r}")
        window.redraw()
        window.do("bpy.context.scene.frame_set(20)")
        assert np.array_equal(baked.shown(), frames[19])
        window.find("bpy.ops.taffeta.free()")
        window.press("ctrl+o")
        window.choose_file(baked.folder / "drape.blend")


def test_bake_and_free_ask_before_frames_are_lost(baked, pictures):
    window, frames = baked.window, baked.frames()
    for call in ("bpy.ops.taffeta.bake()", "bpy.ops.taffeta.free()"):
        window.click(call)
        window.redraw()
        window.screenshot(pictures / f"asks_{call.rpartition('.')[2][:4]}.png")
        assert not baked.running()
        window.press("Escape")
        assert np.array_equal(baked.frames(), frames)


def test_bake_stale_asks_where_only_reading_the_scene_tells_that_a_cache_is_stale(baked):
    window, frames = baked.window, baked.frames()
    window.do("bpy.data.objects['Cloth'].data.vertices[0].co.z += 0.05")
    window.click("bpy.ops.taffeta.bake(scope='STALE')")
    window.redraw()
    assert not baked.running()
    window.press("Escape")
    assert np.array_equal(baked.frames(), frames)


def test_the_shape_keys_button_makes_keys_of_the_frames(baked, pictures):
    window, frames = baked.window, baked.frames()
    window.do("make_room()")
    window.search("Absolute", "PROPERTIES")  # the panel is closed, and far down
    window.click("bpy.ops.taffeta.to_shape_keys()", "PROPERTIES", "WINDOW")
    window.until("'Cloth Shape Keys' in bpy.data.objects")
    window.press("alt+f", "PROPERTIES")
    for frame in SEEN:
        window.do(f"bpy.context.scene.frame_set({frame})")
        assert np.abs(baked.shown("Cloth Shape Keys") - frames[frame - 1]).max() < 1e-7
    window.redraw()
    window.screenshot(pictures / "shape_keys.png")
    window.press("ctrl+z")
    window.until("'Cloth Shape Keys' not in bpy.data.objects")

# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake, its buttons and its keys in Blender's real window, with real clicks."""

from __future__ import annotations

import time

import numpy as np
import pytest

from taffeta.tests.gui.debian import ASKED
from taffeta.tests.gui.drape import Drape
from taffeta.tests.gui.watched import LOOKED_AT

FRAMES = 48  #: of the sample
TICKS = 10  #: Hz; the interface is to come round as often while a bake runs
STILL = 0.25  #: of a bake's time: a window that stands still for longer does not answer
A_WHILE = 1.0  #: s, in which a bake that was not stopped would go on


@pytest.fixture
def endless(drape: Drape) -> Drape:
    """The sample, with more frames than are baked while a test looks for a button."""
    drape.window.do("bpy.context.scene.frame_end = 2000")
    return drape


def test_the_installed_zip_is_on_and_shows_its_tab(window, drape):
    assert window.ask("'bl_ext.user_default.taffeta' in bpy.context.preferences.addons")
    assert window.ask("region('VIEW_3D', 'UI').active_panel_category") == "Taffeta"
    window.find("bpy.ops.taffeta.bake()")


def test_a_click_on_bake_bakes_every_frame(watched):
    assert watched.headline == f"Baked {FRAMES} frames"
    assert len(watched.drape.frames()) == FRAMES


def test_frames_land_one_after_another(watched):
    assert watched.landed == sorted(set(watched.landed))
    assert len(watched.landed) > min(FRAMES, watched.looks) / 4


def test_a_frame_that_has_landed_is_shown_while_the_bake_runs(watched):
    assert LOOKED_AT <= watched.early_of < FRAMES
    assert np.array_equal(watched.early, watched.drape.frames()[LOOKED_AT - 1])


def test_the_status_bar_follows_the_bake(watched):
    assert watched.status_bar == sorted(watched.status_bar)
    assert len(set(watched.status_bar)) > min(FRAMES, len(watched.ticks)) / 4


def test_the_interface_never_stands_still_for_long_while_a_bake_runs(watched, pictures):
    (pictures / "pace.txt").write_text(f"{watched.pace()}\n")
    assert watched.longest_gap < STILL * watched.seconds, watched.pace()


@pytest.mark.skipif(not ASKED, reason="a time, which other work on the machine spoils: `make test-gui` judges it")
def test_the_interface_ticks_ten_times_a_second_while_a_bake_runs(watched):
    assert len(watched.ticks) >= TICKS * watched.seconds, watched.pace()


def test_the_cross_cancels_and_resume_ends_in_the_bytes_of_a_bake_without_a_break(drape, watched, pictures):
    drape.begin()
    drape.pause(True)
    drape.window.find("bpy.ops.taffeta.cancel()")
    drape.pause(False)
    drape.until_baked(2)
    drape.window.screenshot(pictures / "baking.png")
    drape.window.click("bpy.ops.taffeta.cancel()")
    headline = drape.until_over()
    kept = drape.baked
    assert headline == f"Cancelled: {kept} of {FRAMES} frames are in the cache."
    assert 2 <= kept < FRAMES
    drape.begin("bpy.ops.taffeta.bake(resume=True)")
    assert drape.until_over() == f"Baked {FRAMES} frames"
    assert np.array_equal(drape.frames(), watched.drape.frames())


def test_pause_holds_the_bake_until_it_is_clicked_again(endless):
    endless.begin()
    endless.pause(True)
    endless.window.find("bpy.ops.taffeta.pause()")
    endless.pause(False)
    endless.until_baked(1)
    endless.window.click("bpy.ops.taffeta.pause()")
    time.sleep(A_WHILE)  # for the step it works on
    held = endless.baked
    time.sleep(A_WHILE)
    assert endless.running()
    assert endless.baked == held
    endless.window.click("bpy.ops.taffeta.pause()")
    endless.until_baked(held + 1)


def test_esc_cancels_over_the_panel_and_nowhere_else(endless):
    endless.begin()
    endless.until_baked(1)
    endless.window.press("Escape", "VIEW_3D")
    endless.until_baked(endless.baked + 2)
    endless.window.press("Escape", "PROPERTIES")
    assert endless.until_over().startswith("Cancelled")


def test_esc_over_the_panel_ends_playback_first_and_the_bake_next(endless):
    window = endless.window
    endless.begin()
    endless.until_baked(1)
    window.press("space")
    window.until("window().screen.is_animation_playing")
    window.press("Escape", "PROPERTIES")
    window.until("not window().screen.is_animation_playing")
    endless.until_baked(endless.baked + 2)
    window.press("Escape", "PROPERTIES")
    assert endless.until_over().startswith("Cancelled")


def test_undo_takes_a_bake_back_and_redo_brings_it_again(drape):
    drape.window.do("bpy.context.scene.frame_end = 3")
    drape.begin()
    assert drape.until_over() == "Baked 3 frames"
    drape.window.do("bpy.context.scene.frame_set(3)")
    start, end = drape.frames()[0], drape.frames()[2]
    drape.window.press("ctrl+z")
    drape.window.until("'Taffeta Cache' not in bpy.data.objects['Cloth'].modifiers")
    assert np.array_equal(drape.shown(), start)
    drape.window.press("ctrl+shift+z")
    drape.window.until("'Taffeta Cache' in bpy.data.objects['Cloth'].modifiers")
    drape.window.do("bpy.context.scene.frame_set(3)")
    assert np.array_equal(drape.shown(), end)


def test_undo_during_a_bake_leaves_it_running_and_its_frames_playing(endless):
    endless.begin()
    endless.until_baked(1)
    endless.window.press("ctrl+z")
    endless.until_baked(endless.baked + 2)
    endless.window.do("bpy.context.scene.frame_set(2)")
    assert np.array_equal(endless.shown(), endless.frames()[1])


def test_another_file_opened_during_a_bake_ends_its_worker(endless):
    endless.begin()
    endless.until_baked(1)
    worker = endless.window.ask("session().current._process._process.pid")
    assert endless.window.ask(f"os.path.exists('/proc/{worker}')")
    endless.window.do("bpy.ops.wm.open_mainfile(filepath='/shared/drape.blend', load_ui=False)")
    endless.window.until(f"not os.path.exists('/proc/{worker}')")
    assert not endless.running()


def test_after_a_bake_the_window_says_what_crosses_as_blender_draws_it(drape, pictures):
    window = drape.window
    window.do(
        "bpy.context.scene.frame_end = 6; "
        "shell = bpy.data.objects['Cloth'].modifiers.new('Shell', 'SOLIDIFY'); shell.thickness = 2"
    )
    drape.begin()
    assert drape.until_over() == "Baked 6 frames"
    window.until("checking().current is None and checking().troubles(bpy.context.scene)")
    window.redraw()
    window.screenshot(pictures / "crosses_as_drawn.png")
    assert "of 6 frames cross as Blender draws them" in window.ask("checking().troubles(bpy.context.scene)")[0]
    assert window.ask("bpy.context.scene.frame_current") == 1


def test_esc_ends_a_check_and_leaves_the_frame(baked):
    window = baked.window
    window.do("bpy.context.scene.frame_set(7)")
    window.click("bpy.ops.taffeta.check()")
    window.until("checking().current is not None")
    window.press("Escape")
    window.until("checking().current is None")
    assert window.ask("bpy.context.scene.frame_current") == 7
    assert np.array_equal(baked.shown(), baked.frames()[6])

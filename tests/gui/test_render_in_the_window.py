# SPDX-License-Identifier: GPL-3.0-or-later
"""Rendering while a bake runs, in Blender's real window: as F12 and Ctrl F12 do, in a thread of its own."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from taffeta.tests.gui.drape import Drape
from taffeta.tests.gui.watched import LOOKED_AT

FRAMES = 48  #: of the sample
RENDERING = "bpy.app.is_job_running('RENDER')"


@pytest.fixture
def baking(drape: Drape) -> Drape:
    """The sample in a bake that was paused after some frames, so that a render surely begins before its end."""
    drape.window.do("watch_renders()")
    drape.begin()
    drape.until_baked(LOOKED_AT)
    drape.pause(True)
    drape.window.do(f"bpy.context.scene.frame_set({LOOKED_AT})")
    return drape


def render(drape: Drape, animation: bool = False) -> None:
    """Begin what F12 and Ctrl F12 begin; Blender 5.2 does not take these keys from this X server."""
    begin = f"bpy.ops.render.render('INVOKE_DEFAULT', animation={animation})"
    drape.window.do(f"with in_region('VIEW_3D', 'WINDOW'): {begin}")


def go_on(drape: Drape) -> None:
    """End the pause, now that the scene is read for the render."""
    drape.window.until("renders")
    assert drape.running()
    drape.pause(False)


def rendered(drape: Drape, name: str) -> np.ndarray:
    """The pixels of the render that runs, when it is over."""
    drape.window.until(f"not {RENDERING}")
    path = drape.folder / name
    drape.window.do(f"bpy.data.images['Render Result'].save_render({drape.window.inside(path)!r})")
    return np.asarray(Image.open(path))


def test_a_picture_rendered_during_a_bake_is_that_of_its_frame_and_the_bake_goes_on(baking, watched):
    render(baking)
    go_on(baking)
    during = rendered(baking, "during.png")
    assert baking.until_over() == f"Baked {FRAMES} frames"
    render(baking)
    baking.window.until("len(renders) == 2")
    assert np.array_equal(during, rendered(baking, "after.png"))
    assert np.array_equal(baking.frames(), watched.drape.frames())


def test_an_animation_rendered_during_a_bake_has_whole_frames_only(baking, watched):
    baking.window.do("scene = bpy.context.scene; scene.frame_step = 4; scene.render.filepath = '/shared/animation/'")
    render(baking, animation=True)
    go_on(baking)
    baking.window.until(f"not {RENDERING}")
    assert baking.until_over() == f"Baked {FRAMES} frames"
    frames = watched.drape.frames()
    assert np.array_equal(baking.frames(), frames)
    seen = baking.window.ask("renders")
    assert [frame for frame, _ in seen] == list(range(1, FRAMES + 1, 4))
    for frame, shape in seen:  # the one asked for, or the last that had landed
        (found,) = np.flatnonzero((frames.reshape(FRAMES, -1) == np.frombuffer(shape, np.float32)).all(axis=1)) + 1
        assert found == frame or LOOKED_AT <= found < frame


def test_live_ends_for_a_render_and_leaves_nothing_in_it(drape):
    flat = drape.shown()
    drape.window.do("watch_renders()")
    drape.window.click("bpy.ops.taffeta.live()")
    drape.window.until("bpy.context.scene.frame_current >= 12")
    drape.window.do("cycles = bpy.context.scene.cycles; cycles.samples, cycles.use_adaptive_sampling = 4096, False")
    render(drape)
    drape.window.until("renders")
    drape.window.until("live().current is None")
    drape.window.until(f"not {RENDERING}")
    assert drape.window.ask("live().state().text") == "A render began"
    assert drape.window.ask("len(bpy.data.objects['Cloth'].modifiers)") == 0
    ((_, shape),) = drape.window.ask("renders")
    assert np.array_equal(np.frombuffer(shape, np.float32).reshape(-1, 3), flat)

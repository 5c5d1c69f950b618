# SPDX-License-Identifier: GPL-3.0-or-later
"""No text of our panels is cut, at the width that editors have in Blender's own first window of 1920 × 1080 pixels."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from taffeta.tests.gui.drape import Drape
from taffeta.tests.gui.ellipsis import cuts, glyph
from taffeta.tests.gui.test_first_minute_in_the_window import PLANE_OVER_SUZANNE
from taffeta.tests.gui.window import PATIENCE, Window

SIZE = 1920, 2600  #: pixels; higher than such a screen, so that all panels are seen without scrolling
PROPERTIES, SIDEBAR = ("PROPERTIES", "WINDOW"), ("VIEW_3D", "UI")
FEW = 3  #: frames
MANY = 5000  #: pixels
REDO = "with in_region('VIEW_3D', 'WINDOW'): bpy.ops.screen.redo_last('INVOKE_DEFAULT')"  #: F9
Seen = set[tuple[int, int]]

TROUBLES = """
scene, cloth = bpy.context.scene, bpy.data.objects['Cloth']
scene.use_gravity, cloth.taffeta.cloth.pin_group = False, 'Nowhere'
cloth.modifiers.move(cloth.modifiers.find(cloth.modifiers.new('Subdivision', 'SUBSURF').name), 0)
cloth.modifiers.new('Solidify', 'SOLIDIFY')
bpy.ops.object.effector_add(type='WIND', location=(0, 3, 0))
bpy.ops.mesh.primitive_plane_add(location=(0, 0, 3))
bpy.context.object.taffeta.role = 'CLOTH'
bpy.ops.object.modifier_add(type='CLOTH')
bpy.context.object.data.vertices.add(1)
bpy.context.object.hide_viewport = True
scene.keyframe_insert('gravity')
bpy.ops.mesh.primitive_cube_add(location=(0, 0, -5))
bpy.ops.object.modifier_add(type='COLLISION')
bpy.context.view_layer.objects.active = cloth
"""


USED = """
item = bpy.data.objects['Cloth']
cloth, item.taffeta.cloth.sewing = item.taffeta.cloth, True
item.vertex_groups.new(name='All').add([0], 1.0, 'REPLACE')
for name in cloth.bl_rna.properties.keys():
    if name.endswith('_group'):
        setattr(cloth, name, 'All')
cloth.pins.add().group = 'All'
cloth.pattern_map = item.data.uv_layers[0].name
"""


BLENDERS_CLOTH = """
cloth = bpy.data.objects['Cloth']
cloth.taffeta.role = 'NONE'
settings = cloth.modifiers.new('Cloth', 'CLOTH').settings
settings.quality, settings.use_dynamic_mesh, settings.bending_model = 9, True, 'LINEAR'
"""


@pytest.fixture(scope="module")
def wide(debian: Path, installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window in which every panel of ours is open, beside the viewport and not over it."""
    window = Window(debian, installed, tmp_path_factory.mktemp("wide"), SIZE)
    window.do("bpy.context.preferences.system.use_region_overlap = False")
    window.do("open_panels()")
    window.do("make_room()")
    yield window
    window.close()


@pytest.fixture
def cloth(wide: Window, sample: Path, request: pytest.FixtureRequest) -> Drape:
    """The sample, never baked, its cloth chosen: without a look for a button, which takes long in so large a window."""
    folder = wide.shared / request.function.__name__
    folder.mkdir()
    blend = Path(shutil.copy2(sample, folder))
    wide.do(f"bpy.ops.wm.open_mainfile(filepath={wide.inside(blend)!r}, load_ui=False)")
    wide.redraw()
    wide.do("area('VIEW_3D').spaces.active.shading.type = 'WIREFRAME'")  # is drawn in less time
    wide.do("show_tab('Taffeta')")
    wide.do("with in_region('VIEW_3D', 'WINDOW'): bpy.ops.taffeta.select(name='Cloth')")
    wide.redraw()
    wide.do("show_physics()")
    return Drape(wide, folder)


@pytest.fixture
def seen(wide: Window, pictures: Path, request: pytest.FixtureRequest) -> Callable[..., Seen]:
    """Where texts are cut now, in one region or on the whole screen, which is kept as a picture."""
    dots, kept = glyph(wide), list[Image.Image]()

    def look(region: tuple[str, str] | None = None, new: bool = False, ask: str = "") -> Seen:
        """new: wait until something has come up since the picture before. ask: brings it up."""
        if region is not None:
            wide.point_at("VIEW_3D", "WINDOW")  # no button is lit up, and no tooltip comes
        wide.redraw()
        path = pictures / f"{request.function.__name__}_{len(kept)}.png"
        end = time.monotonic() + PATIENCE
        if ask:
            wide.do(ask)
        while True:
            wide.screenshot(path)
            screen = Image.open(path).convert("RGB")
            if not (new or ask) or differ(kept[-1], screen):
                break
            assert time.monotonic() < end, "nothing comes up"
        kept.append(screen)
        left, top, width, height = wide.ask(f"rectangle{region}") if region else (0, 0, *SIZE)
        return cuts(screen.crop((left, top, left + width, top + height)), dots)

    return look


def differ(before: Image.Image, after: Image.Image) -> bool:
    """Is there something else on the screen, more than a number or a cursor?"""
    return int((np.asarray(before) != np.asarray(after)).any(axis=2).sum()) > MANY


def bake(cloth: Drape) -> None:
    cloth.window.do(f"bpy.context.scene.frame_end = {FEW}")
    cloth.window.do("with in_region('VIEW_3D', 'UI'): bpy.ops.taffeta.bake()")


@pytest.fixture(scope="module")
def blenders() -> dict[str, Seen]:
    """Where Blender cuts texts of its own, by the tab of Properties."""
    return {}


@pytest.fixture
def cut(cloth: Drape, seen: Callable[..., Seen], blenders: dict[str, Seen]) -> Callable[[], Seen]:
    """Where texts of ours are cut in Properties: those that are not cut where no object has a role."""

    def look() -> Seen:
        tab = cloth.window.ask("area('PROPERTIES').spaces.active.context")
        if tab not in blenders:
            role = cloth.window.ask("bpy.context.object.taffeta.role")
            cloth.window.do("bpy.context.object.taffeta.role = 'NONE'")
            blenders[tab] = seen(PROPERTIES)
            cloth.window.do(f"bpy.context.object.taffeta.role = {role!r}")
        return seen(PROPERTIES) - blenders[tab]

    return look


def test_a_text_that_is_cut_is_seen(cloth, seen):
    cloth.window.do("bpy.data.objects['Cloth'].name = 'The outer cloth of the second sleeve, for the wide shots'")
    assert seen(SIDEBAR)


def test_no_text_is_cut_on_a_cloth_that_was_never_baked(cloth, cut, seen):
    assert not cut()
    assert not seen(SIDEBAR)


def test_no_text_is_cut_on_a_cloth_that_is_painted_and_sewn(cloth, cut):
    cloth.window.do(USED)
    assert not cut()


def test_no_text_is_cut_on_a_baked_cloth(cloth, cut, seen):
    bake(cloth)
    assert not cut()
    assert not seen(SIDEBAR)


def test_no_text_is_cut_while_a_bake_runs(cloth, cut, seen):
    cut()  # what Blender cuts is known before
    before = seen()
    cloth.window.do("bpy.context.scene.frame_end = 2000")
    cloth.window.do("with in_region('VIEW_3D', 'UI'): bpy.ops.taffeta.bake('INVOKE_DEFAULT')")
    cloth.until_baked(1)
    assert not cut()
    assert not seen(SIDEBAR)
    assert not seen() - before  # in the status bar
    cloth.window.do("session().tell(session().Happening.CANCEL)")
    assert cloth.until_over().startswith("Cancelled")


def test_no_text_is_cut_of_what_stands_in_the_way(cloth, cut, seen):
    bake(cloth)
    cloth.window.do(TROUBLES)
    assert not cut()
    assert not seen(SIDEBAR)


def test_no_text_is_cut_on_a_collider(cloth, cut):
    cloth.window.do("bpy.context.object.taffeta.role = 'COLLIDER'")
    assert not cut()


def test_no_text_is_cut_in_live(cloth, seen):
    cloth.window.do("with in_region('VIEW_3D', 'UI'): bpy.ops.taffeta.live('INVOKE_DEFAULT')")
    cloth.window.until("bpy.context.scene.frame_current >= 3")
    assert not seen(SIDEBAR)
    cloth.window.press("Escape", "VIEW_3D")
    cloth.window.until("live().current is None")


def test_no_text_is_cut_in_the_panel_of_the_scene(cloth, cut):
    cloth.window.do("area('PROPERTIES').spaces.active.context = 'SCENE'")
    assert not cut()


def test_no_text_is_cut_of_what_is_asked(cloth, seen):
    bake(cloth)
    cloth.window.point_at("VIEW_3D", "WINDOW")
    cloth.window.redraw()
    before = seen()
    for name in ("bake", "free"):
        cloth.window.do(f"with in_region('VIEW_3D', 'WINDOW'): bpy.ops.taffeta.{name}('INVOKE_DEFAULT')")
        assert not seen(new=True) - before
        cloth.window.press("Escape")
        seen(new=True)


def test_no_text_is_cut_of_what_quick_cloth_lets_one_change(wide, seen):
    wide.do(PLANE_OVER_SUZANNE)
    assert not seen(SIDEBAR)
    wide.do("with in_region('VIEW_3D', 'UI'): bpy.ops.taffeta.quick_cloth('EXEC_DEFAULT', True)")
    wide.until("bpy.data.objects['Plane'].taffeta.role == 'CLOTH'")
    wide.point_at("VIEW_3D", "WINDOW")
    wide.redraw()
    before = seen()
    assert not seen(ask=REDO) - before
    wide.press("Escape")


@pytest.fixture
def preferences(wide: Window) -> Iterator[Window]:
    """Whose window would lie over the viewport, and over what comes up there, if it stayed."""
    yield wide
    wide.do("close_preferences()")
    wide.redraw()


def test_no_text_of_ours_is_cut_in_the_preferences(preferences, seen):
    wide, before = preferences, seen()
    wide.do("show_preferences()")
    assert not seen(new=True) - before
    wide.do("scroll_preferences()")
    assert not seen(new=True) - before


def test_no_text_is_cut_of_what_a_conversion_tells(cloth, seen):
    cloth.window.do(BLENDERS_CLOTH)
    assert not seen(SIDEBAR)
    cloth.window.do("with in_region('PROPERTIES', 'WINDOW'): bpy.ops.taffeta.from_blender_cloth('EXEC_DEFAULT', True)")
    cloth.window.until("bpy.data.objects['Cloth'].taffeta.role == 'CLOTH'")
    cloth.window.point_at("VIEW_3D", "WINDOW")
    cloth.window.redraw()
    before = seen()
    assert not seen(ask=REDO) - before
    cloth.window.press("Escape")

# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in Blender's window and answers what a test asks it: blender --python listener.py -- SOCKET

One of its timers is the measure of how often the interface comes round: `ticks` has the time of each.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from multiprocessing.connection import Listener
from pathlib import Path

import blf
import bpy
import gpu
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Matrix

INTERVAL = 0.02  #: s
AT_ONCE = 0.005  #: s, in which Blender comes round: a test asks thousands of times
GLYPH = 20  #: pixels, more than a letter of the interface is high and wide

connection = Listener(sys.argv[-1]).accept()
ticks: list[tuple[float, float]] = []  #: s on the monotonic clock, and `queued()`
status_bar: list[int] = []  #: see watch_status_bar
renders: list[tuple[int, bytes]] = []  #: see watch_renders


def tick() -> float:
    ticks.append((time.monotonic(), queued()))
    return INTERVAL


def answer() -> float:
    while connection.poll():
        try:
            mode, source = connection.recv()
        except EOFError:  # the test is gone, and so shall its Blender be
            os._exit(0)
        try:
            connection.send((True, eval(compile(source, "<test>", mode), globals())))
        except Exception:
            connection.send((False, traceback.format_exc()))
    return AT_ONCE


def queued() -> float:
    """For how long this thread could have run so far but other processes had the processors, s."""
    return float(Path("/proc/thread-self/schedstat").read_text().split()[1]) * 1e-9


def window() -> bpy.types.Window:
    return bpy.context.window_manager.windows[0]


def area(kind: str) -> bpy.types.Area:
    return next(area for area in window().screen.areas if area.type == kind)


def region(area_kind: str, kind: str) -> bpy.types.Region:
    return next(region for region in area(area_kind).regions if region.type == kind)


def rectangle(area_kind: str, kind: str) -> tuple[int, int, int, int]:
    """(left, top, width, height) on the screen, pixels from its upper left corner."""
    found = region(area_kind, kind)
    return found.x, window().height - found.y - found.height, found.width, found.height


def in_region(area_kind: str, kind: str):
    """The context of this region, for operators."""
    screen = window().screen
    return bpy.context.temp_override(
        window=window(), screen=screen, area=area(area_kind), region=region(area_kind, kind)
    )


def make_room() -> None:
    """Close the Outliner: its room is for Properties."""
    if any(area.type == "OUTLINER" for area in window().screen.areas):
        with in_region("OUTLINER", "WINDOW"):
            bpy.ops.screen.area_close()


def redraw() -> None:
    """Draw the window now. A file that was just opened must be drawn before its editors are changed."""
    with bpy.context.temp_override(window=window()):
        bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=1)


def under_mouse(area_kind: str, kind: str) -> str:
    """The operator call or the data path of the button under the mouse, or nothing."""
    manager = bpy.context.window_manager
    with in_region(area_kind, kind):
        for ask, options in (
            (bpy.ops.ui.copy_python_command_button, {}),
            (bpy.ops.ui.copy_data_path_button, {"full_path": True}),
        ):
            if ask.poll() and ask(**options) == {"FINISHED"}:
                return manager.clipboard
    return ""


def open_sidebar() -> None:
    """Its tabs are there once it has been drawn. The floor goes: to draw its lines in software takes long."""
    with in_region("VIEW_3D", "WINDOW"):
        area("VIEW_3D").spaces.active.show_region_ui = True
    overlay = area("VIEW_3D").spaces.active.overlay
    overlay.show_floor = overlay.show_axis_x = overlay.show_axis_y = False


def show_tab(name: str) -> None:
    """Bring this tab of the viewport's sidebar to the front."""
    sidebar = region("VIEW_3D", "UI")
    sidebar.active_panel_category = name
    sidebar.tag_redraw()


def show_physics() -> None:
    with in_region("PROPERTIES", "WINDOW"):
        area("PROPERTIES").spaces.active.context = "PHYSICS"


def show_preferences() -> None:
    """Blender's window of preferences, with ours."""
    bpy.context.preferences.active_section = "ADDONS"
    bpy.context.window_manager.addon_search = "Taffeta"
    with in_region("VIEW_3D", "WINDOW"):
        bpy.ops.screen.userpref_show("INVOKE_DEFAULT")
    bpy.ops.preferences.addon_expand(module="bl_ext.user_default.taffeta")


def close_preferences() -> None:
    """Blender's window of preferences, where there is one."""
    for other in bpy.context.window_manager.windows[1:]:
        with bpy.context.temp_override(window=other):
            bpy.ops.wm.window_close()


def preferences_rectangle() -> tuple[int, int, int, int]:
    """(left, top, width, height) of the window of preferences on the screen, pixels from its upper left corner."""
    found = bpy.context.window_manager.windows[-1]
    return found.x, window().height - found.y - found.height, found.width, found.height


def graphics_card():
    """The add-on's module of the graphics card in the preferences."""
    return sys.modules["bl_ext.user_default.taffeta.addon.interface.gpu_preferences"]


def scroll_preferences() -> None:
    """To their end."""
    its_window = bpy.context.window_manager.windows[-1]
    its_area = its_window.screen.areas[0]
    its_region = next(region for region in its_area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=its_window, area=its_area, region=its_region):
        for _ in range(its_window.height):
            bpy.ops.view2d.scroll_down()


def open_panels() -> None:
    """Let every panel of the add-on be open when it is drawn for the first time."""
    extension = sys.modules["bl_ext.user_default.taffeta"]
    panels = [kind for kind in bpy.types.Panel.__subclasses__() if kind.__name__.startswith("TAFFETA_PT_")]
    extension.unregister()
    for panel in panels:
        panel.bl_options = getattr(panel, "bl_options", set()) - {"DEFAULT_CLOSED"}
    extension.register()


def ellipsis() -> bytes:
    """“…” as the interface writes it, white on black: (GLYPH, GLYPH) uint8, from the bottom up."""
    preferences = bpy.context.preferences
    screen = gpu.types.GPUOffScreen(GLYPH, GLYPH)
    with screen.bind(), gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
        target = gpu.state.active_framebuffer_get()
        target.clear(color=(0.0, 0.0, 0.0, 1.0))
        gpu.matrix.load_identity()
        scale = 2 / GLYPH
        gpu.matrix.load_projection_matrix(Matrix.Translation((-1, -1, 0)) @ Matrix.Diagonal((scale, scale, 1, 1)))
        blf.size(0, preferences.ui_styles[0].widget.points * preferences.system.ui_scale)
        blf.color(0, 1.0, 1.0, 1.0, 1.0)
        blf.position(0, GLYPH // 4, GLYPH // 4, 0)
        blf.draw(0, "…")
        drawn = target.read_color(0, 0, GLYPH, GLYPH, 4, 0, "UBYTE")
    screen.free()
    return np.array(drawn.to_list(), np.uint8)[..., 0].tobytes()


def column_of(frame: int) -> int:
    """The column of the screen at which the timeline has this frame."""
    timeline = region("DOPESHEET_EDITOR", "WINDOW")
    return timeline.x + timeline.view2d.view_to_region(frame, 0, clip=False)[0]


def choose_file(directory: str, name: str) -> None:
    """What the file browser is to be about."""
    parameters = area("FILE_BROWSER").spaces.active.params
    parameters.directory, parameters.filename = directory.encode(), name


def session():
    """The add-on's module of the running bake, of the installed extension."""
    return sys.modules["bl_ext.user_default.taffeta.addon.bake.session"]


def checking():
    """The add-on's module of the running check."""
    return sys.modules["bl_ext.user_default.taffeta.addon.cache.checking"]


def live():
    """The add-on's module of the running Live."""
    return sys.modules["bl_ext.user_default.taffeta.addon.live.session"]


def place_of(name: str, vertex: int) -> tuple[int, int]:
    """Column and row of the screen at which a vertex of an object is shown now."""
    viewport = region("VIEW_3D", "WINDOW")
    item = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
    place = location_3d_to_region_2d(viewport, viewport.data, item.matrix_world @ item.data.vertices[vertex].co)
    return viewport.x + int(place.x), window().height - viewport.y - int(place.y)


def watch_status_bar() -> None:
    """From now on `status_bar` gets, whenever the status bar is drawn, how many frames are done."""
    bpy.types.STATUSBAR_HT_header.append(lambda header, context: status_bar.append(session().state().done))


def watch_renders() -> None:
    """Make renders tiny; `renders` gets, whenever the scene is evaluated for one, the frame and Cloth's vertices."""
    scene = bpy.context.scene
    scene.render.resolution_x = scene.render.resolution_y = 32
    scene.cycles.samples, scene.cycles.use_denoising = 1, False
    bpy.context.preferences.view.render_display_type = "NONE"  # no editor is taken for the picture
    renders.clear()
    bpy.app.handlers.frame_change_post.append(_note_render)  # until another file is opened


def _note_render(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if depsgraph.mode == "RENDER":
        renders.append((scene.frame_current, shown("Cloth", depsgraph)))


def shown_height(name: str, vertex: int) -> float:
    """Of a vertex as the window shows it now, object space, m."""
    item = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
    return item.data.vertices[vertex].co.z


def shown(name: str, depsgraph: bpy.types.Depsgraph | None = None) -> bytes:
    """Vertices (N, 3) float32 of an object as the window shows it now, object space, m: an array's pickle has a NumPy's
    version, and there are two. depsgraph: another than the window's."""
    evaluated = bpy.data.objects[name].evaluated_get(depsgraph or bpy.context.evaluated_depsgraph_get())
    vertices = evaluated.data.vertices
    found = np.empty(3 * len(vertices), np.float32)
    vertices.foreach_get("co", found)
    return found.tobytes()


bpy.app.timers.register(tick, persistent=True)
bpy.app.timers.register(answer, persistent=True)

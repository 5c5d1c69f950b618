# SPDX-License-Identifier: GPL-3.0-or-later
"""Preferences › Add-ons › Taffeta: versions, whether the simulator works on this machine, and the graphics card."""

from __future__ import annotations

from importlib.util import find_spec

import bpy
from bpy.props import StringProperty

from ...gpu_core.messages import coded
from ..device import manifest
from ..device.info import versions
from ..device.self_test import SelfTest, lines, passed
from .greyed import Greyed
from .manual_map import MANUAL
from .physics import message

INSTALLS = manifest.installs()
if INSTALLS:
    from . import gpu_preferences

NEEDED = ("numpy", "scipy", "filelock")  #: beside what Blender brings
WRITTEN = {"numpy": "NumPy", "scipy": "SciPy", "bpy": "bpy"}  #: names that are more than capitalised
TICK = 0.1  #: s between two looks at the running test
ROOT_PACKAGE = __package__.rsplit(".", 2)[0]  # what Blender knows the extension by

_test: SelfTest | None = None  #: the last one; a property would be saved with the preferences
_versions: list[str] = []  #: looked up once, for draw() must not read the disk


class TAFFETA_OT_self_test(Greyed):
    bl_idname = "taffeta.self_test"
    bl_label = "Run Self-Test"
    bl_description = "Simulate a small drape in a process of its own and check it, ten seconds at most"
    bl_options = {"INTERNAL"}

    _timer: bpy.types.Timer | None = None

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return "The test is running" if _test is not None and _test.answer is None else ""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if bpy.app.background or context.window is None:
            return self.execute(context)
        _start()
        self._timer = context.window_manager.event_timer_add(TICK, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Block until the test is over: scripts and background mode, where no timer ever fires."""
        return self._finish(_start().wait())

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        if _test is not None and _test.poll() is None:
            return {"PASS_THROUGH"}
        self.cancel(context)
        for window in context.window_manager.windows:
            for area in window.screen.areas:
                if area.type == "PREFERENCES":
                    area.tag_redraw()
        return self._finish(_test.answer) if _test is not None and _test.answer else {"CANCELLED"}

    def cancel(self, context: bpy.types.Context) -> None:
        """The window closes, or the test is over."""
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None

    def _finish(self, answer: dict) -> set[str]:
        if passed(answer):
            self.report({"INFO"}, f"The self-test passed on {answer['device']}")
        else:
            self.report({"WARNING"}, coded("The self-test failed: the add-on's preferences say where"))
        return {"FINISHED"}


class TAFFETA_AP_preferences(bpy.types.AddonPreferences):
    bl_idname = ROOT_PACKAGE

    wheels: StringProperty(
        name="Folder of Wheels",
        description="Take the GPU libraries from this folder instead of the network; empty means the network",
        subtype="DIR_PATH",
    )

    def draw(self, context: bpy.types.Context) -> None:
        draw_verdict(self.layout.column(), context)
        draw_self_test(self.layout.column(), context)
        draw_graphics_card(self.layout.box().column(), context, self)


def draw_verdict(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Whether Taffeta works on this machine, as far as is known; and where to read on."""
    message(layout, context, *verdict())
    message(layout, context, "It is in Properties › Physics, and in the 3D view's sidebar (N) › Taffeta", "INFO")
    layout.operator("wm.url_open", text="Open Manual", icon="HELP").url = f"{MANUAL.as_uri()}/install.md"
    layout.operator("taffeta.copy_report", text="Copy Report for a Bug", icon="URL")


def verdict() -> tuple[str, str]:
    """(in words, icon)."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        return f"Does not work: {', '.join(missing)} is missing. Install the zip for this system again", "ERROR"
    if _test is None:
        return "All that Taffeta needs is there: Run Self-Test tries it", "INFO"
    if _test.answer is None:
        return "The test is running", "TIME"
    if passed(_test.answer):
        return f"Works on this machine: {_test.answer['device']}", "CHECKMARK"
    failed = [text for well, text in lines(_test.answer) if not well]
    return f"Does not work: {failed[0] if failed else 'the self-test did not begin'}", "ERROR"


def draw_self_test(column: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Versions, the button, and what the last test saw."""
    for text in _versions:
        column.label(text=text)
    column.operator("taffeta.self_test", icon="CHECKMARK")
    if _test is None or _test.answer is None:
        return
    if _test.answer["device"]:
        column.label(text=_test.answer["device"])
    for well, text in lines(_test.answer):
        message(column, context, text, "CHECKMARK" if well else "ERROR")


def draw_graphics_card(
    column: bpy.types.UILayout, context: bpy.types.Context, preferences: bpy.types.AddonPreferences
) -> None:
    """What there is and the buttons to install; in a build that installs nothing, that."""
    if INSTALLS:
        gpu_preferences.draw(column, context, preferences)
    else:
        column.label(text="Graphics card: this build installs no GPU libraries", icon="MEMORY")


def _start() -> SelfTest:
    global _test
    _test = SelfTest()
    return _test


CLASSES = (TAFFETA_OT_self_test, TAFFETA_AP_preferences)


def register() -> None:
    _versions[:] = [f"{WRITTEN.get(name, name.capitalize())} {value}" for name, value in versions().items() if value]
    for item in CLASSES:
        bpy.utils.register_class(item)


def unregister() -> None:
    global _test
    if _test is not None:
        _test.kill()
        _test = None
    for item in reversed(CLASSES):
        bpy.utils.unregister_class(item)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The graphics card in the add-on's preferences: what is there, what is in the way, and the libraries it needs."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ...gpu_core.backend.graphics_card import Diagnosis
from ...gpu_core.files.disk import DiskError
from ...gpu_core.messages import coded
from ..bake import session
from ..device import installation
from ..device import libraries as gpu_libraries
from ..device.info import card_lines, device_words
from ..device.installation import Installation
from ..device.json_process import JsonProcess
from ..device.libraries import PINS, VARIABLE
from .greyed import BAKING, Greyed
from .physics import message

TICK = 0.2  #: s between two looks at what runs

# Module state: properties would be saved with the preferences. draw() must not read the disk.
_installation: Installation | None = None  #: the last one
_question: JsonProcess | None = None  #: to the graphics card, while it runs
_card: dict[str, Any] | None = None  #: the last answer
_cuda: dict[str, Any] | None = None  #: what the CUDA backend said of itself with it
_versions: dict[str, str] = {}  #: what is installed


def refusal_of_network() -> str:
    """Why nothing may be fetched, or nothing."""
    if bpy.app.online_access:
        return ""
    if bpy.app.online_access_override:
        return "Blender was started offline: start it with --online-mode, or choose a folder of wheels"
    return "Allow Online Access in Preferences › System › Network, or choose a folder of wheels"


def _running() -> bool:
    return _installation is not None and _installation.state == "running"


def _in_use() -> str:
    """What keeps the libraries from being changed, or nothing."""
    if _running():
        return "They are being installed"
    return BAKING if session.current is not None else ""


class TAFFETA_OT_gpu_look(Greyed):
    bl_idname = "taffeta.gpu_look"
    bl_label = "Look for a Graphics Card"
    bl_description = "Ask the NVIDIA driver which cards there are, and whether Taffeta can use them"
    bl_options = {"INTERNAL"}

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return "It is being looked for" if _question is not None or _running() else ""

    def execute(self, context: bpy.types.Context) -> set[str]:
        global _question
        _question = JsonProcess("gpu_core.backend.graphics_card", libraries=gpu_libraries.libraries())
        _follow()
        return {"FINISHED"}


class TAFFETA_OT_gpu_install(Greyed):
    bl_idname = "taffeta.gpu_install"
    bl_label = "Install GPU Libraries"
    bl_description = "Fetch CuPy and NVRTC, about 200 MB, into a folder of Taffeta's own; nothing else is changed"
    bl_options = {"INTERNAL"}

    wheels: StringProperty(
        name="Folder of Wheels",
        description="Take the libraries from here instead of the network",
        subtype="DIR_PATH",
        options={"SKIP_SAVE"},
    )
    any_machine: BoolProperty(
        name="Even Without a Card",
        description="Install although no card can be used here, for another machine with this disk",
        default=False,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return _in_use()

    def execute(self, context: bpy.types.Context) -> set[str]:
        global _installation
        folder = gpu_libraries.place()
        refusal = "" if self.wheels else refusal_of_network()
        if refusal or folder is None:
            self.report({"ERROR"}, coded(refusal or "Blender has no folder for extensions"))
            return {"CANCELLED"}
        wheels = Path(bpy.path.abspath(self.wheels)) if self.wheels else None
        if wheels is not None and not wheels.is_dir():
            self.report({"ERROR"}, coded(f"{wheels} is no folder"))
            return {"CANCELLED"}
        _installation = Installation(folder, wheels, any_machine=self.any_machine)
        _follow()
        if _installation.state == "failed":  # in background; else it has only begun
            self.report({"ERROR"}, coded(_installation.text))
            return {"CANCELLED"}
        return {"FINISHED"}


class TAFFETA_OT_gpu_cancel(Greyed):
    bl_idname = "taffeta.gpu_cancel"
    bl_label = "Cancel"
    bl_description = "Stop the installation and delete what it has fetched"
    bl_options = {"INTERNAL"}

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return "" if _running() else "Nothing is being installed"

    def execute(self, context: bpy.types.Context) -> set[str]:
        if _installation is not None:
            _installation.cancel()
        return {"FINISHED"}


class TAFFETA_OT_gpu_uninstall(Greyed):
    bl_idname = "taffeta.gpu_uninstall"
    bl_label = "Uninstall"
    bl_description = "Delete the GPU libraries from Taffeta's folder; baking goes on on the processor"
    bl_options = {"INTERNAL"}

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return _in_use() or ("" if _versions else "They are not installed")

    def execute(self, context: bpy.types.Context) -> set[str]:
        global _installation
        folder, _installation = gpu_libraries.place(), None
        try:
            if folder is not None:
                installation.remove(folder)
        except DiskError as error:
            self.report({"ERROR"}, coded(str(error)))
            return {"CANCELLED"}
        finally:
            look()
        return {"FINISHED"}


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, preferences: bpy.types.AddonPreferences) -> None:
    """The section in the preferences."""
    layout.label(text="Graphics card", icon="MEMORY")
    for text in card_lines(_card) if _card else ["Not looked at yet"]:
        message(layout, context, text, "BLANK1")
    if _card and not _card["problem"]:
        layout.label(text="Taffeta can use it" if _versions else "It needs the GPU libraries", icon="BLANK1")
    if _cuda and _versions:
        message(layout, context, device_words(_cuda), "BLANK1")
    layout.operator("taffeta.gpu_look", icon="VIEWZOOM")
    if _running():
        assert _installation is not None
        row = layout.row(align=True)
        row.progress(factor=_installation.share, text=_installation.text)
        row.operator("taffeta.gpu_cancel", text="", icon="X")
        return
    layout.prop(preferences, "wheels")
    row = layout.row(align=True)
    row.operator("taffeta.gpu_install", icon="IMPORT").wheels = preferences.wheels
    row.operator("taffeta.gpu_uninstall", icon="TRASH")
    if _installation is not None:
        icon = {"done": "CHECKMARK", "cancelled": "INFO"}.get(_installation.state, "ERROR")
        message(layout, context, _installation.text, icon)
    for name, version in _versions.items():
        old = f", this Taffeta is tested with {PINS[name]}: install again" if version != PINS[name] else ""
        layout.label(text=f"{name} {version}{old}", icon="ERROR" if old else "BLANK1")
    if os.environ.get(VARIABLE):
        layout.label(text=f"{VARIABLE} names another folder, which is used instead", icon="INFO")


def look() -> None:
    """Find out what is installed."""
    folder = gpu_libraries.place()
    _versions.clear()
    if folder is not None:
        _versions.update((name, version) for name, version in gpu_libraries.installed(folder).items() if name in PINS)


def _follow() -> None:
    """Until it is over: now in background, where no timer ever fires, else by a timer."""
    if not bpy.app.background:
        if not bpy.app.timers.is_registered(_tick):
            bpy.app.timers.register(_tick, first_interval=TICK)
        return
    if _question is not None:
        _question.wait()
    if _installation is not None:
        _installation.wait()
    _tick()


def _tick() -> float | None:
    global _question, _card, _cuda
    if _question is not None and (answer := _question.poll()) is not None:
        silent = Diagnosis(f"Looking for the graphics card {answer.get('error')}", "Check the NVIDIA driver")
        _card, _question = answer.get("card") or asdict(silent), None
        _cuda = answer.get("backends", {}).get("cuda")
    going_on = _installation is not None and _installation.poll()
    if _installation is not None:
        _card = _installation.card or _card
        if not going_on:
            look()
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "PREFERENCES":
                area.tag_redraw()
    return TICK if going_on or _question is not None else None


CLASSES = (TAFFETA_OT_gpu_look, TAFFETA_OT_gpu_install, TAFFETA_OT_gpu_cancel, TAFFETA_OT_gpu_uninstall)
_register_classes, _unregister_classes = bpy.utils.register_classes_factory(CLASSES)


def register() -> None:
    look()
    _register_classes()


def unregister() -> None:
    global _installation, _question, _card, _cuda
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    if _installation is not None:
        _installation.cancel()
    if _question is not None:
        _question.kill()
    _installation = _question = _card = _cuda = None
    _unregister_classes()

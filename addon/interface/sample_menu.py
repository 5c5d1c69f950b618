# SPDX-License-Identifier: GPL-3.0-or-later
"""Add › Taffeta Sample: scenes that are ready to bake, each as a new scene of the open file."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty, IntProperty

from ...sample_blends import NAMES, add_scene, label, summary
from .greyed import Greyed, busy

VERTICES = 2500
SAMPLES = [(name, label(name), summary(name)) for name in NAMES]


class TAFFETA_OT_add_sample(Greyed):
    bl_idname = "taffeta.add_sample"
    bl_label = "Add Taffeta Sample"
    bl_description = "Build a scene that is ready to bake, as a new scene of this file; the others stay as they are"
    bl_options = {"REGISTER", "UNDO"}

    name: EnumProperty(name="Sample", description="What is built", items=SAMPLES)
    vertices: IntProperty(
        name="Vertices",
        description="Vertices of the cloth, or so: more fold finer, and take longer to bake",
        default=VERTICES,
        min=400,
        soft_max=20_000,
        max=1_000_000,
    )

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return busy(context) or ("" if context.mode == "OBJECT" else "Go to Object Mode first")

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return f"{summary(properties.name)}. As a new scene of this file: the scenes in it stay as they are"

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene = add_scene(self.name, self.vertices, context.window)
        _turn_to_cloth(context.window, scene)
        self.report({"INFO"}, f"This is the new scene {scene.name}, ready to bake")
        return {"FINISHED"}


def _turn_to_cloth(window: bpy.types.Window, scene: bpy.types.Scene) -> None:
    """The first cloth is active, so that its panels are there, and the 3D views look through the sample's camera."""
    cloth = next(item for item in scene.objects if item.taffeta.role == "CLOTH")
    cloth.select_set(True)
    window.view_layer.objects.active = cloth
    for area in window.screen.areas:
        if area.type == "VIEW_3D" and scene.camera is not None:
            area.spaces.active.region_3d.view_perspective = "CAMERA"


class TAFFETA_MT_samples(bpy.types.Menu):
    bl_label = "Taffeta Sample"

    def draw(self, context: bpy.types.Context) -> None:
        for name in NAMES:
            self.layout.operator("taffeta.add_sample", text=label(name)).name = name


def _draw_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    menu.layout.menu("TAFFETA_MT_samples", icon="MOD_CLOTH")


CLASSES = (TAFFETA_OT_add_sample, TAFFETA_MT_samples)
_register_classes, _unregister_classes = bpy.utils.register_classes_factory(CLASSES)


def register() -> None:
    _register_classes()
    bpy.types.VIEW3D_MT_add.append(_draw_menu)


def unregister() -> None:
    bpy.types.VIEW3D_MT_add.remove(_draw_menu)
    _unregister_classes()

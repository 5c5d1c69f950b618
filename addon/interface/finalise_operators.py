# SPDX-License-Identifier: GPL-3.0-or-later
"""Buttons that turn baked cloth into something that needs no cache. Thin: what they do is in `to_…` and `velocity`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty
from bpy_extras.io_utils import ExportHelper

from ...gpu_core.files.cache import CacheError
from ...gpu_core.files.disk import DiskError
from ...gpu_core.messages import coded
from ...gpu_core.scene.scene import SceneError
from ..cache import frames as baked_frames
from ..cache import velocity
from ..cache.frames import BakedFrames
from ..finalise import to_file, to_mesh, to_shape_keys
from ..scene import dense, retiming, roster
from .greyed import Greyed, busy

MESHES = (
    ("BOTH", "Cloth and Dense", "The cloth, and the meshes that follow it"),
    ("CLOTH", "Cloth", "The mesh that was simulated"),
    ("DENSE", "Dense", "The meshes that follow it, where there are some"),
)
SHAPE_KEYS = "A copy of the cloth with a shape key a frame takes the place of the cloth, which is hidden"
ABSOLUTE = f"{SHAPE_KEYS}. They follow one evaluation time: faster to play, but no other key can be added"


def chosen(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected cloth, and the active one."""
    items = dict.fromkeys([*context.view_layer.objects.selected, context.object])
    return [item for item in items if item is not None and item.taffeta.role == "CLOTH"]


class Finalising(Greyed):
    """Works on every chosen cloth, all of whose caches must be ready."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        cloths = chosen(context)
        known = (baked_frames.known_trouble(context.scene, cloth) for cloth in cloths)
        return busy(context) or (next(map(str, filter(None, known)), "") if cloths else "No cloth is selected")

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            text = self.finalise(context, [baked_frames.read(context, cloth) for cloth in chosen(context)])
        except (SceneError, CacheError, DiskError) as error:
            self.report({"ERROR"}, coded(str(error)))
            return {"CANCELLED"}
        self.report({"INFO"}, text)
        return {"FINISHED"}

    def finalise(self, context: bpy.types.Context, baked: Sequence[BakedFrames]) -> str:
        """Do it and say what was done. Raises SceneError, CacheError, DiskError before any object is changed."""
        raise NotImplementedError


class TAFFETA_OT_to_shape_keys(Finalising):
    bl_idname = "taffeta.to_shape_keys"
    bl_label = "Cloth Cache to Shape Keys"
    bl_description = f"{SHAPE_KEYS}. Each key has a value of its own, so that keys of yours can be added"

    absolute: BoolProperty(
        name="Absolute",
        description=ABSOLUTE,
        default=False,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return ABSOLUTE if properties.absolute else cls.bl_description

    def finalise(self, context: bpy.types.Context, baked: Sequence[BakedFrames]) -> str:
        for frames in baked if self.absolute else []:
            to_shape_keys.require_few(frames)
        made = [to_shape_keys.convert(context, frames, self.absolute) for frames in baked]
        select(context, made)
        return f"{sum(len(frames.positions) for frames in baked)} shape keys on {names(made)}"


class TAFFETA_OT_to_mesh(Finalising):
    bl_idname = "taffeta.to_mesh"
    bl_label = "Cloth Cache to Mesh"
    bl_description = "A new mesh object: the cloth as it was simulated at the current frame, without modifiers"

    def finalise(self, context: bpy.types.Context, baked: Sequence[BakedFrames]) -> str:
        frame = retiming.current(context.scene)
        for frames in baked:
            frames.at(frame)  # for every cloth, before the first one is made
        followers = roster.members(context.scene).followers
        following = [item for frames in baked for item in dense.followers(followers, frames.cloth)]
        made = [to_mesh.convert(context, frames, frame) for frames in baked]
        made += [to_mesh.convert_dense(context, item, frame) for item in following]
        select(context, made)
        return f"Made {names(made)}"


class TAFFETA_OT_velocity(Finalising):
    bl_idname = "taffeta.velocity"
    bl_label = "Add Cloth Velocity"
    bl_description = (
        "Give the cloth the attribute “velocity” in every frame, for motion blur in Cycles and in Alembic and USD files"
    )

    def finalise(self, context: bpy.types.Context, baked: Sequence[BakedFrames]) -> str:
        for frames, path in [(frames, velocity.write(frames)) for frames in baked]:
            velocity.add(frames, path)
        return f"{names([frames.cloth for frames in baked])} has velocities"


class Exporting(Finalising, ExportHelper):
    bl_options = {"REGISTER"}

    modifiers: BoolProperty(
        name="Modifiers",
        description="Write the cloth as the viewport shows it, with the modifiers after its cache; "
        "otherwise as it was simulated",
        default=False,
    )
    meshes: EnumProperty(
        name="Meshes",
        description="What is written of a cloth that dense meshes follow; one that nothing follows is always written",
        items=MESHES,
        default="BOTH",
    )

    @classmethod
    def obstacle(cls, context: bpy.types.Context) -> str:
        return to_file.unavailable(cls.filename_ext) or super().obstacle(context)

    def finalise(self, context: bpy.types.Context, baked: Sequence[BakedFrames]) -> str:
        to_file.write(context, baked, Path(bpy.path.abspath(self.filepath)), self.modifiers, self.meshes)
        return f"Wrote {self.filepath}"


class TAFFETA_OT_export_alembic(Exporting):
    bl_idname = "taffeta.export_alembic"
    bl_label = "Export Cloth as Alembic"
    bl_description = "Write the selected cloth over all baked frames into an Alembic file"

    filename_ext = ".abc"
    filter_glob: StringProperty(default="*.abc", options={"HIDDEN"})


class TAFFETA_OT_export_usd(Exporting):
    bl_idname = "taffeta.export_usd"
    bl_label = "Export Cloth as USD"
    bl_description = "Write the selected cloth over all baked frames into a USD file"

    filename_ext = ".usdc"
    filter_glob: StringProperty(default="*.usdc", options={"HIDDEN"})


CLASSES = (
    TAFFETA_OT_to_shape_keys,
    TAFFETA_OT_to_mesh,
    TAFFETA_OT_velocity,
    TAFFETA_OT_export_alembic,
    TAFFETA_OT_export_usd,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)


def select(context: bpy.types.Context, items: Sequence[bpy.types.Object]) -> None:
    """Make these objects the only selected ones, the first one active."""
    for other in context.view_layer.objects.selected:
        other.select_set(False)
    for item in items:
        item.select_set(True)
    context.view_layer.objects.active = items[0]


def names(items: Sequence[bpy.types.Object]) -> str:
    return ", ".join(item.name for item in items)

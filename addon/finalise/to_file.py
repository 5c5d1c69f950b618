# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth as an Alembic or USD file, by Blender's own exporters.

The exporters cannot be left alone with a disk: Alembic's library ends Blender where the disk is full, USD's leaves half
a file and reports success. So there must be room, and the file grows under another name until it is whole.
"""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import bpy

from ...gpu_core.bake.log import MIB
from ...gpu_core.files.disk import DiskError, disk_errors, require_writable
from ...gpu_core.scene.scene import SceneError
from ..cache import velocity
from ..cache.frames import BakedFrames
from ..scene import dense, modifier
from ..scene.evaluated import require_enabled
from ..scene.gather import members

ALEMBIC = frozenset({".abc"})
USD = frozenset({".usdc", ".usd"})

#: First bytes of an Alembic (Ogawa) and of a USD (crate) file, and where in it the place of its table stands.
CONTAINERS = {b"Ogawa\xff": 8, b"PXR-USDC": 16}
HEADER_BYTES = 24

MESHES = ("BOTH", "CLOTH", "DENSE")  #: of a cloth that dense meshes follow
POINT_BYTES = 12  #: of one position or velocity
CORNER_BYTES = 100  #: of one face corner, once: indices, UV maps, original coordinates
SPARE = 2 * MIB


def unavailable(suffix: str) -> str:
    """Why this Blender cannot write files of this kind, with the remedy; empty where it can."""
    if suffix not in ALEMBIC | USD:
        return f"{suffix or 'No suffix'} is neither Alembic nor USD. Choose one of {', '.join(sorted(ALEMBIC | USD))}"
    if not (bpy.app.build_options.alembic if suffix in ALEMBIC else bpy.app.build_options.usd):
        return f"This Blender was built without {'Alembic' if suffix in ALEMBIC else 'USD'}. Take one from blender.org"
    return ""


def write(
    context: bpy.types.Context,
    baked: Sequence[BakedFrames],
    path: Path,
    modifiers: bool = False,
    meshes: str = "BOTH",
) -> None:
    """Write the cloths, over all frames of their caches, into a file whose suffix chooses the format.

    Positions are the cache's own numbers, in object space below the object's own transform. Velocities are in the file
    where the cloth has them (`velocity`).

    Args:
        modifiers: as the viewport shows the cloths, with the modifiers after their caches; otherwise as simulated.
        meshes: one of `MESHES`. Where nothing follows a cloth, it is written itself in any case.

    Raises:
        SceneError: a cache is not what the cloth shows.
        DiskError: the file cannot be written; what was there before stays.
    """
    trouble = unavailable(path.suffix)
    if trouble:
        raise DiskError(*trouble.rsplit(". ", 1))
    require_writable(path.parent)
    growing = path.with_name(f"{path.stem}.new{path.suffix}")
    items = _chosen(context, baked, meshes)
    with ExitStack() as undo:
        if not modifiers:
            for frames in baked:
                _require_unblended(frames.cloth)
            for item in dict.fromkeys([*(frames.cloth for frames in baked), *items]):
                undo.enter_context(modifier.suspended(_refining(item)))
        _require_room(context, baked, items, path)
        try:
            _export(context, baked, items, growing, modifiers)
            _require_whole(growing)
            with disk_errors(path):
                os.replace(growing, path)
        finally:
            growing.unlink(missing_ok=True)


def _chosen(context: bpy.types.Context, baked: Sequence[BakedFrames], meshes: str) -> list[bpy.types.Object]:
    """The objects that are written."""
    followers = members(context.scene).followers
    found: list[bpy.types.Object] = []
    for frames in baked:
        following = dense.followers(followers, frames.cloth)
        for item in following if meshes != "CLOTH" else ():
            require_enabled(item, context.view_layer.layer_collection)
        found += [frames.cloth] if meshes != "DENSE" or not following else []
        found += following if meshes != "CLOTH" else []
    return found


def _refining(item: bpy.types.Object) -> list[bpy.types.Modifier]:
    """What comes after the cache of a cloth, or after what lets a mesh follow one, and is no velocity."""
    own = dense.find(item)
    place = modifier.place(item) if own is None else item.modifiers.find(own.name)
    return [entry for entry in list(item.modifiers)[place + 1 :] if entry != velocity.find(item)]


def _require_unblended(cloth: bpy.types.Object) -> None:
    own = modifier.find(cloth)
    if own is None or not own.show_viewport or own.factor < 1.0 or own.vertex_group:
        raise SceneError(
            cloth.name,
            f"the modifier “{modifier.NAME}” is switched off or blended, so the cloth does not show its cache",
            "Switch it on with influence 1 and no vertex group, or write the file with modifiers",
        )


def _require_room(
    context: bpy.types.Context, baked: Sequence[BakedFrames], items: Sequence[bpy.types.Object], path: Path
) -> None:
    depsgraph, frames = context.evaluated_depsgraph_get(), max(len(entry.positions) for entry in baked)
    needed = SPARE
    for item in items:
        mesh = item.evaluated_get(depsgraph).data
        arrays = 2 if velocity.find(item) else 1
        needed += frames * len(mesh.vertices) * arrays * POINT_BYTES
        needed += len(mesh.loops) * CORNER_BYTES
    with disk_errors(path):
        free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise DiskError(
            f"The disk is too full: {path} takes up to {needed / MIB:.0f} MiB, {free / MIB:.0f} MiB are free",
            "Free some space or choose another folder",
        )


def _export(
    context: bpy.types.Context,
    baked: Sequence[BakedFrames],
    items: Sequence[bpy.types.Object],
    path: Path,
    modifiers: bool,
) -> None:
    start, end = min(frames.frame_start for frames in baked), max(frames.frame_end for frames in baked)
    with _stage(context) as stage, _disk_reports(path):
        for item in items:
            stage.collection.objects.link(item)
        stage.frame_start, stage.frame_end = start, end
        if path.suffix in ALEMBIC:
            bpy.ops.wm.alembic_export(
                filepath=str(path),
                start=start,
                end=end,
                evaluation_mode="VIEWPORT",
                normals=False,
                apply_subdiv=modifiers,  # else Alembic leaves out a last subdivision that is on
                export_hair=False,
                export_particles=False,
                export_custom_properties=False,
            )
        else:
            bpy.ops.wm.usd_export(
                filepath=str(path),
                export_animation=True,
                evaluation_mode="VIEWPORT",
                export_subdivision="TESSELLATE",
                export_normals=False,
                export_armatures=False,
                export_shapekeys=False,
                export_materials=False,
                export_hair=False,
                export_custom_properties=False,
            )


def _require_whole(path: Path) -> None:
    """Both containers name, near their beginning, where the table of all they hold lies: it is written last."""
    with disk_errors(path), open(path, "rb") as file:
        head = file.read(HEADER_BYTES)
        size = os.fstat(file.fileno()).st_size
    kind = next((kind for kind in CONTAINERS if head.startswith(kind)), b"")
    table = struct.unpack_from("<Q", head, CONTAINERS[kind])[0] if kind and len(head) == HEADER_BYTES else size
    if not 0 < table < size:
        raise DiskError(f"{path} could not be written whole", "Look at the disk, or choose another folder")


@contextmanager
def _stage(context: bpy.types.Context) -> Iterator[bpy.types.Scene]:
    """An empty scene with the time and the units of the open one, in whose stead it stands.

    Selection, visibility and the current frame of the open one are the user's.
    """
    scene = context.scene
    stage = bpy.data.scenes.new("Taffeta")
    try:
        stage.render.fps, stage.render.fps_base = scene.render.fps, scene.render.fps_base
        stage.unit_settings.scale_length = scene.unit_settings.scale_length
        with context.temp_override(scene=stage, view_layer=stage.view_layers[0]):
            yield stage
    finally:
        bpy.data.scenes.remove(stage)


@contextmanager
def _disk_reports(path: Path) -> Iterator[None]:
    """Blender's operators raise what they report."""
    try:
        yield
    except RuntimeError as error:
        raise DiskError(f"{path}: {str(error).strip()}", "Choose another folder") from error

"""Where the cache of a scene lies.

    <folder of the .blend>/taffeta_cache/<stem of the .blend>/<scene>/    or the folder the user chose

One folder holds one scene: its caches, its bake state and, in `job`, the scene as it was handed to the solver.
"""

from __future__ import annotations

from pathlib import Path

import bpy

from ..gpu_core.disk import disk_errors, make_folder, write_whole
from ..gpu_core.scene import SceneError
from . import modifier
from .gather import cloth_objects
from .keys import file_stem

FOLDER = "taffeta_cache"
JOB = "job"
JOB_FILES = ("job.json", "cloth_*.npz", "collider_*_triangles.npy", "collider_*_positions.npy", "subspace_*.npz")


def beside(blend: Path, scene: bpy.types.Scene) -> Path:
    """The cache folder of this scene in a .blend file at this path."""
    return blend.parent / FOLDER / file_stem(blend.stem) / file_stem(scene.name)


def target(scene: bpy.types.Scene, blend: Path | None = None) -> Path:
    """Where the next bake of this scene is written, absolute.

    Args:
        blend: the .blend file the bake is for; None takes the open one.

    Raises:
        SceneError: no place can be derived, because the .blend was never saved.
    """
    chosen = scene.taffeta.cache_folder
    open_file = Path(bpy.data.filepath) if bpy.data.filepath else None
    if chosen and not (chosen.startswith("//") and open_file is None):
        return Path(bpy.path.abspath(chosen)).resolve()
    home = blend or open_file
    if home is not None:
        return beside(home.resolve(), scene)
    if bpy.app.background:
        raise SceneError(
            scene.name,
            "the .blend file has never been saved, so the cache has no place",
            "Save the file and bake again",
        )
    return temporary(scene)


def temporary(scene: bpy.types.Scene) -> Path:
    """For a file that was never saved; Blender deletes it at exit."""
    return Path(bpy.app.tempdir) / FOLDER / file_stem(scene.name)


def is_temporary(path: str) -> bool:
    """Is this path, as a modifier stores it, below `temporary`? Cheap enough for drawing."""
    return bool(bpy.app.tempdir) and Path(path).is_relative_to(Path(bpy.app.tempdir) / FOLDER)


def attached(scene: bpy.types.Scene) -> Path | None:
    """The folder that the cloths' Mesh Cache modifiers play from, or None where no cloth has one."""
    for cloth in cloth_objects(scene):
        own = modifier.find(cloth)
        if own is not None and own.filepath:
            return Path(bpy.path.abspath(own.filepath, library=cloth.library)).resolve().parent
    return None


def current(scene: bpy.types.Scene) -> Path:
    """The folder of the last bake: what the modifiers play, else where a bake would go. Raises SceneError."""
    return attached(scene) or target(scene)


def make_writable(folder: Path) -> None:
    """Make the folder and try to write in it.

    Raises:
        DiskError: it cannot be made or written.
    """
    make_folder(folder)
    trial = folder / "trial"
    write_whole(trial, lambda file: file.write(b"Taffeta can write here."))
    trial.unlink(missing_ok=True)


def free_job(folder: Path) -> None:
    """Delete the job inside a cache folder: what `gpu_core.job` writes and nothing else. Raises DiskError."""
    place = folder / JOB
    with disk_errors(place):
        for pattern in JOB_FILES:
            for path in place.glob(pattern):
                path.unlink()
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()

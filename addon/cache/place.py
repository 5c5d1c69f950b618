# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the caches of a scene lie, and whose they are.

    <folder of the .blend>/taffeta_cache/<stem of the .blend>/<scene>/              the bake of all its cloth
    …                                                                /parts/<cloth>/    of some of it, or of all where
                                                                                        something else plays the first
    or a folder of ours within the one that the user chose instead of the first line

One folder holds one bake (`gpu_core.files.folder`): its caches, its state, in `job` the scene as it was handed to the
solver, and in owner.json which scene of which .blend it is for. Nobody else's bake ever replaces or frees it.
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import bpy

from ...gpu_core.files import cache
from ...gpu_core.files import folder as own_folder
from ...gpu_core.files.cache import CacheError
from ...gpu_core.files.disk import DiskError, disk_errors, make_folder, write_whole
from ...gpu_core.files.folder import JOB, OWNER, PARTS
from ...gpu_core.files.handover import adopt, incoming
from ...gpu_core.files.lock import locked
from ...gpu_core.scene.scene import SceneError
from ..scene import modifier
from ..scene.gather import cloth_objects, own_cloths
from ..scene.keys import assign, file_stem, scene_key

FOLDER = "taffeta_cache"

_file = 0  #: the number of the file that is open, of those that this Blender has opened


def beside(blend: Path, scene: bpy.types.Scene) -> Path:
    """The cache folder of this scene in a .blend file at this path."""
    return blend.parent / FOLDER / file_stem(blend.stem) / scene_key(scene)


def target(scene: bpy.types.Scene, blend: Path | None = None, cloths: Sequence[bpy.types.Object] | None = None) -> Path:
    """Where the next bake of this scene is written, absolute.

    Args:
        blend: the .blend file the bake is for; None takes the open one.
        cloths: the cloths that are baked; None or all of them share one place. Fewer get one of their own; so do all
            where a garment that is no cloth any more, but a body for the next, still plays from that place.

    Raises:
        SceneError: no place can be derived, because the .blend was never saved.
    """
    whole, every = _whole(scene, blend), cloth_objects(scene)
    own = [cloth for cloth in every if cloth.library is None]
    taken = any(played(item) == whole for item in players(scene) if item not in every)
    if not taken and (cloths is None or len(cloths) == len(own)):
        return whole
    keys = assign(every)
    chosen = sorted(keys[cloth.name_full] for cloth in (own if cloths is None else cloths))
    if not chosen:
        return whole
    others = f"+{len(chosen) - 1}-{zlib.crc32('/'.join(chosen).encode()):08x}" if len(chosen) > 1 else ""
    return whole / PARTS / (chosen[0] + others)


def _whole(scene: bpy.types.Scene, blend: Path | None) -> Path:
    chosen = scene.taffeta.cache_folder
    home = blend or open_file()
    start = open_file() or home  # what “//” is relative to: Blender makes it right for another file that it saves
    if chosen and not (chosen.startswith("//") and start is None):
        return own_folder.of_user(Path(bpy.path.abspath(chosen, start=str(start.parent) if start else None)).resolve())
    if home is not None:
        return beside(home.resolve(), scene)
    if bpy.app.background:
        raise SceneError(
            scene.name,
            "the .blend file has never been saved, so the cache has no place",
            "Save the file and bake again",
        )
    return temporary(scene)


def open_file() -> Path | None:
    return Path(bpy.data.filepath) if bpy.data.filepath else None


def blend_path(path: Path, home: Path | None) -> str:
    """`path` as Blender stores it: `//…` relative to the .blend at `home`; absolute without one or on another drive."""
    path = path.resolve()
    if home is None:
        return str(path)
    try:
        relative = os.path.relpath(path, home.resolve().parent)
    except ValueError:  # Windows: no relative path between drives
        return str(path)
    return "//" + Path(relative).as_posix()


def temporary(scene: bpy.types.Scene) -> Path:
    """For a file that was never saved; Blender deletes it at exit."""
    return Path(bpy.app.tempdir) / FOLDER / str(_file) / scene_key(scene)


def begin_file() -> None:
    """Another file is open: what lies in the temporary folder is of one that was given up, and not of this one."""
    global _file
    _file += 1


def saved(folder: Path, scene: bpy.types.Scene, blend: Path) -> Path:
    """Where a bake of this scene in the temporary folder goes once there is a .blend."""
    own = temporary(scene)
    return _whole(scene, blend) / (folder.relative_to(own) if folder.is_relative_to(own) else "")


def is_temporary(path: str) -> bool:
    """Is this path, as a modifier stores it, below `temporary`? Cheap enough for drawing."""
    return bool(bpy.app.tempdir) and Path(path).is_relative_to(Path(bpy.app.tempdir) / FOLDER)


def played(cloth: bpy.types.Object) -> Path | None:
    """The folder that this cloth's Mesh Cache modifier plays from, or None where it has none."""
    own = modifier.find(cloth)
    if own is None or not own.filepath:
        return None
    return Path(os.path.abspath(bpy.path.abspath(own.filepath, library=cloth.library))).parent


def players(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Who plays a bake of this file, whatever its role is by now."""
    return [item for item in scene.objects if item.library is None and modifier.find(item) is not None]


def attached(cloths: Iterable[bpy.types.Object]) -> dict[Path, list[bpy.types.Object]]:
    """The folders that these cloths play from, each with those that do."""
    return _by_folder((played(cloth), cloth) for cloth in cloths)


def _by_folder(found: Iterable[tuple[Path | None, bpy.types.Object]]) -> dict[Path, list[bpy.types.Object]]:
    folders: dict[Path, list[bpy.types.Object]] = {}
    for folder, cloth in found:
        if folder is not None:
            folders.setdefault(folder, []).append(cloth)
    return folders


def lies_in(scene: bpy.types.Scene, cloth: bpy.types.Object) -> Path | None:
    """Where frames of this cloth lie that no modifier plays: the file was closed, or undone, in the midst of a bake."""
    every = cloth_objects(scene)
    key = assign(every)[cloth.name_full]
    with suppress(SceneError):
        for folder in (target(scene), target(scene, cloths=[cloth])):
            with suppress(CacheError):
                if key in cache.read_contents(folder).points and not foreign(folder, scene):
                    return folder
    return None


def lies(scene: bpy.types.Scene, cloth: bpy.types.Object) -> Path | None:
    """Where the bake of this cloth lies: where its modifier plays it, or would, were the path of it right."""
    folder = played(cloth)
    if cloth.library is not None or (folder is not None and own_folder.holds_bake(folder)):
        return folder
    return lies_in(scene, cloth) or folder


def lying(scene: bpy.types.Scene, cloths: Iterable[bpy.types.Object]) -> dict[Path, list[bpy.types.Object]]:
    """The folders in which the bakes of those of these cloths lie that play one, or would."""
    return _by_folder((lies(scene, cloth), cloth) for cloth in cloths if played(cloth) is not None)


def shared(cloth: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """The other scene of this file whose bake this cloth plays, where it is in both; or nothing."""
    folder = played(cloth)
    if folder is None or not (folder / JOB / OWNER).is_file() or foreign(folder, scene) == "":
        return ""
    others = [other for other in bpy.data.scenes if other != scene and cloth.name_full in other.objects]
    return next((other.name for other in others if not foreign(folder, other)), "")


def shared_problem(other: str) -> str:
    return f"it is in the scene “{other}” too and plays the bake of that one"


def refuse_shared(cloths: Iterable[bpy.types.Object], scene: bpy.types.Scene) -> None:
    """Raises SceneError where a cloth plays the bake of another scene, which would lose it: it has one modifier."""
    for cloth in cloths:
        other = shared(cloth, scene)
        if other:
            raise SceneError(
                cloth.name,
                shared_problem(other),
                "Make it single user here (Object > Relations > Make Single User > Object), or free it there",
            )


def current(scene: bpy.types.Scene) -> Path:
    """The folder of the last bake: what the modifiers play, or would; else where a bake goes. Raises SceneError."""
    return next(iter(lying(scene, own_cloths(scene))), None) or target(scene)


def claim(job: Path, folder: Path, scene: bpy.types.Scene, blend: Path | None = None) -> None:
    """Write down that a job is for this scene of the .blend at this path; None: the open one. Raises DiskError.

    folder: of the cache that the job is for; another folder may be where it lies so far.
    """
    home = blend or open_file()
    values = {"blend": _relative(home, folder) if home else "", "scene": scene_key(scene)}
    make_folder(job)
    write_whole(job / OWNER, lambda file: file.write(json.dumps(values).encode()))


def foreign(folder: Path, scene: bpy.types.Scene, blend: Path | None = None) -> str:
    """Whose bake lies in the folder, in words, where it is another scene's or another file's that still exists."""
    try:
        values = json.loads((folder / JOB / OWNER).read_text(encoding="utf-8"))
        owner, owner_scene = str(values["blend"]), str(values["scene"])
    except (OSError, ValueError, TypeError, KeyError):  # nobody has claimed it
        return ""
    home = blend or open_file()
    path = Path(os.path.normpath(folder / owner)) if owner else None
    if path is not None and (home is None or not _same(path, home)):
        return str(path) if path.exists() else ""
    if owner_scene == scene_key(scene) or owner_scene not in (scene_key(other) for other in bpy.data.scenes):
        return ""
    return f"the scene {owner_scene}"


def refuse_foreign(folder: Path, scene: bpy.types.Scene, blend: Path | None = None) -> None:
    """Raises CacheError where the folder holds the bake of another scene or file."""
    whose = foreign(folder, scene, blend)
    if whose:
        raise CacheError(f"{folder} holds the bake of {whose}", "Choose another cache folder, or free it there")


def take_over(source: Path, folder: Path) -> None:
    """Copy a bake into a folder of our own, to go on with it there: all of it, or nothing. Raises CacheError,
    DiskError."""
    own_folder.prepare(folder)
    try:
        with locked(folder), disk_errors(folder):
            own_folder.clear(folder)
            _bring_job(source, folder, owned=False)  # which says what a longer range has in common with it
            for path in cache.files(source):
                if path.name != cache.CONTENTS:
                    shutil.copy2(path, folder)
            shutil.copy2(source / cache.CONTENTS, folder)  # last: without it the folder counts as empty
    except (CacheError, DiskError):
        own_folder.free(folder)
        raise


def move(folder: Path, to: Path) -> None:
    """Bring a bake from the temporary folder to its own place, which may be on another disk: until all of it is there,
    all of it is here. Raises CacheError (something lies there), DiskError."""
    if (to / cache.CONTENTS).exists():
        raise CacheError(f"{to} holds another bake", "Free it, or bake again")
    own_folder.prepare(to)
    with locked(folder), locked(to), disk_errors(to):
        _bring_job(folder, to, owned=True)
        for path in sorted(cache.files(folder), key=lambda path: path.name == cache.CONTENTS):  # which makes it a bake
            _second(path, to / path.name)
    own_folder.free(folder)


def _bring_job(source: Path, folder: Path, owned: bool) -> None:
    """Give a folder the job of another. owned: with whose it is. Raises DiskError."""
    if not (source / JOB).is_dir():
        return
    job = incoming(folder)
    make_folder(job)
    for path in (source / JOB).iterdir():
        if owned or path.name != OWNER:
            _second(path, job / path.name)
    adopt(job, folder)


def _second(source: Path, path: Path) -> None:
    """A second name for a file; a copy where it cannot have one there. Raises OSError."""
    path.unlink(missing_ok=True)
    try:
        os.link(source, path)
    except OSError:
        shutil.copy2(source, path)


def all_of(scene: bpy.types.Scene) -> list[Path]:
    """Every folder with a bake of this scene, whether a cloth plays it or not; parts before the whole."""
    folders = set(attached(players(scene)))
    with suppress(SceneError):
        folders.add(target(scene))
    for folder in list(folders):
        with suppress(OSError):
            folders.update(part for part in (folder / PARTS).glob("*") if own_folder.is_ours(part))
    return sorted(folders, key=lambda path: (-len(path.parts), path))


def _relative(path: Path, folder: Path) -> str:
    try:
        return os.path.relpath(path.resolve(), folder.resolve())
    except ValueError:  # Windows: no relative path between drives
        return str(path.resolve())


def _same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        return path.resolve() == other.resolve()

# SPDX-License-Identifier: GPL-3.0-or-later
"""The job folder: a scene on disk, to hand to a worker process, a farm node or another machine.

    job.json                       format, digest, settings, and the numbers of every object; written last
    cloth_000.npz                  the arrays of the first cloth
    collider_000_triangles.npy
    collider_000_positions.npy     (frames, vertices, 3) float32, memory-mapped when loaded

Plain arrays and JSON only; nothing in a job folder is ever executed or unpickled.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..scene.scene import Cloth, Collider, Material, Pins, Scene, Settings
from .disk import disk_errors, make_folder, write_whole

FORMAT = "taffeta job"
VERSION = 2
PARTS = {"settings": dict, "cloths": list, "colliders": list}

#: The arrays of a cloth file and the types they are stored, hashed and handed to the solver in.
CLOTH_ARRAYS: dict[str, type] = {
    "triangles": np.int32,
    "rest_positions": np.float64,
    "positions": np.float64,
    "velocities": np.float64,
    "warp": np.float64,
    "world_to_object": np.float64,
    "pin_vertices": np.int32,
    "pin_targets": np.float64,
    "pin_weights": np.float32,
}


class JobError(RuntimeError):
    """A job folder that cannot be used. `problem` and `remedy` are for the user."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}. {remedy}")
        self.problem = problem
        self.remedy = remedy


def save(scene: Scene, folder: Path) -> None:
    """Write a job folder that `load` turns into an equal scene.

    Raises:
        SceneError: the scene is not valid.
        DiskError: the folder cannot be written.
    """
    scene.validate()
    folder = Path(folder)
    make_folder(folder)
    with disk_errors(folder):
        (folder / "job.json").unlink(missing_ok=True)  # from here until the end there is no job in this folder
    for index, cloth in enumerate(scene.cloths):
        write_whole(folder / f"cloth_{index:03}.npz", _npz_writer(_cloth_arrays(cloth)))
    for index, collider in enumerate(scene.colliders):
        for name, array in _collider_arrays(collider).items():
            write_whole(folder / f"collider_{index:03}_{name}.npy", _npy_writer(array))
    content = describe(scene)
    header = {"format": FORMAT, "version": VERSION, "digest": digest_of(content), **content}
    text = json.dumps(header, indent=1, allow_nan=False)
    write_whole(folder / "job.json", lambda file: file.write(text.encode()))


def load(folder: Path) -> Scene:
    """The scene of a job folder, validated; collider positions are memory-mapped.

    Raises:
        JobError: there is no job, it is damaged, or a newer version wrote it.
        SceneError: the job is whole but the scene is not valid.
    """
    folder = Path(folder)
    header = _read_header(folder)
    cloths = tuple(_load_cloth(folder / f"cloth_{i:03}.npz", entry) for i, entry in enumerate(header["cloths"]))
    colliders = tuple(_load_collider(folder / f"collider_{i:03}", entry) for i, entry in enumerate(header["colliders"]))
    try:
        settings = Settings(**{**header["settings"], "gravity": tuple(header["settings"]["gravity"])})
        scene = Scene(cloths, colliders, settings)
        found = digest(scene)
    except Exception as error:  # whatever a foreign value trips over, the answer is the same
        raise _damaged(folder / "job.json") from error
    if found != header["digest"]:
        raise JobError(f"The files in {folder} do not belong together", "Export the scene again")
    return scene.validate()


def digest(scene: Scene | Path) -> str:
    """Hash of all that changes the result: two scenes with one digest bake to the same bytes on the same backend.

    Names of objects and the choice of backend are not part of it. For a folder it is read from job.json.
    Raises JobError where the folder holds no job.
    """
    if not isinstance(scene, Scene):
        return str(_read_header(Path(scene))["digest"])
    return digest_of(describe(scene))


def digest_of(content: dict[str, Any]) -> str:
    """The digest of the scene that `describe` described so."""
    settings = {name: value for name, value in content["settings"].items() if name != "backend"}
    cloths = [{**entry, "key": entry["key"] or entry["name"], "name": ""} for entry in content["cloths"]]
    colliders = [{**entry, "name": ""} for entry in content["colliders"]]
    return hashlib.sha256(json.dumps([settings, cloths, colliders], sort_keys=True).encode()).hexdigest()


def read_description(folder: Path) -> dict[str, Any]:
    """What `describe` said of the scene in a job folder. Raises JobError."""
    return {name: value for name, value in _read_header(Path(folder)).items() if name in PARTS}


def describe(scene: Scene) -> dict[str, Any]:
    """All that a scene is, as JSON values: settings, every object's numbers, and a digest of each of its arrays."""
    return {
        "settings": plain(scene.settings),
        "cloths": [
            {
                "name": cloth.name,
                "key": cloth.key,
                "thickness": float(cloth.thickness),
                "material": plain(cloth.material),
                "arrays": _array_digests(_cloth_arrays(cloth)),
            }
            for cloth in scene.cloths
        ],
        "colliders": [
            {
                "name": collider.name,
                "friction": float(collider.friction),
                "thickness": float(collider.thickness),
                "arrays": _array_digests(_collider_arrays(collider)),
            }
            for collider in scene.colliders
        ],
    }


def plain(values: Settings | Material) -> dict[str, Any]:
    """The fields as JSON values, each in the type of its default: 24, 24.0 and np.float32(24) are one frame rate."""
    result: dict[str, Any] = {}
    for field in fields(values):
        value = getattr(values, field.name)
        kind: Any = type(field.default)
        result[field.name] = [float(x) for x in value] if kind is tuple else kind(value)
    return result


def _array_digests(arrays: dict[str, npt.NDArray[Any]]) -> dict[str, str]:
    result = {}
    for name, array in arrays.items():
        content = hashlib.sha256(f"{array.dtype.str} {array.shape}".encode())
        content.update(np.ascontiguousarray(array).data)
        result[name] = content.hexdigest()[:32]
    return result


def _cloth_arrays(cloth: Cloth) -> dict[str, Any]:
    pins = cloth.pins
    arrays: dict[str, Any] = {
        "triangles": cloth.triangles,
        "rest_positions": cloth.rest_positions,
        "positions": cloth.positions,
        "velocities": cloth.velocities,
        "warp": cloth.warp,
        "world_to_object": cloth.world_to_object,
        "pin_vertices": pins and pins.vertices,
        "pin_targets": pins and pins.targets,
        "pin_weights": pins and pins.weights,
    }
    return {name: np.asarray(array, CLOTH_ARRAYS[name]) for name, array in arrays.items() if array is not None}


def _collider_arrays(collider: Collider) -> dict[str, npt.NDArray[Any]]:
    return {
        "triangles": np.asarray(collider.triangles, np.int32),
        "positions": np.asarray(collider.positions, np.float32),
    }


def _npz_writer(arrays: dict[str, Any]) -> Callable[[Any], None]:
    return lambda file: np.savez(file, **arrays)


def _npy_writer(array: npt.NDArray[Any]) -> Callable[[Any], None]:
    return lambda file: np.save(file, array, allow_pickle=False)


def _read_header(folder: Path) -> dict[str, Any]:
    path = folder / "job.json"
    if not path.is_file():
        raise JobError(f"There is no job in {folder}", "Export the scene first")
    try:
        header = json.loads(path.read_text(encoding="utf-8"))
        is_job = header["format"] == FORMAT
        version = int(header["version"])
    except Exception as error:  # any bytes may stand there
        raise _damaged(path) from error
    if not is_job:
        raise JobError(f"{path} is not a Taffeta job", "Choose a folder that Taffeta exported")
    if version > VERSION:
        raise JobError(f"{path} has format {version}, this Taffeta reads up to {VERSION}", "Update Taffeta")
    if not all(isinstance(header.get(part), kind) for part, kind in {**PARTS, "digest": str}.items()):
        raise _damaged(path)
    return dict(header)


def _load_cloth(path: Path, entry: dict[str, Any]) -> Cloth:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: _typed(file[name], CLOTH_ARRAYS[name]) for name in file.files}
        pins = None
        if "pin_vertices" in arrays:
            pins = Pins(arrays.pop("pin_vertices"), arrays.pop("pin_targets"), arrays.pop("pin_weights", None))
        return Cloth(
            name=str(entry["name"]),
            key=str(entry["key"]),
            thickness=entry["thickness"],
            material=Material(**entry["material"]),
            pins=pins,
            **arrays,
        )
    except Exception as error:  # decoders of foreign bytes raise nearly everything
        raise _damaged(path) from error


def _load_collider(stem: Path, entry: dict[str, Any]) -> Collider:
    triangles, positions = (stem.with_name(f"{stem.name}_{name}.npy") for name in ("triangles", "positions"))
    path = triangles
    try:
        triangle_array = _typed(np.load(path, allow_pickle=False), np.int32)
        path = positions
        position_array = _typed(np.load(path, mmap_mode="r", allow_pickle=False), np.float32)
        return Collider(str(entry["name"]), triangle_array, position_array, entry["friction"], entry["thickness"])
    except Exception as error:  # decoders of foreign bytes raise nearly everything
        raise _damaged(path) from error


def _typed(array: npt.NDArray[Any], kind: type) -> npt.NDArray[Any]:
    if array.dtype != kind:
        raise TypeError(f"stored as {array.dtype}, expected {np.dtype(kind)}")
    return array


def _damaged(path: Path) -> JobError:
    missing = not path.exists()
    return JobError(f"{path} is {'missing' if missing else 'damaged'}", "Export the scene again")

# SPDX-License-Identifier: GPL-3.0-or-later
"""The job folder: a scene on disk, to hand to a worker process, a farm node or another machine.

    job.json                       format, digest, settings, and the numbers of every object; written last
    cloth_000.npz                  the arrays of the first cloth
    cloth_000_pins_000.npz         those of its first group of pins beside the one that is there
    collider_000_triangles.npy
    collider_000_whole.npy         all its faces, where some of them stop nothing
    collider_000_positions.npy     (places, vertices, 3) float32, memory-mapped when loaded; `Settings.places`
    field_000.npz                  where the first force field is, and its axis

Plain arrays and JSON only; nothing in a job folder is ever executed or unpickled. A folder may come from a stranger:
`load` reads plain files of these names in it and nothing else, and takes no more memory than they have bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..messages import Told
from ..scene.air import Field, FieldWeights
from ..scene.differences import without_later
from ..scene.encounters import Encounter
from ..scene.older import of_before, of_today
from ..scene.pins import PinGroup, Pins
from ..scene.scene import (
    OF_CORDS,
    OF_FOLDS,
    OF_SEAMS,
    PAINTABLE,
    Cloth,
    Collider,
    Cords,
    Folds,
    Material,
    Painted,
    Scene,
    Settings,
)
from ..scene.shape import Shape
from .array_digest import array_digests
from .array_file import read_array, read_arrays, read_small
from .disk import disk_errors, make_folder, write_arrays, write_whole
from .job_header import checked
from .job_values import (
    FIELD_ARRAYS,
    PIN_ARRAYS,
    acting,
    encounter_of,
    encounter_values,
    field_arrays,
    field_of,
    field_values,
    keys_of,
    maxima,
    number,
    pin_arrays,
    pins_of,
    place,
    plain,
    require_shapes,
    restored,
    series,
    truth,
    whole,
)

FORMAT = "taffeta job"
VERSION = 4
HEADER = "job.json"
THREADS = "threads.npy"  # of seams between cloths, where there are some
PARTS = ("settings", "keys", "cloths", "colliders", "fields", "threads", "encounters")
PAINT = "painted_"  # prefix of the weights of a painted number in the cloth file

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
    "seams": np.int32,
    "fold_ends": np.int32,
    "fold_weights": np.float64,
    "cord_ends": np.int32,
    "cord_lengths": np.float64,
    "rest_corners": np.float64,
    "left_out_of_bodies": np.bool_,
    "left_out_of_itself": np.bool_,
    **{f"{PAINT}{name}": np.float32 for name in PAINTABLE},
}


class JobError(Told, RuntimeError):
    """A job folder that cannot be used. `problem` and `remedy` are for the user."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}. {remedy}")
        self.problem = problem
        self.remedy = remedy


def save(scene: Scene, folder: Path) -> None:
    """Write a job folder that `load` turns into an equal scene. `JobWriter` does so while a long scene is read.

    Raises:
        SceneError: the scene is not valid.
        DiskError: the folder cannot be written.
    """
    scene.validate()
    folder = Path(folder)
    make_folder(folder)
    with disk_errors(folder):
        (folder / HEADER).unlink(missing_ok=True)  # from here until the end there is no job in this folder
    for name, write in parts(scene):
        write_whole(folder / name, write)
    write_header(describe(scene), folder)


def parts(scene: Scene) -> Iterator[tuple[str, Callable[[BinaryIO], None]]]:
    """The files of a job folder but job.json: the name of each, and what writes it."""
    for index, cloth in enumerate(scene.cloths):
        yield f"cloth_{index:03}.npz", _npz_writer(cloth_arrays(cloth))
        for count, group in enumerate(cloth.pin_groups):
            yield _pins_name(index, count), _npz_writer(pin_arrays(group.pins))
    for index, collider in enumerate(scene.colliders):
        arrays = _collider_arrays(collider)
        for name, array in arrays.items():
            yield collider_file(index, name), _npy_writer(array)
    for index, item in enumerate(scene.fields):
        yield f"field_{index:03}.npz", _npz_writer(field_arrays(item))
    if scene.threads is not None:
        yield THREADS, _npy_writer(np.ascontiguousarray(scene.threads, np.int32))


def collider_file(index: int, array: str) -> str:
    """The file with an array of the collider with this index."""
    return f"collider_{index:03}_{array}.npy"


def positions_name(index: int) -> str:
    """The file with all frames of the collider with this index."""
    return collider_file(index, "positions")


def _pins_name(cloth: int, number: int) -> str:
    """The file of a group of pins of the cloth with this index."""
    return f"cloth_{cloth:03}_pins_{number:03}.npz"


def write_header(content: Mapping[str, Any], folder: Path) -> None:
    """Write job.json of the scene that `describe` described so: with it the folder is a job. Raises DiskError."""
    header = {"format": FORMAT, "version": VERSION, "digest": digest_of(content), **content}
    text = json.dumps(header, indent=1, allow_nan=False)
    write_whole(folder / HEADER, lambda file: file.write(text.encode()))


def load(folder: Path) -> Scene:
    """The scene of a job folder, validated; collider positions are memory-mapped.

    Raises:
        JobError: there is no job, it is damaged, or a newer version wrote it.
        SceneError: the job is whole but the scene is not valid.
    """
    folder = Path(folder)
    header = _read_header(folder)
    cloths = tuple(_load_cloth(folder, i, entry) for i, entry in enumerate(header["cloths"]))
    colliders = tuple(_load_collider(folder, i, entry) for i, entry in enumerate(header["colliders"]))
    fields = tuple(_load_field(folder / f"field_{i:03}.npz", entry) for i, entry in enumerate(header.get("fields", [])))
    threads = _load_threads(folder / THREADS) if "threads" in header else None
    settings = restored(Settings, of_today(header["settings"]))
    met = tuple(map(encounter_of, header.get("encounters", [])))
    scene = Scene(cloths, colliders, settings, keys_of(header), fields, threads, met)
    if digest(scene) != header["digest"]:
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


def digest_of(content: Mapping[str, Any]) -> str:
    """The digest of the scene that `describe` described so."""
    older = without_later(of_before(content["settings"]))
    settings = {name: value for name, value in older.items() if name != "backend"}
    cloths = [_known_before(entry) for entry in content["cloths"]]
    colliders = [{**entry, "name": ""} for entry in content["colliders"]]
    keyed = [content["keys"]] if content.get("keys") else []
    blown = [{"fields": [{**entry, "name": ""} for entry in content["fields"]]}] if content.get("fields") else []
    others = [{name: content[name]} for name in ("threads", "encounters") if content.get(name)]
    parts = [settings, cloths, colliders, *keyed, *blown, *others]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _known_before(cloth: Mapping[str, Any]) -> dict[str, Any]:
    """What an older version hashed of a cloth that has nothing newer."""
    shape = {"form": newer} if (newer := without_later(cloth.get("form", {}))) else {}
    numbers = {**without_later(cloth), "material": without_later(cloth["material"])}
    numbers.pop("form", None)
    pins = {"pins": [{**group, "name": ""} for group in cloth["pins"]]} if cloth.get("pins") else {}
    return {**numbers, **shape, **pins, "key": cloth["key"] or cloth["name"], "name": ""}


def read_description(folder: Path) -> dict[str, Any]:
    """What `describe` said of the scene in a job folder. Raises JobError."""
    return {name: value for name, value in _read_header(Path(folder)).items() if name in PARTS}


def describe(scene: Scene, motions: Mapping[int, str] | None = None) -> dict[str, Any]:
    """All that a scene is, as JSON values: settings, every object's numbers, and a digest of each of its arrays.

    motions: by index of the collider, what is known already of the digests of their positions.
    """
    known = motions or {}
    return {
        "settings": plain(scene.settings),
        **series(scene.keys),
        "cloths": [
            {
                "name": cloth.name,
                "key": cloth.key,
                "thickness": float(cloth.thickness),
                "pin_strength": float(cloth.pin_strength),
                "self_collision": bool(cloth.self_collision),
                "layer": int(cloth.layer),
                **({} if cloth.meets is None else {"meets": [int(body) for body in cloth.meets]}),
                **sewing(cloth),
                **({"pins": [_described_pins(group) for group in cloth.pin_groups]} if cloth.pin_groups else {}),
                "material": plain(cloth.material),
                "form": plain(cloth.shape),
                **acting(cloth.field_weights, cloth.fields),
                **maxima(cloth.painted),
                **series(cloth.keys),
                "arrays": array_digests(cloth_arrays(cloth)),
            }
            for cloth in scene.cloths
        ],
        "colliders": [
            {
                "name": collider.name,
                "friction": float(collider.friction),
                "thickness": float(collider.thickness),
                **({} if collider.drawn is None else {"drawn": int(collider.drawn)}),
                **series(collider.keys),
                "arrays": array_digests(_collider_arrays(collider), {"positions": known.get(index, "")}),
            }
            for index, collider in enumerate(scene.colliders)
        ],
        **({"fields": [_described(item) for item in scene.fields]} if scene.fields else {}),
        **({"encounters": [_met(item) for item in scene.encounters]} if scene.encounters else {}),
        **({} if scene.threads is None else array_digests({"threads": np.ascontiguousarray(scene.threads, np.int32)})),
    }


def sewing(cloth: Cloth) -> dict[str, float]:
    """What is said of a cloth's threads, folds and cords: nothing where there are none, as an older version did."""
    parts = ((cloth.seams, OF_SEAMS), (cloth.folds, OF_FOLDS), (cloth.cords, OF_CORDS))
    return {name: float(getattr(cloth, name)) for part, names in parts if part is not None for name in names}


def _described_pins(group: PinGroup) -> dict[str, Any]:
    arrays = array_digests(pin_arrays(group.pins))
    return {"name": group.name, "strength": float(group.strength), **series(group.keys), "arrays": arrays}


def _met(item: Encounter) -> dict[str, Any]:
    return {**encounter_values(item), **series(item.keys)}


def _described(item: Field) -> dict[str, Any]:
    return {**field_values(item), **series(item.keys), "arrays": array_digests(field_arrays(item))}


def cloth_arrays(cloth: Cloth) -> dict[str, Any]:
    """The arrays of a cloth that are there, as they are stored, by their names in `CLOTH_ARRAYS`."""
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
        "seams": cloth.seams,
        "fold_ends": cloth.folds and cloth.folds.ends,
        "fold_weights": cloth.folds and cloth.folds.weights,
        "cord_ends": cloth.cords and cloth.cords.ends,
        "cord_lengths": cloth.cords and cloth.cords.lengths,
        "rest_corners": cloth.rest_corners,
        "left_out_of_bodies": cloth.left_out_of_bodies,
        "left_out_of_itself": cloth.left_out_of_itself,
        **{f"{PAINT}{name}": painted.weights for name, painted in cloth.painted.items()},
    }
    return {
        name: np.ascontiguousarray(array, CLOTH_ARRAYS[name]) for name, array in arrays.items() if array is not None
    }


def _collider_arrays(collider: Collider) -> dict[str, npt.NDArray[Any]]:
    return {
        "triangles": np.ascontiguousarray(collider.triangles, np.int32),
        "positions": np.ascontiguousarray(collider.positions, np.float32),
        **({} if collider.whole is None else {"whole": np.ascontiguousarray(collider.whole, np.int32)}),
    }


def _npz_writer(arrays: dict[str, Any]) -> Callable[[BinaryIO], None]:
    return lambda file: write_arrays(file, arrays)


def _npy_writer(array: npt.NDArray[Any]) -> Callable[[BinaryIO], None]:
    return lambda file: np.save(file, array, allow_pickle=False)


def _read_header(folder: Path) -> dict[str, Any]:
    """job.json, every value of which has the type that it should have. Raises JobError."""
    path = folder / HEADER
    if not path.is_file():
        raise JobError(f"There is no job in {folder}", "Export the scene first")
    try:
        header = json.loads(read_small(path))
        is_job = header["format"] == FORMAT
        version = int(header["version"])
    except Exception as error:  # any bytes may stand there
        raise _damaged(path) from error
    if not is_job:
        raise JobError(f"{path} is not a Taffeta job", "Choose a folder that Taffeta exported")
    if version > VERSION:
        raise JobError(f"{path} has format {version}, this Taffeta reads up to {VERSION}", "Update Taffeta")
    try:
        return checked(header)
    except Exception as error:  # whatever a foreign value trips over, the answer is the same
        raise _damaged(path) from error


def _load_cloth(folder: Path, index: int, entry: Mapping[str, Any]) -> Cloth:
    groups = tuple(_load_pins(folder / _pins_name(index, k), group) for k, group in enumerate(entry.get("pins", [])))
    path = folder / f"cloth_{index:03}.npz"
    try:
        arrays: dict[str, Any] = read_arrays(path, CLOTH_ARRAYS)
        require_shapes(arrays)
        pins = None
        if "pin_vertices" in arrays:
            pins = Pins(arrays.pop("pin_vertices"), arrays.pop("pin_targets"), arrays.pop("pin_weights", None))
        cords = Cords(arrays.pop("cord_ends"), arrays.pop("cord_lengths")) if "cord_ends" in arrays else None
        folds = Folds(arrays.pop("fold_ends"), arrays.pop("fold_weights")) if "fold_ends" in arrays else None
        sewn: dict[str, Any] = {
            name: number(entry[name]) for name in (*OF_SEAMS, *OF_FOLDS, *OF_CORDS) if name in entry
        }
        ends = entry.get("painted", {})
        painted = {name: Painted(arrays.pop(f"{PAINT}{name}"), number(ends[name])) for name in ends}
        return Cloth(
            name=entry["name"],
            key=entry["key"],
            thickness=number(entry["thickness"]),
            self_collision=truth(entry["self_collision"]),
            layer=whole(entry.get("layer", 0)),
            meets=tuple(map(place, entry["meets"])) if "meets" in entry else None,
            material=restored(Material, entry["material"]),
            shape=restored(Shape, entry.get("form", {})),
            painted=painted,
            keys=keys_of(entry),
            pins=pins,
            pin_strength=number(entry.get("pin_strength", Cloth.pin_strength)),
            pin_groups=groups,
            folds=folds,
            cords=cords,
            **sewn,
            field_weights=restored(FieldWeights, entry.get("field_weights", {})),
            fields=tuple(map(int, entry["fields"])) if "fields" in entry else None,
            **arrays,
        )
    except Exception as error:  # decoders of foreign bytes raise nearly everything
        raise _damaged(path) from error


def _load_collider(folder: Path, index: int, entry: Mapping[str, Any]) -> Collider:
    path = folder / collider_file(index, "triangles")
    try:
        triangles, every = read_array(path, np.int32), None
        if "whole" in entry["arrays"]:
            path = folder / collider_file(index, "whole")
            every = read_array(path, np.int32)
        path = folder / positions_name(index)
        positions = read_array(path, np.float32, mapped=True)
        return Collider(
            name=entry["name"],
            triangles=triangles,
            positions=positions,
            friction=number(entry["friction"]),
            thickness=number(entry["thickness"]),
            keys=keys_of(entry),
            drawn=whole(entry["drawn"]) if "drawn" in entry else None,
            whole=every,
        )
    except Exception as error:  # decoders of foreign bytes raise nearly everything
        raise _damaged(path) from error


def _load_pins(path: Path, entry: Mapping[str, Any]) -> PinGroup:
    try:
        return pins_of(entry, read_arrays(path, PIN_ARRAYS))
    except Exception as error:  # decoders of foreign bytes raise nearly everything
        raise _damaged(path) from error


def _load_threads(path: Path) -> npt.NDArray[np.int32]:
    try:
        return read_array(path, np.int32)
    except Exception as error:  # decoders of foreign bytes raise nearly everything
        raise _damaged(path) from error


def _load_field(path: Path, entry: Mapping[str, Any]) -> Field:
    try:
        return field_of(entry, read_arrays(path, FIELD_ARRAYS))
    except Exception as error:  # decoders of foreign bytes raise nearly everything
        raise _damaged(path) from error


def _damaged(path: Path) -> JobError:
    missing = not path.exists()
    return JobError(f"{path} is {'missing' if missing else 'damaged'}", "Export the scene again")

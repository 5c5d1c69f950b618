# SPDX-License-Identifier: GPL-3.0-or-later
"""A job folder from a stranger: whatever lies in it, `load` refuses or loads it, and takes little memory."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from taffeta.gpu_core.files import job
from taffeta.gpu_core.files.job import JobError, load, save
from taffeta.gpu_core.scene.scene import Scene, SceneError
from taffeta.tests.gpu_core.small_scene import full_scene

JOBS = 600
MIB = 2**20
MORE_THAN_ENOUGH = 512 * MIB  #: of memory, beyond what the test has taken before
FAR_TOO_MUCH = 8 * 2**30  #: bytes of a sparse file, or of what unpacks from a small one

VALUES = [
    None, True, -1, 0, 1.5, 1e308, -1e308, 10**400, float("nan"), float("inf"), "", "..", "../../outside/secret",
    "/etc/passwd", "CON", "NUL.txt", "a\0b", "\ud800", "x" * 100_000, [], {}, [[]], {"a": {}}, [1, 2], ["a", "b", "c"],
    [0, 0, float("inf")], "0.12", "inf", "nan", 2**31, 2**63, 2**64,
]  # fmt: skip
SHAPES = [(), (1,), (0, 3), (10**6, 0, 3), (2, 2), (1, 1, 3), (3, 16, 4), (16, 3), (1, 16, 3), (4, 16, 3), (3, 4, 4)]
PROMISES = ["(10**12,)", "(1000000000000, 3)", "(-1, 3)", "(99999999999999999999999, 3)", "(2, 3, 1, 1)", "(True, 3)",
            "(1.5, 3)", "'x'", "()", "None", "(" * 3000, "(1000000000, 0, 3)"]  # fmt: skip
KINDS = ["'|O'", "'<f8'", "'>f4'", "'<U1000000'", "'|V2147483647'", "[('a', '<f4')]", "'<M8[s]'", "7", "'<f4'"]

Attack = Callable[[Path, Path, random.Random], None]


def a_value(folder: Path, outside: Path, draw: random.Random) -> None:
    header = json.loads((folder / "job.json").read_text())
    place, key = draw.choice([*_places(header)])
    if draw.random() < 0.2:
        del place[key]
    else:
        place[key] = draw.choice(VALUES)
    (folder / "job.json").write_text(json.dumps(header))


def a_value_that_the_digest_covers(folder: Path, outside: Path, draw: random.Random) -> None:
    header = json.loads((folder / "job.json").read_text())
    place, key = draw.choice([item for item in _places(header) if item[0] is not header])
    place[key] = draw.choice(VALUES)
    try:
        header["digest"] = job.digest_of({name: header[name] for name in ("settings", "cloths", "colliders")})
    except Exception:  # then he cannot
        return
    (folder / "job.json").write_text(json.dumps(header))


def an_entry_too_much(folder: Path, outside: Path, draw: random.Random) -> None:
    header = json.loads((folder / "job.json").read_text())
    place = draw.choice([header["settings"], header["cloths"][0]["material"], header["cloths"][0], header])
    place[draw.choice(["__class__", "validate", "frames", "pickle", ".."])] = draw.choice(VALUES)
    header[draw.choice(["cloths", "colliders"])] *= draw.choice([1, 0, 3, 1000])
    (folder / "job.json").write_text(json.dumps(header))


def arrays_of_other_shapes(folder: Path, outside: Path, draw: random.Random) -> None:
    """With the right digest: whoever makes a job can compute it."""
    scene = full_scene()
    cloths, colliders = [_other_arrays(item, draw) for item in scene.cloths], list(scene.colliders)
    if draw.random() < 0.5:
        colliders[0] = _other_arrays(colliders[0], draw)
    other = Scene(tuple(cloths), tuple(colliders), scene.settings)
    validate, Scene.validate = Scene.validate, lambda self: self
    try:
        save(other, folder)
    finally:
        Scene.validate = validate


def deep_or_long_json(folder: Path, outside: Path, draw: random.Random) -> None:
    start = draw.choice(["[", '{"a":', '{"format": "taffeta job", "version": [', '{"version": '])
    text = draw.choice([start * 100_000, start + "9" * 100_000, "[" + "[]," * 3_000_000, '"' + "\\ud800" * MIB])
    (folder / "job.json").write_text(text)


def a_sparse_file(folder: Path, outside: Path, draw: random.Random) -> None:
    with open(draw.choice(sorted(folder.iterdir())), "r+b") as file:
        file.truncate(FAR_TOO_MUCH)


def an_npy_header(folder: Path, outside: Path, draw: random.Random) -> None:
    path = draw.choice(sorted(folder.glob("*.npy")))
    path.write_bytes(_npy(draw) + (path.read_bytes() if draw.random() < 0.5 else b""))


def an_archive(folder: Path, outside: Path, draw: random.Random) -> None:
    """Members that unpack to far more than the file has, that lie, that come twice, or that lead elsewhere."""
    path = draw.choice(sorted(folder.glob("*.npz")))
    method = draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
    with np.load(path) as stored:
        arrays = dict(stored)
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.save(content, array)
            if draw.random() < 0.3:
                content = io.BytesIO(_npy(draw))
            name = draw.choice([name] * 8 + ["../" + name, "/etc/" + name, "triangles", "CON", name * 1000])
            archive.writestr(name + ".npy", content.getvalue())
            if draw.random() < 0.2:
                archive.writestr("positions.npy", content.getvalue())


def a_bomb(folder: Path, outside: Path, draw: random.Random) -> None:
    """A gigabyte of zeros in a megabyte."""
    promise = {"descr": "<f8", "fortran_order": False, "shape": (2**30 // 24, 3)}
    with (
        zipfile.ZipFile(folder / "cloth_000.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("positions.npy", "w", force_zip64=True) as file,
    ):
        np.lib.format.write_array_header_1_0(file, promise)
        for _ in range(2**30 // MIB):
            file.write(bytes(MIB))


def a_table_of_contents(folder: Path, outside: Path, draw: random.Random) -> None:
    """Half a million entries, each of which points at the same byte."""
    entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, 1, 1, 6, 0, 0, 0, 0, 0, 0) + b"abcdef"
    table = entry * 500_000
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 9, 9, len(table), 0, 0)
    (folder / "cloth_000.npz").write_bytes(table + end)


def changed_fields_of_the_archive(folder: Path, outside: Path, draw: random.Random) -> None:
    """Sizes, offsets, flags and methods in the table of contents."""
    path = draw.choice(sorted(folder.glob("*.npz")))
    content = bytearray(path.read_bytes())
    starts = [i for i in range(len(content)) if content[i : i + 4] in (b"PK\1\2", b"PK\5\6", b"PK\3\4")]
    for _ in range(draw.randint(1, 4)):
        at = draw.choice(starts) + draw.randint(4, 45)
        content[at : at + 4] = draw.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", struct.pack("<L", 2**31)])
    path.write_bytes(content)


def a_link(folder: Path, outside: Path, draw: random.Random) -> None:
    """In place of a file: to the very same bytes outside, to a device, to nothing, to itself."""
    path = draw.choice(sorted(folder.iterdir()))
    shutil.move(path, outside / "taken")
    path.symlink_to(draw.choice([outside / "taken", "/dev/zero", "/proc/self/mem", "nowhere", path.name, outside]))


def no_file(folder: Path, outside: Path, draw: random.Random) -> None:
    path = draw.choice(sorted(folder.iterdir()))
    path.unlink()
    if draw.random() < 0.7:
        draw.choice([os.mkfifo, os.mkdir])(path)


def random_bytes(folder: Path, outside: Path, draw: random.Random) -> None:
    path = draw.choice(sorted(folder.iterdir()))
    content = bytearray(path.read_bytes())
    for _ in range(draw.randint(1, 20)):
        at = draw.randrange(len(content))
        content[at : at + draw.choice([0, 1, 8])] = draw.randbytes(draw.choice([0, 1, 8]))
    path.write_bytes(content)


CHEAP: list[Attack] = [
    a_value, a_value_that_the_digest_covers, an_entry_too_much, arrays_of_other_shapes, an_npy_header, an_archive,
    changed_fields_of_the_archive, a_link, no_file, random_bytes,
]  # fmt: skip
#: Two of them draw what they do, and come twice.
HEAVY: list[Attack] = [deep_or_long_json, a_sparse_file, deep_or_long_json, a_sparse_file, a_bomb, a_table_of_contents]


def _places(value):
    """Every (container, key) in a JSON value."""
    for key in list(value.keys()) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def _other_arrays(item, draw: random.Random):
    names = [name for name, value in vars(item).items() if isinstance(value, np.ndarray)]
    changed = {}
    for name in draw.sample(names, draw.randint(1, 2)):
        array = getattr(item, name)
        if draw.random() < 0.5:
            array = np.zeros(draw.choice(SHAPES), array.dtype)
        else:
            array = array.copy()
            numbers = [-1, 2**31 - 1, 7] if array.dtype.kind == "i" else [np.nan, np.inf, 1e300, 0]
            array.reshape(-1)[draw.randrange(array.size)] = draw.choice(numbers)
        changed[name] = array
    pins = getattr(item, "pins", None)
    if pins is not None and draw.random() < 0.8:
        changed["pins"] = _other_arrays(pins, draw)
    with np.errstate(over="ignore"):
        return replace(item, **changed)


def _npy(draw: random.Random) -> bytes:
    header = f"{{'descr': {draw.choice(KINDS)}, 'fortran_order': {draw.choice(['True', 'False', '[]'])}, "
    header += f"'shape': {draw.choice(PROMISES)}, }}"
    if draw.random() < 0.1:
        header += " " * 60_000
    version, size = draw.choice([(b"\1\0", "<H"), (b"\2\0", "<L"), (b"\3\0", "<L"), (b"\x09\0", "<H")])
    length = draw.choice([len(header)] * 4 + [2**16 - 1, 2**32 - 1])
    length = min(length, 2 ** (8 * struct.calcsize(size)) - 1)
    return b"\x93NUMPY" + version + struct.pack(size, length) + header.encode()


def memory() -> int:
    """The most that this process has had, bytes."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def attack(place: Path, seed: int, jobs: int) -> dict[str, int]:
    """Try so many; how they ended. An exception of another kind, or memory without bound, is what must not be."""
    import resource

    whole, outside = place / "whole", place / "outside"
    save(full_scene(), whole)
    load(whole)
    draw = random.Random(seed)
    before, ends = memory(), {"refused": 0, "loaded": 0}
    resource.setrlimit(resource.RLIMIT_AS, (before + 6 * 2**30,) * 2)  # so that a failure does not take the machine
    attacks = [*HEAVY, *(draw.choice(CHEAP) for _ in range(jobs - len(HEAVY)))]
    for number, make in enumerate(attacks):
        folder = place / "hostile"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(outside, ignore_errors=True)
        shutil.copytree(whole, folder)
        outside.mkdir()
        make(folder, outside, draw)
        kept = {path: path.lstat().st_mtime_ns for path in [*place.glob("*"), *outside.glob("*"), *folder.glob("*")]}
        try:
            scene = load(folder)
            job.read_description(folder)
            if any(path.is_symlink() for path in folder.iterdir()):
                raise AssertionError("it read through a link")
            assert scene.validate() is scene
            ends["loaded"] += 1
        except (JobError, SceneError):
            ends["refused"] += 1
        except BaseException as error:
            raise AssertionError(f"job {number} of seed {seed}: {make.__name__}") from error
        assert memory() - before < MORE_THAN_ENOUGH, f"job {number}, {make.__name__}: {(memory() - before) / MIB} MiB"
        assert {path: path.lstat().st_mtime_ns for path in kept} == kept
    return ends


@pytest.mark.skipif(os.name != "posix", reason="limits of a process")
def test_a_job_from_a_stranger_is_refused_or_loads_in_little_memory(tmp_path):
    """In a process of its own, with a limit: 600 jobs, drawn from a seed."""
    code = f"import sys, pathlib; from {__name__} import attack; print(attack(pathlib.Path(sys.argv[1]), 24, {JOBS}))"
    command = [sys.executable, "-c", code, str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert found.returncode == 0, found.stderr[-4000:]
    ends = json.loads(found.stdout.replace("'", '"'))
    assert ends["refused"] > JOBS // 2, ends

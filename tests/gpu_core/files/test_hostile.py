# SPDX-License-Identifier: GPL-3.0-or-later
"""Names, keys, headers and sizes from a stranger reach nothing outside of the cache."""

from __future__ import annotations

import json
import os
import random
import struct
from pathlib import Path

import pytest

from taffeta.gpu_core.bake.bake import bake
from taffeta.gpu_core.files import json_lines
from taffeta.gpu_core.files.cache import CacheState, Contents, inspect, packed, read_contents, sound, verify
from taffeta.gpu_core.files.cache_writer import CacheWriter
from taffeta.gpu_core.files.disk import DiskError
from taffeta.gpu_core.files.errors import CacheError
from taffeta.gpu_core.files.folder import DEVICES, frames_files, frames_path, free, size
from taffeta.gpu_core.files.job import save
from taffeta.gpu_core.live.process import shape_path
from taffeta.tests.gpu_core.small_scene import small_scene

PARTS = [
    "..",
    ".",
    "/",
    "\\",
    "CON",
    "nul",
    "com1.txt",
    "\0",
    "\n",
    ":",
    "*",
    "~",
    "$HOME",
    "%2e",
    " ",
    "é",
    "𝕏",
    "\ud800",
    "sheet",
]
DRAWS = 1000


def hostile_name(draw: random.Random) -> str:
    if draw.random() < 0.05:
        return draw.choice(PARTS) * draw.randrange(1, 400)
    return "".join(draw.choice(PARTS) for _ in range(draw.randrange(1, 8)))


def tree(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def place(tmp_path) -> Path:
    """A cache among files of others, at every place that a way out of it might reach."""
    cache = tmp_path / "a" / "b" / "cache"
    writer = CacheWriter(cache, small_scene(2, 2), "cpu")
    writer.begin()
    writer.mark("running")
    for folder in (tmp_path, tmp_path / "a", tmp_path / "a" / "b"):
        for name in ("sheet.pc2", "CON.pc2", "cache.json", "job.json", ".pc2"):
            (folder / name).write_bytes(b"precious")
    return cache


def outside(cache: Path) -> dict[Path, bytes]:
    return {path: data for path, data in tree(cache.parents[2]).items() if not path.is_relative_to(cache)}


def test_the_file_of_no_key_lies_outside_or_has_a_name_that_windows_keeps(tmp_path):
    draw = random.Random(1)
    files: dict[Path, str] = {}
    for _ in range(DRAWS):
        key = hostile_name(draw)
        try:
            path = frames_path(tmp_path, key)
        except CacheError:
            assert len(key) > 30
            continue
        assert path.parent == tmp_path == path.resolve().parent
        assert shape_path(tmp_path, key, 1).resolve().parent == tmp_path  # Live's
        assert not DEVICES.match(path.name)
        assert "\0" not in path.name
        assert files.setdefault(path, key) == key  # no two share a file


def test_a_list_of_contents_with_any_keys_and_sizes_reaches_nothing_outside(place):
    draw = random.Random(2)
    before, truth = outside(place), read_contents(place)
    for _ in range(DRAWS):
        sizes = [draw.choice([1, 4, 2**31, 2**63, 10**30]) for _ in range(3)]
        contents = Contents(
            draw.choice([truth.digest, hostile_name(draw)]),
            draw.choice([11, -(10**18)]),
            draw.choice([12, 10**18]),
            {hostile_name(draw): size for size in sizes},
            hostile_name(draw),
            state=draw.choice(["running", "done"]),
            kept=draw.choice([0, 10**9]),
        )
        (place / "cache.json").write_bytes(packed(contents))
        touch_everything(place)
        assert outside(place) == before
    assert not list(place.glob("*.pc2"))  # what was the bake's own went with it


def touch_everything(cache: Path) -> None:
    state, reason, frames = inspect(cache)
    assert isinstance(state, CacheState)
    assert reason
    assert frames >= 0
    for read in (sound, verify, size, frames_files, free):
        try:
            read(cache)
        except (CacheError, DiskError):
            continue


def test_reports_and_jobs_with_any_keys_reach_nothing_outside(place):
    draw = random.Random(3)
    before = outside(place)
    for _ in range(DRAWS):
        (place / "cache.json").unlink(missing_ok=True)
        (place / "frames.jsonl").unlink(missing_ok=True)
        json_lines.append(place / "frames.jsonl", {"frame": 1, "checksums": {hostile_name(draw): 0}})
        cloth = draw.choice([{"key": hostile_name(draw)}, {"name": hostile_name(draw)}, 3, None, [hostile_name(draw)]])
        (place / "job").mkdir(exist_ok=True)
        (place / "job" / "job.json").write_text(json.dumps({"cloths": draw.choice([[cloth], cloth])}))
        touch_everything(place)
        assert outside(place) == before


LINKS = ("sheet.pc2", "cache.json", "frames.jsonl", "bake.log", "worker.log", "lock", "cancel", "holder.json", "job")


@pytest.mark.skipif(os.name != "posix", reason="anybody may make links")
@pytest.mark.parametrize("name", LINKS)
def test_links_that_lead_out_of_the_cache_are_refused(place, tmp_path, name):
    target = tmp_path / "a" / "precious"
    if name == "job":
        target.mkdir()
        (target / "job.json").write_bytes(b"precious")
    else:
        target.write_bytes(b"precious")
    path = place / name
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    before = outside(place)
    save(small_scene(2, 2), tmp_path / "job")
    for refused in (lambda: free(place), lambda: bake(tmp_path / "job", place, on_event=print, cancelled=bool)):
        with pytest.raises(CacheError, match=f"{name} is a link to another place"):
            refused()
    assert {path: data for path, data in outside(place).items() if path in before} == before


def test_headers_of_any_values_are_refused_or_played_and_never_read_beyond_their_file(place):
    draw = random.Random(4)
    values = [0, 1, -1, 2, 4, 2**31 - 1, -(2**31)]
    for _ in range(DRAWS):
        floats = [draw.choice([1.0, 11.0, float("nan"), float("inf"), -1e38]) for _ in range(2)]
        header = struct.pack(
            "<12siiffi", b"POINTCACHE2\0", draw.choice([1, 1, 1, 2]), draw.choice(values), *floats, draw.choice(values)
        )
        (place / "sheet.pc2").write_bytes(header + b"\0" * draw.randrange(0, 200))
        assert inspect(place)[0] in (CacheState.CORRUPT, CacheState.PARTIAL)
        frames, wrong = sound(place)
        assert frames == 0
        del wrong

# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache folder: frames arrive whole, damage is seen, and nobody else's files are touched."""

from __future__ import annotations

import errno
import json
import os
import signal
import struct
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from taffeta.gpu_core.files import checkpoint, json_lines, point_cache
from taffeta.gpu_core.files.cache import CacheError, CacheState, inspect, verify
from taffeta.gpu_core.files.cache_writer import CacheWriter
from taffeta.gpu_core.files.disk import DiskError, disk_errors, remove, write_whole
from taffeta.gpu_core.files.folder import frames_path, free, holds_bake, size
from taffeta.gpu_core.files.job import digest
from taffeta.gpu_core.files.lock import locked
from taffeta.gpu_core.files.point_cache import read_frames, read_header
from taffeta.gpu_core.files.program import program
from taffeta.tests.gpu_core.small_scene import full_scene, small_scene

ROOT = Path(__file__).resolve().parents[3]
FRAMES = 3


@pytest.fixture
def scene():
    return small_scene(FRAMES, 2)


def write(folder, scene, frames=FRAMES, state="done"):
    """A cache whose frame i holds the start positions raised by i metres."""
    writer = CacheWriter(folder, scene, "cpu")
    writer.begin()
    for index in range(frames):
        frame = scene.settings.frame_start + index
        raised = [cloth.positions + np.array([0, 0, index]) for cloth in scene.cloths]
        writer.append(frame, raised, {"frame": frame, "seconds": 0.5})
    writer.mark(state)
    return writer


@pytest.fixture
def folder(tmp_path, scene):
    write(tmp_path / "cache", scene)
    return tmp_path / "cache"


def test_the_file_is_pc2_byte_for_byte(folder, scene):
    data = (folder / "sheet.pc2").read_bytes()
    assert struct.unpack("<12siiffi", data[:32]) == (b"POINTCACHE2\0", 1, 4, 11.0, 1.0, 3)
    assert len(data) == 32 + 3 * 4 * 12
    assert np.array_equal(np.frombuffer(data[32:], "<f4").reshape(3, 4, 3), read_frames(folder / "sheet.pc2"))


def test_frames_are_in_object_space_of_their_own_frame(folder, scene):
    (cloth,) = scene.cloths
    for index, cached in enumerate(read_frames(folder / "sheet.pc2")):
        matrix = cloth.world_to_object[index]
        expected = [(matrix @ [*point, 1.0])[:3] for point in cloth.positions + np.array([0, 0, index])]
        assert np.allclose(cached, expected, rtol=2**-24, atol=0)


def test_reports_are_one_line_a_frame(folder):
    lines = [json.loads(line) for line in (folder / "frames.jsonl").read_text().splitlines()]
    assert [line["frame"] for line in lines] == [11, 12, 13]


def test_each_cloth_has_its_own_file(tmp_path):
    scene = full_scene()
    write(tmp_path, scene)
    assert sorted(path.name for path in tmp_path.glob("*.pc2")) == ["sheet.pc2", "Çurtain %2F left.pc2"]
    assert inspect(tmp_path) == (CacheState.READY, "3 frames", 3)


@pytest.mark.parametrize("key", ["../../escape", "a\\b", "nul\0", "C:x", ".."])
def test_no_key_leaves_the_folder(tmp_path, key):
    assert frames_path(tmp_path, key).resolve().parent == tmp_path


def test_states(folder, scene, tmp_path):
    assert inspect(tmp_path / "nowhere") == (CacheState.MISSING, f"There is no cache in {tmp_path / 'nowhere'}", 0)
    assert inspect(folder) == inspect(folder, digest(scene), program()) == (CacheState.READY, "3 frames", 3)
    assert inspect(folder, "another") == (CacheState.STALE, "The scene has changed since this bake", 3)
    assert inspect(folder, digest(scene), "another") == (
        CacheState.STALE,
        "Another version of Taffeta's solver baked it",
        3,
    )
    for state, word in (("running", "broken off"), ("cancelled", "cancelled"), ("failed", "failed")):
        write(folder, scene, 2, state)
        assert inspect(folder) == (CacheState.PARTIAL, f"{word}: 2 of 3 frames", 2)
    write(folder, scene, 2, "done")
    assert inspect(folder)[0] is CacheState.CORRUPT


def test_a_cache_cut_off_anywhere_is_never_ready(folder):
    for name in ("sheet.pc2", "cache.json"):
        whole = (folder / name).read_bytes()
        for length in range(len(whole)):
            (folder / name).write_bytes(whole[:length])
            state, reason, _ = inspect(folder)
            assert state is CacheState.CORRUPT, length
            assert name in reason
        (folder / name).write_bytes(whole)
    assert inspect(folder)[0] is CacheState.READY


def test_a_bake_runs_while_somebody_holds_its_folder_and_is_broken_off_once_nobody_does(tmp_path, scene):
    with locked(tmp_path):
        write(tmp_path, scene, 2, "running")
        assert inspect(tmp_path)[1] == "running: 2 of 3 frames"
    assert inspect(tmp_path)[1] == "broken off: 2 of 3 frames"
    with locked(tmp_path):  # the look has let go of it
        assert inspect(tmp_path)[1] == "running: 2 of 3 frames"


def test_a_running_bake_cut_off_within_a_frame_plays_the_frames_before(tmp_path, scene):
    """A kill can leave any part of the next frame behind the counted ones."""
    write(tmp_path, scene, 2, "running")
    path = tmp_path / "sheet.pc2"
    whole = path.read_bytes()
    for extra in range(48):
        path.write_bytes(whole + b"\xff" * extra)
        assert inspect(tmp_path) == (CacheState.PARTIAL, "broken off: 2 of 3 frames", 2)
        assert len(read_frames(path)) == 2
    point_cache.append(path, np.ones((4, 3), np.float32))
    assert path.read_bytes()[32:] == whole[32:] + np.ones(12, "<f4").tobytes()


def test_more_than_the_bake_wrote_is_not_ready(folder):
    with open(folder / "sheet.pc2", "ab") as file:
        file.write(b"\0")
    assert inspect(folder)[0] is CacheState.CORRUPT


@pytest.mark.parametrize("content", [b"", b"POINTCACHE2\0", b"OTHER" * 40, b"POINTCACHE2\0" + b"\xff" * 60])
def test_a_foreign_point_cache_is_refused(folder, content):
    (folder / "sheet.pc2").write_bytes(content)
    assert inspect(folder)[0] is CacheState.CORRUPT
    with pytest.raises(CacheError, match=r"sheet\.pc2"):
        read_frames(folder / "sheet.pc2")


def test_the_cache_of_another_mesh_is_refused(folder, tmp_path):
    write(tmp_path / "other", small_scene(FRAMES, 3))
    (folder / "sheet.pc2").write_bytes((tmp_path / "other" / "sheet.pc2").read_bytes())
    assert inspect(folder)[0] is CacheState.CORRUPT


def test_files_of_others_are_neither_overwritten_nor_deleted(tmp_path, scene):
    (tmp_path / "sheet.pc2").write_bytes(b"precious")
    assert inspect(tmp_path)[0] is CacheState.CORRUPT
    with pytest.raises(
        CacheError, match=r"holds files that Taffeta did not write, such as sheet\.pc2\. Move them away"
    ):
        CacheWriter(tmp_path, scene, "cpu").begin()
    free(tmp_path)
    assert (tmp_path / "sheet.pc2").read_bytes() == b"precious"
    (tmp_path / "cache.json").write_text('{"format": "their cache", "version": 7}')
    with pytest.raises(CacheError, match="holds files that Taffeta did not write"):
        CacheWriter(tmp_path, scene, "cpu").begin()
    free(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache.json", "sheet.pc2"]


def test_a_point_cache_in_our_folder_that_nothing_of_ours_names_is_left_alone(folder):
    other = small_scene(FRAMES, 2)
    other = replace(other, cloths=(replace(other.cloths[0], key="theirs"),))
    (folder / "theirs.pc2").write_bytes(b"precious")
    with pytest.raises(CacheError, match=r"theirs\.pc2 was not written by Taffeta\. Move it away"):
        CacheWriter(folder, other, "cpu").begin()
    assert (folder / "theirs.pc2").read_bytes() == b"precious"


@pytest.mark.parametrize("lost", ["cache.json", "frames.jsonl", "taffeta.txt"])
def test_whatever_is_lost_free_finds_the_frames(folder, lost):
    (folder / "notes.txt").write_text("mine")
    (folder / lost).unlink()
    assert holds_bake(folder)
    free(folder)
    assert not holds_bake(folder)
    assert {path.name for path in folder.iterdir()} <= {"notes.txt", "lock", "taffeta.txt"}


@pytest.mark.parametrize(
    "change",
    [
        {"state": "almost"},
        {"points": {}},
        {"points": {"sheet": "4"}},
        {"frame_end": 10},
        {"digest": 3},
        {"extra": 1},
        {"version": 3},
        {"kept": "1"},
    ],
)
def test_values_that_cannot_be_are_corrupt(folder, change):
    values = json.loads((folder / "cache.json").read_text())
    (folder / "cache.json").write_text(json.dumps({**values, **change}))
    assert inspect(folder)[0] is CacheState.CORRUPT


def test_every_damaged_byte_of_a_frame_is_found(folder):
    verify(folder)
    path = folder / "sheet.pc2"
    whole = path.read_bytes()
    for place in range(32, len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(CacheError, match=rf"sheet\.pc2 is damaged at frame {11 + (place - 32) // 48}"):
            verify(folder)
        assert inspect(folder)[0] is CacheState.READY  # which reads headers and sizes only
    path.write_bytes(whole)
    verify(folder)


def test_a_damaged_report_is_found_and_one_that_was_cut_off_does_not_count(folder):
    path = folder / "frames.jsonl"
    whole = path.read_bytes()
    for place in range(whole.rindex(b"\n", 0, -1)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(CacheError, match=r"frames\.jsonl is damaged"):
            verify(folder)
    path.write_bytes(whole[:-1])
    assert [line["frame"] for line in json_lines.read(path)] == [11, 12]
    with pytest.raises(CacheError, match=r"frames\.jsonl has 2 of 3 frames"):
        verify(folder)


def test_the_size_is_that_of_our_files(folder):
    (folder / "notes.txt").write_text("mine")
    assert size(folder) == sum(path.stat().st_size for path in folder.iterdir() if path.name != "notes.txt")


def test_free_deletes_the_cache_and_nothing_else(folder):
    (folder / "notes.txt").write_text("mine")
    (folder / "other.pc2").write_text("mine")
    free(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["lock", "notes.txt", "other.pc2", "taffeta.txt"]


def test_of_a_freed_bake_only_the_tag_and_the_lock_are_left(folder):
    checkpoint.save(folder, 1, FRAMES, "digest", {})
    free(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["lock", "taffeta.txt"]
    free(folder)


def test_a_new_bake_removes_the_files_of_the_cloths_it_no_longer_has(tmp_path, scene):
    write(tmp_path, full_scene())
    write(tmp_path, scene)
    assert [path.name for path in tmp_path.glob("*.pc2")] == ["sheet.pc2"]


def test_rewinding_forgets_the_later_frames(folder, scene):
    writer = CacheWriter(folder, scene, "cpu")
    before = read_frames(folder / "sheet.pc2").copy()
    writer.rewind(1)
    assert inspect(folder) == (CacheState.PARTIAL, "broken off: 1 of 3 frames", 1)
    assert np.array_equal(read_frames(folder / "sheet.pc2"), before[:1])
    assert len((folder / "frames.jsonl").read_text().splitlines()) == 1
    with pytest.raises(CacheError, match="has 1 frames, not 2"):
        writer.rewind(2)


def test_a_position_that_is_not_a_number_never_reaches_the_cache(tmp_path, scene):
    writer = write(tmp_path, scene, 1, "running")
    for bad in (np.nan, 1e39):
        with pytest.raises(FloatingPointError, match="Sheet has a position that is not a number at frame 12"):
            writer.append(12, [np.full((4, 3), bad)], {})
    assert inspect(tmp_path)[2] == 1


def test_one_writer_at_a_time(folder):
    with locked(folder), pytest.raises(CacheError, match="Another bake writes into"), locked(folder):
        pass
    with locked(folder):
        pass
    with locked(folder), pytest.raises(CacheError, match="Another bake"):
        free(folder)


APPEND_FOREVER = """
import sys, numpy as np
from gpu_core.files import lock, point_cache
from pathlib import Path
folder = Path(sys.argv[1])
with lock.locked(folder):
    point_cache.create(folder / "kill.pc2", 20000, 1)
    print("ready", flush=True)
    for value in range(10**6):
        point_cache.append(folder / "kill.pc2", np.full((20000, 3), value, np.float32))
"""


@pytest.mark.parametrize("delay", [0.0, 0.013, 0.041, 0.1])
def test_killing_the_writer_leaves_whole_frames_and_no_lock(tmp_path, delay):
    writer = subprocess.Popen(
        [sys.executable, "-c", APPEND_FOREVER, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout.readline() == "ready\n"
    time.sleep(delay)
    with pytest.raises(CacheError, match="Another bake"), locked(tmp_path):
        pass
    writer.kill()
    assert writer.wait() == -signal.SIGKILL
    writer.stdout.close()
    frames = read_frames(tmp_path / "kill.pc2")
    assert len(frames) == read_header(tmp_path / "kill.pc2").frames
    assert all((frame == value).all() for value, frame in enumerate(frames))
    with locked(tmp_path):
        pass


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"before")

    def fail(file):
        file.write(b"half of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(DiskError, match="The disk is full"):
        write_whole(path, fail)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("times", [1, 5])
@pytest.mark.parametrize("what", ["replace", "unlink"])
def test_a_file_that_a_scanner_holds_for_a_moment_is_replaced_and_deleted_all_the_same(
    tmp_path, monkeypatch, what, times
):
    """Windows refuses both while anybody has the file open."""
    path, refusals = tmp_path / "file", [PermissionError(errno.EACCES, "held")] * times
    path.write_bytes(b"before")
    action = getattr(os, what)

    def held(*arguments, **options):
        if refusals:
            raise refusals.pop()
        return action(*arguments, **options)

    monkeypatch.setattr(os, what, held)
    if what == "replace":
        write_whole(path, lambda file: file.write(b"after"))
        assert path.read_bytes() == b"after"
    else:
        remove(path)
        assert not path.exists()
    assert not refusals


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.ENOSPC, "The disk is full: .*Free some space"),
        (errno.EFBIG, "The disk is full"),
        (errno.EROFS, "is read-only or not yours. Choose a folder you may write to"),
        (errno.EACCES, "is read-only or not yours"),
        (errno.ENOTDIR, "cannot be made or opened: Not a directory"),
        (errno.EIO, "Input/output error. Check the disk"),
    ],
)
def test_disk_troubles_are_said_plainly(number, message):
    with pytest.raises(DiskError, match=message), disk_errors(Path("folder")):
        raise OSError(number, os.strerror(number))


def test_a_checkpoint_returns_every_bit(tmp_path):
    random = np.random.default_rng(0)
    state = {
        "positions": random.normal(size=(7, 3)),
        "velocities": random.normal(size=(7, 4)).astype(np.float32),
        "keys/of pairs": random.integers(0, 2**63, 5, dtype=np.int64),
        "frame": np.array(12),
        "nothing": np.empty((0, 4), np.float32),
        "file": np.array([True, False]),
        "odd": np.array([np.nan, -0.0, np.inf, 5e-324]),
    }
    checkpoint.save(tmp_path, 12, 48, "digest", state)
    done, loaded = checkpoint.load(tmp_path, "digest", 12)
    assert done == 12
    assert loaded.keys() == state.keys()
    for name, array in state.items():
        assert loaded[name].dtype == array.dtype
        assert loaded[name].shape == array.shape
        assert loaded[name].tobytes() == array.tobytes()


def test_a_checkpoint_of_another_version_is_of_no_use(tmp_path, monkeypatch):
    checkpoint.save(tmp_path, 3, 48, "digest", {"x": np.arange(3.0)})
    monkeypatch.setattr(checkpoint, "program", lambda: "another")
    assert checkpoint.load(tmp_path, "digest", 48) == (0, {})


def test_a_damaged_or_foreign_checkpoint_is_of_no_use(tmp_path):
    assert checkpoint.load(tmp_path, "digest", 48) == (0, {})
    checkpoint.save(tmp_path, 3, 48, "digest", {"x": np.arange(3.0)})
    path = checkpoint.path_of(tmp_path, 3)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert checkpoint.load(tmp_path, "digest", 48) == (0, {})
    path.write_bytes(whole)
    assert checkpoint.load(tmp_path, "another", 48) == checkpoint.load(tmp_path, "digest", 2) == (0, {})
    with pytest.raises(TypeError, match="plain arrays"):
        checkpoint.save(tmp_path, 4, 48, "digest", {"x": np.array([object()])})
    assert checkpoint.load(tmp_path, "digest", 48)[0] == 3


@pytest.mark.parametrize(("frames", "kept"), [(1, []), (12, [2, 4, 6, 8, 10]), (250, [32, 64, 96, 128, 160, 192, 224])])
def test_few_states_stay_and_they_lie_over_the_whole_range(tmp_path, frames, kept):
    for done in range(1, frames + 1):
        checkpoint.save(tmp_path, done, frames, "digest", {})
    assert sorted(tmp_path.iterdir()) == [checkpoint.path_of(tmp_path, done) for done in [*kept, frames]]

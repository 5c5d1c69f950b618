# SPDX-License-Identifier: GPL-3.0-or-later
"""A job that is written while its scene is read: the bytes of one written at once, in memory that does not grow."""

from __future__ import annotations

import errno
import subprocess
import sys
import threading
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from taffeta.gpu_core.files import frame_spool, job
from taffeta.gpu_core.files.disk import DiskError
from taffeta.gpu_core.files.frame_spool import SMALL, FrameSpool
from taffeta.gpu_core.files.job import digest, load, positions_name, save
from taffeta.gpu_core.files.job_writer import JobWriter
from taffeta.gpu_core.scene.scene import Collider, Scene, SceneError
from taffeta.tests.gpu_core.small_scene import full_scene, sheet, small_scene

MIB = 2**20


def streamed(frames: np.ndarray, spool: FrameSpool, name: str = "") -> np.ndarray:
    """Frames (F, …) through a spool, one at a time."""
    series = spool.begin(len(frames), name)
    for frame in frames:
        series.append(lambda frame=frame: frame.copy(), frame.nbytes)
        spool.has_room(60)
    until_done(spool)
    return series.finish()


def until_done(spool: FrameSpool) -> None:
    assert spool.is_done(60)


def write(scene: Scene, folder: Path) -> JobWriter:
    """As a reader does it, up to `commit`."""
    writer = JobWriter(folder)
    colliders = [
        replace(collider, positions=streamed(collider.positions, writer, positions_name(index)))
        for index, collider in enumerate(scene.colliders)
    ]
    writer.seal(replace(scene, colliders=tuple(colliders)))
    until_done(writer)
    return writer


def with_collider(positions: np.ndarray, frames: int = 0) -> Scene:
    """The small scene with a collider of these frames (F, V, 3), or (1, V, 3) that stays for so many frames."""
    scene = small_scene(frames or len(positions))
    side = int(positions.shape[1] ** 0.5)
    grid = Collider("Grid", sheet(side)[1], positions[:, : side * side])
    return replace(scene, colliders=(*scene.colliders, grid))


def waving(frames: int, side: int) -> np.ndarray:
    """(frames, side², 3) float32; no two frames alike."""
    flat = sheet(side)[0].astype(np.float32)
    return np.stack([flat + np.float32([0, 0, 0.01 * k]) for k in range(frames)])


def kept_once(frames: np.ndarray) -> np.ndarray:
    """What the reader did before it streamed."""
    return frames[:1].copy() if (frames == frames[:1]).all() else frames


def late(frames: int, side: int) -> np.ndarray:
    """At rest until the last frame."""
    positions = np.repeat(waving(1, side), frames, axis=0)
    positions[-1, 0, 2] = 1
    return positions


def minus_zeros(frames: int, side: int) -> np.ndarray:
    """The same numbers in other bits."""
    positions = np.repeat(waving(1, side), frames, axis=0)
    positions[1] *= np.where(positions[1] == 0, np.float32(-1), np.float32(1))
    assert np.signbit(positions[1]).any()
    return positions


def minus_zeros_and_late(frames: int, side: int) -> np.ndarray:
    positions = minus_zeros(frames, side)
    positions[-1, 0, 2] = 1
    return positions


def at_rest(frames: int, side: int) -> np.ndarray:
    return np.repeat(waving(1, side), frames, axis=0)


MOTIONS = [waving, at_rest, late, minus_zeros, minus_zeros_and_late]
SIZES = {"in memory": (5, 9), "in a file": (7, 150)}


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize(("frames", "side"), SIZES.values(), ids=SIZES)
def test_a_streamed_job_has_the_same_digest_and_bytes_as_one_written_at_once(tmp_path, motion, frames, side):
    positions = motion(frames, side)
    assert (positions.nbytes > SMALL) == (side == SIZES["in a file"][1])
    write(with_collider(positions), tmp_path / "streamed").commit()
    save(with_collider(kept_once(positions), frames), tmp_path / "at once")
    for path in sorted((tmp_path / "at once").iterdir()):
        streamed_file = tmp_path / "streamed" / path.name
        if path.suffix == ".npz":  # zip archives carry the time
            with np.load(path) as a, np.load(streamed_file) as b:
                assert all(np.array_equal(a[name], b[name]) for name in a.files)
        else:
            assert streamed_file.read_bytes() == path.read_bytes(), path.name
    assert digest(tmp_path / "streamed") == digest(load(tmp_path / "streamed")) == digest(tmp_path / "at once")
    wait_until(lambda: not [path for path in (tmp_path / "streamed").iterdir() if path.is_dir()])


def test_every_field_of_a_scene_arrives(tmp_path):
    scene = full_scene()
    once = tuple(replace(collider, positions=kept_once(collider.positions)) for collider in scene.colliders)
    write(scene, tmp_path).commit()
    assert digest(load(tmp_path)) == digest(replace(scene, colliders=once))


def test_a_large_series_is_memory_mapped_and_its_digest_needs_no_second_reading(tmp_path):
    writer = JobWriter(tmp_path)
    series = writer.begin(4, "moves.npy")
    for frame in waving(4, 200):
        series.append(lambda frame=frame: frame, frame.nbytes)
    until_done(writer)
    array = series.finish()
    assert isinstance(array, np.memmap)
    np.testing.assert_array_equal(array, waving(4, 200))
    scene = with_collider(waving(4, 200))
    assert job.describe(scene)["colliders"][1]["arrays"]["positions"] == series.digest
    writer.close()


# Memory and time


def test_memory_does_not_grow_with_the_number_of_frames(tmp_path):
    def peak(frames: int) -> int:
        with_frames = FrameSpool(tmp_path / str(frames))
        series = with_frames.begin(frames)
        points = np.zeros((200_000, 3), np.float32)
        tracemalloc.start()
        for index in range(frames):
            points[0] = index
            series.append(points.copy, points.nbytes)
            while not with_frames.has_room(1.0, room=2 * points.nbytes):
                pass
        until_done(with_frames)
        assert series.finish().shape == (frames, 200_000, 3)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        with_frames.close()
        return found

    few, many = peak(5), peak(40)
    assert many < few + 4 * MIB  # 40 frames are 92 MiB
    assert many < 16 * MIB


HANDOVER = """
import resource, sys
from pathlib import Path
from taffeta.tests.gpu_core.files.test_job_writer import long_job
limit = int(sys.argv[2])
if limit:
    used = int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmData"))) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (used + limit, used + limit))
long_job(Path(sys.argv[1]), 40, 448)
"""


def long_job(folder: Path, frames: int, side: int) -> None:
    """Read, sealed and committed: a collider that moves in every frame."""
    scene = small_scene(frames)
    flat, faces = sheet(side)
    flat = flat.astype(np.float32)
    writer = JobWriter(folder)
    series = writer.begin(frames, positions_name(1))
    for index in range(frames):
        series.append(lambda index=index: flat + np.float32([0, 0, 0.01 * index]), flat.nbytes)
        while not writer.has_room(1.0, room=4 * flat.nbytes):
            pass
    until_done(writer)
    grid = Collider("Grid", faces, series.finish())
    writer.seal(replace(scene, colliders=(*scene.colliders, grid)))
    until_done(writer)
    writer.commit()


@pytest.mark.skipif(sys.platform != "linux", reason="a limit on memory that leaves mapped files alone")
def test_a_job_of_92_mib_is_written_with_64_mib_of_memory(tmp_path):
    """In a process with a limit on memory of its own; 200 704 vertices, 40 frames."""
    found = subprocess.run(
        [sys.executable, "-c", HANDOVER, str(tmp_path), str(64 * MIB)], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert (tmp_path / positions_name(1)).stat().st_size > 90 * MIB
    assert load(tmp_path).colliders[1].positions.shape == (40, 448 * 448, 3)


def test_a_disk_that_is_slower_than_the_reader_lets_it_wait(tmp_path, monkeypatch):
    gate = threading.Event()
    spool = FrameSpool(tmp_path)
    series = spool.begin(6)
    frame = np.zeros((10, 3))

    def slow() -> np.ndarray:
        gate.wait(60)
        return frame

    for _ in range(3):
        series.append(slow, frame.nbytes)
    assert spool.has_room(0.0, room=3 * frame.nbytes)
    assert not spool.has_room(0.01, room=2 * frame.nbytes)
    gate.set()
    assert spool.has_room(60, room=2 * frame.nbytes)
    spool.close()


# Troubles


def test_a_scene_that_is_not_valid_is_refused_and_leaves_the_old_job(tmp_path):
    save(small_scene(), tmp_path)
    positions = waving(7, 150)
    positions[3, 2] = np.nan
    with pytest.raises(SceneError, match="Grid: vertex 2 is not a number at frame 14"):
        write(with_collider(positions), tmp_path)
    assert digest(tmp_path) == digest(small_scene())


def test_what_is_not_committed_leaves_nothing(tmp_path):
    save(small_scene(), tmp_path / "other")
    before = sorted((tmp_path / "other").iterdir())
    for folder in (tmp_path / "new", tmp_path / "other"):
        writer = write(with_collider(waving(7, 150)), folder)
        assert any(path.is_dir() for path in folder.iterdir())
        writer.close()
    wait_until(lambda: not (tmp_path / "new").exists())
    wait_until(lambda: not any(path.is_dir() for path in (tmp_path / "other").iterdir()))
    assert sorted((tmp_path / "other").iterdir()) == before
    (tmp_path / "empty").mkdir()  # and an empty folder of somebody else stays
    spool = FrameSpool(tmp_path / "empty")
    spool.staging()
    spool.close()
    wait_until(lambda: not any((tmp_path / "empty").iterdir()))
    assert (tmp_path / "empty").exists()
    assert digest(load(tmp_path / "other")) == digest(small_scene())


def test_closing_does_not_wait_for_the_disk(tmp_path):
    gate = threading.Event()
    spool = FrameSpool(tmp_path)
    spool.begin(2).append(lambda: gate.wait(60) and np.zeros(3), 24)
    began = time.monotonic()
    spool.close()
    assert time.monotonic() - began < 30
    gate.set()


def test_frames_that_do_not_fit_on_the_disk_are_refused_before_they_are_read(tmp_path):
    spool = FrameSpool(tmp_path)
    series = spool.begin(10**9)
    for frame in waving(2, 150):
        series.append(lambda frame=frame: frame, frame.nbytes)
    with pytest.raises(DiskError) as caught:
        until_done(spool)
    assert str(tmp_path) in str(caught.value)
    assert str(10**9 * 150 * 150 * 12) in str(caught.value)
    assert "free" in caught.value.problem
    spool.close()


def test_what_does_not_move_needs_no_room_whatever_the_range(tmp_path):
    spool = FrameSpool(tmp_path)
    series = spool.begin(10**9)
    for _ in range(3):
        series.append(lambda: waving(1, 150)[0], 1)
    until_done(spool)
    assert series.finish().shape == (1, 150 * 150, 3)
    assert list(tmp_path.iterdir()) == []
    spool.close()


def test_a_disk_that_fills_up_is_told(tmp_path, monkeypatch):
    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array_header_1_0", full)
    with pytest.raises(DiskError, match="disk is full"):
        write(with_collider(waving(7, 150)), tmp_path)


def test_a_folder_that_cannot_be_made_is_a_disk_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DiskError, match="Choose a folder"):
        write(with_collider(waving(7, 150)), tmp_path / "file" / "job")


def test_what_a_killed_reader_left_goes_after_a_day(tmp_path):
    import os

    left, young = tmp_path / f"{frame_spool.STAGING}left", tmp_path / f"{frame_spool.STAGING}young"
    for folder in (left, young):
        folder.mkdir()
        (folder / "frames.npy").write_bytes(b"half")
    for path in (left / "frames.npy", left):
        os.utime(path, (0, time.time() - 2 * frame_spool.FORGOTTEN))
    spool = FrameSpool(tmp_path)
    spool.staging()
    assert not left.exists()
    assert young.exists()
    spool.close()


def wait_until(holds) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)

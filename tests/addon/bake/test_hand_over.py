# SPDX-License-Identifier: GPL-3.0-or-later
"""A long animation on its way to the worker: the window stays alive, memory stays small, nothing half-written stays."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import bpy
import numpy as np
import pytest

from taffeta.addon.bake import session
from taffeta.addon.bake.state import Happening, Phase
from taffeta.addon.scene.gather import gather
from taffeta.gpu_core.files import frame_spool, job
from taffeta.gpu_core.files.frame_spool import STAGING
from taffeta.tests.addon.baking import begin, folder, until_frame

MIB = 2**20


@pytest.fixture
def heavy(saved_scene):
    """The sheet, and below it a grid of 250 × 250 vertices that moves in each of 24 frames: 17 MiB."""
    add_moving_grid(saved_scene, 250)
    return saved_scene


def add_moving_grid(scene, side):
    scene.frame_end = 24
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=side - 1, y_subdivisions=side - 1, size=2.0)
    grid = bpy.context.object
    grid.name, grid.taffeta.role = "Grid", "COLLIDER"
    for frame, height in ((1, -1.0), (24, -0.9)):
        grid.location.z = height
        grid.keyframe_insert("location", frame=frame)


def held(bake: session.Bake) -> tuple[list[float], list[float]]:
    """Seconds that each step held Blender until the worker was started: (while frames were read, after the last)."""
    reading, after = [], []
    while bake.state.phase is Phase.READING:
        times = reading if bake.state.share < 1 else after
        began = time.perf_counter()
        bake.step(1e-6)
        times.append(time.perf_counter() - began)
    assert bake.state.phase is Phase.STARTING, bake.state
    return reading, after


def staged(place: Path) -> list[Path]:
    while True:
        try:
            return [path for path in place.rglob("*") if path.name.startswith(STAGING)]
        except FileNotFoundError:  # a folder went away while it was looked through
            continue


def wait_until(holds) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_the_hand_over_never_holds_blender_longer_than_reading_a_frame_does(heavy):
    reading, after = held(begin())
    session.close()
    assert len(reading) >= 24
    assert len(after) > 1
    assert max(after) < 2 * max(reading)


def test_each_step_reads_a_little_however_short_it_is(saved_scene):
    """A slow machine, or one under a profiler, would never come to read otherwise."""
    bake = begin()
    shares = []
    for _ in range(3):
        bake.step(0.0)
        shares.append(bake.state.share)
    session.close()
    assert shares == sorted(set(shares))


def test_memory_does_not_grow_with_the_frames_that_are_read(heavy, monkeypatch):
    """As NumPy and Python count it; Blender's own is not the frames'."""
    monkeypatch.setattr(frame_spool, "AHEAD", 2 * MIB)
    tracemalloc.start()
    try:
        bake = begin()
        held(bake)
        peak = tracemalloc.get_traced_memory()[1]
        until_frame(bake, 1)  # the worker has taken the job in
    finally:
        tracemalloc.stop()
        session.close()
    size = (folder(heavy) / "job" / job.positions_name(1)).stat().st_size
    assert size > 17 * MIB
    assert peak < size // 2


def test_what_is_streamed_is_what_is_read_at_once(heavy):
    until_frame(begin(), 1)
    session.close()
    found, read = job.load(folder(heavy) / "job"), gather(bpy.context)
    assert job.digest(found) == job.digest(read)
    assert isinstance(read.colliders[1].positions, np.memmap)
    heights = found.colliders[1].positions[:, 0, 2]
    assert heights[0] == np.float32(-1.0)
    assert (np.diff(heights) > 0).all()
    wait_until(lambda: not staged(folder(heavy)) and not staged(Path(bpy.app.tempdir)))


@pytest.mark.parametrize("share", [0.5, 1.0], ids=["while frames are read", "while the rest is written"])
def test_a_cancelled_reading_leaves_the_old_job_and_nothing_else(heavy, share):
    place = folder(heavy)
    until_frame(begin(), 1)
    session.close()
    wait_until(lambda: not staged(place))
    before = {path: path.stat().st_mtime_ns for path in (place / "job").iterdir()}
    bpy.data.objects["Floor"].location.z = -0.1
    bake = begin()
    while bake.state.share < share or not staged(place):
        assert bake.state.phase is Phase.READING
        bake.step(1e-6)
    bake.handle(Happening.CANCEL)
    assert bake.state.phase is Phase.CANCELLED
    assert session.finish(bpy.context).phase is Phase.CANCELLED
    wait_until(lambda: not staged(place))
    assert {path: path.stat().st_mtime_ns for path in (place / "job").iterdir()} == before


def test_a_vertex_that_is_no_number_is_told_after_the_last_frame_and_leaves_no_job(heavy):
    mesh = bpy.data.objects["Grid"].data
    points = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", points.reshape(-1))
    points[7] = np.nan
    mesh.vertices.foreach_set("co", points.reshape(-1))
    with pytest.raises(RuntimeError, match="Grid: vertex 7 is not a number at frame 1"):
        bpy.ops.taffeta.bake()
    wait_until(lambda: not staged(folder(heavy)))
    assert not (folder(heavy) / "job" / "job.json").exists()


def test_a_range_that_the_disk_cannot_hold_is_refused_at_once_and_names_what_is_missing(saved_scene):
    add_moving_grid(saved_scene, 500)
    saved_scene.frame_end = 1_000_000
    needed = 1_000_000 * 500 * 500 * 12
    with pytest.raises(RuntimeError, match=rf"has no room for .*: {needed} bytes needed, \d+ free"):
        bpy.ops.taffeta.bake()
    assert session.current is None
    wait_until(lambda: not staged(folder(saved_scene)))


def test_pins_that_move_take_no_more_memory_than_their_frames(saved_scene):
    """Their arrays grow as they are read, whatever the range: one frame of a million is read here."""
    item = bpy.data.objects["Cloth"]
    item.vertex_groups.new(name="Pins").add([0, 1], 1.0, "REPLACE")
    item.taffeta.cloth.pin_group = "Pins"
    saved_scene.frame_end = 1_000_000
    bake = begin()
    tracemalloc.start()
    bake.step(1e-6)
    bake.step(1e-6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    bake.handle(Happening.CANCEL)
    session.finish(bpy.context)
    assert peak < 4 * MIB

# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold on a CUDA device; skipped where none answers, unless TAFFETA_CUDA is set (`make test-cuda`)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from taffeta.benchmarks.speed.scenes import built
from taffeta.gpu_core.backend import BackendError, launch, select
from taffeta.gpu_core.simulator import Simulator
from taffeta.tests.gpu_core.backend import small_bakes

FRAMES = 48
VERTICES = 900

#: How far the drape of 900 vertices may be from the CPU's. A CPU bake that starts 0.01 to 1 µm elsewhere differs by
#: 0.04 to 0.13 mm (root mean square) in frame 4, by 31 to 41 mm in frame 48, for folds fall where they will, by up to
#: 2.8 mm in its mean height, and by up to 2 of 80 contacts in frame 3, 1 of 154 in frame 4.
EARLY = 0.3e-3  #: root mean square in frame 4, m
HEIGHT = 5e-3  #: of the mean height in every frame, m
CONTACTS = 0.05  #: of the number of contacts in frames 3 and 4


@pytest.fixture(scope="module")
def cuda():
    try:
        return select("cuda")
    except BackendError as obstacle:
        (pytest.fail if os.environ.get("TAFFETA_CUDA") else pytest.skip)(str(obstacle))


def bake(backend, frames=FRAMES):
    """Positions (F, N, 3) of the drape, and the number of contacts by frame, from its second frame on."""
    simulator = Simulator(built("drape", VERTICES, frames), backend)
    positions, contacts = [], []
    for _ in range(frames - 1):
        contacts.append(simulator.advance_frame().contacts)
        positions.append(np.concatenate(simulator.positions()))
    return np.array(positions), contacts


@pytest.fixture(scope="module")
def baked(cuda):
    return bake(cuda)


def test_a_sequence_replayed_as_a_graph_does_what_its_launches_do(cuda):
    x, moved, step = (cuda.array(np.full((3000, 4), value)) for value in (0.0, 0.0, 1.0))
    run = cuda.sequence([launch("add_increment", 3000, increment=step, x=x, displacement=moved)] * 3)
    for _ in range(4):  # plainly, recorded and replayed, replayed, replayed
        run()
    assert (cuda.host(x) == 12).all()
    assert (cuda.host(moved) == 12).all()


def test_a_look_has_what_was_there_when_it_was_taken(cuda):
    x, moved, step = (cuda.array(np.full((3000, 4), value)) for value in (0.0, 0.0, 1.0))
    add, look = (
        cuda.sequence([launch("add_increment", 3000, increment=step, x=x, displacement=moved)] * 100),
        cuda.look(x),
    )
    answers = [(add(), look())[1], (add(), look())[1]]
    assert [float(answer()[0][-1, 0]) for answer in answers] == [100.0, 200.0]


@pytest.mark.parametrize("name", small_bakes.SCENES)
def test_the_small_scenes_have_the_cpus_bits_on_the_card(cuda, name):
    (x, reports), (expected, said) = (small_bakes.bake(b, *small_bakes.SCENES[name]) for b in (cuda, select("cpu")))
    assert np.array_equal(x, expected)
    assert reports == said


def test_the_drape_is_the_one_of_the_cpu_until_folds_are_chance(baked):
    (positions, contacts), (others, expected) = baked, bake(select("cpu"))
    assert np.sqrt(((positions[2] - others[2]) ** 2).sum(axis=1).mean()) < EARLY
    assert contacts[1:3] == pytest.approx(expected[1:3], rel=CONTACTS)
    assert np.abs(positions[..., 2].mean(axis=1) - others[..., 2].mean(axis=1)).max() < HEIGHT


def test_the_same_bake_gives_the_same_bits_twice_on_one_card(cuda, baked):
    assert np.array_equal(bake(cuda)[0], baked[0])


@pytest.mark.parametrize("tool", ["memcheck", "initcheck", "racecheck"])
def test_the_compute_sanitizer_finds_nothing(cuda, tool):
    """A small drape into contact. The tool is part of NVIDIA's CUDA toolkit; memcheck takes minutes.

    Without CuPy's pool, whose blocks hide what goes beyond an array's end. racecheck: of what the threads of a block
    share.
    """
    sanitizer = shutil.which("compute-sanitizer")
    if sanitizer is None:
        pytest.skip("compute-sanitizer is not installed")
    script = (
        "import cupy\n"
        "cupy.cuda.set_allocator(None)\n"
        "from taffeta.gpu_core.backend import select\n"
        "from taffeta.gpu_core.simulator import Simulator\n"
        "from taffeta.tests.gpu_core.small_scene import small_scene\n"
        "simulator = Simulator(small_scene(8, 12), select('cuda'))\n"
        "print('contacts', [simulator.advance_frame().contacts for _ in range(3)][-1])\n"
    )
    command = [sanitizer, "--tool", tool, "--error-exitcode", "9", sys.executable, "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    assert "contacts 0" not in run.stdout

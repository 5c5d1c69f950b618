# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums over the vertices: all of them, in stages that add in the same order however many threads there are."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.gpu_core.backend import launch
from taffeta.gpu_core.backend.cpu import CpuBackend
from taffeta.gpu_core.backend.signatures import CHUNK
from taffeta.gpu_core.solvers.sums import DotProduct
from taffeta.tests.gpu_core.chunk_sums import chunk_sums


def energy(backend: CpuBackend, way: np.ndarray) -> np.float32:
    """The sum of the squares of the ways (N, 4), as `gradient_energy` has it."""
    dot, scalar, accepted = DotProduct(backend, len(way)), np.zeros(9, np.float32), np.ones(1, np.int32)
    nothing, held = np.zeros_like(way), np.zeros(len(way), np.int32)
    backend.run(
        [
            launch("free_way", len(way), before=nothing, reached=way, held=held, way=way.copy(), **dot.product),
            *dot.used("gradient_energy", share=1.0, growth=1.0, unlimited=1, accepted=accepted, scalar=scalar),
        ]
    )
    return scalar[0]


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("count", [1, CHUNK, CHUNK + 1, CHUNK**2, CHUNK**2 + 1])
def test_every_vertex_counts_once(threads, count):
    rng = np.random.default_rng(count)
    way = np.pad(rng.integers(0, 4, (count, 3)), ((0, 0), (0, 1))).astype(np.float32)
    assert energy(CpuBackend(threads), way) == (way**2).sum(dtype=np.float64)  # whole numbers: nothing is rounded


def test_the_bits_do_not_depend_on_the_threads():
    way = np.pad(np.random.default_rng(1).random((CHUNK**2 + 1000, 3), np.float32), ((0, 0), (0, 1)))
    assert len({energy(backend, way) for backend in map(CpuBackend, (1, 2, 7))}) == 1


@pytest.mark.parametrize("threads", [1, 7])
def test_a_launch_adds_a_chunk_up_from_its_first_number_to_its_last(threads):
    way = np.pad(np.random.default_rng(2).normal(size=(3 * CHUNK + 5, 3)).astype(np.float32), ((0, 0), (0, 1)))
    partial, nothing, held = np.zeros(4, np.float32), np.zeros_like(way), np.zeros(len(way), np.int32)
    CpuBackend(threads).launch(
        "free_way", len(way), before=nothing, reached=way, held=held, way=way.copy(), partial=partial
    )
    assert np.array_equal(partial, chunk_sums(way, way))

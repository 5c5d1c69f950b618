# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums over the vertices: all of them, in stages that add in the same order however many threads there are."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.gpu_core.backend.cpu import CpuBackend
from taffeta.gpu_core.solvers.sums import CHUNK, DotProduct


def energy(backend: CpuBackend, product: np.ndarray) -> np.float32:
    """The sum as `gradient_energy` has it."""
    dot, scalar = DotProduct(backend, len(product)), np.zeros(8, np.float32)
    dot.product[:] = product
    accepted = np.ones(1, np.int32)
    backend.run(
        dot.used("gradient_energy", share=1.0, growth=1.0, unlimited=1, accepted=accepted, scalar=scalar),
    )
    return scalar[0]


@pytest.mark.parametrize("count", [1, CHUNK, CHUNK + 1, CHUNK**2, CHUNK**2 + 1])
def test_every_vertex_counts_once(count):
    rng = np.random.default_rng(count)
    product = np.pad(rng.integers(0, 8, (count, 3)), ((0, 0), (0, 1))).astype(np.float32)
    assert energy(CpuBackend(), product) == product.sum(dtype=np.float64)  # whole numbers: nothing is rounded


def test_the_bits_do_not_depend_on_the_threads():
    product = np.random.default_rng(1).random((CHUNK**2 + 1000, 4), np.float32)
    sums = {energy(CpuBackend(threads=threads), product) for threads in (1, 2, 7)}
    assert len(sums) == 1

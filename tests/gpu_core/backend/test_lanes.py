# SPDX-License-Identifier: GPL-3.0-or-later
"""Four floats at once: in a register or one by one, as CUDA takes them, the answer is the same, of NaN too."""

from __future__ import annotations

import ctypes
import itertools
import subprocess

import numpy as np
import pytest

from taffeta.gpu_core.backend.build import COMMON_FLAGS, KERNELS, compiler

SOURCE = """
#include "lanes.h"
FUNCTION vec four(const float *a) { return make_four(a[0], a[1], a[2], a[3]); }
extern "C" __attribute__((visibility("default")))
void try_lanes(const float *a, const float *b, const float *c, float *out)
{
    vec x = four(a), y = four(b), z = four(c);
    vec low = lower(x, y), high = upper(x, y), sum = sums(x, y, z), scaled = a[0] * (x + product(y, z) - z);
    float values[] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w, sum.x, sum.y, sum.z, sum.w,
                      scaled.x, scaled.y, scaled.z, scaled.w, none_negative(x) ? 1.0f : 0.0f};
    for (int k = 0; k < 17; k++)
        out[k] = values[k];
}
"""
KINDS = (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5, 1e-45, -3e38)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """The two ways, as functions of three vectors."""
    folder = tmp_path_factory.mktemp("lanes")
    (folder / "lanes.cpp").write_text(SOURCE)

    def made(name: str, *flags: str):
        built = folder / f"{name}.so"
        command = [*compiler(), *COMMON_FLAGS, "-O2", *flags, f"-I{KERNELS.resolve()}", "lanes.cpp", "-o", built.name]
        subprocess.run([word for word in command if word != "-Werror"], cwd=folder, check=True)
        function = ctypes.CDLL(str(built)).try_lanes

        def answer(*vectors: np.ndarray) -> np.ndarray:
            out = np.empty(17, np.float32)
            function(*(ctypes.c_void_p(array.ctypes.data) for array in (*vectors, out)))
            return out

        return answer

    return made("register"), made("one_by_one", "-DSCALAR_LANES")


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Bit for bit; one NaN is as good as another."""
    return bool(((a.view(np.uint32) == b.view(np.uint32)) | (np.isnan(a) & np.isnan(b))).all())


def test_both_ways_answer_alike(paths):
    register, one_by_one = paths
    random = np.random.default_rng(0)
    for _ in range(20000):
        vectors = [random.choice(np.array(KINDS, np.float32), 4) for _ in range(3)]
        for vector in vectors:  # the sums are of three numbers beside a 0
            vector[3] = 0.0
        assert same(register(*vectors), one_by_one(*vectors)), vectors


def test_what_is_no_number_is_not_negative_in_whatever_lane(paths):
    """So a pair with it stays a candidate."""
    zero = np.zeros(4, np.float32)
    for values in itertools.product((np.nan, 1.0, -1.0), repeat=4):
        vector = np.array(values, np.float32)
        for answer in paths:
            assert answer(vector, zero, zero)[16] == float(-1.0 not in values)

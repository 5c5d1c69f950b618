# SPDX-License-Identifier: GPL-3.0-or-later
"""The pretended card itself: it has no name that CuPy lacks, and notices what it is there to notice."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from taffeta.gpu_core.backend import launch

LIST_NAMES = """
import json, cupy, cupyx, cupy.cuda
print(json.dumps({"cupy": dir(cupy), "cupy.cuda": dir(cupy.cuda), "cupy.cuda.runtime": dir(cupy.cuda.runtime),
    "cupyx": dir(cupyx), "ndarray": dir(cupy.ndarray), "Stream": dir(cupy.cuda.Stream), "Event": dir(cupy.cuda.Event),
    "Graph": dir(cupy.cuda.Graph), "RawModule": dir(cupy.RawModule), "pool": dir(cupy.get_default_memory_pool())}))
"""
#: What the pretended classes need for themselves.
OWN = {"block", "address", "push", "run", "captured", "used", "kept", "give"}


def test_the_pretended_cupy_has_no_name_that_the_real_one_lacks(cupy):
    run = subprocess.run([sys.executable, "-c", LIST_NAMES], capture_output=True, text=True, check=True)
    real = {place: set(names) for place, names in json.loads(run.stdout).items()}
    import cupyx
    from cupy import _array, _card

    pretended = {
        "cupy": set(vars(cupy)) - {"Any", "Callable", "FUNCTIONS", "UFUNCS", "WAITS", "annotations"}
        - {"allocate", "count", "inside", "pool", "settle", "ufunc", "wrap"},
        "cupy.cuda": set(vars(cupy.cuda)) - {"current", "annotations"},
        "cupy.cuda.runtime": set(vars(cupy.cuda.runtime)) - {"MEMORY", "os", "pool"},
        "cupyx": {"empty_pinned"} & set(vars(cupyx)),
        "ndarray": set(vars(_array.ndarray)),
        "Stream": set(vars(_card.Stream)) | set(vars(_card.Stream())),
        "Event": set(vars(_card.Event)),
        "Graph": set(vars(_card.Graph)),
        "RawModule": set(vars(cupy.RawModule)),
        "pool": set(vars(_card.Pool)),
    }  # fmt: skip
    for place, names in pretended.items():
        public = {name for name in names if not name.startswith("_")} - OWN
        assert public <= real[place], place


def vectors(cuda, value=0.0):
    return cuda.array(np.full((9, 4), value))


def captured(cupy, work):
    with cupy.cuda.Stream(non_blocking=True) as stream:
        stream.begin_capture()
        try:
            work()
        finally:
            stream.end_capture()


def assign(array, value):
    array[:] = value


MISUSES = {
    "NumPy takes a device array": (TypeError, lambda cupy, d: np.asarray(d)),
    "device + NumPy": (TypeError, lambda cupy, d: d + np.ones((9, 4), np.float32)),
    "NumPy + device": (TypeError, lambda cupy, d: np.ones((9, 4), np.float32) + d),
    "NumPy into device": (ValueError, lambda cupy, d: assign(d, np.zeros((9, 4), np.float32))),
    "NumPy among device arrays": (TypeError, lambda cupy, d: cupy.concatenate([d, np.zeros((9, 4), np.float32)])),
    "a product that needs cuBLAS": (ImportError, lambda cupy, d: d.T @ d),
    "an allocation in a capture": (RuntimeError, lambda cupy, d: captured(cupy, lambda: cupy.zeros(3))),
    "a wait in a capture": (RuntimeError, lambda cupy, d: captured(cupy, lambda: float(d[0, 0]))),
    "a copy into any memory": (TypeError, lambda cupy, d: d.get(out=np.empty((9, 4), np.float32), blocking=False)),
    "an unknown name": (AttributeError, lambda cupy, d: cupy.row_stack_all),
}  # fmt: skip


@pytest.mark.parametrize("misuse", MISUSES)
def test_a_misuse_is_noticed(cupy, cuda, misuse):
    error, work = MISUSES[misuse]
    with pytest.raises(error):
        work(cupy, vectors(cuda))


def test_a_graph_whose_array_is_gone_is_noticed(cupy, cuda):
    run = cuda.sequence(
        [launch("add_increment", 9, increment=vectors(cuda, 1.0), x=vectors(cuda), displacement=vectors(cuda))] * 2
    )
    run(), run()
    cupy.cuda.get_current_stream().synchronize()
    run._launch = None  # all that keeps the arrays
    with pytest.raises(RuntimeError, match="given back"):
        run()


def test_a_copy_that_is_read_too_early_is_no_number(cupy, cuda):
    import cupyx

    copy, x = cupyx.empty_pinned((9, 4), np.float32), vectors(cuda, 1.0)
    x.get(out=copy, blocking=False)
    assert np.isnan(copy).all()
    assert float(x[0, 0]) == 1.0
    assert (copy == 1.0).all()


def test_kernels_wait_until_somebody_has_to_know(cuda):
    x = vectors(cuda)
    cuda.launch("add_increment", 9, increment=vectors(cuda, 1.0), x=x, displacement=vectors(cuda))
    assert not (x._values == 1.0).any()
    assert (cuda.host(x) == 1.0).all()


def test_memory_begins_as_no_number(cupy, cuda):
    assert np.isnan(cuda.host(cupy.empty((9, 4), np.float32))).all()


KERNEL = 'extern "C" __global__ void {name}(int n, float *x) {{ int i = threadIdx.x; {body} }}'


@pytest.mark.parametrize("body", ["x[i] = x[i + 1];", "x[i + 1] = 0.0f;", "x[i - 1] = 0.0f;"])
def test_a_kernel_that_goes_one_element_too_far_is_noticed(cupy, cuda, body):
    kernel = cupy.RawModule(code=KERNEL.format(name="far", body=body), options=(), backend="nvrtc").get_function("far")
    x, beside = cupy.zeros(128, np.float32), cupy.zeros(128, np.float32)
    kernel((1,), (128,), (np.int32(128), x))
    with pytest.raises(RuntimeError, match="far went beyond its arrays"):
        cuda.host(beside)


def test_an_atomic_on_floats_is_refused(cupy):
    code = KERNEL.format(name="sum", body="atomicAdd(x, x[i]);")
    with pytest.raises(ValueError, match=r"atom"):
        cupy.RawModule(code=code, options=(), backend="nvrtc").get_function("sum")


@pytest.mark.parametrize(
    ("kernel_arguments", "error"),
    [
        ((9, "x"), TypeError),
        ((np.int32(9),), TypeError),
        ((np.float32(9), "x"), TypeError),
        ((np.int32(9), 0), TypeError),
    ],
)
def test_wrong_arguments_of_a_launch_are_noticed(cupy, kernel_arguments, error):
    kernel = cupy.RawModule(code=KERNEL.format(name="one", body="x[i] = n;"), options=(), backend="nvrtc").get_function(
        "one"
    )
    x = cupy.zeros(128, np.float32)
    with pytest.raises(error):
        kernel((1,), (128,), tuple(x if value == "x" else value for value in kernel_arguments))

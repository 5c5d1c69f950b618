# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory of a bake is the worker's own."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

MIB = 1 << 20
CHILD = "from taffeta.gpu_core.bake.memory import peak_memory; print(peak_memory())"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system does not count what was before exec")
def test_what_the_parent_held_is_not_the_workers():
    held = np.ones(300 * MIB, np.uint8)
    # close_fds=False and no preexec: subprocess may use vfork, where the child's peak begins with the parent's
    out = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True, close_fds=False)
    assert 1 * MIB < int(out.stdout) < 250 * MIB < held.nbytes

# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens before the first frame: modes of the constant H, and the way from the command to a frame."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ...gpu_core.elasticity.assembly import assemble
from ...gpu_core.solvers.parameters import paper
from ...gpu_core.subspace.subspace import subspace
from .scenes import built

MODES = 120


def modes(vertices: int) -> dict[str, float]:
    """Seconds for the 120 modes of the paper's drape, and to read them back from the disk."""
    parameters, scene = paper(), built("paper_drape", vertices, 1)
    assembly = assemble(scene.cloths, scene.settings.step, parameters.elasticity)
    with tempfile.TemporaryDirectory() as folder:
        seconds = []
        for _ in range(2):
            began = time.perf_counter()
            subspace(assembly.hessian, assembly.free, MODES, Path(folder))
            seconds.append(time.perf_counter() - began)
    return {"vertices": assembly.vertices, "modes": MODES, "computed": seconds[0], "read": seconds[1]}


def first_frame(vertices: int) -> dict[str, Any]:
    """Seconds from the start of `taffeta bake` on the sample drape until each of its first lines, kernels built."""
    with tempfile.TemporaryDirectory() as folder:
        blend = str(Path(folder) / "drape.blend")
        taffeta = [sys.executable, "-m", "taffeta"]
        sample = [*taffeta, "sample", "drape_on_sphere", "--vertices", str(vertices), "--out", blend]
        subprocess.run(sample, check=True, stdout=subprocess.DEVNULL)
        bake = [*taffeta, "bake", blend, "--frames", "1:2", "--backend", "cpu", "--cache", f"{folder}/cache"]
        began, arrived = time.perf_counter(), {}
        with subprocess.Popen(bake, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("frame "):
                    arrived[line.split(":")[0]] = time.perf_counter() - began
        if process.returncode:
            raise RuntimeError(f"the bake ended with {process.returncode}")
    return {"vertices": vertices, "seconds": arrived}

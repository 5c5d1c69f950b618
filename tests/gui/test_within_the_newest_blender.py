# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on's own tests within the newest Blender, for which there is no bpy wheel.

Its windows' tests meet what is clicked, and nothing of what a scene may hold. Geometry nodes without custom properties
and shape keys that are on when they are made came with 5.2, and were found by an artist in place of a test.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from taffeta.tests.gui.debian import NEWEST

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCENE = ROOT / "tests" / "addon" / "scene"
#: In a test that needs what is not to be had there, or is of the simulator, which meets no Blender.
ELSEWHERE = ("ipctk", "small_scene", "swinging", "alembic", "Simulator")
MOST = 300  #: s


def test_what_reads_a_scene_reads_it_in_this_blender_too(version: str, debian: Path) -> None:
    if version != NEWEST:
        pytest.skip("these tests run in bpy's wheels, which are older")
    files = [path for path in sorted(SCENE.glob("test_*.py")) if not _belongs_elsewhere(path)]
    assert len(files) > 15
    arguments = ["--quiet", *(str(path.relative_to(ROOT)) for path in files)]
    run = subprocess.run(
        [
            HERE / "inside.sh", debian, "blender", "--background", "--python-exit-code", "1",
            "--python", "/shared/tests/gui/within.py", "--", *arguments,
        ],
        env={**os.environ, "SHARED": str(ROOT)}, capture_output=True, text=True, check=False, timeout=MOST,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-4000:]


def _belongs_elsewhere(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return any(word in text for word in ELSEWHERE)

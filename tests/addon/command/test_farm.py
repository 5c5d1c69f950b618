# SPDX-License-Identifier: GPL-3.0-or-later
"""The farm script of the manual, run as it stands there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import bpy
import pytest

MANUAL = Path(__file__).resolve().parents[3] / "docs" / "manual" / "headless.md"
WAIT = 240  #: s


@pytest.fixture
def farm(saved_scene, tmp_path):
    """Runs the script on the shot."""
    script = tmp_path / "farm.sh"
    script.write_text(re.search(r"```bash\n(.*?)```", MANUAL.read_text(encoding="utf-8"), re.DOTALL)[1])
    environment = {**os.environ, "TAFFETA": f"{sys.executable} -m taffeta"}

    def run() -> subprocess.CompletedProcess:
        line = ["bash", str(script), str(tmp_path / "shot.blend"), str(tmp_path / "result")]
        return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=WAIT, check=False)

    return run


@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_the_script_bakes_checks_exports_goes_on_and_begins_again_where_the_scene_has_changed(farm, tmp_path):
    result = tmp_path / "result"

    def answer(command: str) -> dict:
        return json.loads((result / f"{command}.json").read_text())

    first = farm()
    assert first.returncode == 0, first.stderr
    assert (answer("bake")["frames_done"], answer("check")["clean"], answer("export")["objects"]) == (
        4,
        True,
        ["Cloth"],
    )
    whole = (result / "cloth.abc").stat().st_size
    assert whole == answer("export")["bytes"]

    again = farm()
    assert (again.returncode, answer("bake")["exit_code"]) == (0, 4), again.stderr

    bpy.data.objects["Floor"].location.z = 0.1
    bpy.context.scene.frame_end = 6
    bpy.ops.wm.save_mainfile()
    changed = farm()
    assert (changed.returncode, answer("bake")["frames_done"]) == (0, 6), changed.stderr
    assert (result / "cloth.abc").stat().st_size > whole

    bpy.data.objects["Cloth"].taffeta.cloth.pin_group = "Nowhere"
    bpy.ops.wm.save_mainfile()
    assert farm().returncode == 3
    assert "Nowhere" in answer("bake")["error"]["text"]

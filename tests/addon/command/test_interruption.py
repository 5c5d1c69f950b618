# SPDX-License-Identifier: GPL-3.0-or-later
"""SIGTERM and Ctrl-C end a command whenever they come: also while Blender starts, and never with a crash."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import bpy
import pytest

from taffeta.addon.command.interruption import deferred, heard, interruptible, listening
from taffeta.gpu_core.files import cache

WAIT = 120  #: s

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX signals")


@pytest.fixture
def long_shot(saved_scene, tmp_path):
    """A saved file whose bake takes long."""
    saved_scene.frame_end = 4000
    bpy.ops.wm.save_mainfile()
    return tmp_path / "shot.blend"


def baking(shot: Path, *options: str) -> subprocess.Popen:
    line = [sys.executable, "-m", "taffeta", "bake", str(shot), *options]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_and_termination_cancel_and_keep_the_frames(long_shot, number):
    with baking(long_shot) as process:
        assert any(text.startswith("frame 3") for text in process.stdout)
        process.send_signal(number)
        process.communicate(timeout=WAIT)
    assert process.returncode == 5
    state, _, done = cache.inspect(long_shot.parent / "taffeta_cache" / "shot" / "Scene")
    assert state is cache.CacheState.PARTIAL
    assert done >= 3


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="sees in Linux's /proc who listens")
@pytest.mark.parametrize("delay", [0.0, 0.15, 0.3, 0.5, 0.7, 0.9, 1.2, 1.6])
def test_a_signal_while_blender_starts_cancels_too(long_shot, delay):
    """It was swallowed, and the bake went on to its end, or it ended in a segmentation fault."""
    with baking(long_shot, "--json") as process:
        while not catches(process.pid, signal.SIGTERM):
            time.sleep(0.005)
        time.sleep(delay)
        process.terminate()
        try:
            said, troubles = process.communicate(timeout=WAIT)
        finally:
            process.kill()
    assert (process.returncode, json.loads(said)["error"]["code"]) == (5, "TAF-B015")
    assert "Traceback" not in troubles


def catches(process: int, number: signal.Signals) -> bool:
    """Does this process do something of its own upon a signal?"""
    caught = re.search(r"SigCgt:\s*(\w+)", Path(f"/proc/{process}/status").read_text())[1]
    return bool(int(caught, 16) >> (number - 1) & 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_until_the_command_is_at_work_and_while_blender_has_the_word(number):
    before = signal.getsignal(number)
    with listening():
        signal.raise_signal(number)
        with pytest.raises(KeyboardInterrupt), interruptible():
            pytest.fail("the command has begun")
        with interruptible():
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(number)
            with pytest.raises(KeyboardInterrupt), deferred():
                signal.raise_signal(number)
            with deferred():
                signal.raise_signal(number)
                assert heard()
    assert signal.getsignal(number) == before


def test_a_job_in_the_background_of_a_shell_ignores_its_ctrl_c_as_before():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with listening(), interruptible():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The self-test says that a machine works only where it does, on the command line and in the preferences."""

from __future__ import annotations

import sys

import bpy
import numpy as np
import pytest

from taffeta.addon.device import info as command_info
from taffeta.addon.device.answer import Exit, Report
from taffeta.addon.interface import preferences
from taffeta.gpu_core import self_test as simulated
from taffeta.gpu_core.backend.cpu import CpuBackend
from taffeta.gpu_core.backend.signatures import signatures
from taffeta.gpu_core.simulator import SolverError
from taffeta.tests.addon.recording_layout import RecordingLayout


class Faulty(CpuBackend):
    """A device on which one kernel does nothing."""

    def __init__(self, broken: str) -> None:
        super().__init__(1)
        self.broken = broken

    def sequence(self, launches):
        return super().sequence([launch for launch in launches if launch.kernel != self.broken])


def test_a_machine_that_works_passes():
    report = Report("info")
    command_info.info(report, test="auto")
    assert report.exit_code == Exit.DONE
    assert {check["name"] for check in report.values["self_test"]["checks"]} >= {"free fall", "no intersection"}
    assert "passed   free fall" in "\n".join(report.lines)
    assert report.values["self_test"]["seconds"] < 30.0


DIVERGES = pytest.mark.nightly("it diverges for most of a minute, and two other kernels are dropped by day")


@pytest.mark.parametrize(
    "broken", ["contact_target", "membrane_curvature", pytest.param("step_velocity", marks=DIVERGES)]
)
def test_a_device_that_drops_a_kernel_does_not_pass(broken):
    assert broken in signatures()
    try:
        checks = simulated.self_test(Faulty(broken))
    except SolverError:  # which is a failed check to whoever asked
        return
    assert not all(check["passed"] for check in checks), checks


def test_a_worker_that_dies_is_a_failed_check(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    report = Report("info")
    command_info.info(report, test="auto")
    assert report.exit_code == Exit.SOLVER_FAILURE
    assert "ended with code 1" in report.values["self_test"]["checks"][0]["detail"]


def test_the_ball_is_closed_and_round():
    ball = simulated.scene().validate().colliders[0]
    corners = ball.positions[0][ball.triangles]
    assert np.allclose(np.linalg.norm(corners, axis=-1), simulated.RADIUS)
    directed = {(int(t[k]), int(t[(k + 1) % 3])) for t in ball.triangles for k in range(3)}
    assert len({tuple(sorted(edge)) for edge in directed}) * 2 == 3 * len(ball.triangles)


def test_the_preferences_show_versions_and_each_check(scene):
    layout = RecordingLayout()
    assert bpy.ops.taffeta.self_test() == {"FINISHED"}
    preferences.draw_self_test(layout, bpy.context)
    assert "Taffeta " in layout.texts()
    assert "NumPy " in layout.texts()
    assert ("operator", "taffeta.self_test") in layout.shown
    assert "no intersection: 0" in layout.texts()

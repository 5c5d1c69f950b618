# SPDX-License-Identifier: GPL-3.0-or-later
"""The GPU libraries come whole or not at all, from wheels of a folder, and only the worker ever imports them."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest

from taffeta.addon.bake import session
from taffeta.addon.device import info as command_info
from taffeta.addon.device import installation as gpu_installation
from taffeta.addon.device import libraries as gpu_libraries
from taffeta.addon.device.answer import Report
from taffeta.addon.device.installation import Installation
from taffeta.addon.device.libraries import PINS, installed
from taffeta.addon.device.wheel_hashes import WHEELS
from taffeta.addon.interface import gpu_preferences
from taffeta.addon.interface import preferences as addon_preferences
from taffeta.gpu_core.backend.graphics_card import ask
from taffeta.tests.addon import wheels
from taffeta.tests.addon.recording_layout import RecordingLayout

ROOT = Path(__file__).resolve().parents[3]
NO_CARD = pytest.mark.skipif(ask().installed, reason="this machine has an NVIDIA driver")


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "gpu" / "cp"


@pytest.fixture
def placed(addon) -> Iterator[Path]:
    """Blender's own place for them, empty before and after."""
    place = gpu_libraries.place()
    assert place is not None
    assert not place.exists()
    yield place
    gpu_installation.remove(place)
    gpu_preferences.unregister(), gpu_preferences.register()


def install(folder: Path, source: Path) -> Installation:
    installation = Installation(folder, source, any_machine=True)
    installation.wait()
    return installation


def until_pip_runs(installation: Installation) -> None:
    while installation._pip is None:
        assert installation.poll(), installation.text
        time.sleep(0.01)


def soon(folder: Path, expected: list[Path]) -> bool:
    """Whether the folder holds just this, once what is being deleted is gone."""
    until = time.monotonic() + 20.0
    while (found := list(folder.iterdir())) != expected and time.monotonic() < until:
        time.sleep(0.02)
    return found == expected


def test_the_pins_are_those_the_tests_run_with():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    assert {f"{name}=={version}" for name, version in PINS.items()} <= set(groups["test"])


def test_they_are_installed_from_a_folder_of_wheels(folder, tmp_path):
    installation = install(folder, wheels.build(tmp_path / "wheels"))
    assert installation.state == "done", installation.text
    assert installed(folder) == PINS
    assert soon(folder.parent, [folder])


def test_a_second_installation_replaces_the_first(folder, tmp_path):
    source = wheels.build(tmp_path / "wheels")
    install(folder, source)
    (folder / "of the first").touch()
    assert install(folder, source).state == "done"
    assert not (folder / "of the first").exists()
    assert soon(folder.parent, [folder])


@NO_CARD
def test_without_a_card_nothing_is_installed_and_the_reason_is_said(folder, tmp_path):
    installation = Installation(folder, wheels.build(tmp_path / "wheels"))
    installation.wait()
    assert installation.state == "failed"
    assert "No NVIDIA driver is installed" in installation.text
    assert not folder.parent.exists()


@pytest.mark.parametrize("missing", PINS)
def test_a_folder_that_lacks_a_wheel_is_refused_by_its_name(folder, tmp_path, missing):
    installation = install(folder, wheels.build(tmp_path / "wheels", leave_out=missing))
    assert installation.state == "failed"
    assert f"no wheel of {missing} {PINS[missing]}" in installation.text
    assert soon(folder.parent, [])


def test_libraries_that_do_not_load_do_not_replace_those_that_do(folder, tmp_path):
    install(folder, wheels.build(tmp_path / "good"))
    (folder / "of the first").touch()
    broken = {"cupy/__init__.py": "raise ImportError('libfoo.so.1 is missing')\n"}
    installation = install(folder, wheels.build(tmp_path / "broken", cupy=broken))
    assert installation.state == "failed"
    assert "libfoo.so.1 is missing" in installation.text
    assert (folder / "of the first").exists()
    assert soon(folder.parent, [folder])


def from_the_network(folder: Path, source: Path, monkeypatch) -> Installation:
    """pip's configuration leads it to another source than the one that the wheels were known from."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(source))
    installation = Installation(folder, any_machine=True)
    installation.wait()
    return installation


def test_a_wheel_with_another_hash_is_refused_and_nothing_is_installed(folder, tmp_path, monkeypatch):
    installation = from_the_network(folder, wheels.build(tmp_path / "wheels"), monkeypatch)
    assert installation.state == "failed"
    assert "cupy-cuda12x is another file than the one that Taffeta knows: nothing was installed" in installation.text
    assert soon(folder.parent, [])


def test_wheels_with_the_known_hashes_are_installed(folder, tmp_path, monkeypatch):
    source = wheels.build(tmp_path / "wheels")
    for path in source.glob("*.whl"):
        name = path.name.split("-")[0].replace("_", "-")
        monkeypatch.setitem(WHEELS, name, (hashlib.sha256(path.read_bytes()).hexdigest(),))
    installation = from_the_network(folder, source, monkeypatch)
    assert installation.state == "done", installation.text
    assert installed(folder) == PINS


def test_every_library_has_the_hashes_of_its_wheels():
    """Of two that follow Python's version for two Pythons, of all for two systems."""
    assert {name: len(set(hashes)) for name, hashes in WHEELS.items()} == {
        "cupy-cuda12x": 4,
        "fastrlock": 4,
        "nvidia-cuda-nvrtc-cu12": 2,
        "nvidia-cuda-runtime-cu12": 2,
    }
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for hashes in WHEELS.values() for digest in hashes)


def test_a_cancelled_installation_leaves_nothing_and_nobody_behind(folder, tmp_path):
    installation = Installation(folder, wheels.build(tmp_path / "wheels"), any_machine=True)
    until_pip_runs(installation)
    pip = installation._pip
    installation.cancel()
    assert installation.state == "cancelled"
    assert pip.poll() is not None
    assert soon(folder.parent, [])
    assert not installation.poll()


def test_what_a_killed_blender_leaves_is_not_taken_for_the_libraries_and_is_swept(folder, tmp_path):
    source = wheels.build(tmp_path / "wheels")
    code = (
        "import sys, time; from pathlib import Path; from taffeta.addon.device.installation import Installation\n"
        "one = Installation(Path(sys.argv[1]), Path(sys.argv[2]), any_machine=True)\n"
        "while one.text != 'Trying the libraries':\n"
        "    assert one.poll(), one.text\n"
        "print('unpacked', flush=True); time.sleep(60)"
    )
    blender = subprocess.Popen([sys.executable, "-c", code, str(folder), str(source)], stdout=subprocess.PIPE)
    assert blender.stdout.readline() == b"unpacked\n"
    blender.send_signal(signal.SIGKILL)
    blender.wait()
    blender.stdout.close()
    (left,) = folder.parent.iterdir()
    assert installed(left / "packages") == PINS, "the test came too early"
    assert not folder.exists()
    os.utime(left, (time.time() - 2 * gpu_installation.LEFTOVER,) * 2)
    install(folder, source)
    assert soon(folder.parent, [folder])


def test_a_python_without_pip_uses_the_one_it_was_shipped_with(tmp_path):
    venv.create(tmp_path / "bare", with_pip=False)
    python = tmp_path / "bare" / "bin" / "python"
    assert subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode != 0
    shipped = gpu_installation._bundled_pip()
    assert shipped, "this Python was not shipped with pip"
    environment = {**os.environ, "PYTHONPATH": str(shipped[-1])}
    subprocess.run([python, "-s", "-m", "pip", "--version"], env=environment, capture_output=True, check=True)


# In Blender


def test_the_buttons_install_and_uninstall_in_the_extensions_own_folder(placed, tmp_path):
    source = wheels.build(tmp_path / "wheels")
    assert not gpu_preferences.TAFFETA_OT_gpu_uninstall.poll(bpy.context)
    assert bpy.ops.taffeta.gpu_install(wheels=str(source), any_machine=True) == {"FINISHED"}
    assert installed(placed) == gpu_preferences._versions == PINS
    assert gpu_libraries.libraries() == (placed,)
    assert bpy.ops.taffeta.gpu_uninstall() == {"FINISHED"}
    assert not placed.exists()
    assert gpu_libraries.libraries() == ()
    assert not gpu_preferences._versions


def test_only_the_worker_imports_them(placed, tmp_path, saved_scene):
    bpy.ops.taffeta.gpu_install(wheels=str(wheels.build(tmp_path / "wheels")), any_machine=True)
    saved_scene.taffeta.backend = "CUDA"
    before = set(sys.modules)  # another test may have imported the environment's own
    with pytest.raises(RuntimeError, match="there is no CUDA device"):  # as these say, unlike the environment's own
        bpy.ops.taffeta.bake()
    assert not [name for name in set(sys.modules) - before if name.partition(".")[0] in ("cupy", "nvidia")]


def test_info_says_what_is_installed(placed, tmp_path):
    bpy.ops.taffeta.gpu_install(wheels=str(wheels.build(tmp_path / "wheels")), any_machine=True)
    report = Report("info")
    command_info.info(report)
    assert report.values["gpu_libraries"] == PINS
    assert "cupy-cuda12x 13.6.0" in "\n".join(report.lines)
    gpu_installation.remove(placed)
    report = Report("info")
    command_info.info(report)
    assert report.values["gpu_libraries"] == {}
    assert "libraries not installed" in "\n".join(report.lines)


def test_a_farm_can_name_another_folder(placed, tmp_path, monkeypatch):
    monkeypatch.setenv(gpu_libraries.VARIABLE, str(tmp_path))
    assert gpu_libraries.libraries() == (tmp_path,)


@pytest.mark.skipif(bpy.app.online_access, reason="this Blender may use the network")
def test_offline_nothing_is_fetched_and_the_reason_is_said(placed):
    with pytest.raises(RuntimeError, match=r"Allow Online Access|--online-mode"):
        bpy.ops.taffeta.gpu_install(any_machine=True)
    assert gpu_preferences._installation is None
    assert not list(placed.parent.glob("*"))


def test_a_folder_of_wheels_that_is_none_is_refused(placed, tmp_path):
    with pytest.raises(RuntimeError, match="is no folder"):
        bpy.ops.taffeta.gpu_install(wheels=str(tmp_path / "nowhere"))


@NO_CARD
def test_looking_for_a_card_says_what_is_in_the_way(placed):
    assert bpy.ops.taffeta.gpu_look() == {"FINISHED"}
    layout = RecordingLayout()
    gpu_preferences.draw(layout, bpy.context, preferences())
    assert "No NVIDIA driver is installed" in layout.texts()


def test_the_preferences_show_progress_and_cancel_while_it_runs(placed, monkeypatch):
    running = SimpleNamespace(state="running", share=0.5, text="Fetching 100 of about 207 MB", cancel=lambda: None)
    monkeypatch.setattr(gpu_preferences, "_installation", running)
    layout = RecordingLayout()
    gpu_preferences.draw(layout, bpy.context, preferences())
    assert ("progress", running.text) in layout.shown
    assert ("operator", "taffeta.gpu_cancel") in layout.shown
    assert ("operator", "taffeta.gpu_install") not in layout.shown


def test_libraries_of_another_version_are_marked(placed, monkeypatch):
    monkeypatch.setitem(gpu_preferences._versions, "cupy-cuda12x", "12.0.0")
    layout = RecordingLayout()
    gpu_preferences.draw(layout, bpy.context, preferences())
    assert "cupy-cuda12x 12.0.0, this Taffeta is tested with 13.6.0: install again" in layout.texts()


def test_what_the_self_test_said_of_the_card_is_shown(placed, monkeypatch):
    monkeypatch.setitem(gpu_preferences._versions, "cupy-cuda12x", PINS["cupy-cuda12x"])
    said = {"available": True, "device": "RTX", "kernels": "compiled", "verdict": "the self-test passed on it: 4 s"}
    monkeypatch.setattr(gpu_preferences, "_cuda", said)
    layout = RecordingLayout()
    gpu_preferences.draw(layout, bpy.context, preferences())
    assert "RTX; kernels compiled; the self-test passed on it: 4 s" in layout.texts().replace("  ", " ")


def test_a_build_without_the_permission_says_so_and_has_no_button(addon, monkeypatch):
    monkeypatch.setattr(addon_preferences, "INSTALLS", False)
    layout = RecordingLayout()
    addon_preferences.draw_graphics_card(layout, bpy.context, preferences())
    assert "installs no GPU libraries" in layout.texts()
    assert not [shown for shown in layout.shown if shown[0] == "operator"]


RUNNING = SimpleNamespace(state="running", cancel=lambda: None)
GREY = {
    "gpu_install": (("_installation", RUNNING), "being installed"),
    "gpu_uninstall": (("_versions", {}), "not installed"),
    "gpu_cancel": (("_installation", None), "Nothing is being installed"),
    "gpu_look": (("_question", object()), "being looked for"),
}


@pytest.mark.parametrize("name", GREY)
def test_a_grey_button_says_why(addon, monkeypatch, name):
    (attribute, value), expected = GREY[name]
    monkeypatch.setattr(gpu_preferences, attribute, value)
    assert expected in getattr(gpu_preferences, f"TAFFETA_OT_{name}").obstacle(bpy.context)


def test_while_a_bake_runs_they_stay_as_they_are(addon, monkeypatch):
    monkeypatch.setattr(session, "current", SimpleNamespace())
    monkeypatch.setattr(gpu_preferences, "_versions", dict(PINS))
    for operator in (gpu_preferences.TAFFETA_OT_gpu_install, gpu_preferences.TAFFETA_OT_gpu_uninstall):
        assert operator.obstacle(bpy.context) == gpu_preferences.BAKING


def preferences() -> SimpleNamespace:
    """The add-on's preferences, which exist only where it is installed as an extension."""
    properties = {"wheels": None}
    return SimpleNamespace(wheels="", bl_rna=SimpleNamespace(properties=properties))

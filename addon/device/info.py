# SPDX-License-Identifier: GPL-3.0-or-later
"""`taffeta info`: versions, devices, and with --self-test whether they work. Needs no bpy."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict
from importlib import metadata
from typing import Any

from ...gpu_core.backend.graphics_card import Diagnosis
from ...gpu_core.messages import code_of, coded
from . import manifest, self_test
from .answer import Exit, Report
from .json_process import JsonProcess
from .libraries import PINS, installed, libraries

PACKAGES = ("numpy", "scipy", "bpy")
GIB = 2**30


def info(report: Report, test: str = "") -> None:
    """test: a backend to run the self-test on; a check that fails makes the exit code SOLVER_FAILURE."""
    found, devices, gpu = versions(), _devices(), gpu_versions()
    card = {**devices["card"], "code": code_of(devices["card"]["problem"] or devices["card"]["warning"])}
    report.values.update(found, backends=devices["backends"], graphics_card=card, gpu_libraries=gpu)
    for name, value in found.items():
        report.lines.append(f"{name:8} {value or 'not installed'}")
    for name, entry in devices["backends"].items():
        report.lines.append(f"{name:8} {coded(device_words(entry))}")
    report.lines.extend(f"card     {coded(text)}" for text in card_lines(devices["card"]))
    report.lines.append(f"gpu      {', '.join(map(' '.join, gpu.items())) or 'libraries not installed'}")
    if test:
        _self_test(report, test)


def versions() -> dict[str, str | None]:
    """Of everything that takes part, by name; None where it is missing."""
    return {
        "taffeta": manifest.read()["version"],
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "blender": _blender(),
        **{name: _version(name) for name in PACKAGES},
    }


def _self_test(report: Report, backend: str) -> None:
    answer = self_test.SelfTest(backend).wait()
    report.values["self_test"] = answer
    report.lines.append(f"self-test on {answer['device'] or 'no device'}")
    report.lines.extend(f"{'passed' if well else 'FAILED':8} {text}" for well, text in self_test.lines(answer))
    if not self_test.passed(answer):
        report.exit_code = Exit.SOLVER_FAILURE


def gpu_versions() -> dict[str, str]:
    """Of the GPU libraries that the worker will find, by name; empty where none are installed for it."""
    return {name: version for folder in libraries() for name, version in installed(folder).items() if name in PINS}


def card_lines(card: Mapping[str, Any]) -> list[str]:
    """A `graphics_card.Diagnosis` for people."""
    lines = []
    for entry in card["cards"]:
        free = f", {entry['free'] / GIB:.1f} GiB free" if entry["free"] is not None else ""
        lines.append(f"{entry['name']}, {entry['memory'] / GIB:.1f} GiB{free}")
    if card["cuda"]:
        lines.append(f"driver {card['release'] or 'of unknown release'}, CUDA {card['cuda']}")
    if card["problem"]:
        lines.append(f"{card['problem']}. {card['remedy']}")
    return [*lines, card["warning"]] if card["warning"] else lines


def _devices() -> dict[str, Any]:
    """What `gpu_core.backend.graphics_card` prints: asked in a process of its own, for CuPy is the worker's alone."""
    answer = JsonProcess("gpu_core.backend.graphics_card", libraries=libraries()).wait()
    if "error" not in answer:
        return answer
    broken = {"available": False, "reason": f"looking for devices {answer['error']}"}
    return {"card": asdict(Diagnosis()), "backends": {"cpu": broken, "cuda": broken}}


def device_words(entry: object) -> str:
    """What `describe` says of a backend, in a line."""
    if not isinstance(entry, dict):
        return str(entry)
    if not entry["available"]:
        return f"not usable: {entry['reason']}"
    said = f"; {entry['verdict']}" if "verdict" in entry else ""
    return f"{entry['device']}; kernels {entry['kernels']}{said}"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _blender() -> str | None:
    """Of the Blender this runs in, or None; importing bpy only to ask would start one."""
    bpy = sys.modules.get("bpy")
    return bpy.app.version_string if bpy is not None else None

"""`taffeta info`: versions, devices, and with --self-test whether they work. Needs no bpy."""

from __future__ import annotations

import platform
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

from . import self_test
from .report import Exit, Report

MANIFEST = Path(__file__).resolve().parents[1] / "blender_manifest.toml"
PACKAGES = ("numpy", "scipy", "bpy")


def info(report: Report, test: bool = False) -> None:
    """test: run the self-test too; a check that fails makes the exit code SOLVER_FAILURE."""
    found, backends = versions(), _backends()
    report.values.update(found, backends=backends)
    for name, value in found.items():
        report.lines.append(f"{name:8} {value or 'not installed'}")
    for name, entry in backends.items():
        report.lines.append(f"{name:8} {_words(entry)}")
    if test:
        _self_test(report)


def versions() -> dict[str, str | None]:
    """Of everything that takes part, by name; None where it is missing."""
    return {
        "taffeta": tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"],
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "blender": _blender(),
        **{name: _version(name) for name in PACKAGES},
    }


def _self_test(report: Report) -> None:
    answer = self_test.SelfTest().wait()
    report.values["self_test"] = answer
    report.lines.append(f"self-test on {answer['device'] or 'no device'}")
    report.lines.extend(f"{'passed' if well else 'FAILED':8} {text}" for well, text in self_test.lines(answer))
    if not self_test.passed(answer):
        report.exit_code = Exit.SOLVER_FAILURE


def _backends() -> dict[str, Any]:
    try:
        from ..gpu_core.backend import describe
    except ImportError as error:
        return {"cpu": {"available": False, "reason": str(error)}}
    return describe()


def _words(entry: object) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    return f"{entry['device']}; kernels {entry['kernels']}" if entry["available"] else f"not usable: {entry['reason']}"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _blender() -> str | None:
    """Of the Blender this runs in, or None; importing bpy only to ask would start one."""
    bpy = sys.modules.get("bpy")
    return bpy.app.version_string if bpy is not None else None

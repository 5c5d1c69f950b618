"""`taffeta info`: versions and devices. Needs no bpy."""

from __future__ import annotations

import platform
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

from .report import Report

MANIFEST = Path(__file__).resolve().parents[1] / "blender_manifest.toml"
PACKAGES = ("numpy", "scipy", "bpy")


def info(report: Report) -> None:
    values: dict[str, Any] = {
        "taffeta": tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"],
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "blender": _blender(),
        **{name: _version(name) for name in PACKAGES},
        "backends": _backends(),
    }
    report.values.update(values)
    for name, value in values.items():
        if name != "backends":
            report.lines.append(f"{name:8} {value or 'not installed'}")
    for name, entry in values["backends"].items():
        report.lines.append(f"{name:8} {_words(entry)}")


def _backends() -> dict[str, Any]:
    try:
        from ..gpu_core.backend import describe
    except ImportError as error:
        return {"cpu": {"available": False, "reason": str(error)}}
    return describe()


def _words(entry: object) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    return str(entry["device"]) if entry["available"] else f"not usable: {entry['reason']}"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _blender() -> str | None:
    """Of the Blender this runs in, or None; importing bpy only to ask would start one."""
    bpy = sys.modules.get("bpy")
    return bpy.app.version_string if bpy is not None else None

# SPDX-License-Identifier: GPL-3.0-or-later
"""What blender_manifest.toml says of this build. Needs no bpy."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

PATH = Path(__file__).resolve().parents[2] / "blender_manifest.toml"


def read() -> dict[str, Any]:
    """All of it."""
    return tomllib.loads(PATH.read_text(encoding="utf-8"))


def installs() -> bool:
    """Whether this build may fetch the GPU libraries. The CPU build has no such permission, and no code for it."""
    return "network" in read().get("permissions", {})

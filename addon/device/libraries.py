# SPDX-License-Identifier: GPL-3.0-or-later
"""CuPy and NVRTC in a folder of their own, for the worker alone: where it is, and what is in it. Needs no bpy.

`installation` puts them there, in the builds that may install.
"""

from __future__ import annotations

import os
import sys
from importlib import metadata
from pathlib import Path

#: As tested; pyproject.toml has the same. CuPy 13.6 spans NumPy 1.22 … 2.5, so Blender 4.2 … 5.x. The runtime brings
#: headers, without which CuPy compiles nothing; they must be of NVRTC's version.
PINS = {
    "cupy-cuda12x": "13.6.0",
    "fastrlock": "0.8.4",
    "nvidia-cuda-nvrtc-cu12": "12.9.86",
    "nvidia-cuda-runtime-cu12": "12.9.79",
}
VARIABLE = "TAFFETA_GPU_LIBRARIES"  #: names a folder to use instead, on render farms
PACKAGE = __package__.rsplit(".", 2)[0]
PYTHON = f"cp{sys.version_info.major}{sys.version_info.minor}"  #: Blender's next version may bring another


def place() -> Path | None:
    """Where the libraries belong; None outside of Blender. Updates of the extension leave it alone."""
    bpy = sys.modules.get("bpy")
    if bpy is None:
        return None
    if PACKAGE.startswith("bl_ext."):
        root = bpy.utils.extension_path_user(PACKAGE, path="gpu")
    else:  # a checkout
        root = bpy.utils.user_resource("DATAFILES", path=os.path.join(PACKAGE, "gpu"))
    return Path(root) / PYTHON


def libraries() -> tuple[Path, ...]:
    """The folders that the worker's module path begins with: one, or none where nothing is installed."""
    folder = Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else place()
    return (folder,) if folder is not None and folder.is_dir() else ()


def installed(folder: Path) -> dict[str, str]:
    """Version by name of what lies in a folder; nothing where it does not exist."""
    return {found.name.lower().replace("_", "-"): found.version for found in metadata.distributions(path=[str(folder)])}

# SPDX-License-Identifier: GPL-3.0-or-later
"""Tiny real wheels in the place of the GPU libraries: the same names and versions, and next to nothing inside."""

from __future__ import annotations

import zipfile
from pathlib import Path

from taffeta.addon.device.libraries import PINS

#: What the worker asks of CuPy before it uses it, answered as on a machine without a card.
CUPY = {
    "cupy/__init__.py": "from . import cuda\n",
    "cupy/cuda/__init__.py": "from . import nvrtc, runtime\n",
    "cupy/cuda/nvrtc.py": "def getVersion():\n    return 12, 9\n",
    "cupy/cuda/runtime.py": "class CUDARuntimeError(RuntimeError):\n    pass\ndef getDeviceCount():\n    return 0\n",
}


def build(folder: Path, cupy: dict[str, str] | None = None, leave_out: str = "") -> Path:
    """A folder with a wheel for each of PINS. cupy: the files of CuPy's; leave_out: a name that gets none."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, version in PINS.items():
        if name != leave_out:
            files = (CUPY if cupy is None else cupy) if name == "cupy-cuda12x" else {f"{name}.txt": "nothing\n"}
            _build(folder, name.replace("-", "_"), name, version, files)
    return folder


def _build(folder: Path, stem: str, name: str, version: str, files: dict[str, str]) -> None:
    information = f"{stem}-{version}.dist-info"
    content = {
        **files,
        f"{information}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{information}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in content) + f"{information}/RECORD,,\n"
    with zipfile.ZipFile(folder / f"{stem}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in {**content, f"{information}/RECORD": record}.items():
            archive.writestr(path, text)

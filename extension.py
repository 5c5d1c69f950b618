# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the zips that are installed in Blender, one for each platform, with Blender's own packager.

    python -m taffeta.extension FOLDER [PLATFORM …] [--cpu]

A zip carries what a user's machine lacks: the CPU kernels, cross-built by ziglang, and the wheels of SciPy and
filelock for Blender's Pythons. With --cpu it is the build for Blender's extensions platform, which fetches nothing: it
has neither the installer of the GPU libraries nor the permission for the network.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import bpy

from .gpu_core.backend.build import SHIPPED, compile_library, file_name

ROOT = Path(__file__).resolve().parent
BUILD = ROOT / "build"
CONTENTS = (
    "blender_manifest.toml",
    "__init__.py",
    "__main__.py",
    "addon",
    "gpu_core",
    "sample_blends",
    "docs/manual",
    "README.md",
    "LICENSE",
)
#: What the CPU build leaves out.
INSTALLER = (
    "addon/device/installation.py",
    "addon/device/wheel_hashes.py",
    "addon/interface/gpu_preferences.py",
)
ZIG_CACHES = dict.fromkeys(("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"), str(BUILD / "zig"))
BUNDLED = ("scipy", "filelock")  #: what Blender's Python lacks
PYTHONS = ("3.11", "3.13")  #: of Blender 4.2 … 5.0 and 5.1 …


@dataclass(frozen=True)
class Platform:
    """target: what ziglang compiles for: the oldest system and processor of that kind that Blender 4.2 runs on.
    wheels: tags of the wheels that such a machine takes."""

    target: tuple[str, ...]
    wheels: tuple[str, ...]


PLATFORMS = {
    "linux-x64": Platform(("x86_64-linux-gnu.2.28", "-mcpu=x86_64_v2"), ("manylinux_2_17_x86_64",)),
    "windows-x64": Platform(("x86_64-windows-gnu", "-mcpu=x86_64_v2"), ("win_amd64",)),
    "macos-arm64": Platform(("aarch64-macos.11.0",), ("macosx_12_0_arm64",)),
    "macos-x64": Platform(("x86_64-macos.11.0", "-mcpu=x86_64_v2"), ("macosx_11_0_x86_64",)),
}


def command_line() -> Path:
    """Blender's packager: validate, build."""
    return Path(bpy.utils.resource_path("LOCAL")) / "scripts" / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"


def tags() -> Path:
    """The tags that Blender's packager accepts."""
    return Path(bpy.utils.resource_path("LOCAL")) / "scripts/modules/_bpy_internal/extensions/tags.py"


def build(platform: str, folder: Path, *, cpu: bool = False) -> Path:
    """Put the zip for one of PLATFORMS into `folder` and return its path. cpu: the build that fetches nothing.

    Raises:
        CalledProcessError: a wheel cannot be fetched, or the packager refuses; its words are above the traceback.
        BackendError: the kernels do not compile.
    """
    name = platform.replace("-", "_") + ("-cpu" if cpu else "")
    stage = BUILD / "extension" / name
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    for content in CONTENTS:
        source = ROOT / content
        if source.is_dir():
            shutil.copytree(source, stage / content, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, stage / content)
    if cpu:
        _leave_out_installer(stage)
    shipped = stage / SHIPPED.resolve().relative_to(ROOT)
    shipped.mkdir()
    shutil.copy2(kernels(platform), shipped)
    shutil.copytree(wheels(platform), stage / "wheels")
    _name_contents(stage, platform)
    manifest = tomllib.loads((stage / "blender_manifest.toml").read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    product = folder / f"{manifest['id']}-{manifest['version']}-{name}.zip"
    packager = [sys.executable, str(command_line())]
    subprocess.run(
        [*packager, "build", "--source-dir", str(stage), "--output-filepath", str(product), f"--valid-tags={tags()}"],
        check=True,
    )
    return product


def kernels(platform: str) -> Path:
    """The CPU library for one of PLATFORMS, cross-built once for these sources. Raises BackendError."""
    path = BUILD / "libraries" / file_name("release", platform)
    if not path.exists():
        cross_build(platform, path)
    return path


def cross_build(platform: str, path: Path) -> None:
    """Compile the CPU library for one of PLATFORMS into `path`, the same bytes each time. Raises BackendError."""
    compile_library(cross_compiler(platform), path, flags=("-s",), environment=ZIG_CACHES)


def cross_compiler(platform: str) -> list[str]:
    """The command that compiles for one of PLATFORMS, without C++'s own library: to build that takes zig minutes."""
    return [sys.executable, "-m", "ziglang", "c++", "-nostdlib++", "-target", *PLATFORMS[platform].target]


def wheels(platform: str) -> Path:
    """The folder of the bundled wheels for one of PLATFORMS, fetched once."""
    requirements = {
        name: requirement for requirement in _run_group() if (name := requirement.split("==")[0]) in BUNDLED
    }
    pinned = [requirements[name].replace("==", "-") for name in BUNDLED]
    folder = BUILD / "wheels" / "-".join([platform, *pinned])
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--quiet", "--no-input", "--no-deps"]
    tags = [f"--platform={tag}" for tag in PLATFORMS[platform].wheels]
    for python in PYTHONS:
        tag = f"cp{python.replace('.', '')}"
        if not all([*folder.glob(f"{wheel}-{tag}-*.whl"), *folder.glob(f"{wheel}-py3-*.whl")] for wheel in pinned):
            choice = ["--only-binary=:all:", "--python-version", python, *tags, "--dest", str(folder)]
            subprocess.run([*fetch, *choice, *requirements.values()], check=True)
    return folder


def _run_group() -> list[str]:
    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return list(content["dependency-groups"]["run"])


def _leave_out_installer(stage: Path) -> None:
    """And the permission that goes with it, by which the add-on knows (`addon.device.manifest`)."""
    for name in INSTALLER:
        (stage / name).unlink()
    manifest = stage / "blender_manifest.toml"
    lines = manifest.read_text(encoding="utf-8").splitlines(keepends=True)
    manifest.write_text("".join(line for line in lines if not line.startswith("network = ")), encoding="utf-8")


def _name_contents(stage: Path, platform: str) -> None:
    """Name the platform and the wheels in the manifest; top-level keys come before its first table."""
    manifest = stage / "blender_manifest.toml"
    named = ", ".join(f'"./wheels/{wheel.name}"' for wheel in sorted((stage / "wheels").glob("*.whl")))
    head, table, rest = manifest.read_text(encoding="utf-8").partition("\n[")
    keys = f'platforms = ["{platform}"]\nwheels = [{named}]\n'
    manifest.write_text(f"{head}\n{keys}{table}{rest}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help=f"of {', '.join(PLATFORMS)}; all by default")
    parser.add_argument("--cpu", action="store_true", help="the build that fetches nothing")
    options = parser.parse_args()
    for platform in options.platforms or PLATFORMS:
        product = build(platform, options.folder, cpu=options.cpu)
        print(f"{product}  {product.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()

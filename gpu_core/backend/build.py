# SPDX-License-Identifier: GPL-3.0-or-later
"""The CPU library: the shipped one where it was made from these very sources, else built here from the kernels.

    python -m taffeta.gpu_core.backend.build [--variant release|sanitize]

The library's name carries the hash of all it is made from, so a stale one is never loaded.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from .errors import BackendError
from .signatures import KERNELS, cpu_source

HERE = Path(__file__).parent
SHIPPED = HERE / "libraries"  #: in the extension's zip; a checkout has none
FLAGS = {
    "release": ("-O3", "-fno-math-errno", "-fno-trapping-math"),
    "sanitize": ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"),
}
# Contraction of a·b + c is the one freedom that compilers take differently. Without it every compiler and processor
# gives the same bits, and the shipped library needs no variant for each processor: -march=native gains nothing then.
COMMON_FLAGS = (
    "-std=c++17",
    "-ffp-contract=off",
    "-fno-exceptions",
    "-shared",
    "-fPIC",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-Werror",
)
LIBRARIES = ("-lpthread", "-lm")
PLATFORMS = {
    ("Linux", "x86_64"): "linux-x64",
    ("Windows", "AMD64"): "windows-x64",
    ("Darwin", "arm64"): "macos-arm64",
    ("Darwin", "x86_64"): "macos-x64",
}  #: what Blender calls the machines that a library can be shipped for
SUFFIXES = {"windows": ".dll", "macos": ".dylib"}


def library(variant: str = "release") -> Path:
    """Path of the CPU library, built now if there is none yet. Raises BackendError with the compiler's words."""
    shipped, built = SHIPPED / file_name(variant, machine()), folder() / file_name(variant, machine())
    if shipped.exists():
        return shipped
    if not built.exists():
        compile_library(compiler(), built, variant)
    return built


def is_shipped(path: Path) -> bool:
    """Whether this library came with the extension."""
    return path.parent == SHIPPED


def machine() -> str:
    """What Blender calls this machine, such as linux-x64."""
    system, processor = platform.system(), platform.machine()
    return PLATFORMS.get((system, processor), f"{system}-{processor}".lower())


def file_name(variant: str, machine: str) -> str:
    """Of the library for `machine`."""
    suffix = SUFFIXES.get(machine.partition("-")[0], ".so")
    return f"taffeta_{variant}_{digest(variant)}_{machine}{suffix}"


def digest(variant: str = "release") -> str:
    """16 hexadecimal digits of the hash of sources and flags."""
    content = hashlib.sha256(cpu_source().encode())
    for path in [*sorted(KERNELS.glob("*.h")), HERE / "thread_pool.h"]:
        content.update(path.read_bytes())
    content.update(" ".join([*COMMON_FLAGS, *FLAGS[variant]]).encode())
    return content.hexdigest()[:16]


def compile_library(
    command: Sequence[str],
    path: Path,
    variant: str = "release",
    flags: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> None:
    """Compile the kernels into `path`, which appears complete or not at all.

    Args:
        command: a C++ compiler that takes g++'s options; flags: more of them.
        environment: variables for the compiler beside this process's own.

    Raises:
        BackendError: with the compiler's words.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        made = Path(scratch) / path.name
        (Path(scratch) / "taffeta.cpp").write_text(cpu_source(), encoding="utf-8")
        includes = (f"-I{KERNELS.resolve()}", f"-I{HERE.resolve()}")
        run = subprocess.run(
            [*command, *COMMON_FLAGS, *FLAGS[variant], *flags, *includes, "taffeta.cpp", "-o", path.name, *LIBRARIES],
            cwd=scratch,  # so that no path of this machine gets into the library
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            raise BackendError(f"the CPU kernels do not compile: {run.stderr[-2000:]}", "Please report this")
        os.replace(made, path)


def compiler() -> list[str]:
    """The command of a C++ compiler. Raises BackendError where there is none."""
    for name in filter(None, (os.environ.get("CXX"), "c++", "g++", "clang++")):
        if shutil.which(name):
            return [name]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "c++"]
    raise BackendError("no C++ compiler was found", "Install g++ or clang, or `pip install ziglang`")


def folder() -> Path:
    """Where a library built here lies: TAFFETA_BUILD, the checkout's build folder, or the user's cache."""
    if "TAFFETA_BUILD" in os.environ:
        return Path(os.environ["TAFFETA_BUILD"])
    root = Path(__file__).resolve().parents[2]
    if (root / "pyproject.toml").exists() and os.access(root, os.W_OK):
        return root / "build" / "kernels"
    return user_cache() / "kernels"


def user_cache() -> Path:
    """Taffeta's folder among what programs keep for this user and can make again."""
    cache = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "taffeta"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variant", choices=sorted(FLAGS), default="release")
    print(library(parser.parse_args().variant))


if __name__ == "__main__":
    main()

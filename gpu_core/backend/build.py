"""Builds the CPU library from the kernels, with the system's C++ compiler or with ziglang from PyPI.

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
from pathlib import Path

from .errors import BackendError
from .signatures import HEADERS, KERNELS, cpu_source

FLAGS = {
    "release": ("-O3", "-fno-math-errno", "-fno-trapping-math"),
    "sanitize": ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"),
}
COMMON_FLAGS = ("-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror")
SUFFIX = {"Windows": ".dll", "Darwin": ".dylib"}.get(platform.system(), ".so")


def compiler() -> list[str]:
    """The command of a C++ compiler. Raises BackendError where there is none."""
    for name in filter(None, (os.environ.get("CXX"), "c++", "g++", "clang++")):
        if shutil.which(name):
            return [name]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "c++"]
    raise BackendError("no C++ compiler was found", "Install g++ or clang, or `pip install ziglang`")


def native_flags(command: list[str]) -> tuple[str, ...]:
    """zig targets this machine by itself; the others need to be told."""
    if "ziglang" in command or platform.machine() not in ("x86_64", "AMD64"):
        return ()
    return ("-march=native",)


def folder() -> Path:
    """Where the library lies: TAFFETA_BUILD, the checkout's build folder, or the user's cache."""
    if "TAFFETA_BUILD" in os.environ:
        return Path(os.environ["TAFFETA_BUILD"])
    root = Path(__file__).resolve().parents[2]
    if (root / "pyproject.toml").exists() and os.access(root, os.W_OK):
        return root / "build" / "kernels"
    cache = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "taffeta" / "kernels"


def _fingerprint(source: str, variant: str) -> str:
    content = hashlib.sha256(source.encode())
    here = Path(__file__).parent
    for path in [*sorted(KERNELS.glob("*.h")), here / "thread_pool.h"]:
        content.update(path.read_bytes())
    content.update(" ".join([*COMMON_FLAGS, *FLAGS[variant], platform.machine(), _processor()]).encode())
    return content.hexdigest()[:16]


def _processor() -> str:
    """What -march=native depends on, so that a shared folder never serves another machine's code."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith("flags")), platform.processor())


def library(variant: str = "release") -> Path:
    """Path of the CPU library, built now if it is not there yet. Raises BackendError with the compiler's words."""
    source = cpu_source()
    target = folder() / f"taffeta_{variant}_{_fingerprint(source, variant)}{SUFFIX}"
    if target.exists():
        return target
    command = compiler()
    flags = (*COMMON_FLAGS, *FLAGS[variant], *native_flags(command))
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        text, made = Path(scratch) / "taffeta.cpp", Path(scratch) / target.name
        text.write_text(source, encoding="utf-8")
        includes = (f"-I{KERNELS}", f"-I{Path(__file__).parent}")
        libraries = () if platform.system() == "Windows" else ("-lpthread", "-lm")
        run = subprocess.run(
            [*command, *flags, *includes, str(text), "-o", str(made), *libraries],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            raise BackendError(f"the CPU kernels do not compile: {run.stderr[-2000:]}", "Please report this")
        os.replace(made, target)
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variant", choices=sorted(FLAGS), default="release")
    print(library(parser.parse_args().variant))


if __name__ == "__main__":
    main()

__all__ = ["HEADERS", "compiler", "folder", "library"]

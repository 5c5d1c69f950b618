# SPDX-License-Identifier: GPL-3.0-or-later
"""How CuPy and NVRTC get into their folder and out of it. Needs no bpy; the CPU build of the extension leaves it out.

A folder is installed when it exists: pip fills another one beside it, which is tried in a process and then renamed.
What a crash leaves behind is never taken for the libraries, and is swept away a day later.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from ...gpu_core.files.disk import DiskError, disk_errors, make_folder
from ...gpu_core.messages import Told
from .json_process import JsonProcess
from .libraries import PINS, PYTHON
from .wheel_hashes import WHEELS

DOWNLOAD = 207_000_000  #: bytes of the wheels for Linux, to show progress with
LEFTOVER = 86400.0  #: s after which a half-made folder belongs to nobody any more


class InstallationError(Told, RuntimeError):
    """`problem` and `remedy` are for the user."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}. {remedy}")
        self.problem = problem
        self.remedy = remedy


def remove(folder: Path) -> None:
    """Uninstall: nobody finds the folder from the first moment on. Raises DiskError."""
    if folder.exists():
        gone = folder.with_name(f"{folder.name}.old-{time.time_ns()}")
        with disk_errors(folder):
            folder.rename(gone)
        discard(gone)


def discard(folder: Path) -> None:
    """Delete a folder that nobody uses, in a process nobody waits for: half a second for half a gigabyte."""
    delete = "import shutil, sys; shutil.rmtree(sys.argv[1], ignore_errors=True)"
    subprocess.Popen([sys.executable, "-I", "-c", delete, str(folder)], creationflags=_no_window())


class Installation:
    """Puts the libraries into a folder. Starts when made; call `poll` now and then.

    Attributes:
        state: running, done, cancelled or failed.
        text: what it does, or how it ended, in words.
        share: of the download, 0..1.
        card: what `gpu_core.backend.graphics_card` found, once it has been asked.
    """

    def __init__(self, folder: Path, wheels: Path | None = None, *, any_machine: bool = False) -> None:
        """
        Args:
            folder: where they will be; what was there before is replaced at the end.
            wheels: a folder of wheels to take instead of the network.
            any_machine: install where there is no usable card, too.
        """
        self.state: Literal["running", "done", "cancelled", "failed"] = "running"
        self.text = "Looking for a graphics card"
        self.share = 0.0
        self.card: dict[str, Any] | None = None
        self._folder, self._wheels, self._any_machine = folder, wheels, any_machine
        self._loads = ""
        self._new: Path | None = None
        self._pip: subprocess.Popen[bytes] | None = None
        self._question: JsonProcess | None = None
        self._work = self._install()
        atexit.register(self.cancel)

    def poll(self) -> bool:
        """Go on without waiting; whether it is still running."""
        if self.state == "running":
            try:
                next(self._work)
            except StopIteration:
                self._end("done", "The GPU libraries are installed")
            except (InstallationError, DiskError) as error:
                self._end("failed", str(error))
        return self.state == "running"

    def wait(self) -> None:
        """Until it is over."""
        while self.poll():
            time.sleep(0.05)

    def cancel(self) -> None:
        """End it now and leave nothing behind."""
        if self.state == "running":
            self._end("cancelled", "Cancelled: nothing was installed")

    def _end(self, state: Literal["done", "cancelled", "failed"], text: str) -> None:
        self.state, self.text = state, text
        atexit.unregister(self.cancel)
        if self._pip is not None and self._pip.poll() is None:
            _kill(self._pip)
        if self._question is not None:
            self._question.kill()
        if self._new is not None:
            discard(self._new)

    def _install(self) -> Generator[None]:
        yield from self._ask_for_card(())
        assert self.card is not None
        if self.card["problem"] and not self._any_machine:
            raise InstallationError(self.card["problem"], self.card["remedy"])
        make_folder(self._folder.parent)
        _sweep(self._folder.parent)
        with disk_errors(self._folder):
            self._new = Path(tempfile.mkdtemp(prefix=f"{self._folder.name}.new-", dir=self._folder.parent))
            (self._new / "download").mkdir()
        packages = self._new / "packages"
        yield from self._run_pip(self._new, packages)
        self.share, self.text = 1.0, "Trying the libraries"
        yield from self._ask_for_card((packages,))
        if self._loads:
            raise InstallationError(f"The libraries do not load: {self._loads}", "Nothing was installed")
        remove(self._folder)
        with disk_errors(self._folder):
            packages.rename(self._folder)

    def _ask_for_card(self, folders: Sequence[Path]) -> Generator[None]:
        self._question = JsonProcess("gpu_core.backend.graphics_card", libraries=folders)
        while (answer := self._question.poll()) is None:
            yield
        if "error" in answer:
            raise InstallationError(f"Looking for the graphics card {answer['error']}", "Check the NVIDIA driver")
        self.card, self._loads = answer["card"], answer["loads"]

    def _run_pip(self, new: Path, packages: Path) -> Generator[None]:
        source = [] if self._wheels is None else ["--no-index", "--find-links", str(self._wheels)]
        options = ["--no-deps", "--only-binary=:all:", "--no-input", "--no-cache-dir", "--disable-pip-version-check"]
        if self._wheels is None:
            options.append("--require-hashes")
        wanted = new / "requirements.txt"
        with disk_errors(wanted):
            wanted.write_text("".join(f"{line}\n" for line in self._requirements()), encoding="utf-8")
        command = [sys.executable, "-s", "-m", "pip", "install", *options, *source, "--target", str(packages)]
        command += ["--requirement", str(wanted)]
        flags: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {"creationflags": _no_window()}
        log = new / "log"
        with disk_errors(log), open(log, "wb") as output:
            self._pip = subprocess.Popen(
                command,
                cwd=new,
                env=_environment(new / "download", offline=self._wheels is not None),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                **flags,
            )
        while (code := self._pip.poll()) is None:
            self._tell(new)
            yield
        if code:
            raise self._refusal(log.read_text(encoding="utf-8", errors="replace"))

    def _requirements(self) -> Iterator[str]:
        """Lines for pip. What comes by the network must be the very files that are known; a folder is the user's."""
        for name, version in PINS.items():
            hashes = [] if self._wheels is not None else [f"--hash=sha256:{digest}" for digest in WHEELS[name]]
            yield " ".join([f"{name}=={version}", *hashes])

    def _tell(self, new: Path) -> None:
        fetched = 0
        with suppress(OSError):  # pip moves files while we look
            fetched = sum(path.stat().st_size for path in (new / "download").rglob("*.whl"))
        if "Installing collected" in (new / "log").read_text(encoding="utf-8", errors="replace"):
            self.share, self.text = 1.0, "Unpacking"
        elif self._wheels is not None:
            self.text = f"Reading {self._wheels}"
        else:
            self.share = max(self.share, min(fetched / DOWNLOAD, 1.0))
            self.text = f"Fetching {fetched / 1e6:.0f} of about {DOWNLOAD / 1e6:.0f} MB"

    def _refusal(self, log: str) -> InstallationError:
        lines = [line for line in log.splitlines() if line.strip()]
        if "No module named pip" in log:
            return InstallationError("This Python has no pip", "Install pip for it, or use the Blender of blender.org")
        if "DO NOT MATCH THE HASHES" in log:
            other = next((name for name in PINS if f"{name}==" in log.partition("DO NOT MATCH")[2]), "A wheel")
            problem = f"{other} is another file than the one that Taffeta knows: nothing was installed"
            return InstallationError(problem, "Check where pip fetches from (its configuration, a proxy)")
        errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
        text = (errors or lines[-1:] or ["pip said nothing"])[0]
        missing = next((name for name in PINS if f"requirement {name}==" in text), "")
        if missing and self._wheels is not None:
            problem = f"{self._wheels} has no wheel of {missing} {PINS[missing]} for {PYTHON} on this system"
            return InstallationError(problem, "Fetch it with pip download, as the manual says")
        if missing and "from versions: none" in text:
            text = f"{missing} {PINS[missing]} was not found: there is no connection, or no such wheel for this system"
        return InstallationError(text, "Check the connection and the space on the disk, or use a folder of wheels")


def _environment(temporary: Path, offline: bool) -> dict[str, str]:
    """For pip: without what would mislead Python; offline without any other source that is configured."""
    hidden = ("PYTHON", "PIP_") if offline else ("PYTHON",)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    environment |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary)) | {"PIP_USER": "0"}
    environment |= {"PIP_CONFIG_FILE": os.devnull} if offline else {}
    if importlib.util.find_spec("pip") is None:  # Blender's Python may bring it only as a wheel, which runs as it is
        environment["PYTHONPATH"] = os.pathsep.join(map(str, _bundled_pip()))
    return environment


def _bundled_pip() -> list[Path]:
    spec = importlib.util.find_spec("ensurepip")
    return sorted(Path(spec.origin).parent.glob("_bundled/pip-*.whl")) if spec is not None and spec.origin else []


def _sweep(folder: Path) -> None:
    """Delete what an installation or a removal that was cut off has left."""
    for path in [*folder.glob("*.new-*"), *folder.glob("*.old-*")]:
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > LEFTOVER:
                discard(path)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _no_window() -> int:
    return int(getattr(subprocess, "CREATE_NO_WINDOW", 0))

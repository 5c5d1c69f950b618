# SPDX-License-Identifier: GPL-3.0-or-later
"""Random faults from a seed, and somebody who then does only what the messages say.

    python -m taffeta.benchmarks.faults [--first SEED] [--faults 200]

Each fault strikes a bake that runs, or lies there; then `taffeta run --resume` is called, and whatever its exit code
and its message say is done, until it is complete. It must be, with the bytes of the unbroken bake, and the files of the
user beside and within the folder as they were. Writes benchmarks/results/faults.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..gpu_core.files import folder as own_folder
from ..gpu_core.files.cache import frames_path, verify
from ..gpu_core.files.handover import is_alive
from ..gpu_core.files.lock import holder

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "faults.json"
MOST_WAYS = 8  #: messages that are followed before somebody gives up
MINE = {"pause": b"mine", "trial": b"mine, too", "job/job.json": b"{}", "taffeta/holiday.png": b"a picture"}
LIMITS = (1_000, 2_000, 12_000, 19_000)  #: bytes that a file may have on a disk that is full
WAIT = 60.0  #: s after which a command hangs


class FaultError(AssertionError):
    """Following the messages did not lead out of it."""


@dataclass
class Tally:
    """What has happened so far."""

    faults: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)  #: exit codes that were met, with what was done then
    seconds_without_parent: list[float] = field(default_factory=list)


class Trial:
    """One folder that a user chose, with files of his own, and a job to bake into it."""

    def __init__(self, place: Path, job: Path, draw: random.Random, tally: Tally, seconds: float) -> None:
        """seconds: that the unbroken bake takes: faults strike within it."""
        self.chosen, self.job, self.draw, self.tally, self.seconds = place / "chosen", job, draw, tally, seconds
        self.away = place / "away"
        for name, content in MINE.items():
            if not name.startswith(own_folder.WITHIN):
                path = self.chosen / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    @property
    def cache(self) -> Path:
        return self.chosen / own_folder.WITHIN

    def command(self, *words: str | Path) -> list[str]:
        return [sys.executable, "-m", "taffeta", *map(str, words), "--cache", str(self.chosen), "--json"]

    def start(self, *options: str, limit: int = 0) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command("run", self.job, "--backend", "cpu", *options),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None,
        )

    def run(self, *options: str) -> tuple[int, str]:
        return answer(self.start(*options))

    def worker(self) -> int:
        """The process that bakes, once there is one."""
        until = time.monotonic() + WAIT
        while time.monotonic() < until:
            if (who := holder(self.cache)) is not None:
                return who.process
            time.sleep(0.01)
        raise FaultError("no worker came")

    def wait_a_moment(self) -> None:
        time.sleep(self.draw.random() * self.seconds)

    # Faults

    def kill_worker(self) -> None:
        parent = self.start()
        worker = self.worker()
        self.wait_a_moment()
        with suppress(ProcessLookupError):
            os.kill(worker, self.draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV]))
        answer(parent)

    def kill_parent(self) -> None:
        parent = self.start()
        worker = self.worker()
        self.wait_a_moment()
        number = self.draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        began = time.monotonic()
        parent.send_signal(number)
        answer(parent)
        while is_alive(worker):
            if time.monotonic() - began > WAIT:
                raise FaultError(f"the worker lives on without a parent that got {number.name}")
            time.sleep(0.01)
        self.tally.seconds_without_parent.append(time.monotonic() - began)

    def fill_the_disk(self) -> None:
        code, text = answer(self.start(limit=self.draw.choice(LIMITS)))
        if code != 8 or "The disk is full" not in text:
            raise FaultError(f"a full disk is told as {code}: {text}")

    def two_at_once(self) -> None:
        first = self.start()
        self.worker()
        self.wait_a_moment()
        codes = {answer(second)[0] for second in [self.start("--resume"), self.start()]}
        if not codes <= {0, 4, 9}:
            raise FaultError(f"bakes at once end with {codes}")
        self.draw.choice([lambda: answer(first), first.kill])()
        first.communicate()

    def flip_a_byte(self) -> None:
        path = self.something_baked()
        content = bytearray(path.read_bytes())
        if content:
            content[self.draw.randrange(len(content))] ^= 1 << self.draw.randrange(8)
            path.write_bytes(content)

    def cut_a_file(self) -> None:
        path = self.something_baked()
        os.truncate(path, self.draw.randrange(path.stat().st_size + 1))

    def remove_a_file(self) -> None:
        self.something_baked().unlink()

    def write_a_hostile_name(self) -> None:
        self.something_baked()
        for name in ("cache.json", "frames.jsonl"):
            path = self.cache / name
            text = path.read_text(encoding="utf-8").replace('"sheet"', '"../../../pause"')
            path.write_text(text, encoding="utf-8")

    def something_baked(self) -> Path:
        """Any file of a bake that is whole, or was broken off."""
        process = self.start()
        if self.draw.random() < 0.5:
            self.worker()
            self.wait_a_moment()
            process.kill()
            process.communicate()
            self.until_free()
        else:
            answer(process)
        files = [path for path in self.cache.rglob("*") if path.is_file() and path.name != "holiday.png"]
        return self.draw.choice(sorted(files))

    def until_free(self) -> None:
        while (who := holder(self.cache)) is not None and is_alive(who.process):
            time.sleep(0.01)

    # Ways out

    def follow(self) -> None:
        """Resume, and do what is said, until the cache is complete."""
        options: tuple[str, ...] = ("--resume",)
        for _ in range(MOST_WAYS):
            code, text = self.run(*options)
            if code == 4 and "complete" in text:
                return
            options = self.way_out(code, text)
        raise FaultError(f"no way out after {MOST_WAYS} messages, the last is {code}: {text}")

    def way_out(self, code: int, text: str) -> tuple[str, ...]:
        """The options of the next bake."""
        if code == 0:
            return ("--resume",)
        if code == 9 and "end it with the command cancel" in text:
            self.tally.ways["9, cancel"] += 1
            answer(subprocess.Popen(self.command("cancel"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
            return ("--resume",)
        if code in (7, 10) and "ake from the start" in text:
            self.tally.ways[f"{code}, bake from the start"] += 1
            return ()
        if code == 10 and "Move" in text:
            self.tally.ways["10, move away"] += 1
            self.away.mkdir(exist_ok=True)
            for path in self.cache.glob("*.pc2"):
                shutil.move(path, self.away / path.name)
            return ("--resume",)
        if code in (5, 6, 8):
            self.tally.ways[f"{code}, resume"] += 1
            return ("--resume",)
        raise FaultError(f"nobody knows what to do after {code}: {text}")

    def judge(self, expected: bytes) -> None:
        """Raises FaultError unless all is as if nothing had happened."""
        verify(self.cache)
        if frames_path(self.cache, "sheet").read_bytes() != expected:
            raise FaultError("other bytes than those of the unbroken bake")
        for name, content in MINE.items():
            if (self.chosen / name).read_bytes() != content:
                raise FaultError(f"the user's {name} is another")


FAULTS: tuple[Callable[[Trial], None], ...] = (
    Trial.kill_worker,
    Trial.kill_parent,
    Trial.fill_the_disk,
    Trial.two_at_once,
    Trial.flip_a_byte,
    Trial.flip_a_byte,
    Trial.cut_a_file,
    Trial.remove_a_file,
    Trial.write_a_hostile_name,
)


def answer(process: subprocess.Popen[str]) -> tuple[int, str]:
    """(exit code, what was said)."""
    try:
        out, err = process.communicate(timeout=WAIT)
    except subprocess.TimeoutExpired as error:
        process.kill()
        raise FaultError(f"{process.args!r} hangs") from error
    try:
        said = json.loads(out).get("error", {}).get("text", "")
    except ValueError:
        said = err
    return process.returncode, said


def strike(seed: int, job: Path, expected: bytes, seconds: float, tally: Tally) -> str:
    """One fault and the way out of it; its name. Raises FaultError."""
    draw = random.Random(seed)
    fault = draw.choice(FAULTS)
    with tempfile.TemporaryDirectory(prefix="taffeta_fault_") as place:
        trial = Trial(Path(place), job, draw, tally, seconds)
        (trial.cache).mkdir(parents=True)
        own_folder.prepare(trial.cache)
        (trial.cache / "holiday.png").write_bytes(MINE["taffeta/holiday.png"])
        fault(trial)
        trial.follow()
        trial.judge(expected)
    name = fault.__name__.replace("_", " ")
    tally.faults[name] += 1
    return name


def unbroken(job: Path) -> tuple[bytes, float]:
    """(bytes of the cloth's cache, seconds) of the bake that nothing breaks."""
    with tempfile.TemporaryDirectory() as place:
        began = time.monotonic()
        line = [sys.executable, "-m", "taffeta", "run", str(job), "--backend", "cpu", "--cache", place]
        subprocess.run(line, check=True, capture_output=True)
        seconds = time.monotonic() - began
        return frames_path(Path(place) / own_folder.WITHIN, "sheet").read_bytes(), seconds


def report(tally: Tally, first: int) -> dict[str, Any]:
    waits = tally.seconds_without_parent
    return {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "first_seed": first,
        "faults": dict(sorted(tally.faults.items())),
        "ways_out": dict(sorted(tally.ways.items())),
        "seconds_until_a_worker_without_a_parent_is_gone": {
            "median": round(statistics.median(waits), 2) if waits else None,
            "most": round(max(waits), 2) if waits else None,
        },
    }


def main() -> None:
    from ..gpu_core.files.job import save
    from ..tests.gpu_core.small_scene import small_scene

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=1, help="seed of the first fault")
    parser.add_argument("--faults", type=int, default=200)
    options = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as place:
        job = Path(place) / "job"
        save(small_scene(16), job)
        expected, seconds = unbroken(job)
        for seed in range(options.first, options.first + options.faults):
            print(seed, strike(seed, job, expected, seconds, tally), flush=True)
    result = report(tally, options.first)
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()

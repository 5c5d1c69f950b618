# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Blender in a window of its own, driven by mouse and keyboard and asked what it shows.

The window is on an X server in memory, in a Debian that prepare.sh made; listener.py answers from within it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from multiprocessing.connection import Client, Connection
from pathlib import Path
from select import select
from typing import Any

import numpy as np
from PIL import Image

HERE = Path(__file__).resolve().parent
SIZE = 1100, 860  #: pixels; drawing them in software takes the time of the bake
ROW = 12  #: pixels; a button is 20 high
COLUMNS = (0.3, 0.5, 0.83, 0.76, 0.15)  #: of a region's width: between them they meet every button of our panels
PATIENCE = 60.0  #: s
GLANCE = 0.05  #: s between two looks at what takes its time: who asks without a pause keeps a bake off the processor


def install(root: Path, package: Path, folder: Path) -> Path:
    """Install the zip `package` in the Blender of a Debian, and return its folder of settings, which is in `folder`.

    Raises:
        RuntimeError: with Blender's words.
    """
    shutil.copy2(package, folder / "taffeta.zip")
    run = subprocess.run(
        [HERE / "inside.sh", root, "bash", "-s"],
        env={**os.environ, "SHARED": str(folder)},
        input=(HERE / "install.sh").read_text(encoding="utf-8"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if run.returncode:
        raise RuntimeError(f"the zip is not installed: {run.stdout}")
    return folder / "resources"


class Window:
    """Sidebar: the region in which buttons are looked for where a call names no other."""

    def __init__(self, root: Path, installed: Path, shared: Path, size: tuple[int, int] = SIZE) -> None:
        """Start Blender.

        Args:
            root: of the Debian.
            installed: Blender's settings as `install` left them; what the window changes is its own.
            shared: a folder that is /shared in there.
            size: width and height of the screen, which the window fills, pixels.

        Raises:
            RuntimeError: the start failed; its words are in the text.
        """
        self.root, self.shared = root, shared
        shutil.copytree(installed, shared / "resources", symlinks=True)
        shutil.copy2(HERE / "listener.py", shared)
        self.log = shared / "blender.log"
        with open(HERE / "start.sh", "rb") as script, open(self.log, "wb") as log:
            self._process = subprocess.Popen(
                [HERE / "inside.sh", root, "bash", "-s", *map(str, size)],
                env={**os.environ, "SHARED": str(shared)},
                stdin=script,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._connection = self._connect(shared / "socket")
        self.do("open_sidebar()")
        self.redraw()
        self._display = f":{(shared / 'display').read_text().strip()}"
        self._hands = subprocess.Popen(
            ["chroot", root, "env", f"DISPLAY={self._display}", "stdbuf", "--output=L", "xdotool", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self._mouse = 0, 0
        self.clicks = 0  #: on buttons, so far
        self._known: dict[tuple[str, str, str], tuple[int, int]] = {}

    def _connect(self, socket: Path) -> Connection:
        """Wait for Blender to listen. Raises RuntimeError."""
        end = time.monotonic() + PATIENCE
        while self._process.poll() is None and time.monotonic() < end:
            try:
                return Client(str(socket))
            except (FileNotFoundError, ConnectionRefusedError):
                time.sleep(0.1)
        self._process.kill()
        raise RuntimeError(f"Blender did not start: {self.log.read_text()}")

    def quit(self) -> None:
        """Let Blender quit as from its menu, without asking, and wait until it has."""
        self.do("bpy.app.timers.register(lambda: bpy.ops.wm.quit_blender(), first_interval=0.1)")
        self._process.wait(PATIENCE)

    def close(self) -> None:
        """End Blender and everything it started."""
        self._hands.kill()
        self._hands.wait()
        self._process.kill()
        self._process.wait()
        for left in (f".X{self._display[1:]}-lock", f".X11-unix/X{self._display[1:]}"):  # the X server had no time to
            (self.root / "tmp" / left).unlink(missing_ok=True)
        written = self.log.read_text(encoding="utf-8", errors="replace")
        assert "Traceback" not in written, written  # of a panel, tooltip or timer that failed, no caller hears

    def inside(self, path: Path) -> str:
        """How Blender calls a path of the shared folder."""
        return str(Path("/shared") / path.relative_to(self.shared))

    def ask(self, expression: str) -> Any:
        """What a Python expression is in there, with listener.py's names. Raises RuntimeError as its traceback."""
        return self._send("eval", expression)

    def do(self, statements: str) -> None:
        """Run Python in there."""
        self._send("exec", statements)

    def until(self, expression: str, patience: float = PATIENCE) -> Any:
        """Wait until an expression is true in there, and give it."""
        end = time.monotonic() + patience
        while not (answer := self.ask(expression)):
            assert time.monotonic() < end, f"never true: {expression}\n{self.log.read_text()}"
            time.sleep(GLANCE)
        return answer

    def redraw(self) -> None:
        self.do("redraw()")

    def screenshot(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.screen().save(path, compress_level=1)

    def screen(self) -> Image.Image:
        """What is on the screen, once it holds still: Blender may have drawn what the X server has yet to show."""
        self._settle()
        before, end = b"", time.monotonic() + PATIENCE
        while (content := self._frame_buffer()) != before:
            assert time.monotonic() < end, "the screen does not hold still"
            before = content
        head = np.frombuffer(
            content, ">u4", 25
        )  # of an XWD file: 4 width, 5 height, 0 its size, 19 colours of 12 bytes
        width, height, first = int(head[4]), int(head[5]), int(head[0] + 12 * head[19])
        pixels = np.frombuffer(content, np.uint8, 4 * width * height, first).reshape(height, width, 4)
        return Image.fromarray(np.ascontiguousarray(pixels[..., 2::-1]))

    def _frame_buffer(self) -> bytes:
        self._do_by_hand("sleep 0.02")  # the X server has answered, so it has shown what it was given before
        return (self.shared / "screen" / "Xvfb_screen0").read_bytes()

    def press(self, keys: str, area: str = "VIEW_3D", region: str = "WINDOW") -> None:
        """Press keys such as `ctrl+z` with the mouse in the middle of a region."""
        self.point_at(area, region)
        self._do_by_hand(f"key {keys}")
        self._settle()

    def point_at(self, area: str, region: str) -> None:
        """Move the mouse into the middle of a region."""
        left, top, width, height = self.ask(f"rectangle({area!r}, {region!r})")
        self.move(left + width // 2, top + height // 2)

    def move(self, x: int, y: int) -> None:
        """Move the mouse to these pixels of the screen, from its upper left corner."""
        self._mouse = x, y
        self._do_by_hand(f"mousemove {x} {y}")
        self._settle()

    def hold(self, down: bool) -> None:
        """Press the left mouse button, or let it go."""
        self._do_by_hand(f"{'mousedown' if down else 'mouseup'} 1")
        self._settle()

    def click(self, call: str, area: str = "VIEW_3D", region: str = "UI") -> None:
        """Click the button whose operator call or data path begins so."""
        self.clicks += 1
        self._click_at(*self.find(call, area, region))

    def choose_file(self, path: Path) -> None:
        """Choose a path of the shared folder in the file browser that has come up, and click its button."""
        self.until("any(area.type == 'FILE_BROWSER' for area in window().screen.areas)")
        self.redraw()
        directory, name = str(Path(self.inside(path)).parent), path.name
        self.do(f"choose_file({directory!r}, {name!r})")
        self.redraw()
        left, top, width, height = self.ask("rectangle('FILE_BROWSER', 'EXECUTE')")
        self._click_at(left + width - 2 * height, top + height // 2)

    def search(self, text: str, area: str) -> None:
        """Let an editor show, opened, only the panels with this text."""
        self.press("ctrl+f", area)
        self._do_by_hand(f"type {text}")
        self._do_by_hand("key Return")
        self._settle()

    def find(self, call: str, area: str = "VIEW_3D", region: str = "UI") -> tuple[int, int]:
        """Where that button is: where it was found last, or else the mouse looks for it, near itself first.

        A busy machine may light a button up late, so there is a second, slower look, and a third where it was last.
        """
        looks = (0.0, 0.2)
        known = self._known.get((call, area, region))
        if known and any(self._is_at(known, call, area, region, pause) for pause in (*looks, 1.0)):
            return known
        for pause in looks:
            for place in self._places(area, region):
                if self._is_at(place, call, area, region, pause):
                    self._known[call, area, region] = place
                    return place
        raise AssertionError(f"no button {call} in {area} {region}")

    def _click_at(self, x: int, y: int) -> None:
        self.move(x, y)
        self.hold(True)
        self.hold(False)

    def _places(self, area: str, region: str) -> Iterator[tuple[int, int]]:
        left, top, width, height = self.ask(f"rectangle({area!r}, {region!r})")
        mouse = self._mouse[1] if left <= self._mouse[0] < left + width else top
        for y in sorted(range(top + ROW // 2, top + height, ROW), key=lambda y: abs(y - mouse)):
            for column in COLUMNS:
                yield left + int(column * width), y

    def _is_at(self, place: tuple[int, int], call: str, area: str, region: str, pause: float = 0.0) -> bool:
        self.move(*place)
        time.sleep(pause)
        return self.ask(f"under_mouse({area!r}, {region!r})").startswith(call)

    def _settle(self) -> None:
        """Blender takes all events, then its timers: the second answer comes after what was sent before the first."""
        self.ask("None")
        self.ask("None")

    def _send(self, mode: str, source: str) -> Any:
        try:
            self._connection.send((mode, source))
            if not self._connection.poll(PATIENCE):
                raise RuntimeError(f"Blender does not answer: {source}")
            done, answer = self._connection.recv()
        except (EOFError, ConnectionError) as error:
            raise RuntimeError(f"Blender ended: {self.log.read_text()}") from error
        if not done:
            raise RuntimeError(answer)
        return answer

    def _do_by_hand(self, command: str) -> None:
        """Run a command of xdotool, and wait until it has: it answers to the one after it. Raises RuntimeError."""
        self._hands.stdin.write(f"{command}\ngetmouselocation\n")
        answers, _, _ = select([self._hands.stdout], [], [], PATIENCE)
        if not (answers and self._hands.stdout.readline()):
            raise RuntimeError(f"no {command}: {self.log.read_text()}")

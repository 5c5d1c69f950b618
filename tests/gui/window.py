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
from typing import Any

HERE = Path(__file__).resolve().parent
SIZE = 1100, 860  #: pixels; drawing them in software takes the time of the bake
ROW = 12  #: pixels; a button is 20 high
COLUMNS = (0.3, 0.5, 0.83, 0.76, 0.15)  #: of a region's width: between them they meet every button of our panels
PATIENCE = 60.0  #: s


class Window:
    """Sidebar: the region in which buttons are looked for where a call names no other."""

    def __init__(self, root: Path, package: Path, shared: Path, size: tuple[int, int] = SIZE) -> None:
        """Install the zip `package` and start Blender.

        Args:
            root: of the Debian.
            shared: a folder that is /shared in there.
            size: width and height of the screen, which the window fills, pixels.

        Raises:
            RuntimeError: the installation or the start failed; its words are in the text.
        """
        self.root, self.shared = root, shared
        shutil.copy2(package, shared / "taffeta.zip")
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

    def close(self) -> None:
        """End Blender and everything it started."""
        self._process.kill()
        self._process.wait()
        for left in (f".X{self._display[1:]}-lock", f".X11-unix/X{self._display[1:]}"):  # the X server had no time to
            (self.root / "tmp" / left).unlink(missing_ok=True)

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
        return answer

    def redraw(self) -> None:
        self.do("redraw()")

    def screenshot(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self._on_display("import", "-window", "root", "png:-"))

    def press(self, keys: str, area: str = "VIEW_3D", region: str = "WINDOW") -> None:
        """Press keys such as `ctrl+z` with the mouse in the middle of a region."""
        self.point_at(area, region)
        self._on_display("xdotool", "key", keys)
        self._settle()

    def point_at(self, area: str, region: str) -> None:
        """Move the mouse into the middle of a region."""
        left, top, width, height = self.ask(f"rectangle({area!r}, {region!r})")
        self.move(left + width // 2, top + height // 2)

    def move(self, x: int, y: int) -> None:
        """Move the mouse to these pixels of the screen, from its upper left corner."""
        self._mouse = x, y
        self._on_display("xdotool", "mousemove", str(x), str(y))
        self._settle()

    def hold(self, down: bool) -> None:
        """Press the left mouse button, or let it go."""
        self._on_display("xdotool", "mousedown" if down else "mouseup", "1")
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
        self._on_display("xdotool", "type", text)
        self._on_display("xdotool", "key", "Return")
        self._settle()

    def find(self, call: str, area: str = "VIEW_3D", region: str = "UI") -> tuple[int, int]:
        """Where that button is: where it was found last, or else the mouse looks for it, near itself first.

        A busy machine may light a button up late, so there is a second, slower look.
        """
        looks = (0.0, 0.2)
        known = self._known.get((call, area, region))
        if known and any(self._is_at(known, call, area, region, pause) for pause in looks):
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

    def _on_display(self, *command: str) -> bytes:
        display = ["chroot", str(self.root), "env", f"DISPLAY={self._display}"]
        return subprocess.run([*display, *command], check=True, stdout=subprocess.PIPE, timeout=PATIENCE).stdout

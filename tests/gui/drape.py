# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample drape, open in the window: what its cache holds and what is shown of it."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from taffeta.gpu_core.files import point_cache
from taffeta.tests.gui.window import GLANCE, Window

ROOT = Path(__file__).resolve().parents[2]
VERTICES = 900


@dataclass(frozen=True)
class Drape:
    """The sample, open in the window."""

    window: Window
    folder: Path

    @property
    def baked(self) -> int:
        """How many frames the cache counts."""
        found = list(self.folder.rglob("Cloth.pc2"))
        return point_cache.read_header(found[0]).frames if found else 0

    def frames(self) -> np.ndarray:
        """What the cache holds: (F, N, 3) float32, object space, m."""
        (found,) = self.folder.rglob("Cloth.pc2")
        return np.array(point_cache.read_frames(found))

    def shown(self, name: str = "Cloth") -> np.ndarray:
        """What the window shows of an object at its current frame: (N, 3) float32, object space, m."""
        return np.frombuffer(self.window.ask(f"shown({name!r})"), np.float32).reshape(-1, 3)

    def begin(self, call: str = "bpy.ops.taffeta.bake()") -> None:
        """Click on Bake, and wait until it has: a click may reach a busy window late."""
        self.window.click(call)
        self.window.until("session().current is not None")

    def until_baked(self, frames: int) -> None:
        """Wait, as a user does, until so many frames have landed."""
        while self.baked < frames:
            self.window.until("session().current is not None")
            time.sleep(GLANCE)

    def until_over(self) -> str:
        """Wait until no bake runs, for as long as frames land; how it ended, in words."""
        while self.running():
            done = self.window.ask("session().state().done")
            self.window.until(f"session().current is None or session().state().done > {done}")
        self.window.redraw()
        return self.window.ask("session().state().headline")

    def pause(self, paused: bool) -> None:
        """Hold the bake, or let it go on, at once: to look for a button takes as long as some frames."""
        self.window.until("session().state().phase.name != 'READING'")
        self.window.do(f"session().tell(session().Happening.{'PAUSE' if paused else 'CONTINUE'})")

    def running(self) -> bool:
        return self.window.ask("session().current is not None")


def save_sample(window: Window) -> Path:
    """The sample with fewer vertices, saved by this Blender, which asks before it overwrites a newer one's."""
    blend = window.shared / "drape.blend"
    make = ["-m", "taffeta", "sample", "drape_on_sphere", "--vertices", str(VERTICES), "--out", str(blend)]
    subprocess.run([sys.executable, *make], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    window.do(f"bpy.ops.wm.open_mainfile(filepath={window.inside(blend)!r}, load_ui=False)")
    window.redraw()
    window.do("bpy.ops.wm.save_mainfile()")
    return blend


def open_drape(window: Window, folder: Path) -> Drape:
    """A folder's drape.blend, seen by its camera, our tab in the sidebar, and the chosen cloth's physics beside it."""
    window.do(f"bpy.ops.wm.open_mainfile(filepath={window.inside(folder / 'drape.blend')!r}, load_ui=False)")
    window.redraw()
    window.do("show_tab('Taffeta')")
    window.redraw()
    window.click('bpy.ops.taffeta.select(name="Cloth")')  # the sphere has such a button too
    window.until("bpy.context.view_layer.objects.active == bpy.data.objects['Cloth']")
    window.redraw()
    window.do("show_physics()")
    window.do("region('VIEW_3D', 'WINDOW').data.view_perspective = 'CAMERA'")
    window.redraw()
    return Drape(window, folder)

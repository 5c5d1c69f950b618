"""A bake that is looked at while it runs, with the mouse on its button and an eye on the cache, the picture and the clock."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from taffeta.tests.gui.drape import Drape

LOOKED_AT = 5  #: the frame that is shown while later ones are still to come


@dataclass(frozen=True)
class Watched:
    drape: Drape
    headline: str  #: how it ended, in words
    landed: list[int]  #: frames in the cache, each time that more of them were there
    early: np.ndarray  #: what the window showed at LOOKED_AT while the bake ran: (N, 3) float32
    early_of: int  #: how many frames had landed then
    status_bar: list[int]  #: frames that it said were done, whenever it was drawn
    seconds: float  #: from the click to the end
    gaps: np.ndarray  #: s between the ticks of a timer of 50 Hz meanwhile

    def pace(self) -> str:
        """How often the interface came round, for people."""
        return (
            f"{len(self.gaps) / self.seconds:.1f} ticks a second in {self.seconds:.1f} s of baking; between two of them "
            f"{statistics.median(self.gaps) * 1e3:.0f} ms in the median, {np.quantile(self.gaps, 0.95) * 1e3:.0f} ms "
            f"in 19 of 20, {self.gaps.max() * 1e3:.0f} ms at most"
        )


def watch(drape: Drape, pictures: Path) -> Watched:
    """Click Bake, look until it is over, and save the file with Ctrl S."""
    window = drape.window
    window.find("bpy.ops.taffeta.bake()")
    window.do("watch_status_bar()")
    began = time.monotonic()
    window.click("bpy.ops.taffeta.bake()")
    landed, early, early_of = [0], None, 0
    while drape.running():
        if drape.baked > landed[-1]:
            landed.append(drape.baked)
        if early is None and landed[-1] >= LOOKED_AT:
            window.do(f"bpy.context.scene.frame_set({LOOKED_AT})")
            early, early_of = drape.shown(), drape.baked
            window.screenshot(pictures / "baking.png")
    seconds = time.monotonic() - began
    ticks = np.array(window.ask("ticks"))  # the clock is that of the whole machine
    headline = drape.until_over()
    window.screenshot(pictures / "baked.png")
    window.press("ctrl+s")
    window.until("not bpy.data.is_dirty")
    during = ticks[(began <= ticks) & (ticks <= began + seconds)]
    status_bar = window.ask("status_bar")
    return Watched(drape, headline, landed, early, early_of, status_bar, seconds, np.diff(during))

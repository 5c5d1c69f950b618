# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake that is looked at while it runs: its cache, what the window shows of it, and how often the window answers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from taffeta.tests.gui.drape import Drape
from taffeta.tests.gui.window import GLANCE

LOOKED_AT = 5  #: the frame that is shown while later ones are still to come


@dataclass(frozen=True)
class Watched:
    drape: Drape
    headline: str  #: how it ended, in words
    landed: list[int]  #: frames in the cache, each time that more of them were there
    looks: int  #: how often that was asked
    early: np.ndarray  #: what the window showed at LOOKED_AT while the bake ran: (N, 3) float32
    early_of: int  #: how many frames had landed then
    status_bar: list[int]  #: frames that it said were done, whenever it was drawn
    seconds: float  #: from the click to the end
    ticks: np.ndarray  #: of a timer of 50 Hz, from the last one before the click on, s from the click
    queued: np.ndarray  #: s until each of them in which Blender stood still because others had the processors

    def pace(self) -> str:
        """How often the interface came round, for people."""
        gaps = np.diff(self.ticks) * 1e3
        typical, long = np.quantile(gaps, (0.5, 0.95))
        between = f"{typical:.0f} ms in the median, {long:.0f} in 19 of 20, {gaps.max():.0f} at most"
        return (
            f"{len(self.ticks)} ticks in {self.seconds:.1f} s, of which Blender was kept from running for "
            f"{np.ptp(self.queued):.1f} s; between two {between}"
        )

    @property
    def longest_gap(self) -> float:
        """s in which the interface did not come round, at most."""
        return float(np.diff(self.ticks).max())


def watch(drape: Drape, pictures: Path) -> Watched:
    """Click Bake, look until it is over, and save the file with Ctrl S."""
    window = drape.window
    window.find("bpy.ops.taffeta.bake()")
    window.do("watch_status_bar()")
    began = time.monotonic()
    drape.begin()
    landed, looks, early, early_of = [0], 0, None, 0
    while drape.running():
        time.sleep(GLANCE)
        looks += 1
        if drape.baked > landed[-1]:
            landed.append(drape.baked)
        if early is None and landed[-1] >= LOOKED_AT:
            window.do(f"bpy.context.scene.frame_set({LOOKED_AT})")
            early, early_of = drape.shown(), drape.baked
    seconds = time.monotonic() - began
    ticks, queued = np.array(window.ask("ticks")).T  # the clock is that of the whole machine
    headline = drape.until_over()
    window.screenshot(pictures / "baked.png")
    window.press("ctrl+s")
    window.until("not bpy.data.is_dirty")
    first = np.searchsorted(ticks, began) - 1
    ticks, queued = ticks[first:] - began, queued[first:]
    return Watched(drape, headline, landed, looks, early, early_of, window.ask("status_bar"), seconds, ticks, queued)

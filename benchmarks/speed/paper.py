# SPDX-License-Identifier: GPL-3.0-or-later
"""Table 1 of Lan 2024, milliseconds a step on an RTX 3090, by the names of our samples of the same scenes."""

from __future__ import annotations

from dataclasses import dataclass

PROCESSOR = "Lan 2024, RTX 3090"


@dataclass(frozen=True)
class PaperRow:
    """Where a frame is a step, `fps` counts steps. The narrow phase includes partial and full CCD."""

    figure: str
    dof: float
    elements: float
    step: float  #: s
    broad: float
    narrow: float
    partial: float
    full: float
    solve: float
    iterations: int  #: local–global ones, of a step
    misc: float
    fps: float
    pairs: float  #: after the broad phase
    contacts: float  #: pairs in CCD

    @property
    def vertices(self) -> int:
        """As far as its rounded degrees of freedom tell."""
        return int(self.dof / 3.0 // 1000.0) * 1000


TABLE = {
    "twisting_cloth": PaperRow(
        "8", 1.21e5, 8e4, 1 / 150, 8.0, 15.0, 2.0, 13.0, 47.4, 157, 10.2, 12.4, 8e6, 1.1e5
    ),
    "animal_crossing": PaperRow(
        "11", 6.78e5, 1.1e6, 1 / 150, 20.0, 10.0, 0.4, 10.0, 103.2, 47, 9.2, 7.0, 9.2e6, 6.7e4
    ),
    "knot": PaperRow("12", 3.1e5, 2.03e5, 1 / 150, 8.0, 7.0, 0.2, 7.0, 63.6, 74, 6.1, 11.8, 4e6, 1.3e4),
    "drape_on_sphere": PaperRow("13", 1.2e5, 8e4, 1 / 200, 4.0, 4.0, 0.2, 4.0, 30.8, 38, 1.2, 25.0, 3e6, 7e3),
    "stack_on_teapot": PaperRow(
        "14", 5e5, 3.38e5, 1 / 150, 8.4, 9.1, 0.3, 8.8, 35.9, 31, 6.6, 16.6, 7e6, 2.8e4
    ),
    "folding": PaperRow("15", 4.85e5, 3.2e5, 1 / 150, 5.0, 7.5, 0.5, 7.0, 64.4, 46, 3.6, 12.4, 7e6, 2.3e4),
    "cloth_blender": PaperRow(
        "16", 8.2e5, 5.4e5, 1 / 150, 10.0, 11.6, 2.6, 9.0, 160.7, 73, 10.2, 5.2, 2.6e7, 1.6e5
    ),
    "cover_the_ship": PaperRow(
        "17", 9.3e5, 9.41e5, 1 / 150, 8.0, 8.3, 1.2, 7.1, 117.8, 51, 5.3, 7.2, 9.2e6, 6.3e4
    ),
    "funnel": PaperRow("18", 6.92e5, 4.58e5, 1 / 150, 17.0, 13.0, 2.0, 9.0, 112.4, 52, 8.5, 6.6, 3.2e7, 2.76e5),
    "kicking": PaperRow("19", 4.5e5, 2.94e5, 1 / 200, 14.0, 11.0, 0.6, 10.0, 113.5, 94, 8.5, 6.8, 4e6, 4.7e4),
    "fashion_show": PaperRow("1", 1.1e6, 6.56e5, 1 / 200, 14.0, 14.7, 1.6, 13.1, 167.3, 67, 12.4, 4.8, 1e7, 8.4e4),
}  # fmt: skip

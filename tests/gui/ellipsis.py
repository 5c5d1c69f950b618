# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Blender has cut a text: it writes “…” there, which no text of ours has."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view
from PIL import Image

from taffeta.tests.gui.window import Window

Grey = npt.NDArray[np.float32]

ALIKE = 0.95  #: correlation from which on pixels are the glyph; its colour and its ground do not count
FAINT = 4.0  #: standard deviation of grey values below which there is nothing to see
ABOVE = 5  #: rows of pixels over the dots in which a word has letters, and “…” nothing


def glyph(window: Window) -> Grey:
    """How this Blender writes “…” in its interface, with nothing over it: (rows, columns), 0 is ground."""
    drawn = np.frombuffer(window.ask("ellipsis()"), np.uint8).astype(np.float32)
    drawn = drawn.reshape(int(len(drawn) ** 0.5), -1)[::-1]  # OpenGL begins at the bottom
    rows, columns = (np.flatnonzero(drawn.any(axis=axis)) for axis in (1, 0))
    dots = drawn[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return np.pad(dots, ((ABOVE, 0), (0, 0)))


def cuts(picture: Image.Image, dots: Grey) -> set[tuple[int, int]]:
    """(column, row) of each “…” in a picture, pixels from its upper left corner."""
    grey = np.asarray(picture.convert("L"), np.float32)
    windows = sliding_window_view(grey, dots.shape)
    sought = dots - dots.mean()
    sought /= np.linalg.norm(sought)
    found = np.empty(windows.shape[:2], bool)
    for row, strip in enumerate(windows):
        spread = strip.std(axis=(1, 2))
        alike = np.tensordot(strip, sought, axes=2) / np.maximum(spread * dots.size**0.5, FAINT)
        found[row] = (alike > ALIKE) & (spread > FAINT)
    return {(int(column), int(row)) for row, column in np.argwhere(found)}

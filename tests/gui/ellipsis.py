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
    grey = np.asarray(picture.convert("L"))
    windows = sliding_window_view(grey, dots.shape)
    sought = dots - dots.mean()
    sought /= np.linalg.norm(sought)
    total, squares = (sums(grey.astype(np.int64) ** power, dots.shape) for power in (1, 2))
    spread = np.sqrt(squares * dots.size - total**2) / dots.size
    found = set()
    for row, own in enumerate(spread):
        columns = np.flatnonzero(own > FAINT)  # most of a screen is of one colour, and not looked at
        alike = np.tensordot(windows[row, columns].astype(np.float32), sought, axes=2)
        seen = alike > ALIKE * dots.size**0.5 * own[columns]
        found |= {(int(column), row) for column in columns[seen]}
    return found


def sums(values: npt.NDArray[np.int64], shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Of every window of this shape."""
    until = np.pad(values.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    rows, columns = shape
    return until[rows:, columns:] - until[:-rows, columns:] - until[rows:, :-columns] + until[:-rows, :-columns]

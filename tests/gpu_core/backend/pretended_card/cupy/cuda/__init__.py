# SPDX-License-Identifier: GPL-3.0-or-later
from .._card import Event, Graph, Stream, current  # noqa: F401
from . import runtime  # noqa: F401


def get_elapsed_time(start: Event, end: Event) -> float:
    return 1.0  # ms


def get_current_stream() -> Stream:
    return current[-1]

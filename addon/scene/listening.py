# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions that Blender calls when something has happened, put into its lists and taken out again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bpy

Handlers = Sequence[tuple[str, Callable[..., Any]]]  #: names of `bpy.app.handlers`, each with who is called


def listen(handlers: Handlers) -> None:
    for name, handler in handlers:
        getattr(bpy.app.handlers, name).append(handler)


def unlisten(handlers: Handlers) -> None:
    for name, handler in reversed(handlers):
        getattr(bpy.app.handlers, name).remove(handler)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that touches bpy, and nothing else. Importing this package does not import bpy; registering does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


def register() -> None:
    from . import registration

    registration.register()


def unregister() -> None:
    from . import registration

    registration.unregister()


@contextmanager
def registered() -> Iterator[None]:
    """The add-on is registered inside: with the bpy module nobody has installed it.

    Raises KeyboardInterrupt where somebody interrupts what takes a second each: importing bpy, and all of ours.
    """
    from .command.interruption import obey

    obey()
    import bpy

    obey()
    if hasattr(bpy.types.Scene, "taffeta"):
        yield
        return
    from . import registration

    obey()
    registration.register()
    try:
        yield
    finally:
        registration.unregister()

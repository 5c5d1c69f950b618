"""Everything that touches bpy, and nothing else. Importing this package does not import bpy; registering does."""

from __future__ import annotations


def register() -> None:
    from . import registration

    registration.register()


def unregister() -> None:
    from . import registration

    registration.unregister()

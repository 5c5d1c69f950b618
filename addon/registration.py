"""Classes, properties, handlers and the command line, in the order Blender needs them."""

from __future__ import annotations

from . import (
    bake_panels,
    blender_command,
    finalise,
    finalise_panel,
    handlers,
    operators,
    panels,
    preferences,
    properties,
)

PARTS = (
    properties,
    operators,
    finalise,
    panels,
    bake_panels,
    finalise_panel,
    preferences,
    handlers,
    blender_command,
)


def register() -> None:
    for part in PARTS:
        part.register()


def unregister() -> None:
    for part in reversed(PARTS):
        part.unregister()

"""Classes, properties, handlers and the command line, in the order Blender needs them."""

from __future__ import annotations

from . import (
    bake_panels,
    blender_command,
    fabric_presets,
    finalise,
    finalise_panel,
    gpu_preferences,
    handlers,
    live_operators,
    live_panels,
    object_menu,
    operators,
    panels,
    preferences,
    properties,
    roster,
    sidebar,
    status_bar,
)

PARTS = (
    roster,
    properties,
    operators,
    live_operators,
    finalise,
    object_menu,
    fabric_presets,
    panels,
    bake_panels,
    finalise_panel,
    sidebar,
    live_panels,
    status_bar,
    gpu_preferences,
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

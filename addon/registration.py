# SPDX-License-Identifier: GPL-3.0-or-later
"""Classes, properties, handlers and the command line, in the order Blender needs them."""

from __future__ import annotations

from .command import blender
from .interface import (
    bake_operators,
    bake_panels,
    blender_cloth_operators,
    cage_operators,
    check_operator,
    crossings_operators,
    crossings_overlay,
    dense_operators,
    dense_panel,
    encounter_operators,
    encounter_panel,
    fabric_presets,
    finalise_operators,
    finalise_panel,
    handlers,
    help_operator,
    live_operators,
    live_panels,
    manual_map,
    object_menu,
    paint_operators,
    physics,
    pin_operators,
    preferences,
    sample_menu,
    sidebar,
    status_bar,
    timeline,
)
from .scene import properties, roster, weighted

PARTS = (
    roster,
    weighted,
    properties,
    help_operator,
    bake_operators,
    check_operator,
    crossings_operators,
    live_operators,
    finalise_operators,
    blender_cloth_operators,
    object_menu,
    sample_menu,
    fabric_presets,
    paint_operators,
    pin_operators,
    encounter_operators,
    dense_operators,
    cage_operators,
    physics,
    encounter_panel,
    dense_panel,
    bake_panels,
    finalise_panel,
    sidebar,
    live_panels,
    status_bar,
    timeline,
    crossings_overlay,
    manual_map,
    *((preferences.gpu_preferences,) if preferences.INSTALLS else ()),
    preferences,
    handlers,
    blender,
)


def register() -> None:
    for part in PARTS:
        part.register()


def unregister() -> None:
    for part in reversed(PARTS):
        part.unregister()

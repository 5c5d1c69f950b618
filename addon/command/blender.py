# SPDX-License-Identifier: GPL-3.0-or-later
"""`blender FILE --command taffeta …`: the command line inside Blender itself."""

from __future__ import annotations

import bpy

_handle: object | None = None


def _run(arguments: list[str]) -> int:
    from .line import main

    return main(arguments, program="blender FILE --command taffeta")


def register() -> None:
    global _handle
    _handle = bpy.utils.register_cli_command("taffeta", _run)


def unregister() -> None:
    global _handle
    bpy.utils.unregister_cli_command(_handle)
    _handle = None

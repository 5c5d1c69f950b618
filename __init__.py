# SPDX-License-Identifier: GPL-3.0-or-later
"""Taffeta: penetration-free cloth for Blender.

The repository root is the extension and the importable package. It must import without bpy, for tests, the worker
process and headless use, so Blender's parts are reached only from inside the two functions below.
"""


def register() -> None:
    from . import addon

    addon.register()


def unregister() -> None:
    from . import addon

    addon.unregister()

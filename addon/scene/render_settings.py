# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene as it renders, where Blender only evaluates what the viewport shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import bpy

from . import modifier

LEVELS = ("MULTIRES", "SUBSURF")


@contextmanager
def as_rendered(scene: bpy.types.Scene, items: Iterable[bpy.types.Object]) -> Iterator[None]:
    """While it lasts, the modifiers of these objects, and Simplify, are in the viewport what they are in a render."""
    before: list[tuple[Any, str, Any]] = []
    with modifier.otherwise(), ExitStack() as undo:
        undo.callback(_put_back, before)
        for owner, name, value in _changes(scene, items):
            before.append((owner, name, getattr(owner, name)))
            setattr(owner, name, value)
        yield


def _put_back(before: list[tuple[Any, str, Any]]) -> None:
    for owner, name, value in reversed(before):
        setattr(owner, name, value)


def differs(scene: bpy.types.Scene, item: bpy.types.Object) -> bool:
    """Does this object render otherwise than the viewport shows it? Cheap enough for drawing."""
    return any(True for _ in _of_modifiers(item))


def _changes(scene: bpy.types.Scene, items: Iterable[bpy.types.Object]) -> Iterator[tuple[Any, str, Any]]:
    if scene.render.use_simplify:
        yield scene.render, "simplify_subdivision", scene.render.simplify_subdivision_render
    for item in items:
        yield from _of_modifiers(item)


def _of_modifiers(item: bpy.types.Object) -> Iterator[tuple[Any, str, Any]]:
    for entry in item.modifiers:
        if entry.show_viewport != entry.show_render:
            yield entry, "show_viewport", entry.show_render
        if entry.type in LEVELS and entry.levels != entry.render_levels:
            yield entry, "levels", entry.render_levels

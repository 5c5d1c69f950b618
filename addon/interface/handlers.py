# SPDX-License-Identifier: GPL-3.0-or-later
"""What must happen when files change, scenes change under a bake, or Blender goes away."""

from __future__ import annotations

import atexit
from pathlib import Path

import bpy

from ..bake import save_as, session
from ..bake.state import Happening
from ..cache import checking, crossings, place, status
from ..live import display
from ..live import session as live
from ..live.state import Occurrence
from ..scene import keys, modifier, older_start, overridable, roster, triangulation
from ..scene.gather import cloth_objects
from ..scene.listening import listen, unlisten


def _leave() -> None:
    """The file goes away, or Blender does."""
    live.close()
    checking.close()
    session.close()
    for scene in bpy.data.scenes:  # saved in the midst of a bake that ends here
        save_as.settle(scene)


@bpy.app.handlers.persistent
def _before_load(*_: object) -> None:
    _leave()
    crossings.clear()


@bpy.app.handlers.persistent
def _after_load(*_: object) -> None:
    place.begin_file()
    session.forget()
    save_as.forget()
    live.forget()
    for scene in bpy.data.scenes:
        older_start.carry_over(scene)
    status.look(bpy.context.scene)


@bpy.app.handlers.persistent
def _before_save(path: str = "", *_: object) -> None:
    overridable.settle()
    for scene in bpy.data.scenes:
        keys.settle(cloth_objects(scene))
        if path:  # none is the file that Blender begins with
            save_as.point(scene, Path(path))
    live.tell(Occurrence.SAVING)


@bpy.app.handlers.persistent
def _after_failed_save(*_: object) -> None:
    save_as.point_back()
    live.tell(Occurrence.SAVED)


@bpy.app.handlers.persistent
def _after_save(*_: object) -> None:
    save_as.point_back()
    for scene in bpy.data.scenes:
        save_as.settle(scene)
    live.tell(Occurrence.SAVED)
    status.look(bpy.context.scene)


@bpy.app.handlers.persistent
def _after_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """A modifier may have come after a cache, or gone."""
    if depsgraph.id_type_updated("OBJECT") and modifier.are_the_users():
        for cloth in roster.members(scene).cloths:
            if cloth.library is None:
                triangulation.settle(cloth)


@bpy.app.handlers.persistent
def _before_undo(*_: object) -> None:
    session.tell(Happening.UNDO_BEGINS)


@bpy.app.handlers.persistent
def _after_undo(*_: object) -> None:
    session.tell(Happening.UNDONE)
    if live.current is None:
        display.remove()  # a step of the time when it ran
    live.tell(Occurrence.UNDONE)
    if session.current is None:
        status.look(bpy.context.scene)


HANDLERS = (
    ("depsgraph_update_post", _after_update),
    ("load_pre", _before_load),
    ("load_post", _after_load),
    ("save_pre", _before_save),
    ("save_post", _after_save),
    ("save_post_fail", _after_failed_save),
    ("undo_pre", _before_undo),
    ("redo_pre", _before_undo),
    ("undo_post", _after_undo),
    ("redo_post", _after_undo),
)


def register() -> None:
    listen(HANDLERS)
    atexit.register(session.close)


def unregister() -> None:
    """Blender calls it as it quits, too."""
    _leave()
    atexit.unregister(session.close)
    unlisten(HANDLERS)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Who takes part in a scene, remembered as long as nothing can have changed it: each redraw asks many times, and to
look at ten thousand objects takes milliseconds.

A role tells when it changes. Objects come and go with an update of their scene's dependency graph, an undo or another
file; Blender has told of that before it draws.
"""

from __future__ import annotations

import bpy

from .gather import Members
from .gather import members as look
from .listening import listen, unlisten

_known: dict[int, Members] = {}  # by the scene's session_uid


def members(scene: bpy.types.Scene) -> Members:
    """As `gather.members`, for panels and buttons. The lists are not the caller's to change."""
    known = _known.get(scene.session_uid)
    if known is None or not _are_there(known):
        known = _known[scene.session_uid] = look(scene)
    return known


def _are_there(known: Members) -> bool:
    """A script that deletes an object, or loads a library anew, may ask before Blender has told of it."""
    bodies = (item for body in known.bodies for item in (body.item, *body.carriers))
    try:
        for item in (*known.cloths, *known.colliders, *bodies, *known.fields, *known.followers):
            item.as_pointer()  # of what is gone raises it
    except ReferenceError:
        return False
    return True


@bpy.app.handlers.persistent
def forget(_changed: object = None, _context: object = None) -> None:
    """Something may have changed: a handler, and what Blender calls after a property changes."""
    _known.clear()


@bpy.app.handlers.persistent
def _after_update(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if depsgraph.id_type_updated("SCENE"):  # else an object has moved, or the like
        forget()


HANDLERS = (
    ("depsgraph_update_post", _after_update),
    ("undo_post", forget),
    ("redo_post", forget),
    ("load_post", forget),
)


def register() -> None:
    listen(HANDLERS)


def unregister() -> None:
    unlisten(HANDLERS)
    forget()

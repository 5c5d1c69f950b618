"""What must happen when files change or Blender goes away."""

from __future__ import annotations

import atexit

import bpy

from . import session


@bpy.app.handlers.persistent
def _before_load(*_: object) -> None:
    session.kill()


@bpy.app.handlers.persistent
def _after_load(*_: object) -> None:
    session.forget()
    session.inspect_cache(bpy.context.scene)


def register() -> None:
    bpy.app.handlers.load_pre.append(_before_load)
    bpy.app.handlers.load_post.append(_after_load)
    atexit.register(session.kill)


def unregister() -> None:
    session.kill()
    atexit.unregister(session.kill)
    bpy.app.handlers.load_post.remove(_after_load)
    bpy.app.handlers.load_pre.remove(_before_load)

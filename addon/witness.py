"""Whether a scene has an object of some kind, as often as buttons ask: each redraw asks every button's `poll`."""

from __future__ import annotations

from collections.abc import Callable

import bpy


class Witness:
    """Remembers by name who proved it the last time, so that mostly one object is looked at instead of thousands."""

    def __init__(self, proves: Callable[[bpy.types.Object], bool]) -> None:
        self._proves = proves
        self._names: dict[int, str] = {}  # by the scene's session_uid

    def __call__(self, scene: bpy.types.Scene) -> bool:
        known = scene.objects.get(self._names.get(scene.session_uid, ""))
        if known is not None and self._proves(known):
            return True
        found = next((item for item in scene.objects if self._proves(item)), None)
        if found is not None:
            self._names[scene.session_uid] = found.name
        return found is not None


has_cloth = Witness(lambda item: item.taffeta.role == "CLOTH")

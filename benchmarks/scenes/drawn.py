# SPDX-License-Identifier: GPL-3.0-or-later
"""In which frames of a baked .blend file does ipctk find a crossing in what Blender draws?

    python -m taffeta.benchmarks.scenes.drawn FILE.blend FIRST LAST

Prints the frames as a JSON list. Exceptions that the user has made are not known to it.
"""

from __future__ import annotations

import json
import sys

import bpy

from ...addon import registration
from ...addon.cache import drawn
from ...addon.scene.gather import FrameRange, members
from ..second_judge import crosses


def crossing_frames(frames: FrameRange) -> list[int]:
    """Of the scene that is open."""
    groups = drawn.judged(members(bpy.context.scene))
    found = []
    for frame, depsgraph in drawn.played(bpy.context, frames, groups):
        meshes = {body: drawn.mesh(body, depsgraph, frame) for group in groups for body in (*group[0], *group[1])}
        pairs = [([meshes[body] for body in cloths], [meshes[body] for body in bodies]) for cloths, bodies in groups]
        if any(crosses(cloths, bodies) for cloths, bodies in pairs if cloths):
            found.append(frame)
    return found


def main() -> None:
    path, first, last = sys.argv[1:]
    registration.register()
    try:  # Blender's module hangs at exit where an add-on is left registered
        bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)
        found = crossing_frames((int(first), int(last)))
    finally:
        registration.unregister()
    print(json.dumps(found))


if __name__ == "__main__":
    main()

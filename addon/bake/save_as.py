# SPDX-License-Identifier: GPL-3.0-or-later
"""What a file's caches do when it is saved under another name.

A cache that lay in the temporary folder moves beside the file: nobody else can have it. Any other stays with the file
it was baked for, and Blender itself makes the modifiers' paths right, so both files play it; the next bake of the new
file goes to its own place, and a resume there first copies what is done.
"""

from __future__ import annotations

import bpy

from ...gpu_core.files.cache import CacheError
from ...gpu_core.files.disk import DiskError
from ...gpu_core.files.folder import JOB
from ...gpu_core.scene.scene import SceneError
from ..cache import place
from ..scene import modifier
from ..scene.gather import cloth_objects
from . import session

stranded: dict[str, str] = {}  #: temporary folders whose caches could not be moved, and why


def settle(scene: bpy.types.Scene) -> list[str]:
    """Move the caches of this scene out of the temporary folder, once it has a place; the troubles with that.

    A bake that still writes there is left alone until it has ended.
    """
    home = place.open_file()
    if home is None or session.current is not None:
        return []
    troubles = []
    for folder, cloths in place.attached(cloth_objects(scene)).items():
        if not place.is_temporary(str(folder)):
            continue
        stranded.pop(str(folder), None)
        try:
            to = place.target(scene, cloths=cloths)
            place.move(folder, to)
            place.claim(to / JOB, to, scene)
        except (CacheError, DiskError, SceneError) as error:
            stranded[str(folder)] = str(error)
            troubles.append(str(error))
            continue
        for cloth in cloths:
            if (own := modifier.find(cloth)) is not None:
                own.filepath = place.blend_path(to / bpy.path.basename(own.filepath), home)
    return troubles

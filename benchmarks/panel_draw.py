# SPDX-License-Identifier: GPL-3.0-or-later
"""What drawing the panels costs, without Blender's own part: python -m taffeta.benchmarks.panel_draw

Every panel is drawn through a layout that does nothing, and the poll of every button it asks for is called, as Blender
does; in scenes of more and more objects, with a cache of 250 certified frames that has to be compared with the scene.
Prints the median CPU time of a draw in ms, and of the look at all objects that comes with the first draw after one
of them came, went or took another role.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

OBJECTS = (10, 1000, 10000)
FRAMES = 250
REPEATS = 40
LOOK = "the look at all objects"


class Layout:
    """Takes everything and shows nothing."""

    def __init__(self) -> None:
        self.operators: list[str] = []

    def operator(self, identifier: str, **options: Any) -> SimpleNamespace:
        self.operators.append(identifier)
        return SimpleNamespace()

    def row(self, **options: Any) -> Layout:
        return self

    column = row

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **options: None


def main() -> None:
    os.environ["BLENDER_USER_RESOURCES"] = tempfile.mkdtemp()
    import bpy

    import taffeta
    from taffeta.addon.cache import status
    from taffeta.addon.interface import bake_panels, live_panels, physics, sidebar
    from taffeta.addon.scene import roster
    from taffeta.gpu_core.bake.certificate import Certificate

    taffeta.register()
    scene, cloth = _baked_scene(Path(tempfile.mkdtemp()))
    certificates = tuple(Certificate(frame, 0) for frame in range(1, FRAMES + 1))
    for folder, held in status.known(scene).items():
        status.put(scene, folder, replace(held, certificates=certificates))
    drawn = (*physics.CLASSES, *bake_panels.CLASSES, *sidebar.CLASSES, *live_panels.CLASSES)
    print(f"{'objects':34}", *(f"{count:>8}" for count in OBJECTS))
    rows: dict[str, list[float]] = {name: [] for name in (*(panel.__name__ for panel in drawn), LOOK)}
    for count in OBJECTS:
        while len(scene.objects) < count:
            scene.collection.objects.link(bpy.data.objects.new("Bystander", None))
        with bpy.context.temp_override(object=cloth):
            for panel in drawn:
                rows[panel.__name__].append(_median(partial(_draw, panel, bpy.context)))
        rows[LOOK].append(_median(partial(roster.look, scene)))
    for name, costs in rows.items():
        print(f"{name:34}", *(f"{cost * 1e3:8.3f}" for cost in costs))
    taffeta.unregister()


def _baked_scene(folder: Path) -> tuple[Any, Any]:
    import bpy

    from taffeta.addon.cache import status
    from taffeta.gpu_core.files.cache import CacheState

    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.taffeta.backend = 1, 2, "CPU"
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4)
    cloth = bpy.context.object
    cloth.taffeta.role = "CLOTH"
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
    bpy.ops.taffeta.bake()
    assert status.of(scene, cloth)[0] is CacheState.READY
    return scene, cloth


def _draw(panel: Any, context: Any) -> None:
    """Poll, draw and the polls of its buttons."""
    import bpy

    layout = Layout()
    if not hasattr(panel, "poll") or panel.poll(context):
        panel.draw(SimpleNamespace(layout=layout), context)
        for identifier in layout.operators:
            category, name = identifier.split(".")
            getattr(getattr(bpy.ops, category), name).poll()


def _median(task: Callable[[], object]) -> float:
    """CPU seconds."""
    times = []
    for _ in range(REPEATS):
        began = time.process_time()
        task()
        times.append(time.process_time() - began)
    return statistics.median(times)


if __name__ == "__main__":
    main()
    os._exit(0)  # bpy 4.5 can hang while the interpreter shuts down

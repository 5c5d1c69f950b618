"""Runs in a process of one Blender: install the zip, test itself, GPU libraries in and out, bake, play, free, remove.
Prints DONE at the end.

    python extension_cycle.py ZIP WHEELS FOLDER

The environment names throw-away user resources. A failed check ends the process with a traceback.
"""

from __future__ import annotations

import sys
from pathlib import Path

import bpy
import numpy as np

# isort: split
import addon_utils  # exists once bpy is loaded

NAME = "bl_ext.user_default.taffeta"
FRAMES = 4


def main(package: Path, wheels: Path, folder: Path) -> None:
    bpy.ops.extensions.package_install_files(filepath=str(package), repo="user_default", enable_on_install=True)
    # the operator returns FINISHED even where it failed
    assert addon_utils.check(NAME) == (True, True), addon_utils.check(NAME)
    assert bpy.ops.taffeta.self_test() == {"FINISHED"}
    answer = sys.modules[f"{NAME}.addon.preferences"]._test.answer
    assert all(check["passed"] for check in answer["checks"]), answer
    assert NAME in bpy.context.preferences.addons, "no preferences"
    gpu_libraries_come_and_go(wheels)
    sheet = tiny_scene()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "tiny.blend"))

    fabrics_come_and_go(sheet)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    start, end = positions(sheet, 1), positions(sheet, FRAMES)
    assert end[:, 2].mean() < start[:, 2].mean(), "the sheet does not fall"
    cached = list(folder.rglob("*.pc2"))
    assert len(cached) == 1, cached

    assert bpy.ops.taffeta.free() == {"FINISHED"}
    assert not list(folder.rglob("*.pc2"))
    assert np.array_equal(positions(sheet, FRAMES), start), "the mesh is not what it was"

    addon_utils.disable(NAME, default_set=True)
    assert not hasattr(bpy.types.Object, "taffeta")
    assert not hasattr(bpy.types.Scene, "taffeta")
    print("DONE", bpy.app.version_string, flush=True)


def gpu_libraries_come_and_go(wheels: Path) -> None:
    """Into the extension's own folder, which an update of the extension leaves alone."""
    assert bpy.ops.taffeta.gpu_install(wheels=str(wheels), any_machine=True) == {"FINISHED"}
    (found,) = sys.modules[f"{NAME}.addon.gpu_libraries"].libraries()
    assert found.parent == Path(bpy.utils.extension_path_user(NAME, path="gpu"))
    assert (found / "cupy").is_dir(), list(found.iterdir())
    assert bpy.ops.taffeta.gpu_uninstall() == {"FINISHED"}
    assert not found.exists()


def fabrics_come_and_go(sheet: bpy.types.Object) -> None:
    """Saved, loaded and deleted as Blender's own presets."""
    cloth = sheet.taffeta.cloth
    cloth.density = 0.5
    bpy.ops.taffeta.fabric_preset_add(name="Mine")
    bpy.ops.taffeta.quick_cloth(fabric="SILK")
    assert cloth.preset == "SILK"
    bpy.ops.taffeta.fabric_preset_load(filepath=bpy.utils.preset_find("Mine", "taffeta/fabric"))
    assert (cloth.preset, cloth.density) == ("CUSTOM", 0.5)
    bpy.ops.taffeta.fabric_preset_add(name="Mine", remove_name=True)
    assert not bpy.utils.preset_find("Mine", "taffeta/fabric")
    cloth.preset = "COTTON"


def tiny_scene() -> bpy.types.Object:
    """A sheet of nine vertices above a sphere."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    scene.taffeta.backend = "CPU"
    bpy.ops.mesh.primitive_ico_sphere_add(radius=0.2)
    bpy.context.object.taffeta.role = "COLLIDER"
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=2, y_subdivisions=2, size=0.5, location=(0.0, 0.0, 0.3))
    bpy.context.object.taffeta.role = "CLOTH"
    return bpy.context.object


def positions(sheet: bpy.types.Object, frame: int) -> np.ndarray:
    """Vertices (N, 3) as they are shown at `frame`, in object space, m."""
    bpy.context.scene.frame_set(frame)
    vertices = sheet.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices
    return np.array([tuple(vertex.co) for vertex in vertices])


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))

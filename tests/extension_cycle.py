# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in a process of one Blender: install the zip, test itself, GPU libraries and fabrics in and out, bake, finalise,
command, free, override, remove. Then: DONE.

    python extension_cycle.py ZIP WHEELS FOLDER

WHEELS is - where the zip is the CPU build, which must have no way to install the GPU libraries.
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


def main(package: Path, wheels: Path | None, folder: Path) -> None:
    bpy.ops.extensions.package_install_files(filepath=str(package), repo="user_default", enable_on_install=True)
    # the operator returns FINISHED even where it failed
    assert addon_utils.check(NAME) == (True, True), addon_utils.check(NAME)
    assert bpy.ops.taffeta.self_test() == {"FINISHED"}
    answer = sys.modules[f"{NAME}.addon.interface.preferences"]._test.answer
    assert all(check["passed"] for check in answer["checks"]), answer
    assert NAME in bpy.context.preferences.addons, "no preferences"
    if wheels is None:
        gpu_libraries_stay_away()
    else:
        gpu_libraries_come_and_go(wheels)
    sheet = tiny_scene()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "tiny.blend"))

    fabrics_come_and_go(sheet)
    blenders_cloth_comes_and_goes(sheet)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    start, end = positions(sheet, 1), positions(sheet, FRAMES)
    assert end[:, 2].mean() < start[:, 2].mean(), "the sheet does not fall"
    cached = list(folder.rglob("*.pc2"))
    assert len(cached) == 1, cached
    dense_meshes_come_and_go(sheet)
    finalise(sheet, folder)
    command = sys.modules[f"{NAME}.addon.command.blender"]._run
    for words in (
        "check",
        "export --out FOLDER/again.abc",
        "job --out FOLDER/job",
        "run FOLDER/job",
        "fetch --from FOLDER/job",
    ):
        assert command(words.replace("FOLDER", str(folder)).split()) == 0, words
    assert np.array_equal(positions(sheet, FRAMES), end)

    assert bpy.ops.taffeta.free() == {"FINISHED"}
    assert not list((folder / "taffeta_cache").rglob("*.pc2"))
    assert np.array_equal(positions(sheet, FRAMES), start), "the mesh is not what it was"

    overrides_keep_what_is_set(folder)
    addon_utils.disable(NAME, default_set=True)
    assert not hasattr(bpy.types.Object, "taffeta")
    assert not hasattr(bpy.types.Scene, "taffeta")
    print("DONE", bpy.app.version_string, flush=True)


def overrides_keep_what_is_set(folder: Path) -> None:
    """On an object whose library says nothing of that, when the file is opened again."""
    bpy.ops.wm.read_homefile(use_empty=True)
    body = bpy.data.objects.new("Body", bpy.data.meshes.new("Body"))
    bpy.context.scene.collection.objects.link(body)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    with bpy.data.libraries.load(str(folder / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Body"]
    own = wanted.objects[0].override_create()
    bpy.context.scene.collection.objects.link(own)
    own.taffeta.role, own.taffeta.collider.thickness, own.taffeta.cloth.preset = "COLLIDER", 0.007, "DENIM"
    own.taffeta.cloth.pins.add().group = "Waist"
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    own = next(item for item in bpy.data.objects if item.override_library is not None)
    kept = own.taffeta.role, round(own.taffeta.collider.thickness, 6), own.taffeta.cloth.preset
    assert kept == ("COLLIDER", 0.007, "DENIM"), kept
    assert [pins.group for pins in own.taffeta.cloth.pins] == ["Waist"], list(own.taffeta.cloth.pins)


def blenders_cloth_comes_and_goes(sheet: bpy.types.Object) -> None:
    """This Blender's cloth has no number that is neither carried over nor named, and its keys come back."""
    names = ("conversion", "blender_cloth", "blender_modifier")
    conversion, table, modifiers = (sys.modules[f"{NAME}.addon.scene.{name}"] for name in names)
    item = sheet.copy()
    item.data = sheet.data.copy()
    bpy.context.scene.collection.objects.link(item)
    item.taffeta.role = "NONE"
    entry = item.modifiers.new("Cloth", "CLOTH")
    path = 'modifiers["Cloth"].settings.bending_stiffness'
    for frame, value in ((1, 0.5), (FRAMES, 2.0)):
        entry.settings.bending_stiffness = value
        item.keyframe_insert(path, frame=frame)
    before = modifiers.read(entry)
    carried = {name for rule in table.RULES for name in rule.there} | {table.TIME_SCALE}
    assert set(before) == carried | set(table.LEFT_THERE) | set(table.BELOW) | table.UNSEEN, set(before)
    bpy.context.scene.taffeta.time_scale = table.pace(24.0)  # of the other cloth too, or that is named
    told = conversion.from_blender(bpy.context.scene, [item])
    assert told == [], told
    bends = []
    for frame in (1, FRAMES):
        bpy.context.scene.frame_set(frame)
        bends.append(item.taffeta.cloth.bend)
    assert abs(bends[1] / bends[0] - 4.0) < 1e-5, bends
    conversion.to_blender(bpy.context.scene, [item])
    bpy.context.scene.frame_set(1)
    assert abs(entry.settings.bending_stiffness - 0.5) < 1e-5, entry.settings.bending_stiffness
    bpy.data.objects.remove(item)
    bpy.context.scene.taffeta.time_scale = 1.0


def gpu_libraries_come_and_go(wheels: Path) -> None:
    """Into the extension's own folder, which an update of the extension leaves alone."""
    assert bpy.ops.taffeta.gpu_install(wheels=str(wheels), any_machine=True) == {"FINISHED"}
    (found,) = sys.modules[f"{NAME}.addon.device.libraries"].libraries()
    assert found.parent == Path(bpy.utils.extension_path_user(NAME, path="gpu"))
    assert (found / "cupy").is_dir(), list(found.iterdir())
    assert bpy.ops.taffeta.gpu_uninstall() == {"FINISHED"}
    assert not found.exists()


def gpu_libraries_stay_away() -> None:
    """No button, no code behind one, and no worker that finds any."""
    assert not [name for name in dir(bpy.ops.taffeta) if name.startswith("gpu_")], dir(bpy.ops.taffeta)
    assert not sys.modules[f"{NAME}.addon.interface.preferences"].INSTALLS
    assert sys.modules[f"{NAME}.addon.device.libraries"].libraries() == ()


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


def dense_meshes_come_and_go(sheet: bpy.types.Object) -> None:
    """A copy of the sheet with more vertices follows it, and lies on it in the last frame."""
    dense = bpy.data.objects.new("Dense", bpy.data.meshes.new_from_object(sheet))
    bpy.context.scene.collection.objects.link(dense)
    dense.matrix_world = sheet.matrix_world
    choose(dense)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=1)
    bpy.ops.object.mode_set(mode="OBJECT")
    dense.taffeta.follows = sheet
    before = positions(dense, FRAMES)
    assert bpy.ops.taffeta.bind_dense() == {"FINISHED"}
    found, light = positions(dense, FRAMES), positions(sheet, FRAMES)
    assert len(found) > len(light)
    assert np.abs(found[:, 2].mean() - light[:, 2].mean()) < 1e-3, "it does not follow"
    assert np.abs(found - before).max() > 1e-3, "nothing moved"
    assert bpy.ops.taffeta.unbind_dense() == {"FINISHED"}
    assert np.array_equal(positions(dense, FRAMES), before)
    bpy.data.objects.remove(dense)
    choose(sheet)


def finalise(sheet: bpy.types.Object, folder: Path) -> None:
    """Everything a cache can become shows what the sheet showed, to float32."""
    baked = [positions(sheet, frame) for frame in range(1, FRAMES + 1)]
    assert bpy.ops.taffeta.velocity() == {"FINISHED"}
    for export, load, name in (
        (bpy.ops.taffeta.export_alembic, bpy.ops.wm.alembic_import, "sheet.abc"),
        (bpy.ops.taffeta.export_usd, bpy.ops.wm.usd_import, "sheet.usdc"),
    ):
        choose(sheet)
        assert export(filepath=str(folder / name)) == {"FINISHED"}
        before = set(bpy.data.objects)
        load(filepath=str(folder / name), set_frame_range=False)
        show_same(next(new for new in set(bpy.data.objects) - before if new.type == "MESH"), baked, velocities=True)
    for absolute in (False, True):
        choose(sheet)
        assert bpy.ops.taffeta.to_shape_keys(absolute=absolute) == {"FINISHED"}
        show_same(bpy.context.object, baked)
        sheet.hide_set(False)
    choose(sheet)
    bpy.context.scene.frame_set(2)
    assert bpy.ops.taffeta.to_mesh() == {"FINISHED"}
    show_same(bpy.context.object, [baked[1]] * FRAMES)
    choose(sheet)


def choose(item: bpy.types.Object) -> None:
    bpy.ops.object.select_all(action="DESELECT")
    item.select_set(True)
    bpy.context.view_layer.objects.active = item


def show_same(item: bpy.types.Object, baked: list[np.ndarray], velocities: bool = False) -> None:
    for index, expected in enumerate(baked):
        assert np.abs(positions(item, index + 1) - expected).max() < 1e-7, (item.name, index)
    if velocities:
        mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        found = np.array([tuple(value.vector) for value in mesh.attributes["velocity"].data])
        assert np.allclose(found, (baked[-1] - baked[-2]) * bpy.context.scene.render.fps, atol=1e-5), item.name


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
    zipped, wheels, folder = sys.argv[1:]
    main(Path(zipped), None if wheels == "-" else Path(wheels), Path(folder))

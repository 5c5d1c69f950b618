# SPDX-License-Identifier: GPL-3.0-or-later
"""A garment from a library: linked it plays its library's bake and collides, overridden it bakes here."""

from __future__ import annotations

import bpy
import pytest

from taffeta.addon.cache import place, status
from taffeta.addon.scene import modifier
from taffeta.gpu_core.files.cache import CacheState
from taffeta.tests.addon.commanding import Commands


@pytest.fixture
def wardrobe(saved_scene, make_cloth, tmp_path):
    """A collection linked into a shot beside its library; the garment in it is baked there."""
    collection = bpy.data.collections.new("Garment")
    item = bpy.data.objects["Cloth"]
    saved_scene.collection.objects.unlink(item)
    collection.objects.link(item)
    saved_scene.collection.children.link(collection)
    bpy.ops.taffeta.bake()
    bpy.ops.wm.save_mainfile()
    library = bpy.data.filepath
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.collections = ["Garment"]
    scene = bpy.context.scene
    scene.frame_end, scene.taffeta.backend = 4, "CPU"
    scene.collection.children.link(wanted.collections[0])
    (tmp_path / "shot").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot" / "shot.blend"))
    return wanted.collections[0]


def states() -> dict[str, CacheState]:
    return {item.name_full: state for item, state, _ in status.every(bpy.context.scene)}


def test_a_linked_garment_blocks_no_bake_and_collides(wardrobe, tmp_path):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=3, y_subdivisions=3, size=0.5, location=(0, 0, 0.3))
    own = bpy.context.object
    own.name, own.taffeta.role = "Scarf", "CLOTH"
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert states() == {"Cloth [shot.blend]": CacheState.READY, "Scarf": CacheState.READY}
    assert [entry["name"] for entry in status.held(bpy.context.scene, own).contents.scene["colliders"]] == ["Cloth"]
    bpy.ops.taffeta.free()
    assert (tmp_path / "taffeta_cache" / "shot" / "Scene" / "Cloth.pc2").is_file()


def test_the_commands_know_whose_bake_is_whose_beside_a_linked_garment(wardrobe, tmp_path, capfd):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=3, y_subdivisions=3, size=0.5, location=(0, 0, 0.3))
    bpy.context.object.name, bpy.context.object.taffeta.role = "Scarf", "CLOTH"
    bpy.ops.wm.save_mainfile()
    taffeta, shot = Commands(capfd), bpy.data.filepath
    assert taffeta("bake", shot)[0] == 0
    for way in ([], ["--save-blend", shot]):  # found beside the file, and by its modifier
        code, checked = taffeta("check", shot)
        assert (code, checked.get("clean")) == (0, True), checked
        assert checked["cache"] == str(tmp_path / "shot" / "taffeta_cache" / "shot" / "Scene")
        assert taffeta("export", shot, "--out", tmp_path / "scarf.abc", "--object", "Scarf")[0] == 0
        assert taffeta("bake", shot, *way)[0] == 0


def test_an_overridden_garment_bakes_in_the_shot_and_is_found_when_it_opens_again(wardrobe, tmp_path):
    wardrobe.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    own = next(item for item in bpy.context.scene.objects if item.override_library is not None)
    own.location.z = 2.0
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    own = next(item for item in bpy.context.scene.objects if item.override_library is not None)
    assert place.played(own).is_relative_to(tmp_path / "shot")
    assert set(states().values()) == {CacheState.READY}
    assert [entry.name for entry in own.modifiers] == [modifier.TRIANGLES, modifier.NAME]

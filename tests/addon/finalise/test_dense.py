# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows a cloth goes along: into Alembic and USD, onto shape keys, into a mesh of a frame."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.scene import dense, dense_nodes
from taffeta.tests.addon.finalising import choose, item
from taffeta.tests.addon.following import world

FILES = {".abc": bpy.ops.taffeta.export_alembic, ".usdc": bpy.ops.taffeta.export_usd}


@pytest.fixture
def dressed(saved_scene, make_cloth):
    """A baked cloth, hidden, with a mesh of 41 × 41 vertices that follows it and is refined."""
    follower = make_cloth("Dense", 40)
    follower.taffeta.role = "NONE"
    follower.modifiers.new("Refine", "SUBSURF")
    dense.bind(bpy.context, follower, item())
    dense.hide_light(item(), True)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    choose(item())
    return follower


def imported(path) -> dict[int, bpy.types.Object]:
    """The meshes of a file by their number of vertices."""
    other = bpy.data.scenes.new("Other")
    other.render.fps = bpy.context.scene.render.fps
    with bpy.context.temp_override(scene=other, view_layer=other.view_layers[0]):
        if path.suffix == ".abc":
            bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
        else:
            bpy.ops.wm.usd_import(filepath=str(path))
    return {len(found.data.vertices): found for found in other.objects if found.type == "MESH"}


def shown(found: bpy.types.Object, frame: int) -> np.ndarray:
    scene = found.users_scene[0]
    scene.frame_set(frame)
    depsgraph = scene.view_layers[0].depsgraph
    depsgraph.update()
    mesh = found.evaluated_get(depsgraph)
    matrix = np.array(mesh.matrix_world)
    return np.array([vertex.co for vertex in mesh.data.vertices]) @ matrix[:3, :3].T + matrix[:3, 3]


@pytest.mark.parametrize("suffix", FILES)
def test_a_file_holds_what_follows_the_cloth_in_every_frame(dressed, tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    dressed.modifiers["Refine"].show_viewport = False
    expected = [world(dressed, frame) for frame in range(1, 5)]
    dressed.modifiers["Refine"].show_viewport = True
    assert np.abs(expected[3] - expected[0]).max() > 0.01
    assert FILES[suffix](filepath=str(path)) == {"FINISHED"}
    assert dressed.modifiers["Refine"].show_viewport
    read = imported(path)
    assert sorted(read) == [25, 41 * 41]
    for frame, points in enumerate(expected, start=1):
        np.testing.assert_allclose(shown(read[41 * 41], frame), points, rtol=0, atol=1e-6)


@pytest.mark.parametrize("suffix", FILES)
@pytest.mark.parametrize(("meshes", "counts"), [("DENSE", [41 * 41]), ("CLOTH", [25])])
def test_one_of_the_two_alone_may_be_written(dressed, tmp_path, suffix, meshes, counts):
    FILES[suffix](filepath=str(tmp_path / f"out{suffix}"), meshes=meshes)
    assert sorted(imported(tmp_path / f"out{suffix}")) == counts


def test_with_modifiers_it_is_written_as_it_looks(dressed, tmp_path):
    FILES[".abc"](filepath=str(tmp_path / "out.abc"), meshes="DENSE", modifiers=True)
    assert sorted(imported(tmp_path / "out.abc")) == [81 * 81]


def test_a_dense_mesh_that_is_disabled_is_not_left_out_in_silence(dressed, tmp_path):
    dressed.hide_viewport = True
    with pytest.raises(RuntimeError, match="Dense: it is disabled in the viewport"):
        FILES[".abc"](filepath=str(tmp_path / "out.abc"))
    assert FILES[".abc"](filepath=str(tmp_path / "out.abc"), meshes="CLOTH") == {"FINISHED"}


def test_it_follows_the_copy_with_shape_keys_and_needs_no_cache(dressed):
    expected = [world(dressed, frame) for frame in range(1, 5)]
    assert bpy.ops.taffeta.to_shape_keys() == {"FINISHED"}
    keys = item("Cloth Shape Keys")
    assert (dense.light_of(dressed), dressed.taffeta.follows) == (keys, keys)
    bpy.data.objects.remove(item())
    for frame, points in enumerate(expected, start=1):
        np.testing.assert_allclose(world(dressed, frame), points, rtol=0, atol=1e-6)
    assert dense.trouble(dressed) == ""


def test_a_mesh_of_a_frame_is_made_of_it_as_well(dressed):
    dressed.modifiers["Refine"].show_viewport = False
    expected = world(dressed, 3)
    assert bpy.ops.taffeta.to_mesh() == {"FINISHED"}
    made = item("Dense Frame 3")
    np.testing.assert_allclose(world(made, 1), expected, rtol=0, atol=1e-6)
    assert not [entry.name for entry in made.data.attributes if entry.name.startswith(dense_nodes.PREFIX)]
    assert len(item("Cloth Frame 3").data.vertices) == 25

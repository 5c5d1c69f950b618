# SPDX-License-Identifier: GPL-3.0-or-later
"""The real bpy, once per test process, with throw-away user resources and the add-on registered from source."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

# Blender reads this once, at the first `import bpy`.
_RESOURCES = tempfile.TemporaryDirectory(prefix="taffeta_resources_")
os.environ.setdefault("BLENDER_USER_RESOURCES", _RESOURCES.name)

bpy = pytest.importorskip("bpy")


@pytest.fixture(scope="session")
def addon() -> Iterator[None]:
    import taffeta

    taffeta.register()
    yield
    # bpy 4.5 hangs at exit when an add-on is left registered.
    taffeta.unregister()


@pytest.fixture
def scene(addon: None) -> bpy.types.Scene:
    """An empty, unsaved scene of frames 1 to 4."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 4
    return scene


def fcurves(owner: bpy.types.ID) -> list[bpy.types.FCurve]:
    """Of its action, which has one slot."""
    action = owner.animation_data.action
    holder = action if bpy.app.version < (4, 4, 0) else action.layers[0].strips[0].channelbags[0]
    return list(holder.fcurves)


MakeObject = Callable[..., bpy.types.Object]


@pytest.fixture
def make_object(scene: bpy.types.Scene) -> MakeObject:
    """Links a mesh object built from vertices and faces, with a role."""

    def make(
        name: str, vertices: np.ndarray | list, faces: list[tuple[int, ...]], role: str = "NONE"
    ) -> bpy.types.Object:
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata([tuple(map(float, vertex)) for vertex in vertices], [], faces)
        item = bpy.data.objects.new(name, mesh)
        scene.collection.objects.link(item)
        item.taffeta.role = role
        return item

    return make


@pytest.fixture
def make_cloth(make_object: MakeObject) -> MakeObject:
    """A square sheet of quads in the xy plane, 1 m wide, centred on the origin."""

    def make(name: str = "Cloth", divisions: int = 4) -> bpy.types.Object:
        line = np.linspace(-0.5, 0.5, divisions + 1)
        vertices = np.array([(x, y, 0.0) for y in line for x in line])
        row = divisions + 1
        faces = [
            (a, a + 1, a + row + 1, a + row) for a in (y * row + x for y in range(divisions) for x in range(divisions))
        ]
        return make_object(name, vertices, faces, "CLOTH")

    return make


@pytest.fixture
def make_collider(make_object: MakeObject) -> MakeObject:
    """A triangle under the sheet."""

    def make(name: str = "Floor") -> bpy.types.Object:
        return make_object(name, [(-2, -2, -0.5), (2, -2, -0.5), (0, 2, -0.5)], [(0, 1, 2)], "COLLIDER")

    return make


@pytest.fixture
def saved_scene(
    scene: bpy.types.Scene, make_cloth: MakeObject, make_collider: MakeObject, tmp_path: Path
) -> Iterator[bpy.types.Scene]:
    """A sheet above a floor, in a saved file of its own folder."""
    from taffeta.addon.bake import session

    make_cloth(), make_collider()
    scene.taffeta.backend = "CPU"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    yield scene
    session.close()


@pytest.fixture(scope="session")
def baked_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the first test that needs one leaves its file and its cache to the others."""
    return tmp_path_factory.mktemp("once") / "baked"


@pytest.fixture
def baked(saved_scene: bpy.types.Scene, baked_once: Path, tmp_path: Path) -> bpy.types.Scene:
    """A sheet that falls on a floor in 4 frames, its parent moving, turned, mirrored and unevenly scaled."""
    from taffeta.tests.addon.finalising import bake_below_parent, choose, item

    if not baked_once.exists():
        bake_below_parent(saved_scene)
        shutil.copytree(tmp_path, baked_once)
    shutil.copytree(baked_once, tmp_path, dirs_exist_ok=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    choose(item())
    return bpy.context.scene

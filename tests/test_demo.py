# SPDX-License-Identifier: GPL-3.0-or-later
"""What a stranger runs first must work, and the checked-in scene is what its script builds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from taffeta.sample_blends import NAMES
from taffeta.sample_blends.stored import STORED

ROOT = Path(__file__).resolve().parents[1]
VERTICES = 400
SIZES = {"sewn_shirt": 1600, "first_garment": 1000}  # coarser sleeves lie on the arms without room to settle
#: Of the papers' scenes, those that no other test bakes.
SHOWN = ("bending_strip", "ribbons", "twisted_cylinder", "twisting_cloth")
#: Those that a test of `tests/addon/scene` bakes until they have done what they are for, each frame judged twice.
JUDGED = ("cape", "drawstring_waist", "flag_in_a_gust", "jeans", "pleated_skirt")
FIRST = 6  #: frames of both; `make scenes` bakes them whole
PATIENCE = 300  #: s

#: Prints, of the files named, what makes the result of a bake.
DESCRIBE = """
import hashlib, sys
import bpy
import taffeta
taffeta.register()
for path in sys.argv[1:]:
    bpy.ops.wm.open_mainfile(filepath=path)
    scene = bpy.context.scene
    print(scene.frame_start, scene.frame_end, scene.render.fps, list(scene.gravity))
    for thing in sorted(scene.objects, key=lambda thing: thing.name):
        if thing.taffeta.role != "NONE":
            mesh, cloth = thing.data, thing.taffeta.cloth
            shape = [tuple(vertex.co) for vertex in mesh.vertices], [tuple(face.vertices) for face in mesh.polygons]
            place = [tuple(row) for row in thing.matrix_world]
            print(thing.name, thing.taffeta.role, cloth.preset, cloth.pin_group, place)
            print(len(mesh.vertices), hashlib.sha256(repr(shape).encode()).hexdigest())
taffeta.unregister()
"""

#: Prints how far the cloth of the file named first moves from its start frame to its end frame, m.
PLAY = """
import sys
import bpy
import numpy as np
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
scene = bpy.context.scene
cloth = next(thing for thing in scene.objects if any(modifier.type == "MESH_CACHE" for modifier in thing.modifiers))
def positions(frame):
    scene.frame_set(frame)
    vertices = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices
    found = np.empty(3 * len(vertices), np.float32)
    vertices.foreach_get("co", found)
    return found
print("moved", abs(positions(scene.frame_end) - positions(scene.frame_start)).max())
"""


def python(*arguments: str) -> str:
    run = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=ROOT
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def built(name: str, folder: Path, vertices: int) -> Path:
    blend = folder / f"{name}.blend"
    python("-m", "taffeta", "sample", name, "--vertices", str(vertices), "--out", str(blend))
    return blend


def description(folder: Path) -> list[str]:
    said = python("-c", DESCRIBE, *(str(folder / f"{name}.blend") for name in STORED)).splitlines()
    return [line for line in said if not line.startswith("Read blend")]


def test_the_checked_in_samples_are_what_their_scripts_build_and_small(tmp_path):
    python("-m", "taffeta.sample_blends.stored", str(tmp_path))
    found = description(ROOT / "sample_blends")
    assert found == description(tmp_path)
    assert any(line.startswith("10000 ") for line in found)
    assert max((ROOT / "sample_blends" / f"{name}.blend").stat().st_size for name in STORED) < 1_000_000


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The demo's folder and what it printed, at a size for tests."""
    folder = tmp_path_factory.mktemp("demo")
    source = built("drape_on_sphere", folder, VERTICES)
    out = folder / "out"
    demo = ("-m", "taffeta.sample_blends.demo")
    return out, python(*demo, "--blend", str(source), "--folder", str(out), "--percentage", "20")


def test_the_demo_prints_both_paths_the_pace_and_a_clean_check(demo):
    folder, said = demo
    assert str(folder / "drape_on_sphere.blend") in said
    assert str(folder / "drape_on_sphere.png") in said
    assert "s per frame, 48 frames" in said
    assert "no intersection in any of 48 frames" in said


def test_the_demo_blend_plays_its_cache_without_the_add_on(demo):
    words = python("-c", PLAY, str(demo[0] / "drape_on_sphere.blend")).split()
    moved = float(words[words.index("moved") + 1])  # Blender's own words may come before or after
    assert 0.3 < moved < 1.0  # the hem falls by a good part of the sheet's half width


def test_the_demo_picture_shows_more_than_the_studio(demo):
    show = "import sys, bpy; print(*bpy.data.images.load(sys.argv[1]).pixels[:])"
    values = [float(value) for value in python("-c", show, str(demo[0] / "drape_on_sphere.png")).split()]
    red = [r > 2 * g for r, g in zip(values[::4], values[1::4], strict=True)]
    assert 0.05 < sum(red) / len(red) < 0.5


def test_a_picture_moves_as_the_baked_scene_does(demo, tmp_path):
    baked, clip = demo[0] / "drape_on_sphere.blend", tmp_path / "drape.webp"
    small = ("--frames", "3:9", "--step", "3", "--percentage", "5")
    python("-m", "taffeta.sample_blends.render", str(baked), str(clip), *small)
    with Image.open(clip) as moving:
        assert (moving.n_frames, moving.size, moving.info["loop"]) == (3, (48, 27), 0)
        shown = []
        for index in range(moving.n_frames):
            moving.seek(index)
            shown.append(moving.convert("RGB").tobytes())
            assert moving.info["duration"] == 125  # ms, three frames at 24 a second
    assert len(set(shown)) == 3


@pytest.mark.parametrize("name", [name for name in NAMES if name not in STORED or name in SHOWN])
def test_every_other_sample_bakes_without_an_intersection(name, tmp_path):
    source = built(name, tmp_path, SIZES.get(name, VERTICES))
    baked = tmp_path / "baked.blend"
    frames = ("--frames", f"1:{FIRST}") if name in SHOWN + JUDGED else ()
    python("-m", "taffeta", "bake", str(source), "--backend", "cpu", "--save-blend", str(baked), *frames)
    assert "frames are clean" in python("-m", "taffeta", "check", str(baked))

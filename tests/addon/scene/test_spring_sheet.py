# SPDX-License-Identifier: GPL-3.0-or-later
"""The sheet that Blender's springs are, against strips that Blender itself pulls and bends."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.scene import spring_sheet
from taffeta.addon.scene.spring_sheet import SpringSheet, measure
from taffeta.gpu_core.scene.scene import SceneError

EDGE, MASS = 0.05, 0.1  #: m, kg


def grid(make_object, columns: int, rows: int, triangles: bool = False) -> bpy.types.Object:
    vertices = [(i * EDGE, j * EDGE, 0.0) for j in range(rows + 1) for i in range(columns + 1)]
    corners = [j * (columns + 1) + i for j in range(rows) for i in range(columns)]
    faces = [(a, a + 1, a + columns + 2, a + columns + 1) for a in corners]
    if triangles:
        faces = [part for a, b, c, d in faces for part in ((a, b, c), (a, c, d))]
    return make_object("Strip", vertices, faces)


def sheet_of(item: bpy.types.Object) -> SpringSheet:
    points = np.array([vertex.co for vertex in item.data.vertices], np.float64)
    return measure(item.name, item.data, points, 1.0)


def hang(item: bpy.types.Object, held: list[int], gravity: tuple[float, float, float], frames: int, **numbers: float):
    """(N, 3) by how much each vertex has moved when Blender's cloth has come to rest."""
    scene = bpy.context.scene
    scene.gravity, scene.frame_end = gravity, frames
    entry = item.modifiers.new("Cloth", "CLOTH")
    item.vertex_groups.new(name="Held").add(held, 1.0, "REPLACE")
    entry.settings.vertex_group_mass, entry.collision_settings.use_collision = "Held", False
    entry.point_cache.frame_end, entry.settings.mass = frames, MASS
    for name, value in numbers.items():
        setattr(entry.settings, name, value)
    for frame in range(1, frames + 1):
        scene.frame_set(frame)
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return np.array([vertex.co for vertex in evaluated.vertices]) - [vertex.co for vertex in item.data.vertices]


@pytest.mark.parametrize(
    ("tension", "shear", "triangles", "within"),
    [(15, 5, False, 0.01), (15, 0, False, 0.01), (15, 15, False, 0.02), (40, 5, False, 0.01), (15, 5, True, 0.01)],
)
def test_a_strip_that_blender_hangs_stretches_as_the_sheet_would(make_object, tension, shear, triangles, within):
    columns, rows = 20, 6
    item = grid(make_object, columns, rows, triangles)
    sheet, row = sheet_of(item), columns + 1
    damping = dict.fromkeys(("tension_damping", "compression_damping", "shear_damping"), 20.0)
    moved = hang(
        item, [j * row for j in range(rows + 1)], (9.81, 0.0, 0.0), 60, quality=10, **damping,
        tension_stiffness=tension, compression_stiffness=tension, shear_stiffness=shear,
    )  # fmt: skip
    weight = MASS * sheet.vertices / sheet.area * 9.81  # Pa
    measured = weight * (columns * EDGE) ** 2 / 2.0 / moved[rows // 2 * row + columns, 0]
    assert sheet.moduli(tension, shear)[0] == pytest.approx(measured, rel=within)


def test_a_strip_that_blender_bends_sinks_as_the_sheet_would(make_object):
    columns, rows, bending, gravity = 8, 4, 0.5, 4.0e-4
    item = grid(make_object, columns, rows)
    sheet, row = sheet_of(item), columns + 1
    held = [j * row + i for j in range(rows + 1) for i in (0, 1)]
    moved = hang(item, held, (0.0, 0.0, -gravity), 300, quality=10, air_damping=0.25, bending_stiffness=bending)
    weight = MASS * sheet.vertices / sheet.area * gravity
    turns = sum(k**3 for k in range(1, columns))  # it bends at the rows of its vertices, not all along
    sunk = weight * EDGE**4 * turns / (2.0 * sheet.bend * bending)
    assert -moved[rows // 2 * row + columns, 2] == pytest.approx(sunk, rel=0.1)


def test_blenders_frame_is_the_same_time_at_any_frame_rate_and_its_air_takes_force_by_velocity(make_object):
    fallen, sunk = [], []
    for fps in (24, 50):
        bpy.context.scene.render.fps = fps
        numbers = {"tension_stiffness": 1.0}
        fallen.append(hang(grid(make_object, 2, 2), [], (0, 0, -9.81), 11, air_damping=0.0, **numbers)[0, 2])
        bpy.data.objects.remove(bpy.data.objects["Strip"])
        sunk.append(hang(grid(make_object, 2, 2), [], (0, 0, -9.81), 41, air_damping=10.0, **numbers)[0, 2])
        bpy.data.objects.remove(bpy.data.objects["Strip"])
    frames, time = 10, spring_sheet.TIME
    assert fallen == pytest.approx([-9.81 / 2 * (frames * time) ** 2 * 1.02] * 2, rel=5e-3)  # 50 steps
    rate = 0.01 / time * 10.0 / MASS
    assert sunk == pytest.approx([-9.81 / rate * (40 * time - 1 / rate)] * 2, rel=0.02)


def test_a_fine_grid_has_the_stiffness_that_the_closed_form_gives(make_object):
    sheet = sheet_of(grid(make_object, 100, 100))
    tension, shear = 1000 * 15 / EDGE, 1000 * 5 / EDGE
    expected = tension * (tension + 2 * shear) / (tension + shear), shear / 2
    warp, weft, rigidity = sheet.moduli(15, 5)
    assert (warp, rigidity) == pytest.approx(expected, rel=0.01)
    assert warp == pytest.approx(weft)
    assert sheet.bend == pytest.approx(50 * EDGE**2)
    assert sheet.bend_lag == pytest.approx(5 * spring_sheet.TIME)


@pytest.mark.parametrize("triangles", [False, True])
def test_the_springs_of_a_sheet_are_found_again(make_object, triangles):
    sheet = sheet_of(grid(make_object, 5, 4, triangles))
    warp, weft, rigidity = sheet.moduli(12.0, 3.0)
    tension = sheet.tension_of(0.5 * (warp + weft), lambda tension: sheet.shear_of(rigidity, tension))
    assert tension == pytest.approx(12.0, rel=1e-9)
    assert sheet.shear_of(rigidity, tension) == pytest.approx(0.0 if triangles else 3.0, abs=1e-9)


def test_a_mesh_that_is_no_sheet_is_refused_by_name(make_object):
    with pytest.raises(SceneError, match="Thread: it has no face"):
        measure("Thread", make_object("Thread", [(0, 0, 0), (1, 0, 0)], []).data, np.zeros((2, 3)), 1.0)
    flat = make_object("Flat", [(0, 0, 0)] * 3, [(0, 1, 2)])
    with pytest.raises(SceneError, match="no area"):
        measure("Flat", flat.data, np.zeros((3, 3)), 1.0)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Two objects that are sewn to each other: by the nearest vertices of a group, or by numbers."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.cache import drawn
from taffeta.addon.scene.gather import gather, gather_numbers, members
from taffeta.gpu_core.files.job import describe
from taffeta.gpu_core.scene.differences import differences
from taffeta.gpu_core.scene.scene import SceneError

SIDE = 5


@pytest.fixture
def panels(make_object):
    """A front and a back of 20 cm, 6 cm apart and each moved and turned as an object; the groups hold their sides."""
    grid = np.linspace(-0.1, 0.1, SIDE)
    points = np.array([(x, 0.0, z) for z in grid for x in grid])
    faces = [
        (a, a + 1, a + SIDE + 1, a + SIDE) for a in (z * SIDE + x for z in range(SIDE - 1) for x in range(SIDE - 1))
    ]
    made = []
    for name, y in (("Front", -0.03), ("Back", 0.03)):
        item = make_object(name, points, faces if y < 0 else [face[::-1] for face in faces], "CLOTH")
        item.location, item.rotation_euler = (12.0, y, 3.0), (0.0, 0.0, np.pi if y > 0 else 0.0)
        sides = np.flatnonzero(np.abs(points[:, 0]) > 0.0999).tolist()
        item.vertex_groups.new(name="Sides").add(sides, 1.0, "REPLACE")
        made.append(item)
    front, back = made
    front.taffeta.cloth.sew_object, front.taffeta.cloth.sew_group = back, "Sides"
    front.taffeta.cloth.sewing_time = 0.4
    return front, back


def read():
    bpy.context.view_layer.update()
    return gather(bpy.context)


def test_each_vertex_is_sewn_to_the_nearest_of_the_others_group(panels):
    scene = read()
    order = [cloth.name for cloth in scene.cloths]
    first = order.index("Front")
    assert {tuple(row) for row in scene.threads[:, [0, 2]].tolist()} == {(first, 1 - first)}
    # the back is turned half about, so its sides have changed
    mirrored = {(z * SIDE + x, z * SIDE + SIDE - 1 - x) for z in range(SIDE) for x in (0, SIDE - 1)}
    assert {(a, b) for a, b in scene.threads[:, [1, 3]].tolist()} == mirrored


def test_numbers_of_an_attribute_say_what_belongs_together(panels):
    for item, values in ((panels[0], {3: 1, 8: 2, 9: 2}), (panels[1], {20: 2, 21: 5, 22: 1})):
        attribute = item.data.attributes.new("Seam", "INT", "POINT")
        for vertex, value in values.items():
            attribute.data[vertex].value = value
    panels[0].taffeta.cloth.sew_group = "Seam"
    assert {(a, b) for a, b in read().threads[:, [1, 3]].tolist()} == {(3, 22), (8, 20), (9, 20)}


def test_they_become_one_and_blender_draws_no_crossing(scene, panels, tmp_path):
    scene.use_gravity, scene.frame_end, scene.taffeta.backend = False, 16, "CPU"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "two.blend"))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert [frame for frame, crossings in drawn.findings(bpy.context, (1, 16)) if crossings] == []
    scene.frame_set(16)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    places = []
    for item in panels:
        mesh, matrix = item.evaluated_get(depsgraph).data, np.array(item.matrix_world)
        points = np.array([vertex.co for vertex in mesh.vertices])
        places.append(points @ matrix[:3, :3].T + matrix[:3, 3])
    sides = [z * SIDE + x for z in range(SIDE) for x in (0, SIDE - 1)]
    others = [z * SIDE + SIDE - 1 - x for z in range(SIDE) for x in (0, SIDE - 1)]
    gap = np.linalg.norm(places[0][sides] - places[1][others], axis=1)
    assert gap.max() < 1e-5


def test_what_drawing_knows_is_what_reading_has_found(panels):
    held = describe(read())
    asked = gather_numbers(bpy.context.scene, members(bpy.context.scene), ["Front", "Back"], [])
    for entry in held["cloths"]:
        del entry["arrays"]
    del held["threads"]
    order = sorted(asked["cloths"], key=lambda entry: entry["name"])
    assert {**asked, "cloths": order} == {**held, "cloths": sorted(held["cloths"], key=lambda entry: entry["name"])}
    panels[0].taffeta.cloth.sewing_force = 2.0
    (difference,) = differences(
        held, gather_numbers(bpy.context.scene, members(bpy.context.scene), ["Front", "Back"], [])
    )
    assert "sewing force is 2" in difference.text


def test_what_cannot_be_sewn_is_refused_by_name(panels, make_object):
    front, back = panels
    back.taffeta.role = "NONE"
    with pytest.raises(SceneError, match=r"Front.*Back.*not simulated"):
        read()
    back.taffeta.role = "CLOTH"
    back.vertex_groups.clear()
    with pytest.raises(SceneError, match=r"Back.*Sides"):
        read()
    back.vertex_groups.new(name="Sides")
    with pytest.raises(SceneError, match=r"Back.*Sides.*empty"):
        read()
    with pytest.raises(SceneError, match=r"Front.*Back"):
        gather(bpy.context, simulated=[front])

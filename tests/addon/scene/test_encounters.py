# SPDX-License-Identifier: GPL-3.0-or-later
"""Who meets whom, from Blender's objects, collections and groups: read by what they are, not by their names."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from taffeta.addon.scene.assignment import AssignmentError, assign
from taffeta.addon.scene.checks import troubles
from taffeta.addon.scene.gather import gather, gather_numbers, members
from taffeta.addon.scene.mends import mend
from taffeta.gpu_core.files.job import describe
from taffeta.gpu_core.scene.differences import differences
from taffeta.gpu_core.scene.encounters import Encounter
from taffeta.gpu_core.scene.scene import SceneError
from taffeta.tests.addon.conftest import fcurves
from taffeta.tests.gpu_core.small_scene import ball, sheet


@pytest.fixture
def dressed(make_object):
    """Two sheets above two balls."""
    flat, faces = sheet(6, 0.3)
    body, triangles = ball(0.1)
    for k in range(2):
        make_object(f"Sheet {k}", flat + [0, 0, 0.2 + 0.1 * k], faces.tolist(), "CLOTH")
        make_object(f"Ball {k}", body + [k, 0, 0], triangles.tolist(), "COLLIDER")
    bpy.context.scene.frame_end = 4
    return bpy.context.scene


def except_from(first, second, **values):
    entry = bpy.context.scene.taffeta.encounters.add()
    entry.first, entry.second = (bpy.data.objects.get(name) for name in (first, second))
    for name, value in values.items():
        setattr(entry, name, value)
    return entry


def read():
    bpy.context.view_layer.update()
    return gather(bpy.context)


def without_arrays(content):
    for entry in content["cloths"] + content["colliders"]:
        entry.pop("arrays")
    return content


def test_exceptions_are_read_by_the_objects_and_drawn_as_they_are_read(dressed):
    except_from("Sheet 0", "Ball 1")
    except_from("Ball 0", "Sheet 1", collides=True, use_friction=True, friction=0.25)
    except_from("Sheet 1", "Sheet 1", use_frames=True, frame_first=2, frame_last=3)
    bpy.data.objects["Ball 1"].name = "Renamed"
    scene = read()
    assert scene.encounters == (
        Encounter(0, 3, False),
        Encounter(2, 1, True, 0.25),
        Encounter(1, 1, False, since=2, until=3),
    )
    held = without_arrays(describe(scene))
    keys = [entry["key"] for entry in held["cloths"]]
    found = gather_numbers(dressed, members(dressed), keys, [])
    assert found == held
    assert differences(held, found) == []
    dressed.taffeta.encounters[0].collides = True
    (difference,) = differences(held, gather_numbers(dressed, members(dressed), keys, []))
    assert difference.text == "Sheet 0 and Renamed: whether they collide is another"


def test_a_keyed_friction_of_a_pair_is_read_frame_by_frame(dressed):
    entry = except_from("Sheet 0", "Ball 0", collides=True, use_friction=True)
    for frame, value in ((1, 0.5), (3, 0.1)):
        entry.friction = value
        assert dressed.keyframe_insert("taffeta.encounters[0].friction", frame=frame)
    (encounter,) = read().encounters
    assert encounter.friction == 0.5
    assert encounter.keys["friction"][0] == 0.5
    assert encounter.keys["friction"][-1] == pytest.approx(0.1)


def test_what_is_deleted_or_has_no_role_says_nothing_and_the_checks_name_it(dressed):
    except_from("Sheet 0", "Ball 0")
    except_from("Sheet 0", "Ball 1")
    except_from("Ball 0", "Ball 1")
    except_from("Sheet 0", "Sheet 1", use_frames=True, frame_first=5, frame_last=2)
    except_from("Sheet 0", "Sheet 0")
    except_from("Sheet 0", "Sheet 1", collides=True)
    bpy.data.objects.remove(bpy.data.objects["Ball 0"])
    bpy.data.objects["Ball 1"].taffeta.role = "NONE"
    bpy.data.objects["Sheet 0"].taffeta.cloth.self_collision = False
    said = {t.text: t for t in troubles(dressed, members(dressed)) if t.text.startswith("exception")}
    assert list(said) == [
        "exception 1 says nothing: it does not name two objects",
        "exception 2 says nothing: “Ball 1” has no role, so nothing collides with it",
        "exception 3 says nothing: it does not name two objects",
        "exception 4 says nothing: it ends at frame 2, before it begins at 5",
        "exception 5 says nothing: Self Collision of “Sheet 0” is off in any case",
        "exception 6 says nothing: “Sheet 0” and “Sheet 1” collide in any case",
    ]
    with pytest.raises(SceneError, match="Sheet 0: its exception with Sheet 1 ends at frame 2"):
        read()
    mend(dressed, dressed.name, "ENCOUNTERS")
    assert not dressed.taffeta.encounters
    assert read().encounters == ()


def test_a_collection_says_which_bodies_a_cloth_meets(dressed):
    collection, below = (bpy.data.collections.new(name) for name in ("Met", "Below"))
    collection.children.link(below)
    chosen = bpy.data.objects["Sheet 0"].taffeta.cloth
    chosen.collision_collection = collection
    assert read().cloths[0].meets == ()
    assert any(t.mend == "COLLECTION" for t in troubles(dressed, members(dressed)))
    below.objects.link(bpy.data.objects["Ball 1"])
    scene = read()
    assert scene.cloths[0].meets == (1,)
    assert scene.cloths[1].meets is None
    assert not any(t.mend == "COLLECTION" for t in troubles(dressed, members(dressed)))
    held = without_arrays(describe(scene))
    keys = [entry["key"] for entry in held["cloths"]]
    assert gather_numbers(dressed, members(dressed), keys, []) == held
    below.objects.link(bpy.data.objects["Ball 0"])
    (difference,) = differences(held, gather_numbers(dressed, members(dressed), keys, []))
    assert difference.text == "Sheet 0: it collides with other bodies"


def test_an_instanced_character_is_one_object_for_exceptions_and_collections(dressed):
    library = bpy.data.collections.new("Character")
    for k in range(2):
        item = bpy.data.objects[f"Ball {k}"]
        library.objects.link(item)
        dressed.collection.objects.unlink(item)
    bpy.ops.object.collection_instance_add(collection="Character")
    empty = bpy.context.object
    empty.name = "Instance"
    except_from("Sheet 0", "Instance")
    scene = read()
    assert [(e.first, e.second) for e in scene.encounters] == [(0, 2), (0, 3)]
    met = bpy.data.collections.new("Met")
    bpy.data.objects["Sheet 1"].taffeta.cloth.collision_collection = met
    assert read().cloths[1].meets == ()
    met.objects.link(empty)
    assert read().cloths[1].meets == (0, 1)


def test_groups_and_attributes_leave_vertices_out(dressed):
    item = bpy.data.objects["Sheet 0"]
    item.vertex_groups.new(name="Collar").add([0, 3], 0.5, "REPLACE")
    item.vertex_groups["Collar"].add([5], 0.4, "REPLACE")
    attribute = item.data.attributes.new("Tail", "FLOAT", "POINT")
    attribute.data[7].value = 1.0
    item.taffeta.cloth.left_out_of_bodies_group, item.taffeta.cloth.left_out_of_itself_group = "Collar", "Tail"
    first, second = read().cloths
    assert np.flatnonzero(first.left_out_of_bodies).tolist() == [0, 3]
    assert np.flatnonzero(first.left_out_of_itself).tolist() == [7]
    assert second.left_out_of_bodies is None
    item.taffeta.cloth.left_out_of_bodies_group = "Gone"
    assert any(t.mend == "LEFT_OUT" for t in troubles(dressed, members(dressed)))
    with pytest.raises(SceneError, match="no vertex group or attribute “Gone” for its “Ignores Bodies”"):
        read()
    mend(dressed, "Sheet 0", "LEFT_OUT")
    assert item.taffeta.cloth.left_out_of_bodies_group == ""
    assert item.taffeta.cloth.left_out_of_itself_group == "Tail"


def test_a_layer_is_read_and_a_change_of_it_makes_the_cache_stale(dressed):
    bpy.data.objects["Sheet 1"].taffeta.cloth.layer = 3
    scene = read()
    assert [cloth.layer for cloth in scene.cloths] == [0, 3]
    held = without_arrays(describe(scene))
    bpy.data.objects["Sheet 1"].taffeta.cloth.layer = 0
    keys = [entry["key"] for entry in held["cloths"]]
    (difference,) = differences(held, gather_numbers(dressed, members(dressed), keys, []))
    assert difference.text == "Sheet 1: layer is 0, was 3"


def test_exceptions_can_be_set_from_text(dressed):
    assert assign(dressed, "scene.encounters[0]", "first", "Sheet 0") == "Sheet 0"
    assert assign(dressed, "scene.taffeta.encounters[0]", "second", "Ball 0") == "Ball 0"
    assert assign(dressed, "scene.encounters[0]", "frame_last", "3") == 3
    assert assign(dressed, "scene.encounters[0]", "use_frames", "on") is True
    assert len(dressed.taffeta.encounters) == 1
    with pytest.raises(AssignmentError, match=r"no encounters\[2\]. The next one is encounters\[1\]"):
        assign(dressed, "scene.encounters[2]", "friction", "1")
    assert assign(dressed, "Sheet 0", "layer", "2") == 2


def test_buttons_add_the_selected_pair_and_remove_an_exception_with_its_keys(dressed):
    body, cloth = bpy.data.objects["Ball 1"], bpy.data.objects["Sheet 1"]
    for item in dressed.objects:
        item.select_set(item in (body, cloth))
    bpy.context.view_layer.objects.active = body
    assert bpy.ops.taffeta.encounter_add() == {"FINISHED"}
    assert bpy.ops.taffeta.encounter_add() == {"FINISHED"}
    entries = dressed.taffeta.encounters
    assert [(entry.first, entry.second) for entry in entries] == [(cloth, body)] * 2
    assert (entries[0].frame_first, entries[0].frame_last) == (dressed.frame_start, dressed.frame_end)
    for index in range(2):
        dressed.keyframe_insert(f"taffeta.encounters[{index}].friction", frame=index + 1)
    assert bpy.ops.taffeta.encounter_remove(index=0) == {"FINISHED"}
    assert len(entries) == 1
    (curve,) = fcurves(dressed)
    assert curve.data_path == "taffeta.encounters[0].friction"
    assert curve.keyframe_points[0].co.x == 2
    with pytest.raises(RuntimeError, match="there are 1 exceptions"):
        bpy.ops.taffeta.encounter_remove(index=5)

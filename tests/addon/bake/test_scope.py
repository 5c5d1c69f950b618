# SPDX-License-Identifier: GPL-3.0-or-later
"""All, selected or stale cloths, from the start or the current frame; and what each cloth's cache is worth."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from taffeta.addon.bake import kept, session
from taffeta.addon.bake.state import Happening
from taffeta.addon.cache import place, status
from taffeta.addon.interface import bake_operators, handlers
from taffeta.addon.scene import modifier
from taffeta.gpu_core.files import cache
from taffeta.gpu_core.files.cache import CacheState
from taffeta.gpu_core.files.program import program
from taffeta.tests.addon.baking import LONG, begin, end, folder, frames, played, until_frame


def item(name: str = "Cloth") -> bpy.types.Object:
    return bpy.data.objects[name]


def state(name: str = "Cloth") -> tuple[CacheState, str]:
    return status.of(bpy.context.scene, item(name))


@pytest.fixture
def two(saved_scene, make_cloth):
    """The sheet and another one 20 cm above it."""
    make_cloth("Upper").location.z = 0.2
    for cloth in (item(), item("Upper")):
        cloth.select_set(False)
    saved_scene.frame_end = 8
    return saved_scene


def select(*names: str) -> None:
    for cloth in bpy.context.scene.objects:
        cloth.select_set(cloth.name in names)


# Selected


def test_a_selected_cloth_bakes_alone_and_the_other_one_keeps_its_bytes(two):
    bpy.ops.taffeta.bake()
    whole = folder(two)
    before = cache.frames_path(whole, "Cloth").read_bytes()
    select("Upper")
    assert not kept.would_replace(two, cloths=[item("Upper")])
    assert bpy.ops.taffeta.bake(scope="SELECTED") == {"FINISHED"}
    assert kept.would_replace(two, cloths=[item("Upper")]).startswith("8 frames of Upper are lost")
    assert place.played(item("Upper")) == whole / "parts" / "Upper"
    assert place.played(item()) == whole
    assert cache.frames_path(whole, "Cloth").read_bytes() == before
    np.testing.assert_array_equal(played(item("Upper"), 8), frames(whole / "parts" / "Upper", "Upper")[7])


def test_the_others_are_bodies_where_they_are_baked(two):
    """The lower sheet lies still on its pins: the upper one must come to rest above it, not fall through."""
    lower = item()
    group = lower.vertex_groups.new(name="Pins")
    group.add(range(len(lower.data.vertices)), 1.0, "REPLACE")
    lower.taffeta.cloth.pin_group = "Pins"
    two.frame_end = 14
    select("Cloth")
    bpy.ops.taffeta.bake(scope="SELECTED")
    select("Upper")
    bpy.ops.taffeta.bake(scope="SELECTED")
    heights = played(item("Upper"), 14)[:, 2] + 0.2
    assert heights.min() > 0  # it would have fallen 1.4 m


def test_others_that_are_not_baked_take_no_part(two):
    select("Upper")
    bpy.ops.taffeta.bake(scope="SELECTED")
    assert played(item("Upper"), 8)[:, 2].max() + 0.2 < 0  # through where the other one still lies
    assert modifier.find(item()) is None


def test_a_baked_garment_that_becomes_a_body_keeps_its_frames(two):
    """Layer by layer: the first garment is baked, and the next one falls onto it."""
    select("Cloth")
    item("Upper").taffeta.role = "NONE"
    bpy.ops.taffeta.bake()
    whole = folder(two)
    before, shown = cache.frames_path(whole, "Cloth").read_bytes(), played(item(), 8)
    item().taffeta.role, item("Upper").taffeta.role = "COLLIDER", "CLOTH"
    assert not kept.would_replace(two)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert place.played(item("Upper")) == whole / "parts" / "Upper" == folder(two)
    assert cache.frames_path(whole, "Cloth").read_bytes() == before
    np.testing.assert_array_equal(played(item(), 8), shown)
    assert state("Upper") == (CacheState.READY, "8 frames")
    lost = cache.frames_path(whole, "Cloth").rename(whole / "lost.pc2")
    with pytest.raises(RuntimeError, match=r"Cloth\.pc2 that moves it is missing"):
        bpy.ops.taffeta.bake()
    lost.rename(cache.frames_path(whole, "Cloth"))
    assert bpy.ops.taffeta.free() == {"FINISHED"}
    assert modifier.find(item()) is None
    assert modifier.find(item("Upper")) is None
    assert not list(whole.rglob("*.pc2"))


def test_resume_goes_on_with_the_cloth_that_was_selected(two):
    """Of several bakes first with that which another collided with. What was baked since takes no part."""
    select("Upper")
    bpy.ops.taffeta.bake(scope="SELECTED")
    select("Cloth")
    bpy.ops.taffeta.bake(scope="SELECTED")
    parts = folder(two) / "parts"
    before = np.array(frames(parts / "Upper", "Upper"))
    two.frame_end = 10
    for name in ("Upper", "Cloth"):
        assert status.left(two) == item(name)
        assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
        assert place.played(item(name)) == parts / name
        assert state(name) == (CacheState.READY, "10 frames")
    assert status.left(two) is None
    np.testing.assert_array_equal(frames(parts / "Upper", "Upper")[:8], before)
    with pytest.raises(RuntimeError, match="complete"):
        bpy.ops.taffeta.bake(resume=True)
    bpy.ops.taffeta.check()
    assert state() == state("Upper") == (CacheState.READY, "10 frames")


def test_a_cancelled_bake_of_one_cloth_goes_on_though_no_modifier_plays_it(two):
    select("Upper")
    two.frame_end = LONG
    bake = until_frame(begin(session.Order(cloths=[item("Upper")])), 2)
    bake.handle(Happening.CANCEL)
    end(bake)
    item("Upper").modifiers.clear()
    two.frame_end = 8
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert place.played(item("Upper")) == folder(two) / "parts" / "Upper"
    assert state("Upper")[0] is CacheState.READY
    assert modifier.find(item()) is None


def test_resume_goes_on_without_a_cloth_that_is_new(saved_scene, make_cloth):
    bpy.ops.taffeta.bake()
    make_cloth("New").location.z = 0.3
    saved_scene.frame_end = 6
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert place.played(item()) == folder(saved_scene)
    assert state() == (CacheState.READY, "6 frames")
    assert state("New")[0] is CacheState.MISSING


def test_without_a_selection_it_says_so(two):
    with pytest.raises(RuntimeError, match="No cloth is selected"):
        bpy.ops.taffeta.bake(scope="SELECTED")


# Stale


def test_a_number_that_changed_makes_the_cloth_stale_at_once_and_names_it(saved_scene):
    bpy.ops.taffeta.bake()
    assert state() == (CacheState.READY, "4 frames")
    item().taffeta.cloth.density = 0.5
    saved_scene.taffeta.tolerance = 0.1
    item("Floor").taffeta.collider.friction = 0.7
    assert state() == (
        CacheState.STALE,
        "Scene: tolerance is 0.1, was 0.2; Cloth: density is 0.5, was 0.12; Floor: friction is 0.7, was 0.4",
    )
    item().taffeta.cloth.density = 0.12
    saved_scene.taffeta.tolerance = 0.2
    item("Floor").taffeta.collider.friction = 0.4
    assert state()[0] is CacheState.READY


def test_the_device_does_not_make_it_stale(saved_scene):
    bpy.ops.taffeta.bake()
    saved_scene.taffeta.backend = "AUTO"
    assert state()[0] is CacheState.READY


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda: setattr(item("Floor").location, "x", 0.1), "Floor: its mesh or its motion has changed"),
        (lambda: setattr(item().data.vertices[3].co, "z", 0.01), "Cloth: its mesh or its place at the first frame"),
        (lambda: item("Floor").keyframe_insert("location", frame=1) and None, ""),
    ],
)
def test_a_mesh_or_motion_that_changed_is_found_by_the_check(saved_scene, change, reason):
    bpy.ops.taffeta.bake()
    change()
    bpy.ops.taffeta.check()
    found, why = state()
    assert (found is CacheState.STALE) == bool(reason)
    assert reason in why


def test_only_what_is_stale_is_baked(two):
    for name in ("Cloth", "Upper"):
        select(name)
        bpy.ops.taffeta.bake(scope="SELECTED")
    lower, upper = (cache.frames_path(folder(two) / "parts" / key, key) for key in ("Cloth", "Upper"))
    stamp = lower.stat().st_mtime_ns
    before = upper.read_bytes()
    item("Upper").taffeta.cloth.density = 0.5
    assert bpy.ops.taffeta.bake(scope="STALE") == {"FINISHED"}
    assert lower.stat().st_mtime_ns == stamp
    assert upper.read_bytes() != before


def test_what_is_stale_is_known_before_anybody_is_asked_what_may_be_lost(two):
    bpy.ops.taffeta.bake()
    clicked = SimpleNamespace(scope="STALE")
    scoped = bake_operators.TAFFETA_OT_bake._scoped
    assert scoped(clicked, bpy.context) == []  # nothing is lost
    item("Upper").data.vertices[0].co.z += 0.05
    assert item("Upper") in scoped(clicked, bpy.context)


def test_a_bake_that_ends_with_the_add_on_is_known_when_that_is_back(saved_scene):
    """Unticked and ticked again in the preferences: the panel went on to say what it had known before."""
    bpy.ops.taffeta.bake()
    assert status.of(saved_scene, item("Cloth"))[0] is CacheState.READY
    saved_scene.frame_end = LONG
    until_frame(begin(), 2)
    handlers.unregister()
    handlers.register()
    found, reason = status.of(saved_scene, item("Cloth"))
    assert found is CacheState.PARTIAL, reason
    assert status.left(saved_scene) == item("Cloth")


def test_where_nothing_is_stale_nothing_is_baked(saved_scene):
    bpy.ops.taffeta.bake()
    with pytest.raises(RuntimeError, match="Nothing is stale"):
        bpy.ops.taffeta.bake(scope="STALE")


# From the current frame


def test_from_the_current_frame_the_frames_before_stay(saved_scene):
    saved_scene.frame_end = 8
    bpy.ops.taffeta.bake()
    before = np.array(frames(folder(saved_scene)))
    saved_scene.frame_set(4)
    item().taffeta.cloth.air_drag = 3.0
    assert bpy.ops.taffeta.bake(from_current=True) == {"FINISHED"}
    after = frames(folder(saved_scene))
    np.testing.assert_array_equal(after[:4], before[:4])
    assert (after[4:] != before[4:]).any()
    assert state() == (CacheState.READY, "8 frames, the first 4 of an earlier bake")


def test_with_time_stretching_the_frame_that_is_shown_is_gone_on_from(saved_scene):
    saved_scene.render.frame_map_new, saved_scene.frame_end = 200, 16
    bpy.ops.taffeta.bake()
    saved_scene.frame_set(6)  # the third frame of the animation
    item().taffeta.cloth.air_drag = 3.0
    assert bpy.ops.taffeta.bake(from_current=True) == {"FINISHED"}
    assert state() == (CacheState.READY, "8 frames, the first 3 of an earlier bake")


@pytest.mark.parametrize("frame", [9, 8, 0])
def test_a_frame_that_cannot_be_gone_on_from_is_refused(saved_scene, frame):
    saved_scene.frame_end = 8
    bpy.ops.taffeta.bake()
    before = cache.frames_path(folder(saved_scene), "Cloth").read_bytes()
    saved_scene.frame_set(frame)
    with pytest.raises(RuntimeError, match=f"frames 1 to 7, not from {frame}"):
        bpy.ops.taffeta.bake(from_current=True)
    assert cache.frames_path(folder(saved_scene), "Cloth").read_bytes() == before


def test_without_a_cache_there_is_nothing_to_go_on_from(saved_scene):
    with pytest.raises(RuntimeError, match="nothing to go on from"):
        bpy.ops.taffeta.bake(from_current=True)


def test_from_the_current_frame_a_new_cloth_is_refused_by_name(saved_scene, make_cloth):
    bpy.ops.taffeta.bake()
    before = cache.frames_path(folder(saved_scene), "Cloth").read_bytes()
    make_cloth("New").location.z = 0.3
    saved_scene.frame_set(3)
    with pytest.raises(RuntimeError, match=r"New: there is nothing to go on from: .*Bake Selected .TAF-B014"):
        bpy.ops.taffeta.bake(from_current=True)
    assert cache.frames_path(folder(saved_scene), "Cloth").read_bytes() == before


# States


def test_a_cloth_that_was_never_baked_is_missing(saved_scene):
    assert state()[0] is CacheState.MISSING


def test_a_scene_that_is_returned_to_still_knows_its_bake(saved_scene):
    bpy.ops.taffeta.bake()
    ready = state()
    bpy.ops.taffeta.add_sample(name="drape_on_sphere", vertices=400)
    bpy.ops.wm.save_mainfile()
    assert bpy.context.scene != saved_scene
    bpy.context.window.scene = saved_scene
    select("Cloth")
    assert state() == ready
    assert "are lost" in kept.would_replace(saved_scene)
    assert bpy.ops.taffeta.to_shape_keys.poll()


def test_a_cloth_that_comes_into_sight_after_its_bake_is_looked_at(saved_scene):
    bpy.ops.taffeta.bake()
    ready = state()
    item().taffeta.role = "NONE"
    status.look(saved_scene)
    item().taffeta.role = "CLOTH"
    assert state() == ready


def test_a_bake_that_was_cancelled_is_partial(saved_scene):
    saved_scene.frame_end = LONG
    bake = until_frame(begin(), 2)
    bake.handle(Happening.CANCEL)
    end(bake)
    assert state()[0] is CacheState.PARTIAL


def test_a_damaged_byte_is_found_by_the_check_and_named(saved_scene):
    bpy.ops.taffeta.bake()
    path = cache.frames_path(folder(saved_scene), "Cloth")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    bpy.ops.taffeta.check()
    found, reason = state()
    assert found is CacheState.CORRUPT
    assert "Cloth.pc2 is damaged at frame 4" in reason


def test_a_cloth_that_is_baked_again_by_itself_makes_the_bake_of_both_no_other_scenes(two):
    """That of both is still of this scene; a number of either counts for it, as it does without a check."""
    bpy.ops.taffeta.bake()
    select("Upper")
    bpy.ops.taffeta.bake(scope="SELECTED")
    assert state() == (CacheState.READY, "8 frames")
    bpy.ops.taffeta.check()
    assert state() == (CacheState.READY, "8 frames")
    assert state("Upper") == (CacheState.READY, "8 frames")
    item("Upper").data.vertices[3].co.z += 0.01
    bpy.ops.taffeta.check()
    for name in ("Cloth", "Upper"):
        assert state(name)[0] is CacheState.STALE
        assert state(name)[1].startswith("Upper: its mesh or its place at the first frame has changed")


def test_the_bake_of_another_solver_is_stale(saved_scene, monkeypatch):
    bpy.ops.taffeta.bake()
    monkeypatch.setattr(status, "program", lambda: "another")
    status.look(saved_scene)
    assert state() == (CacheState.STALE, "Another version of Taffeta's solver baked it")
    assert program() != "another"


def test_the_state_survives_reopening(saved_scene):
    bpy.ops.taffeta.bake()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    assert state() == (CacheState.READY, "4 frames")
    item().taffeta.cloth.shear = 7.0
    assert state() == (CacheState.STALE, "Cloth: shear is 7, was 80")


def test_every_frame_has_its_certificate(saved_scene):
    bpy.ops.taffeta.bake()
    certificates = status.held(bpy.context.scene, item()).certificates
    assert [(entry.frame, entry.intersections) for entry in certificates] == [(1, 0), (2, 0), (3, 0), (4, 0)]


def test_free_takes_the_parts_with_it(two):
    bpy.ops.taffeta.bake()
    whole = folder(two)
    for name in ("Cloth", "Upper"):
        select(name)
        bpy.ops.taffeta.bake(scope="SELECTED")
    bpy.ops.taffeta.free()
    assert {path.name for path in whole.rglob("*") if path.is_file()} == {"lock", "taffeta.txt"}
    assert [modifier.find(cloth) for cloth in (item(), item("Upper"))] == [None, None]

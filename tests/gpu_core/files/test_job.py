# SPDX-License-Identifier: GPL-3.0-or-later
"""The job folder: what goes in comes out, and nothing damaged, foreign or half-written is taken for a job."""

from __future__ import annotations

import json
import pickle
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from taffeta.gpu_core.files.disk import DiskError
from taffeta.gpu_core.files.job import JobError, digest, load, save
from taffeta.gpu_core.scene.encounters import Encounter
from taffeta.gpu_core.scene.pins import PinGroup
from taffeta.gpu_core.scene.scene import Cloth, Collider, Material, Pins, Scene, SceneError, Settings
from taffeta.tests.gpu_core.small_scene import full_scene, painted, small_scene


def equal(a, b) -> bool:
    if is_dataclass(a):
        return type(a) is type(b) and all(equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, tuple) and not isinstance(a, str):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


@pytest.fixture
def folder(tmp_path) -> Path:
    save(full_scene(), tmp_path / "job")
    return tmp_path / "job"


def test_a_loaded_scene_equals_the_saved_one(folder):
    assert equal(load(folder), full_scene())


def test_optional_fields_that_are_absent_stay_absent(tmp_path):
    save(small_scene(), tmp_path)
    (cloth,) = load(tmp_path).cloths
    assert cloth.pins is None
    assert cloth.velocities is None
    assert cloth.warp is None


def test_collider_animation_is_memory_mapped_float32(folder):
    for collider in load(folder).colliders:
        assert isinstance(collider.positions, np.memmap)
        assert collider.positions.dtype == np.float32


def test_saving_over_a_job_replaces_it_even_when_it_is_the_one_in_use(folder):
    scene = load(folder)
    save(replace(scene, colliders=scene.colliders[:1]), folder)
    assert equal(load(folder), replace(full_scene(), colliders=full_scene().colliders[:1]))


def test_the_digest_survives_saving_and_loading(folder):
    assert digest(full_scene()) == digest(folder) == digest(load(folder))


def test_the_digest_does_not_depend_on_number_types_names_or_the_backend():
    scene = small_scene()
    (cloth,), (collider,) = scene.cloths, scene.colliders
    other = Scene(
        (replace(cloth, name="Other", triangles=cloth.triangles.astype(np.int64)),),
        (replace(collider, name="Else", positions=collider.positions.astype(np.float64)),),
        replace(scene.settings, backend="cuda", fps=np.float32(24), frame_start=np.int64(11), gravity=(0, 0, -9.81)),
    )
    assert digest(other) == digest(scene)


PINS = PinGroup("Pins", Pins(np.array([0]), np.zeros((1, 1, 3))))
KEYS = np.array([1.0, 2.0])
CHANGES = {
    "a vertex": lambda s: replace(s, cloths=(replace(s.cloths[0], positions=s.cloths[0].positions + 1e-12),)),
    "the rest shape": lambda s: replace(s, cloths=(replace(s.cloths[0], rest_positions=s.cloths[0].positions * 2),)),
    "a triangle": lambda s: replace(s, cloths=(replace(s.cloths[0], triangles=s.cloths[0].triangles[::-1]),)),
    "the object's matrix": lambda s: replace(s, cloths=(replace(s.cloths[0], world_to_object=None),)),
    "the cache key": lambda s: replace(s, cloths=(replace(s.cloths[0], key="other"),)),
    "the fabric": lambda s: replace(s, cloths=(replace(s.cloths[0], material=Material(bend=6e-6)),)),
    "the thickness": lambda s: replace(s, cloths=(replace(s.cloths[0], thickness=2e-3),)),
    "velocities": lambda s: replace(s, cloths=(replace(s.cloths[0], velocities=0 * s.cloths[0].positions),)),
    "pins": lambda s: replace(s, cloths=(replace(s.cloths[0], pins=Pins(np.array([0]), np.zeros((1, 1, 3)))),)),
    "more pins": lambda s: replace(s, cloths=(replace(s.cloths[0], pin_groups=(PINS,)),)),
    "the collider": lambda s: replace(s, colliders=(replace(s.colliders[0], positions=s.colliders[0].positions * 2),)),
    "collider friction": lambda s: replace(s, colliders=(replace(s.colliders[0], friction=0.1),)),
    "no collider": lambda s: replace(s, colliders=()),
    "the step rate": lambda s: replace(s, settings=replace(s.settings, step_rate=240.0)),
    "gravity": lambda s: replace(s, settings=replace(s.settings, gravity=(0.0, 0.0, -1.6))),
    "paint": lambda s: replace(s, cloths=(painted(s.cloths[0], "bend"),)),
    "what paint goes to": lambda s: replace(s, cloths=(painted(s.cloths[0], "bend", factor=3.0),)),
    "keys of a cloth": lambda s: replace(s, cloths=(replace(s.cloths[0], keys={"bend": KEYS}),)),
    "keys of a collider": lambda s: replace(s, colliders=(replace(s.colliders[0], keys={"friction": KEYS}),)),
    "keys of the scene": lambda s: replace(s, keys={"time_scale": KEYS}),
    "the time scale": lambda s: replace(s, settings=replace(s.settings, time_scale=0.5)),
    "the layer": lambda s: replace(s, cloths=(replace(s.cloths[0], layer=2), *s.cloths[1:])),
    "which bodies it meets": lambda s: replace(s, cloths=(replace(s.cloths[0], meets=()), *s.cloths[1:])),
    "what bodies do not stop": lambda s: replace(
        s, cloths=(replace(s.cloths[0], left_out_of_bodies=s.cloths[0].positions[:, 0] > 0), *s.cloths[1:])
    ),
    "what passes itself": lambda s: replace(
        s, cloths=(replace(s.cloths[0], left_out_of_itself=s.cloths[0].positions[:, 0] > 0), *s.cloths[1:])
    ),
    "an exception": lambda s: replace(s, encounters=(Encounter(0, 1, False),)),
    "the friction of a pair": lambda s: replace(s, encounters=(Encounter(0, 1, friction=0.1),)),
    "self-collision": lambda s: replace(s, cloths=(replace(s.cloths[0], self_collision=False), *s.cloths[1:])),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_the_digest_changes_with(change):
    assert digest(change(small_scene())) != digest(small_scene())


def test_every_truncated_file_is_refused_by_name(folder):
    for path in sorted(folder.iterdir()):
        whole = path.read_bytes()
        for length in {*range(0, len(whole), max(1, len(whole) // 40)), len(whole) - 1}:
            path.write_bytes(whole[:length])
            with pytest.raises(JobError) as caught:
                load(folder)
            assert path.name in str(caught.value)
        path.write_bytes(whole)
    load(folder)


def test_a_flipped_bit_is_refused_or_changes_nothing_that_is_simulated(folder):
    random = np.random.default_rng(0)
    expected = digest(folder)
    refused = 0
    for path in sorted(folder.iterdir()):
        whole = path.read_bytes()
        for position in random.integers(0, len(whole), 60):
            damaged = bytearray(whole)
            damaged[position] ^= 1 << random.integers(8)
            path.write_bytes(damaged)
            try:
                assert digest(load(folder)) == expected
            except (JobError, SceneError):
                refused += 1
        path.write_bytes(whole)
    assert refused > 150


def test_a_missing_file_is_named(folder):
    for path in sorted(folder.iterdir()):
        text = path.read_bytes()
        path.unlink()
        with pytest.raises(JobError, match="There is no job" if path.name == "job.json" else f"{path.name} is missing"):
            load(folder)
        path.write_bytes(text)


def test_pickled_arrays_are_refused_and_never_run(folder, tmp_path):
    marker = tmp_path / "ran"

    class Bomb:
        def __reduce__(self):
            return marker.touch, ()

    bomb = np.empty(1, object)
    bomb[0] = Bomb()
    np.save(folder / "collider_000_positions.npy", bomb, allow_pickle=True)
    with pytest.raises(JobError, match=r"collider_000_positions\.npy is damaged"):
        load(folder)
    (folder / "cloth_000.npz").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(JobError, match=r"cloth_000\.npz is damaged"):
        load(folder)
    assert not marker.exists()


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("[]", "is damaged"),
        ("{}", "is damaged"),
        ('{"format": "something else", "version": 1}', "is not a Taffeta job"),
        ('{"format": "taffeta job", "version": 5}', "has format 5, this Taffeta reads up to 4. Update Taffeta"),
        ('{"format": "taffeta job", "version": 1}', "is damaged"),
    ],
)
def test_foreign_and_newer_headers_are_refused(folder, header, message):
    (folder / "job.json").write_text(header)
    with pytest.raises(JobError, match=message):
        load(folder)


def test_files_of_two_jobs_are_not_mixed(folder, tmp_path):
    save(small_scene(3, 5), tmp_path / "other")
    (folder / "cloth_000.npz").write_bytes((tmp_path / "other" / "cloth_000.npz").read_bytes())
    with pytest.raises(JobError, match="do not belong together"):
        load(folder)


def test_values_of_the_wrong_type_are_refused(folder):
    header = json.loads((folder / "job.json").read_text())
    header["settings"]["fps"] = "fast"
    (folder / "job.json").write_text(json.dumps(header))
    with pytest.raises(JobError, match=r"job\.json is damaged"):
        load(folder)


def test_a_save_that_fails_leaves_no_job_behind(folder):
    (folder / "collider_000_triangles.npy.new").mkdir()  # in the way of the new file
    with pytest.raises(DiskError, match="collider_000_triangles"):
        save(full_scene(), folder)
    with pytest.raises(JobError, match="There is no job"):
        load(folder)


def test_a_folder_that_cannot_be_made_is_a_disk_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DiskError, match="Choose a folder"):
        save(small_scene(), tmp_path / "file" / "job")


def test_a_bad_scene_is_refused_before_anything_is_written(tmp_path):
    scene = small_scene()
    bad = replace(scene.cloths[0], positions=scene.cloths[0].positions * np.nan)
    with pytest.raises(SceneError, match="Sheet"):
        save(replace(scene, cloths=(bad,)), tmp_path / "job")
    assert not (tmp_path / "job").exists()


def test_every_field_of_the_scene_is_stored():
    """A field added to the scene must be added to the job as well: these are the ones it knows."""
    assert {f.name for f in fields(Cloth)} == {
        "name", "triangles", "rest_positions", "positions", "material", "velocities", "warp", "pins", "thickness",
        "world_to_object", "key", "self_collision", "painted", "keys", "seams", "sewing_time", "sewing_force",
        "cords", "cord_stiffness", "cord_density", "cord_shrink", "pin_strength", "pin_groups", "rest_corners",
        "field_weights", "fields", "shape", "seam_stiffness", "sewn", "folds", "fold_angle", "meets", "layer", "party",
        "left_out_of_bodies", "left_out_of_itself",
    }  # fmt: skip
    assert {f.name for f in fields(Scene)} == {
        "cloths", "colliders", "settings", "keys", "fields", "threads", "encounters",
    }  # fmt: skip
    assert {f.name for f in fields(Encounter)} == {
        "first", "second", "collides", "friction", "since", "until", "keys",
    }  # fmt: skip
    assert {f.name for f in fields(Collider)} == {
        "name", "triangles", "positions", "friction", "thickness", "keys", "drawn", "whole",
    }  # fmt: skip
    assert {f.name for f in fields(Pins)} == {"vertices", "targets", "weights"}
    assert {f.name for f in fields(PinGroup)} == {"name", "pins", "strength", "keys"}
    assert all(f.default is not None for kind in (Settings, Material) for f in fields(kind))


def test_a_job_of_format_3_opens_and_keeps_its_digest(tmp_path):
    """Its header as that format had it: nothing of it is older than what a scene without paint and keys has now."""
    save(small_scene(3, 4), tmp_path)
    header = json.loads((tmp_path / "job.json").read_text())
    known = {"frame_start", "frame_end", "fps", "step_rate", "gravity", "strict_start", "tolerance", "solver", "preset"}
    header["version"], settings = 3, header["settings"]
    header["settings"] = {name: value for name, value in settings.items() if name in known | {"backend"}}
    header["digest"] = "f8fa3c7ecc17ceeb354622f721198140dd0f3419ee9b222c060817b025b91884"
    (tmp_path / "job.json").write_text(json.dumps(header))
    assert equal(load(tmp_path), small_scene(3, 4))


@pytest.mark.parametrize(("strict", "resolve", "policy"), [(True, False, "refuse"), (False, True, "resolve")])
def test_a_job_that_says_of_its_start_what_older_versions_did_opens_with_the_policy(tmp_path, strict, resolve, policy):
    scene = small_scene(3, 4)
    scene = replace(scene, settings=replace(scene.settings, start=policy))
    save(scene, tmp_path)
    header = json.loads((tmp_path / "job.json").read_text())
    del header["settings"]["start"]
    header["settings"] |= {"strict_start": strict, "resolve_start": resolve}
    (tmp_path / "job.json").write_text(json.dumps(header))
    assert equal(load(tmp_path), scene)
    header["settings"]["strict_start"] = "yes"
    (tmp_path / "job.json").write_text(json.dumps(header))
    with pytest.raises(JobError, match="damaged"):
        load(tmp_path)


def test_a_policy_that_nothing_has_is_a_damaged_job(tmp_path):
    save(small_scene(3, 4), tmp_path)
    header = json.loads((tmp_path / "job.json").read_text())
    header["settings"]["start"] = "perhaps"
    (tmp_path / "job.json").write_text(json.dumps(header))
    with pytest.raises(JobError, match="damaged"):
        load(tmp_path)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a cache is stale, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taffeta.gpu_core.files.job import describe
from taffeta.gpu_core.scene.differences import differences
from taffeta.gpu_core.scene.fabrics import COTTON, named
from taffeta.tests.gpu_core.small_scene import full_scene


def texts(held, asked):
    return [difference.text for difference in differences(describe(held), describe(asked))]


def other_settings(scene):
    return replace(scene, settings=replace(scene.settings, tolerance=0.1, backend="cuda"))


def other_density(scene):
    first, second = scene.cloths
    return replace(scene, cloths=(replace(first, material=replace(first.material, density=0.5)), second))


def other_shape(scene):
    first, second = scene.cloths
    return replace(scene, cloths=(first, replace(second, rest_positions=1.1 * second.rest_positions)))


def without_pins(scene):
    first, second = scene.cloths
    return replace(scene, cloths=(first, replace(second, pins=None)))


def renamed(scene):
    first, second = scene.cloths
    return replace(scene, cloths=(replace(first, name="Other"), second))


def moved_collider(scene):
    still, moving = scene.colliders
    return replace(scene, colliders=(still, replace(moving, positions=moving.positions + 1)))


def another_collider(scene):
    still, moving = scene.colliders
    return replace(scene, colliders=(still, replace(moving, name="Table", positions=moving.positions + 0.5)))


def renamed_collider(scene):
    still, moving = scene.colliders
    return replace(scene, colliders=(still, replace(moving, name="Table")))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda scene: scene, []),
        (renamed, []),
        (other_settings, ["Scene: tolerance is 0.1, was 0.2"]),
        (other_density, ["Sheet: density is 0.5, was 0.12"]),
        (other_shape, ["Çurtain / left: its mesh or its place at the first frame has changed"]),
        (moved_collider, ["Moving: its mesh or its motion has changed"]),
        (another_collider, ["Moving is no longer a collider", "Table is a new collider"]),
        (renamed_collider, []),
    ],
)
def test_a_change_is_named_by_object_and_property(change, expected):
    scene = full_scene()
    assert texts(scene, change(scene)) == expected


def test_another_fabric_is_named_and_its_numbers_are_not():
    scene = full_scene()
    sheet, second = scene.cloths

    def of(material, thickness=COTTON.contact_thickness):
        return replace(scene, cloths=(replace(sheet, material=material, thickness=thickness), second))

    cotton, silk, felt = of(COTTON.material), named("silk").material, named("felt")
    assert texts(cotton, of(silk)) == ["Sheet: fabric is Silk, was Cotton"]
    assert texts(cotton, of(felt.material, felt.contact_thickness)) == [
        "Sheet: fabric is Felt, was Cotton",
        "Sheet: thickness is 0.002, was 0.001",
    ]
    airy = of(replace(silk, air_drag=0.5))
    assert texts(cotton, airy) == ["Sheet: fabric is Silk, was Cotton", "Sheet: air drag is 0.5, was 1"]
    older = describe(cotton)
    for entry in older["cloths"]:
        del entry["material"]["bend_friction"]  # a version that knew of no yarns
    assert "Sheet: density is 0.083, was 0.12" in [text for text, _ in differences(older, describe(of(silk)))]
    own = texts(cotton, of(replace(silk, bend=1.0)))
    assert "Sheet: bend is 1, was 5e-06" in own
    assert not [text for text in own if "fabric" in text]


def test_pins_that_are_gone_are_named():
    scene = full_scene()
    found = texts(scene, without_pins(scene))
    assert found
    assert all(text.startswith("Çurtain / left: ") and "pin" in text for text in found)


def test_a_cache_of_an_older_version_says_nothing_of_later_numbers():
    held, asked = describe(full_scene()), describe(full_scene())
    del held["settings"]["time_scale"], held["keys"]["time_scale"], asked["keys"]["time_scale"]
    assert differences(held, asked) == []


def test_paint_is_named_by_its_number():
    scene = full_scene()
    first, second = scene.cloths
    paint = dict(second.painted)
    bend = paint.pop("bend")
    keys = {name: values for name, values in second.keys.items() if name != "bend_max"}
    without = replace(scene, cloths=(first, replace(second, painted=paint, keys=keys)))
    assert texts(scene, without) == [
        "Çurtain / left: bend max is another from frame 11 on",
        "Çurtain / left: where its bend is painted has changed",
    ]
    other = {**second.painted, "shear": replace(second.painted["shear"], maximum=7.0)}
    assert texts(scene, replace(scene, cloths=(first, replace(second, painted=other)))) == [
        "Çurtain / left: shear max is 7, was 160"
    ]
    assert bend.maximum > 0


def test_numbers_alone_can_be_compared():
    scene = full_scene()
    numbers = describe(other_density(scene))
    for entry in numbers["cloths"] + numbers["colliders"]:
        del entry["arrays"]
    found = differences(describe(other_shape(scene)), numbers)
    assert [difference.text for difference in found] == ["Sheet: density is 0.5, was 0.12"]

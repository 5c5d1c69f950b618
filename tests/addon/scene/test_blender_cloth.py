# SPDX-License-Identifier: GPL-3.0-or-later
"""The table between Blender's cloth and ours misses nothing, and says the same as the manual."""

from __future__ import annotations

import re
from pathlib import Path

import bpy

from taffeta.addon.scene import blender_modifier
from taffeta.addon.scene.blender_cloth import (
    BELOW,
    LEFT_OF_SURFACE,
    LEFT_THERE,
    ONLY_HERE,
    RULES,
    SURFACES,
    TIME_SCALE,
    UNSEEN,
)
from taffeta.addon.scene.painted import PAINTED
from taffeta.addon.scene.properties import ClothProperties

MANUAL = Path(__file__).resolve().parents[3] / "docs" / "manual" / "from_blender.md"
CARRIED = {name for rule in RULES for name in rule.there} | {TIME_SCALE}
HIDDEN, GROUPS = {"cache_key", "weld_seams"}, {f"{name}_group" for name in PAINTED}


def rows() -> dict[str, str]:
    """What the manual says of each of Blender's names: the last cell of its row."""
    page = MANUAL.read_text(encoding="utf-8")
    cells = [line.strip("|").split("|") for line in page.splitlines() if line.count("|") == 4]
    return {name: row[2].strip() for row in cells for name in re.findall(r"`(\w+)`", row[1])}


def blenders(make_cloth) -> bpy.types.Modifier:
    return make_cloth().modifiers.new("Cloth", "CLOTH")


def test_every_number_of_blenders_cloth_is_carried_or_named(make_cloth):
    present = set(blender_modifier.read(blenders(make_cloth)))
    assert present == CARRIED | set(LEFT_THERE) | set(BELOW) | UNSEEN
    assert not UNSEEN & (CARRIED | set(LEFT_THERE) | set(BELOW))
    assert set(BELOW.values()) <= set(LEFT_THERE)


def test_every_number_of_ours_is_carried_or_named(addon):
    own = {entry.identifier for entry in blender_modifier.numbers(ClothProperties)}
    carried = {name for rule in RULES for name in rule.here}
    most = {name.removesuffix("_group") + "_max" for name in ONLY_HERE if name in GROUPS}
    assert own - HIDDEN == carried | set(ONLY_HERE) | most
    assert not carried & set(ONLY_HERE)


def test_the_manual_says_of_each_whether_it_is_carried():
    said = rows()
    every = (*CARRIED, *LEFT_THERE, *BELOW)
    names = {path.rpartition(".")[2]: path for path in every if "effector_weights" not in path}
    assert names.keys() <= said.keys()
    for name, path in names.items():
        assert ("**" in said[name]) == (path in CARRIED), name
    for there, here, _ in SURFACES:
        assert f"**{here.title()}**" in said[there]
    assert all("**" not in said[name] for name in LEFT_OF_SURFACE)


def test_what_is_named_when_nothing_was_changed_is_nothing(make_cloth):
    values = blender_modifier.read(blenders(make_cloth))
    assert [path for path, left in LEFT_THERE.items() if not left.silent(values)] == []

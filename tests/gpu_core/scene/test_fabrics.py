# SPDX-License-Identifier: GPL-3.0-or-later
"""The preset table against what real cloth can be (ranges of the fabric study, section 3)."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from taffeta.gpu_core.scene.fabrics import COTTON, FABRICS, named
from taffeta.gpu_core.scene.scene import Cloth, Material

ROOT = Path(__file__).resolve().parents[3]
GRAVITY = 9.81
KNITS = {"JERSEY_KNIT", "RIB_KNIT"}
ISOTROPIC = {"LEATHER", "LATEX", "FELT"}

each_fabric = pytest.mark.parametrize("fabric", FABRICS, ids=lambda fabric: fabric.identifier)


def test_identifiers_are_unique_and_fit_for_blender():
    identifiers = [fabric.identifier for fabric in FABRICS]
    assert len(set(identifiers)) == len(identifiers) == 17
    assert all(identifier.isupper() and identifier.isidentifier() for identifier in identifiers)


def test_the_default_material_is_cotton_whose_yarns_do_not_rub():
    assert asdict(replace(COTTON.material, bend_friction=0.0)) == pytest.approx(asdict(Material()))
    assert COTTON.contact_thickness == Cloth.thickness


def test_the_manual_has_the_numbers_of_every_fabric():
    text = (ROOT / "docs/manual/fabrics.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:4] == "| **"]
    assert [row[0].strip("*") for row in rows] == [fabric.name for fabric in FABRICS]
    for fabric, (_, *numbers, source) in zip(FABRICS, rows, strict=True):
        told = [float(number) for number in "/".join(numbers).replace("none", "0").split("/")]
        assert told == pytest.approx([
            fabric.density * 1e3, fabric.thickness * 1e3, *fabric.stretch, fabric.shear, fabric.material.bend * 1e6,
            fabric.bend_friction * 1e3, fabric.friction, fabric.strain_limit * 100,
        ], rel=1e-3)  # fmt: skip
        assert source == fabric.source
    assert (ROOT / "docs/pictures/manual/fabrics.webp").is_file()


def test_a_fabric_is_found_by_its_name():
    assert named("jersey knit").identifier == "JERSEY_KNIT"
    with pytest.raises(KeyError):
        named("tweed")


@each_fabric
def test_it_is_a_valid_material(fabric):
    fabric.material.validate(fabric.name)
    assert fabric.source


@each_fabric
def test_numbers_lie_where_cloth_was_measured(fabric):
    assert 0.02 <= fabric.density <= 0.6
    assert all(30 <= stretch <= 60000 for stretch in fabric.stretch)
    assert 5 <= fabric.shear <= 3000
    assert all(3e-7 <= bend <= 2e-4 for bend in fabric.bend)
    assert 0.1 <= fabric.friction <= 1.3
    assert 0.1 <= fabric.skin_friction <= 1.3


@each_fabric
def test_it_overhangs_like_cloth(fabric):
    bending_length = (fabric.material.bend / (fabric.density * GRAVITY)) ** (1 / 3)
    assert 0.008 <= bending_length <= 0.04


@each_fabric
def test_shear_is_soft_in_wovens_and_not_in_knits(fabric):
    ratio = fabric.shear / fabric.stretch.warp
    if fabric.identifier in KNITS:
        assert 0.3 <= ratio <= 1
    elif fabric.identifier not in ISOTROPIC:
        assert 0.002 <= ratio <= 0.2


@each_fabric
def test_isotropic_sheets_have_no_direction(fabric):
    if fabric.identifier in ISOTROPIC:
        assert fabric.stretch.warp == fabric.stretch.weft
        assert fabric.bend.warp == fabric.bend.weft


def test_what_stretches_far_keeps_its_measured_stiffness():
    softened = {fabric.identifier for fabric in FABRICS if fabric.material.softening < 1}
    assert softened.isdisjoint(KNITS | {"LATEX", "TULLE"})
    assert "COTTON" in softened

# SPDX-License-Identifier: GPL-3.0-or-later
"""Fast versions of benchmarks/physics that hold; the benchmark has the rest, and by how much it does not hold."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.benchmarks.physics import damping, drape, energy, fall, friction, rest, shapes, stick_slip, symmetry, table
from taffeta.benchmarks.physics.result import DEFAULT, TIGHT, Result
from taffeta.gpu_core.scene.fabrics import COTTON
from taffeta.gpu_core.scene.mesh import unique_edges


def assert_all_hold(results):
    found = list(results)
    assert any(result.holds is not None for result in found)
    failed = [f"{r.quantity}: {r.measured:.4g}, not {r.reference:.4g}" for r in found if r.holds is False]
    assert not failed, failed


def test_a_sheet_falls_as_backward_euler_says_to_float32():
    assert_all_hold(fall.free_fall(DEFAULT))


def test_a_loose_part_falls_freely_while_the_rest_of_its_cloth_is_squeezed():
    drop, contacts = fall.beside_contact(DEFAULT)
    assert drop.holds, drop
    assert contacts.measured > 100


def test_the_far_half_of_a_strip_that_is_squeezed_at_one_end_falls_with_g():
    assert_all_hold(fall.far_end(DEFAULT))


def test_colliders_without_room_are_named_and_their_late_steps_counted():
    found = {result.quantity: result for result in fall.squeezed(DEFAULT)}
    assert found["squeezed to nothing: colliders named, of 2"].holds
    assert found["squeezed to nothing: late steps reported"].measured > 0


def test_a_floors_edge_pushes_nothing_aside():
    """Both of its triangles held a vertex within 1e-4 of their size of the edge, one with a normal that leant over."""
    assert_all_hold(friction.smooth(DEFAULT))


@pytest.mark.parametrize(
    ("mu", "floor"),
    [(0.1, "two triangles"), (0.3, "two triangles"), (0.5, "two triangles"), (0.8, "two triangles"),
     (0.3, "coarse floor"), (0.8, "fine floor"), (0.8, "cloth")],
)  # fmt: skip
def test_a_sheet_slides_above_the_friction_angle_and_not_below(mu, floor):
    assert not friction.slides(mu, 0.98 * mu, floor, DEFAULT)
    assert friction.slides(mu, 1.02 * mu, floor, DEFAULT)


def test_a_sheet_slides_as_fast_as_coulomb_says():
    assert_all_hold(friction.sliding(DEFAULT, ("fine floor", "cloth")))


def test_a_sheet_below_the_friction_angle_does_not_creep():
    assert_all_hold(friction.creep(DEFAULT, ("coarse floor", "cloth")))


def test_a_strip_on_a_belt_sticks_and_slips_where_it_should():
    assert_all_hold(friction.belt(DEFAULT))


def test_a_strip_over_a_cylinder_holds_as_much_as_euler_says():
    assert_all_hold(stick_slip.capstan(DEFAULT, (0.3,)))


def test_a_patch_on_springs_sticks_to_a_belt_slips_back_and_swings_as_coulomb_says():
    assert_all_hold(stick_slip.spring_block(DEFAULT))


@pytest.mark.nightly("half a minute on a slow machine; a patch on springs sticks and slips by day")
def test_a_pushed_strip_slips_when_the_elastica_asks_for_more_than_friction():
    assert_all_hold(stick_slip.pushed_strip(DEFAULT, (0.2,)))


def test_a_card_house_stands_by_friction_alone():
    assert_all_hold(friction.card_house(DEFAULT))


def test_a_thrown_sheet_stops_where_coulomb_says():
    assert_all_hold(friction.stop(DEFAULT))


def test_a_rigid_pendulum_takes_the_places_of_backward_euler():
    assert_all_hold(damping.pendulum(DEFAULT))


def test_a_membrane_loses_what_backward_euler_loses_and_no_more():
    assert_all_hold(damping.membrane_mode(DEFAULT))


def test_half_the_step_is_half_the_error():
    assert_all_hold(damping.order(DEFAULT))


def test_a_jerk_that_the_step_does_not_resolve_comes_out_as_backward_euler_has_it():
    found = damping.order_of_a_jerk(DEFAULT, (96.0, 192.0, 384.0))
    assert_all_hold(result for result in found if "exact BE" in result.quantity)  # order 1 it has not


def test_a_shaken_sheet_gains_no_energy_and_its_centre_flies_as_thrown():
    assert_all_hold(energy.free_run(DEFAULT, seconds=0.25))


def test_sheets_that_collide_keep_their_momentum():
    assert_all_hold(energy.collision(DEFAULT))


def test_the_body_of_a_symmetric_scene_is_its_own_mirror_image():
    body = symmetry.block()
    points = body.positions[0]
    twin = [int(np.flatnonzero(np.abs(points - point * [-1, 1, 1]).max(axis=1) < 1e-6)[0]) for point in points]
    edges = {frozenset(edge) for edge in unique_edges(body.triangles).tolist()}
    assert {frozenset(twin[end] for end in edge) for edge in edges} == edges


def test_a_symmetric_drape_stays_symmetric():
    assert_all_hold(symmetry.mirror(DEFAULT))


def test_a_symmetric_drape_stays_symmetric_even_in_unstable_balance_where_a_step_is_solved_to_its_end():
    assert_all_hold(symmetry.mirror_of_folds(TIGHT))


def test_the_numbering_of_the_vertices_does_not_matter():
    assert_all_hold(symmetry.numbering(DEFAULT))


def test_the_numbering_does_not_matter_for_folds_either_where_a_step_is_solved_to_its_end():
    assert_all_hold(symmetry.numbering_of_folds(TIGHT))


@pytest.mark.parametrize(
    ("scene", "seconds", "limit"), [(rest.flat, 6.0, 0.1), (rest.drape, 12.0, 0.1), (rest.pile, 6.0, 1.0)]
)
def test_what_has_settled_rests(scene, seconds, limit):
    speed = next(result for result in scene(DEFAULT, seconds) if "rms speed after" in result.quantity)
    assert speed.bound == limit
    assert speed.holds, speed


def test_the_shadow_of_a_flat_disc_is_its_area():
    assert drape.shadow(*drape.disc(400)) == pytest.approx(np.pi * drape.SPECIMEN**2, rel=0.02)


@pytest.mark.nightly("half a minute on a slow machine; the physics suite counts folds on more discs")
def test_a_disc_lowered_on_a_plate_falls_into_as_many_folds_as_real_ones_and_specimens_agree():
    mesh = drape.disc(1000)
    discs = [drape.settled(COTTON.material, mesh, drape.specimen(mesh, seed, 1.0), on_plate=True) for seed in (0, 1)]
    assert all(drape.FOLDS[0] <= disc.folds <= drape.FOLDS[1] for disc in discs)
    assert all(disc.speed < drape.STILL for disc in discs)
    assert abs(discs[0].coefficient - discs[1].coefficient) < 3.0


def test_a_drape_carried_to_a_finer_mesh_throws_the_same_shadow():
    coarse, fine = drape.disc(400), drape.disc(1000)
    hanging = coarse[0] * [0.8, 0.7, 1.0] - (coarse[0] ** 2).sum(axis=1)[:, None] * [0.0, 0.0, 3.0]
    carried = drape.carried(drape.Drape(coarse, hanging, 0.0, 0.0), fine)
    assert drape.shadow(carried, fine[1]) == pytest.approx(drape.shadow(hanging, coarse[1]), rel=0.02)
    assert carried[:, 2] == pytest.approx(-3.0 * (fine[0] ** 2).sum(axis=1), abs=1e-3)


def test_a_specimen_is_uneven_in_the_same_way_on_every_mesh():
    height = [np.ptp(drape.specimen(drape.disc(count), 1, 1.0)[:, 2]) for count in (400, 2000)]
    assert height[0] == pytest.approx(height[1], rel=0.02)


def test_a_result_that_is_not_a_number_never_holds():
    assert Result("", float("nan"), 0.0, 1.0).holds is False
    assert Result("", 1.0, 0.0, None).holds is None
    assert Result("", 1.02, 1.0, 0.01, relative=True).holds is False


def test_a_mirrored_mesh_is_its_own_mirror_image_to_the_last_digit():
    points, triangles = shapes.square(5, 0.4, diagonals="mirrored")
    twin = (points * [-1, 1, 1])[:, None] == points[None]
    mirror = twin.all(axis=2).argmax(axis=1)
    assert {frozenset(t) for t in triangles.tolist()} == {frozenset(mirror[t].tolist()) for t in triangles}


def test_what_subspace_reuse_misses_is_a_row_of_its_table_and_what_it_holds_is_counted():
    """Rows that Newton's default has not been judged by, and reports without a bound, are in neither."""
    row = {"scenario": "fall.drop", "quantity": "drop", "measured": 1.0, "reference": 1.0, "bound": 0.1, "unit": "m"}
    row |= {"relative": False, "holds": True}
    rows = [
        row | {"solve": "default"}, row | {"solve": "subspace"},
        row | {"solve": "default", "quantity": "slide"},
        row | {"solve": "subspace", "quantity": "slide", "measured": 2.0, "holds": False},
        row | {"solve": "default", "quantity": "speed", "bound": None, "holds": None},
        row | {"solve": "subspace", "quantity": "speed", "bound": None, "holds": None},
        row | {"solve": "subspace", "quantity": "alone", "holds": False},
    ]  # fmt: skip
    said = table.misses({"processor": "a CPU", "rows": rows})
    assert "Of 2 judged rows of the themes fall 1 are within their bound with *Subspace Reuse*, 2 with Newton" in said
    assert said.splitlines()[-1] == "| slide, m | 2 | 1 | 1 | 0.1 | FAILS | holds |"
    assert "missed" not in table.misses({"processor": "a CPU", "rows": rows[:2]})

"""Fast versions of benchmarks/physics that hold; the benchmark has the rest, and by how much it does not hold."""

from __future__ import annotations

import pytest

from taffeta.benchmarks.physics import damping, energy, fall, friction, shapes
from taffeta.benchmarks.physics.result import DEFAULT, Result, Solve
from taffeta.gpu_core.solvers.parameters import NdbParameters

#: So far that backward Euler's own numbers come out: the formulation is tested, not the iteration.
EXACT = Solve("exact", 1e-5, NdbParameters(inner_iterations=3000))

FINE = Solve("fine", 1e-4, NdbParameters(inner_iterations=300))


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


def test_bodies_without_room_are_named_and_their_late_steps_counted():
    found = {result.quantity: result for result in fall.squeezed(DEFAULT)}
    assert found["squeezed to nothing: bodies named, of 2"].holds
    assert found["squeezed to nothing: late steps reported"].measured > 0


@pytest.mark.parametrize("mu", [0.3, 0.5, 0.8])
def test_a_sheet_slides_above_the_friction_angle_and_not_below(mu):
    assert not friction.slides(mu, 0.98 * mu, "two triangles", DEFAULT)
    assert friction.slides(mu, 1.02 * mu, "two triangles", DEFAULT)


def test_a_thrown_sheet_stops_where_coulomb_says():
    assert_all_hold(friction.stop(DEFAULT))


def test_cards_without_friction_do_not_stand():
    motion = friction.cards(0.05, DEFAULT)
    heights = motion.positions[:, :, 2].max(axis=1)
    assert heights[-1] < 0.5 * heights[0]


def test_a_rigid_pendulum_takes_the_places_of_backward_euler():
    assert_all_hold(damping.pendulum(EXACT))


def test_a_membrane_loses_what_backward_euler_loses_and_no_more():
    fine = [result for result in damping.membrane_mode(EXACT) if "1/60" not in result.quantity]
    assert len(fine) == 4
    assert_all_hold(fine)


def test_a_shaken_sheet_gains_no_energy():
    held = [result for result in energy.free_run(FINE, seconds=0.25) if "energy" in result.quantity]
    assert len(held) == 2
    assert_all_hold(held)


def test_a_result_that_is_not_a_number_never_holds():
    assert Result("", float("nan"), 0.0, 1.0).holds is False
    assert Result("", 1.0, 0.0, None).holds is None
    assert Result("", 1.02, 1.0, 0.01, relative=True).holds is False


def test_a_mirrored_mesh_is_its_own_mirror_image_to_the_last_digit():
    points, triangles = shapes.square(5, 0.4, diagonals="mirrored")
    twin = (points * [-1, 1, 1])[:, None] == points[None]
    mirror = twin.all(axis=2).argmax(axis=1)
    assert {frozenset(t) for t in triangles.tolist()} == {frozenset(mirror[t].tolist()) for t in triangles}

"""Pressure and enclosed gas: forces, the gas law, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku import Gas, InputError
from bunraku.contracts import State
from bunraku.energies import EnclosedGas, Pressure, pressure_curve
from bunraku.geometry import TriMesh, chambers, vertex_areas
from bunraku.motion import Curve
from bunraku.scenes import box_mesh
from bunraku.testing import icosphere

BALL = icosphere(2, 0.2)


def _state(x: np.ndarray) -> State:
    return State(0.0, x.reshape(-1).copy(), np.zeros(x.size))


def test_the_force_is_pressure_times_area_outwards() -> None:
    """On a box: on each side the pressure times its area; on a ball along the radius. Whatever the winding."""
    box = box_mesh()
    for mesh in (box, TriMesh(box.rest, box.faces[:, ::-1])):
        force = -Pressure(chambers(mesh), Curve.of(40.0), 8).at(_state(box.rest), 0.1).gradient(box.rest)
        sides = np.ptp(box.rest, axis=0)
        top = box.rest[:, 1] > box.rest[:, 1].mean()
        assert force[top, 1].sum() == pytest.approx(40.0 * sides[0] * sides[2], rel=1e-12)
        assert force.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    pull = -Pressure(chambers(BALL), Curve.of(1.0), BALL.point_count).at(_state(BALL.rest), 0.1).gradient(BALL.rest)
    outwards = np.einsum("ni,ni->n", pull, BALL.rest) / 0.2
    assert (outwards > 0.9 * vertex_areas(BALL.rest, BALL.faces)).all()


def test_pressure_is_read_at_the_end_of_the_step() -> None:
    source = Pressure(chambers(BALL), Curve.of([[0, 0.0], [1, 100.0]]), BALL.point_count)
    assert source.at(_state(BALL.rest), 0.25).pressure == pytest.approx(25.0)


@pytest.mark.parametrize("squeeze", [1.7, 1.01, 0.8, 0.1])
def test_pressure_times_volume_stays(squeeze: float) -> None:
    """The pressure that the forces show, force over area vector, times the volume by another formula is constant."""
    room = chambers(BALL)
    source = EnclosedGas(room, Gas(800.0), room.volumes(BALL.rest), BALL.point_count)
    x = BALL.rest * [1.0, squeeze, 1.0]
    force = -source.at(_state(x), 0.01).gradient(x)
    area = -Pressure(room, Curve.of(1.0), BALL.point_count).at(_state(x), 0.01).gradient(x)
    shown = np.sum(force * area) / np.sum(area * area)
    assert force == pytest.approx(shown * area, abs=1e-9 * np.abs(force).max())
    a, b, c = (BALL.rest[BALL.faces[:, k]] for k in range(3))
    volume = np.linalg.det(np.stack([a, b, c], axis=1)).sum() / 6.0  # cones from the origin
    assert (shown + 101_325.0) * volume * squeeze == pytest.approx((800.0 + 101_325.0) * volume, rel=1e-12)
    assert source.overpressures(x, 0.0) == pytest.approx([shown], rel=1e-9)


def test_two_balloons_do_not_share_their_gas() -> None:
    """One is squeezed, the other keeps its pressure."""
    two = TriMesh(
        np.concatenate([BALL.rest, BALL.rest + 1.0]), np.concatenate([BALL.faces, BALL.faces + BALL.point_count])
    )
    room = chambers(two)
    source = EnclosedGas(room, Gas(100.0), room.volumes(two.rest), two.point_count)
    x = two.rest.copy()
    x[: BALL.point_count, 1] *= 0.5
    first, second = source.overpressures(x, 0.0)
    assert first == pytest.approx(2 * 101_425.0 - 101_325.0, rel=1e-12)
    assert second == pytest.approx(100.0, rel=1e-9)


def test_the_amount_is_keyed() -> None:
    room = chambers(BALL)
    source = EnclosedGas(room, Gas(0.0, [[0, 1.0], [1, 1.5]]), room.volumes(BALL.rest), BALL.point_count)
    assert source.overpressures(BALL.rest, 1.0) == pytest.approx([0.5 * 101_325.0], rel=1e-12)
    empty = EnclosedGas(room, Gas(0.0, 0.0), room.volumes(BALL.rest), BALL.point_count)
    assert empty.overpressures(BALL.rest, 0.0) == pytest.approx([-101_325.0], rel=1e-12)
    for block in empty.at(_state(BALL.rest), 0.1).blocks(BALL.rest, True):
        assert np.isfinite(block).all()


def test_a_gas_pressed_through_zero_volume_stays_finite_and_pushes_back() -> None:
    room = chambers(BALL)
    source = EnclosedGas(room, Gas(), room.volumes(BALL.rest), BALL.point_count)
    inverted = BALL.rest * [1.0, -1.0, 1.0]
    energy = source.at(_state(BALL.rest), 0.01)
    assert room.volumes(inverted)[0] < 0
    assert np.isfinite(energy.value(inverted)) and energy.value(inverted) > energy.value(0.2 * BALL.rest) > 0
    assert source.overpressures(inverted, 0.0)[0] > 101_325.0


def test_a_chamber_without_gas_stays_empty_and_not_inside_out() -> None:
    """At −1/1000 of its volume the walls that touch hold the ambient pressure off."""
    room = chambers(BALL)
    source = EnclosedGas(room, Gas(0.0, 0.0), room.volumes(BALL.rest), BALL.point_count)
    assert source.overpressures(BALL.rest * [1.0, -1e-3, 1.0], 0.0)[0] == pytest.approx(101_325.0, rel=1e-9)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"pressure": np.nan}, "gas.pressure is out of range"),
        ({"pressure": 1e12}, "gas.pressure is out of range"),
        ({"pressure": "much"}, "gas.pressure is out of range"),
        ({"pressure": -2e5}, "gas.pressure leaves no gas"),
        ({"ambient": -1.0}, "gas.ambient is out of range"),
        ({"amount": -0.5}, "gas.amount is out of range"),
        ({"amount": [[0, 1], [1, -2]]}, "gas.amount is out of range"),
        ({"amount": "all"}, "gas.amount: not a number"),
    ],
)
def test_gases_that_are_none(given: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Gas(**given)


@pytest.mark.parametrize("value", [np.nan, 1e10, "high", [[0, 1], [0, 2]], [[0, -1e12]]])
def test_pressures_that_are_none(value: object) -> None:
    with pytest.raises(InputError, match="pressure"):
        pressure_curve(value)  # type: ignore[arg-type]


def test_a_shell_that_starts_inside_out_has_no_room() -> None:
    room = chambers(BALL)
    with pytest.raises(InputError, match="starts turned inside out"):
        EnclosedGas(room, Gas(), room.volumes(-BALL.rest), BALL.point_count)

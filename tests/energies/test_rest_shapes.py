"""Rest shapes apart from the mesh: no stress where they fit, no jump between them, blind to where they lie."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.contracts import InputError, State
from bunraku.energies import Bending, Membrane, StrainLimit
from bunraku.geometry import TriMesh, crinkle
from bunraku.materials import MaterialBlend, ShellMaterial
from bunraku.motion import RestShapes
from bunraku.testing import check_energy, sheet, shell_probes
from bunraku.testing.differences import random_rotation

SOURCES = {
    "stretching": Membrane,
    "plate": lambda mesh, blend, rest: Bending(mesh, blend, rest=rest),
    "hinge": lambda mesh, blend, rest: Bending(mesh, blend, plate=False, rest=rest),
}


def crumpled(mesh: TriMesh, seed: int, size: float = 0.02) -> np.ndarray:
    return mesh.rest + size * np.random.default_rng(seed).uniform(-1, 1, mesh.rest.shape)


@pytest.mark.parametrize("name", SOURCES)
def test_a_shape_with_all_the_weight_is_free_of_stress(name: str, cloth: TriMesh, damped: MaterialBlend) -> None:
    """Both ends of a blend, and its derivatives; the shape may lie anywhere."""
    first, second = crumpled(cloth, 1), crumpled(cloth, 2)
    turned = second @ random_rotation(np.random.default_rng(0)).T + 3.0
    source = SOURCES[name](cloth, damped, RestShapes.between(first, turned, [[0.0, 0.0], [1.0, 1.0]]))
    for time, rest in ((0.0, first), (1.0, second)):
        check_energy(source.elastic(time), shell_probes(cloth), rest=rest)
    assert source.elastic(0.0).value(second) > 1e3 * source.elastic(1.0).value(second)


@pytest.mark.parametrize("name", SOURCES)
def test_derivatives_between_two_shapes(name: str, cloth: TriMesh, damped: MaterialBlend) -> None:
    """Gently crumpled: the probes' folds near ±π then stay away from where the branch of an angle ends."""
    first, second = (crumpled(cloth, seed, 0.005) for seed in (1, 2))
    source = SOURCES[name](cloth, damped, RestShapes.between(first, second, 0.4))
    check_energy(source.elastic(0.0), shell_probes(cloth))
    x = crumpled(cloth, 3, 0.005)
    check_energy(source.at(State(0.0, x.reshape(-1), np.zeros(x.size)), 0.01), shell_probes(cloth))


@pytest.mark.parametrize("name", SOURCES)
def test_where_shapes_lie_does_not_matter(name: str, cloth: TriMesh, damped: MaterialBlend) -> None:
    first, second = crumpled(cloth, 1), crumpled(cloth, 2)
    turned = second @ random_rotation(np.random.default_rng(4)).T - 2.0
    x = crumpled(cloth, 3)
    values = [SOURCES[name](cloth, damped, RestShapes.between(first, b, 0.5)).elastic(0.0) for b in (second, turned)]
    assert values[1].value(x) == pytest.approx(values[0].value(x), rel=1e-9)
    assert values[0].value(x) > 0


@pytest.mark.parametrize("name", SOURCES)
def test_the_mesh_itself_as_a_rest_shape_changes_nothing(name: str, cloth: TriMesh, damped: MaterialBlend) -> None:
    x = crumpled(cloth, 3)
    own, given = (SOURCES[name](cloth, damped, rest) for rest in (None, RestShapes([cloth.rest], [1.0])))
    assert given.elastic(0.0).value(x) == pytest.approx(own.elastic(0.0).value(x), rel=1e-11)


@pytest.mark.parametrize("name", SOURCES)
def test_a_smooth_key_makes_a_smooth_force(name: str, cloth: TriMesh, damped: MaterialBlend) -> None:
    """The force at held points follows the key: its largest change in a small time falls as the time squared at a
    key, where the curve is flat, and as the time elsewhere.
    """
    rest = RestShapes.between(crumpled(cloth, 1), crumpled(cloth, 2), [[0.0, 0.0], [1.0, 1.0, "smooth"]])
    source, x = SOURCES[name](cloth, damped, rest), crumpled(cloth, 3)

    def change(time: float, by: float) -> float:
        return float(np.abs(source.elastic(time + by).gradient(x) - source.elastic(time).gradient(x)).max())

    for time in (0.0, 1.0):
        by = 1e-2 if time == 0.0 else -1e-2
        assert change(time, by) / change(time, by / 2) == pytest.approx(4.0, rel=0.05)
    assert change(0.5, 1e-2) / change(0.5, 5e-3) == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize("name", SOURCES)
def test_a_change_of_rest_is_no_rate_of_strain(name: str, cloth: TriMesh, damped: MaterialBlend) -> None:
    """At the start of a step over which the rest shape jumps, the damped force is the elastic force of the new one."""
    rest = RestShapes.between(crumpled(cloth, 1), crumpled(cloth, 2), [[0.0, 0.0], [0.01, 1.0]])
    source, x = SOURCES[name](cloth, damped, rest), crumpled(cloth, 3)
    state = State(0.0, x.reshape(-1), np.zeros(x.size))
    elastic = source.elastic(0.01).gradient(x)
    assert source.at(state, 0.01).gradient(x) == pytest.approx(elastic, abs=1e-9 * np.abs(elastic).max())
    assert not np.allclose(source.elastic(0.0).gradient(x), elastic, rtol=1e-3)


def test_set_is_kept_when_the_rest_shape_changes(cloth: TriMesh) -> None:
    """θ̄ = θ̄(t) + what has set."""
    blend = MaterialBlend.uniform(ShellMaterial(young=1e6, thickness=5e-3, yield_curvature=0.5), len(cloth.faces))
    rest = RestShapes.between(cloth.rest, crumpled(cloth, 2), [[0.0, 0.0], [1.0, 1.0]])
    bending = Bending(cloth, blend, rest=rest)
    x = crumpled(cloth, 3)
    memory = bending.remember(State(0.0, x.reshape(-1), np.zeros(x.size)))
    for time in (0.0, 1.0):
        moved = bending.elastic(time, memory).rest_angles - bending.elastic(time).rest_angles
        assert moved == pytest.approx(memory["bending.plastic_angles"], abs=1e-14)
        assert np.abs(moved).max() > 0.1


def test_lengths_blend_in_their_squares_and_angles_linearly(cloth: TriMesh) -> None:
    """A length of 1 and one of 2 make √2.5; angles of 0 and θ make θ/2."""
    bent = crumpled(cloth, 1)
    blend = MaterialBlend.uniform(ShellMaterial(young=1e6), len(cloth.faces))
    own, end, half = (
        Bending(cloth, blend, rest=RestShapes.between(cloth.rest, 2 * bent, amount)).elastic(0.0)
        for amount in (0.0, 1.0, 0.5)
    )
    assert half.lengths == pytest.approx(np.sqrt(0.5 * own.lengths**2 + 0.5 * end.lengths**2), rel=1e-12)
    assert half.rest_angles == pytest.approx(0.5 * end.rest_angles, abs=1e-12)
    assert np.abs(end.rest_angles).max() > 0.1


def test_weights_are_normalised_and_may_be_keyed() -> None:
    shapes = [sheet(1, 1).rest] * 3
    found = RestShapes(shapes, [2.0, [[0.0, 0.0], [1.0, 6.0]], 2.0])
    assert found.at(0.0) == pytest.approx([0.5, 0.0, 0.5])
    assert found.at(1.0) == pytest.approx([0.2, 0.6, 0.2])
    assert not found.constant and RestShapes(shapes, [1.0, 2.0, 3.0]).constant


@pytest.mark.parametrize(
    ("shapes", "weights", "what"),
    [
        ([np.zeros((4, 3))], [1.0, 1.0], "one weight each"),
        ([], [], "one weight each"),
        ([np.zeros((4, 3)), np.zeros((5, 3))], [1.0, 1.0], "rest shape 1"),
        ([np.full((4, 3), np.nan)], [1.0], "finite"),
        ([np.zeros((4, 3))], [-1.0], "negative"),
        ([np.zeros((4, 3))], [[[0.0, 1.0], [1.0, 0.0]]], "weight zero"),
    ],
)
def test_wrong_shapes_and_weights_are_refused(shapes: list, weights: list, what: str) -> None:
    with pytest.raises(InputError, match=what):
        RestShapes(shapes, weights)


def test_a_rest_shape_of_another_mesh_is_refused(cloth: TriMesh, damped: MaterialBlend) -> None:
    with pytest.raises(InputError, match="another mesh"):
        Membrane(cloth, damped, RestShapes([np.zeros((5, 3))], [1.0]))
    flat = cloth.rest * [1.0, 0.0, 1.0] if np.ptp(cloth.rest[:, 1]) else cloth.rest * [1.0, 1.0, 0.0]
    with pytest.raises(InputError, match=r"rest shape 0.*faces"):
        Membrane(cloth, damped, RestShapes([flat], [1.0]))
    with pytest.raises(InputError, match="from 0 to 1"):
        RestShapes.between(cloth.rest, crinkle(sheet(8, 8), depth=0.1, wavelength=0.5), 1.5)


def test_a_strain_limit_is_measured_from_the_blended_rest_shape(cloth: TriMesh) -> None:
    """Squared lengths blend: of the mesh and one of √2 the size, a share w gives √(1 + w) the size; limit ten percent.

    Just below 1.1 √(1 + w) nothing is held back, just beyond it something is; the cost is that of a mesh of this size.
    """
    blend = MaterialBlend.uniform(ShellMaterial(young=1e5, strain_limit=0.1), len(cloth.faces))
    grown = RestShapes.between(cloth.rest, np.sqrt(2.0) * cloth.rest, [[0.0, 0.0], [1.0, 1.0]])
    limits = StrainLimit(cloth, blend, grown)
    for time in (0.0, 0.5, 1.0):
        size = np.sqrt(1.0 + time)
        assert limits.elastic(time).value(1.099 * size * cloth.rest) == 0.0
        itself = StrainLimit(cloth.with_rest(size * cloth.rest), blend).elastic(0.0)
        x = 1.12 * size * cloth.rest
        assert limits.elastic(time).value(x) == pytest.approx(itself.value(x), rel=1e-9)
        assert limits.elastic(time).value(x) > 0.0
        state = State(time - 0.01, x.reshape(-1), np.zeros(x.size))
        assert limits.at(state, 0.01).value(x) == pytest.approx(itself.value(x), rel=1e-9)

"""Elastic solids: the linear limit, positive tangents, what is inside out, damping, rest shapes that move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from bunraku.contracts import InputError, State
from bunraku.energies import (
    SMALLEST_STRETCH,
    MassDamping,
    Solid,
    SolidRest,
    element_rotations,
    mean_rotation,
)
from bunraku.geometry import TetMesh, tet_bar, tet_gradients, tet_lumped_mass, tet_mass_matrix, tet_masses
from bunraku.materials import SolidLaw, SolidMaterial
from bunraku.numerics import use_threads
from bunraku.testing import dense_tangent, solid_probes

LAWS: tuple[SolidLaw, ...] = ("corotational", "neohookean")
BAR = tet_bar((3, 2, 2), (0.3, 0.2, 0.2))
CORNER = TetMesh(np.concatenate([np.zeros((1, 3)), np.eye(3)]), np.arange(4)[None])
"""one tetrahedron whose deformation gradient is its three last points' coordinates, seen from the first, as columns"""
DT = 0.01


@dataclass(frozen=True)
class Moving:
    """From a shape at time 0 to another at time 1."""

    first: np.ndarray
    second: np.ndarray
    constant: bool = False

    def at(self, time: float) -> np.ndarray:
        return (1 - time) * self.first + time * self.second


def rotation(seed: int) -> np.ndarray:
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.linalg.det(q)


def shaken(amount: float, seed: int = 0) -> np.ndarray:
    return BAR.rest + amount * np.random.default_rng(seed).uniform(-1, 1, BAR.rest.shape)


def material(law: SolidLaw, **more: float) -> SolidMaterial:
    return SolidMaterial(**{"young": 2e4, "poisson": 0.4, "density": 500.0, **more}, law=law)


def at_rest(x: np.ndarray, time: float = 0.0) -> State:
    return State(time, x.reshape(-1).copy(), np.zeros(x.size))


def put(f: np.ndarray) -> np.ndarray:
    """Points of `CORNER` with deformation gradient f (3, 3)."""
    return np.concatenate([np.zeros((1, 3)), f.T])


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("poisson", [-0.4, 0.0, 0.3, 0.48])
def test_at_rest_the_tangent_is_that_of_linear_elasticity(law: SolidLaw, poisson: float) -> None:
    """∫ 2µ ε(u):ε(w) + λ div u div w, summed by another route; that is what re-parametrised constants are for."""
    given = material(law, poisson=poisson)
    mu, lam = given.lame
    gradients, volumes = tet_gradients(BAR.rest, BAR.tets)
    g = np.concatenate([-gradients.sum(axis=1, keepdims=True), gradients], axis=1)
    dots = np.einsum("maj,mbj->mab", g, g)
    local = mu * np.einsum("mab,ik->maibk", dots, np.eye(3)) + mu * np.einsum("mak,mbi->maibk", g, g)
    local += lam * np.einsum("mai,mbk->maibk", g, g)
    local = (local * volumes[:, None, None, None, None]).reshape(-1, 12, 12)
    unknowns = (3 * BAR.tets[:, :, None] + np.arange(3)).reshape(-1, 12)
    expected = np.zeros((BAR.rest.size, BAR.rest.size))
    np.add.at(expected, (unknowns[:, :, None], unknowns[:, None, :]), local)
    energy = Solid(BAR, given).elastic(0.0)
    for psd in (False, True):
        assert dense_tangent(energy, BAR.rest, psd) == pytest.approx(expected, abs=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("law", LAWS)
def test_the_energy_is_the_formula(law: SolidLaw) -> None:
    """On single deformation gradients, by NumPy's own factors; inverted ones among them."""
    given = material(law)
    mu, lam = given.lame
    energy = Solid(CORNER, given).elastic(0.0)
    generator = np.random.default_rng(5)
    inverted = 0
    for _ in range(40):
        f = generator.normal(size=(3, 3))
        j, square = np.linalg.det(f), np.sum(f * f)
        s = np.linalg.svd(f)[1] * [1, 1, np.sign(j)]
        inverted += j < 0
        if law == "corotational":
            density = mu * np.sum((s - 1) ** 2) + lam / 2 * (s.sum() - 3) ** 2
        else:
            m, bulk = 4 * mu / 3, lam + 5 * mu / 6
            alpha = 1 + 3 * m / (4 * bulk)  # [Smith 2018, eq. 14], less its value at rest
            density = m / 2 * (square - 3) + bulk / 2 * ((j - alpha) ** 2 - (1 - alpha) ** 2)
            density -= m / 2 * np.log((square + 1) / 4)
        assert energy.value(put(f)) == pytest.approx(density / 6, rel=1e-11)
    assert inverted > 5


@pytest.mark.parametrize("law", LAWS)
def test_psd_blocks_are_the_exact_ones_without_their_negative_part(law: SolidLaw) -> None:
    """Of one tetrahedron the lower right 9 × 9 is the Hessian by F times its volume: NumPy's eigenpairs, clamped."""
    energy = Solid(CORNER, material(law)).elastic(0.0)
    generator = np.random.default_rng(6)
    negative = 0
    for _ in range(60):
        f = np.diag([1.0, 0.9, 0.5]) + 0.6 * generator.normal(size=(3, 3))
        (exact,), (psd,) = (energy.blocks(put(f), psd=flag) for flag in (False, True))
        values, vectors = np.linalg.eigh(exact[0, 3:, 3:])
        negative += values[0] < -1e-6 * values[-1]
        s = np.linalg.svd(f)[1] * [1, 1, np.sign(np.linalg.det(f))]
        if s[1] + s[2] < 0.02:
            continue  # on the corotational law's kink, where stiffness is held back
        expected = vectors * np.maximum(values, 0.0) @ vectors.T
        assert psd[0, 3:, 3:] == pytest.approx(expected, abs=1e-10 * np.abs(expected).max())
    assert negative > 10


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("damping", [0.0, 0.02])
@pytest.mark.parametrize(
    "stretches", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, -1), (2, 0.5, -0.5), (30, 1e-9, -1e-9), (-3, -3, -3)]
)
def test_flat_collapsed_and_inverted_elements_give_finite_numbers(
    law: SolidLaw, damping: float, stretches: tuple[float, float, float]
) -> None:
    energy = Solid(CORNER, material(law, stiffness_damping=damping)).at(at_rest(CORNER.rest), DT)
    for f in (np.diag(np.array(stretches, dtype=float)), rotation(1) * np.array(stretches) @ rotation(2)):
        x = put(f)
        assert np.isfinite(energy.value(x)) and np.isfinite(energy.gradient(x)).all()
        (exact,), (psd,) = (energy.blocks(x, psd=flag) for flag in (False, True))
        assert np.isfinite(exact).all() and np.isfinite(psd).all()
        values = np.linalg.eigvalsh(psd[0])
        assert values[0] >= -1e-10 * values[-1]
        # A kink must not make the matrix of a step stiffer than its neighbours by many orders.
        assert values[-1] <= 1e4 * energy.mu[0] * (1 + damping / DT) * max(1.0, np.abs(stretches).max() ** 4)


@pytest.mark.parametrize("law", LAWS)
def test_forces_turn_with_the_body(law: SolidLaw) -> None:
    """Rigid motion of both ends of a step turns the force and changes nothing else: 1e-10."""
    source = Solid(BAR, material(law, stiffness_damping=0.02))
    for seed, before, after in ((1, shaken(0.02), shaken(0.03, 1)), (2, shaken(0.1, 2), shaken(0.15, 3))):
        turn, shift = rotation(seed), np.array([2.0, -1.0, 0.5])
        force = source.at(at_rest(before), DT).gradient(after)
        turned = source.at(at_rest(before @ turn.T + shift), DT).gradient(after @ turn.T + shift)
        assert turned == pytest.approx(force @ turn.T, abs=1e-10 * np.abs(force).max())
        assert np.abs(turned - force).max() > 0.1 * np.abs(force).max()


@pytest.mark.parametrize("law", LAWS)
def test_rigid_motion_of_any_size_is_not_damped(law: SolidLaw) -> None:
    """A step that turns a deformed body by a large angle has no viscous force; one that deforms it has."""
    damped, free = (Solid(BAR, material(law, stiffness_damping=time)) for time in (0.05, 0.0))
    x = shaken(0.02)
    step, elastic = damped.at(at_rest(x), DT), free.at(at_rest(x), DT)
    moved = x @ rotation(3).T + 1.0
    size = np.abs(elastic.gradient(x)).max()
    assert step.gradient(moved) == pytest.approx(elastic.gradient(moved), abs=1e-9 * size)
    assert np.abs(step.gradient(shaken(0.021)) - elastic.gradient(shaken(0.021))).max() > 0.1 * size


@pytest.mark.parametrize("law", LAWS)
def test_near_rest_the_viscous_force_is_tau_times_stiffness_times_velocity(law: SolidLaw) -> None:
    source = Solid(BAR, material(law, stiffness_damping=0.03))
    v = 1e-4 * np.random.default_rng(4).normal(size=BAR.rest.shape)
    step, elastic = source.at(at_rest(BAR.rest), DT), source.elastic(0.0)
    viscous = step.gradient(BAR.rest + DT * v) - elastic.gradient(BAR.rest + DT * v)
    expected = 0.03 * dense_tangent(elastic, BAR.rest, False) @ v.reshape(-1)
    assert viscous.reshape(-1) == pytest.approx(expected, abs=1e-3 * np.abs(expected).max())


def test_mass_damping_pulls_against_the_velocity_of_the_step() -> None:
    given = material("corotational", mass_damping=0.7)
    v = np.random.default_rng(4).normal(size=BAR.rest.shape)
    force = -MassDamping(BAR, given).at(at_rest(BAR.rest), DT).gradient(BAR.rest + DT * v)
    assert force == pytest.approx(-0.7 * tet_lumped_mass(BAR, 500.0)[:, None] * v, abs=1e-9)


def test_mass_damping_is_by_the_mass_that_inertia_has() -> None:
    """α M v with the consistent matrix; what all vertices share is slowed as by the lumped one."""
    given = material("corotational", mass_damping=0.7)
    v = np.random.default_rng(4).normal(size=BAR.rest.shape)
    step = MassDamping(BAR, given, consistent=True).at(at_rest(BAR.rest), DT)
    wished = -0.7 * (tet_mass_matrix(BAR, 500.0) @ v)
    assert -step.gradient(BAR.rest + DT * v) == pytest.approx(wished, abs=1e-9)
    assert not np.allclose(wished, -0.7 * tet_lumped_mass(BAR, 500.0)[:, None] * v, rtol=0.1)
    alike = np.tile([1.0, 2.0, 3.0], (BAR.point_count, 1))
    lumped = -0.7 * tet_lumped_mass(BAR, 500.0)[:, None] * alike
    assert -step.gradient(BAR.rest + DT * alike) == pytest.approx(lumped, abs=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_firmer_tetrahedra_hold_as_many_times_the_energy(law: SolidLaw) -> None:
    firmness = np.random.default_rng(3).uniform(1.0, 5.0, len(BAR.tets))
    plain, firm = (Solid(BAR, material(law), firmness=one).elastic(0.0) for one in (None, firmness))
    assert firm.energies(shaken(0.02)) == pytest.approx(firmness * plain.energies(shaken(0.02)), rel=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_a_rest_shape_that_moves_counts_at_the_end_of_the_step(law: SolidLaw) -> None:
    """At its own shape of that moment, however it is turned and wherever it is, the body is without force."""
    other = BAR.rest * [1.5, 0.8, 0.7] + 0.1 * np.sin(3 * BAR.rest[:, [1, 2, 0]])
    turn = rotation(8)
    source = Solid(BAR, material(law), Moving(BAR.rest, other @ turn.T))
    energy = source.at(at_rest(BAR.rest, 0.25), 0.75)
    scale = np.abs(energy.gradient(BAR.rest)).max()
    assert scale > 1.0
    assert np.abs(energy.gradient(other + 2.0)).max() < 1e-9 * scale
    for a, b in zip(energy.stencils(True), source.elastic(0.0).stencils(True), strict=True):
        assert np.array_equal(a.rows, b.rows)
    own = Solid(BAR.with_rest(source._shape.motion.at(1.0)), material(law)).elastic(0.0)  # type: ignore[union-attr]
    x = shaken(0.02)
    assert energy.gradient(x) == pytest.approx(own.gradient(x), abs=1e-9 * scale)


def test_a_rest_shape_that_stands_still_is_read_once() -> None:
    other = BAR.rest * [1.2, 0.9, 1.0]
    source = Solid(BAR, material("corotational"), Moving(other, other, constant=True))
    assert source.elastic(0.0) is source.elastic(3.0)
    assert np.abs(source.elastic(3.0).gradient(other)).max() < 1e-9
    assert np.abs(source.elastic(3.0).gradient(BAR.rest)).max() > 1.0


@pytest.mark.parametrize("law", LAWS)
def test_the_number_of_threads_changes_no_byte(law: SolidLaw) -> None:
    block = tet_bar((5, 4, 4), (0.5, 0.4, 0.4))  # 480 tetrahedra: fifteen times as many as are decomposed at once
    x = block.rest + 0.03 * np.random.default_rng(1).uniform(-1, 1, block.rest.shape)
    source = Solid(block, material(law, stiffness_damping=0.01), Moving(block.rest, 1.3 * block.rest))
    found = []
    for threads in (1, 2):
        use_threads(threads)
        energy = source.at(at_rest(block.rest), 0.5)
        found.append((energy.value(x), energy.gradient(x), energy.blocks(x, True)[0]))
    use_threads(None)
    for one, two in zip(*found, strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize("law", LAWS)
def test_a_rest_shape_that_jumps_gives_no_viscous_blow(law: SolidLaw) -> None:
    """Where nothing moves nothing is damped, whatever is wished."""
    moving = Moving(BAR.rest, 1.5 * BAR.rest)
    damped, free = (Solid(BAR, material(law, stiffness_damping=time), moving) for time in (0.05, 0.0))
    x = shaken(0.02)
    force = free.at(at_rest(x), 1.0).gradient(x)
    assert damped.at(at_rest(x), 1.0).gradient(x) == pytest.approx(force, abs=1e-12 * np.abs(force).max())


def test_rest_elements_on_their_way_through_themselves_are_kept_thin_but_sound() -> None:
    """A shape that is turned inside out: gradients stay finite, volumes at least those of the smallest stretch."""
    rest = SolidRest(BAR, Moving(BAR.rest, BAR.rest * [1.0, -1.0, 1.0]))
    first = BAR.volumes
    for time in (0.5, 0.5 + 1e-12, 0.49, 0.6, 1.0):
        gradients, volumes = rest.at(time)
        assert np.isfinite(gradients).all()
        assert (volumes >= 0.999 * SMALLEST_STRETCH * first).all()
    collapsed, volumes = SolidRest(BAR, Moving(BAR.rest, 0.0 * BAR.rest)).at(1.0)
    assert np.isfinite(collapsed).all()
    assert volumes == pytest.approx(SMALLEST_STRETCH**3 * first, rel=1e-9)
    for law in LAWS:
        source = Solid(BAR, material(law, stiffness_damping=0.01), Moving(BAR.rest, BAR.rest * [1.0, -1.0, 1.0]))
        energy = source.at(at_rest(shaken(0.02)), 0.5)
        assert np.isfinite(energy.gradient(BAR.rest)).all() and np.isfinite(energy.blocks(BAR.rest, True)[0]).all()


def test_sound_rest_elements_are_taken_as_they_are() -> None:
    shape = shaken(0.01)
    gradients, volumes = SolidRest(BAR, Moving(shape, shape)).at(0.3)
    expected = tet_gradients(0.7 * shape + 0.3 * shape, BAR.tets)
    assert np.array_equal(gradients, expected[0]) and np.array_equal(volumes, expected[1])


@pytest.mark.parametrize(
    ("mesh", "told"),
    [
        (TetMesh(CORNER.rest, np.array([[0, 1, 3, 2]])), "inside out"),
        (TetMesh(CORNER.rest * [1, 1, 1e-9], CORNER.tets), "without volume"),
        (TetMesh(CORNER.rest * np.nan, CORNER.tets), "finite|NaN"),
    ],
)
def test_unsound_meshes_are_refused(mesh: TetMesh, told: str) -> None:
    with pytest.raises(InputError, match=told):
        Solid(mesh, material("corotational"))


@pytest.mark.parametrize("shape", [np.zeros((5, 3)), np.full(BAR.rest.shape, np.nan)])
def test_rest_shapes_of_other_meshes_are_refused(shape: np.ndarray) -> None:
    source = Solid(BAR, material("corotational"), Moving(shape, shape))
    with pytest.raises(
        InputError, match=r"at 0.5 s: a rest shape must be finite points, one row a vertex \(got .*, finite: "
    ):
        source.elastic(0.5)


def test_elements_turn_with_the_body_and_never_mirror() -> None:
    turn = rotation(9)
    for probe in solid_probes(BAR):
        found = element_rotations(probe.x, BAR.rest, BAR.tets)
        assert np.linalg.det(found) == pytest.approx(1.0, abs=1e-12)
        assert found @ np.swapaxes(found, 1, 2) == pytest.approx(np.broadcast_to(np.eye(3), found.shape), abs=1e-12)
    stretched = BAR.rest @ np.array([[1.3, 0.2, -0.1], [0.2, 0.9, 0.15], [-0.1, 0.15, 0.8]])  # symmetric: no rotation
    assert element_rotations(stretched @ turn.T + 1.0, BAR.rest, BAR.tets) == pytest.approx(
        np.broadcast_to(turn, (len(BAR.tets), 3, 3)), abs=1e-12
    )


def test_the_mean_rotation_weighs_by_mass() -> None:
    """Two elements turned by ± 0.4 about z, one of them nearly without mass."""
    two = TetMesh(np.concatenate([CORNER.rest, CORNER.rest + 2.0]), np.arange(8).reshape(2, 4))

    def about_z(angle: float) -> np.ndarray:
        c, s = np.cos(angle), np.sin(angle)
        return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])

    x = np.concatenate([CORNER.rest @ about_z(0.4).T, CORNER.rest @ about_z(-0.4).T])
    assert mean_rotation(x, two.rest, two.tets, tet_masses(two)) == pytest.approx(np.eye(3), abs=1e-14)
    assert mean_rotation(x, two.rest, two.tets, np.array([1.0, 1e-9])) == pytest.approx(about_z(0.4), abs=1e-8)
    # By hand: the angle of 2 e^{0.4 i} + e^{−0.4 i}.
    angle = np.angle(2 * np.exp(0.4j) + np.exp(-0.4j))
    assert mean_rotation(x, two.rest, two.tets, np.array([2.0, 1.0])) == pytest.approx(about_z(angle), abs=1e-14)

"""The elastic lattice: exact where its functions are, and near beam theory where they are not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from bunraku.constraints import LinearConstraint, average_jacobian, pin_jacobian
from bunraku.contracts import Array, EnergySource, Outcome, Points, Sparse, State
from bunraku.dynamics import Equilibrium, EquilibriumSettings, ImplicitEuler, Mass, System
from bunraku.energies import GravityEnergy, LatticeSolid
from bunraku.geometry import LEAST_FILL, Lattice, TriMesh, lattice_around
from bunraku.materials import SolidLaw, SolidMaterial
from bunraku.numerics import use_threads
from bunraku.testing import block_surface, dense_tangent, icosphere

CELL, EIGHTH = 0.1, 0.0125
SOFT = SolidMaterial(young=2e4, poisson=0.3, density=500.0)
BALL = icosphere(2, 0.16)
LAWS: tuple[SolidLaw, ...] = ("corotational", "neohookean")


def box(*sides: int) -> TriMesh:
    """A box, in eighths of a cell."""
    return block_surface(np.ones(sides, dtype=bool), EIGHTH)


def turn(seed: int) -> Array:
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.linalg.det(q)


def shaken(lattice: Lattice, amount: float, seed: int = 0) -> Points:
    return lattice.rest + amount * lattice.cell * np.random.default_rng(seed).uniform(-1, 1, lattice.rest.shape)


def density(f: Array) -> float:
    """Of the corotational law, by NumPy's SVD [J/m³]."""
    mu, lam = SOFT.lame
    s = np.linalg.svd(f)[1] * [1.0, 1.0, np.sign(np.linalg.det(f))]
    return float(mu * np.sum((s - 1.0) ** 2) + 0.5 * lam * np.sum(s - 1.0) ** 2)


@pytest.mark.parametrize("degree", [1, 2])
def test_patch_an_affine_motion_strains_alike_everywhere_and_pulls_at_nothing_inside(degree: int) -> None:
    """Energy = volume × density, and no force on nodes whose functions lie in full cells alone."""
    lattice = lattice_around(box(40, 40, 40), CELL, degree=degree)
    energy = LatticeSolid(lattice, SOFT).elastic()
    f = np.array([[1.1, 0.2, 0.0], [-0.1, 0.85, 0.1], [0.05, 0.0, 1.2]])
    x = lattice.rest @ f.T + [0.3, 0.0, -1.0]
    each = density(f) * lattice.volumes.sum(axis=1)
    assert energy.energies(x) == pytest.approx(each, rel=1e-12)
    inner = (np.abs(lattice.rest - 0.5 * 40 * EIGHTH) < (2.5 - 0.5 * (degree + 1)) * CELL + 1e-9).all(axis=1)
    force = energy.gradient(x)
    assert inner.sum() == (27 if degree == 2 else 64)
    assert np.abs(force[inner]).max() < 1e-12 * np.abs(force).max()


def test_in_cut_cells_too_an_affine_motion_strains_alike() -> None:
    lattice = lattice_around(BALL, CELL)
    f = np.array([[1.1, 0.2, 0.0], [-0.1, 0.85, 0.1], [0.05, 0.0, 1.2]])
    each = density(f) * (lattice.volumes.sum(axis=1) + lattice.least)
    assert LatticeSolid(lattice, SOFT).elastic().energies(lattice.rest @ f.T) == pytest.approx(each, rel=1e-11)


@pytest.mark.parametrize("law", LAWS)
def test_forces_turn_with_the_body(law: SolidLaw) -> None:
    lattice = lattice_around(BALL, CELL)
    material = SolidMaterial(2e4, 0.3, 500.0, 0.02, law=law)
    source = LatticeSolid(lattice, material)
    before, after, shift = shaken(lattice, 0.1), shaken(lattice, 0.2, 1), np.array([2.0, -1.0, 0.5])
    for seed in (1, 2):
        r = turn(seed)
        force = source.at(State(0.0, before.reshape(-1), np.zeros(before.size)), 0.01).gradient(after)
        moved = (before @ r.T + shift).reshape(-1)
        turned = source.at(State(0.0, moved, np.zeros(before.size)), 0.01).gradient(after @ r.T + shift)
        assert turned == pytest.approx(force @ r.T, abs=1e-10 * np.abs(force).max())
        assert np.abs(turned - force).max() > 0.1 * np.abs(force).max()


def test_nothing_but_rigid_motion_is_free() -> None:
    """Six zero eigenvalues at rest, and the next well above rounding: also nodes that reach hardly any of the body."""
    lattice = lattice_around(BALL, CELL)
    assert len(lattice.weak) > 0
    values = np.linalg.eigvalsh(dense_tangent(LatticeSolid(lattice, SOFT).elastic(), lattice.rest, psd=False))
    assert np.abs(values[:6]).max() < 1e-13 * values[-1]
    assert values[6] > 1e-9 * values[-1]


def test_the_number_of_threads_changes_no_byte() -> None:
    lattice = lattice_around(BALL, 0.5 * CELL)
    energy, x, found = LatticeSolid(lattice, SOFT).elastic(), shaken(lattice, 0.2), []
    for threads in (1, 2):
        use_threads(threads)
        found.append((energy.value(x), energy.gradient(x), energy.blocks(x, True)[0]))
    use_threads(None)
    for one, two in zip(*found, strict=True):
        assert np.array_equal(one, two)


def balance(
    lattice: Lattice, material: SolidMaterial, jacobian: Sparse, goals: Array, first: Points,
    gravity: Array | None = None,
) -> tuple[Points, Array]:  # fmt: skip
    """Nodes in balance on conditions (r, 3n), looked for from `first`, and what holds them (r,) [N]."""
    masses = lattice.masses(material.density)
    held = LinearConstraint(jacobian, lambda time: goals, lambda time: np.ones(len(goals)), np.ones(len(goals)))
    energies: list[EnergySource] = [LatticeSolid(lattice, material)]
    if gravity is not None:
        energies.append(GravityEnergy(masses, gravity))
    search = Equilibrium(System(Mass(masses), tuple(energies), (held,)), EquilibriumSettings(length=lattice.cell))
    found = search.find(State(0.0, first.reshape(-1).copy(), np.zeros(first.size)))
    assert found.outcome is Outcome.CONVERGED, (found.outcome, found.evidence)
    return found.value.q.reshape(-1, 3), found.stats["multipliers"]


def end_rows(lattice: Lattice, side: int, axes: tuple[int, ...]) -> Sparse:
    """Rows that give coordinates of the whole end of a block along x, as means of the two nodes before and behind it:
    independent, which places of more surface vertices than nodes would not be."""
    layers = np.unique(np.rint(lattice.rest[:, 0] / (0.5 * CELL)))
    pair = layers[:2] if side == 0 else layers[-2:]
    one, two = (np.flatnonzero(np.rint(lattice.rest[:, 0] / (0.5 * CELL)) == layer) for layer in pair)
    one, two = (which[np.lexsort(np.rint(lattice.rest[which, 1:] / CELL).T)] for which in (one, two))
    assert np.abs(lattice.rest[one, 1:] - lattice.rest[two, 1:]).max() < 1e-12
    rows = [pin_jacobian(which, np.array(axes), lattice.point_count) for which in (one, two)]
    return sparse.csr_array(0.5 * (rows[0] + rows[1]))


@pytest.mark.parametrize("height", [8, 12])
def test_a_bar_that_is_drawn_out_pulls_with_young_times_area_and_narrows_by_poisson(height: int) -> None:
    """The corotational law is linear in the stretch, so F = E A ε and −ν ε hold at 30 % too; in cut cells the little
    that is everywhere adds its own share."""
    lattice = lattice_around(box(24, 8, height), CELL)
    strain, nodes = 0.3, lattice.point_count
    narrowed = lattice.rest * [1.0 + strain, 1.0 - 0.3 * strain, 1.0 - 0.3 * strain]
    corner, other = int(lattice.rest.sum(axis=1).argmin()), int(lattice.rest[:, 1].argmax())
    still = [
        pin_jacobian(np.array([corner]), np.array([1, 2]), nodes),
        pin_jacobian(np.array([other]), np.array([2]), nodes),
    ]
    jacobian = sparse.vstack([end_rows(lattice, 0, (0,)), *still, end_rows(lattice, 1, (0,))], format="csr")
    q, forces = balance(lattice, SOFT, jacobian, jacobian @ narrowed.reshape(-1), lattice.rest)
    assert q == pytest.approx(narrowed, abs=1e-8)
    fill = lattice.fill.min()
    exact = SOFT.young * 8 * height * EIGHTH**2 * strain * (1.0 + (LEAST_FILL / fill if fill < 0.999 else 0.0))
    ends = end_rows(lattice, 1, (0,)).shape[0]
    assert np.abs(forces[-ends:].sum()) == pytest.approx(exact, rel=1e-7)


@pytest.mark.parametrize("height", [8, 4, 2])
def test_a_beam_sags_as_beams_do_however_little_of_its_cells_it_fills(height: int) -> None:
    """Clamped at one end, under its weight, by Euler and Bernoulli and with shear (κ = 5/6): w = p L⁴/8EI + p L²/2κGA.

    One cell across; without Poisson's ratio, for the clamp would keep a beam from narrowing. Scaled by how full its
    cell is, as [Remillard 2013, §5.3] has it, the stiffness of a beam that fills a quarter would be 16 times too large.
    """
    lattice = lattice_around(box(64, 8, height), CELL)
    material = SolidMaterial(2e5, 0.0, 500.0)
    length, deep, wide, g = 64 * EIGHTH, height * EIGHTH, 8 * EIGHTH, 1e-3
    clamp = end_rows(lattice, 0, (0, 1, 2))
    q, _ = balance(lattice, material, clamp, clamp @ lattice.rest.reshape(-1), lattice.rest, np.array([0.0, 0.0, -g]))
    tip = np.isclose(lattice.surface.rest[:, 0], length)
    sag = -(lattice.points(q) - lattice.surface.rest)[tip, 2].mean()
    load = material.density * wide * deep * g
    everywhere = LEAST_FILL * (CELL / deep) ** 3 if height < 8 else 0.0  # what is everywhere bends too
    bending = load * length**4 / (8 * material.young * wide * deep**3 / 12 * (1.0 + everywhere))
    shear = load * length**2 / (2 * 5 / 6 * material.lame[0] * wide * deep)
    assert sag == pytest.approx(bending + shear, rel=0.01)


def test_pulling_one_prong_hardly_moves_the_other() -> None:
    """Prongs of 3/8 of a cell with 2/8 between them, four cells long, one drawn aside: only the handle joins them."""
    room = np.zeros((40, 8, 8), dtype=bool)
    room[:8] = True
    room[8:, :3] = room[8:, 5:] = True
    mesh = block_surface(room, EIGHTH)
    lattice = lattice_around(mesh, CELL)
    end = np.flatnonzero(np.isclose(mesh.rest[:, 0], 40 * EIGHTH))
    low, high = end[mesh.rest[end, 1] < 4 * EIGHTH], end[mesh.rest[end, 1] > 4 * EIGHTH]
    clamp = end_rows(lattice, 0, (0, 1, 2))
    tip = pin_jacobian(low[:1], np.array([1]), mesh.point_count) @ average_jacobian(lattice.embedding)
    jacobian = sparse.csr_array(sparse.vstack([clamp, tip]))
    goals = jacobian @ lattice.rest.reshape(-1)
    goals[-1] -= 0.05
    moved = lattice.points(balance(lattice, SOFT, jacobian, goals, lattice.rest)[0]) - mesh.rest
    assert moved[low[0], 1] == pytest.approx(-0.05, abs=1e-9)
    assert np.abs(moved[high]).max() < 0.05 * 0.05


def test_what_flies_falls_as_one_and_keeps_its_momentum() -> None:
    """Thrown while it is deformed: the centre of mass goes the way of implicit Euler's own points, to rounding."""
    lattice = lattice_around(BALL, CELL)
    masses, g, dt, count = lattice.masses(500.0), np.array([0.0, -9.81, 0.0]), 0.01, 5
    stepper = ImplicitEuler(System(Mass(masses), (LatticeSolid(lattice, SOFT), GravityEnergy(masses, g))))
    q, v = shaken(lattice, 0.05), np.random.default_rng(1).normal(size=lattice.rest.shape)
    state, first, speed = State(0.0, q.reshape(-1), v.reshape(-1)), masses @ q, masses @ v
    for _ in range(count):
        found = stepper.step(state, dt)
        assert found.outcome.usable
        state = found.value
    time = count * dt
    momentum = masses @ state.velocity.reshape(-1, 3)
    assert momentum == pytest.approx(speed + masses.sum() * time * g, abs=1e-8 * np.abs(speed).max())
    fallen = time * speed + 0.5 * masses.sum() * g * time * (time + dt)
    assert masses @ state.q.reshape(-1, 3) - first == pytest.approx(fallen, abs=1e-8 * np.abs(first).max())


@pytest.mark.parametrize("law", LAWS)
def test_cells_turned_inside_out_come_back(law: SolidLaw) -> None:
    """A cell pushed through its own end, which three corners hold, finds its rest shape again."""
    lattice = lattice_around(box(8, 8, 8), CELL)
    x = lattice.surface.rest
    end = np.flatnonzero(np.isclose(x[:, 0], 0.0))
    rows = pin_jacobian(end[[0, 8, 72]], np.arange(3), len(x)) @ average_jacobian(lattice.embedding)
    first = lattice.rest * [-0.5, 1.0, 1.0]
    material = SolidMaterial(2e4, 0.3, 500.0, law=law)
    assert LatticeSolid(lattice, material).elastic().value(first) > 1.0
    q, forces = balance(lattice, material, rows, rows @ lattice.rest.reshape(-1), first)
    assert lattice.points(q) == pytest.approx(x, abs=1e-6)
    assert np.abs(forces).max() < 1e-4

"""Setting: where the rule leaves a hinge, what it does to energy and damping, how stiffness hardens."""

from __future__ import annotations

import numpy as np
import pytest
from test_bending_models import pocket

from bunraku.contracts import State
from bunraku.energies import Bending
from bunraku.energies.plasticity import SLACK
from bunraku.geometry import TriMesh, face_areas
from bunraku.materials import MaterialBlend, ShellMaterial
from bunraku.testing import check_energy, shell_probes

AREA = np.sqrt(3.0) / 2.0  # of two equilateral triangles of side one
PLASTIC = {"young": 1e6, "thickness": 5e-3, "yield_curvature": 0.5}


def pair(turn: float) -> TriMesh:
    """Two equilateral triangles of side one, the second turned up about their edge."""
    high = np.sqrt(0.75)
    rest = [[0.0, 0, 0], [1, 0, 0], [0.5, high, 0], [0.5, -high * np.cos(turn), high * np.sin(turn)]]
    return TriMesh(np.array(rest), np.array([[0, 1, 2], [1, 0, 3]]))


def state_of(x: np.ndarray, memory: dict | None = None) -> State:
    return State(0.0, x.reshape(-1), np.zeros(x.size), memory or {})


def source(mesh: TriMesh, plate: bool, **changes: float) -> Bending:
    return Bending(mesh, MaterialBlend.uniform(ShellMaterial(**{**PLASTIC, **changes}), len(mesh.faces)), plate=plate)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("turn", [0.44, 0.9, 2.5])
def test_after_an_update_a_hinge_sits_exactly_at_yield(sign: float, turn: float) -> None:
    """κ = l (θ − θ̄)/A: θ̄ ← θ − sign Δκ_max A/l, not the printed rule, which would leave the excess."""
    bending = source(pair(0.0), plate=False)
    x = pair(sign * turn).rest
    before = bending.curvature(state_of(x))
    assert before == pytest.approx([turn / AREA], rel=1e-12)
    memory = dict(bending.remember(state_of(x)))
    after = state_of(x, memory)
    assert bending.curvature(after) == pytest.approx([0.5], rel=1e-12)
    theta = memory["bending.angles"][0]
    assert np.sign(theta) * (theta - memory["bending.plastic_angles"][0]) == pytest.approx(0.5 * AREA, rel=1e-12)
    assert memory["bending.set_curvature"] == pytest.approx([turn / AREA - 0.5], rel=1e-12)
    again = bending.remember(after)
    assert np.array_equal(again["bending.plastic_angles"], memory["bending.plastic_angles"])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_two_faces_of_a_plate_sit_at_yield(sign: float) -> None:
    """One moment, so both faces have the same share and one round is exact."""
    bending = source(pair(0.0), plate=True)
    x = pair(sign * 1.2).rest
    assert (bending.curvature(state_of(x)) > 0.5).all()
    after = state_of(x, dict(bending.remember(state_of(x))))
    assert bending.curvature(after) == pytest.approx([0.5, 0.5], rel=1e-12)
    assert after.memory["bending.plastic_angles"][0] * bending.elastic(0.0, after.memory).near[0] > 0


def test_bent_back_it_yields_the_other_way() -> None:
    """From +1.5 to −1.5: the rest angle trails by Δκ_max A/l, so the way back begins with an elastic 2 Δκ_max.

    By hand, beyond yield: 1.5/A − ½, then 1.5/A − 1, then 1.5/A.
    """
    bending, memory = source(pair(0.0), plate=False), {}
    for turn in (0.0, 1.5, 0.0, -1.5):
        x = pair(turn).rest
        memory = dict(bending.remember(state_of(x, memory)))
        left = memory["bending.angles"][0] - memory["bending.plastic_angles"][0]
        assert abs(left) <= 0.5 * AREA * (1 + 1e-12)
    assert memory["bending.set_curvature"][0] == pytest.approx(4.5 / AREA - 1.5)


def crumple(cloth: TriMesh, size: float = 0.03, seed: int = 5) -> np.ndarray:
    return cloth.rest + size * np.random.default_rng(seed).uniform(-1, 1, cloth.rest.shape)


@pytest.mark.parametrize("plate", [True, False])
def test_an_elastic_shell_remembers_only_its_angles(cloth: TriMesh, plate: bool) -> None:
    bending = source(cloth, plate, yield_curvature=np.inf)
    assert not bending.yields
    assert set(bending.remember(state_of(crumple(cloth)))) == {"bending.angles"}


@pytest.mark.parametrize("plate", [True, False])
@pytest.mark.parametrize("hardening", [0.0, -0.2])
def test_setting_brings_every_element_to_yield_and_never_adds_energy(
    cloth: TriMesh, plate: bool, hardening: float
) -> None:
    """Crumpled far beyond yield, on faces of one crumple each: the hard case for the repeated rule."""
    for seed in range(5):
        bending = source(cloth, plate, hardening=hardening)
        x = crumple(cloth, seed=seed)
        memory = dict(bending.remember(state_of(x)))
        found = bending.curvature(state_of(x, memory))
        assert found.max() <= 0.5 * (1 + 2 * SLACK)
        assert found.max() >= 0.5 * (1 - 1e-9)
        near = {"bending.angles": memory["bending.angles"]}
        assert bending.elastic(0.0, memory).value(x) < bending.elastic(0.0, near).value(x)


@pytest.mark.parametrize("plate", [True, False])
def test_small_steps_with_hardening_release_energy(plate: bool) -> None:
    """η Δκ_max ≤ 2: an increment of set changes the energy held by (η Δκ_max − 2) ½ k D Δκ_max dp per area."""
    bending, memory = source(pair(0.0), plate, hardening=3.9), {}
    for turn in np.arange(0.30, 0.60, 1e-3):
        x = pair(turn).rest
        near = dict(memory)
        memory = dict(bending.remember(state_of(x, memory)))
        near["bending.angles"] = memory["bending.angles"]
        assert bending.elastic(0.0, memory).value(x) <= bending.elastic(0.0, near).value(x) * (1 + 1e-12)
    assert memory["bending.set_curvature"].min() > 0


@pytest.mark.parametrize("plate", [True, False])
def test_stiffness_hardens_by_the_exponential_of_the_set(plate: bool) -> None:
    bending = source(pair(0.0), plate, hardening=0.7)
    memory = dict(bending.remember(state_of(pair(1.2).rest)))
    p = memory["bending.set_curvature"]
    assert p.min() > 0.1
    x = pair(1.2).rest
    soft = source(pair(0.0), plate).elastic(0.0, memory).value(x)
    assert bending.elastic(0.0, memory).value(x) / soft == pytest.approx(np.exp(0.7 * p[0]), rel=1e-12)


@pytest.mark.parametrize("plate", [True, False])
def test_derivatives_of_a_hardened_and_set_shell(cloth: TriMesh, plate: bool) -> None:
    bending = source(cloth, plate, hardening=0.5, bend_damping=0.02)
    memory = dict(bending.remember(state_of(crumple(cloth))))
    stiffness = bending.elastic(0.0, memory).compliance.local
    assert not np.allclose(stiffness, bending.elastic(0.0).compliance.local)
    check_energy(bending.elastic(0.0, memory), shell_probes(cloth))
    check_energy(bending.at(state_of(crumple(cloth, seed=6), memory), 0.01), shell_probes(cloth))


@pytest.mark.parametrize("plate", [True, False])
def test_setting_is_no_rate_of_strain(cloth: TriMesh, plate: bool) -> None:
    """At the start of a step the damped force is the elastic one: what set a moment ago does not count as motion."""
    bending = source(cloth, plate, hardening=0.5, bend_damping=0.05)
    x = crumple(cloth)
    state = state_of(x, dict(bending.remember(state_of(x))))
    elastic = bending.elastic(0.0, state.memory).gradient(x)
    assert bending.at(state, 0.01).gradient(x) == pytest.approx(elastic, abs=1e-9 * np.abs(elastic).max())


def test_yield_varies_over_the_mesh(cloth: TriMesh) -> None:
    """Half the sheet is elastic: nothing sets there, and a hinge between yields at twice the curvature."""
    left = cloth.rest[cloth.faces].mean(axis=1)[:, 0] < 0.5 * cloth.rest[:, 0].max()
    materials = (ShellMaterial(**PLASTIC), ShellMaterial(**{**PLASTIC, "yield_curvature": np.inf}))
    blend = MaterialBlend(materials, np.column_stack([left, ~left]).astype(float))
    assert np.isinf(blend.at(0.0).yield_curvature[~left]).all() and (blend.at(0.0).yield_curvature[left] == 0.5).all()
    mixed = MaterialBlend(materials, np.full((len(cloth.faces), 2), 0.5)).at(0.0).yield_curvature
    assert mixed == pytest.approx(np.full(len(cloth.faces), 1.0))
    found = Bending(cloth, blend).remember(state_of(crumple(cloth)))["bending.set_curvature"]
    assert not found[~left].any() and found[left].any()


def test_what_is_inside_a_clamp_does_not_yield(cloth: TriMesh) -> None:
    rigid = cloth.rest[cloth.faces].mean(axis=1)[:, 0] < 0.15
    blend = MaterialBlend.uniform(ShellMaterial(**PLASTIC), len(cloth.faces))
    found = Bending(cloth, blend, rigid=rigid).remember(state_of(crumple(cloth)))["bending.set_curvature"]
    assert rigid.any() and not found[rigid].any() and found[~rigid].any()


@pytest.mark.parametrize("flipped", [(False,) * 5, (False, True, False, False, True), (True, False, True, True, False)])
def test_where_three_faces_meet_setting_knows_no_order(flipped: tuple[bool, ...]) -> None:
    """Curvature and set belong to faces: how their hinges are paired and how they are wound cannot matter."""
    order = (2, 0, 1, 4, 3)
    plain, mixed = pocket((0, 1, 2, 3, 4), (False,) * 5), pocket(order, flipped)
    x = plain.rest + 0.2 * np.random.default_rng(3).normal(size=plain.rest.shape)
    sets, energies = [], []
    for mesh in (plain, mixed):
        bending = source(mesh, plate=True, yield_curvature=0.2)
        memory = dict(bending.remember(state_of(x)))
        sets.append(memory["bending.set_curvature"])
        energies.append(bending.elastic(0.0, memory).value(x))
    assert sets[0].max() > 0.1
    assert sets[1] == pytest.approx(sets[0][list(order)], rel=1e-8, abs=1e-10)
    assert energies[1] == pytest.approx(energies[0], rel=1e-8)


def test_a_gauge_is_the_curvature_of_the_two_faces() -> None:
    """Two routes: the share of rotation of a face is A S:K, so with m alone ½ m·b = Σ ½ A M:K."""
    bending = source(pair(0.0), plate=True)
    x = pair(0.3).rest
    energy = bending.elastic(0.0)
    material = ShellMaterial(**PLASTIC)
    rigidity = 1e6 * 5e-3**3 / 12 / (1 - material.poisson**2)
    kappa = bending.curvature(state_of(x))[0]
    # Uniaxial-like: M = m S with S of an equilateral face, eigenvalues of S: (c ± 1)/(2 s²) with c = ½, s² = ¾.
    m = abs(energy.moments(x)[0])
    high, low = 1.0 * m, -m / 3.0
    assert kappa == pytest.approx((high - material.poisson * low) / (rigidity * (1 - material.poisson**2)), rel=1e-10)
    assert face_areas(x, pair(0.0).faces).sum() == pytest.approx(AREA)

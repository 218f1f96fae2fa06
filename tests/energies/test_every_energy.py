"""Every energy class of the room passes the shared check; one without a fixture fails the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import sparse

import bunraku.energies as room
from bunraku.contracts import Energy, EnergySource, Points, State
from bunraku.energies import (
    Bending,
    Blowing,
    BondEnergy,
    Contraction,
    Drag,
    DragEnergy,
    DrawnEnergy,
    EnclosedGas,
    Foundation,
    Gas,
    GravityEnergy,
    LatticeSolid,
    MassDamping,
    Membrane,
    Placed,
    PlacedEnergy,
    PointDamping,
    Pressure,
    Solid,
    Springs,
    StrainLimit,
    Wind,
)
from bunraku.geometry import Lattice, TriMesh, chambers, embed_points, lattice_around, lumped_mass, tet_bar
from bunraku.materials import MaterialBlend, ShellMaterial, SolidLaw, SolidMaterial
from bunraku.motion import Curve, Growth, RestShapes
from bunraku.testing import (
    Probe,
    block_surface,
    check_energy,
    closed_probes,
    dense_tangent,
    icosphere,
    implementations,
    lattice_probes,
    shell_probes,
    solid_probes,
)


@dataclass(frozen=True)
class Case:
    """An energy, and what it declares."""

    energy: Energy
    rest: Points | None = None
    rigid: bool = True
    probes: Sequence[Probe] | None = None
    """of another mesh than the cloth"""
    grown: float = 1.0
    """how much larger than usual it is probed: below their limits, limits do nothing to differentiate"""
    sharp: float = 1.0
    """over which share of a face's height it changes: limits rise within a tenth of themselves"""


Maker = Callable[[TriMesh, MaterialBlend, State], Case]
DT = 0.01

BALL = icosphere(0, 0.15)
"""twelve vertices, as many as the cloth has"""
ROOM = chambers(BALL)


BAR = tet_bar((2, 1, 1), (0.3, 0.15, 0.15))
"""twelve vertices, as many as the cloth has"""
CUBE = tet_bar((1, 1, 1), (0.15, 0.15, 0.15))


def solid(law: SolidLaw, poisson: float, damping: float = 0.0) -> Case:
    """A bar of tetrahedra; with damping in a step that began at another shape."""
    source = Solid(BAR, SolidMaterial(2e4, poisson, 400.0, damping, law=law))
    before = BAR.rest + 0.03 * np.random.default_rng(77).uniform(-1, 1, BAR.rest.shape)
    energy = source.at(State(0.0, before.reshape(-1), np.zeros(before.size)), DT)
    return Case(energy, None if damping else BAR.rest, probes=solid_probes(BAR))


CELL = 0.15
WEDGE = lattice_around(
    block_surface(np.array([[[1, 1], [1, 1]], [[1, 1], [1, 0]], [[1, 0], [0, 0]]]), 0.5 * CELL), CELL
)
"""two cells, one of them not full: 36 nodes"""
TWELVE = lattice_around(block_surface(np.ones((2, 1, 1)), CELL), CELL, degree=1)
"""two full cells of linear functions: as many nodes as the cloth has"""


def lattice(law: SolidLaw, poisson: float, damping: float = 0.0, body: Lattice = WEDGE) -> Case:
    """A lattice; with damping in a step that began at another shape."""
    source = LatticeSolid(body, SolidMaterial(2e4, poisson, 400.0, damping, law=law))
    before = body.rest + 0.03 * np.random.default_rng(77).uniform(-1, 1, body.rest.shape)
    energy = source.at(State(0.0, before.reshape(-1), np.zeros(before.size)), DT)
    return Case(energy, None if damping else body.rest, probes=lattice_probes(body))


def contraction(body: Lattice, *, anchored: bool = False, still: bool = False) -> Contraction:
    """A muscle of forty samples in a lattice, half contracted; or relaxed."""
    random = np.random.default_rng(5)
    samples = 0.04 + random.uniform(0.0, 0.09, (40, 3)) * [2.0, 0.5, 0.5]
    where = embed_points(body, samples)
    springs = Springs.of(body.elements, where.owners, where.weights, where.matrix, random.uniform(20.0, 60.0, 40))
    shorter = samples * [0.5, 1.2, 1.1] + [0.03, 0.0, 0.01] + random.normal(0.0, 0.003, samples.shape)
    return Contraction(springs, samples, shorter, lambda time: 0.0 if still else 0.5 + time, anchored)


def contracting(*, anchored: bool = False, still: bool = False) -> Case:
    """The energy of such a muscle, with what it declares."""
    energy = contraction(WEDGE, anchored=anchored, still=still).at_time(0.0)
    return Case(energy, WEDGE.rest if still else None, rigid=not anchored, probes=lattice_probes(WEDGE))


def _foundation(mesh: TriMesh, places: Points, *, bonded: bool = True) -> Foundation:
    """Stiffer on some faces than on others."""
    share = np.linspace(1.0, 3.0, len(mesh.faces))
    return Foundation(mesh, 4e3 * share, 20.0 * share, lambda time: places, bonded)


def dragged() -> Case:
    """A bar that its mass slows down, in a step that began at rest."""
    source = MassDamping(BAR, SolidMaterial(1e4, mass_damping=0.5), consistent=True)
    energy = source.at(State(0.0, BAR.rest.reshape(-1), np.zeros(BAR.rest.size)), DT)
    return Case(energy, BAR.rest, rigid=False, probes=solid_probes(BAR))


def placed_cube() -> Case:
    """The eight points of a cube, the third to the tenth of twelve."""
    energy = Solid(CUBE, SolidMaterial(2e4, 0.3, 400.0, law="neohookean")).elastic(0.0)
    rest = np.concatenate([BAR.rest[:2], CUBE.rest, BAR.rest[10:]])
    return Case(
        PlacedEnergy(energy, 2, 8, 12), rest, probes=[replace(p, x=p.x - BAR.rest + rest) for p in solid_probes(BAR)]
    )


CORNERS = np.array([[-0.5, -0.4, -0.6], [1.1, 0.0, 0.1], [0.0, 1.2, 0.2], [0.1, -0.2, 1.3]])
"""four nodes about the cloth"""


def bonded(mesh: TriMesh) -> Case:
    """A cloth on four nodes that carry it affinely."""
    shares = np.linalg.solve(np.vstack([CORNERS.T, np.ones(4)]), np.vstack([mesh.rest.T, np.ones(len(mesh.rest))])).T
    share = np.linspace(1.0, 3.0, len(mesh.faces))
    energy = BondEnergy.of(mesh, sparse.csr_array(shares), 4e3 * share, 20.0 * share)
    return Case(energy, np.concatenate([CORNERS, mesh.rest]), probes=behind(CORNERS, mesh))


def behind(first: Points, mesh: TriMesh) -> list[Probe]:
    """The probes of a cloth behind other points."""
    return [Probe(p.name, np.concatenate([first, p.x]), p.scale) for p in shell_probes(mesh)]


def placed_plate(mesh: TriMesh, material: MaterialBlend) -> Case:
    """A plate, which has unknowns of its own, behind four points."""
    energy = Bending(mesh, material).elastic(0.0)
    rest = np.concatenate([CORNERS, mesh.rest])
    return Case(PlacedEnergy(energy, 4, len(mesh.rest), len(rest)), rest, probes=behind(CORNERS, mesh))


GALE = Wind((8.0, -1.0, 20.0), turbulence=0.3, size=0.2)


def _held_gas(amount: float = 1.0) -> EnclosedGas:
    return EnclosedGas(ROOM, Gas(500.0, amount), ROOM.volumes(BALL.rest), 12)


def woven(mesh: TriMesh) -> MaterialBlend:
    """Two woven, damped materials blended over the cloth, the warp turning from face to face."""
    first = ShellMaterial(young=2e4, weft=9e3, shear=2e3, thickness=5e-3, stretch_damping=0.01, bend_damping=0.03)
    second = ShellMaterial(young=1e4, weft=3e4, poisson=0.2, thickness=3e-3, bend_scale=0.3)
    share = mesh.rest[:, 0] / mesh.rest[:, 0].max()
    blend = MaterialBlend.by_vertex((first, second), np.column_stack([1.0 - share, share]), mesh.faces)
    return replace(blend, warp=np.linspace(0.0, 3.0, len(mesh.faces)))


def limited(mesh: TriMesh) -> MaterialBlend:
    """Limits from 20 to 50 %: some faces of a probe lie below theirs, some on the way, some far beyond."""
    materials = [ShellMaterial(young=2e4, thickness=5e-3, strain_limit=limit) for limit in (0.2, 0.5)]
    share = mesh.rest[:, 0] / mesh.rest[:, 0].max()
    return MaterialBlend.by_vertex(materials, np.column_stack([1.0 - share, share]), mesh.faces)


FIXTURES: dict[str, dict[str, Maker]] = {
    "MembraneEnergy": {
        "elastic": lambda mesh, material, state: Case(Membrane(mesh, material).elastic(0.0), mesh.rest),
        "damped": lambda mesh, material, state: Case(Membrane(mesh, material).at(state, DT)),
        "grown": lambda mesh, material, state: Case(
            Membrane(mesh, material, growth=Growth(0.3)).elastic(0.0), 1.3 * mesh.rest
        ),
        "woven": lambda mesh, material, state: Case(Membrane(mesh, woven(mesh)).elastic(0.0), mesh.rest),
        "woven, damped": lambda mesh, material, state: Case(Membrane(mesh, woven(mesh)).at(state, DT)),
    },
    "StrainLimitEnergy": {
        "limited": lambda mesh, material, state: Case(
            StrainLimit(mesh, limited(mesh)).at(state, DT), grown=1.4, sharp=0.1
        ),
        "limited, from a blend of rest shapes": lambda mesh, material, state: Case(
            StrainLimit(mesh, limited(mesh), RestShapes.between(mesh.rest, 1.2 * mesh.rest, 0.5)).at(state, DT),
            grown=1.5,
            sharp=0.1,
        ),
    },
    "BendingEnergy": {
        "plate, grown": lambda mesh, material, state: Case(
            Bending(mesh, material, growth=Growth(0.3)).elastic(0.0), 1.3 * mesh.rest
        ),
        "woven": lambda mesh, material, state: Case(Bending(mesh, woven(mesh)).elastic(0.0), mesh.rest),
        "woven, damped": lambda mesh, material, state: Case(Bending(mesh, woven(mesh)).at(state, DT)),
        "plate": lambda mesh, material, state: Case(Bending(mesh, material).elastic(0.0), mesh.rest),
        "plate, damped": lambda mesh, material, state: Case(Bending(mesh, material).at(state, DT)),
        "hinge": lambda mesh, material, state: Case(Bending(mesh, material, plate=False).elastic(0.0), mesh.rest),
        "hinge, damped": lambda mesh, material, state: Case(Bending(mesh, material, plate=False).at(state, DT)),
    },
    "SolidEnergy": {
        "corotational": lambda mesh, material, state: solid("corotational", 0.3),
        "corotational, hardly compressible": lambda mesh, material, state: solid("corotational", 0.48),
        "corotational, auxetic": lambda mesh, material, state: solid("corotational", -0.5),
        "corotational, damped": lambda mesh, material, state: solid("corotational", 0.4, 0.02),
        "neohookean": lambda mesh, material, state: solid("neohookean", 0.3),
        "neohookean, hardly compressible": lambda mesh, material, state: solid("neohookean", 0.48),
        "neohookean, auxetic": lambda mesh, material, state: solid("neohookean", -0.5),
        "neohookean, damped": lambda mesh, material, state: solid("neohookean", 0.4, 0.02),
    },
    "LatticeSolidEnergy": {
        "corotational, dried": lambda mesh, material, state: Case(
            LatticeSolid(WEDGE, SolidMaterial(2e4), swelling=Curve.of(-0.2)).elastic(),
            0.8 * WEDGE.rest,
            probes=lattice_probes(WEDGE),
        ),
        "corotational": lambda mesh, material, state: lattice("corotational", 0.3),
        "corotational, hardly compressible": lambda mesh, material, state: lattice("corotational", 0.48),
        "corotational, damped": lambda mesh, material, state: lattice("corotational", 0.4, 0.02),
        "corotational, trilinear": lambda mesh, material, state: lattice("corotational", 0.3, body=TWELVE),
        "neohookean": lambda mesh, material, state: lattice("neohookean", 0.3),
        "neohookean, damped, trilinear": lambda mesh, material, state: lattice("neohookean", 0.4, 0.02, TWELVE),
    },
    "ContractionEnergy": {
        "a shape": lambda mesh, material, state: contracting(),
        "a shape, relaxed": lambda mesh, material, state: contracting(still=True),
        "anchored": lambda mesh, material, state: contracting(anchored=True),
        "anchored, relaxed": lambda mesh, material, state: contracting(anchored=True, still=True),
    },
    "DrawnEnergy": {
        "places in two tetrahedra": lambda mesh, material, state: Case(
            DrawnEnergy.of(
                BAR.tets,
                BAR.point_count,
                np.array([0, 0, 3]),
                np.array([[1, 0, 0, 0], [0.4, 0.3, 0.2, 0.1], [1.5, -0.5, 0, 0]]),
                np.array([[0.1, 0.2, 0.3], [0.0, 0.1, 0.0], [0.3, 0.0, 0.1]]),
                np.array([3.0, 5.0, 2.0]),
            ),
            rigid=False,
            probes=solid_probes(BAR),
        ),
    },
    "FoundationEnergy": {
        "a skin away from its interior": lambda mesh, material, state: Case(
            _foundation(mesh, state.q.reshape(-1, 3)).at(state, DT), rigid=False
        ),
        "a skin that may slide": lambda mesh, material, state: Case(
            _foundation(mesh, state.q.reshape(-1, 3), bonded=False).at(state, DT), rigid=False
        ),
        "a skin on it": lambda mesh, material, state: Case(
            _foundation(mesh, mesh.rest).at(state, DT), rest=mesh.rest, rigid=False
        ),
    },
    "GravityEnergy": {
        "weight": lambda mesh, material, state: Case(
            GravityEnergy(lumped_mass(mesh), np.array([0.3, -9.81, 1.0])), rigid=False
        ),
    },
    "DragEnergy": {
        "wind": lambda mesh, material, state: Case(
            Drag(mesh, material, wind=np.array([1.0, 0.0, 2.0])).at(state, DT), rigid=False
        ),
        "still": lambda mesh, material, state: Case(
            DragEnergy(lumped_mass(mesh), mesh.rest, DT), rest=mesh.rest, rigid=False
        ),
    },
    "MassDragEnergy": {"consistent": lambda mesh, material, state: dragged()},
    "PlacedEnergy": {
        "a cube among twelve points": lambda mesh, material, state: placed_cube(),
        "a plate behind four": lambda mesh, material, state: placed_plate(mesh, material),
    },
    "BondEnergy": {"a cloth on four nodes": lambda mesh, material, state: bonded(mesh)},
    "WindEnergy": {
        "gale": lambda mesh, material, state: Case(Blowing(mesh, material, GALE).at(state, DT), rigid=False),
        "still air": lambda mesh, material, state: Case(
            Blowing(mesh, material, Wind()).at(replace(state, velocity=state.q), DT),
            rest=state.q.reshape(-1, 3),
            rigid=False,
        ),
    },
    "PressureEnergy": {
        "overpressure": lambda mesh, material, state: Case(
            Pressure(ROOM, Curve.of(300.0), 12).at(state, DT), probes=closed_probes(BALL)
        ),
    },
    "GasEnergy": {
        "balloon": lambda mesh, material, state: Case(_held_gas().at(state, DT), probes=closed_probes(BALL)),
        "twice the gas": lambda mesh, material, state: Case(_held_gas(2.0).at(state, DT), probes=closed_probes(BALL)),
    },
}

SOURCES: dict[str, Callable[[TriMesh, MaterialBlend], EnergySource]] = {
    "Membrane": Membrane,
    "StrainLimit": lambda mesh, material: StrainLimit(mesh, limited(mesh)),
    "Bending": Bending,
    "Drag": Drag,
    "Solid": lambda mesh, material: Solid(BAR, SolidMaterial(1e4, stiffness_damping=0.01)),
    "Placed": lambda mesh, material: Placed(Solid(CUBE, SolidMaterial(1e4, stiffness_damping=0.01)), 2, 8, 12),
    "LatticeSolid": lambda mesh, material: LatticeSolid(TWELVE, SolidMaterial(1e4, stiffness_damping=0.01)),
    "Contraction": lambda mesh, material: contraction(TWELVE),
    "MassDamping": lambda mesh, material: MassDamping(BAR, SolidMaterial(1e4, mass_damping=0.5)),
    "PointDamping": lambda mesh, material: PointDamping(0.5 * lumped_mass(mesh)),
    "DrawnEnergy": lambda mesh, material: DrawnEnergy.of(
        BAR.tets, 12, np.array([1]), np.full((1, 4), 0.25), np.zeros((1, 3)), np.ones(1)
    ),
    "Pressure": lambda mesh, material: Pressure(ROOM, Curve.of([[0, 100.0], [1, 300.0]]), 12),
    "Blowing": lambda mesh, material: Blowing(mesh, material, GALE),
    "EnclosedGas": lambda mesh, material: _held_gas(),
    "Foundation": lambda mesh, material: _foundation(mesh, mesh.rest),
    "BondEnergy": lambda mesh, material: bonded(mesh).energy,  # type: ignore[dict-item]
    "GravityEnergy": lambda mesh, material: GravityEnergy(lumped_mass(mesh), np.array([0.0, -9.81, 0.0])),
}


def test_no_class_escapes() -> None:
    assert {found.__name__ for found in implementations(room, Energy)} == set(FIXTURES)
    assert {found.__name__ for found in implementations(room, EnergySource)} == set(SOURCES)


@pytest.fixture
def state(cloth: TriMesh) -> State:
    """A crumpled moment before the step, unlike any probe."""
    x = cloth.rest + 0.03 * np.random.default_rng(77).uniform(-1, 1, cloth.rest.shape)
    return State(0.0, x.reshape(-1), np.zeros(x.size))


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, kinds in FIXTURES.items() for kind in kinds])
def test_derivatives_and_laws(name: str, kind: str, cloth: TriMesh, damped: MaterialBlend, state: State) -> None:
    case = FIXTURES[name][kind](cloth, damped, state)
    assert type(case.energy).__name__ == name
    probes = case.probes or [Probe(p.name, case.grown * p.x, case.sharp * p.scale) for p in shell_probes(cloth)]
    check_energy(case.energy, probes, rest=case.rest, rigid=case.rigid)


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_keeps_its_stencils_and_its_state(
    name: str, cloth: TriMesh, damped: MaterialBlend, state: State
) -> None:
    source = SOURCES[name](cloth, damped)
    before = state.q.copy()
    first = source.at(state, DT)
    later = source.at(State(3.0, np.roll(state.q, 3), state.velocity, source.remember(state)), 5 * DT)
    for psd in (False, True):
        for a, b in zip(first.stencils(psd), later.stencils(psd), strict=True):
            assert np.array_equal(a.rows, b.rows)
            assert (a.columns is None) == (b.columns is None)
    assert first.auxiliary_count == later.auxiliary_count
    assert np.array_equal(before, state.q)
    assert all(isinstance(value, np.ndarray) for value in source.remember(state).values())


@pytest.mark.parametrize("plate", [True, False])
def test_keyed_stiffness_scales_force_and_energy(cloth: TriMesh, state: State, plate: bool) -> None:
    """Energy and force are linear in Young's modulus, at the *end* of the step."""
    keyed = MaterialBlend.uniform(ShellMaterial(young=[[0, 1e4], [1, 5e4]], thickness=5e-3), len(cloth.faces))
    x = state.q.reshape(-1, 3)
    for source in (Membrane(cloth, keyed), Bending(cloth, keyed, plate=plate)):
        soft, stiff = source.elastic(0.0), source.at(state, 1.0)
        assert stiff.value(x) == pytest.approx(5 * soft.value(x), rel=1e-12)
        assert stiff.gradient(x) == pytest.approx(5 * soft.gradient(x), abs=1e-12 * np.abs(stiff.gradient(x)).max())
        assert soft.value(x) == pytest.approx(source.elastic(0.0).value(x), rel=1e-14)


@pytest.mark.parametrize("plate", [True, False])
def test_psd_tangent_is_the_true_one_at_rest(cloth: TriMesh, damped: MaterialBlend, plate: bool) -> None:
    """Without stress nothing needs to be left out."""
    for source in (Membrane(cloth, damped), Bending(cloth, damped, plate=plate)):
        energy = source.elastic(0.0)
        exact, psd = (dense_tangent(energy, cloth.rest, psd=flag) for flag in (False, True))
        assert psd == pytest.approx(exact, abs=1e-9 * np.abs(exact).max())


def test_drag_pulls_towards_the_wind(cloth: TriMesh, damped: MaterialBlend, state: State) -> None:
    """Force = drag × area × (wind − velocity) at each vertex, the velocity being that of the step."""
    wind, v = np.array([1.0, 0.0, 2.0]), np.array([0.5, -1.0, 0.0])
    energy = Drag(cloth, damped, wind=wind).at(state, DT)
    x = state.q.reshape(-1, 3) + DT * v
    area = lumped_mass(cloth, damped.at(0.0).drag)
    assert -energy.gradient(x) == pytest.approx(area[:, None] * (wind - v), abs=1e-12)

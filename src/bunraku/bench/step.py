"""What a step costs, in ratios measured in one run.

A sheet with regions is brought into a crumpled state; then every part of one Newton iteration is timed there, over and
over, the tracked and the untracked system in turn. Medians; the same states, the same library, the same precision.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.spatial import KDTree

from bunraku.constraints import LinearConstraint, average_jacobian, felt_mass
from bunraku.contracts import Array, Points, Sparse, State, Vector
from bunraku.direction.track import TestFunctions
from bunraku.dynamics import PARTS, Frozen, ImplicitEuler, Mass, NewtonSettings, System
from bunraku.energies import Bending, GravityEnergy, Membrane
from bunraku.geometry import TriMesh, lumped_mass
from bunraku.materials import MaterialBlend, preset

CASES: tuple[tuple[int, int], ...] = ((40, 4), (55, 88), (100, 280), (224, 2000))
"""vertices a side, regions: 1.6k, 3k, 10k and 50k vertices"""

_DT = 1.0 / 48.0


@dataclass(frozen=True)
class StepCost:
    """Median milliseconds of one Newton iteration and its parts."""

    vertices: int
    regions: int
    blocks: float
    """local blocks of all energies"""
    assemble: float
    """sum into the fixed pattern, equilibrate"""
    factor: float
    """numeric factorisation alone"""
    solve: float
    """solve with refinement to full precision"""
    gradient: float
    total: float
    """blocks + assemble + factor + solve + gradient, timed as one"""
    bare: float
    """one numeric factorisation and one solve of the same matrix by the same library"""
    untracked: float
    """total of the same state without regions: its matrix is quasi-definite by the bending moments, so LDLᵀ too"""
    memory: float
    """peak resident memory of the process so far [MiB]"""

    @property
    def over_bare(self) -> float:
        """total / bare."""
        return self.total / self.bare

    @property
    def over_untracked(self) -> float:
        """total / untracked."""
        return self.total / self.untracked


def sheet(side: int) -> TriMesh:
    """A unit square of side² vertices with one diagonal a cell."""
    i, j = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    rest = np.stack([i.ravel(), np.zeros(side * side), j.ravel()], axis=1) / (side - 1)
    a = (i[:-1, :-1] * side + j[:-1, :-1]).ravel()
    return TriMesh(
        rest, np.concatenate([np.stack([a, a + 1, a + side], 1), np.stack([a + side, a + 1, a + side + 1], 1)])
    )


def patches(mesh: TriMesh, count: int) -> Sparse:
    """(count, n) piecewise constant regions around far-apart seeds."""
    x, seeds = mesh.rest, [0]
    distance = np.linalg.norm(x - x[0], axis=1)
    for _ in range(count - 1):
        seeds.append(int(distance.argmax()))
        distance = np.minimum(distance, np.linalg.norm(x - x[seeds[-1]], axis=1))
    label = KDTree(x[seeds]).query(x)[1]
    return sparse.csr_array((np.ones(len(x)), (label, np.arange(len(x)))), shape=(count, len(x)))


@dataclass(frozen=True, eq=False)
class Iteration:
    """A place where one Newton iteration can be taken over and over."""

    stepper: ImplicitEuler
    problem: Frozen
    x: Points

    def iterate(self) -> None:
        """One Newton iteration with a factorisation of its own, solved to full precision."""
        seconds = dict.fromkeys(PARTS, 0.0)
        gradient = self.problem.gradient(self.x, np.zeros(len(self.problem.stiffness)))
        self.stepper.factorise(self.problem, self.x, seconds)
        self.stepper.direct(self.problem, self.x, gradient, True, seconds)


def _prepare(mesh: TriMesh, regions: int, bending: str, threads: int | None) -> Iteration:
    material = MaterialBlend.uniform(replace(preset("cotton"), weft=None, shear=None), len(mesh.faces))
    fields = material.at(0.0)
    mass = lumped_mass(mesh, fields.density * fields.thickness)
    constraints = (_hold(mesh, regions, mass),) if regions else ()
    energies = (
        Membrane(mesh, material),
        Bending(mesh, material, plate=bending == "plate"),
        GravityEnergy(mass, np.array([0.0, -9.81, 0.0])),
    )
    system = System(Mass(mass), energies, constraints)
    stepper = ImplicitEuler(system, NewtonSettings(iterations=1), threads=threads)
    edge = 1.0 / np.sqrt(mesh.point_count)
    x = mesh.rest + 0.05 * edge * np.random.default_rng(0).normal(size=mesh.rest.shape)
    state = State(0.0, x.reshape(-1), np.zeros(x.size))
    bench = Iteration(stepper, stepper.freeze(state, _DT), x)
    bench.iterate()
    return bench


def _hold(mesh: TriMesh, regions: int, mass: Vector) -> LinearConstraint:
    patch = patches(mesh, regions)
    _, averages = TestFunctions(patch, patch).averages(mesh, mesh)
    jacobian = average_jacobian(averages)
    goals, ones = jacobian @ mesh.rest.reshape(-1), np.ones(jacobian.shape[0])
    return LinearConstraint(jacobian, lambda time: goals, lambda time: ones, felt_mass(jacobian, mass))


def medians(parts: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """Median milliseconds of each part, taken in turn so that a busy neighbour disturbs all alike."""
    return timed(parts, repeats)[0].tolist()


def timed(parts: Sequence[Callable[[], object]], repeats: int) -> Array:
    """(2, k) the same, and of the processor's own time, all threads together: what it takes when nobody disturbs."""
    seconds = np.zeros((repeats, 2, len(parts)))
    for repeat in range(repeats):
        for k, part in enumerate(parts):
            begin, used = time.perf_counter(), time.process_time()
            part()
            seconds[repeat, :, k] = time.perf_counter() - begin, time.process_time() - used
    return 1e3 * np.median(seconds, axis=0)


def _peak_memory() -> float:
    """Peak resident memory of this process so far [MiB]; not a number where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)


def step_cost(side: int, regions: int, *, bending: str = "plate", threads: int | None = None) -> StepCost:
    """Measure one size."""
    mesh = sheet(side)
    tracked, free = _prepare(mesh, regions, bending, threads), _prepare(mesh, 0, bending, threads)
    saddle, problem, x = tracked.stepper.saddle, tracked.problem, tracked.x
    blocks = problem.blocks(x)
    none, residual = np.zeros(len(problem.stiffness)), problem.residual(x)
    gradient = problem.gradient(x, none)
    force = np.concatenate([-gradient.reshape(-1), np.zeros(saddle.size - x.size)])
    saddle.factor(blocks, problem.stiffness)
    repeats = int(np.clip(2e5 / mesh.point_count, 5, 60))
    median = medians(
        [
            lambda: problem.blocks(x),
            lambda: saddle.assemble(blocks, problem.stiffness),
            saddle.refactor,
            lambda: saddle.solve(force, -residual),
            lambda: problem.gradient(x, none),
            tracked.iterate,
            free.iterate,
            lambda: (saddle.refactor(), saddle.solve(force, -residual, rounds=1)),
        ],
        repeats,
    )
    peak = _peak_memory()
    return StepCost(
        mesh.point_count, regions, median[0], median[1], median[2], median[3], median[4],
        median[5], median[7], median[6], peak,
    )  # fmt: skip


def table(costs: Sequence[StepCost], solver: str) -> Iterator[str]:
    """The lines people read."""
    yield f"one Newton iteration, medians in milliseconds; {solver}"
    yield (
        "vertices regions | blocks assemble factor  solve gradient |  total   bare  total/bare | "
        "untracked  tracked/untracked | peak MiB"
    )
    for c in costs:
        yield (
            f"{c.vertices:8d} {c.regions:7d} | {c.blocks:6.1f} {c.assemble:8.1f} {c.factor:6.1f} {c.solve:6.1f} "
            f"{c.gradient:8.1f} | {c.total:6.1f} {c.bare:6.1f} {c.over_bare:11.2f} | {c.untracked:9.1f} "
            f"{c.over_untracked:18.2f} | {c.memory:8.0f}"
        )
    if len(costs) > 1:
        size = np.log([c.vertices for c in costs])
        for name in ("factor", "total"):
            growth = np.polyfit(size, np.log([getattr(c, name) for c in costs]), 1)[0]
            yield f"{name} grows as vertices^{growth:.2f}"


def run(cases: Sequence[tuple[int, int]] = CASES, *, threads: int | None = None) -> Iterator[str]:
    """Measure and print as it goes: first the table, then what the plate costs against the hinge."""
    costs, solver = [], ""
    for side, regions in cases:
        costs.append(step_cost(side, regions, threads=threads))
        solver = _prepare(sheet(8), 0, "plate", threads).stepper.solver_name
        yield f"measured {costs[-1].vertices} vertices, {regions} regions: {costs[-1].total:.1f} ms an iteration"
    yield ""
    yield from table(costs, solver)
    yield ""
    side, regions = cases[0] if len(cases) == 1 else cases[1]
    plate, hinge = (step_cost(side, regions, bending=kind, threads=threads) for kind in ("plate", "hinge"))
    yield (
        f"plate against hinge bending at {plate.vertices} vertices: factor {plate.factor / hinge.factor:.2f}, "
        f"total {plate.total / hinge.total:.2f}"
    )

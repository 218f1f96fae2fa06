"""Solids to measure: bars of any size, one step of them against the bare solver, and the way between two shapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Points
from bunraku.direction import Pin
from bunraku.direction.steer import steering_job
from bunraku.direction.steer.interpolate import transition
from bunraku.dynamics import ImplicitEuler
from bunraku.geometry import TetMesh, TriMesh, tet_bar
from bunraku.materials import as_solid
from bunraku.numerics import choose, use_threads

from .step import timed

LENGTH, WIDTH = 1.0, 0.1
MATERIAL = "flesh"
RATE = 24.0
"""frames a second; one step a frame"""


def bar(cells: tuple[int, int, int]) -> TetMesh:
    """A bar along x of so many cells, six tetrahedra each around its diagonal, neighbours mirrored."""
    return tet_bar(cells, (LENGTH, WIDTH, WIDTH))


def tube(along: int, around: int) -> TriMesh:
    """A fine tube in the bar, of along × around quads, two triangles each."""
    i, j = np.meshgrid(np.arange(along + 1), np.arange(around), indexing="ij")
    angle = 2.0 * np.pi * j.reshape(-1) / around
    middle, radius = 0.5 * WIDTH, 0.45 * WIDTH
    rest = np.stack(
        [LENGTH * i.reshape(-1) / along, middle + radius * np.cos(angle), middle + radius * np.sin(angle)], 1
    )
    i, j = (one.reshape(-1) for one in np.meshgrid(np.arange(along), np.arange(around), indexing="ij"))
    a, b = i * around + j, i * around + (j + 1) % around
    return TriMesh(rest, np.concatenate([np.stack([a, b, a + around], 1), np.stack([b, b + around, a + around], 1)]))


def twisted(rest: Points, turn: float) -> Points:
    """(n, 3) the bar twisted by so much [rad] from end to end."""
    angle, across = turn * rest[:, 0] / LENGTH, rest[:, 1:] - 0.5 * WIDTH
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([rest[:, 0], c * across[:, 0] - s * across[:, 1], s * across[:, 0] + c * across[:, 1]], axis=1)


def left_end(body: TetMesh) -> Pin:
    """Holds the leftmost twentieth of a bar."""
    return Pin(np.flatnonzero(body.rest[:, 0] < 0.05 * LENGTH))


@dataclass(frozen=True)
class SolidStep:
    """Median milliseconds of one Newton iteration of a bar with a pinned end, and its parts."""

    tets: int
    vertices: int
    blocks: float
    assemble: float
    factor: float
    solve: float
    gradient: float
    step: float
    """a whole step with `iterations=1`, as it is taken"""
    bare: float
    """one numeric factorisation and one usable solve of the same matrix by the same library, in single precision"""
    double: float
    """the same in double precision, one plain solve: about as exact as the step"""
    processor: tuple[float, float, float]
    """of step, bare and double, the processor's own time"""

    @property
    def over_bare(self) -> float:
        """step / bare."""
        return self.step / self.bare

    @property
    def ratios(self) -> tuple[float, float]:
        """step / bare and step / double, of the processor's own time."""
        step, bare, double = self.processor
        return step / bare, step / double


def step_cost(cells: tuple[int, int, int], threads: int | None = None) -> SolidStep:
    """Measure one size, in a state that has swung for a few steps."""
    body = bar(cells)
    job = steering_job(body, pins=left_end(body), material=MATERIAL, iterations=1, threads=threads)
    stepper, state, dt = job.stepper, job.start, 1.0 / RATE
    assert isinstance(stepper, ImplicitEuler)
    for _ in range(3):
        state = stepper.step(state, dt).value
    problem = stepper.freeze(state, dt)
    saddle, x, none = stepper.saddle, problem.target, np.zeros(len(problem.stiffness))
    blocks, force = problem.blocks(x), -problem.gradient(x, none).reshape(-1)
    goal = -problem.missing(x)

    def bare() -> None:
        saddle.refactor()
        saddle.solve(force, goal, rounds=1)

    exact, right = choose(threads=threads), np.concatenate([force, goal])
    exact.analyse(saddle.pattern.indptr, saddle.pattern.indices)
    values = saddle.scaled()

    def double() -> None:
        exact.factor(values)
        exact.solve(right)

    median, own = timed(
        [
            lambda: problem.blocks(x), lambda: saddle.assemble(blocks, problem.stiffness), saddle.refactor,
            lambda: saddle.solve(force, goal),
            lambda: problem.gradient(x, none), lambda: stepper.step(state, dt), bare, double,
        ],
        int(np.clip(2e5 / len(body.tets), 5, 40)),
    )  # fmt: skip
    return SolidStep(len(body.tets), body.point_count, *median.tolist(), processor=(own[-3], own[-2], own[-1]))


def step_lines(sizes: Sequence[tuple[int, int, int]], threads: int | None) -> Iterator[str]:
    """A step by size."""
    yield (
        f"{'tets':>8}{'vertices':>10} |{'blocks':>9}{'assemble':>10}{'factor':>9}{'solve':>9}{'gradient':>10} |"
        f"{'step':>9}{'bare':>9}{'double':>9}{'step/bare':>11} |{'step/bare*':>11}{'step/double*':>13}"
    )
    for cells in sizes:
        c = step_cost(cells, threads)
        yield (
            f"{c.tets:>8}{c.vertices:>10} |{c.blocks:>9.2f}{c.assemble:>10.2f}{c.factor:>9.2f}{c.solve:>9.2f}"
            f"{c.gradient:>10.2f} |{c.step:>9.2f}{c.bare:>9.2f}{c.double:>9.2f}{c.over_bare:>11.2f} |"
            f"{c.ratios[0]:>11.2f}{c.ratios[1]:>13.2f}"
        )


def way_lines(sizes: Sequence[tuple[int, int, int]], threads: int | None) -> Iterator[str]:
    """What finding the way between two key shapes takes."""
    yield f"{'tets':>8}{'twist':>8}{'shapes':>9}{'seconds':>10}"
    for cells in sizes:
        use_threads(threads)
        body = bar(cells)
        for turn in (90.0, 180.0):
            way = transition(body, body.rest, twisted(body.rest, np.radians(turn)), as_solid(MATERIAL), 8.0)
            yield f"{len(body.tets):>8}{turn:>7.0f}°{len(way.shares):>9}{way.seconds:>10.2f}"

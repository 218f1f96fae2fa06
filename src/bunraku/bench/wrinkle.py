"""What a skin in balance costs: the sizes of the thesis's table, its seconds beside ours [Remillard 2013, tab. 7–1].

A pillow, a bar and a slab whose interior is pressed together frame by frame; each frame the skin is balanced from the
one before. *Ours* is how `wrinkle` does it, coupled two and a half wavelengths apart with the foundation between;
*recipe* is the thesis's way: as many averages as it had, and nothing between. Both end in stable equilibria, which the
printed solvers did not look for.

The printed seconds are of one Newton iteration ("to linearize, assemble, solve and update the system", with one
assembly in them), of Lagrange multipliers and of projections. Ours are of whole frames, and of one such iteration.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from bunraku.contracts import Points, Vector
from bunraku.direction.track import TestFunctions, gaussians
from bunraku.direction.wrinkle import Skin
from bunraku.direction.wrinkle.settings import coupling_width
from bunraku.direction.wrinkle.wrinkling import grown_on
from bunraku.geometry import TriMesh, face_areas, lattice_around
from bunraku.materials import SkinOnSoft
from bunraku.scenes.soft_shapes import rounded_bar

from .tracks import machine

_UNDER = 1e5
"""[Pa] of the interior: only the ratio counts"""
FRAMES, FLAT = 25, 16
"""frames, half a second in steps of 0.02 s, and those before a skin is pressed beyond its onset"""
_PRESSED = 1.5
"""times the onset, in the end"""
_MOST_RECIPE = 7000
"""unknowns up to which the thesis's recipe is measured: of more a search takes minutes"""
_SOLVES, _OFF = 5, 1e-4
"""iterations that are timed, each from the last balance and a little beside it, in thicknesses: there one factor and
one step are what an iteration takes"""
_MOST_PRESSED = 0.15
"""of the length: a mesh too coarse for its waves is not crushed"""
_CELLS = {"pillow": 0.13, "bar": 0.1, "slab": 0.2}
"""[m]: about as many elements as the thesis has"""
_SHAPES: dict[str, tuple[tuple[float, float, float], float]] = {
    "pillow": ((0.25, 0.06, 0.25), 0.05), "bar": ((0.4, 0.05, 0.05), 0.02), "slab": ((0.25, 0.02, 0.05), 0.01),
}  # fmt: skip
"""half sides [m], and how much edges are rounded"""


@dataclass(frozen=True)
class Printed:
    """A row of the table: sizes, and milliseconds."""

    name: str
    thickness: float
    """[m]"""
    ratio: float
    averages: int
    unknowns: int
    lattice: float | None
    coupling: float
    """[ms] of the set-ups"""
    lagrange: float
    projection: float
    """[ms] of a Newton iteration"""


ROWS: tuple[Printed, ...] = (
    Printed("pillow", 2e-4, 1e2, 2108, 28194, 1584, 1377, 45690, 68640),
    Printed("pillow", 4e-4, 1e2, 1488, 12534, 982, 1231, 6328, 1578),
    Printed("pillow", 5e-4, 1e2, 1046, 3138, 361, 329, 639, 164),
    Printed("pillow", 7e-4, 1e4, 98, 28194, 1584, 7902, 36746, 2257),
    Printed("pillow", 7e-4, 1e4, 100, 12534, 982, 1128, 4536, 955),
    Printed("pillow", 7e-4, 1e4, 95, 3138, 361, 234, 576, 467),
    Printed("pillow", 7e-4, 1e4, 87, 636, 163, 89, 69, 58),
    Printed("bar", 1e-3, 1e2, 33, 6534, 280, 805, 2257, 328),
    Printed("bar", 1e-4, 1e2, 82, 6534, 296, 649, 2694, 411),
    Printed("slab", 1e-3, 1e2, 6, 918, None, 109, 162, 52),
    Printed("slab", 2e-4, 1e3, 21, 918, None, 108, 252, 66),
)  # fmt: skip


@lru_cache(maxsize=8)
def body(name: str, vertices: int) -> TriMesh:
    """A pillow of half a metre, a bar of 0.8 m or a slab of half a metre, with about so many vertices."""
    half, soft = _SHAPES[name]
    a, b, c = half
    edge = np.sqrt(8.0 * (a * b + b * c + c * a) / (0.866 * vertices))
    mesh = rounded_bar(half, soft, edge)
    for _ in range(2):
        edge *= np.sqrt(mesh.point_count / vertices)
        mesh = rounded_bar(half, soft, edge)
    return mesh


def as_many(mesh: TriMesh, count: int) -> TestFunctions:
    """Bumps in about that number, but for what the mesh has no vertices for."""
    width = np.sqrt(face_areas(mesh.rest, mesh.faces).sum() / count)
    found = gaussians(mesh, width)
    for _ in range(3):
        if abs(found.count - count) <= 0.03 * count:
            break
        width *= np.sqrt(found.count / count)
        found = gaussians(mesh, width)
    return found


@dataclass(frozen=True)
class Measured:
    """What a skin took."""

    averages: int
    set_up: float
    """[s] of what is coupled"""
    seconds: float
    """[s] of a frame, the median of those beyond the onset"""
    iterations: float
    factorisations: float
    converged: bool
    solve: float
    """[s] of one Newton iteration: energies linearised, assembled, factorised, solved, and as far as it lowers them"""


def balance(skin: Skin, mesh: TriMesh, strain: float, set_up: float) -> Measured:
    """Press a body evenly along x, its sides giving way, and balance its skin frame by frame."""
    spent: list[tuple[float, int, int]] = []
    converged = True
    waves, before = np.zeros_like(mesh.rest), np.zeros_like(mesh.rest)
    for frame in range(1, FRAMES + 1):
        there = pressed(mesh.rest, strain * frame / FRAMES)
        begin = time.perf_counter()
        found = Skin.at(skin, frame / FRAMES, there + grown_on(waves, before, skin.layers.thickness))
        spent.append((time.perf_counter() - begin, found.stats["iterations"], found.stats["factorisations"]))
        waves, before = found.value.q.reshape(-1, 3) - there, waves
        converged &= found.outcome.usable
    seconds, iterations, factorisations = np.median(np.array(spent[FLAT:]), axis=0)
    solve = _iteration(skin, pressed(mesh.rest, strain) + waves)
    return Measured(skin.tests.count, set_up, seconds, iterations, factorisations, converged, solve)


def _iteration(skin: Skin, balanced: Points) -> float:
    """[s] of one Newton iteration at the last frame, the analysis of the matrix left out; NaN where it took more than
    one factorisation."""
    once, generator = replace(skin, limit=1), np.random.default_rng(0)
    seconds = []
    for _ in range(_SOLVES + 1):
        near = balanced + _OFF * skin.layers.thickness * generator.normal(size=balanced.shape)
        begin = time.perf_counter()
        found = Skin.at(once, 1.0, near)
        spent = time.perf_counter() - begin
        seconds.append(spent if found.stats["factorisations"] == 1 else np.nan)
    return float(np.median(seconds[1:]))


def pressed(rest: Points, strain: float) -> Points:
    """(n, 3) pressed along x, a third as much wider along y and z."""
    scale: Vector = np.array([1.0 - strain, 1.0 + 0.3 * strain, 1.0 + 0.3 * strain])
    return rest * scale


def _measure(row: Printed, mesh: TriMesh, *, recipe: bool, threads: int | None) -> Measured:
    layers = SkinOnSoft(row.thickness, row.ratio * _UNDER, _UNDER)
    begin = time.perf_counter()
    tests = (
        as_many(mesh, row.averages)
        if recipe
        else gaussians(mesh, float(coupling_width(np.array([layers.wavelength]), mesh)[0]))
    )
    set_up = time.perf_counter() - begin
    strain = min(_PRESSED * layers.onset, _MOST_PRESSED)
    frames = {round(k / FRAMES, 9): pressed(mesh.rest, strain * k / FRAMES) for k in range(FRAMES + 1)}
    skin = Skin(mesh, layers, lambda at: frames[round(at, 9)], tests, not recipe, threads=threads)
    return balance(skin, mesh, strain, set_up)


def run(rows: Sequence[Printed] = ROWS, threads: int | None = None) -> Iterator[str]:
    """The table, a row at a time."""
    yield machine(threads)
    yield (
        f"seconds a frame, medians of {FRAMES - FLAT} beyond the onset, and an iteration; printed ones of an iteration"
    )
    yield (
        "body   h mm  ratio  λ mm  edges/λ unknowns |lattice  printed| ours  its  fac. averages set-up  iter. | "
        "recipe  its  fac. averages set-up  iter. |    Lagrange projection | a frame ×Lagr. ×proj. | "
        "an iteration ×Lagr. ×proj."
    )
    for row in rows:
        yield _line(row, threads)


def _line(row: Printed, threads: int | None) -> str:
    mesh = body(row.name, row.unknowns // 3)
    layers = SkinOnSoft(row.thickness, row.ratio * _UNDER, _UNDER)
    lattice, printed = "      –", "      –"
    if row.lattice is not None:
        begin = time.perf_counter()
        lattice_around(mesh, _CELLS[row.name])
        lattice, printed = f"{time.perf_counter() - begin:7.2f}", f"{1e-3 * row.lattice:7.2f}"
    ours = _measure(row, mesh, recipe=False, threads=threads)
    recipe = _measure(row, mesh, recipe=True, threads=threads) if row.unknowns <= _MOST_RECIPE else None
    edge = float(np.sqrt(face_areas(mesh.rest, mesh.faces).mean() / 0.433))
    lagrange, projection = 1e-3 * row.lagrange, 1e-3 * row.projection
    return (
        f"{row.name:6s} {1e3 * row.thickness:4.1f} {row.ratio:6.0f} {1e3 * layers.wavelength:5.1f} "
        f"{layers.wavelength / edge:8.1f} {3 * mesh.point_count:8d} |{lattice} {printed} |"
        f"{_told(ours)} | {_told(recipe)} | {lagrange:11.2f} {projection:10.2f} | "
        f"{lagrange / ours.seconds:14.1f} {projection / ours.seconds:6.1f} | "
        f"{lagrange / ours.solve:19.1f} {projection / ours.solve:6.1f}"
    )


def _told(one: Measured | None) -> str:
    """Columns of a way that was measured, or was not."""
    if one is None:
        return f"{'–':>6s} {'–':>4s} {'–':>5s} {'–':>8s} {'–':>6s} {'–':>6s}"
    return (
        f"{one.seconds:6.3f} {one.iterations:4.0f} {one.factorisations:5.0f} {one.averages:8d} {one.set_up:6.2f} "
        f"{one.solve:6.3f}{'' if one.converged else ' not converged'}"
    )

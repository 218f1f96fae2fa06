"""What bunraku claims, measured: the lines of docs/verification.md (`report.py` writes them).

Every number comes from the functions that the tests in this folder assert with the same tolerances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import beams
import numpy as np
from bending_table import clamped_centre, extrapolated, patch, squared_step, supported_centre, table, twisted_corner
from cantilever import elastica, tip
from mandrel import MANDREL, YIELD, folded_by_its_ends, inner, over_mandrel, read
from plates import KINDS, square
from test_damping import SOURCES, crumpled, damping_force, rotation
from test_guided_motion import TIMES, follow, tumbling
from test_mandrel import DIRECTIONS, READ_TOLERANCE, SET_TOLERANCE
from test_momentum import CLOTH, G, march, stepper, tumbled
from test_uniaxial import uniaxial_error
from vibrations import (
    CLAMPED_1,
    FREE,
    SUPPORTED_1,
    buckling_load,
    clamped_frequency,
    free_frequencies,
    supported_frequency,
)

from bunraku.contracts import State
from bunraku.geometry import TriMesh, lumped_mass
from bunraku.motion import Animation
from bunraku.scenes import box_mesh
from bunraku.testing import check_stepper


@dataclass(frozen=True)
class Claim:
    """One line of the table."""

    claim: str
    equation: str
    measured: float
    tolerance: float
    exact: float = 0.0
    """what `measured` should be; with zero, `measured` is an error"""

    @property
    def holds(self) -> bool:
        """Whether the measured number is within the tolerance of the exact one."""
        return abs(self.measured - self.exact) <= self.tolerance

    def line(self) -> str:
        """Markdown."""
        wanted = f"≤ {self.tolerance:.1g}" if self.exact == 0.0 else f"{self.exact:g} ± {self.tolerance:.2g}"
        measured = f"{self.measured:.1e}" if self.exact == 0.0 else f"{self.measured:.4f}"
        return f"| {self.claim} | {self.equation} | {measured} | {wanted} | {'yes' if self.holds else '**no**'} |"


def order(measure: Callable[[int], float], exact: float, counts: tuple[int, ...] = (8, 16, 32)) -> float:
    """Order of convergence in h by log-log fit."""
    errors = [abs(measure(n) - exact) for n in counts]
    return float(np.polyfit(np.log([1 / n for n in counts]), np.log(errors), 1)[0])


def centres(name: str, equation: str, measure: Callable[[TriMesh, str], float]) -> list[Claim]:
    """How the error at the centre falls, and where 16 and 32 edges point to: within a tenth of the error at 32."""
    claims = []
    for kind in KINDS:
        meshes = square(kind, 16), square(kind, 32)
        coarse, fine = (measure(mesh, "plate") for mesh in meshes)
        ratio = squared_step(*meshes)
        falls = (coarse - 1) / (fine - 1) / ratio
        limit = extrapolated(coarse, fine, ratio)
        claims.append(Claim(f"{name} plate, {kind}, 16 to 32 edges: error/h²", "error ∝ h²", falls, 0.2, 1.0))
        claims.append(
            Claim(f"{name} plate, {kind}, extrapolated from 16, 32: centre", equation, limit, 0.1 * abs(fine - 1), 1.0)
        )
    return claims


def statics() -> list[Claim]:
    """Plates, strips and sheets at rest."""
    drop, reach = elastica()
    claims = centres("supported", "w = 0.00406235 q/D", supported_centre)
    claims += centres("clamped", "w = 0.00126532 q/D", clamped_centre)
    claims += [
        Claim(
            f"constant curvature, {kind}, 16 edges: energy", "½ D [(1−ν) K:K + ν tr²K]", patch(square(kind, 16)), 2e-6
        )
        for kind in KINDS
    ]
    claims += [
        Claim(
            f"twisted plate, {kind}, 32 edges: corner",
            "w = P xy/2D(1−ν)",
            twisted_corner(square(kind, 32), "plate"),
            1e-8,
            1.0,
        )
        for kind in KINDS
    ]
    claims += [
        Claim(
            f"order in h, {name} plate",
            "error ∝ h²",
            order(lambda n, m=measure: m(square("one-diag", n), "plate"), 1.0),
            0.33,
            2.0,
        )
        for name, measure in (("supported", supported_centre), ("clamped", clamped_centre))
    ]
    for kind in KINDS:
        found = tip(kind, 16)
        claims.append(
            Claim(
                f"heavy cantilever, {kind}, 16 edges: drop",
                "D θ'' + q(L−s) cos θ = 0, qL³/D = 10",
                found[0] / drop,
                0.02,
                1.0,
            )
        )
        claims.append(Claim(f"heavy cantilever, {kind}, 16 edges: reach", "as above", found[1] / reach, 0.02, 1.0))
    claims += [
        Claim(f"buckling load of a strip, {kind}, 16 edges", "P = π²D/L²", buckling_load(kind, 16), 0.03, 1.0)
        for kind in KINDS
    ]
    claims.append(Claim("uniaxial stretch, force / E h", "h λ E (λ²−1)/2, μ² = 1 − ν(λ²−1)", uniaxial_error(), 1e-11))
    return claims


def vibrations() -> list[Claim]:
    """Frequencies, and what implicit Euler makes of them."""
    claims = [
        Claim(
            "clamped square, lowest frequency, alt-diag, 24 edges",
            "ωa²√(ρh/D) = 35.985",
            clamped_frequency(square("alt-diag", 24)) / CLAMPED_1,
            0.03,
            1.0,
        ),
        Claim(
            "supported square, lowest frequency, one-diag, 16 edges",
            "ωa²√(ρh/D) = 2π²",
            supported_frequency(square("one-diag", 16)) / SUPPORTED_1,
            0.03,
            1.0,
        ),
        Claim(
            "order in h, clamped frequency",
            "error ∝ h²",
            order(lambda n: clamped_frequency(square("one-diag", n)), CLAMPED_1),
            0.33,
            2.0,
        ),
    ]
    claims.append(
        Claim(
            "order in h, free frequency",
            "error ∝ h²",
            order(lambda n: float(free_frequencies(square("one-diag", n))[3]), FREE[0]),
            0.33,
            2.0,
        )
    )
    coarse, fine = (free_frequencies(square("alt-diag", n))[3:] / FREE for n in (16, 32))
    for k, (exact, limit) in enumerate(zip(FREE, extrapolated(coarse, fine, 4.0), strict=True)):
        claims.append(
            Claim(
                f"free square, frequency {k + 1}, alt-diag, extrapolated from 16, 32",
                f"ωa²√(ρh/D) = {exact}",
                float(limit),
                0.1 * abs(float(fine[k]) - 1),
                1.0,
            )
        )
    return claims


def laws() -> list[Claim]:
    """Damping, momentum, free fall, order in time."""
    worst = 0.0
    for name in SOURCES:
        for seed in range(8):
            generator = np.random.default_rng(seed)
            before = crumpled(seed)
            force, scale = damping_force(name, before, before @ rotation(generator.uniform(-4, 4, 3)).T + 1.0, 0.02)
            worst = max(worst, force / scale)
    solver, mass = stepper()
    states = march(solver, tumbled(), 0.01, 10)
    momenta = np.array([mass.times(state.velocity.reshape(-1, 3)).sum(axis=0) for state in states])
    imbalance = np.abs(np.diff(momenta, axis=0) / 0.01 / mass.lumped.sum() - G).max() / 9.81
    start = State(0.0, CLOTH.rest.reshape(-1).copy(), np.zeros(CLOTH.rest.size))
    fallen = march(solver, start, 1 / 48, 24)[-1].q.reshape(-1, 3) - CLOTH.rest
    return [
        Claim("damping under any finite rotation, of the elastic force", "R xₙ + t ⇒ no force", worst, 1e-10),
        Claim("momentum of a free sheet, of its weight", "Σ M (vₙ₊₁ − vₙ) = dt m g", float(imbalance), 1e-9),
        Claim("free fall, 24 steps [m]", "½ n(n+1) dt² g", float(np.abs(fallen - 300 / 48**2 * G).max()), 1e-11),
        Claim("order in time of implicit Euler", "error ∝ dt", check_stepper(solver, tumbled(3), 0.02), 0.33, 1.0),
    ]


def guided() -> list[Claim]:
    """What direction must carry exactly."""
    box = box_mesh()
    a, t = np.array([30.0, 20.0, -10.0]), TIMES[:, None, None]
    falling = Animation(box, TIMES, box.rest + 0.5 * a * t**2)
    claims = []
    for mass in ("lumped", "consistent"):
        take, away = follow(falling, mass=mass)
        claims.append(
            Claim(
                f"uniformly accelerated guide, {mass} mass, of the size",
                "x = P x̄",
                float(away.max()) / take.facts["size"],
                1e-9,
            )
        )
    take, away = follow(tumbling(box), mass="consistent", substeps=1, tolerance=1e-10)
    claims.append(
        Claim(
            "rigidly tumbling guide, consistent mass, of the size",
            "x = P x̄",
            float(away.max()) / take.facts["size"],
            1e-9,
        )
    )
    claims.append(
        Claim(
            "directions met, of the size", "C x = C̄ x̄", float(take.report["residual"].max()) / take.facts["size"], 1e-9
        )
    )
    take, _ = follow(tumbling(box), substeps=1)
    points = lumped_mass(take.animation.mesh, 800.0 * 4e-3)
    rate = np.diff(np.einsum("n,tnk->tk", points, take.velocities), axis=0) * 24.0
    missing = np.abs(take.report["force"][1:].sum(axis=1) - rate).max() / np.abs(rate).max()
    claims.append(
        Claim("forces of direction balance momentum, of the force", "Σ F = m Δv̄/dt − m g", float(missing), 1e-9)
    )
    return claims


def setting() -> list[Claim]:
    """Yield in true curvature, and what is left after a mandrel; rows with the free strip over 1/R − Δκ_max."""
    claims = []
    for kind in KINDS:
        mesh = square(kind, 16)
        found = np.concatenate([read(mesh, direction)[inner(mesh, 0.2)] for direction in DIRECTIONS])
        worst = float(found[np.argmax(np.abs(found - 1.0))])
        name = f"curvature read on a cylinder, {kind}, six directions: worst"
        claims.append(Claim(name, "largest principal K = 1/R", worst, READ_TOLERANCE, 1.0))
    kept, tolerance = MANDREL - YIELD, SET_TOLERANCE / (MANDREL - YIELD)
    for kind in ("equi", "one-diag", "random"):
        for n, steps, eta in [(n, steps, eta) for n in (16, 32) for eta in (0.0, 0.5) for steps in (10, 40)]:
            found = over_mandrel(kind, n, steps, eta).curvature / kept
            name = f"set after a mandrel, {kind}, {n} edges, {steps} steps, η = {eta:g} m"
            claims.append(Claim(name, "κ = 1/R − Δκ_max", found, tolerance, 1.0))
    found = over_mandrel("one-diag", 16, 4, 0.5, plate=False).curvature / kept
    claims.append(Claim("the same, independent hinges, one-diag, 16 edges, 4 steps", "as above", found, tolerance, 1.0))
    for eta in (0.3, 0.0):
        rows = folded_by_its_ends(12, eta)
        name = f"strip folded by its ends, η = {eta:g} m: most over least set row"
        claims.append(Claim(name, "one bend", float(rows.max() / rows.min()), 0.5, 1.0))
    return claims


def solids() -> list[Claim]:
    """Bars of tetrahedra, ν = 0.3, eight times as long as wide, clamped."""
    exact, (bending, axial) = beams.beam_sag(), beams.beam_frequencies()
    sags = {n: beams.sag(n) / exact for n in (4, 7, 8, 14)}
    four, eight = (beams.frequencies(n) for n in (4, 8))
    limit = beams.extrapolated(sags[7], sags[14])
    sag = "w = qL⁴/8EI + qL²/2κGA"
    return [
        Claim("bar of tets, 14 cells across: sag", sag, sags[14], 0.03, 1.0),
        Claim("bar of tets, extrapolated from 4, 8: sag", sag, beams.extrapolated(sags[4], sags[8]), 0.03, 1.0),
        Claim("bar of tets, extrapolated from 7, 14: sag", sag, limit, 0.02, 1.0),
        Claim("bar of tets, 4 to 7 cells: order in h", "error ∝ h²", _bar_order(sags, limit), 0.33, 2.0),
        Claim("bar of tets, 8 cells across: bending frequency", "Timoshenko, by Ritz", eight[0] / bending, 0.03, 1.0),
        Claim("bar of tets, extrapolated from 4, 8: bending frequency", "as above",
              beams.extrapolated(four[0], eight[0]) / bending, 0.01, 1.0),
        Claim("bar of tets, 8 cells across: axial frequency", "ω = π/2L √(E/ρ)", eight[1] / axial, 0.03, 1.0),
    ]  # fmt: skip


def _bar_order(sags: dict[int, float], limit: float) -> float:
    """Of convergence in h, from 4 and 7 cells across."""
    return float(np.log((limit - sags[4]) / (limit - sags[7])) / np.log(7 / 4))


def document() -> tuple[str, bool]:
    """The Markdown text, and whether every claim holds."""
    claims = [*statics(), *setting(), *vibrations(), *solids(), *laws(), *guided()]
    lines = [
        "# Verification",
        "",
        "Generated by `tests/verification/report.py`; not typed. Lengths and loads in units of the problem; ratios are"
        " measured over exact. Plates have ν = 0.3, strips ν = 0. Clamped edges are made with rigid ghost faces, held.",
        "",
        "| claim | equation | measured | tolerance | holds |",
        "|---|---|---|---|---|",
        *(claim.line() for claim in claims),
        "",
        "## Bending on five kinds of mesh",
        "",
        "Deflection over exact; the last column is the largest error of the energy of an imposed constant curvature."
        " `plate` is the condensed Hellan–Herrmann–Johnson element, `hinge` the paper's Discrete Shells.",
        "",
        table(16),
        "",
        table(32),
    ]
    return "\n".join(lines) + "\n", all(claim.holds for claim in claims)

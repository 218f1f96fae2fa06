"""A bar with straight arms, bent in the middle [Remillard 2013, figs 3–2, 5–1, 5–2]: what an interior and a coupling
put into a skin that the materials did not ask for.

The arms are taken by handles and do not deform, so a wrinkle there comes from the coupling alone. The top of the bend
is pressed and its bottom is stretched; where cells meet, an interior that kinks there shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from bunraku.contracts import Flags, Points, State, Vector
from bunraku.direction.wrinkle import Handle, Skin
from bunraku.direction.wrinkle.coupling import Coupling, coupled
from bunraku.direction.wrinkle.handles import Held
from bunraku.dynamics import Equilibrium, EquilibriumSettings, Mass, System
from bunraku.energies import LatticeSolid
from bunraku.energies.dihedral import angles
from bunraku.geometry import Lattice, TriMesh, hinges, lattice_around, lumped_mass, vertex_normals
from bunraku.geometry.tet_bar import tet_bar
from bunraku.materials import SkinOnSoft, SolidMaterial
from bunraku.motion import Animation

from .study import Panel, Study

SHORT = SkinOnSoft(4e-3, 1e7, 1e5)
"""a skin with waves of 81 mm"""
SIZE = (0.8, 0.1, 0.1)
"""[m] of the bar"""
CELL = 0.1
"""[m] of its lattice: eight elements, as in the thesis"""
_FREE = 0.2
"""[m] of the bar on each side of its middle that no handle takes"""


@dataclass(frozen=True)
class BentBar:
    """The bar, its skin, and how the two are coupled."""

    layers: SkinOnSoft
    around: int = 8
    """edges across the bar, and to a cell"""
    degree: int = 2
    """of the lattice"""
    coupling: Coupling = "local"
    spacing: float = 2.5
    """wavelengths between what is coupled"""
    foundation: bool = True
    """as for `Skin`"""
    angle: float = 60.0
    """[°] between the arms in the end"""
    steps: int = 4
    threads: int | None = None

    @cached_property
    def mesh(self) -> TriMesh:
        """Its surface, about the origin, along x."""
        many = self.around
        surface = tet_bar((round(SIZE[0] / CELL) * many, many, many), SIZE).surface()
        return TriMesh(surface.rest - 0.5 * np.array(SIZE), surface.faces)

    @cached_property
    def lattice(self) -> Lattice:
        """Its interior; cells meet at multiples of `CELL` along x."""
        return lattice_around(self.mesh, CELL, degree=self.degree)

    @cached_property
    def interior(self) -> Animation:
        """Where the interior has the surface from straight to bent, in balance with itself all the time."""
        material = SolidMaterial(self.layers.under, self.layers.poisson_under)
        masses = self.lattice.masses(material.density)
        held = Held(self.lattice, [self._arm(side) for side in (-1, 1)]).constraint(masses)
        system = System(Mass(masses), (LatticeSolid(self.lattice, material),), (held,))
        search = Equilibrium(system, EquilibriumSettings(length=CELL), threads=self.threads)
        times, q = np.linspace(0.0, 1.0, self.steps + 1), self.lattice.rest.reshape(-1)
        places = [self.mesh.rest]
        for time in times[1:]:
            found = search.find(State(float(time), q, np.zeros_like(q)))
            q = found.value.q
            places.append(self.lattice.points(q.reshape(-1, 3)))
        return Animation(self.mesh, times, np.stack(places))

    def _arm(self, side: int) -> Handle:
        """One arm, turned by half of the angle as the end of an arc as long as what is free."""
        vertices = np.flatnonzero(side * self.mesh.rest[:, 0] >= _FREE - 1e-9)
        away = self.mesh.rest[vertices] - [side * _FREE, 0.0, 0.0]

        def place(time: float) -> Points:
            half = 0.5 * np.radians(self.angle) * time
            radius, turn = (_FREE / half, side * half) if half else (0.0, 0.0)
            middle = [side * (radius * np.sin(half) if half else _FREE), radius * (1.0 - np.cos(half)), 0.0]
            spun = np.array([[np.cos(turn), -np.sin(turn), 0.0], [np.sin(turn), np.cos(turn), 0.0], [0.0, 0.0, 1.0]])
            return middle + away @ spun.T

        return Handle(vertices, place)

    @cached_property
    def skin(self) -> Skin:
        """On the interior."""
        tests = coupled(self.mesh, self.spacing * self.layers.wavelength, self.coupling, self.threads)
        return Skin(self.mesh, self.layers, self.interior.at, tests, self.foundation, threads=self.threads)


@dataclass(frozen=True, eq=False)
class Bent:
    """What came of bending a bar."""

    bar: BentBar
    animation: Animation
    """of its skin"""
    converged: bool

    @cached_property
    def heights(self) -> Vector:
        """(n,) [m] of the skin over the interior at the end."""
        places = self.bar.interior.points[-1]
        return np.sum((self.animation.points[-1] - places) * vertex_normals(places, self.bar.mesh.faces), axis=1)

    @property
    def away(self) -> Flags:
        """(n,) vertices of the arms, a wave or more from where they begin."""
        return np.abs(self.bar.mesh.rest[:, 0]) > _FREE + self.bar.layers.wavelength

    def wrinkled(self) -> Mapping[str, float]:
        """Root mean squares [m] of the heights in the bend and away from it, and the share of all of ∫w² that is away
        from it."""
        areas, squares = lumped_mass(self.bar.mesh), self.heights**2
        bend, away = np.abs(self.bar.mesh.rest[:, 0]) < _FREE, self.away
        mean = {
            name: float(np.sqrt(np.average(squares[part], weights=areas[part])))
            for name, part in (("bend", bend), ("away", away))
        }
        return {**mean, "share": float((areas * squares)[away].sum() / (areas * squares).sum())}


def bend(bar: BentBar) -> Bent:
    """Bend a bar step by step, each balance of its skin looked for from the one before."""
    interior, frames, converged = bar.interior, [bar.mesh.rest], True
    for before, time in pairwise(interior.times):
        guess = frames[-1] + interior.at(float(time)) - interior.at(float(before))
        solution = bar.skin.at(float(time), guess)
        converged &= solution.outcome.usable
        frames.append(solution.value.q.reshape(-1, 3))
    return Bent(bar, Animation(bar.mesh, interior.times, np.stack(frames)), converged)


def bar_study(threads: int | None = None, around: int = 6) -> Study:
    """What linear and smooth cells do to the bar, and three couplings to a skin with waves of 81 mm on smooth ones."""
    ways: dict[str, tuple[Coupling, float, bool]] = {
        "spectral": ("spectral", 1.0, False), "local": ("local", 1.0, False),
        "with the foundation": ("local", 2.5, True),
    }  # fmt: skip
    panels, rows = [], []
    for degree, name in ((1, "linear cells"), (2, "smooth cells")):
        bar = BentBar(SHORT, around, degree=degree, threads=threads)
        panels.append(Panel(name, bar.interior))
        rows.append((name, (0.0, 0.0, 0.0, 100.0 * kink(bar.mesh, bar.interior.points[-1]))))
    for name, (coupling, spacing, foundation) in ways.items():
        bar = BentBar(SHORT, around, coupling=coupling, spacing=spacing, foundation=foundation, threads=threads)
        found = bend(bar)
        panels.append(Panel(name, found.animation, unconverged=0 if found.converged else 1, is_skin=True))
        told, turned = found.wrinkled(), 100.0 * kink(bar.mesh, found.animation.points[-1])
        rows.append((name, (1e3 * told["bend"], 1e3 * told["away"], 100.0 * told["share"], turned)))
    columns = ("in the bend mm", "in the arms mm", "∫w² in the arms %", "turned where cells meet %")
    last = panels[0].animation.frame_count - 1
    even = 100.0 * even_kink(panels[0].animation.mesh)
    remark = (
        f"an even bend turns {even:.0f} % where cells meet; spectral and local: coupled every λ, and nothing between"
    )
    return Study(tuple(panels), columns, tuple(rows), (last,), (remark,), captions=("bent by 60°",))


def kink(mesh: TriMesh, points: Points) -> float:
    """The share of what a bent bar's surface turns, edge after edge along it, that it turns where cells meet; above and
    below, in the bend. Of an even bend it is the share of those edges."""
    turned, met = _turns(mesh, points)
    return float(turned[met].sum() / turned.sum())


def even_kink(mesh: TriMesh) -> float:
    """The same of an even bend."""
    return float(_turns(mesh, mesh.rest)[1].mean())


def _turns(mesh: TriMesh, points: Points) -> tuple[Vector, Flags]:
    """Angles [rad] at the edges across the bar, and which of those are where cells meet."""
    found = hinges(mesh).vertices
    x = mesh.rest[found]
    flat = np.ptp(x[:, :, 1], axis=1) < 1e-9
    across = flat & (np.abs(x[:, 0, 0] - x[:, 1, 0]) < 1e-9) & (np.abs(x[:, 0, 0]) < _FREE + 1e-9)
    place = x[across, 0, 0] / CELL
    turned = np.abs(angles(points, found[across], np.zeros(int(across.sum()))))
    return turned, np.abs(place - np.rint(place)) < 1e-6

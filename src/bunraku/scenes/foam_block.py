"""One block of foam under three skins, pressed, bent and twisted alike [Remillard 2013, figs 7–6 and 7–7].

The skins are the thesis's: linen, one that is supple and thick, one that is rigid and thin. How long their waves are
among each other is theirs alone, 71 : 71 : 5, for all go with the cube root of the foam's stiffness. The foam is stiff,
so that the supple skin is only fifty times stiffer and is still bound to wrinkle before it is crushed; the block is
five waves long then. Those of foil are a fourteenth: no mesh has both, so it is on a block 0.08 times as large.

The skins go one way with the foam: they are to be compared on one and the same deformation, but against being drawn
out they are seven to seven hundred times as stiff as their blocks, and two ways each would bend them its own way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.contracts import Flags, PhysicsStopped, Points, Vector
from bunraku.direction import Take
from bunraku.direction.wrinkle import Handle, wrinkle
from bunraku.direction.wrinkle.interior import POINTS, LatticeInterior
from bunraku.geometry import Lattice, TriMesh, edges, embed_points, lattice_around, lattice_cells
from bunraku.materials import ShellMaterial, SkinOnSoft, SolidMaterial
from bunraku.motion import Animation, Path

from .measures import wavelength
from .soft_shapes import rounded_bar
from .study import Panel, Study

FOAM = SolidMaterial(young=1e6, poisson=0.3, density=60.0, stiffness_damping=0.02)
HALF = (0.32, 0.11, 0.13)
"""[m] half of the block's sides"""
_SOFT = 0.03  # [m] by which its edges are rounded
_HELD = 0.08  # [m] of each end that is taken along
_CELL, _SEEN_BY_CELLS = 0.112, 0.02
"""[m] the lattice's cells, six along the block, and edges of the surface it is made of"""
_STEPS = 8
_PER_WAVE = 6.0  # asked for; edges come out a little shorter

MOTIONS = {"pressed": 0.022, "bent": 14.0, "twisted": 22.0}
"""by how much each end is moved in [m], or turned [°]"""
_CELLS, _RIMS = (0.36, 0.53, 0.74), (0.16, 0.27, 0.44)


@dataclass(frozen=True)
class Dressing:
    """A skin, and how large the block is that it is on."""

    name: str
    material: ShellMaterial
    size: float = 1.0
    """of the block, over `HALF`"""

    @property
    def layers(self) -> SkinOnSoft:
        """The skin on the foam."""
        young = self.material.young
        assert isinstance(young, float)
        return SkinOnSoft(self.material.thickness, young, FOAM.young, self.material.poisson, FOAM.poisson)


DRESSINGS = (
    Dressing("linen", ShellMaterial(young=25e9, poisson=0.3, thickness=1e-3, density=1500.0)),
    Dressing("supple and thick", ShellMaterial(young=50e6, poisson=0.3, thickness=8e-3, density=1000.0)),
    Dressing("rigid and thin", ShellMaterial(young=70e9, poisson=0.3, thickness=5e-5, density=2700.0), size=0.08),
)


def block(edge: float, size: float = 1.0) -> TriMesh:
    """A block about the origin, longest along x, with edges of about `edge` [m]."""
    x, y, z = (size * one for one in HALF)
    return rounded_bar((x, y, z), size * _SOFT, edge)


def taken(mesh: TriMesh, motion: str, side: int) -> Handle:
    """The end on a side, −1 or 1, of a block as large as `HALF`, in a second."""
    which = np.flatnonzero(side * mesh.rest[:, 0] > HALF[0] - _HELD)
    middle, times = mesh.rest[which].mean(axis=0), np.linspace(0.0, 1.0, 9)
    points = np.repeat(middle[None], len(times), axis=0)
    most = MOTIONS[motion]
    if motion == "pressed":
        return Handle(which, Path(times, points - np.outer(times, [side * most, 0.0, 0.0])))
    angles = np.radians(most) * times
    if motion == "twisted":
        turns = Rotation.from_rotvec(np.outer(side * angles, [1.0, 0.0, 0.0]))
        return Handle(which, Path(times, points, rotations=turns.as_matrix()))
    safe, half = np.maximum(angles, 1e-12), abs(float(middle[0]))  # along an arc as long as the block is
    points[:, 0], points[:, 1] = side * half * np.sin(safe) / safe, half * (1.0 - np.cos(safe)) / safe
    turns = Rotation.from_rotvec(np.outer(side * angles, [0.0, 0.0, 1.0]))
    return Handle(which, Path(times, points, rotations=turns.as_matrix()))


@dataclass(frozen=True, eq=False)
class Moved:
    """The foam by itself, moved by its ends."""

    lattice: Lattice
    nodes: Points
    """(t, n, 3) [m] at rest, after half the way and in the end"""

    def places(self, mesh: TriMesh, size: float) -> Points:
        """(t, v, 3) [m] where a block of that size has a mesh's vertices: foam without weight knows no size."""
        matrix = embed_points(self.lattice, mesh.rest / size).matrix
        return np.stack([size * np.asarray(matrix @ one) for one in self.nodes])


def move(motion: str, threads: int | None = None) -> Moved:
    """Slowly, without gravity and without a skin."""
    mesh = block(_SEEN_BY_CELLS)
    lattice = lattice_around(mesh, _CELL)
    handles = [taken(mesh, motion, side) for side in (-1, 1)]
    interior = LatticeInterior(lattice, FOAM, handles, np.zeros(3), np.zeros(mesh.point_count), threads)
    memory = interior.start(0.0)
    nodes = [memory[POINTS]]
    for k in range(_STEPS):
        found = interior.step(memory, k / _STEPS, 1.0 / _STEPS)
        if not found.outcome.usable:
            raise PhysicsStopped(found.outcome.value, index=k, time=k / _STEPS)
        memory = found.value
        nodes.append(memory[POINTS])
    return Moved(lattice, np.stack(nodes[:: _STEPS // 2]))


@dataclass(frozen=True, eq=False)
class Dressed:
    """A skin on the block, after each of the motions."""

    dressing: Dressing
    mesh: TriMesh
    takes: Sequence[Take]
    """a motion each"""

    @property
    def edges_a_wave(self) -> float:
        """Of the mesh, by theory."""
        ends = self.mesh.rest[edges(self.mesh.faces).vertices]
        return self.dressing.layers.wavelength / float(np.median(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)))

    @cached_property
    def _free(self) -> Flags:
        """(f,) faces between the ends that are taken."""
        middle = self.mesh.rest[self.mesh.faces].mean(axis=1)
        return np.abs(middle[:, 0]) < self.dressing.size * (HALF[0] - _HELD)

    def measured(self, motion: int, frame: int) -> float:
        """[m] how long waves are, on the surface between the ends, by their root mean square wave number."""
        return wavelength(self.mesh, self.takes[motion].report["height"][frame], self._free)

    def highest(self, motion: int) -> float:
        """[m] over the foam, in the end."""
        return float(np.abs(self.takes[motion].report["height"][-1]).max())


def dress(
    dressing: Dressing, motions: Sequence[Moved], threads: int | None = None, per_wave: float = _PER_WAVE
) -> Dressed:
    """Balance a skin on the foam as it moved, `per_wave` edges to a wave."""
    mesh, times = block(dressing.layers.wavelength / per_wave, dressing.size), np.linspace(0.0, 1.0, 3)
    bodies = [Animation(mesh, times, one.places(mesh, dressing.size)) for one in motions]
    takes = [wrinkle(one, skin=dressing.material, interior=FOAM, threads=threads) for one in bodies]
    return Dressed(dressing, mesh, takes)


def skins_study(
    threads: int | None = None, per_wave: float = _PER_WAVE, motions: Sequence[str] = tuple(MOTIONS)
) -> Study:
    """Three skins on one foam, and what is under them: the foam without its waves, and its cells."""
    moved = [move(one, threads) for one in motions]
    dressed = [dress(one, moved, threads, per_wave) for one in DRESSINGS]
    rows = tuple(
        (f"{one.dressing.name}, {motion}", _numbers(one, k)) for one in dressed for k, motion in enumerate(motions)
    )
    panels = (*(_skin_panel(one) for one in dressed), *_foam_panels(moved, dressed[1].mesh))
    moments = tuple(3 * k + frame for k in range(len(motions)) for frame in (1, 2))
    captions = tuple(f"{how}{motion}" for motion in motions for how in ("half ", ""))
    columns = ("theory mm", "edges a wave", "measured, half way mm", "in the end mm", "highest mm")
    remarks = tuple(_remark(one) for one in dressed)
    return Study(panels, columns, rows, moments, remarks, captions=captions)


def _numbers(one: Dressed, motion: int) -> tuple[float, ...]:
    """A row of the table."""
    lengths = one.dressing.layers.wavelength, one.measured(motion, 1), one.measured(motion, 2), one.highest(motion)
    theory, half, end, high = (1e3 * length for length in lengths)
    return theory, one.edges_a_wave, half, end, high


def _remark(one: Dressed) -> str:
    """What the table does not say."""
    long = 2.0 * HALF[0] * one.dressing.size
    return (
        f"{one.dressing.name}: waves from {one.dressing.layers.onset:.3%} on, a block of {1e3 * long:.3g} mm, "
        f"{one.mesh.point_count} vertices"
    )


def _skin_panel(one: Dressed) -> Panel:
    """All motions after one another, as large as the largest block."""
    points = np.concatenate([take.animation.points for take in one.takes]) / one.dressing.size
    missed = sum(int(np.sum(~np.asarray(take.report["converged"], dtype=bool))) for take in one.takes)
    ten = "" if one.dressing.size == 1.0 else f", drawn {1.0 / one.dressing.size:g} times as large"
    name = one.dressing.name
    return Panel(
        name, Animation(_sized(one), _times(len(points)), points), unconverged=missed, caption=name + ten, is_skin=True
    )


def _sized(one: Dressed) -> TriMesh:
    return one.mesh.with_rest(one.mesh.rest / one.dressing.size)


def _times(count: int) -> Vector:
    """(t,) [s] half a second each."""
    return np.linspace(0.0, 0.5 * (count - 1), count)


def _foam_panels(moved: Sequence[Moved], mesh: TriMesh) -> tuple[Panel, Panel]:
    """The foam's surface as it carries a mesh, and its cells."""
    surface = np.concatenate([one.places(mesh, 1.0) for one in moved])
    cells = lattice_cells(moved[0].lattice)
    bent = np.concatenate([[cells.points(q) for q in one.nodes] for one in moved])
    paint = np.where(cells.on_rim[:, None], _RIMS, _CELLS)
    times = _times(len(surface))
    return (
        Panel("the foam", Animation(mesh, times, surface), caption="the foam, without waves", is_skin=True),
        Panel("its cells", Animation(cells.mesh, times, bent), paint=paint),
    )

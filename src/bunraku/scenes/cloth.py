"""The flying cloth of TRACKS §5.1: many coarse previews, one chosen, then a fine run that obeys it.

The director wants a thrown cloth to get stuck on a branch. The branch is an obstacle, and cloth does not pass through
cloth: most throws slide off or fly by, so she tries many with a cloth coarse enough to be thrown in seconds.

The preview has 7 × 5 = 35 vertices. The final has 25 × 65 = 1,625: each edge in four along one side (6 → 24 edges) and
in sixteen along the other (4 → 64), which makes it a subdivision of the preview.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from bunraku.collision import Obstacle, capsule
from bunraku.contracts import Array, Points, Sparse
from bunraku.direction import Contact, Job, Take, collect
from bunraku.direction.track import TestFunctions, tracking_job
from bunraku.geometry import TriMesh
from bunraku.materials import ShellMaterial
from bunraku.motion import Animation

from .study import Panel, Study, grid_mesh

WIDTH, LENGTH = 0.8, 1.4  # [m]
COARSE, FINE = (7, 5), (25, 65)
FRAME_COUNT, RATE = 57, 24.0
TAKES = 20
"""previews looked at, as many as the paper's director made"""
# A bough across the way the cloth flies, and two twigs that rise behind it.
_BOUGH = ((0.20, 1.02, -1.2), (0.30, 1.10, -0.3), (0.32, 1.08, 0.35), (0.24, 1.18, 1.2))
_TWIGS = (((0.30, 1.10, -0.3), (0.70, 1.55, -0.42)), ((0.32, 1.08, 0.35), (0.72, 1.50, 0.42)))
FORK = _BOUGH[1]
"""where the first twig leaves the bough [m]"""
_BARK, _THICKNESS = 0.9, 0.002  # friction, and what stays open [m]
_REACH = 0.015  # [m] at most: a fifth of the preview's edges would be half a hand
_TOLERANCE = 3e-4  # of the cloth's size
CLOTH = ShellMaterial(
    young=2e5, poisson=0.3, thickness=0.0012, density=300.0, stretch_damping=3e-3, bend_damping=3e-3, drag=0.12
)


@dataclass(frozen=True)
class Throw:
    """How the cloth begins: where, how fast, how it turns."""

    velocity: tuple[float, float, float]
    """[m/s]"""
    spin: tuple[float, float, float]
    """[rad/s]"""


@dataclass(frozen=True, eq=False)
class Preview:
    """A coarse take of a throw."""

    throw: Throw
    flight: Animation

    @property
    def dropped(self) -> float:
        """[m] how far its middle is below the fork of the branch in the end."""
        return FORK[1] - float(self.flight.points[-1, :, 1].mean())


def branch() -> tuple[Obstacle, ...]:
    """What the cloth is to get stuck on."""
    bough = [capsule(a, b, 0.035, 0.05) for a, b in pairwise(_BOUGH)]
    twigs = [capsule(a, b, 0.022, 0.04) for a, b in _TWIGS]
    return tuple(Obstacle(part, name=f"branch{k}") for k, part in enumerate([*bough, *twigs]))


def cloth_mesh(counts: tuple[int, int]) -> TriMesh:
    """A sheet lying in y = 0 with so many vertices along its width and its length."""
    return grid_mesh(
        np.linspace(-0.5 * WIDTH, 0.5 * WIDTH, counts[0]), np.linspace(-0.5 * LENGTH, 0.5 * LENGTH, counts[1])
    )


def fine_cloth() -> tuple[TriMesh, TestFunctions]:
    """The final's mesh and the four test functions of its quarters, painted on the preview and carried over."""
    onto = _bilinear()
    on_preview = sparse.csr_array(quarters(cloth_mesh(COARSE)))
    return cloth_mesh(FINE), TestFunctions(on_preview, sparse.csr_array(on_preview @ onto.T), onto)


def quarters(mesh: TriMesh) -> Array:
    """(4, n) how much a vertex belongs to each quarter of the sheet: those on the lines between belong to both."""
    sides = [0.5 * (1.0 + np.sign(np.round(mesh.rest[:, axis], 9))) for axis in (0, 2)]
    return np.stack([u * w for w in (1.0 - sides[1], sides[1]) for u in (1.0 - sides[0], sides[0])])


def _bilinear() -> Sparse:
    """(1625, 35) each vertex of the fine grid from the corners of its coarse cell."""
    along = [_linear(coarse, fine) for coarse, fine in zip(COARSE, FINE, strict=True)]
    return sparse.csr_array(sparse.kron(along[1], along[0]))  # x runs faster


def _linear(coarse: int, fine: int) -> Sparse:
    place = np.arange(fine) * (coarse - 1) / (fine - 1)
    left = np.minimum(place.astype(int), coarse - 2)
    share, rows = place - left, np.arange(fine)
    values = np.concatenate([1.0 - share, share])
    return sparse.csr_array((values, (np.r_[rows, rows], np.r_[left, left + 1])), shape=(fine, coarse))


def throws(count: int = TAKES, seed: int = 0) -> list[Throw]:
    """Variations of one throw from the left, up and over, by seed."""
    random = np.random.default_rng(seed)
    velocity = np.array([2.6, 3.6, 0.0]) + random.uniform(-0.5, 0.5, (count, 3)) * np.array([1.6, 1.2, 0.6])
    spin = np.array([0.6, 0.0, -4.0]) + random.uniform(-0.5, 0.5, (count, 3)) * np.array([3.0, 2.0, 4.0])
    return [Throw(tuple(v.tolist()), tuple(w.tolist())) for v, w in zip(velocity, spin, strict=True)]


def first_pose(rest: Points, throw: Throw) -> tuple[Points, Points]:
    """(n, 3) positions [m] and velocities [m/s] of the sheet as it leaves the hand."""
    lean = np.radians(25.0)
    turn = np.array([[np.cos(lean), -np.sin(lean), 0.0], [np.sin(lean), np.cos(lean), 0.0], [0.0, 0.0, 1.0]])
    away = rest @ turn.T
    # A slight bow breaks the symmetry of the flat sheet.
    away = away + 0.03 * np.cos(np.pi * rest[:, 2:3] / LENGTH) * turn[:, 1]
    return away + np.array([-1.5, 1.1, 0.0]), np.asarray(throw.velocity) + np.cross(throw.spin, away)


def _thrown(
    guide: Animation, shell: TriMesh, tests: TestFunctions | None, throw: Throw, threads: int | None, *,
    touching: bool = True,
) -> Job:  # fmt: skip
    start, velocity = first_pose(shell.rest, throw)
    reach = None if shell.point_count > COARSE[0] * COARSE[1] else _REACH
    contact = Contact(thickness=_THICKNESS, friction=_BARK, reach=reach, obstacles=branch()) if touching else None
    return tracking_job(
        guide, shell, tests, material=CLOTH, start=start, velocity=velocity, threads=threads, tolerance=_TOLERANCE,
        contact=contact,
    )  # fmt: skip


def preview(throw: Throw, threads: int | None = None, frame_count: int = FRAME_COUNT) -> Preview:
    """Throw the coarse cloth at the branch."""
    mesh = cloth_mesh(COARSE)
    times, start = np.arange(frame_count) / RATE, first_pose(mesh.rest, throw)[0]
    still = Animation(mesh, times, np.repeat(start[None], frame_count, axis=0))
    return Preview(throw, collect(_thrown(still, mesh, None, throw, threads)).animation)


def choose(previews: list[Preview]) -> Preview:
    """The director's choice: the cloth that hangs highest in the end."""
    return min(previews, key=lambda one: one.dropped)


@dataclass(frozen=True, eq=False)
class FineCloth:
    """The final of a chosen preview: what its naive and its tracked run share."""

    guide: Animation
    """the preview"""
    shell: TriMesh
    tests: TestFunctions
    chosen: Preview

    def job(self, *, tracked: bool, touching: bool = True, threads: int | None = None) -> Job:
        """A fine run from the same throw, with or without direction, at the same branch or where there is none."""
        tests = self.tests if tracked else None
        return _thrown(self.guide, self.shell, tests, self.chosen.throw, threads, touching=touching)


def designed_cloth(takes: int = TAKES, seed: int = 0, threads: int | None = None) -> FineCloth:
    """The design loop: previews and the choice."""
    chosen = choose([preview(throw, threads) for throw in throws(takes, seed)])
    return FineCloth(chosen.flight, *fine_cloth(), chosen)


def cloth_design(takes: int = TAKES, seed: int = 0, threads: int | None = None) -> Study:
    """The whole of §5.1: previews, the choice, the naive fine run and the tracked one."""
    final = designed_cloth(takes, seed, threads)
    naive, tracked = (collect(final.job(tracked=way, threads=threads)) for way in (False, True))
    return _study(final.guide, naive, tracked, final.tests, takes)


def _study(guide: Animation, naive: Take, tracked: Take, tests: TestFunctions, count: int) -> Study:
    of_guide, of_shell = tests.averages(guide.mesh, naive.animation.mesh)
    rows = []
    for name, run in (("naive", naive), ("tracked", tracked)):
        away = np.stack([of_shell @ x - of_guide @ y for x, y in zip(run.animation.points, guide.points, strict=True)])
        apart = np.linalg.norm(away, axis=2)
        rows.append((name, (1e3 * float(apart.mean()), 1e3 * float(apart.max()))))
    ends = {"preview": guide, "naive": naive.animation, "tracked": tracked.animation}
    hangs = ", ".join(f"{name} {float(one.points[-1, :, 1].mean() - FORK[1]):+.2f} m" for name, one in ends.items())
    remarks = (
        f"chosen of {count} previews: the one that hangs highest in the end",
        f"middle of the cloth over the branch's fork on the last frame: {hangs}",
    )
    shown = tuple(k for k in (6, 13, 18, 30, 56) if k < guide.frame_count)
    panels = Panel("preview", guide, is_guide=True), Panel.of("naive", naive), Panel.of("tracked", tracked)
    return Study(panels, ("mean mm from preview", "largest mm"), tuple(rows), shown, remarks, branch())

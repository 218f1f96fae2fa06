"""The flying cloth of TRACKS §5.1: many coarse previews, one chosen, then a fine run that obeys it.

The director wants a thrown cloth to be caught by a branch. Until bunraku has contact the branch is a pin: the piece of
a row of vertices that comes nearest is held from that moment on by a twig that gives way and stops, and nothing stops
the cloth from passing through itself.

The preview has 7 × 5 = 35 vertices. The final has 25 × 65 = 1,625: each edge in four along one side (6 → 24 edges) and
in sixteen along the other (4 → 64), which makes it a subdivision of the preview.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Points, Sparse
from bunraku.direction import Job, Pin, Take, collect
from bunraku.direction.track import TestFunctions, track, tracking_job
from bunraku.geometry import TriMesh
from bunraku.materials import ShellMaterial
from bunraku.motion import Animation

from .study import Panel, Study, grid_mesh

WIDTH, LENGTH = 0.8, 1.4  # [m]
COARSE, FINE = (7, 5), (25, 65)
BRANCH = (0.0, 1.75, 0.0)  # [m]
FRAME_COUNT, RATE = 49, 24.0
TAKES = 20
"""previews looked at, as many as the paper's director made"""
TWIG, GIVE = 0.14, 0.07
"""half the length of the cloth's row that is caught [m], and the time in which the twig that holds it stops [s]"""
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
    caught: int
    """vertex that comes nearest to the branch"""
    frame: int
    """when"""
    miss: float
    """[m] by how much it misses the branch"""
    off_centre: float
    """[m] distance on the cloth of that vertex from the middle of the far half, where the director wants it"""


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


def fly(mesh: TriMesh, throw: Throw, pins: tuple[Pin, ...] = (), frame_count: int = FRAME_COUNT,
        threads: int | None = None) -> Take:  # fmt: skip
    """A throw without direction."""
    start, velocity = first_pose(mesh.rest, throw)
    times = np.arange(frame_count) / RATE
    still = Animation(mesh, times, np.repeat(start[None], frame_count, axis=0))
    return track(still, mesh, None, material=CLOTH, pins=pins, start=start, velocity=velocity, threads=threads,
                 tolerance=_TOLERANCE)  # fmt: skip


def preview(throw: Throw, threads: int | None = None) -> Preview:
    """Fly the coarse cloth past the branch and see which vertex would be caught, and when."""
    mesh = cloth_mesh(COARSE)
    flight = fly(mesh, throw, frame_count=31, threads=threads).animation
    away: Array = np.linalg.norm(flight.points - np.asarray(BRANCH), axis=2)
    frame, vertex = (int(k) for k in np.unravel_index(int(np.argmin(away)), away.shape))
    wanted = np.array([0.0, 0.0, 0.25 * LENGTH])
    off_centre = float(np.linalg.norm(mesh.rest[vertex] - wanted))
    return Preview(throw, flight, vertex, frame, float(away[frame, vertex]), off_centre)


def choose(previews: list[Preview]) -> Preview:
    """The director's choice: caught near the middle of the far half, passing the branch most closely."""
    return min(previews, key=lambda one: one.miss + 0.25 * one.off_centre)


def branch_pin(mesh: TriMesh, chosen: Preview, onto: Sparse | None = None) -> Pin:
    """The branch, for a mesh: the vertices of the caught row near the caught one, held from the catch on.

    They go on as the preview's do at that moment and come to rest within a few times `GIVE`: no jolt at the catch.
    `onto` (n, 35) carries the preview's points to the mesh's.
    """
    place = chosen.flight.mesh.rest[chosen.caught]
    row = np.abs(mesh.rest[:, 2] - place[2]) < 1e-6
    vertices = np.flatnonzero(row & (np.abs(mesh.rest[:, 0] - place[0]) <= TWIG + 1e-6))
    whole = sparse.csr_array(sparse.eye_array(mesh.point_count) if onto is None else onto)
    rows = whole[vertices]
    caught = chosen.frame / RATE
    at, speed = rows @ chosen.flight.at(caught), rows @ chosen.flight.velocity(caught)
    times = np.arange(4 * FRAME_COUNT) / (4 * RATE)  # finer than frames: the stop takes only a few
    since = (times - caught)[:, None, None]
    stop = GIVE * (1.0 - np.exp(-np.maximum(since, 0.0) / GIVE)) + np.minimum(since, 0.0)
    path = at + stop * speed
    twig = TriMesh(at, np.zeros((0, 3), dtype=np.int64))
    grip = [(caught - 0.5 / RATE, 0.0), (caught, 1.0, "hold")]
    return Pin(vertices, to=Animation(twig, times, path), strength=grip)


@dataclass(frozen=True, eq=False)
class FineCloth:
    """The final of a chosen preview: what its naive and its tracked run share."""

    guide: Animation
    """the preview, caught"""
    shell: TriMesh
    tests: TestFunctions
    chosen: Preview

    def job(self, *, tracked: bool, threads: int | None = None) -> Job:
        """A fine run from the same throw, caught by the same twig, with or without direction."""
        start, velocity = first_pose(self.shell.rest, self.chosen.throw)
        pins = (branch_pin(self.shell, self.chosen, self.tests.prolongation),)
        return tracking_job(
            self.guide, self.shell, self.tests if tracked else None, material=CLOTH, pins=pins, start=start,
            velocity=velocity, threads=threads, tolerance=_TOLERANCE,
        )  # fmt: skip


def designed_cloth(takes: int = TAKES, seed: int = 0, threads: int | None = None) -> FineCloth:
    """The design loop: previews, the choice, and the chosen one caught by the branch."""
    chosen = choose([preview(throw, threads) for throw in throws(takes, seed)])
    coarse = cloth_mesh(COARSE)
    guide = fly(coarse, chosen.throw, (branch_pin(coarse, chosen),), threads=threads).animation
    return FineCloth(guide, *fine_cloth(), chosen)


def cloth_design(takes: int = TAKES, seed: int = 0, threads: int | None = None) -> Study:
    """The whole of §5.1: previews, the choice, the naive fine run and the tracked one."""
    final = designed_cloth(takes, seed, threads)
    naive, tracked = (collect(final.job(tracked=way, threads=threads)) for way in (False, True))
    return _study(final.guide, naive, tracked, final.tests, final.chosen, takes)


def _study(
    guide: Animation, naive: Take, tracked: Take, tests: TestFunctions, chosen: Preview, count: int
) -> Study:  # fmt: skip
    of_guide, of_shell = tests.averages(guide.mesh, naive.animation.mesh)
    rows = []
    for name, run in (("naive", naive), ("tracked", tracked)):
        away = np.stack([of_shell @ x - of_guide @ y for x, y in zip(run.animation.points, guide.points, strict=True)])
        apart = np.linalg.norm(away, axis=2)
        rows.append((name, (1e3 * float(apart.mean()), 1e3 * float(apart.max()))))
    remarks = (
        f"chosen of {count} previews: vertex {chosen.caught} passes the branch at frame {chosen.frame + 1}, "
        f"{1e3 * chosen.miss:.3g} mm away",
        "the branch is a pin, and cloth passes through cloth: contact is off",
    )
    shown = tuple(chosen.frame + k for k in (0, 5, 10, 18, 28) if chosen.frame + k < guide.frame_count)
    panels = Panel("preview", guide, is_guide=True), Panel.of("naive", naive), Panel.of("tracked", tracked)
    return Study(panels, ("mean mm from preview", "largest mm"), tuple(rows), shown, remarks)

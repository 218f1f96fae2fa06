"""Flat plates by linear algebra: meshes, the exact tangent at the flat state, supports, loads.

The bordered tangent comes from `energy.blocks(x, psd=False)` and SciPy alone. At the flat state the moments are zero
and only z enters, so the unknowns are the deflections w (n,) and the auxiliary moments.

A clamped edge is made with *ghosts*: each boundary edge gets a face of its own outside, whose outer vertex is held, and
which is so stiff that its compliance vanishes. The angle across the edge is then the slope there, and the edge's
compliance is that of its one real face. The hinge model takes the mean rigidity of its two faces
instead, so its ghosts get the rigidity that leaves the real face's share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu
from scipy.spatial import Delaunay, KDTree

from bunraku.contracts import Array, Energy, Integers, Points, Sparse, Vector
from bunraku.energies import Bending
from bunraku.geometry import TriMesh, edges, face_areas
from bunraku.materials import MaterialBlend, ShellMaterial

KINDS = ("equi", "one-diag", "alt-diag", "cvt", "random")
THICKNESS = 0.1  # [m]; enters only through D
RIGID = 1e6  # D of a ghost over that of the plate


@cache
def square(kind: str, n: int, seed: int = 0) -> TriMesh:
    """The unit square in z = 0 with n edges a side (n even) and a vertex in its middle."""
    return _MESHES[kind](n, n, np.random.default_rng(seed))


def strip(kind: str, n: int, seed: int = 0, aspect: int = 4) -> TriMesh:
    """The rectangle 1 × 1/aspect in z = 0, n edges long."""
    return _MESHES[kind](n, n // aspect, np.random.default_rng(seed))


def _grid(n: int, m: int, diagonal: Callable[[Integers, Integers], NDArray[np.bool_]]) -> TriMesh:
    x, y = np.meshgrid(np.arange(n + 1) / n, np.arange(m + 1) / n)
    rest = np.column_stack([x.reshape(-1), y.reshape(-1), np.zeros(x.size)])
    i, j = (part.reshape(-1) for part in np.meshgrid(np.arange(n), np.arange(m)))
    a, b, c, d = (offset + j * (n + 1) + i for offset in (0, 1, n + 2, n + 1))
    rising = diagonal(i, j)[:, None]
    first = np.where(rising, np.column_stack([a, b, c]), np.column_stack([a, b, d]))
    second = np.where(rising, np.column_stack([a, c, d]), np.column_stack([b, c, d]))
    return TriMesh(rest, np.vstack([first, second]))


def _equilateral(n: int, m: int, _: np.random.Generator) -> TriMesh:
    """Rows of nearly equilateral triangles, every other one shifted; halves of them at the sides."""
    rows = max(4 * round(m / (2 * np.sqrt(3))), 2)
    points = []
    for k in range(rows + 1):
        shifted = np.concatenate([[0.0], (np.arange(n) + 0.5) / n, [1.0]])
        x = shifted if k % 2 else np.arange(n + 1) / n
        points.append(np.column_stack([x, np.full(len(x), k / rows * m / n)]))
    return _triangulated(np.vstack(points))


def _rim(n: int, m: int) -> Array:
    """(2n + 2m + 1, 2) boundary points, then the middle."""
    t, u, high = np.arange(n) / n, np.arange(m) / n, m / n
    sides = [(t, 0 * t), (0 * u + 1, u), (1 - t, 0 * t + high), (0 * u, high - u)]
    return np.vstack([*(np.column_stack(side) for side in sides), [[0.5, 0.5 * high]]])


def _random(n: int, m: int, generator: np.random.Generator) -> TriMesh:
    """Grid points moved by up to 0.35 of an edge, then Delaunay."""
    grid = np.stack(np.meshgrid(np.arange(1, n), np.arange(1, m)), axis=-1).reshape(-1, 2)
    grid = grid[np.abs(grid - [0.5 * n, 0.5 * m]).max(axis=1) > 0.9]
    return _triangulated(np.vstack([_rim(n, m), (grid + generator.uniform(-0.35, 0.35, grid.shape)) / n]))


def _centroidal(n: int, m: int, generator: np.random.Generator) -> TriMesh:
    """Thirty rounds of Lloyd's iteration with a cloud of samples; boundary and middle stay."""
    fixed, high = _rim(n, m), m / n
    free = generator.uniform([0.5 / n, 0.5 / n], [1 - 0.5 / n, high - 0.5 / n], ((n - 1) * (m - 1) - 1, 2))
    samples = generator.uniform([0.0, 0.0], [1.0, high], (60 * len(free), 2))
    for _ in range(30):
        owner = np.asarray(KDTree(np.vstack([fixed, free])).query(samples)[1]) - len(fixed)
        mine, where = owner >= 0, owner[owner >= 0]
        count = np.bincount(where, minlength=len(free))
        for axis in range(2):
            total = np.bincount(where, weights=samples[mine, axis], minlength=len(free))
            free[:, axis] = np.where(count > 0, total / np.maximum(count, 1), free[:, axis])
    return _triangulated(np.vstack([fixed, free]))


def _triangulated(points: Array) -> TriMesh:
    faces = Delaunay(points).simplices.astype(np.int64)
    rest = np.column_stack([points, np.zeros(len(points))])
    turned = np.cross(rest[faces[:, 1]] - rest[faces[:, 0]], rest[faces[:, 2]] - rest[faces[:, 0]])[:, 2]
    faces = np.where(turned[:, None] > 0, faces, faces[:, ::-1])
    return TriMesh(rest, faces[np.abs(turned) > 1e-9])


_MESHES: dict[str, Callable[[int, int, np.random.Generator], TriMesh]] = {
    "equi": _equilateral,
    "one-diag": lambda n, m, _: _grid(n, m, lambda i, j: np.ones(len(i), dtype=bool)),
    "alt-diag": lambda n, m, _: _grid(n, m, lambda i, j: (i + j) % 2 == 0),
    "cvt": _centroidal,
    "random": _random,
}


def boundary(mesh: TriMesh) -> Integers:
    """Vertices on the rim."""
    found = edges(mesh.faces)
    return np.unique(found.vertices[found.face_count == 1])


def with_ghosts(mesh: TriMesh, rim: Integers | None = None) -> tuple[TriMesh, Integers]:
    """The mesh with one ghost face on each boundary edge (of those with both ends in `rim`), and its owner's index.

    Ghost vertices follow the mesh's own, ghost faces its faces.
    """
    found = edges(mesh.faces)
    owner, corner = np.nonzero(found.face_count[found.of_face] == 1)
    a, b = mesh.faces[owner, (corner + 1) % 3], mesh.faces[owner, (corner + 2) % 3]
    if rim is not None:
        kept = np.isin(a, rim) & np.isin(b, rim)
        owner, a, b = owner[kept], a[kept], b[kept]
    along = mesh.rest[b] - mesh.rest[a]
    outward = np.column_stack([along[:, 1], -along[:, 0], np.zeros(len(a))])
    tips = 0.5 * (mesh.rest[a] + mesh.rest[b]) + np.sqrt(0.75) * outward
    ghosts = np.column_stack([b, a, mesh.point_count + np.arange(len(a))])
    return TriMesh(np.vstack([mesh.rest, tips]), np.vstack([mesh.faces, ghosts])), owner


def rigidities(mesh: TriMesh, owner: Integers, plate: bool) -> Vector:
    """(f,) D of every face: one on the real ones; on ghosts what the module's docstring says."""
    real = len(mesh.faces) - len(owner)
    if plate:
        return np.concatenate([np.ones(real), np.full(len(owner), RIGID)])
    areas = face_areas(mesh.rest, mesh.faces)
    share = (areas[owner] + areas[real:]) / areas[owner]  # the mean of the two rigidities
    return np.concatenate([np.ones(real), 2 * share - 1])


def blend_of(rigidity: Vector, poisson: float, thickness: float = THICKNESS, density: float = 1.0) -> MaterialBlend:
    """A material blend whose faces have these D."""
    young = 12 * (1 - poisson**2) / thickness**3
    low, high = (
        ShellMaterial(young=young * d, poisson=poisson, thickness=thickness, density=density) for d in (1.0, RIGID)
    )
    share = np.log(rigidity) / np.log(RIGID)
    return MaterialBlend((low, high), np.column_stack([1 - share, share]))


@dataclass(frozen=True, eq=False)
class Plate:
    """A flat plate's exact tangent in (w, moments), with D = 1."""

    mesh: TriMesh
    """ghosts included"""
    real_points: int
    matrix: Sparse
    """(n + m, n + m)"""
    held: Integers
    """vertices with w = 0"""

    @property
    def free(self) -> Integers:
        """Vertices that move."""
        return np.setdiff1d(np.arange(self.mesh.point_count), self.held)

    def deflection(self, load: Vector) -> Vector:
        """(n,) w under point loads (n,)."""
        n = self.mesh.point_count
        kept = np.concatenate([self.free, np.arange(n, self.matrix.shape[0])])
        right = np.zeros(len(kept))
        right[: len(self.free)] = load[self.free]
        solved = splu(self.matrix[kept][:, kept].tocsc()).solve(right)
        w = np.zeros(n)
        w[self.free] = solved[: len(self.free)]
        return w

    def stiffness(self) -> Array:
        """(free, free) dense: the moments eliminated."""
        n, free = self.mesh.point_count, self.free
        jacobian = self.matrix[n:][:, free].tocsc()
        compliance = -self.matrix[n:][:, n:].tocsc()
        dense = jacobian.T @ splu(compliance).solve(jacobian.toarray())
        return 0.5 * (dense + dense.T)


def plate(
    mesh: TriMesh, *, model: str = "plate", poisson: float = 0.3, clamped: bool = False, held: Integers | None = None
) -> Plate:
    """`clamped`: the whole rim; else `held` (default: none) is simply supported."""
    real = mesh.point_count
    owner = np.zeros(0, dtype=np.int64)
    still = np.zeros(0, dtype=np.int64) if held is None else held
    if clamped:
        still = boundary(mesh)
        mesh, owner = with_ghosts(mesh)
        still = np.concatenate([still, np.arange(real, mesh.point_count)])
    blend = blend_of(rigidities(mesh, owner, model == "plate"), poisson)
    energy = Bending(mesh, blend, plate=model == "plate").elastic(0.0)
    return Plate(mesh, real, vertical_tangent(energy, mesh.rest), still)


def bordered_tangent(energy: Energy, x: Points, psd: bool = False) -> Sparse:
    """(3n + a, 3n + a) from the local blocks, by SciPy."""
    size = x.size + energy.auxiliary_count
    total: Sparse = sparse.csr_array((size, size))
    for stencil, block in zip(energy.stencils(psd), energy.blocks(x, psd), strict=True):
        columns = stencil.rows if stencil.columns is None else stencil.columns
        row = np.broadcast_to(stencil.rows[:, :, None], block.shape).reshape(-1)
        column = np.broadcast_to(columns[:, None, :], block.shape).reshape(-1)
        kept = (row >= 0) & (column >= 0)
        part = sparse.csr_array((block.reshape(-1)[kept], (row[kept], column[kept])), shape=(size, size))
        total = total + (part if stencil.columns is None else part + part.T)
    return sparse.csr_array(total)


def vertical_tangent(energy: Energy, x: Points) -> Sparse:
    """(n + a, n + a): the z coordinates and the auxiliary unknowns."""
    kept = np.concatenate([np.arange(2, x.size, 3), np.arange(x.size, x.size + energy.auxiliary_count)])
    return sparse.csr_array(bordered_tangent(energy, x)[kept][:, kept])


def middle(mesh: TriMesh) -> int:
    """The vertex at (½, ½)."""
    return int(np.argmin(np.abs(mesh.rest[:, :2] - 0.5).sum(axis=1)))


def coordinates_of(vertices: Integers) -> Integers:
    """(3v,) x, y and z of vertices (v,)."""
    return (3 * vertices[:, None] + np.arange(3)).reshape(-1)


def equilibrium(energies: Sequence[Energy], x: Points, *, coordinates: Integers, rounds: int = 200) -> Points:
    """Where the sum of the energies is least with some coordinates held: Newton by SciPy, steps halved until it falls.

    At most one energy may have auxiliary unknowns. Away from the solution the positive semi-definite tangent is used,
    near it the exact one, so that the last steps double the digits.
    """
    free = np.setdiff1d(np.arange(x.size), coordinates)
    size = x.size + max(energy.auxiliary_count for energy in energies)
    kept = np.concatenate([free, np.arange(x.size, size)])
    value, near, along = sum(energy.value(x) for energy in energies), False, np.zeros(x.size)
    for _ in range(rounds):
        force = -np.sum([energy.gradient(x) for energy in energies], axis=0).reshape(-1)[free]
        matrix: Sparse = sparse.csr_array((size, size))
        for energy in energies:
            part = bordered_tangent(energy, x, psd=not near).tocoo()
            matrix = matrix + sparse.csr_array((part.data, (part.row, part.col)), shape=(size, size))
        step = splu(sparse.csc_array(matrix[kept][:, kept])).solve(
            np.concatenate([force, np.zeros(len(kept) - len(free))])
        )
        along = np.zeros(x.size)
        along[free] = step[: len(free)]
        near = bool(np.abs(along).max() < 1e-3)
        fraction, moved = 1.0, x + along.reshape(-1, 3)
        while not near and sum(energy.value(moved) for energy in energies) > value and fraction > 1e-8:
            fraction *= 0.5
            moved = x + fraction * along.reshape(-1, 3)
        x, value = moved, sum(energy.value(moved) for energy in energies)
        if np.abs(along).max() < 1e-9:
            return x
    raise ArithmeticError(f"no equilibrium after {rounds} rounds: the last step was {np.abs(along).max():.1e}")

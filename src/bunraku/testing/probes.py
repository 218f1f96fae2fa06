"""States at which derivatives are checked: random, nearly flat, nearly folded shut, nearly degenerate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Faces, Points
from bunraku.geometry import TriMesh, face_areas, subdivide


@dataclass(frozen=True, eq=False)
class Probe:
    """A state and how finely it must be differenced."""

    name: str
    """what a failed check calls it"""
    x: Points
    """(n, 3) [m]"""
    scale: float
    """smallest length that matters there: a face's smallest height [m]"""


def sheet(columns: int = 2, rows: int = 2, length: float = 1.0, width: float | None = None) -> TriMesh:
    """A flat rectangle in z = 0 with alternating diagonals; vertices row by row, x fastest."""
    width = length * rows / columns if width is None else width
    x, y = np.meshgrid(np.linspace(0, length, columns + 1), np.linspace(0, width, rows + 1))
    rest = np.column_stack([x.reshape(-1), y.reshape(-1), np.zeros(x.size)])
    i, j = (grid.reshape(-1) for grid in np.meshgrid(np.arange(columns), np.arange(rows)))
    a = j * (columns + 1) + i
    b, c, d = a + 1, a + columns + 2, a + columns + 1
    rising = ((i + j) % 2 == 0)[:, None, None]
    pair = np.where(
        rising,
        np.stack([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)], axis=1),
        np.stack([np.stack([a, b, d], axis=1), np.stack([b, c, d], axis=1)], axis=1),
    )
    return TriMesh(rest, pair.reshape(-1, 3))


def icosphere(levels: int = 0, radius: float = 1.0) -> TriMesh:
    """A sphere about the origin, wound outwards: the icosahedron, each face split into 4 ** levels."""
    golden = 0.5 * (1.0 + np.sqrt(5.0))
    corners = np.array([[0.0, s, t * golden] for s in (-1.0, 1.0) for t in (-1.0, 1.0)])
    corners = np.concatenate([np.roll(corners, shift, axis=1) for shift in range(3)])
    apart = np.linalg.norm(corners[:, None] - corners[None], axis=2) < 2.1  # edges have length 2
    i, j, k = np.nonzero(apart[:, :, None] & apart[:, None, :] & apart[None, :, :])
    faces = np.stack([i, j, k], axis=1)[(i < j) & (j < k)]
    a, b, c = (corners[faces[:, m]] for m in range(3))
    inward = np.einsum("fi,fi->f", a, np.cross(b - a, c - a)) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    mesh = TriMesh(corners, faces)
    for _ in range(levels):  # onto the sphere after each split, so that faces stay alike
        mesh, _ = subdivide(mesh.with_rest(_on_sphere(mesh.rest)), 1)
    return mesh.with_rest(radius * _on_sphere(mesh.rest))


def _on_sphere(x: Points) -> Points:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def closed_probes(mesh: TriMesh, *, count: int = 6, seed: int = 0) -> list[Probe]:
    """`count` random states of a closed mesh, one far from the origin, and one pressed nearly flat."""
    generator = np.random.default_rng(seed)
    edge = float(np.sqrt(face_areas(mesh.rest, mesh.faces).mean()))

    def shaken(x: Points, amount: float) -> Points:
        return x + amount * edge * generator.uniform(-1.0, 1.0, x.shape)

    shapes = {f"random {k}": shaken(mesh.rest, 0.3) for k in range(count)}
    shapes["far away"] = shaken(mesh.rest, 0.3) + 4.0 * mesh.size
    flat = shaken(mesh.rest, 0.1)
    flat[:, 1] *= 5e-4
    shapes["pressed flat"] = flat
    return [Probe(name, x, smallest_height(x, mesh.faces)) for name, x in shapes.items()]


def shell_probes(mesh: TriMesh, *, count: int = 10, seed: int = 0) -> list[Probe]:
    """`count` random states of a flat sheet in z = 0, and the three kinds where derivatives go wrong."""
    generator = np.random.default_rng(seed)
    rest, faces = mesh.rest, mesh.faces
    edge = float(np.sqrt(face_areas(rest, faces).mean()))

    def shaken(x: Points, amount: float) -> Points:
        return x + amount * edge * generator.uniform(-1.0, 1.0, x.shape)

    shapes = {f"random {k}": shaken(rest, 0.35) for k in range(count)}
    shapes["near flat"] = shaken(rest, 1e-4)
    shapes["near folded"] = shaken(_folded(rest, np.pi - 0.08), 1e-2)
    shapes["near folded the other way"] = shaken(_folded(rest, -(np.pi - 0.08)), 1e-2)
    shapes["near degenerate"] = _squashed(shaken(rest, 0.1), faces, 0.02)
    return [Probe(name, x, smallest_height(x, faces)) for name, x in shapes.items()]


def _folded(rest: Points, angle: float) -> Points:
    """Folded about the line of vertices nearest the middle in x."""
    columns = np.unique(rest[:, 0])
    line = columns[len(columns) // 2]
    x = rest.copy()
    beyond = np.maximum(rest[:, 0] - line, 0.0)
    x[:, 0] = np.minimum(rest[:, 0], line) + beyond * np.cos(angle)
    x[:, 2] = rest[:, 2] + beyond * np.sin(angle)
    return x


def _squashed(x: Points, faces: Faces, height: float) -> Points:
    """The first face's first corner moved to a small fraction of its height over the opposite edge."""
    a, b, c = faces[0]
    along = x[c] - x[b]
    foot = x[b] + along * ((x[a] - x[b]) @ along) / (along @ along)
    out = x.copy()
    out[a] = foot + height * (x[a] - foot)
    return out


def smallest_height(x: Points, faces: Faces) -> float:
    """Smallest height of any face [m]."""
    corners = x[faces]
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    return float((2.0 * face_areas(x, faces) / sides.max(axis=1)).min())

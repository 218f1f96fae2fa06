"""A closed surface around a shape given by its distance: marching tetrahedra, then even triangles."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np

from bunraku.contracts import Array, Faces, Integers, Points, Vector
from bunraku.geometry import TriMesh
from bunraku.geometry.doctor.remesh import remesh

_PASSES = 3  # the first takes corners of the lattice for creases and keeps them

Distance = Callable[[Points], Vector]
"""(n, 3) → (n,) [m] how far outside, negative inside; slope about one near the surface"""


def even_surface(distance: Distance, low: Vector, high: Vector, edge: float) -> TriMesh:
    """The zero set of a distance inside the box `low` to `high` (3,), with edges of about `edge` [m], facing out."""
    mesh = marching_tetrahedra(distance, low, high, edge)
    for _ in range(_PASSES):
        mesh = onto_surface(distance, remesh(mesh, edge), edge)
    return mesh


def marching_tetrahedra(distance: Distance, low: Vector, high: Vector, spacing: float) -> TriMesh:
    """The zero set on a lattice of cubes, six tetrahedra each: closed and manifold, but with slivers."""
    axes = [np.arange(a - spacing, b + 2.0 * spacing, spacing) for a, b in zip(low, high, strict=True)]
    shape = tuple(len(axis) for axis in axes)
    lattice = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    value = distance(lattice)
    # Crossings keep away from lattice points, where many would meet in one place.
    value = np.where(value < 0, np.minimum(value, -0.1 * spacing), np.maximum(value, 0.1 * spacing))
    sides, outward = _crossings(_tetrahedra(shape), value, lattice)
    keys, faces = np.unique(np.sort(sides.reshape(-1, 2), axis=1), axis=0, return_inverse=True)
    a, b = keys.T
    share = (value[a] / (value[a] - value[b]))[:, None]
    x = (1.0 - share) * lattice[a] + share * lattice[b]
    return TriMesh(x, _facing(x, faces.reshape(-1, 3), outward))


def _tetrahedra(shape: tuple[int, ...]) -> Integers:
    """(m, 4) lattice points of all tetrahedra: one for every way from a cube's first corner to its last."""
    number = np.arange(np.prod(shape)).reshape(shape)
    cube = np.stack(np.meshgrid(*(np.arange(n - 1) for n in shape), indexing="ij"), axis=-1).reshape(-1, 3)
    out = []
    for order in permutations(range(3)):
        path = np.concatenate([np.zeros((1, 3), dtype=int), np.cumsum(np.eye(3, dtype=int)[list(order)], axis=0)])
        out.append(np.stack([number[tuple((cube + step).T)] for step in path], axis=1))
    return np.concatenate(out)


def _crossings(tets: Integers, value: Vector, lattice: Points) -> tuple[Integers, Array]:
    """(f, 3, 2) the lattice edges on which each triangle's corners lie, and (f, 3) which way is out."""
    inside = value[tets] < 0
    count = inside.sum(axis=1)
    crossed = (count > 0) & (count < 4)
    tets, count = np.take_along_axis(tets, np.argsort(~inside, axis=1, kind="stable"), axis=1)[crossed], count[crossed]
    patterns = {
        1: [((0, 1), (0, 2), (0, 3))],
        2: [((0, 2), (0, 3), (1, 3)), ((0, 2), (1, 3), (1, 2))],
        3: [((0, 3), (1, 3), (2, 3))],
    }
    sides, outward = [], []
    for inner, triangles in patterns.items():
        own = tets[count == inner]
        out = lattice[own[:, inner:]].mean(axis=1) - lattice[own[:, :inner]].mean(axis=1)
        for triangle in triangles:
            sides.append(own[:, np.array(triangle)])
            outward.append(out)
    return np.concatenate(sides), np.concatenate(outward)


def _facing(x: Points, faces: Faces, outward: Array) -> Faces:
    a, b, c = x[faces[:, 0]], x[faces[:, 1]], x[faces[:, 2]]
    inward = np.einsum("fi,fi->f", np.cross(b - a, c - a), outward) < 0
    return np.where(inward[:, None], faces[:, ::-1], faces)


def onto_surface(distance: Distance, mesh: TriMesh, edge: float, rounds: int = 8) -> TriMesh:
    """The mesh with its vertices slid onto the zero set along the slope of the distance."""
    x = np.array(mesh.rest)
    for _ in range(rounds):
        slope = _slope(distance, x, 1e-4 * edge)
        size = np.maximum(np.einsum("ni,ni->n", slope, slope), 0.25)
        x = x - np.clip(distance(x) / size, -0.5 * edge, 0.5 * edge)[:, None] * slope
    return TriMesh(x, mesh.faces)


def _slope(distance: Distance, x: Points, h: float) -> Array:
    """(n, 3) central differences of the distance."""
    return np.stack([(distance(x + h * axis) - distance(x - h * axis)) / (2.0 * h) for axis in np.eye(3)], axis=1)

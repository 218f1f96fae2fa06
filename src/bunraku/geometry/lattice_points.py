"""Points inside a body that go along with its lattice, each in the element (the piece of the body) it belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.contracts import Array, Integers, Points, Sparse, Vector, input_error

from .closest import closest_points
from .lattice import Lattice, element_weights, embedding_matrix, turned_outwards
from .lattice_pieces import SAMPLES


@dataclass(frozen=True, eq=False)
class LatticePoints:
    """Points of a body, by the elements they are in."""

    lattice: Lattice
    owners: Integers
    """(k,) the element each is in"""
    weights: Array
    """(k, a) of that element's nodes; rows sum to one"""

    @cached_property
    def matrix(self) -> Sparse:
        """(k, n) CSR: places of the points from those of the nodes."""
        return embedding_matrix(self.lattice.elements[self.owners], self.weights, self.lattice.point_count)


def embed_points(lattice: Lattice, points: Points, name: str = "points") -> LatticePoints:
    """Points (k, 3) [m] of a body at rest, on its lattice.

    What is outside the body by less than a sample of the lattice, an eighth of a cell, goes along with what is nearest;
    what is farther away is refused.
    """
    pieces = lattice.pieces
    p = (points - lattice.corners[0]) * (SAMPLES / lattice.cell) + SAMPLES * pieces.cells[0]
    owners = pieces.holding(p)
    unseen = np.flatnonzero(owners < 0)
    if len(unseen):
        _check_inside(lattice, points[unseen], len(points), name)
        owners[unseen] = pieces.of_points(p[unseen], np.zeros((len(unseen), 3)))
    t = (points - lattice.corners[owners]) / lattice.cell
    return LatticePoints(lattice, owners, element_weights(t, lattice.degree))


def outside(lattice: Lattice, points: Points) -> Vector:
    """(k,) [m] how far points (k, 3) are outside the body; zero inside."""
    from .mean_value_kernels import fill_windings  # compiled on first use

    turns = np.empty(len(points))
    faces = turned_outwards(lattice.surface)
    fill_windings(np.ascontiguousarray(points), lattice.surface.rest, faces, turns)
    return np.where(np.abs(turns) < 0.5, closest_points(points, lattice.surface).distances, 0.0)


def _check_inside(lattice: Lattice, points: Points, total: int, name: str) -> None:
    far = outside(lattice, points)
    count = int((far > lattice.cell / SAMPLES).sum())
    if count:
        raise input_error(
            "reaches out of the body", where=name,
            got=f"{count} of {total} points outside, up to {far.max():.3g} m away",
            allowed=f"up to {lattice.cell / SAMPLES:.3g} m, an eighth of a cell",
            remedy="the same unit and place as the body's, or a shape that ends inside it",
        )  # fmt: skip

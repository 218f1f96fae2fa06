"""The dress of the test data: panels with stitches, as they are or with larger triangles."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from bunraku import Seam, TriMesh
from bunraku.contracts import Integers, Points, Vector
from bunraku.geometry import closest_points
from bunraku.geometry.doctor.remesh import remesh

ARM = np.array([0.0, 1.225, -0.068])
"""(3,) [m] height and depth of the middle of the kicking body's upper arms on the first frame; they run along x"""
_CORNER = 0.02  # share of an edge within which a stitch goes to its end


@dataclass(frozen=True, eq=False)
class Dress:
    """Flat panels around a body."""

    mesh: TriMesh
    stitches: Integers
    """(s, 3) a vertex, and the two others it is sewn between"""
    shares: Vector
    seams: Integers
    """(s,) which seam a stitch belongs to; in the order they are sewn"""

    @property
    def panels(self) -> Integers:
        """(n,) which panel a vertex is of"""
        return _pieces(self.mesh)

    @property
    def sleeves(self) -> list[int]:
        """The panels that lie above the arms in the file."""
        label = self.panels
        return [k for k in range(label.max() + 1) if self.mesh.rest[label == k, 1].min() > ARM[1]]

    @property
    def seam(self) -> Seam:
        return Seam(self.stitches, self.shares)


def read_dress(path: Path) -> Dress:
    """Panels and the "stitch" records after the faces, upright and in metres."""
    points, faces, stitches, seams = [], [], [], 0
    for line in path.read_text().splitlines():
        match line.split():
            case ["v", *xyz]:
                points.append([float(one) for one in xyz[:3]])
            case ["f", *corners]:
                faces.append([int(one.split("/")[0]) - 1 for one in corners])
            case ["seam", _]:
                seams += 1
            case ["stitch", *numbers]:
                stitches.append([*(float(one) for one in numbers), seams])
    v, told = np.array(points), np.array(stitches)
    x = np.stack([v[:, 0], v[:, 2] + 0.75, -v[:, 1]], axis=1)
    return Dress(TriMesh(x, np.array(faces)), told[:, :3].astype(np.int64), told[:, 3], told[:, 4].astype(np.int64))


def coarser(dress: Dress, edge: float) -> Dress:
    """The same panels with edges of about `edge` [m], and stitches where a border vertex lies on an old seam."""
    label = dress.panels
    panels = [_panel(dress.mesh, label == k, edge) for k in range(label.max() + 1)]
    starts = np.cumsum([0, *(one.point_count for one in panels)])
    x = np.concatenate([one.rest for one in panels])
    faces = np.concatenate([one.faces + start for one, start in zip(panels, starts, strict=False)])
    borders = [_border(one) for one in panels]
    old, stitches, shares, seams = dress.mesh.rest, [], [], []
    goals = (1.0 - dress.shares)[:, None] * old[dress.stitches[:, 1]] + dress.shares[:, None] * old[
        dress.stitches[:, 2]
    ]
    for seam in np.unique(dress.seams):
        rows = np.flatnonzero(dress.seams == seam)
        ours, theirs = label[dress.stitches[rows[0], 0]], label[dress.stitches[rows[0], 1]]
        vertices = np.unique(borders[ours])
        at, near = _along(panels[ours].rest[vertices], old[dress.stitches[rows, 0]])
        vertices, at = vertices[near], at[near]
        step = np.minimum(at.astype(np.int64), len(rows) - 2)
        share = (at - step)[:, None]
        places = (1.0 - share) * goals[rows[step]] + share * goals[rows[step + 1]]
        lines = borders[theirs]
        found = closest_points(places, TriMesh(panels[theirs].rest, lines[:, [0, 1, 1]]))
        part = found.weights[:, 1] + found.weights[:, 2]
        part = np.where(part < _CORNER, 0.0, np.where(part > 1.0 - _CORNER, 1.0, part))
        found_stitches = np.column_stack([vertices + starts[ours], lines[found.faces] + starts[theirs]])
        # Where a pleat ends its two lines meet: stitches there would draw an edge of the panel together.
        apart = (found_stitches[:, :1] != found_stitches[:, 1:]).all(axis=1)
        if ours == theirs:
            apart &= np.linalg.norm(panels[ours].rest[vertices] - found.points, axis=1) > 1.5 * edge
        stitches.append(found_stitches[apart])
        shares.append(part[apart])
        seams.append(np.full(int(apart.sum()), seam))
    found = Dress(TriMesh(x, faces), np.concatenate(stitches), np.concatenate(shares), np.concatenate(seams))
    return _without_tucks(found, 1.5 * edge)


_ROLL = 0.055  # [m] the radius of a sleeve as it is laid around an arm of 0.04 m


def rolled(dress: Dress) -> Points:
    """(n, 3) the panels, with the sleeves rolled around the arms: as flat as they are in the file their seams would
    close above an arm as well as below."""
    x, label = np.array(dress.mesh.rest), dress.panels
    for sleeve in dress.sleeves:
        x[label == sleeve] = _around_an_arm(x[label == sleeve])
    return x


def _around_an_arm(x: Points) -> Points:
    """(p, 3) a flat panel on a cylinder around an arm, with its shorter side along it."""
    middle = x.mean(axis=0)
    across, along, _ = np.linalg.svd(x - middle, full_matrices=False)[2]
    out = (x - middle) @ along * np.sign(along[0]) + middle[0]
    turned = (x - middle) @ across * np.sign(across[2]) / _ROLL
    assert np.abs(turned).max() < np.pi
    return ARM + np.stack([out, _ROLL * np.cos(turned), _ROLL * np.sin(turned)], axis=1)


def _pieces(mesh: TriMesh) -> Integers:
    sides = mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    shape = (mesh.point_count, mesh.point_count)
    graph = sparse.csr_array((np.ones(len(sides)), (sides[:, 0], sides[:, 1])), shape=shape)
    return connected_components(graph, directed=False)[1]


def _without_tucks(dress: Dress, least: float) -> Dress:
    """Without stitches of a vertex to a second place on a panel within a length [m] of the first: the tuck between the
    two has no vertex to fold at, and its edge would be drawn together."""
    x, shares = dress.mesh.rest, dress.shares[:, None]
    places = (1.0 - shares) * x[dress.stitches[:, 1]] + shares * x[dress.stitches[:, 2]]
    ours, theirs = dress.stitches[:, 0], dress.panels[dress.stitches[:, 1]]
    same = (ours[:, None] == ours) & (theirs[:, None] == theirs)
    near = np.linalg.norm(places[:, None] - places[None], axis=2) < least
    keep = ~np.tril(same & near, k=-1).any(axis=1)
    return Dress(dress.mesh, dress.stitches[keep], dress.shares[keep], dress.seams[keep])


def _panel(mesh: TriMesh, own: np.ndarray, edge: float) -> TriMesh:
    index = np.cumsum(own) - 1
    return remesh(TriMesh(mesh.rest[own], index[mesh.faces[own[mesh.faces].all(axis=1)]]), edge)


def _border(mesh: TriMesh) -> Integers:
    sides = np.sort(mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    found, counts = np.unique(sides, axis=0, return_counts=True)
    return found[counts == 1]


def _along(points: Points, line: Points) -> tuple[Vector, np.ndarray]:
    """(p,) where along a line (m, 3) points are nearest, in segments from its beginning, and whether they lie on it."""
    number = np.arange(len(line) - 1)
    found = closest_points(points, TriMesh(line, np.stack([number, number + 1, number + 1], axis=1)))
    return found.faces + found.weights[:, 1] + found.weights[:, 2], found.distances < 1e-3

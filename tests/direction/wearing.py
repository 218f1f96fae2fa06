"""Sewn garments and bodies of the test data, and how they are put together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial.transform import Rotation

from bunraku import Animation, TriMesh, read_animation, read_mesh
from bunraku.collision.toolkit import Pairing
from bunraku.contracts import Integers, Points, Vector
from bunraku.geometry import edges, intersecting_faces
from bunraku.geometry.doctor.remesh import remesh

DATA = Path(__file__).parents[3] / "shared/data"
THERE = all((DATA / name).exists() for name in ("garments/dress.obj", "sequences/kick_body", "meshes/human_man.obj"))


@dataclass(frozen=True, eq=False)
class Worn:
    """A garment and where it is before it is put on."""

    mesh: TriMesh
    """in its rest shape"""
    pose: Points
    """(n, 3)"""


def kicking_body() -> Animation:
    """31 frames at 12 a second: T-pose into a fast turning kick. 1.5 m tall, open, eight pieces that cut each other."""
    folder = DATA / "sequences/kick_body"
    return read_animation(folder / "kick_body.pc2", faces=folder / "kick_body_frame0.obj")


def man() -> TriMesh:
    """1.8 m tall, closed, arms out; a few faces cut each other."""
    return read_mesh(DATA / "meshes/human_man.obj")


def shirt(unit: float, edge: float, neck: tuple[float, float, float]) -> Worn:
    """The T-shirt with edges of about `edge` [m] and the middle of its neckline at a point; it looks backwards in the
    file."""
    mesh = remesh(read_mesh(DATA / "garments/tshirt.obj", unit=unit), edge)
    x = mesh.rest * np.array([-1.0, 1.0, -1.0])
    x += np.array(neck) - x[rims(mesh)[-1]].mean(axis=0)
    return Worn(TriMesh(x, mesh.faces), x)


def dress(unit: float, edge: float, neck: tuple[float, float, float], arms: Points) -> Worn:
    """The dress, whose sleeves hang down in the file, as if cut with its sleeves stretched out, and let out to go
    around arms: `arms` (m, 3) are points along their middles. In the file they are half as wide as these."""
    mesh = mended(remesh(read_mesh(DATA / "garments/dress.obj", unit=unit), edge), 0.25 * edge)
    mesh = TriMesh(mesh.rest + np.array(neck) - mesh.rest[rims(mesh)[-1]].mean(axis=0), mesh.faces)
    pose = np.array(mesh.rest)
    for side in (-1.0, 1.0):
        pose += _raised(mesh, side, arms[side * arms[:, 0] > 0.1]) - mesh.rest
    mesh = opened(TriMesh(pose, mesh.faces), 0.1 * edge)
    return Worn(mesh, mesh.rest)


_SHOULDER, _RAISED = np.array([0.15, 1.24, -0.055]), np.radians(78.0)
_WIDER = 0.9  # the sleeves, than in the file
_SLEEVE = 0.24, 0.36  # [m] from the cuff: up to where all turns, from where nothing does


def _raised(mesh: TriMesh, side: float, arm: Points) -> Points:
    """(n, 3) with the sleeve of one side turned about the shoulder, and brought around an arm (m, 3)."""
    x = mesh.rest
    at_waist = [rim for rim in rims(mesh) if 0.85 < x[rim, 1].mean() < 1.02]  # where cuffs hang
    away = along_edges(mesh, max(at_waist, key=lambda rim: side * x[rim, 0].mean()))
    turned = np.clip((_SLEEVE[1] - away) / (_SLEEVE[1] - _SLEEVE[0]), 0.0, 1.0)
    turned = turned * turned * (3.0 - 2.0 * turned)
    pivot = _SHOULDER * [side, 1.0, 1.0]
    out = Rotation.from_rotvec(np.outer(turned * _RAISED * side, [0.0, 0.0, 1.0])).apply(x - pivot) + pivot
    rings = np.arange(0.02, 0.23, 0.04)
    middles = np.array([out[np.abs(away - one) < 0.025].mean(axis=0) for one in rings])
    order = np.argsort(side * arm[:, 0])
    for axis in (1, 2):
        goal = np.interp(side * middles[:, 0], side * arm[order, 0], arm[order, axis])
        out[:, axis] += turned * np.interp(away, rings, goal - middles[:, axis])
        middle = np.interp(side * out[:, 0], side * arm[order, 0], arm[order, axis])
        out[:, axis] += _WIDER * turned * (out[:, axis] - middle)
    return out


def opened(mesh: TriMesh, clear: float) -> TriMesh:
    """With folds whose sides are nearer than `clear` [m] smoothed until they are not: contact reaches no farther than
    a garment's parts are apart at rest."""
    x, faces = np.array(mesh.rest), mesh.faces
    sides, alone = edges(faces).vertices, Pairing(x, faces, reach=clear, gap=0.0, movable=len(x))
    sides = np.concatenate([sides, sides[:, ::-1]])
    around = sparse.csr_array((np.ones(len(sides)), (sides[:, 0], sides[:, 1])), shape=(len(x), len(x)))
    counts = np.asarray(around.sum(axis=1)).reshape(-1, 1)
    for _ in range(200):
        near = np.unique(alone.near(x).pairs().corners)
        near = near[near >= 0]
        if not len(near):
            return TriMesh(x, faces)
        near = np.union1d(near, around[near].indices)
        x[near] += 0.5 * ((around[near] @ x) / counts[near] - x[near])
    raise AssertionError(f"folds are still closer than {clear} m")


def mended(mesh: TriMesh, shortest: float) -> TriMesh:
    """Without edges below a length [m], and without the few faces that cut each other or are next to such."""
    x, faces = np.array(mesh.rest), mesh.faces
    for _ in range(5):
        sides = edges(faces).vertices
        short = sides[np.linalg.norm(x[sides[:, 0]] - x[sides[:, 1]], axis=1) < shortest]
        graph = sparse.csr_array((np.ones(len(short)), (short[:, 0], short[:, 1])), shape=(len(x), len(x)))
        one = connected_components(graph, directed=False)[1]
        x = np.stack([np.bincount(one, x[:, axis]) for axis in range(3)], axis=1) / np.bincount(one)[:, None]
        faces = one[faces]
        faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    crossing = np.unique(faces[intersecting_faces(x, faces, touching=True)])
    faces = faces[~np.isin(faces, crossing).any(axis=1)]
    used, faces = np.unique(faces, return_inverse=True)
    return TriMesh(x[used], faces.reshape(-1, 3))


def rims(mesh: TriMesh) -> list[Integers]:
    """The vertices of each border, the highest last."""
    found, n = edges(mesh.faces), mesh.point_count
    open_ = found.vertices[found.face_count == 1]
    graph = sparse.csr_array((np.ones(len(open_)), (open_[:, 0], open_[:, 1])), shape=(n, n))
    label = connected_components(graph, directed=False)[1]
    out = [np.flatnonzero(label == one) for one in np.unique(label[open_])]
    return sorted(out, key=lambda rim: float(mesh.rest[rim, 1].mean()))


def along_edges(mesh: TriMesh, start: Integers) -> Vector:
    """(n,) [m] of the shortest way along edges from any of some vertices."""
    sides, n = edges(mesh.faces).vertices, mesh.point_count
    length = np.linalg.norm(mesh.rest[sides[:, 0]] - mesh.rest[sides[:, 1]], axis=1)
    graph = sparse.csr_array((length, (sides[:, 0], sides[:, 1])), shape=(n, n))
    return dijkstra(graph, directed=False, indices=start, min_only=True)


def around(points: Points, body: TriMesh, x: Points) -> Vector:
    """(m,) how often a closed surface at x (n, 3) winds around points: 1 inside, 0 outside. From solid angles."""
    out = np.zeros(len(points))
    for k, one in enumerate(points):
        a, b, c = np.moveaxis(x[body.faces] - one, 1, 0)
        la, lb, lc = (np.linalg.norm(corner, axis=1) for corner in (a, b, c))
        dots = [np.sum(p * q, axis=1) * r for p, q, r in ((a, b, lc), (b, c, la), (c, a, lb))]
        out[k] = np.arctan2(np.sum(a * np.cross(b, c), axis=1), la * lb * lc + sum(dots)).sum() / (2.0 * np.pi)
    return np.abs(out)


ARM = np.array(
    [
        [0.12, 1.202, -0.055], [0.225, 1.213, -0.055], [0.275, 1.215, -0.05], [0.326, 1.215, -0.041],
        [0.375, 1.214, -0.028], [0.424, 1.213, -0.008], [0.475, 1.211, 0.016], [0.534, 1.208, 0.048],
    ]
)  # fmt: skip
"""(m, 3) [m] about the middle of the kicking body's left arm on the first frame"""
ARMS = np.concatenate([ARM, ARM * [-1.0, 1.0, 1.0]])

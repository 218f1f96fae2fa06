"""How triangles hang together: pieces, sides, fans around vertices, borders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from bunraku.contracts import Faces, Flags, Integers, Points, Vector

from .topology import Edges, edges, repeated_faces
from .trimesh import face_areas


@dataclass(frozen=True)
class Census:
    """What can be counted of triangles without looking at their shape."""

    points: int
    """points, none of them twice"""
    triangles: int
    pieces: int
    """parts without a common point"""
    border_edges: int
    """edges of one triangle"""
    crowded_edges: int
    """edges of three or more triangles"""
    turned_edges: int
    """directed edges used more than once: neighbours that disagree about which side is outside"""
    flat: int
    """triangles whose area is exactly zero"""
    repeated: int
    """triangles with the three points of an earlier one"""


def census(x: Points, faces: Faces, point_count: int) -> Census:
    """Counts of triangles (f, 3) on `point_count` points; x (n, 3)."""
    found = edges(faces)
    return Census(
        points=point_count, triangles=len(faces), pieces=int(face_pieces(faces, len(x)).max(initial=-1)) + 1,
        border_edges=int((found.face_count == 1).sum()), crowded_edges=int((found.face_count > 2).sum()),
        turned_edges=int((np.unique(directed_keys(faces), return_counts=True)[1] > 1).sum()),
        flat=int((face_areas(x, faces) == 0.0).sum()), repeated=int(repeated_faces(faces).sum()),
    )  # fmt: skip


def directed_keys(faces: Faces) -> Integers:
    """(3 f,) a number for each side of each face with its direction; side 3 f + k runs from corner k to the next."""
    span = int(faces.max(initial=-1)) + 1
    return (faces * span + np.roll(faces, -1, axis=1)).reshape(-1)


def same_place(points: Points) -> Integers:
    """(n,) the first point at each point's exact position (−0 is 0)."""
    _, first, place = np.unique(points + 0.0, axis=0, return_index=True, return_inverse=True)
    return first[place.reshape(-1)]


def finite_points(x: Points) -> Flags:
    """(n,) points whose coordinates are numbers."""
    return np.asarray(np.isfinite(x).all(axis=1))


def collapsed(faces: Faces) -> Flags:
    """(f,) whether a face names a point twice."""
    return (faces == np.roll(faces, 1, axis=1)).any(axis=1)


def components(links: Integers, count: int) -> Integers:
    """(count,) number of the group of each of `count` things, linked in pairs (k, 2)."""
    graph = sparse.coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(count, count))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def lowest_linked(links: Integers, count: int) -> Integers:
    """(count,) the lowest of the things each is linked with in pairs (k, 2), itself where with none."""
    label = components(links, count)
    lowest = np.full(int(label.max(initial=-1)) + 1, count)
    np.minimum.at(lowest, label, np.arange(count))
    return lowest[label]


def face_pieces(faces: Faces, point_count: int) -> Integers:
    """(f,) piece of each face: faces with a common point are in one. Numbered by their first faces."""
    return numbered(components(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]]]), point_count)[faces[:, 0]])


def vertex_pieces(faces: Faces, inside: Flags) -> Integers:
    """(n,) piece of each vertex that is `inside` (n,), −1 of the others: two joined by an edge are in one."""
    links = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    links = links[inside[links].all(axis=1)]
    own = np.flatnonzero(inside)
    out = np.full(len(inside), -1)
    out[own] = numbered(components(links, len(inside))[own])
    return out


def numbered(label: Integers) -> Integers:
    """(k,) labels (k,) as 0, 1, 2, … in the order they first come."""
    _, first, piece = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[piece.reshape(-1)]


@dataclass(frozen=True, eq=False)
class Sides:
    """The sides of faces (3 f), each paired with the other where an edge has exactly two faces."""

    pairs: Integers
    """(k, 2) two sides of one edge"""
    agree: Flags
    """(k,) whether they run in opposite directions, as in a surface with an outside"""


def paired_sides(faces: Faces, found: Edges) -> Sides:
    """Pairs of sides; side 3 f + k of face f runs from corner k to the next. `found` are the faces' edges."""
    edge_of_side = np.roll(found.of_face, -2, axis=1).reshape(-1)  # the side from corner k is opposite corner k + 2
    order = np.argsort(edge_of_side, kind="stable")
    starts = np.cumsum(found.face_count) - found.face_count
    double = starts[found.face_count == 2]
    pairs = np.stack([order[double], order[double + 1]], axis=1)
    start = faces.reshape(-1)
    return Sides(pairs, start[pairs[:, 0]] != start[pairs[:, 1]])


@dataclass(frozen=True, eq=False)
class Orientation:
    """Which faces to turn so that neighbours agree about the outside."""

    turn: Flags
    """(f,) faces to turn: in each patch the fewer ones"""
    patch: Integers
    """(f,) faces joined across edges of two faces"""
    one_sided: Flags
    """(f,) faces of a patch that has no two sides (a Möbius strip): left as they are"""


def orientation(faces: Faces, found: Edges | None = None) -> Orientation:
    """Make neighbours agree. Each face is there twice, as it is and turned; what hangs together is one side."""
    found = edges(faces) if found is None else found
    count = len(faces)
    sides = paired_sides(faces, found)
    a, b = sides.pairs[:, 0] // 3, sides.pairs[:, 1] // 3
    shift = np.where(sides.agree, 0, count)
    links = np.concatenate([np.stack([a, b + shift], axis=1), np.stack([a + count, b + count - shift], axis=1)])
    side = components(links, 2 * count)
    patch = np.minimum(side[:count], side[count:])
    one_sided = side[:count] == side[count:]
    turn = side[:count] != patch
    turned, total = np.bincount(patch, turn, minlength=2 * count), np.bincount(patch, minlength=2 * count)
    turn ^= (2 * turned > total)[patch]
    return Orientation(turn & ~one_sided, patch, one_sided)


def turned(faces: Faces, turn: Flags) -> Faces:
    """Faces with those to be turned wound the other way; the first corner stays."""
    return np.where(turn[:, None], faces[:, [0, 2, 1]], faces)


def fans(faces: Faces, found: Edges) -> Integers:
    """(f, 3) number of the fan of each corner: faces around a vertex that hang together by edges there."""
    edge_of_side = np.roll(found.of_face, -2, axis=1).reshape(-1)
    order = np.argsort(edge_of_side, kind="stable")
    same = np.flatnonzero(edge_of_side[order[1:]] == edge_of_side[order[:-1]])
    one, two = order[same], order[same + 1]
    following = lambda side: side - side % 3 + (side + 1) % 3  # noqa: E731
    start = faces.reshape(-1)
    alike = start[one] == start[two]
    begin_two, end_two = np.where(alike, two, following(two)), np.where(alike, following(two), two)
    links = np.concatenate([np.stack([one, begin_two], axis=1), np.stack([following(one), end_two], axis=1)])
    return components(links, 3 * len(faces)).reshape(-1, 3)


def pinched_vertices(faces: Faces, fan: Integers) -> Integers:
    """(k,) vertices at which several fans touch: a bow tie."""
    pairs = np.unique(np.stack([faces.reshape(-1), fan.reshape(-1)], axis=1), axis=0)
    vertex, count = np.unique(pairs[:, 0], return_counts=True)
    return vertex[count > 1]


@dataclass(frozen=True, eq=False)
class Borders:
    """Edges of one face, in loops."""

    sides: Integers
    """(k,) sides 3 f + k on a border"""
    following: Integers
    """(k,) place in `sides` of the side that begins where each ends; means something in simple loops"""
    loop: Integers
    """(k,) the loop of each"""
    simple: Flags
    """(loops,) whether the loop is one closed line, run through in one direction"""
    length: Vector
    """(loops,) [m]"""

    @property
    def count(self) -> int:
        """How many loops."""
        return len(self.simple)

    @property
    def edge_counts(self) -> Integers:
        """(loops,) edges of each."""
        return np.bincount(self.loop, minlength=self.count)


def borders(x: Points, faces: Faces, found: Edges | None = None) -> Borders:
    """The borders of faces (f, 3); at a vertex where several fans touch each keeps its own loop."""
    found = edges(faces) if found is None else found
    edge_of_side = np.roll(found.of_face, -2, axis=1).reshape(-1)
    sides = np.flatnonzero(found.face_count[edge_of_side] == 1)
    fan = fans(faces, found).reshape(-1)
    start, end = fan[sides], fan[sides - sides % 3 + (sides + 1) % 3]
    _, node = np.unique(np.concatenate([start, end]), return_inverse=True)
    start, end = node[: len(sides)], node[len(sides) :]
    nodes = int(node.max(initial=-1)) + 1
    group = components(np.stack([start, end], axis=1), nodes)
    loops = int(group.max(initial=-1)) + 1
    clean = (np.bincount(start, minlength=nodes) == 1) & (np.bincount(end, minlength=nodes) == 1)
    simple = np.bincount(group[~clean], minlength=loops) == 0
    a, b = faces.reshape(-1)[sides], faces.reshape(-1)[sides - sides % 3 + (sides + 1) % 3]
    length = np.bincount(group[start], np.linalg.norm(x[a] - x[b], axis=1), minlength=loops).astype(np.float64)
    beginning = np.zeros(nodes, np.int64)
    beginning[start] = np.arange(len(sides))
    return Borders(sides, beginning[end], group[start], simple, length)

"""An even triangulation of a shape: edges split, collapsed and flipped towards one length, points slid over the shape.

Borders, creases and corners stay where they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bunraku.contracts import Array, Faces, Flags, Integers, Points, alike
from bunraku.geometry.closest import closest_points
from bunraku.geometry.connectivity import collapsed, paired_sides
from bunraku.geometry.topology import edges, thinness
from bunraku.geometry.trimesh import TriMesh, face_normals, vertex_normals

LONG, SHORT = 4 / 3, 4 / 5
"""of the edge length wanted: longer edges are split, shorter ones collapsed"""
CREASE = np.cos(np.radians(40.0))
"""sharper edges are kept"""
BEND = np.cos(np.radians(25.0))
"""faces turn by less than this in one edit"""
THINNEST = 0.05
ROUNDS = 8
SPLITS = 40
"""halvings: enough from metres to a micrometre"""


@dataclass(frozen=True, eq=False)
class Web:
    """Triangles under way, and the lines in them that must be kept."""

    x: Points
    """(n, 3) [m]"""
    faces: Faces
    """(f, 3)"""
    lines: Integers
    """(m, 2) edges of borders and creases"""
    fixed: Flags
    """(n,) ends and corners of lines"""

    @property
    def on_line(self) -> Flags:
        """(n,)"""
        out = np.zeros(len(self.x), dtype=bool)
        out[self.lines] = True
        return out


def remesh(mesh: TriMesh, length: float) -> TriMesh:
    """The shape of a mesh with edges of about `length` [m]."""
    web = _web(mesh)
    shape, lines = mesh, TriMesh(mesh.rest, web.lines[:, [0, 1, 1]])
    for _ in range(ROUNDS):
        web = _split(web, LONG * length)
        web = _collapse(web, SHORT * length, LONG * length)
        web = _flip(web)
        web = _slide(web, shape, lines)
    used, faces = np.unique(web.faces, return_inverse=True)
    return TriMesh(web.x[used], faces.reshape(-1, 3))


def _web(mesh: TriMesh) -> Web:
    x, faces = mesh.rest, mesh.faces
    found = edges(faces)
    sides = paired_sides(faces, found)
    normals = face_normals(x, faces)
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    a, b = sides.pairs[:, 0], sides.pairs[:, 1]
    bent = np.einsum("ki,ki->k", normals[a // 3], normals[b // 3]) < CREASE
    edge_of_side = np.roll(found.of_face, -2, axis=1).reshape(-1)
    kept = found.face_count != 2
    kept[edge_of_side[a[bent | ~sides.agree]]] = True
    lines = found.vertices[kept]
    return Web(x, faces, lines, _line_ends(x, lines))


def _line_ends(x: Points, lines: Integers) -> Flags:
    """(n,) points where other than two lines meet, or two at an angle of more than 40°."""
    degree = np.bincount(lines.reshape(-1), minlength=len(x))
    way = x[lines[:, 1]] - x[lines[:, 0]]
    way = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-300)
    total = np.zeros_like(x)
    np.add.at(total, lines[:, 0], way)
    np.add.at(total, lines[:, 1], -way)
    # Two unit vectors away from the point: their sum is 0 for a straight line, 2 sin(turn / 2) long else.
    return (degree == 1) | (degree > 2) | ((degree == 2) & (np.linalg.norm(total, axis=1) > 2 * np.sin(np.radians(20))))


def _lengths(web: Web, pairs: Integers) -> Array:
    return np.linalg.norm(web.x[pairs[:, 0]] - web.x[pairs[:, 1]], axis=1)


def _split(web: Web, longest: float) -> Web:
    """Halve edges longer than `longest`, the longest of a face first, until there is none."""
    for _ in range(SPLITS):
        found = edges(web.faces)
        lengths = _lengths(web, found.vertices)
        if not (lengths > longest).any():
            break
        rank = np.empty(len(lengths), np.int64)
        rank[np.argsort(lengths, kind="stable")] = np.arange(len(lengths))
        choice = np.take_along_axis(found.of_face, rank[found.of_face].argmax(axis=1)[:, None], axis=1)[:, 0]
        votes = np.bincount(choice, minlength=len(lengths))
        halved = (lengths > longest) & (votes == found.face_count)
        web = _halve(web, found.vertices, halved, choice, found.of_face)
    return web


def _halve(web: Web, ends: Integers, halved: Flags, choice: Integers, of_face: Integers) -> Web:
    """Put a point in the middle of edges (e,); choice (f,) is the only edge a face may lose."""
    middle = np.full(len(ends), -1)
    middle[halved] = len(web.x) + np.arange(int(halved.sum()))
    x = np.concatenate([web.x, 0.5 * (web.x[ends[halved, 0]] + web.x[ends[halved, 1]])])
    cut = np.flatnonzero(halved[choice])
    apex = (of_face[cut] == choice[cut][:, None]).argmax(axis=1)
    a, b, c = (web.faces[cut, (apex + k) % 3] for k in (1, 2, 0))
    m = middle[choice[cut]]
    faces = web.faces.copy()
    faces[cut] = np.stack([a, m, c], axis=1)
    faces = np.concatenate([faces, np.stack([m, b, c], axis=1)])
    span = len(web.x)
    keys, line_keys = ends[:, 0] * span + ends[:, 1], np.sort(web.lines, axis=1) @ np.array([span, 1])
    at = middle[np.searchsorted(keys, line_keys)]
    broken = at >= 0
    halves = [np.stack([web.lines[broken, k], at[broken]], axis=1) for k in (0, 1)]
    lines = np.concatenate([web.lines[~broken], *halves])
    return Web(x, faces, lines, np.concatenate([web.fixed, np.zeros(int(halved.sum()), dtype=bool)]))


def _is_line(web: Web, pairs: Integers) -> Flags:
    """(k,) whether edges (k, 2) are on lines."""
    weigh = np.array([len(web.x), 1])
    return np.isin(np.sort(pairs, axis=1) @ weigh, np.sort(web.lines, axis=1) @ weigh)


def _collapse(web: Web, shortest: float, longest: float) -> Web:
    """Collapse edges shorter than `shortest`, unless that makes one longer than `longest`; a few passes."""
    from .local_edits import collapse, faces_around  # compiled kernels: only for those who need them

    for _ in range(10):
        found = edges(web.faces)
        lengths = _lengths(web, found.vertices)
        short = np.flatnonzero(lengths < shortest)
        short = short[np.argsort(lengths[short], kind="stable")]
        pairs = np.stack([found.vertices[short], found.vertices[short][:, ::-1]], axis=1).reshape(-1, 2)
        on_line, line = web.on_line, np.repeat(_is_line(web, found.vertices[short]), 2)
        allowed = ~web.fixed[pairs[:, 0]] & (~on_line[pairs[:, 0]] | line)
        border = np.zeros(len(web.x), dtype=bool)
        border[found.vertices[found.face_count != 2]] = True
        starts, around = faces_around(web.faces, len(web.x))
        onto = collapse(
            alike(web.x), alike(web.faces), starts, around, pairs[allowed],
            np.repeat(found.face_count[short], 2)[allowed], border, THINNEST, longest, BEND,
        )  # fmt: skip
        if (onto == np.arange(len(onto))).all():
            break
        faces, lines = onto[web.faces], np.sort(onto[web.lines], axis=1)
        lines = np.unique(lines[lines[:, 0] != lines[:, 1]], axis=0)
        web = replace(web, faces=np.ascontiguousarray(faces[~collapsed(faces)]), lines=lines)
    return web


def _flip(web: Web) -> Web:
    """Flip edges off the lines where the thinner of their faces gets less thin."""
    from .local_edits import faces_around, flip

    for _ in range(6):
        sides = paired_sides(web.faces, edges(web.faces))
        pairs = sides.pairs[sides.agree]
        start, end = web.faces.reshape(-1), np.roll(web.faces, -1, axis=1).reshape(-1)
        pairs = pairs[~_is_line(web, np.stack([start[pairs[:, 0]], end[pairs[:, 0]]], axis=1))]
        pairs = pairs[np.argsort(thinness(web.x, web.faces)[pairs // 3].min(axis=1), kind="stable")]
        starts, around = faces_around(web.faces, len(web.x))
        faces = web.faces.copy()
        changed = flip(alike(web.x), faces, faces.copy(), starts, around, pairs, 0.0, BEND)
        if not changed.any():
            break
        web = replace(web, faces=faces)
    return web


def _slide(web: Web, shape: TriMesh, lines: TriMesh) -> Web:
    """Move points to the middle of their neighbours, along the shape; points on lines along those."""
    x, faces = web.x, web.faces
    free, on_line = np.zeros(len(x), dtype=bool), web.on_line
    free[faces] = True
    free &= ~on_line & ~web.fixed
    sliding = on_line & ~web.fixed
    normals = vertex_normals(x, faces)
    pull = _mean_of_faces(x, faces) - x
    pull -= normals * np.einsum("ni,ni->n", pull, normals)[:, None]
    moved = x.copy()
    if free.any():
        moved[free] = closest_points((x + pull)[free], shape).points
    if sliding.any():
        total, degree = np.zeros_like(x), np.bincount(web.lines.reshape(-1), minlength=len(x))
        np.add.at(total, web.lines[:, 0], x[web.lines[:, 1]])
        np.add.at(total, web.lines[:, 1], x[web.lines[:, 0]])
        middle = total[sliding] / np.maximum(degree[sliding], 1)[:, None]
        moved[sliding] = closest_points(0.5 * (middle + x[sliding]), lines).points
    return replace(web, x=_without_folds(x, moved, faces))


def _mean_of_faces(x: Points, faces: Faces) -> Points:
    """(n, 3) mean of the middles of the faces around each point, by area; the point itself where it has none."""
    area = 0.5 * np.linalg.norm(face_normals(x, faces), axis=1)
    middle = x[faces].mean(axis=1) * area[:, None]
    weight = np.bincount(faces.reshape(-1), np.repeat(area, 3), minlength=len(x))
    total = np.stack(
        [np.bincount(faces.reshape(-1), np.repeat(middle[:, k], 3), minlength=len(x)) for k in range(3)], axis=1
    )
    return np.where(weight[:, None] > 0, total / np.maximum(weight, 1e-300)[:, None], x)


def _without_folds(before: Points, after: Points, faces: Faces) -> Points:
    """The moved points, put back where a face turned over or went thin."""
    was = face_normals(before, faces)
    old_thin = thinness(before, faces)
    for _ in range(10):
        now = face_normals(after, faces)
        dot = np.einsum("fi,fi->f", was, now)
        lengths = np.linalg.norm(was, axis=1) * np.linalg.norm(now, axis=1)
        bad = (dot < BEND * lengths) | ((thinness(after, faces) < THINNEST) & (thinness(after, faces) < old_thin))
        if not bad.any():
            return after
        after = after.copy()
        after[faces[bad]] = before[faces[bad]]
    return before

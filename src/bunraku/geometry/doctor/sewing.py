"""Seams and cracks closed: points on one spot sewn along borders, points almost on others moved onto them."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Integers
from bunraku.geometry.connectivity import collapsed, lowest_linked
from bunraku.geometry.topology import THINNEST_FACE, edges, thinness
from bunraku.geometry.welding import sewn_points

from .cracks import Cracks, find_cracks
from .draft import Draft

ROUNDS = 8


def sew(draft: Draft) -> tuple[Draft, int]:
    """Sew borders that lie exactly on each other; also how many points became one with others."""
    onto = sewn_points(draft.x, draft.faces)
    used = np.unique(draft.faces)
    return draft.joined(onto), len(used) - len(np.unique(onto[used]))


def close_cracks(draft: Draft, distance: float | None) -> tuple[Draft, int, int]:
    """Close cracks up to `distance` [m] wide; also how many points moved onto others and onto edges."""
    moved, inserted = 0, 0
    for _ in range(ROUNDS):
        cracks = find_cracks(draft.x, draft.faces, edges(draft.faces), distance)
        draft, near = _join_near(draft, cracks)
        if not near:
            draft, on_edges = _insert(draft, cracks)
            inserted += on_edges
            if not on_edges:
                break
        moved += near
    return draft, moved, inserted


def _join_near(draft: Draft, cracks: Cracks) -> tuple[Draft, int]:
    """Points almost on others become them, unless an edge would then have three faces or a face lose its area."""
    links = np.stack([cracks.points[cracks.near], cracks.partner[cracks.near]], axis=1)
    sound = thinness(draft.x, draft.faces) > THINNEST_FACE
    before = int((edges(draft.faces).face_count > 2).sum())
    while len(links):
        onto = lowest_linked(links, len(draft.x))
        faces = onto[draft.faces]
        lost = collapsed(faces) & sound
        found = edges(faces[~collapsed(faces)])
        crowded = found.vertices[found.face_count > 2]
        harmful = np.unique(faces[lost]) if lost.any() else np.zeros(0, np.int64)
        if len(crowded) > before:
            harmful = np.union1d(harmful, crowded)
        bad = np.isin(onto[links[:, 0]], harmful)
        if not bad.any():
            joined = draft.joined(onto)
            return joined, len(np.unique(draft.faces)) - len(np.unique(joined.faces))
        links = links[~bad]
    return draft, 0


def _insert(draft: Draft, cracks: Cracks) -> tuple[Draft, int]:
    """Points on the edge of a border face become corners of it: the face is cut into a fan. One edge a face a time."""
    point, side, along = cracks.points[cracks.on_edges], cracks.side[cracks.on_edges], cracks.along[cracks.on_edges]
    if not len(point):
        return draft, 0
    faces, span = draft.faces, len(draft.x)
    ends = np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1).reshape(-1, 2)
    keys = ends.min(axis=1) * span + ends.max(axis=1)
    order = np.argsort(keys, kind="stable")
    wanted = side.min(axis=1) * span + side.max(axis=1)
    own = order[np.searchsorted(keys[order], wanted)]
    along = np.where(ends[own, 0] == side[:, 0], along, 1.0 - along)
    face = own // 3
    _, first = np.unique(face, return_index=True)
    chosen = np.isin(own, own[first]) & (faces[face] != point[:, None]).all(axis=1)
    if not chosen.any():
        return draft, 0
    point, own, along = point[chosen], own[chosen], along[chosen]
    by_edge = np.lexsort([along, own])
    return _fan_out(draft, point[by_edge], own[by_edge]), len(point)


def _fan_out(draft: Draft, point: Integers, own: Integers) -> Draft:
    """Cut faces at points on their side `own` (3 f + k), listed in order along it."""
    faces = draft.faces
    corner_of = np.zeros(len(draft.x), np.int64)
    corner_of[faces.reshape(-1)] = draft.sources.reshape(-1)
    face, k = own // 3, own % 3
    after, apex = (k + 1) % 3, (k + 2) % 3
    last = np.append(own[1:] != own[:-1], True)
    following = np.where(last, faces[face, after], np.append(point[1:], 0))
    source_after = np.where(last, draft.sources[face, after], np.append(corner_of[point[1:]], 0))
    new = np.stack([point, following, faces[face, apex]], axis=1)
    sources = np.stack([corner_of[point], source_after, draft.sources[face, apex]], axis=1)
    kept, kept_sources = faces.copy(), draft.sources.copy()
    begins = np.append(True, own[1:] != own[:-1])
    kept[face[begins], after[begins]] = point[begins]
    kept_sources[face[begins], after[begins]] = corner_of[point[begins]]
    changed = np.zeros(len(faces), dtype=bool)
    changed[face] = True
    return draft.rewired(kept, kept_sources, changed).with_more(new, sources, draft.polygons[face])

"""Slivers taken out: short edges collapsed, the long edges of caps flipped."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Array, Flags, Integers, alike
from bunraku.geometry.connectivity import paired_sides
from bunraku.geometry.topology import THINNEST_FACE, Edges, edges, thinness

from .draft import Draft

THIN_FACE = 5e-3
"""area over longest edge²: below it a face is a hundred times longer than high, and bends and shears badly"""
NEEDLE = 0.1
"""shortest over longest edge: thin faces below it are needles, the others caps"""
SHORT = 2e-3
"""of the shape's size: longer edges are never collapsed"""
BEND = np.cos(np.radians(20.0))
"""faces beside a sliver turn by 20° at most"""
LOW = 5e-4
"""of the shape's size: caps lower than this may be flipped wherever they look"""
ROUNDS = 20


def remove_slivers(draft: Draft) -> tuple[Draft, int, int]:
    """Collapse needles and flip caps as long as it helps; also how many edges were collapsed and flipped."""
    collapsed, flipped = 0, 0
    for _ in range(ROUNDS):
        draft, fewer = _collapse_needles(draft)
        draft, better = _flip_caps(draft)
        collapsed, flipped = collapsed + fewer, flipped + better
        if not fewer and not better:
            break
    return draft, collapsed, flipped


def drop_flat(draft: Draft) -> tuple[Draft, int]:
    """Without the faces that have no area."""
    flat = ~(thinness(draft.x, draft.faces) > THINNEST_FACE)
    return draft.only(~flat), int(flat.sum())


def _size(draft: Draft) -> float:
    """Diagonal of the bounding box [m]."""
    return float(np.linalg.norm(np.ptp(draft.x[np.unique(draft.faces)], axis=0))) if len(draft.faces) else 0.0


def _side_lengths(draft: Draft) -> Array:
    """(f, 3) of the side from corner k to the next [m]."""
    corners = draft.x[draft.faces]
    return np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)


def _edge_of_side(found: Edges) -> Integers:
    """(f, 3) edge of the side from corner k to the next."""
    return np.roll(found.of_face, -2, axis=1)


def border_vertices(found: Edges, count: int) -> Flags:
    """(count,) vertices on edges that do not have exactly two faces."""
    out = np.zeros(count, dtype=bool)
    out[found.vertices[found.face_count != 2]] = True
    return out


def _collapse_needles(draft: Draft) -> tuple[Draft, int]:
    from .local_edits import collapse, faces_around  # compiled kernels: only for those who need them

    x, faces = draft.x, draft.faces
    lengths = _side_lengths(draft)
    short, long = lengths.min(axis=1, initial=np.inf), lengths.max(axis=1, initial=0.0)
    thin = thinness(x, faces) < THIN_FACE
    needles = np.flatnonzero(thin & (short < NEEDLE * long) & (short < SHORT * _size(draft)))
    if not len(needles):
        return draft, 0
    found = edges(faces)
    needles = needles[np.argsort(short[needles], kind="stable")]
    side = lengths[needles].argmin(axis=1)
    pair = np.stack([faces[needles, side], faces[needles, (side + 1) % 3]], axis=1)
    edge = _edge_of_side(found)[needles, side]
    both = np.stack([pair, pair[:, ::-1]], axis=1).reshape(-1, 2)
    border = border_vertices(found, len(x))
    allowed = ~border[both[:, 0]] | border[both[:, 1]]  # a border point never leaves the border
    starts, around = faces_around(faces, len(x))
    onto = collapse(
        alike(x), alike(faces), starts, around, both[allowed], np.repeat(found.face_count[edge], 2)[allowed], border,
        THIN_FACE, np.inf, BEND,
    )  # fmt: skip
    return draft.joined(onto), int((onto != np.arange(len(x))).sum())


def _flip_caps(draft: Draft) -> tuple[Draft, int]:
    from .local_edits import faces_around, flip

    x, faces = draft.x, draft.faces
    thin = thinness(x, faces)
    lengths = _side_lengths(draft)
    longest = 3 * np.arange(len(faces)) + lengths.argmax(axis=1) if len(faces) else np.zeros(0, np.int64)
    wanted = np.zeros(3 * len(faces), dtype=bool)
    wanted[longest[thin < THIN_FACE]] = True
    sides = paired_sides(faces, edges(faces))
    pairs = sides.pairs[sides.agree & wanted[sides.pairs].any(axis=1)]
    if not len(pairs):
        return draft, 0
    worst = thin[pairs // 3].min(axis=1)
    pairs = pairs[np.argsort(worst, kind="stable")]
    starts, around = faces_around(faces, len(x))
    flipped, sources = faces.copy(), draft.sources.copy()
    changed = flip(alike(x), flipped, sources, starts, around, pairs, LOW * _size(draft), BEND)
    return draft.rewired(flipped, sources, changed), int(changed.sum()) // 2

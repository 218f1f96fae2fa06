"""A mended copy of a surface, and what was changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from bunraku.contracts import input_error, is_between, many, need
from bunraku.geometry.connectivity import Orientation, borders, collapsed, face_pieces, orientation
from bunraku.geometry.normals import SurfaceNormals, without_normals
from bunraku.geometry.surface import NORMALS, Surface
from bunraku.geometry.topology import LARGEST_COORDINATE, edges, thinness

from .doubles import drop_doubles
from .draft import Draft
from .fragments import fragment_faces
from .holes import SMALL_HOLE, fill_holes, piece_sizes, small_holes
from .outside import inside_out
from .remeshed import remeshed_surface
from .sewing import close_cracks, sew
from .slivers import THIN_FACE, drop_flat, remove_slivers

ROUNDS = 6
"""mending one thing may show another: a hole filled, a sliver in it; after these it is left as it is"""
NOTHING = "Nothing was found that this repair mends."


@dataclass(frozen=True, eq=False)
class Repaired:
    """A mended surface."""

    surface: Surface
    changes: tuple[str, ...]
    """what was done, a sentence each; `NOTHING` where nothing was"""
    left: tuple[str, ...]
    """what could not be mended, and why"""


def repair(
    surface: Surface, *, weld_distance: float | None = None, orient: bool = True, fill_holes_up_to: float = SMALL_HOLE,
    slivers: bool = True, fragments: bool = False, remesh: float | None = None,
) -> Repaired:  # fmt: skip
    """Mend what can be mended without guessing.

    `weld_distance` [m]: cracks up to this width are closed (default a hundred-thousandth of the size, 0: none).
    `fill_holes_up_to`: closed rims shorter than this share of their piece's size are filled, 0: none. `fragments`: tiny
    leftover pieces are removed. `remesh`: edge length [m] for a new, even triangulation of the mended shape.

    Polygons in which nothing changes keep all their values. Triangles that are cut, flipped or made here have the
    values of the polygon they came from or lie beside. Values of points that were sewn together but differ become
    values of corners. Where faces are turned, normals are worked out anew, as hard and soft as they were.
    """
    need(Surface, "surface", surface)
    if remesh is not None and not (is_between(remesh, 0.0, LARGEST_COORDINATE) and remesh > 0.0):
        raise input_error(
            "the edge length to remesh to must be above zero", got=remesh,
            allowed=f"above 0 up to {LARGEST_COORDINATE:g} m",
        )  # fmt: skip
    for name, value in (("weld_distance", weld_distance), ("fill_holes_up_to", fill_holes_up_to)):
        if value is not None and not is_between(value, 0.0, np.finfo(np.float64).max):
            raise input_error(f"{name} must be zero or more", got=value, allowed="0 or more, finite")
    with np.errstate(all="ignore"):  # what comes may have any numbers
        draft, done = Draft.of(surface), Counter[str]()
        done.update(_left_out(surface, draft))
        shut = collapsed(draft.faces)
        draft, done["flat"] = draft.only(~shut), int(shut.sum())
        for _ in range(ROUNDS):
            draft, more = _mend(draft, weld_distance, orient, fill_holes_up_to, slivers, fragments)
            done.update(more)
            if not more:
                break
        finished = draft.finished()
        if draft.turned.any() and finished.attribute(NORMALS) is not None:
            normals = SurfaceNormals.of(finished).at(finished.points)
            finished = replace(without_normals(finished), attributes=(*without_normals(finished).attributes, normals))
        notes = _notes(draft, orient, fill_holes_up_to)
        if remesh is not None and len(draft.faces):
            finished, sentence = remeshed_surface(finished, remesh)
            return Repaired(finished, (*_sentences(done), sentence), notes)
        return Repaired(finished, tuple(_sentences(done)) or (NOTHING,), notes)


def _mend(
    draft: Draft, weld_distance: float | None, orient: bool, holes: float, slivers: bool, fragments: bool
) -> tuple[Draft, Counter[str]]:
    """One round of mending; what was done, by the words of `WORDS`."""
    draft, done = _join(draft, weld_distance)
    if slivers:
        draft, done["collapsed"], done["flipped"] = remove_slivers(draft)
    draft, done["flat"] = drop_flat(draft)
    if orient:
        draft, done["turned"], done["outward"] = _agree(draft)
    if fragments:
        tiny = fragment_faces(draft.x, draft.faces, face_pieces(draft.faces, len(draft.x)))
        draft, done["fragments"] = draft.only(~tiny), int(tiny.sum())
    if holes > 0:
        draft, done["holes"], done["filled"] = fill_holes(draft, holes)
    return draft, +done


def _join(draft: Draft, weld_distance: float | None) -> tuple[Draft, Counter[str]]:
    """Everything that belongs together joined: before that no hole is a hole."""
    done: Counter[str] = Counter()
    for _ in range(ROUNDS):
        once: Counter[str] = Counter()
        # First: the edges of a face that is there twice look as if they were sewn.
        draft, once["repeated"], once["flaps"] = drop_doubles(draft)
        draft, once["sewn"] = sew(draft)
        if weld_distance is None or weld_distance > 0:
            draft, once["near"], once["inserted"] = close_cracks(draft, weld_distance)
        done.update(once)
        if not +once:
            break
    return draft, done


def _agree(draft: Draft) -> tuple[Draft, int, int]:
    """Neighbours wound alike, closed parts outwards; how many faces were turned for each."""
    found = edges(draft.faces)
    way = orientation(draft.faces, found)
    draft = draft.wound(way.turn)
    settled = Orientation(np.zeros_like(way.turn), way.patch, way.one_sided)
    inward = inside_out(draft.x, draft.faces, found, settled)
    return draft.wound(inward), int(way.turn.sum()), int(inward.sum())


def _left_out(surface: Surface, draft: Draft) -> Counter[str]:
    """What cannot be part of a surface: polygons without three corners, or with points that are no numbers."""
    few = int((surface.counts < 3).sum())
    kept = len(np.unique(draft.polygons))
    used = np.zeros(surface.point_count, dtype=bool)
    used[draft.faces] = True
    bad = surface.polygon_count - few - kept
    return +Counter({"few": few, "not finite": bad, "loose": int((~used).sum())})


WORDS = {
    "few": ("polygon with fewer than three corners removed", "polygons with fewer than three corners removed"),
    "not finite": (
        "polygon with points that are no numbers removed",
        "polygons with points that are no numbers removed",
    ),
    "loose": ("point of no face removed", "points of no face removed"),
    "sewn": ("point sewn to others on the same spot along seams", "points sewn to others on the same spot along seams"),
    "near": ("point moved onto another to close a crack", "points moved onto others to close cracks"),
    "inserted": (
        "point joined to the edge it lay on to close a crack",
        "points joined to the edges they lay on to close cracks",
    ),
    "repeated": ("repeated face removed", "repeated faces removed"),
    "flaps": ("small flap folded on itself removed", "small flaps folded on themselves removed"),
    "collapsed": ("short edge of a sliver collapsed", "short edges of slivers collapsed"),
    "flipped": ("long edge of a sliver flipped", "long edges of slivers flipped"),
    "flat": ("face without area removed", "faces without area removed"),
    "turned": ("face turned round to agree with its neighbours", "faces turned round to agree with their neighbours"),
    "outward": ("face of inside-out closed parts turned outwards", "faces of inside-out closed parts turned outwards"),
    "fragments": ("face of tiny fragments removed", "faces of tiny fragments removed"),
    "holes": ("small hole filled", "small holes filled"),
    "filled": (
        "triangle made over holes, with the values and groups of the polygon beside it",
        "triangles made over holes, with the values and groups of the polygons beside them",
    ),
}
"""what can be done: of one, of several"""


def _sentences(done: Counter[str]) -> list[str]:
    return [f"{many(done[key], *words)}." for key, words in WORDS.items() if done[key]]


def _notes(draft: Draft, orient: bool, holes: float) -> tuple[str, ...]:
    """What was left, and why."""
    notes = []
    way = orientation(draft.faces)
    if orient and way.one_sided.any():
        parts = len(np.unique(way.patch[way.one_sided]))
        notes.append(f"{many(parts, 'part has', 'parts have')} only one side and could not be wound consistently.")
    border, pieces = borders(draft.x, draft.faces), face_pieces(draft.faces, len(draft.x))
    left = int(small_holes(border, pieces, piece_sizes(draft.x, draft.faces, pieces), holes).sum())
    if left:
        notes.append(
            f"{many(left, 'small hole was', 'small holes were')} left: no triangles over them keep clear of the rest."
        )
    thin = int((thinness(draft.x, draft.faces) < THIN_FACE).sum())
    if thin:
        notes.append(
            f"{many(thin, 'sliver is', 'slivers are')} left: to take more out would fold the surface or change its "
            "shape; remeshing makes all triangles anew."
        )
    return tuple(notes)

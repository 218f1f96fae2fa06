"""A surface becomes a body of tetrahedra.

fTetWild [Hu 2020] fills what the surface encloses and may move the surface by the `envelope`; it closes small holes and
does not mind crossings or doubled faces. A wide envelope takes the volume down (legs and ears shrink to their middle),
so the body's surface is moved back towards the given one afterwards, until it has its volume again.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.contracts import ContentStore, input_error, is_between, need

from .cage import containing
from .closest import closest_points
from .enclosing import Enclosed, enclosed
from .inflating import inflated, refitted
from .surface import Surface
from .tet_quality import TetQuality, tet_quality
from .tetmesh import TetMesh, check_tets, tet_volumes
from .tetwild import TetWildFailed, run_tetwild, wheel_version
from .topology import check_coordinates
from .trimesh import TriMesh
from .welding import weld

_log = logging.getLogger(__name__)

EDGE = 0.1
"""the length of edges aimed at where none is given, as a share of the surface's size"""
ENVELOPE = 1.0 / 6.0
"""how far the surface may move where that is not given, as a share of the edge"""
MOST_TETS = 1_000_000
"""tetrahedra beyond which nobody would wait"""
_NOTED = 0.01
"""share of the area from which on closed holes are worth a word"""
_LOST = 3.0
"""envelopes the surface may reach out of the body; further, a part thinner than the envelope is gone"""
_EMPTY = 1e-9
"""share of the cube of the surface's size below which a volume is none"""
_FORM = "2"
"""of what is kept in a cache: a new one where the same input would give another body"""


@dataclass(frozen=True, eq=False)
class Tetrahedralised:
    """A body made of a surface, and how well it stands for it."""

    body: TetMesh
    edge: float
    """[m] aimed at"""
    envelope: float
    """[m] how far the surface was allowed to move"""
    volume_deviation: float | None
    """(V_body − V_surface) / V_surface; None where the surface is open. Where pieces cross, V_surface counts twice"""
    furthest: float
    """[m] of the body's surface nodes from the given surface, and of its vertices outside the body from that"""
    quality: TetQuality
    from_cache: bool

    def __str__(self) -> str:
        """In one sentence."""
        volume = "" if self.volume_deviation is None else f", volume {self.volume_deviation:+.1%}"
        return f"{self.quality}; edges {self.edge:.3g} m{volume}, at most {self.furthest:.3g} m from the surface"


def tetrahedralise(
    mesh: TriMesh | Surface, *, edge: float | None = None, envelope: float | None = None,
    cache: ContentStore | None = None, patience: float = 600.0,
) -> TetMesh:  # fmt: skip
    """The body inside a surface; parameters as for `tetrahedralised`."""
    return tetrahedralised(mesh, edge=edge, envelope=envelope, cache=cache, patience=patience).body


def tetrahedralised(
    mesh: TriMesh | Surface, *, edge: float | None = None, envelope: float | None = None,
    cache: ContentStore | None = None, patience: float = 600.0,
) -> Tetrahedralised:  # fmt: skip
    """The body inside a surface, with what is to be said about it.

    `edge` [m] is the length of edges aimed at, a tenth of the surface's diagonal where not given; where the surface
    is more finely shaped than `envelope` [m] edges get shorter. Where no envelope is given it is a sixth of the edge,
    or a twelfth if a thin part got lost; half the envelope is about 2.5 times the tetrahedra. `patience` [s] ends what
    takes too long. `cache` keeps bodies, by content. The same surface gives the same body on Linux with x86-64;
    elsewhere fTetWild inserts triangles in an order drawn by lot, and only the cache gives the same one again.
    """
    given = weld(mesh).mesh if isinstance(mesh, Surface) else mesh
    need(TriMesh, "mesh", given)
    if not is_between(patience, 1e-3, 1e9):
        raise input_error("patience must be a time", where="patience", got=repr(patience), allowed="above 0 s")
    _check_surface(given)
    edge = EDGE * given.size if edge is None else _length("edge", edge, given.size)
    tried = (
        [ENVELOPE * edge, 0.5 * ENVELOPE * edge] if envelope is None else [_length("envelope", envelope, given.size)]
    )
    inside = enclosed(given)
    if inside.open_share > _NOTED:
        _log.warning("the surface is open: holes of %.0f %% of its area are closed", 100.0 * inside.open_share)
    _check_count(inside, given, edge, tried[0])
    key = _key(given, edge, envelope)
    out = None if cache is None else _kept(cache, key, given, inside, edge)
    if out is None:
        out = _best(given, inside, edge, tried, patience)
        if cache is not None:
            used = np.array([out.envelope])
            cache.store(key, {"rest": out.body.rest, "tets": out.body.tets, "envelope": used})
    _say(out)
    return out


def _say(out: Tetrahedralised) -> None:
    """What the artist should know."""
    if out.furthest > _LOST * out.envelope:
        _log.warning(
            "a thin part was lost: the surface reaches %.3g m out of the body; an envelope below %.2g m may keep it",
            out.furthest, out.envelope,
        )  # fmt: skip
    _log.info("%s%s", out, " (from the cache)" if out.from_cache else "")


def _best(given: TriMesh, inside: Enclosed, edge: float, tried: Sequence[float], patience: float) -> Tetrahedralised:
    """The body with the first of the envelopes that keeps the thin parts, or with the last."""
    for envelope in tried[:-1]:
        out = _told(_made(given, inside, edge, envelope, patience), given, inside, edge, envelope)
        if out.furthest <= _LOST * envelope:
            return out
    return _told(_made(given, inside, edge, tried[-1], patience), given, inside, edge, tried[-1])


def _made(given: TriMesh, inside: Enclosed, edge: float, envelope: float, patience: float) -> TetMesh:
    """The body, made anew: about the surface's middle and of size one, for fTetWild's tolerances are absolute."""
    if wheel_version() is None:
        raise input_error(
            "a surface is filled with tetrahedra by the wheel 'pytetwild', which is not installed", where="mesh",
            remedy="pip install pytetwild (it has wheels for Linux, Windows and Apple silicon with macOS 15), or make "
            "the tetrahedra elsewhere and read them with read_tets",
        )  # fmt: skip
    size, middle = given.size, 0.5 * (given.rest.min(axis=0) + given.rest.max(axis=0))
    try:
        x, tets = run_tetwild((given.rest - middle) / size, inside.faces, edge / size, envelope / size, patience)
    except TetWildFailed as failed:
        raise input_error(
            "the surface could not be filled with tetrahedra", where="mesh", got=str(failed),
            remedy="another edge or envelope, more patience, or bunraku check --repair on the surface",
        ) from None  # fmt: skip
    if not len(tets) or abs(tet_volumes(x, tets)).sum() < _EMPTY:
        raise input_error(
            "the surface encloses nothing that could be filled with tetrahedra", where="mesh",
            got=f"{len(given.faces)} faces, {len(tets)} tetrahedra inside them",
            allowed="closed surfaces, and such with small holes", remedy="close it (bunraku check FILE --repair OUT "
            "--fill-holes 1), or give it thickness; a smaller envelope where a thin part was lost",
        )  # fmt: skip
    body = TetMesh.oriented(x * size + middle, tets)
    body = refitted(body, given, most=envelope)
    if inside.volume is not None:
        body = inflated(body, inside.volume, most=envelope)
    check_tets(body, "the body")
    return body


def _told(
    body: TetMesh, given: TriMesh, inside: Enclosed, edge: float, envelope: float, *, from_cache: bool = False
) -> Tetrahedralised:  # fmt: skip
    volume = float(body.volumes.sum())
    deviation = None if inside.volume is None else volume / inside.volume - 1.0
    surface = body.surface()
    outside = containing(given.rest, body)[0] < 0
    there = closest_points(given.rest[outside], surface).distances.max(initial=0.0)
    back = closest_points(surface.rest, given).distances.max(initial=0.0)
    return Tetrahedralised(body, edge, envelope, deviation, float(max(there, back)), tet_quality(body), from_cache)


def _check_surface(mesh: TriMesh) -> None:
    if not len(mesh.faces):
        raise input_error("has no faces to be filled", where="mesh", got=f"{mesh.point_count} vertices")
    check_coordinates(mesh.rest, "mesh")


def _length(name: str, given: float, size: float) -> float:
    if not is_between(given, 1e-300, size):
        raise input_error(
            "must be a length above 0 and not above the surface's size", where=name, got=repr(given),
            allowed=f"up to {size:.3g} m; {EDGE * size:.3g} m is the edge taken where none is given",
        )  # fmt: skip
    return float(given)


def expected_tets(volume: float, area: float, size: float, edge: float, envelope: float) -> float:
    """About how many tetrahedra will come: those of the volume, and those the surface's shape asks for.

    The second part is fitted to animals between 70 and 22,000 tetrahedra; right within a factor of three.
    """
    return 8.5 * volume / edge**3 + 2.5 * area / size**2 * (size / envelope) ** 1.3


def _check_count(inside: Enclosed, mesh: TriMesh, edge: float, envelope: float) -> None:
    about = expected_tets(inside.volume or 0.0, inside.area, mesh.size, edge, envelope)
    if not about <= MOST_TETS:
        larger = (about / MOST_TETS) ** (1.0 / 1.3 if inside.volume is None else 1.0 / 3.0)
        raise input_error(
            f"edges of {edge:.3g} m with an envelope of {envelope:.3g} m would take too many tetrahedra", where="mesh",
            got=f"about {about:.2g}", allowed=f"up to {MOST_TETS:,}",
            remedy=f"edges from {_rounded(edge * larger)} m on",
        )  # fmt: skip


def _rounded(length: float) -> str:
    """Two digits, rounded up."""
    step = 10.0 ** (math.floor(math.log10(length)) - 1)
    return f"{math.ceil(length / step) * step:.2g}"


def _key(mesh: TriMesh, edge: float, envelope: float | None) -> str:
    """A name for what the body is made of."""
    made = hashlib.sha256()
    for array in (mesh.rest, mesh.faces, np.array([edge, 0.0 if envelope is None else envelope])):
        made.update(f"{array.shape}{array.dtype.str}".encode() + np.ascontiguousarray(array).tobytes())
    return f"body-{_FORM}-{wheel_version()}-{made.hexdigest()[:40]}"


def _kept(cache: ContentStore, key: str, given: TriMesh, inside: Enclosed, edge: float) -> Tetrahedralised | None:
    """The body of a cache, unless what is there is none."""
    found = cache.load(key)
    if found is None:
        return None
    try:
        body = TetMesh(found["rest"], found["tets"])
        check_tets(body)
        return _told(body, given, inside, edge, float(found["envelope"][0]), from_cache=True)
    except (KeyError, IndexError, ValueError):
        _log.warning("what the cache has for %s is no body; it is made again", key)
        return None

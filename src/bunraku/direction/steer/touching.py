"""Bodies that touch: the surfaces of a step, how hard a path may press, and a first pose that cuts nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy import sparse

from bunraku.collision import Surfaces
from bunraku.contracts import InputError, Integers, Sparse, Vector, input_error
from bunraku.direction.contact import Contact
from bunraku.geometry import TetMesh, TriMesh, faces_through, tet_lumped_mass
from bunraku.motion import Path

from .settings import SteerSettings

_THICK = 0.02
"""share of the mean edge of the surface that stays open, where nothing is said"""
_SKIN = 1e-9
"""share of a tetrahedron by which a point may be outside and still count as inside: bodies that lie on each other do"""
_PRESSES = 25.0
"""a path presses a solid so many times as hard as the strain says: a body is made to be squashed, a shell is not"""


def surfaces_of(
    contact: Contact, body: TetMesh, paths: Sequence[Path], knobs: SteerSettings, parts: Mapping[str, Integers]
) -> Surfaces:
    """What may touch of a body, or of several in one mesh, `parts` by their names; refused where it does not go with
    what else is asked."""
    if any(path.hold == "compensation" for path in paths):
        raise input_error(
            "a body that is put back on its path after a step would be put into what it touches", where="path.hold",
            got="compensation", remedy="hold='constraint', which knows of contact",
        )  # fmt: skip
    if knobs.iterations is not None:
        raise input_error(
            "with contact every step runs until it has converged", where="iterations", got=knobs.iterations,
            allowed="None",
        )  # fmt: skip
    if contact.layers:
        raise input_error("layers are for garments", where="contact.layers", got=list(contact.layers), allowed="none")
    skin = TriMesh(body.rest, body.surface_faces)
    if parts and not contact.parts:  # bodies are things of their own: their rest shapes may lie in each other
        contact = replace(contact, parts=parts)
    if contact.thickness is None:
        corners = skin.rest[skin.faces]
        edge = float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())
        contact = replace(contact, thickness=_THICK * edge)
    return contact.surfaces(skin, None, 0.0)


def swallowed(bodies: Mapping[str, TetMesh]) -> InputError | None:
    """What is to be said of the first body, by names, that lies wholly inside another as they begin: their surfaces
    would never meet."""
    for (a, one), (b, other) in combinations(bodies.items(), 2):
        if not _crossing(one, other) and (_holds(one, other) or _holds(other, one)):
            return _in_each_other(a, b)
    return None


def crossed(bodies: Mapping[str, TetMesh]) -> InputError | None:
    """The same of the first two that cross."""
    for (a, one), (b, other) in combinations(bodies.items(), 2):
        if _crossing(one, other):
            return _in_each_other(a, b)
    return None


def _in_each_other(a: str, b: str) -> InputError:
    return input_error(
        "the two lie in each other in the first pose", where=f"{a} and {b}",
        remedy="move one of them: its mesh, its start or a path",
    )  # fmt: skip


def _crossing(one: TetMesh, other: TetMesh) -> bool:
    """Whether two surfaces meet."""
    low, high = (np.stack([x.min(axis=0), x.max(axis=0)]) for x in (one.rest, other.rest))
    if (low[1] < high[0]).any() or (high[1] < low[0]).any():
        return False
    x = np.concatenate([one.rest, other.rest])
    return bool(faces_through(x, one.surface_faces, other.surface_faces + one.point_count, touching=True).any())


def _holds(outer: TetMesh, inner: TetMesh) -> bool:
    """Whether a vertex of one body, a corner of each of its parts, is inside another."""
    corners = outer.rest[outer.tets]
    sides = corners[:, 1:] - corners[:, :1]
    solid = np.abs(np.linalg.det(sides)) > 0.0  # what is squashed flat holds nothing
    corners, frames = corners[solid], np.linalg.inv(sides[solid])
    _, firsts = np.unique(inner.parts, return_index=True)
    for point in inner.rest[inner.tets[firsts, 0]]:
        share = np.einsum("mi,mij->mj", point - corners[:, 0], frames)
        if ((share > -_SKIN).all(axis=1) & (share.sum(axis=1) < 1.0 + _SKIN)).any():
            return True
    return False


def pressing(
    contact: Contact | None, body: TetMesh, young: Vector
) -> Callable[[Sparse], Callable[[float], Vector]] | None:
    """weights (k, n) of averages → time [s] → (k,) [N] how hard each may press what it touches; None: nothing is there.

    It is the force that strains a cube of as much of the body as the average is of; `young` (n,) [Pa].
    """
    if contact is None:
        return None
    volumes = tet_lumped_mass(body, 1.0)

    def of(weights: Sparse) -> Callable[[float], Vector]:
        chosen = sparse.csr_array(weights).astype(bool).astype(np.float64)
        stress = _PRESSES * contact.press * (chosen @ young) / np.maximum(chosen.sum(axis=1), 1)
        force = stress * (chosen @ volumes) ** (2.0 / 3.0)
        return lambda time: force

    return of

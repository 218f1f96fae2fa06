"""Several meshes as one: vertices and elements one after another, nothing sewn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.contracts import Integers, Points

from .tetmesh import TetMesh
from .trimesh import TriMesh


def join_tets(meshes: Sequence[TetMesh]) -> TetMesh:
    """Bodies as one mesh; a single one is itself."""
    if len(meshes) == 1:
        return meshes[0]
    return TetMesh(*_joined([one.rest for one in meshes], [one.tets for one in meshes]))


def join_surfaces(meshes: Sequence[TriMesh]) -> TriMesh:
    """Surfaces as one mesh; a single one is itself."""
    if len(meshes) == 1:
        return meshes[0]
    return TriMesh(*_joined([one.rest for one in meshes], [one.faces for one in meshes]))


def _joined(rests: Sequence[Points], elements: Sequence[Integers]) -> tuple[Points, Integers]:
    firsts = np.cumsum([0, *(len(rest) for rest in rests)])
    moved = [own + first for own, first in zip(elements, firsts, strict=False)]
    return np.concatenate(rests), np.concatenate(moved)

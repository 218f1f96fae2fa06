"""How good the tetrahedra of a body are, in numbers and in sentences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Integers, many, need

from .connectivity import components
from .tetmesh import THINNEST_TET, TetMesh, thinness
from .trimesh import first_few

THIN = 0.1
"""quality below which a tetrahedron is thin: it stiffens the body and slows the solver"""
_NAMED = 8
"""worst tetrahedra that are named"""


@dataclass(frozen=True, eq=False)
class TetQuality:
    """What there is to say about a body's tetrahedra."""

    tets: int
    nodes: int
    parts: int
    """that hang together by nodes"""
    hinges: int
    """places more at which parts hang together by a node or an edge only: there they swing freely"""
    volume: float
    """[m³]"""
    least: float
    """quality of the worst tetrahedron: 1 for a regular one, 0 for a flat or inverted one"""
    median: float
    worst: Integers
    """(k,) the worst ones, up to eight"""
    thin: int
    """below a quality of 0.1, flat and inverted ones among them"""
    flat: int
    """that physics refuses"""
    inverted: int
    loose: int
    """nodes of no tetrahedron"""

    @property
    def usable(self) -> bool:
        """Whether physics can mean the body as it is."""
        return self.tets > 0 and not (self.flat or self.inverted or self.loose)

    def sentences(self) -> tuple[str, ...]:
        """What there is to say, the first about the whole."""
        said = [str(self)]
        if self.flat:
            said.append(f"{_tets(self.flat, 'has', 'have')} no volume, or next to none: mend_tets takes them out")
        if self.inverted:
            said.append(f"{_tets(self.inverted, 'is', 'are')} inside out: mend_tets turns them around")
        if self.thin > self.flat + self.inverted:
            some = _tets(self.thin - self.flat - self.inverted, "is", "are")
            worst = f"the worst first: {first_few(self.worst[: self.thin])}"
            said.append(f"{some} thin (quality below {THIN:g}), which stiffens the body there; {worst}")
        if self.loose:
            said.append(
                f"{many(self.loose, 'node belongs', 'nodes belong')} to no tetrahedron: mend_tets leaves them out"
            )
        if self.parts > 1:
            said.append(f"the body is in {self.parts} parts, which nothing holds together")
        if self.hinges:
            said.append(
                f"at {many(self.hinges, 'place')} it hangs together by a node or an edge only, and swings there"
            )
        return tuple(said)

    def __str__(self) -> str:
        """In one sentence."""
        counts = (
            f"{many(self.tets, 'tetrahedron', 'tetrahedra')}, {many(self.nodes, 'node')}, {many(self.parts, 'part')}"
        )
        return f"{counts}, {self.volume:.3g} m³, quality from {self.least:.2f} (median {self.median:.2f})"


def _tets(number: int, does: str, do: str) -> str:
    return many(number, f"tetrahedron {does}", f"tetrahedra {do}")


def tet_quality(mesh: TetMesh) -> TetQuality:
    """Look at the tetrahedra of a body."""
    need(TetMesh, "mesh", mesh)
    quality, thin = mesh.quality, thinness(mesh.rest, mesh.tets)
    flat = ~(np.abs(thin) > THINNEST_TET)
    used = len(np.unique(mesh.tets))
    return TetQuality(
        tets=len(mesh.tets), nodes=mesh.point_count, parts=mesh.part_count, hinges=_face_parts(mesh) - mesh.part_count,
        volume=float(mesh.volumes.sum()), least=float(quality.min()) if len(quality) else 0.0,
        median=float(np.median(quality)) if len(quality) else 0.0,
        worst=np.argsort(quality, kind="stable")[:_NAMED], thin=int((quality < THIN).sum()), flat=int(flat.sum()),
        inverted=int((~flat & (thin < 0.0)).sum()), loose=mesh.point_count - used,
    )  # fmt: skip


def _face_parts(mesh: TetMesh) -> int:
    """How many parts hang together by faces."""
    ours = np.sort(mesh.tets[:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]].reshape(-1, 3), axis=1)
    order = np.lexsort(ours.T)
    same = (ours[order[1:]] == ours[order[:-1]]).all(axis=1)
    pairs = np.stack([order[:-1][same], order[1:][same]], axis=1) // 4
    return int(components(pairs, len(mesh.tets)).max(initial=-1)) + 1

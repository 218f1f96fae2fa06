"""What the doctor says about a surface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

import numpy as np

from bunraku.contracts import Integers
from bunraku.geometry.connectivity import Census

FEW = 8
"""element numbers named in a finding"""


class Severity(Enum):
    """What a finding means for a simulation."""

    HARMLESS = "harmless"
    HANDLED = "handled"
    """bunraku does the right thing by itself"""
    CARE = "needs care"
    """it runs, but the artist should look"""
    REFUSED = "refused"
    """physics cannot mean it"""


class Kind(Enum):
    """What can be found, most serious first."""

    NOT_FINITE = "points not finite"
    NO_FACES = "no faces"
    SCALE = "absurd scale"
    FEW_CORNERS = "polygons with fewer than three corners"
    LOOSE_POINTS = "loose points"
    ZERO_AREA = "faces without area"
    THIN = "thin faces"
    DUPLICATE_POINTS = "duplicate points"
    CRACKS = "cracks"
    REPEATED = "repeated faces"
    CROWDED_EDGES = "edges with three or more faces"
    WINDING = "inconsistent winding"
    ONE_SIDED = "one-sided surface"
    INSIDE_OUT = "inside-out pieces"
    PINCHED = "bow-tie points"
    HOLES = "small holes"
    OPEN = "open borders"
    PIECES = "several pieces"
    FRAGMENTS = "tiny fragments"
    CROSSING = "self-intersections"
    TOUCHING = "faces that touch"
    BENT = "bent polygons"
    CONCAVE = "concave polygons"
    DRAWN_OUT = "drawn-out faces"
    UNEVEN = "uneven edge lengths"


@dataclass(frozen=True)
class Finding:
    """One thing found."""

    kind: Kind
    severity: Severity
    count: int
    element: str
    """what `where` numbers: "points", "polygons"; "" where nothing can be named"""
    where: tuple[int, ...]
    """the first few of them, as the file numbers them from 0"""
    sentence: str
    """what it is and what bunraku does about it"""
    remedy: str
    """what to do; "" where nothing needs to be done"""
    numbers: tuple[tuple[str, float], ...] = ()
    """measured beside the count"""


def report(
    kind: Kind, severity: Severity, count: int, sentence: str, remedy: str = "", element: str = "",
    where: Integers | Sequence[int] = (), **numbers: float,
) -> Finding:  # fmt: skip
    """A finding with its first few elements."""
    first = tuple(int(k) for k in np.asarray(where)[:FEW])
    return Finding(kind, severity, int(count), element, first, sentence, remedy, tuple(numbers.items()))


@dataclass(frozen=True)
class Quality:
    """The shape of the faces that have an area."""

    thinnest: float
    """smallest area / longest edge²; an equilateral face has 0.43"""
    thin_hundredth: float
    """that a hundredth of the faces are below"""
    median: float
    shortest_edge: float
    """[m]"""
    median_edge: float
    longest_edge: float
    unevenness: float
    """edge length that one edge in a hundred exceeds, over that one in a hundred stays below"""


@dataclass(frozen=True)
class Diagnosis:
    """All that was found out about a surface."""

    points: int
    polygons: int
    triangles: int
    """the polygons cut into"""
    pieces: int
    """after sewing, like all that follows"""
    border_loops: int
    border_edges: int
    border_length: float
    """[m]"""
    closed: bool
    """every edge has two faces or more"""
    genus: int | None
    """handles, summed over the pieces; None where edges are crowded, points pinched or a piece is one-sided"""
    low: tuple[float, float, float]
    """smallest coordinates of points with faces [m]"""
    high: tuple[float, float, float]
    size: float
    """diagonal of the bounding box [m]"""
    area: float
    """[m²]"""
    raw: Census
    """as the file has it"""
    merged: Census
    """with all points at exactly one position made one"""
    quality: Quality | None
    findings: tuple[Finding, ...]

    @property
    def worst(self) -> Severity:
        """The most serious of the findings."""
        order = list(Severity)
        return max((one.severity for one in self.findings), key=order.index, default=Severity.HARMLESS)

    def finding(self, kind: Kind) -> Finding | None:
        """The finding of a kind, or None."""
        return next((one for one in self.findings if one.kind is kind), None)

    def count(self, kind: Kind) -> int:
        """How many of a kind."""
        one = self.finding(kind)
        return 0 if one is None else one.count

    def as_json(self) -> dict[str, Any]:
        """Plain data, for json."""
        data = asdict(self)
        data["worst"] = self.worst.value
        data["findings"] = [
            asdict(one) | {
                "kind": one.kind.value, "severity": one.severity.value, "where": list(one.where),
                "numbers": dict(one.numbers),
            }
            for one in self.findings
        ]  # fmt: skip
        return data | {"low": list(self.low), "high": list(self.high)}

    def sentences(self) -> list[str]:
        """What the surface is, then one sentence a finding, in plain words."""
        return [self.summary(), *(_with_remedy(one) for one in self.findings)]

    def summary(self) -> str:
        """'717 points, 1442 polygons in 2 pieces, closed, 22.3 m across.'"""
        pieces = "1 piece" if self.pieces == 1 else f"{self.pieces} pieces"
        handles = {None: "", 0: ""}.get(self.genus, f", {self.genus} {'handle' if self.genus == 1 else 'handles'}")
        openness = "closed" if self.closed else f"open along {self.border_edges} edges"
        return (
            f"{self.points} points, {self.polygons} polygons ({self.triangles} triangles) in {pieces}, "
            f"{openness}{handles}, {self.size:.4g} m across."
        )


def _with_remedy(one: Finding) -> str:
    where = ", ".join(str(k) for k in one.where)
    more = ", …" if one.where and one.count > len(one.where) else ""
    place = f" ({one.element} {where}{more})" if one.where else ""
    remedy = f" To do: {one.remedy}" if one.remedy else ""
    return f"[{one.severity.value}] {one.sentence}{place}{remedy}"

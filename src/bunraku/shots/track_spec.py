"""What a shot file may say about how the guide is obeyed."""

# `key` makes a dataclass field, which ruff cannot know.
# ruff: noqa: RUF009

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bunraku.geometry.topology import LARGEST_COORDINATE

from .findings import Place
from .kinds import Choice, Keyed, Keys, ListOf, Number, Text, Whole, joined
from .tables import Table, key

STRENGTH = Keyed(Number(0.0, 1.0))
SCALE = Keyed(Number(0.0, 1e6, closed=False, unit="m"))
POINT = ListOf(
    Number(-LARGEST_COORDINATE, LARGEST_COORDINATE, unit="m"), least=3, most=3, what="a point [x, y, z] in metres"
)
_FORCE = Keyed(Number(0.0, 1e12, unit="N"))
_OWN = {"count": "clusters", "scale": "clusters", "width": "gaussians", "regions": "painted"}


@dataclass(frozen=True, kw_only=True)
class SilhouetteTable:
    """Regions on the outline are held, the others less."""

    camera: tuple[float, float, float] = key(POINT, "where the camera stands")
    elsewhere: float = key(Number(0.0, 1.0), "strength of regions that are not on the outline", 0.2)


@dataclass(frozen=True, kw_only=True)
class TrackTable:
    """How the guide is obeyed."""

    method: str = key(
        Choice(("hierarchy", "clusters", "gaussians", "painted", "pointwise", "none")),
        "what is met: 'hierarchy' averages around each guide vertex; 'clusters' averages over regions that follow the "
        "animation; 'gaussians' averages over smooth, overlapping bumps; 'painted' averages over regions painted on "
        "the guide, or on a mesh of its own; 'pointwise' the guide's vertices themselves, for comparison; 'none': a "
        "plain simulation",
        "hierarchy",
    )  # fmt: skip
    count: int | None = key(Whole(1, 1_000_000), "how many clusters: few are loose, many are tight", None)
    scale: Keys | None = key(
        SCALE, "or how large clusters are: what is larger obeys the guide; may be keyed, regions may have their own",
        None,
    )  # fmt: skip
    width: float | None = key(Number(0.0, 1e6, closed=False, unit="m"), "how wide gaussians are", None)
    regions: str | None = key(
        Text(allowed="'group', 'material', a family of USD subsets, or an attribute"),
        "what is painted: a family of subsets or groups, or an attribute of whole numbers (below 0: free) or colours",
        None,
        otherwise="'labels' of the object; else 'bunraku:regions' where the guide has it, else 'group'",
    )  # fmt: skip
    compactness: float = key(Number(0.0, 1.0), "of clusters: 1 makes them round, 0 flat", 0.5)
    seed: int = key(Whole(0), "of clusters and gaussians: another number, other regions", 0)
    strength: Keys = key(STRENGTH, "1 obeys exactly, 0 not at all; may be keyed", 1.0)
    cap: Keys | None = key(
        _FORCE, "the largest force on a region; beyond it the region yields, and the report says by how much", None
    )
    cap_pressure: Keys | None = key(
        Keyed(Number(0.0, 1e12, unit="Pa")), "the same as a pressure on the region's area", None
    )
    stretch: float | None = key(
        Number(0.0, 10.0, closed=False),
        "the same as a strain: 0.01 lets the guide bend the shell but stretch it by about a hundredth at most", None,
    )  # fmt: skip
    silhouette: SilhouetteTable | None = key(
        Table(SilhouetteTable, "{ camera = [0, 1.5, 6], elsewhere = 0.2 }"),
        "hold regions on the outline a camera sees, and the others less", None,
    )  # fmt: skip

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Clusters need their number or their size, gaussians their width; nothing is said that has no effect."""
        told = [name for name in ("count", "scale") if name in given]
        if self.method == "clusters" and len(told) != 1:
            got = "both" if told else "neither"
            place.refuse("clusters need a number of regions or their size", got=got, remedy="count = 200")
        if self.method == "gaussians" and "width" not in given:
            place.refuse("gaussians need a width", got="none", remedy="width = 0.1")
        for name, method in _OWN.items():
            if name in given and self.method not in (None, method):
                place.at(name).refuse(f"is for {method}", got=given[name], remedy=f"method = '{method}'")
        caps = [name for name in ("cap", "cap_pressure", "stretch") if name in given]
        if len(caps) > 1:
            place.refuse("only one of cap, cap_pressure and stretch may be given", got=joined(caps))
        if self.method == "none" and (caps or "silhouette" in given):
            place.refuse("nothing is directed, so nothing is held or capped", got="method = 'none'")

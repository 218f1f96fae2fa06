"""What a shot file may say about how the guide is obeyed."""

# `key` makes a dataclass field, which ruff cannot know.
# ruff: noqa: RUF009

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .findings import Place
from .kinds import (
    Choice,
    Keyed,
    Keys,
    Number,
    Text,
    Whole,
)
from .tables import key

STRENGTH = Keyed(Number(0.0, 1.0))


@dataclass(frozen=True, kw_only=True)
class TrackTable:
    """How the guide is obeyed."""

    method: str = key(
        Choice(("hierarchy", "clusters", "painted", "none"), later=("pointwise",)),
        "what is met: 'hierarchy' averages around each guide vertex; 'clusters' averages over regions that follow the "
        "animation; 'painted' averages over regions painted on the guide; 'none': a plain simulation", "hierarchy",
    )  # fmt: skip
    count: int | None = key(Whole(1, 1_000_000), "how many clusters: few are loose, many are tight", None)
    scale: float | None = key(
        Number(0.0, 1e6, closed=False, unit="m"), "or how large clusters are: what is larger obeys the guide", None
    )
    regions: str | None = key(
        Text(allowed="'group', 'material', a family of USD subsets, or an attribute"),
        "what is painted: a family of subsets or groups, or an attribute of whole numbers or colours", None,
        otherwise="'bunraku:regions' where the guide has it, else 'group'",
    )  # fmt: skip
    compactness: float = key(Number(0.0, 1.0), "of clusters: 1 makes them round, 0 flat", 0.5)
    seed: int = key(Whole(0), "of clusters: another number, other regions", 0)
    strength: Keys = key(STRENGTH, "1 obeys exactly, 0 not at all; may be keyed", 1.0)

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Clusters need their number or their size, painted regions neither."""
        told = [name for name in ("count", "scale") if name in given]
        if self.method == "clusters" and len(told) != 1:
            got = "both" if told else "neither"
            place.refuse("clusters need a number of regions or their size", got=got, remedy="count = 200")
        if self.method != "clusters" and told:
            place.at(told[0]).refuse("is for clusters", got=given[told[0]], remedy="method = 'clusters'")
        if self.method != "painted" and "regions" in given:
            place.at("regions").refuse("is for painted regions", got=given["regions"], remedy="method = 'painted'")

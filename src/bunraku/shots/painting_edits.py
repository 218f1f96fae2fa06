"""What must change in an object's table when regions were painted: their file and names, and all that names them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .region_names import named_in

Path = tuple[str | int, ...]
Changes = list[tuple[Path, Any]]
"""paths within the object's table and what stands there then; None: nothing"""
_OTHERS = ("method", "count", "scale", "width", "regions", "compactness", "seed")
"""keys of `track` that say where regions come from"""


def painted_changes(
    table: Mapping[str, Any], file: str, names: Sequence[str], *, renamed: Sequence[tuple[str, str]] = (),
    obeyed: bool | None = None,
) -> Changes:  # fmt: skip
    """Changes to the table of an object, as its file has it, whose painted regions are `names`, kept in `file`.

    A body's keys, pins and paths speak of regions, so each painted one becomes one of the object's, and goes with it. A
    region that was `renamed` (before, after) is called so wherever the object names it. `obeyed`, of a shell: whether
    the guide is obeyed region by region; None leaves that as it is.
    """
    changes: Changes = []
    if names or "labels" in table:
        changes.append((("labels",), {"file": file, "names": list(names)} if names else None))
    regions = {name: one for name, one in table.get("regions", {}).items() if isinstance(one, dict)}
    calls = dict(renamed)
    for name, one in regions.items():
        if one.get("painted") in calls:
            changes += _called(table, name, {**one, "painted": calls[one["painted"]]}, calls)
    if table.get("role", "shell") not in ("shell", "obstacle"):
        changes += _kept_in_step(table, regions, names, calls)
    if obeyed is not None:
        track = table.get("track", {})
        kept = {name: value for name, value in track.items() if name not in _OTHERS}
        changes.append((("track",), {"method": "painted" if obeyed else "hierarchy", **kept}))
    return changes


def _called(table: Mapping[str, Any], name: str, region: Mapping[str, Any], calls: Mapping[str, str]) -> Changes:
    """A region of another painting, and where it has the painting's name, of another name."""
    after = calls.get(name, name)
    if after == name:
        return [(("regions", name), dict(region))]
    others = {key: value for key, value in table.items() if key != "regions"}
    uses: Changes = [(path, after) for path, used in named_in(others) if used == name]
    return [(("regions", name), None), (("regions", after), dict(region)), *uses]


def _kept_in_step(
    table: Mapping[str, Any], regions: Mapping[str, Any], names: Sequence[str], calls: Mapping[str, str]
) -> Iterator[tuple[Path, Any]]:
    """New paintings become regions of the object, and those that are gone go."""
    before = set(_labelled(table))
    painted = {calls.get(one["painted"], one["painted"]): name for name, one in regions.items() if "painted" in one}
    for name in names:
        if name not in painted:
            yield ("regions", name), {"painted": name}
    for what, name in painted.items():
        if what in before - set(names) and what not in calls.values():
            yield ("regions", name), None


def _labelled(table: Mapping[str, Any]) -> Sequence[str]:
    labels = table.get("labels")
    names = labels.get("names") if isinstance(labels, dict) else None
    return names if isinstance(names, list) else []

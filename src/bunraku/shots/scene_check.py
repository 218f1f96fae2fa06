"""Whether what was read is a scene: parts that belong together, indices within bounds, numbers that are finite.

A file may be of another version, of another take or somebody else's, and what draws it trusts its indices.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

FAR = 1e30
"""[m] beyond which nothing can be drawn in single precision"""
_KINDS = {"f": "numbers", "iu": "whole numbers", "b": "yes or no"}
_FACTS: dict[str, tuple[type, ...]] = {
    "shot": (str,), "object": (str,), "rate": (int, float), "preroll": (int,), "floor": (int, float, type(None)),
    "exempt": (bool,), "regions": (list,), "obstacles": (list,), "planes": (list,), "contact": (dict, type(None)),
}  # fmt: skip


def check_still(arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> None:
    """Refuse (ValueError, in words) what does not move of a scene where a run does not write such."""
    _check_facts(meta)
    frames = len(_array(arrays, "numbers", "f", None))
    if not frames:
        raise ValueError("there are no frames")
    _array(arrays, "origin", "f", 3)
    for name in ("low", "high"):  # infinite where there is nothing
        _array({name: np.nan_to_num(arrays[name], nan=np.nan, posinf=0.0, neginf=0.0)}, name, "f", 3)
    _array(arrays, "strength", "f", frames)
    _array(arrays, "firm", "b", frames, None)
    count = len(_array(arrays, "rest", "f", None, 3))
    regions = len(meta["regions"])
    if "tests/data" in arrays:
        _check_functions(arrays, regions, count)
    elif regions:
        raise ValueError(f"{regions} regions without test functions")
    if "carrier/data" in arrays:
        _check_carrier(arrays, count)
    if meta.get("solids"):
        _check_solids(arrays, meta["solids"])
    if "obstacles" in arrays:
        _array(arrays, "obstacles", "f", None, 3)
    _below(arrays, "sewn", count)
    for name in arrays:
        if name.startswith("part/"):
            _below(arrays, name, count)


def is_cloud(points: NDArray[Any], count: int) -> bool:
    """Whether these are as many points, (count, 3), somewhere they can be drawn."""
    return points.dtype.kind == "f" and points.shape == (count, 3) and bool((np.abs(points) < FAR).all())


def _check_facts(meta: Mapping[str, Any]) -> None:
    for name, kinds in _FACTS.items():
        value = meta[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise ValueError(f"{name} is {value!r:.40}")
    if not (0.0 < meta["rate"] < math.inf) or meta["preroll"] < 0:
        raise ValueError(f"a rate of {meta['rate']}, {meta['preroll']} frames of preroll")
    if meta["floor"] is not None and not abs(meta["floor"]) < FAR:
        raise ValueError(f"floor is {meta['floor']}")
    if not all(isinstance(one, str) for one in meta["regions"]):
        raise ValueError("regions are no names")


def _check_functions(arrays: Mapping[str, NDArray[Any]], regions: int, count: int) -> None:
    """Test functions (regions, count), row by row."""
    starts = _array(arrays, "tests/indptr", "iu", regions + 1)
    filled = len(_array(arrays, "tests/data", "f", None))
    _array(arrays, "tests/indices", "iu", filled)
    _below(arrays, "tests/indices", count)
    _array(arrays, "held", "f", regions)
    if starts[0] != 0 or starts[-1] != filled or (np.diff(starts) < 0).any():
        raise ValueError("tests/indptr does not count the test functions")


def _check_carrier(arrays: Mapping[str, NDArray[Any]], count: int) -> None:
    """Weights (count, simulated points), row by row."""
    starts = _array(arrays, "carrier/indptr", "iu", count + 1)
    filled = len(_array(arrays, "carrier/data", "f", None))
    _array(arrays, "carrier/indices", "iu", filled)
    _below(arrays, "carrier/indices", int(_array(arrays, "carrier/points", "iu")))
    if starts[0] != 0 or starts[-1] != filled or (np.diff(starts) < 0).any():
        raise ValueError("carrier/indptr does not count the weights")


def _check_solids(arrays: Mapping[str, NDArray[Any]], names: Any) -> None:
    """Tetrahedra of bodies that are, one after another, the simulated points."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("solids are no names")
    counts = []
    for name in names:
        counts.append(len(_array(arrays, f"solid/{name}/rest", "f", None, 3)))
        _array(arrays, f"solid/{name}/tets", "iu", None, 4)
        _below(arrays, f"solid/{name}/tets", counts[-1])
    simulated = int(_array(arrays, "carrier/points", "iu"))
    if sum(counts) != simulated:
        raise ValueError(f"the tetrahedra have {sum(counts)} nodes, and {simulated} points are simulated")


def _below(arrays: Mapping[str, NDArray[Any]], name: str, count: int) -> None:
    """Refuse indices beyond the `count` vertices there are."""
    if name in arrays:
        found = arrays[name]
        if found.dtype.kind not in "iu" or ((found < 0) | (found >= count)).any():
            raise ValueError(f"{name} points outside the {count} vertices")


def _array(arrays: Mapping[str, NDArray[Any]], name: str, kind: str, *shape: int | None) -> NDArray[Any]:
    """An array of a shape, None where any number will do."""
    if name not in arrays:
        raise ValueError(f"there is no {name}")
    found = arrays[name]
    fits = len(shape) == found.ndim and all(want in (None, got) for want, got in zip(shape, found.shape, strict=True))
    if not fits:
        raise ValueError(f"{name} has the shape {found.shape}")
    if found.dtype.kind not in kind or (kind == "f" and not (np.abs(found) < FAR).all()):
        raise ValueError(f"{name} holds something else than finite {_KINDS[kind]}")
    return found

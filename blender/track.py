# SPDX-License-Identifier: GPL-3.0-or-later
"""Track: a shell that obeys the object's animation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bpy

from .bridge import Refusal, Shared, Source, Space, StageMesh, Track, prim_name, track_tables
from .bridge.shot import REGIONS
from .capture import Wanted
from .materials import material_table
from .painting import paint_guide
from .scene import single


class TrackRequest:
    """A guide, and the shell where that is another object."""

    def __init__(self, thing: bpy.types.Object, told: Any) -> None:
        self._own, self._told = prim_name(thing.name), told
        self.wanted = [Wanted(thing, self._own, paint=paint_guide)]
        if told.use_shell and told.shell is None:
            raise Refusal("the shell is to be another object, and none is chosen; try: choose one, or subdivide")
        if told.use_shell:
            self.wanted.append(Wanted(told.shell, prim_name(told.shell.name), moving=False))

    def note(self, graph: bpy.types.Depsgraph) -> None:
        """Nothing besides the meshes."""

    def tables(
        self, meshes: Sequence[StageMesh], put: Callable[[StageMesh], Source], space: Space, shared: Shared
    ) -> dict[str, Any]:
        """The whole shot."""
        (guide, *shell), told = [put(mesh) for mesh in meshes], self._told
        ask = Track(
            guide, scale_table(told), material_table(told.material), told.levels, shell[0] if shell else None,
            told.pin_to if told.pinned else None,
        )  # fmt: skip
        return track_tables(self._own, ask, shared)


def scale_table(told: Any) -> dict[str, Any]:
    """How the guide is obeyed."""
    strength = {} if told.strength == 1.0 else {"strength": single(told.strength)}
    clusters = {"compactness": single(told.compactness), "seed": told.seed}
    found: dict[str, dict[str, Any]] = {
        "COUNT": {"method": "clusters", "count": told.count} | clusters,
        "METRES": {"method": "clusters", "scale": single(told.metres)} | clusters,
        "GROUPS": {"method": "painted", "regions": REGIONS},
        "ATTRIBUTE": {"method": "painted", "regions": REGIONS},
        "VERTICES": {"method": "hierarchy"},
        "NONE": {"method": "none"},
    }
    return found[told.scale] | ({} if told.scale == "NONE" else strength)

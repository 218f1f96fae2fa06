# SPDX-License-Identifier: GPL-3.0-or-later
"""Wrinkle, Steer and Plan: soft bodies that are directed by hooks, shape keys and paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from .bridge import (
    Hand,
    Held,
    Painted,
    Plan,
    Refusal,
    Shared,
    Source,
    Space,
    StageMesh,
    Steer,
    Wrinkle,
    in_shot,
    plan_tables,
    prim_name,
    rigid,
    steer_tables,
    wrinkle_tables,
)
from .bridge.soft import three
from .capture import Wanted
from .hands import StillRecord, hands, hooks, keyed, shape_frames
from .materials import material_table
from .scene import single
from .way import WayRecord

Put = Callable[[StageMesh], Source]


class WrinkleRequest:
    """A skin on a body that goes by its hooks, or as it is animated."""

    def __init__(self, thing: bpy.types.Object, told: Any) -> None:
        self._own, self._told, self._hands = prim_name(thing.name), told, list[Hand]()
        self._hooks = hooks(thing) if told.moved_by == "HOOKS" else []
        self.wanted = [Wanted(thing, self._own, paint=self._look, let_go=keyed(self._hooks))]

    def note(self, graph: bpy.types.Depsgraph) -> None:
        """Nothing besides the body."""

    def tables(self, meshes: Sequence[StageMesh], put: Put, space: Space, shared: Shared) -> dict[str, Any]:
        """The whole shot."""
        (body,), told = meshes, self._told
        animated = told.moved_by == "ANIMATION"
        ask = Wrinkle(
            put(body if animated else _still(body)), animated, material_table(told.skin), material_table(told.solid),
            single(told.wavelength) if told.use_wavelength else None, single(told.cell) or None,
            [] if animated else [(hand, _moves(hand, body, space.unit)) for hand in self._hands],
        )  # fmt: skip
        return wrinkle_tables(self._own, ask, shared)

    def _look(self, thing: bpy.types.Object, mesh: bpy.types.Mesh) -> list[Painted]:
        """The hooks, while the object is at rest; a shot names their points, so nothing is painted for them."""
        self._hands = hands(thing, mesh, self._hooks)
        return []


class SteerRequest:
    """A body that passes near shapes and goes along a path; hooks that are not animated hold their points."""

    def __init__(self, thing: bpy.types.Object, told: Any) -> None:
        self._thing, self._own, self._told, self._hands = thing, prim_name(thing.name), told, list[Hand]()
        duplicates = told.poses.all_objects if told.poses is not None else []
        self._poses = [one for one in duplicates if one.type == "MESH" and one not in (thing, told.result)]
        _on_frames_of_their_own(self._poses)
        posed = [Wanted(one, self._own, moving=False) for one in self._poses]
        self.wanted = [Wanted(thing, self._own, paint=self._look), *posed]
        self._way = None if told.path is None else WayRecord(told.path, turning=told.turning)
        self._still = StillRecord(hooks(thing))

    def note(self, graph: bpy.types.Depsgraph) -> None:
        """Where the path's object is, and that those of hooks that hold points stay."""
        self._still.note(graph)
        if self._way is not None:
            self._way.note(graph)

    def tables(self, meshes: Sequence[StageMesh], put: Put, space: Space, shared: Shared) -> dict[str, Any]:
        """The whole shot."""
        (body, *posed), told = meshes, self._told
        still = _still(body)
        keys = {
            f: _key(still, body.points[body.frames.index(f)]) for f in shape_frames(self._thing) if f in body.frames
        }
        for duplicate, mesh in zip(self._poses, posed, strict=True):
            if len(mesh.rest) != len(body.rest):
                raise Refusal(
                    f"the pose {duplicate.name!r} has {len(mesh.rest)} points, and {self._thing.name!r} "
                    f"{len(body.rest)}; try: a duplicate of it"
                )
            keys[duplicate.bunraku.pose_frame] = _key(still, mesh.rest)
        ask = Steer(
            put(still), material_table(told.solid), single(told.edge) or None,
            [(frame, put(mesh)) for frame, mesh in sorted(keys.items())],
            [] if self._way is None else self._way.rows(body.frames, space.unit), told.lead and bool(keys),
            [hand for hand in self._hands if not hand.frames],
        )  # fmt: skip
        return steer_tables(self._own, ask, shared)

    def _look(self, thing: bpy.types.Object, mesh: bpy.types.Mesh) -> list[Painted]:
        self._hands = hands(thing, mesh, hooks(thing))
        return []


class PlanRequest:
    """A motion through where hooks have their points on the frames they are keyed; those without keys hold theirs."""

    def __init__(self, thing: bpy.types.Object, told: Any) -> None:
        self._thing, self._own, self._told, self._hands = thing, prim_name(thing.name), told, list[Hand]()
        self._hooks = hooks(thing)
        self._still = StillRecord(self._hooks)
        self.wanted = [Wanted(thing, self._own, paint=self._look, let_go=keyed(self._hooks))]

    def note(self, graph: bpy.types.Depsgraph) -> None:
        """That the objects of hooks that hold points stay."""
        self._still.note(graph)

    def tables(self, meshes: Sequence[StageMesh], put: Put, space: Space, shared: Shared) -> dict[str, Any]:
        """The whole shot."""
        (body,), told = meshes, self._told
        _keyed_within(self._hands, shared.frames)
        still, keys = _still(body), []
        for hand in self._hands:
            for frame in (one for one in hand.frames if one in body.frames):
                k = body.frames.index(frame)
                velocity = _velocity(body, hand, k, space) if told.velocities else None
                pivot = in_shot(body.rest[hand.vertices].mean(axis=0), space.unit)
                keys.append((hand, Held(*_moves(hand, body, space.unit)[k], three(pivot), velocity)))
        if not keys:
            raise Refusal(
                f"{self._thing.name!r} has no hook whose object is keyed in the shot's frames; "
                "try: hook some points to an empty, and key that where they should be"
            )
        ask = Plan(
            put(still), material_table(told.solid), single(told.edge) or None, told.modes, keys,
            [hand for hand in self._hands if not hand.frames], told.exact, told.attach, told.free,
            single(told.ground) if told.use_ground else None,
        )  # fmt: skip
        return plan_tables(self._own, ask, shared)

    def _look(self, thing: bpy.types.Object, mesh: bpy.types.Mesh) -> list[Painted]:
        self._hands = hands(thing, mesh, self._hooks)
        return []


def _on_frames_of_their_own(poses: Sequence[bpy.types.Object]) -> None:
    """A new duplicate is on the frame of what it was made of until somebody says otherwise."""
    there: dict[int, bpy.types.Object] = {}
    for one in poses:
        other = there.setdefault(one.bunraku.pose_frame, one)
        if other is not one:
            raise Refusal(
                f"the poses {other.name!r} and {one.name!r} are both on frame {one.bunraku.pose_frame}; "
                "try: a frame of its own for each, in the panel below Poses"
            )


def _keyed_within(hands: Sequence[Hand], frames: tuple[int, int]) -> None:
    """One whose keys all lie elsewhere would neither hold its points nor take them anywhere."""
    first, last = frames
    for hand in hands:
        if hand.frames and not any(first <= frame <= last for frame in hand.frames):
            raise Refusal(
                f"the hook {hand.name!r} is keyed on frame {', '.join(map(str, hand.frames[:8]))}, and the shot has "
                f"{first} to {last}; try: a key there, or other frames"
            )


def _still(mesh: StageMesh) -> StageMesh:
    """At rest only."""
    return replace(mesh, frames=(), points=())


def _key(still: StageMesh, points: np.ndarray) -> StageMesh:
    """Posed."""
    return replace(still, rest=points, painted=())


def _moves(hand: Hand, body: StageMesh, unit: float) -> list[tuple[int, Any, Any]]:
    """How the hooked points are moved and turned on each frame."""
    rest = in_shot(body.rest[hand.vertices], unit)
    pairs = zip(body.frames, body.points, strict=True)
    return [(frame, *rigid(rest, in_shot(points[hand.vertices], unit))) for frame, points in pairs]


def _velocity(body: StageMesh, hand: Hand, k: int, space: Space) -> tuple[float, float, float]:
    """[m/s] Of the middle of the hooked points, from the frames before and after."""
    before, after = max(k - 1, 0), min(k + 1, len(body.frames) - 1)
    shift = body.points[after][hand.vertices].mean(axis=0) - body.points[before][hand.vertices].mean(axis=0)
    return three(in_shot(shift, space.unit) * space.rate / (after - before))

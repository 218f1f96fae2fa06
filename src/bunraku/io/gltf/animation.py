"""Animations: keyed translations, rotations, scales and morph weights, and the transforms they give nodes."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.contracts import Array, Vector
from bunraku.rigs import composed, slerp, unit

from .accessors import Accessors
from .fields import Entry
from .tree import Placement, Tree

_log = logging.getLogger(__name__)

_PATHS = {"translation": "VEC3", "rotation": "VEC4", "scale": "VEC3", "weights": "SCALAR"}
_DEFAULTS = {"translation": np.zeros(3), "rotation": np.array([0.0, 0.0, 0.0, 1.0]), "scale": np.ones(3)}
_ONE_KEY = 4  # a time this many float32 roundings from a key is the key's: files keep times in float32


@dataclass(frozen=True, eq=False)
class Track:
    """One keyed quantity."""

    times: Vector
    """(k,) [s] never decreasing"""
    values: Array
    """(k, w), for cubic splines (k, 3, w): tangent before, value, tangent behind"""
    interpolation: str
    """"STEP", "LINEAR" or "CUBICSPLINE\""""
    turns: bool
    """whether values are quaternions"""

    def at(self, times: Vector) -> Array:
        """(t, w) values; before the first key and behind the last one theirs."""
        times = _snapped(times, self.times)
        after = np.clip(np.searchsorted(self.times, times, side="right"), 1, max(len(self.times) - 1, 1))
        before = after - 1
        after = np.minimum(after, len(self.times) - 1)
        span = self.times[after] - self.times[before]
        share = np.clip((times - self.times[before]) / np.where(span > 0, span, 1.0), 0.0, 1.0)[:, None]
        share[(span <= 0) & (times >= self.times[after])] = 1.0
        if self.interpolation == "CUBICSPLINE":
            return self._spline(before, after, span[:, None], share)
        a, b = self.values[before], self.values[after]
        if self.interpolation == "STEP":
            return np.where(share < 1.0, a, b)
        # Written so that the ends are the keys' values exactly.
        return slerp(a, b, share) if self.turns else np.where(share < 1.0, a + share * (b - a), b)

    def _spline(self, before: NDArray[np.intp], after: NDArray[np.intp], span: Array, s: Array) -> Array:
        """[glTF 2.0, appendix C.5]."""
        a, leaving = self.values[before, 1], span * self.values[before, 2]
        b, arriving = self.values[after, 1], span * self.values[after, 0]
        cube, square = s**3, s**2
        value = (
            (2 * cube - 3 * square + 1) * a + (cube - 2 * square + s) * leaving
            + (3 * square - 2 * cube) * b + (cube - square) * arriving
        )  # fmt: skip
        return unit(value) if self.turns else value


@dataclass(frozen=True, eq=False)
class Motion:
    """What moves: node and path ("translation", …, "weights") → track. An empty one is the file's own pose."""

    tracks: dict[tuple[int, str], Track]

    def local(self, node: int, placement: Placement, times: Vector) -> Array:
        """(t, 4, 4) a node's transforms below its parent; (1, 4, 4) where it rests."""
        if "matrix" in placement:
            return placement["matrix"].reshape(1, 4, 4).transpose(0, 2, 1)
        parts = []
        for path, default in _DEFAULTS.items():
            track = self.tracks.get((node, path))
            still = placement[path] if path in placement else default
            parts.append(still[None] if track is None else track.at(times))
        return composed(*parts)

    def worlds(self, tree: Tree, nodes: Iterable[int], times: Vector) -> dict[int, Array]:
        """Node → (t or 1, 4, 4) local-to-world transforms of the nodes and their ancestors."""
        out: dict[int, Array] = {}
        for node in tree.lineage(nodes):
            placement, parent = tree.placement(node), tree.parents[node]
            above = out[parent] if parent >= 0 else np.eye(4)[None]
            moves = any((node, path) in self.tracks for path in _DEFAULTS)
            out[node] = above @ self.local(node, placement, times) if placement or moves else above
        return out


STILL = Motion({})


def read_motion(accessors: Accessors, animation: Entry, tree: Tree, nodes: Iterable[int], targets: int) -> Motion:
    """The tracks of an animation that move the nodes; `targets` is how many morph targets the mesh has."""
    document, wanted, tracks = accessors.document, set(nodes), {}
    for channel in animation.entries("channels"):
        target = channel.entry("target")
        path = target.text("path", "")
        if not target.has("node") or path not in _PATHS:
            _log.warning("%s: moves %r, which is not understood; left out", channel.where, path)
            continue
        node = target.integer("node")
        document.entry("nodes", node, channel)
        if node not in wanted:
            continue
        if path == "weights":
            if targets == 0:
                continue
        elif tree.node(node).has("matrix"):
            channel.refuse(
                f"moves nodes[{node}], which stands by a matrix",
                remedy="export nodes with translation, rotation and scale",
            )
        if (node, path) in tracks:
            _log.warning("%s: nodes[%d] has a %s already; the first counts", channel.where, node, path)
            continue
        sampler = _sampler(channel, animation)
        tracks[node, path] = _read_track(accessors, sampler, path, targets)
    return Motion(tracks)


def key_times(accessors: Accessors, animation: Entry) -> Vector:
    """(k,) [s] all moments an animation has keys at, in order."""
    samplers = {channel.integer("sampler"): channel for channel in animation.entries("channels")}
    inputs = {}
    for channel in samplers.values():
        sampler = _sampler(channel, animation)
        inputs[sampler.integer("input")] = sampler
    if not inputs:
        return np.zeros(1)
    return np.unique(np.concatenate([_times(accessors, sampler) for sampler in inputs.values()]))


def _sampler(channel: Entry, animation: Entry) -> Entry:
    index, count = channel.integer("sampler"), animation.count("samplers")
    if index >= count:
        channel.refuse(f"names samplers[{index}], which the animation does not have", allowed=f"0 to {count - 1}")
    return animation.at("samplers", index)


def _times(accessors: Accessors, sampler: Entry) -> Vector:
    times = accessors.floats(sampler.integer("input"), sampler, ("SCALAR",))[:, 0]
    if not np.isfinite(times).all() or (np.diff(times) < 0).any():
        sampler.refuse("the times of its keys do not increase, or are no numbers")
    return times


def _read_track(accessors: Accessors, sampler: Entry, path: str, targets: int) -> Track:
    times = _times(accessors, sampler)
    interpolation = sampler.text("interpolation", "LINEAR")
    if interpolation not in ("STEP", "LINEAR", "CUBICSPLINE"):
        sampler.refuse("unknown 'interpolation'", interpolation, "STEP, LINEAR, CUBICSPLINE")
    parts = 3 if interpolation == "CUBICSPLINE" else 1
    rows = len(times) * parts * (targets if path == "weights" else 1)
    values = accessors.floats(sampler.integer("output"), sampler, (_PATHS[path],), rows)
    shape = (len(times), parts, -1) if parts == 3 else (len(times), -1)
    return Track(times, values.reshape(shape), interpolation, path == "rotation")


def _snapped(times: Vector, keys: Vector) -> Vector:
    """Times, those within rounding of a key moved onto it."""
    after = np.clip(np.searchsorted(keys, times), 0, len(keys) - 1)
    before = np.maximum(after - 1, 0)
    near = np.where(np.abs(keys[before] - times) < np.abs(keys[after] - times), keys[before], keys[after])
    rounding = np.finfo(np.float32).eps * np.maximum(np.abs(near), np.abs(times))
    return np.where(np.abs(near - times) <= _ONE_KEY * rounding, near, times)

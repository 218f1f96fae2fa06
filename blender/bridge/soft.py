# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist asks of a soft body, as the tables of a shot file: Wrinkle, Steer and Plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .shot import Shared, Source, Vector3


@dataclass(frozen=True)
class Hand:
    """A part of the surface that is taken somewhere."""

    name: str
    vertices: Sequence[int]
    frames: Sequence[int] = ()
    """on which it is keyed; nothing for a part that stays"""


@dataclass(frozen=True)
class Wrinkle:
    """A skin on a soft body that goes by handles, or as it is animated."""

    source: Source
    animated: bool
    skin: Mapping[str, Any]
    interior: Mapping[str, Any]
    wavelength: float | None
    """[m]"""
    cell: float | None
    """[m]"""
    handles: Sequence[tuple[Hand, Sequence[tuple[int, Vector3, Vector3]]]] = ()
    """each with its frames, moves [m] and turns [°]"""


@dataclass(frozen=True)
class Steer:
    """A body that is drawn to key shapes and goes along a path."""

    surface: Source
    material: Mapping[str, Any]
    edge: float | None
    """[m] of tetrahedra"""
    keys: Sequence[tuple[int, Source]]
    path: Sequence[Sequence[float]]
    """rows of a frame, a place [m] and perhaps a turn [°]"""
    lead: bool
    pins: Sequence[Hand]


@dataclass(frozen=True)
class Held:
    """Where a part is on a frame."""

    frame: int
    move: Vector3
    """[m]"""
    turn: Vector3
    """[°]"""
    pivot: Vector3
    """[m] about which it is turned"""
    velocity: Vector3 | None = None
    """[m/s] of its middle"""


@dataclass(frozen=True)
class Plan:
    """A body whose motion is planned through what parts of it do on some frames."""

    surface: Source
    material: Mapping[str, Any]
    edge: float | None
    modes: int
    keys: Sequence[tuple[Hand, Held]]
    fixed: Sequence[Hand]
    exact: bool = False
    attach: bool = False
    free: bool = False
    ground: float | None = None
    """[m]"""


def wrinkle_tables(own: str, ask: Wrinkle, shared: Shared) -> dict[str, Any]:
    """The shot of a wrinkling skin."""
    table: dict[str, Any] = {"role": "wrinkle", "guide" if ask.animated else "surface": ask.source.table()}
    table |= {"skin": dict(ask.skin), "interior": dict(ask.interior)}
    table |= {name: value for name, value in (("wavelength", ask.wavelength), ("cell", ask.cell)) if value is not None}
    if ask.handles:
        table["regions"] = _regions([hand for hand, _ in ask.handles])
        table["handles"] = [_handle(hand, keys) for hand, keys in ask.handles]
    return shared.tables(own, table, iterations=False)


def steer_tables(own: str, ask: Steer, shared: Shared) -> dict[str, Any]:
    """The shot of a steered body."""
    table = _body("body", ask.surface, ask.material, ask.edge)
    if ask.keys:
        table["keys"] = [{"frame": frame} | source.table() for frame, source in ask.keys]
    if ask.path:
        table["path"] = [{"points": [list(row) for row in ask.path]}]
    if ask.lead:
        table["lead"] = True
    if ask.pins:
        table["regions"] = _regions(ask.pins)
        table["pins"] = [{"region": hand.name} for hand in ask.pins]
    return shared.tables(own, table, iterations=False)


def plan_tables(own: str, ask: Plan, shared: Shared) -> dict[str, Any]:
    """The shot of a planned motion: it is made of modes, so that steps and contact mean nothing."""
    table = _body("plan", ask.surface, ask.material, ask.edge)
    parts = {hand.name: hand for hand in (*ask.fixed, *(hand for hand, _ in ask.keys))}
    table["regions"] = _regions(list(parts.values()))
    table["modes"] = ask.modes
    table["keys"] = [_plan_key(ask, *key) for key in sorted(ask.keys, key=lambda key: key[1].frame)]
    table["fixed"] = [hand.name for hand in ask.fixed]
    table |= {name: True for name in ("attach", "free") if getattr(ask, name)}
    table |= {} if ask.ground is None else {"ground": ask.ground}
    tables = shared.tables(own, table)
    del tables["physics"]
    return tables


def rigid(rest: NDArray[np.floating], moved: NDArray[np.floating]) -> tuple[Vector3, Vector3]:
    """How points (n, 3) moved as one: the shift of their mean, and axis times angle [°] of the turn that fits best. Its
    quaternion is the eigenvector of the largest eigenvalue of a symmetric 4 × 4 matrix."""
    middle, now = rest.mean(axis=0), moved.mean(axis=0)
    s = (rest - middle).T @ (moved - now)
    matrix = np.empty((4, 4))
    matrix[0, 0] = np.trace(s)
    matrix[0, 1:] = matrix[1:, 0] = s[1, 2] - s[2, 1], s[2, 0] - s[0, 2], s[0, 1] - s[1, 0]
    matrix[1:, 1:] = s + s.T - np.trace(s) * np.eye(3)
    q = np.linalg.eigh(matrix)[1][:, -1]
    q = -q if q[0] < 0.0 else q
    size = float(np.linalg.norm(q[1:]))
    turn = np.zeros(3) if size < 1e-9 else np.degrees(2.0 * np.arctan2(size, q[0])) * q[1:] / size
    return three(now - middle), three(turn)


def in_shot(points: NDArray[np.floating], unit: float) -> NDArray[np.floating]:
    """(…, 3) Blender's Z-up points, with a unit [m], as a shot says them: metres, Y-up."""
    return unit * np.stack([points[..., 0], points[..., 2], -points[..., 1]], axis=-1)


def three(values: NDArray[np.floating]) -> Vector3:
    """To nine digits after the point, without a negative zero."""
    x, y, z = (round(float(value), 9) + 0.0 for value in values)
    return x, y, z


def _body(role: str, surface: Source, material: Mapping[str, Any], edge: float | None) -> dict[str, Any]:
    table: dict[str, Any] = {"role": role, "surface": surface.table(), "material": dict(material)}
    return table | ({} if edge is None else {"tets": {"edge": edge}})


def _regions(hands: Sequence[Hand]) -> dict[str, Any]:
    return {hand.name: {"vertices": [int(k) for k in hand.vertices]} for hand in hands}


def _handle(hand: Hand, keys: Sequence[tuple[int, Vector3, Vector3]]) -> dict[str, Any]:
    """One that stays where it is needs no keys."""
    still = all(not any(move) and not any(turn) for _, move, turn in keys)
    each = [{"frame": frame, "move": list(move), "rotate": list(turn)} for frame, move, turn in keys]
    return {"region": hand.name} | ({} if still else {"keys": each})


def _plan_key(ask: Plan, hand: Hand, held: Held) -> dict[str, Any]:
    table: dict[str, Any] = {"frame": held.frame, "region": hand.name, "move": list(held.move)}
    table |= {"rotate": list(held.turn), "pivot": list(held.pivot)} if any(held.turn) else {}
    table |= {} if held.velocity is None else {"velocity": list(held.velocity)}
    return table | ({"weight": "exact"} if ask.exact else {})

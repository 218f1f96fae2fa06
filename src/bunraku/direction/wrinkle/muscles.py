"""Muscles: closed shapes inside a soft body, sculpted relaxed and contracted, driven by an activation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from bunraku.contracts import InputError, Points, input_error, is_between, need, real_array
from bunraku.energies import Contraction, Springs
from bunraku.geometry import Lattice, TriMesh, embed_points, fill_evenly, inside_values
from bunraku.geometry.enclosing import signed_volume
from bunraku.motion import Curve, CurveLike

STIFFNESS = 10.0
"""times as stiff along its length as the matter it is in, where nothing else is said"""
_PER_CELL = 6.0
"""samples along a cell: what springs of a muscle at its ends pull with is within a hundredth or so"""
_MOST_NODES = 800
"""of a muscle that may turn: all of them hang together in one block of the matrix"""
LARGEST_STIFFNESS = 1e6
"""times that; a muscle may be as much softer"""
MOST_CONTRACTED = 10.0
"""times as far as sculpted, or as far the other way"""
_MOST_LONGER = 20.0
"""times as large as relaxed, or as small: beyond, the units of two files differ"""


@dataclass(frozen=True, eq=False, init=False)
class Muscle:
    """A muscle as sculpted: relaxed, contracted, and when it is which.

    It pulls the matter it is made of towards its shape of the moment, the two shapes blended linearly
    [Remillard 2013, §7.5]. Its pull is internal, as a muscle's is: what it moves to one side it is moved to the other
    by itself, and a body that moves or turns has a muscle that goes along. `anchored` draws to the places of the two
    shapes in the world instead: it then holds that part of the body there, relaxed too.
    """

    relaxed: TriMesh
    """closed, inside the body at rest"""
    contracted: Points
    """(n, 3) the same vertices at activation 1 [m]"""
    activation: Curve | Callable[[float], float]
    """0: relaxed, 1: contracted; over time [s]"""
    stiffness: float
    """how many times as stiff it is against being drawn out along its length as the matter in its place: from E and the
    mean square s² of its matter's distances from its middle along its longest axis, E/s² [Pa/m²] times this is its
    pull per volume and distance"""
    anchored: bool

    def __init__(
        self, relaxed: TriMesh, contracted: Points, activation: CurveLike | Callable[[float], float],
        stiffness: float = STIFFNESS, *, anchored: bool = False,
    ) -> None:  # fmt: skip
        need(TriMesh, "muscle.relaxed", relaxed)
        if not is_between(stiffness, 1.0 / LARGEST_STIFFNESS, LARGEST_STIFFNESS):
            raise input_error(
                "must be a number above 0", where="muscle.stiffness", got=repr(stiffness)[:40],
                allowed=f"up to {LARGEST_STIFFNESS:g} times the interior's",
            )  # fmt: skip
        if not isinstance(anchored, bool):
            raise input_error("must be True or False", where="muscle.anchored", got=repr(anchored)[:40])
        object.__setattr__(self, "relaxed", relaxed)
        object.__setattr__(self, "contracted", _shape(relaxed, contracted))
        over_time = activation if callable(activation) else Curve.of(activation)
        if isinstance(over_time, Curve) and not (np.abs(over_time.values) <= MOST_CONTRACTED).all():
            farthest = float(over_time.values[np.abs(over_time.values).argmax()])
            raise _no_activation("muscle", repr(farthest))
        object.__setattr__(self, "activation", over_time)
        object.__setattr__(self, "stiffness", float(stiffness))
        object.__setattr__(self, "anchored", anchored)

    def at(self, time: float, name: str = "muscle") -> float:
        """The activation at a time [s]."""
        if isinstance(self.activation, Curve):
            return self.activation.at(time)
        try:
            value = cast(object, self.activation(time))
        except (TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise _no_activation(name, f"{type(error).__name__}: {error} at {time:g} s") from error
        if not is_between(value, -MOST_CONTRACTED, MOST_CONTRACTED):
            raise _no_activation(name, f"{value!r} at {time:g} s"[:60])
        return float(cast(float, value))

    def embedded(self, lattice: Lattice, young: float, name: str = "muscle") -> Contraction:
        """Its springs on the lattice of a body of Young's modulus `young` [Pa]."""
        embed_points(lattice, self.relaxed.rest, f"{name}.relaxed")  # before anything in another unit is filled
        samples, volume = fill_evenly(self.relaxed, lattice.cell / _PER_CELL, f"{name}.relaxed")
        where = embed_points(lattice, samples, f"{name}.relaxed")
        moves = inside_values(samples, self.relaxed, self.contracted - self.relaxed.rest, f"{name}.relaxed")
        pull = self.stiffness * young / _longest_square(samples)
        springs = Springs.of(
            lattice.elements, where.owners, where.weights, where.matrix, np.full(len(samples), pull * volume)
        )
        if not self.anchored and len(springs.nodes) > _MOST_NODES:
            raise input_error(
                "reaches too many nodes of the lattice to be one muscle", where=name, got=len(springs.nodes),
                allowed=f"up to {_MOST_NODES}", remedy="several muscles, larger cells, or anchored=True",
            )  # fmt: skip
        return Contraction(springs, samples, samples + moves, lambda time: self.at(time, name), self.anchored)


def _no_activation(name: str, got: str) -> InputError:
    return input_error(
        "an activation is a number, and shapes far beyond the sculpted ones are none", where=f"{name}.activation",
        got=got, allowed=f"0, relaxed, to 1, contracted; up to {MOST_CONTRACTED:g} times that, either way",
    )  # fmt: skip


def _shape(relaxed: TriMesh, contracted: object) -> Points:
    """The contracted shape (n, 3), checked."""
    try:
        points = real_array(contracted.rest if isinstance(contracted, TriMesh) else contracted)
    except (TypeError, ValueError):
        points = np.zeros((0, 3))
    if points.shape != relaxed.rest.shape or not np.isfinite(points).all():
        raise input_error(
            "a muscle's shapes have the same vertices, at finite points", where="muscle.contracted",
            got=f"shape {points.shape}", allowed=str(relaxed.rest.shape),
        )  # fmt: skip
    grown = float(np.linalg.norm(np.ptp(points, axis=0)) / np.linalg.norm(np.ptp(relaxed.rest, axis=0)))
    if not 1.0 / _MOST_LONGER <= grown <= _MOST_LONGER:
        raise input_error(
            "the contracted shape has another size than any muscle comes to", where="muscle.contracted",
            got=f"{grown:.3g} times as large as the relaxed one", allowed=f"1/{_MOST_LONGER:g} to {_MOST_LONGER:g}",
            remedy="the units of both, which must be the same",
        )  # fmt: skip
    if signed_volume(points, relaxed.faces) * signed_volume(relaxed.rest, relaxed.faces) < 0.0:
        raise input_error(
            "the contracted shape is the relaxed one inside out", where="muscle.contracted",
            remedy="check whether one of the two is mirrored",
        )  # fmt: skip
    return points


def _longest_square(samples: Points) -> float:
    """[m²] mean square distance from the middle along the longest axis: L²/12 of a bar of length L."""
    centred = samples - samples.mean(axis=0)
    axes = np.linalg.eigvalsh(centred.T @ centred / len(samples))
    return float(axes[-1])

"""The way from one shape of a body to another: damped elastic relaxation [Kondo 2005, eq. 3].

    M ẍ + C ẋ + f_q(x) = 0,    x(0) = p,

with f_q the elastic forces of the body whose rest shape is q. The damping is strain-rate damping with the time τ,
several times the material's; or, where the material has less, several times the time scale 1/ω of this very change,
ω² = 2 E_q(p) / |p − q|²_M. Then nothing swings and every strain dies out as exp(−t/τ), so what lies between p and q is
neither squashed nor swollen. Time is not that of the shot: only the shapes are kept, as a curve over the share of the
way.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from bunraku.contracts import Array, ContentStore, Integers, PhysicsStopped, Points, State, Vector
from bunraku.dynamics import ImplicitEuler, Mass, NewtonSettings, System
from bunraku.energies import Solid
from bunraku.geometry import TetMesh, tet_lumped_mass
from bunraku.materials import SolidMaterial

from .rigid import aligned, apart, pieces_of

_log = logging.getLogger(__name__)
ARRIVED = 1e-3
"""share of the way within which the rest of it is blended"""
_SAMPLES = 24  # steps are as long as takes the body about this part of its way
_MOST_STEPS = 400
_MOST_HALVINGS = 6
_SAME = 1e-9  # of the body's size: shapes nearer than this are one
_KEPT = 64  # transitions that are remembered


@dataclass(frozen=True, eq=False)
class Transition:
    """Shapes on the way from one to another."""

    shares: Vector
    """(k,) of the way gone, from 0 to 1, increasing"""
    shapes: Array
    """(k, n, 3) [m]; the first and the last are the two shapes themselves, up to where they are"""
    seconds: float
    """what it took to find them"""

    def at(self, share: float) -> Points:
        """(n, 3) after a share of the way: a C¹ curve through the shapes."""
        k = int(np.clip(np.searchsorted(self.shares, share, side="right") - 1, 0, len(self.shares) - 2))
        h = self.shares[k + 1] - self.shares[k]
        u = float(np.clip((share - self.shares[k]) / h, 0.0, 1.0))
        if u in (0.0, 1.0):
            return self.shapes[k + round(u)]
        a, b = self.shapes[k], self.shapes[k + 1]
        va, vb = h * self._slope(k), h * self._slope(k + 1)
        return a + u * (va + u * ((3 * (b - a) - 2 * va - vb) + u * (va + vb - 2 * (b - a))))

    def _slope(self, k: int) -> Array:
        """(n, 3) of the parabola through shape k and its neighbours."""
        last = len(self.shares) - 1
        if last == 1:
            return (self.shapes[1] - self.shapes[0]) / (self.shares[1] - self.shares[0])
        i = min(max(k, 1), last - 1)
        h0, h1 = self.shares[i] - self.shares[i - 1], self.shares[i + 1] - self.shares[i]
        d0, d1 = (self.shapes[i] - self.shapes[i - 1]) / h0, (self.shapes[i + 1] - self.shapes[i]) / h1
        return (d0 * h1 + d1 * h0) / (h0 + h1) + 2.0 * (d1 - d0) / (h0 + h1) * (self.shares[k] - self.shares[i])


_FORM = "2"
"""of what is kept in a cache: a new one where the same shapes would give another way"""
_known: OrderedDict[str, Transition] = OrderedDict()


def transition(
    body: TetMesh, first: Points, last: Points, material: SolidMaterial, damping: float,
    cache: ContentStore | None = None,
) -> Transition:  # fmt: skip
    """The way from a shape (n, 3) to another; found once for the same two, material and damping (a factor)."""
    digest = hashlib.blake2b(digest_size=16)
    for part in (body.rest, body.tets, np.asarray(first), np.asarray(last)):
        digest.update(np.ascontiguousarray(part).tobytes())
    digest.update(repr((material, float(damping))).encode())
    key = f"transition-{_FORM}-{digest.hexdigest()}"
    if key not in _known:
        kept = None if cache is None else cache.load(key)
        if kept is not None:
            _known[key] = Transition(kept["shares"], kept["shapes"], 0.0)
        else:
            found = _known[key] = _found(body, np.asarray(first), np.asarray(last), material, damping)
            if cache is not None:
                cache.store(key, {"shares": found.shares, "shapes": found.shapes})
        while len(_known) > _KEPT:
            _known.popitem(last=False)
    _known.move_to_end(key)
    return _known[key]


def _found(body: TetMesh, first: Points, last: Points, material: SolidMaterial, damping: float) -> Transition:
    begin = time.perf_counter()
    mass = tet_lumped_mass(body, material.density)
    pieces = pieces_of(body)
    goal = aligned(last, first, mass, pieces)
    whole = apart(first, goal, mass)
    if whole <= _SAME * body.size:
        return Transition(np.array([0.0, 1.0]), np.stack([first, first]), time.perf_counter() - begin)
    damped = _damped(body, first, goal, mass, material, damping)
    shapes = _relaxed(body.with_rest(goal), first, mass, damped, pieces)
    end = aligned(last, shapes[-1], mass, pieces)
    gone = np.cumsum([0.0, *(apart(a, b, mass) for a, b in pairwise(shapes))])
    gone /= gone[-1]
    # What is left of the way is too little to see, and is spread over all of it.
    blended = np.stack([x + share * (end - shapes[-1]) for x, share in zip(shapes, gone, strict=True)])
    blended[0], blended[-1] = first, end
    seconds = time.perf_counter() - begin
    _log.info("the way between two key shapes: %d shapes in %.2f s", len(blended), seconds)
    return Transition(gone, blended, seconds)


def _damped(
    body: TetMesh, first: Points, goal: Points, mass: Vector, material: SolidMaterial, damping: float
) -> SolidMaterial:
    """The material with the damping of a change of shape."""
    stored = 2.0 * Solid(body.with_rest(goal), material).elastic(0.0).value(first)
    away = float(mass @ np.sum((first - goal) ** 2, axis=1))
    own = np.sqrt(away / stored) if stored > 0.0 else 1.0  # 1/ω [s]
    return replace(
        material, stiffness_damping=min(damping * max(material.stiffness_damping, own), 1e3), mass_damping=0.0
    )


def _relaxed(
    body: TetMesh, first: Points, mass: Vector, material: SolidMaterial, pieces: Sequence[Integers]
) -> Array:  # fmt: skip
    """(k, n, 3) the shapes from `first` towards the rest shape of a body."""
    # Rigid motion is free and without momentum, so it does not come about; what rounding makes of it is taken out.
    system = System(Mass(mass), (Solid(body, material),))
    stepper = ImplicitEuler(system, NewtonSettings(tolerance=1e-5, length=body.size))
    tau, whole = material.stiffness_damping, apart(first, body.rest, mass)
    shapes, state = [first], State(0.0, first.reshape(-1).copy(), np.zeros(first.size))
    left = 1.0
    for _ in range(_MOST_STEPS):
        state = _step(stepper, state, tau * min(1.0 / max(_SAMPLES * left - 1.0, 1e-9), 1.0))
        x = state.q.reshape(-1, 3)
        shapes.append(aligned(x, shapes[-1], mass, pieces))
        left = apart(aligned(body.rest, x, mass, pieces), x, mass) / whole
        if left <= ARRIVED:
            return np.stack(shapes)
    _log.warning(
        "the way between two key shapes does not end: %.0f %% of it are left, and blended; the shapes may be those of "
        "two ways to fold one body", 100.0 * left,
    )  # fmt: skip
    return np.stack(shapes)


def _step(stepper: ImplicitEuler, state: State, dt: float) -> State:
    solution = stepper.step(state, dt)
    for _ in range(_MOST_HALVINGS):
        if solution.outcome.usable:
            break
        dt *= 0.5
        solution = stepper.step(state, dt)
    if solution.outcome.usable:
        return solution.value
    raise PhysicsStopped(
        f"no way was found from one key shape to the next: {solution.outcome.value}; try a key between them",
        vertex=solution.evidence.get("vertex"), position=solution.evidence.get("position"),
    )  # fmt: skip

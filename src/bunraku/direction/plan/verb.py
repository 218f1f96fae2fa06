"""`plan`: a motion from a few partial keys [Schulz 2014]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from bunraku.contracts import ContentStore, Integers, input_error, is_between, need
from bunraku.direction.knobs import listed, whole
from bunraku.direction.steer import Material
from bunraku.geometry import TetMesh, check_tets, first_few
from bunraku.materials import as_solid
from bunraku.numerics import one_blas_thread, use_threads

from .checks import as_gravity, check_knobs
from .keys import SAME_TIME, Key, check_keys
from .motion import Motion
from .nodes import Ends
from .reduced import Reduced, Stock, as_damping
from .solving import solve
from .spent import Spent

_MOST_MODES = 2000


def plan(
    body: TetMesh, keys: Sequence[Key] | Key = (), *, fixed: Sequence[int] | Integers = (),
    material: Material | Sequence[Material] = "rubber", of_tet: Integers | Sequence[int] | None = None,
    duration: float = 2.0, modes: int = 30, damping: ArrayLike | None = None, gravity: Sequence[float] = (0, 0, 0),
    warp: bool = True, circular: bool = False, free: bool | tuple[bool, bool] = False, attach: bool = False,
    ground: float | None = None, before: Motion | None = None, threads: int | None = None,
    cache: ContentStore | None = None,
) -> Motion:  # fmt: skip
    """Plan a motion from a few partial keys: of all motions that meet them the one that takes the least force beside
    the body's own mechanics, so that it swings, anticipates and follows through.

    It begins and ends at rest in the rest shape; at an end that has a key it is free but for the key.

    Args:
        body: tetrahedra in their rest shape.
        keys: where some vertices, or the centre of mass, should be at a time, or how fast.
        fixed: vertices that never move.
        material: a preset's name, a preset with changes or a `SolidMaterial`; several with `of_tet`.
        of_tet: (m,) which of several materials each tetrahedron is of.
        duration: [s].
        modes: how many of the body's lowest modes the motion is made of.
        damping: of the mass [1/s] and of the stiffness [s]; None: the material's, of several
            each its own.
        gravity: [m/s²], by default none: what is planned is meant as it is.
        warp: whether turns are meant as turns; without it large motions shear and swell.
        circular: whether the end goes on as the beginning began; then neither is at rest.
        free: whether it may begin, and end, anywhere at any speed.
        attach: also make the motion of what moving each key's vertices as one does to the body, so that keys can be
            reached that the lowest modes cannot.
        ground: [m] a height that no vertex goes below, but for fixed ones; None: there is none.
        before: a motion of the same body, fixed vertices and modes: its set-up is taken, and where it was is where the
            search begins. So a key is edited at once.
        threads: of kernels and solver; None takes all cores.
        cache: where modes are kept from run to run.

    Returns:
        A `Motion`: `points(t)` and `velocities(t)` at any time, `take(rate)` as frames, and a `report`.
    """
    need(TetMesh, "body", body)
    check_tets(body, "body")
    given = listed(Key, "keys", keys)
    held = as_fixed(fixed, body)
    if not is_between(duration, 1e-6, 1e5):
        raise input_error(
            "a motion needs a duration", where="duration", got=repr(duration)[:40], allowed="1e-06 to 100000 s"
        )
    check_knobs({"warp": warp, "circular": circular, "attach": attach}, ground, threads, cache)
    if not given:
        raise input_error("nothing is asked for, so nothing moves", where="keys", got=0, remedy="a bk.Key")
    check_keys(given, body, held, float(duration), circular=circular)
    begin = Spent.now()
    with one_blas_thread():  # matrices are small, and its threads would spin where those of the kernels work
        stock = stock_of(body, material, of_tet, damping, gravity, before, threads, cache)
        check_modes(modes, body, held)
        reduced = stock.reduced(held, modes, warped=warp, keyed=keyed_sets(given) if attach else ())
        reduced.prepare([key.vertices for key in given])
        spent = begin.since
        ends = _ends(given, float(duration), circular, free, reduced)
        return solve(reduced, given, float(duration), ends, before=before, set_up=spent, ground=ground)


def as_fixed(given: object, body: TetMesh) -> Integers:
    """(f,) vertices of the body, increasing; what is none is refused."""
    try:
        found = np.asarray(given)
    except ValueError:
        found = np.zeros((0, 0))
    if found.ndim != 1 or (len(found) and found.dtype.kind not in "iu"):
        raise input_error("fixed must be a list of whole numbers", where="fixed", got=repr(given)[:60])
    fixed = np.unique(found.astype(np.int64))
    bad = fixed[(fixed < 0) | (fixed >= body.point_count)]
    if len(bad):
        raise input_error(
            "fixed must name vertices of the body", where="fixed", got=first_few(bad),
            allowed=f"0 to {body.point_count - 1}",
        )  # fmt: skip
    if len(fixed) == body.point_count:
        raise input_error("all vertices are fixed, so nothing can move", where="fixed", got=f"{len(fixed)}")
    return fixed


def stock_of(
    body: TetMesh, material: Material | Sequence[Material], of_tet: Integers | Sequence[int] | None,
    damping: ArrayLike | None, gravity: Sequence[float], before: Motion | None, threads: int | None,
    cache: ContentStore | None,
) -> Stock:  # fmt: skip
    """What motions of a body are made from; an earlier motion's where it is the same."""
    several = isinstance(material, Sequence) and not isinstance(material, str)
    materials = tuple(as_solid(one) for one in (material if several else (material,)))  # type: ignore[arg-type]
    if not materials:
        raise input_error("a body is made of something", where="material", got="an empty list")
    try:
        which: Integers | None = None if of_tet is None else np.asarray(of_tet)
    except ValueError:  # lists of different lengths: refused, as no list of this length will do
        which = np.zeros(0, np.int64)
    told = as_damping(damping, materials)
    use_threads(threads)
    made = Stock(body, materials, which, told, as_gravity(gravity), cache, threads)
    if several != (which is not None):
        raise input_error(
            "several materials need to know their tetrahedra, and only these", where="of_tet",
            got="nothing" if which is None else which.shape, allowed="a list of materials, and (m,) numbers in it",
        )  # fmt: skip
    if before is not None:
        need(Motion, "before", before)
        if before.body.stock.serves(made):
            return before.body.stock
    return made


def check_modes(modes: int, body: TetMesh, fixed: Integers) -> None:
    """Refuse numbers of modes that the body does not have."""
    whole("modes", modes)
    most = min(_MOST_MODES, 3 * (body.point_count - len(fixed)))
    if modes > most:
        raise input_error(
            "more modes than the body has, or than make sense", where="modes", got=modes, allowed=f"1 to {most}"
        )


def keyed_sets(keys: Sequence[Key]) -> list[Integers]:
    """The sets of vertices that keys are of, each once."""
    sets = {np.sort(key.vertices).tobytes(): key.vertices for key in keys if key.vertices is not None}
    return list(sets.values())


def _ends(keys: Sequence[Key], duration: float, circular: bool, free: bool | tuple[bool, bool], body: Reduced) -> Ends:
    """How the motion begins and ends: at rest in the rest shape unless told otherwise."""
    told = (free, free) if isinstance(free, bool) else free
    if not isinstance(told, (tuple, list)) or len(told) != 2 or not all(isinstance(one, bool) for one in told):
        raise input_error("free must be True or False, or two of them", got=repr(free)[:40])
    if circular and any(told):
        raise input_error("a circular motion has no ends", where="free", got=repr(free)[:40], remedy="leave it out")
    if circular:
        return Ends(circular=True)
    still = (np.zeros(body.modes.count), np.zeros(body.modes.count))
    keyed = [any(abs(key.time - end) <= SAME_TIME for key in keys) for end in (0.0, duration)]
    first, last = (None if loose or key else still for loose, key in zip(told, keyed, strict=True))
    return Ends(first, last)

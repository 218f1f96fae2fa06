"""What the artist says about contact."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bunraku.collision import MOST_FRICTION, Between, Obstacle, Pinches, Plane, Stitches, Surfaces
from bunraku.contracts import InputError, Integers, State, input_error, is_between
from bunraku.geometry import TriMesh, check_physical
from bunraku.materials import MaterialBlend
from bunraku.motion import Animation

from .parts import as_parts, check_names, whole_pieces

_log = logging.getLogger(__name__)
_LEAST_REACH = 0.1  # of a fifth of the mean edge, where a few short edges are nearer than that at rest
_LEAST_OF_EDGE = 1e-3  # of a reach that is given: about what a converged step may still be off
PRESS = 0.02
"""how hard a guide presses surfaces against each other before it yields: the strain that would take"""
Thing = Obstacle | Plane | Animation | TriMesh
_RANGES = (
    ("thickness", 1e6, " m"), ("friction", MOST_FRICTION, ""), ("press", 10.0, ""), ("reach", 1e6, " m"),
    ("balance", 1.0, ""),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Contact:
    """Surfaces do not pass through each other: the shell through itself, and through obstacles."""

    thickness: float | None = None
    """[m] that stays open between middle surfaces; None: the material's own"""
    friction: float = 0.3
    """coefficient µ of friction, 0 for none"""
    obstacles: Sequence[Thing] = ()
    """meshes that stand still, animations that move as they say, `Obstacle`s and `Plane`s"""
    self_contact: bool = True
    """whether the shell feels itself"""
    press: float = PRESS
    """how hard the guide may press surfaces against each other, as a strain; beyond, it yields there"""
    reach: float | None = None
    """[m] at which surfaces begin to feel each other; None: a fifth of the shell's mean edge, less where it is
    nearer to itself than that at rest"""
    balance: float = 0.0
    """a step is solved until what is left is this share of the error it makes by its length; 0: to the tolerance. 0.2
    is as right as that and takes half of the time, but not for guides that jump: those lose what they direct"""
    parts: Mapping[str, Sequence[int] | Integers] = field(default_factory=dict)
    """garments of the shell: name → vertices (v,), each standing for the whole connected piece that has it"""
    layers: Sequence[str] = ()
    """parts from the body outwards, perhaps after obstacles: put in this order before the first frame"""
    between: Sequence[Between] | Between = ()
    """what is particular between two parts, a part and itself, or a part and an obstacle"""

    def __post_init__(self) -> None:
        for name, most, unit in _RANGES:
            value = getattr(self, name)
            if value is None and name in ("thickness", "reach"):
                continue
            if not is_between(value, 0.0, most) or (name == "reach" and value == 0.0):
                raise input_error(
                    f"{name} must be a number", where="contact", got=_said(value),
                    allowed=f"{'above 0' if name == 'reach' else '0'} to {most:g}{unit}",
                )  # fmt: skip
        if not isinstance(self.self_contact, bool):
            raise input_error("self_contact must be True or False", where="contact", got=_said(self.self_contact))
        object.__setattr__(self, "obstacles", _obstacles(self.obstacles))
        object.__setattr__(self, "parts", as_parts(self.parts))
        object.__setattr__(self, "layers", _listed("layers", self.layers, str))
        between = (self.between,) if isinstance(self.between, Between) else self.between
        object.__setattr__(self, "between", _listed("between", between, Between))
        self._check_names(later=not self.parts)

    @property
    def named(self) -> set[str]:
        """What `between` is about."""
        told = (self.between,) if isinstance(self.between, Between) else self.between
        return {name for one in told for name in (one.first, one.second)}

    def _check_names(self, *, later: bool) -> None:
        check_names(
            self.parts, self.obstacles, self.layers, self.between, self.self_contact, later=later  # type: ignore[arg-type]
        )  # fmt: skip

    def surfaces(
        self, shell: TriMesh, blend: MaterialBlend | None, time: float, sewn: Integers | None = None,
        stitches: Stitches | None = None,
    ) -> Surfaces:  # fmt: skip
        """For a shell of a material (None where the thickness is said), whose vertices `sewn` (s, 2) lie on each other
        or will, drawn together by `stitches`."""
        self._check_names(later=False)
        thickness = self.thickness
        if thickness is None:
            assert blend is not None
            thickness = float(np.max(blend.at(time).thickness, initial=0.0))
        found = Surfaces(
            shell, [one for one in self.obstacles if isinstance(one, Obstacle)],
            [one for one in self.obstacles if isinstance(one, Plane)], reach=self.reach or 0.0, gap=thickness,
            friction=self.friction, self_contact=self.self_contact, sewn=sewn,
            stitches=stitches, named=whole_pieces(self.parts, shell), between=self.between,  # type: ignore[arg-type]
        )  # fmt: skip
        if self.reach is not None:
            _check_reach(found)
            return found
        return _within_rest(found) if self.self_contact else found


def near_at_first(contact: object, state: State) -> dict[str, float]:
    """Near pairs and the least distance among them [m] of a first frame, which no step led to."""
    if not isinstance(contact, Surfaces):
        return {"pairs": 0, "closest": 0.0}
    points = contact.together(state.q.reshape(-1, 3), state.time)
    without = Pinches.of(state.memory).vertices
    nears = [pairing.near(points[:size]) for pairing, size in contact.pairings_without(without)]
    count = sum(len(near) for near in nears)
    return {"pairs": count, "closest": min(near.closest() for near in nears) if count else 0.0}


def _within_rest(surfaces: Surfaces) -> Surfaces:
    """With a gap and a reach that the shell keeps from itself at rest, so that it does not push itself apart there; but
    with no less than a tenth of the usual reach, which what is nearer than that feels at rest."""
    surfaces = _within_parts(surfaces)
    closest, reach, gap = _closest_at_rest(surfaces), surfaces.felt_within, surfaces.gap
    if closest >= gap + reach or closest <= 0.0:  # what cuts itself at rest is told elsewhere
        return surfaces
    if closest < 2.0 * gap:
        _log.warning(
            "parts of the shell are %.3g m apart at rest: half of that, not the thickness of %.3g m, is kept open",
            closest, gap,
        )  # fmt: skip
        gap = 0.5 * closest
    return replace(surfaces, gap=gap, reach=max(0.9 * (closest - gap), _LEAST_REACH * reach))


def _within_parts(surfaces: Surfaces) -> Surfaces:
    """With a reach that parts keep from themselves at rest beyond a thickness that is particular to them."""
    usual = surfaces.felt_within
    reach = min(usual, max(0.9 * _room_of_parts(surfaces), _LEAST_REACH * usual))
    return surfaces if reach == usual else replace(surfaces, reach=reach)


def _room_of_parts(surfaces: Surfaces) -> float:
    """[m] the least distance that parts keep from themselves at rest beyond a thickness that is particular to them;
    refused where there is none."""
    room, own = np.inf, np.diagonal(surfaces.parts.gaps)
    for one in surfaces.own_pairings:
        if one.gap == surfaces.gap:
            continue
        closest = one.near(surfaces.shell.rest).closest()
        if closest <= one.gap:
            names = [name for k, name in enumerate(surfaces.named, start=1) if own[k] == one.gap]
            raise input_error(
                "a part of the shell is nearer to itself at rest than the thickness that is said of it",
                where=f"contact.between, of {' or '.join(names)}", got=f"{one.gap:g} m",
                allowed=f"below {closest:.3g} m",
            )  # fmt: skip
        room = min(room, closest - one.gap)
    return room


def _closest_at_rest(surfaces: Surfaces) -> float:
    """[m] the least distance that parts with the common gap keep from themselves: of different parts, which are things
    of their own, the rest shapes say nothing."""
    own = [one for one in surfaces.own_pairings if one.gap == surfaces.gap]
    return min((one.near(surfaces.shell.rest).closest() for one in own), default=np.inf)


def _check_reach(surfaces: Surfaces) -> None:
    """Refuse a reach within which the shell would push itself apart at rest, or one that no step resolves."""
    edge = 5.0 * replace(surfaces, reach=0.0).felt_within
    reach, least, most = surfaces.reach, _LEAST_OF_EDGE * edge, edge
    if surfaces.self_contact:
        looked = replace(surfaces, reach=min(reach, edge))
        closest, most = _closest_at_rest(looked), min(most, _room_of_parts(looked))
        most = min(most, closest - surfaces.gap) if closest > surfaces.gap else most  # else it is told elsewhere
    if reach > most:
        keep = "parts of the shell keep from each other at rest: they would push themselves apart"
        raise input_error(
            f"reach is more than {keep if most < edge else 'the mean edge of the shell'}",
            where="contact", got=f"{reach:g} m", allowed=f"up to {most:.3g} m", remedy="leave it out",
        )  # fmt: skip
    if reach < min(least, most):
        raise input_error(
            "reach is so short that surfaces would meet as if it were a blow", where="contact", got=f"{reach:g} m",
            allowed=f"from {min(least, most):.3g} m", remedy="leave it out",
        )  # fmt: skip


def _obstacles(given: object) -> tuple[Obstacle | Plane, ...]:
    """One or several, all that does not fit told at once."""
    if isinstance(given, Thing):
        given = (given,)
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise input_error("not obstacles", where="contact.obstacles", got=type(given).__name__, allowed=_THINGS)
    found: list[Obstacle | Plane] = []
    wrong: list[str] = []
    for k, one in enumerate(given):
        try:
            found.append(_obstacle(k, one))
        except InputError as error:
            wrong.append(str(error))
    if wrong:
        raise InputError("\n".join(wrong))
    return tuple(found)


_THINGS = "a TriMesh, an Animation, an Obstacle or a Plane"


def _obstacle(k: int, given: object) -> Obstacle | Plane:
    where = f"contact.obstacles[{k}]"
    if isinstance(given, Plane):
        return given
    if isinstance(given, Animation):
        given.check(where)
        given = Obstacle(given.mesh, given.at, f"obstacle {k}")
    elif isinstance(given, TriMesh):
        given = Obstacle(given, name=f"obstacle {k}")
    if not isinstance(given, Obstacle):
        raise input_error("not an obstacle", where=where, got=type(given).__name__, allowed=_THINGS)
    check_physical(given.mesh, where)
    return given


def _listed(name: str, given: object, kind: type) -> tuple[object, ...]:
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise input_error(
            f"{name} must be a list", where=f"contact.{name}", got=_said(given), allowed=f"a list of {kind.__name__}"
        )
    for k, one in enumerate(given):
        if not isinstance(one, kind):
            raise input_error(
                f"not a {kind.__name__}", where=f"contact.{name}[{k}]", got=_said(one), allowed=kind.__name__
            )
    return tuple(given)


def as_contact(given: Contact | bool | None) -> Contact | None:
    """True is contact as it comes; False and None are none."""
    if isinstance(given, Contact):
        return given
    if given is None or isinstance(given, bool):
        return Contact() if given else None
    raise input_error("not contact", where="contact", got=type(given).__name__, allowed="True, False or a Contact")


def _said(given: object) -> object:
    """None is a value too, and one to be told."""
    return "None" if given is None else given

"""Garments that are parts of one shell: their names, their order, and what is said between two of them."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bunraku.collision import Between, Obstacle, Plane
from bunraku.contracts import InputError, Integers, input_error
from bunraku.geometry import TriMesh, first_few
from bunraku.geometry.connectivity import components


def as_parts(given: object) -> dict[str, Integers]:
    """Names with vertices (v,); what is none is refused."""
    if not isinstance(given, Mapping):
        raise input_error(
            "parts must be a mapping", where="contact.parts", got=type(given).__name__, allowed="name → vertices"
        )
    out = {}
    for name, vertices in given.items():
        found = _whole_numbers(vertices)
        if not isinstance(name, str) or not name or found is None or not len(found):
            raise input_error(
                "a part of the shell has a name and vertices", where=f"contact.parts[{name!r}]",
                got=repr(vertices)[:60], allowed="vertices (v,), one or more",
            )  # fmt: skip
        out[name] = np.unique(found)
    return out


def check_names(
    parts: Mapping[str, Integers], things: Sequence[Obstacle | Plane], layers: Sequence[str],
    between: Sequence[Between], self_contact: bool, *, later: bool = False,
) -> None:  # fmt: skip
    """Refuse, all at once, names of what is not there, what is said twice, and what cannot be; `later` says that there
    may be more to name, such as bodies."""
    wrong = [
        *_clashes(parts, things),
        *_wrong_layers(parts, things, layers, self_contact),
        *_wrong_between(parts, things, between, self_contact, later),
    ]
    if wrong:
        raise InputError("\n".join(map(str, wrong)))


def whole_pieces(parts: Mapping[str, Integers], shell: TriMesh) -> dict[str, Integers]:
    """Each part with all vertices (v,) of the shell's pieces that it has a vertex of: garments are whole."""
    piece = components(np.concatenate([shell.faces[:, [0, 1]], shell.faces[:, [1, 2]]]), shell.point_count)
    wrong = [*_outside(parts, shell.point_count)] or [*_shared(parts, piece)]
    if wrong:
        raise InputError("\n".join(map(str, wrong)))
    return {name: np.flatnonzero(np.isin(piece, piece[vertices])) for name, vertices in parts.items()}


def _outside(parts: Mapping[str, Integers], count: int) -> Iterator[InputError]:
    for name, vertices in parts.items():
        bad = vertices[(vertices < 0) | (vertices >= count)]
        if len(bad):
            yield input_error(
                "a part must name vertices of the shell", where=f"contact.parts['{name}']", got=first_few(bad),
                allowed=f"0 to {count - 1}",
            )  # fmt: skip


def _shared(parts: Mapping[str, Integers], piece: Integers) -> Iterator[InputError]:
    """Parts of a piece (n,) of the shell that another one is a part of."""
    names = list(parts)
    for k, name in enumerate(names):
        for other in names[:k]:
            both = parts[name][np.isin(piece[parts[name]], piece[parts[other]])]
            if len(both):
                yield input_error(
                    f"{other} and {name} are parts of one connected piece of the shell, and a vertex is of one part at "
                    "most", where=f"contact.parts['{name}']", got=f"vertices {first_few(both)}",
                    remedy="name different pieces",
                )  # fmt: skip


def _clashes(parts: Mapping[str, Integers], things: Sequence[Obstacle | Plane]) -> Iterator[InputError]:
    for one in things:
        if one.name in parts:
            yield input_error(
                "an obstacle has this name too", where="contact.parts", got=one.name, remedy="another name"
            )


def _wrong_layers(
    parts: Mapping[str, Integers], things: Sequence[Obstacle | Plane], layers: Sequence[str], self_contact: bool
) -> Iterator[InputError]:
    bodies = [one.name for one in things if isinstance(one, Obstacle)]
    planes = [one.name for one in things if isinstance(one, Plane)]
    known, inner = [*parts, *bodies], True
    for k, name in enumerate(layers):
        where = f"contact.layers[{k}]"
        if name in planes:
            yield input_error("a plane is no layer", where=where, got=name, remedy="leave it out")
        elif name not in known:
            yield _unknown(where, name, known)
        elif name in layers[:k]:
            yield input_error("a layer is named twice", where=where, got=name, remedy="name it once")
        elif name in parts:
            inner = False
        elif not inner:
            yield input_error(
                "an obstacle does not make room, so it cannot lie outside of a layer", where=where, got=name,
                remedy="obstacles first, then parts of the shell",
            )  # fmt: skip
    if not self_contact and sum(name in parts for name in set(layers)) > 1:
        yield input_error(
            "the shell does not feel itself, so its layers would not stay in order", where="contact.layers",
            got=", ".join(layers), remedy="self contact, or one layer",
        )  # fmt: skip
    if layers and inner and all(name in known for name in layers):
        yield input_error(
            "names no part of the shell", where="contact.layers", got=", ".join(layers), remedy="a part of the shell"
        )


def _wrong_between(
    parts: Mapping[str, Integers], things: Sequence[Obstacle | Plane], between: Sequence[Between], self_contact: bool,
    later: bool,
) -> Iterator[InputError]:  # fmt: skip
    count = Counter(one.name for one in things)
    known, seen = [*parts, *count], set[frozenset[str]]()
    for k, one in enumerate(between):
        where, pair = f"contact.between[{k}]", frozenset((one.first, one.second))
        unknown = [name for name in (one.first, one.second) if name not in known]
        for name in () if later else unknown:
            yield _unknown(where, name, known)
        if unknown:
            continue
        twice = [name for name in (one.first, one.second) if count[name] > 1]
        if twice:
            yield input_error("several obstacles have this name", where=where, got=twice[0], remedy="a name for each")
        elif not any(name in parts for name in pair):
            yield input_error("neither is a part of the shell", where=where, got=f"{one.first} and {one.second}")
        elif pair in seen:
            yield input_error("is told twice", where=where, got=f"{one.first} and {one.second}", remedy="tell it once")
        elif not self_contact and all(name in parts for name in pair):
            yield input_error(
                "the shell does not feel itself, so its parts keep nothing between them", where=where,
                got=f"{one.first} and {one.second}", remedy="self contact, or leave it out",
            )  # fmt: skip
        seen.add(pair)


def _unknown(where: str, name: object, known: Sequence[str]) -> InputError:
    near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
    return input_error(
        "there is no such part of the shell, body or obstacle", where=where, got=name,
        allowed=", ".join(known) or "none", remedy=f"'{near[0]}'" if near else "",
    )  # fmt: skip


def _whole_numbers(given: object) -> Integers | None:
    try:
        found = np.asarray(given)
    except (TypeError, ValueError):
        return None
    return found.astype(np.int64) if found.ndim == 1 and found.dtype.kind in "iu" else None

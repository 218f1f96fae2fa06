"""Which of a file's meshes is meant."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from pathlib import Path

from bunraku.contracts import input_error

from .files import listing


def choose_mesh(
    paths: Sequence[str], name: str | None, where: Path, passed_over: Callable[[str], bool] = lambda path: False,
    kind: str = "mesh",
) -> str:  # fmt: skip
    """The only path, or the one at, under or ending in `name`; refused with the list where that is not one.

    Where several fit, those `passed_over` are left out if that leaves one.
    """
    if name is None:
        fits = list(paths)
    else:
        tail = "/" + name.strip("/")
        fits = [one for one in paths if one == tail] or [one for one in paths if one.startswith(tail + "/")]
        fits = fits or [one for one in paths if one.endswith(tail)]
    if len(fits) == 1:
        return fits[0]
    left = [one for one in fits if not passed_over(one)]
    if len(left) == 1:
        return left[0]
    if fits:
        raise input_error(
            f"holds several {kind}{'es' if kind.endswith('h') else 's'}",
            where=str(where),
            got=listing(fits),
            remedy=f"name one: prim={fits[0]!r}",
        )
    raise input_error(
        f"has no such {kind}", where=str(where), got=name, allowed=listing(paths), remedy=_nearest(str(name), paths)
    )


def _nearest(name: str, paths: Sequence[str]) -> str:
    """'did you mean …?' by the whole path or its last word."""
    few = [one for one in paths if len(one) <= 300][:1000]  # finding near names takes time
    by_word = {one.rsplit("/", 1)[1].lower(): one for one in few} | {one.lower(): one for one in few}
    asked = name.lower()[:300]
    near = difflib.get_close_matches(asked, by_word, n=1) or difflib.get_close_matches(
        asked.rsplit("/", 1)[-1], by_word, n=1
    )
    return f"did you mean {by_word[near[0]]!r}?" if near else "name one of them"

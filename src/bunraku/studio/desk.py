"""The directing side: what is answered about a shot that is edited, its arrays, and its runs."""

from __future__ import annotations

import math
import secrets
import threading
from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from bunraku.contracts import BunrakuError
from bunraku.io import packed, read_arrays
from bunraku.shots import EditedShot, Superseded
from bunraku.shots import Knob as TurnedKnob

from .gate import Refusal, number
from .messages import ArraysKept, Cancelled, Edit, Edited, Knob, RunWanted, ShotNews, ShotObject, ShotSheet, Step
from .parcels import Piece, can_be_sent, parcel, unpacked
from .reading import MOST_BYTES, read_message
from .replies import Reply, Route, Waiting, route, told
from .runs import Runs

_MOST_ARRAYS = 64 << 20  # [bytes] of a parcel that is sent here
_MOST_KEPT = 8  # parcels that no edit has asked for yet
_LONGEST = 200  # letters of what an edit is about
Arrays = dict[str, NDArray[Any]]


class Desk:
    """One shot on the desk."""

    def __init__(self, shot: EditedShot, waiting: Waiting, runs: Runs) -> None:
        self.shot, self.runs, self._waiting = shot, runs, waiting
        self._kept, self._guard = dict[str, Arrays](), threading.Lock()

    def routes(self) -> tuple[Route, ...]:
        """What can be asked."""
        return (
            route("GET", r"/shot", "", self._sheet),
            route("POST", r"/shot/edit", "", self._edit, MOST_BYTES),
            route("POST", r"/shot/undo", "", self._undo, MOST_BYTES),
            route("POST", r"/shot/redo", "", self._redo, MOST_BYTES),
            route("GET", r"/shot/news", "revision run", self._news),
            route("POST", r"/shot/arrays", "", self._take_in, _MOST_ARRAYS),
            route("GET", r"/shot/arrays", "name", self._arrays),
            route("POST", r"/run", "", self._run, MOST_BYTES),
            route("POST", r"/run/cancel", "", self._cancel),
        )

    def close(self) -> None:
        """End the run."""
        self.runs.close()

    def sheet(self) -> ShotSheet:
        """The shot as it stands."""
        shot = self.shot
        revision = shot.look()
        frames = shot.settings.get("shot", {}).get("frames") or (None, None)
        objects = tuple(ShotObject(one.path, str(one.path[-1]), one.role, one.follows) for one in shot.objects)
        return ShotSheet(
            revision=revision, file=shot.name, text=shot.text, first=frames[0], last=frames[1], objects=objects,
            knobs=tuple(_knob(one) for one in shot.knobs), problems=shot.problems, diff=shot.diff,
            undo=shot.can_undo, redo=shot.can_redo,
        )  # fmt: skip

    def _sheet(self, query: Mapping[str, str]) -> Reply:
        return told(self.sheet())

    def _edit(self, query: Mapping[str, str], body: bytes) -> Reply:
        edit = read_message(Edit, body)
        files = {one.name: self._packed(one.name, one.id) for one in edit.files}
        about = edit.about.strip()[:_LONGEST] or "an edit"
        changes = [(one.path, one.value) for one in edit.changes]
        return self.done(
            lambda: self.shot.edit(
                edit.revision, changes, files=files, about=about, gesture=edit.gesture[:80], by=edit.tab[:80]
            )
        )

    def _undo(self, query: Mapping[str, str], body: bytes) -> Reply:
        step = read_message(Step, body)
        return self.done(lambda: self.shot.undo(step.revision, step.tab[:80]))

    def _redo(self, query: Mapping[str, str], body: bytes) -> Reply:
        step = read_message(Step, body)
        return self.done(lambda: self.shot.redo(step.revision, step.tab[:80]))

    def done(self, act: Callable[[], str]) -> Reply:
        """What an edit has made of the shot, or why it was refused."""
        try:
            diff = act()
        except Superseded as error:
            raise Refusal(409, str(error)) from None
        except BunrakuError as error:
            raise Refusal(400, str(error)) from None
        return told(Edited(self.sheet(), diff))

    def _news(self, query: Mapping[str, str]) -> Reply:
        known = number(query, "revision", 0, 10**9, 0), number(query, "run", 0, 10**9, 0)
        self._waiting.for_news(lambda: (self.shot.look(), self.runs.number) == known)
        return told(self._now())

    def _now(self) -> ShotNews:
        shot, runs = self.shot, self.runs
        return ShotNews(
            revision=shot.look(), by=shot.by, about=shot.about, run=runs.number, running=runs.running, take=runs.take,
            saying=runs.saying, failed=runs.failed,
        )  # fmt: skip

    def _run(self, query: Mapping[str, str], body: bytes) -> Reply:
        wanted, shot = read_message(RunWanted, body), self.shot
        if wanted.revision != shot.look():
            raise Refusal(409, f"{shot.name}: was changed meanwhile, and is shown anew; try: again")
        if shot.problems:
            raise Refusal(400, "\n".join(shot.problems))
        self.runs.start(shot.text, shot.source.absolute())
        return told(self._now())

    def _cancel(self, query: Mapping[str, str]) -> Reply:
        return told(Cancelled(self.runs.cancel()))

    def _take_in(self, query: Mapping[str, str], body: bytes) -> Reply:
        arrays, name = unpacked(body), secrets.token_urlsafe(12)
        with self._guard:
            self._kept[name] = arrays
            while len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return told(ArraysKept(name))

    def _packed(self, name: str, kept: str) -> bytes:
        with self._guard:
            arrays = self._kept.get(kept)
        if arrays is None:
            raise Refusal(400, f"the arrays of {name[:80]!r} were not sent, or too long ago; try: again")
        return packed(arrays, {}, name)

    def _arrays(self, query: Mapping[str, str]) -> Reply:
        try:
            path = self.shot.arrays_path(query.get("name", ""))
        except BunrakuError as error:
            raise Refusal(400, str(error)) from None
        if not path.is_file():
            raise Refusal(404, f"{path.name}: there is no such file")
        arrays, _ = read_arrays(path)
        if strange := [str(one.dtype) for one in arrays.values() if not can_be_sent(one)]:
            raise Refusal(400, f"{path.name}: holds numbers that no page has written (got {strange[0]})")
        pieces = {name: Piece(array) for name, array in arrays.items()}
        return Reply(parcel([(None, pieces)]), "application/octet-stream")


def _knob(one: TurnedKnob) -> Knob:
    ends = [end if math.isfinite(end) else None for end in (one.low, one.high)]
    return Knob(
        path=one.path, doc=one.doc, kind=one.kind, unit=one.unit, low=ends[0], high=ends[1], open=not one.closed,
        options=one.options, keyable=one.keyable, default=_said(one.default), otherwise=one.otherwise,
        value=_said(one.value),
    )  # fmt: skip


def _said(value: Any) -> Any:
    """What JSON can say of a value: infinity and dates have their text."""
    if isinstance(value, (list, tuple)):
        return [_said(one) for one in value]
    if isinstance(value, dict):
        return {str(name): _said(one) for name, one in value.items()}
    plain = value is None or isinstance(value, (str, bool, int)) or (isinstance(value, float) and math.isfinite(value))
    return value if plain else str(value)

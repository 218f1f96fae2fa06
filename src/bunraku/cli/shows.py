"""How a run is shown: a bar for people, lines for farms, JSON for programs."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import Any, Protocol

from tqdm import tqdm

from bunraku.contracts import many
from bunraku.shots import (
    Event,
    Finished,
    FrameDone,
    Noticed,
    OfTake,
    PictureDone,
    Preparing,
    Remarked,
    Started,
    TakeEnded,
    WedgeBegun,
)

from .voice import ERRORS, OUTPUT

WAYS = ("bar", "plain", "json")


class Show(Protocol):
    """Shows what a run tells."""

    def tell(self, event: Event) -> None:
        """Something happened."""
        ...

    def warn(self, text: str) -> None:
        """Something the user should know."""
        ...

    def say(self, text: str) -> None:
        """A result in words, for a person."""
        ...

    def end(self, facts: Mapping[str, Any]) -> None:
        """The command is over: `event` is 'done' or 'error', with `exit_code` and what belongs to it."""
        ...


def choose_show(way: str | None) -> Show:
    """The show asked for; else a bar on a terminal and lines elsewhere."""
    shows = {"bar": BarShow, "plain": PlainShow, "json": JsonShow}
    return shows[way or ("bar" if ERRORS.isatty() else "plain")]()


class Pace:
    """Frames per second and the time left."""

    def __init__(self) -> None:
        self._first: tuple[int, float] | None = None
        self._index = 0

    def note(self, index: int) -> None:
        """Frame `index` is done now. The first one is given, so it does not count."""
        self._index = index
        if self._first is None:
            self._first = index, time.monotonic()

    @property
    def rate(self) -> float | None:
        """[frames/s]; None before two frames are done."""
        if self._first is None or self._index == self._first[0]:
            return None
        return (self._index - self._first[0]) / max(time.monotonic() - self._first[1], 1e-9)

    def left(self, count: int) -> float | None:
        """[s] until `count` frames are done."""
        return None if self.rate is None else (count - 1 - self._index) / self.rate


class BarShow:
    """One progress bar on a terminal; a second one for the preview. Takes made at once share one."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None
        self._at: dict[str, str] = {}
        """of takes that are made at once: where each is"""

    def tell(self, event: Event) -> None:
        """Move the bar."""
        match event:
            case Preparing(text):
                self._close()
                self._write(text)
            case Started(shot=shot, count=count, done=done, solver=solver):
                self._write(f"solver: {solver}")
                self._open(shot, count, done, "frame")
            case FrameDone():
                self._frame(event)
            case PictureDone(index=index, count=count):
                if self._bar is None:
                    self._open("preview", count, 0, "picture")
                self._move(index + 1)
            case Noticed(text):
                self.warn(text)
            case Remarked(text):
                self._write(text)
            case Finished():
                self._close()
            case WedgeBegun(shot=shot, count=count, done=done):
                self._open(shot, count, done, "frame")
            case OfTake(take, inner):
                self._one_of_several(take, inner)
            case TakeEnded(take):
                self._at.pop(take, None)
                self._write(_ended(event))

    def warn(self, text: str) -> None:
        """Above the bar."""
        self._write(f"warning: {text}")

    def say(self, text: str) -> None:
        """To standard output."""
        self._close()
        print(text, file=OUTPUT, flush=True)

    def end(self, facts: Mapping[str, Any]) -> None:
        """Errors in words."""
        self._close()
        if facts["event"] == "error":
            _complain(facts["message"])

    def _frame(self, event: FrameDone) -> None:
        if self._bar is not None:
            label = "preroll" if event.preroll else "frame"
            self._bar.set_description_str(f"{label} {event.frame:g}", refresh=False)
            self._bar.set_postfix_str(_residual(event), refresh=False)
            self._move(event.index + 1)

    def _one_of_several(self, take: str, event: Event) -> None:
        match event:
            case FrameDone(index=index, count=count):
                self._at[take] = f"{take} {index + 1}/{count}"
                if self._bar is not None:
                    self._bar.set_postfix_str(", ".join(self._at.values()), refresh=False)
                    self._bar.update(1)
            case PictureDone():
                self._at[take] = f"{take} pictures"
            case Noticed(text):
                self.warn(f"{take}: {text}")

    def _open(self, title: str, count: int, done: int, unit: str) -> None:
        self._close()
        self._bar = tqdm(total=count, initial=done, desc=title, unit=unit, file=ERRORS, **_room())

    def _move(self, to: int) -> None:
        if self._bar is not None:
            self._bar.update(to - self._bar.n)

    def _write(self, text: str) -> None:
        tqdm.write(text, file=ERRORS)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = None


class PlainShow:
    """A line a frame on standard error, without control characters. Of takes made at once each line says which."""

    def __init__(self, take: str = "") -> None:
        self._pace, self._takes = Pace(), dict[str, PlainShow]()
        self._before = f"{take}: " if take else ""

    def tell(self, event: Event) -> None:
        """Print a line."""
        match event:
            case Preparing(text):
                self._line(text)
            case Started(shot=shot, folder=folder, count=count, done=done, solver=solver):
                self._pace = Pace()  # of stages each has its own
                self._line(f"{shot}: {many(count - done, 'frame')} to make into {folder}")
                self._line(f"solver: {solver}")
            case FrameDone():
                self._line(self._frame(event))
            case Noticed(text):
                self.warn(text)
            case Remarked(text):
                self._line(text)
            case PictureDone(index=index, count=count):
                if (index + 1) % 24 == 0 or index + 1 == count:
                    self._line(f"picture {index + 1}/{count}")
            case Finished():
                pass
            case WedgeBegun(shot=shot, folder=folder, count=count, done=done, takes=takes):
                self._line(f"{shot}: {many(takes, 'take')}, {many(count - done, 'frame')} to make into {folder}")
            case OfTake(take, inner):
                self._takes.setdefault(take, PlainShow(take)).tell(inner)
            case TakeEnded():
                self._line(_ended(event))

    def warn(self, text: str) -> None:
        """A line."""
        self._line(f"warning: {text}")

    def say(self, text: str) -> None:
        """To standard output."""
        print(text, file=OUTPUT, flush=True)

    def end(self, facts: Mapping[str, Any]) -> None:
        """Errors in words."""
        if facts["event"] == "error":
            _complain(facts["message"])

    def _line(self, text: str) -> None:
        _line(self._before + text)

    def _frame(self, event: FrameDone) -> str:
        self._pace.note(event.index)
        label = "preroll" if event.preroll else "frame"
        parts = [f"{label} {event.frame:g} ({event.index + 1}/{event.count})", _residual(event)]
        rate, left = self._pace.rate, self._pace.left(event.count)
        if rate is not None and left is not None:
            parts += [f"{rate:.2g} frames/s", f"{_clock(left)} left"]
        return ", ".join(part for part in parts if part)


class JsonShow:
    """A JSON object a line on standard output; words for people go to standard error. Of takes made at once each
    object says which."""

    def __init__(self, take: str = "") -> None:
        self._pace, self._takes = Pace(), dict[str, JsonShow]()
        self._of = {"take": take} if take else {}

    def tell(self, event: Event) -> None:
        """Print an object."""
        match event:
            case Preparing(text):
                self._emit({"event": "stage", "text": text})
            case Started():
                self._pace = Pace()
                self._emit(
                    {
                        "event": "start", "shot": event.shot, "folder": str(event.folder), "count": event.count,
                        "done": event.done, "solver": event.solver,
                    }
                )  # fmt: skip
            case FrameDone():
                self._emit(self._frame(event))
            case PictureDone(index=index, count=count):
                self._emit({"event": "picture", "index": index, "count": count})
            case Noticed(text):
                self.warn(text)
            case Remarked(text):
                self._emit({"event": "remark", "text": text})
            case Finished():
                pass
            case WedgeBegun():
                self._emit(
                    {
                        "event": "wedge", "shot": event.shot, "folder": str(event.folder), "count": event.count,
                        "done": event.done, "takes": event.takes,
                    }
                )  # fmt: skip
            case OfTake(take, inner):
                self._takes.setdefault(take, JsonShow(take)).tell(inner)
            case TakeEnded(take, outcome, why):
                self._emit({"event": "ended", "take": take, "outcome": outcome, "why": why})

    def warn(self, text: str) -> None:
        """An event."""
        self._emit({"event": "warning", "text": text})

    def say(self, text: str) -> None:
        """To standard error."""
        _line(text)

    def end(self, facts: Mapping[str, Any]) -> None:
        """The last event; errors in words too."""
        self._emit(facts)
        if facts["event"] == "error":
            _complain(facts["message"])

    def _frame(self, event: FrameDone) -> dict[str, Any]:
        self._pace.note(event.index)
        return {
            "event": "frame", "frame": event.frame, "index": event.index, "count": event.count,
            "residual": event.residual, "iterations": event.iterations, "preroll": event.preroll,
            "rate": self._pace.rate, "eta_s": self._pace.left(event.count),
        }  # fmt: skip

    def _emit(self, facts: Mapping[str, Any]) -> None:
        print(json.dumps({**facts, **self._of}), file=OUTPUT, flush=True)


def _room() -> dict[str, Any]:
    """How much place the bar has: the terminal's as it changes; where it claims to have none, a usual one."""
    try:
        columns, lines = os.get_terminal_size(ERRORS.fileno())
    except (OSError, ValueError):
        columns, lines = 0, 0
    return {"dynamic_ncols": True} if columns and lines else {"ncols": 100, "nrows": 24}


def _line(text: str) -> None:
    print(text, file=ERRORS, flush=True)


def _complain(message: str) -> None:
    for line in message.splitlines():
        _line(f"bunraku: {line}")


def _ended(event: TakeEnded) -> str:
    return f"{event.take}: {event.outcome}" + (f", {event.why}" if event.why else "")


def _residual(event: FrameDone) -> str:
    return "" if event.residual is None else f"residual {event.residual:.1e} m"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"

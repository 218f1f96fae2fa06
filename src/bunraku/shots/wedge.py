"""A wedge: one shot in all combinations of some values, each an ordinary take, made by a crew, shown in a gallery."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Container, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from bunraku.contracts import InputError, OutputError
from bunraku.io import content_hash, write_text

from .crew import Crew
from .events import Noticed, Preparing, Remarked, TakeEnded, WedgeBegun
from .folder import TakeFolder, check_writable, make_folder, make_numbered
from .gallery import Gallery
from .kept import frames_kept
from .kinds import joined
from .lock import is_held, locked
from .log import listening
from .provenance import differences, spelled_out
from .shift import LAST_WORDS, Shift, Tell
from .shot import read_shot
from .stopping import ask_to_stop
from .wedge_book import BEFORE, WAITING, Book, Entry, books_of, finished_takes, named
from .wedge_films import Sight, film, film_orders, kept_sight, note_sight, sight_of
from .wedge_table import table_of
from .wedge_vary import Combination, Varied, combinations, value_text
from .wedge_work import Answer, Looked, Order, key_of, look, make
from .wording import first_line

_log = logging.getLogger(__name__)
Hire = Callable[[int], AbstractContextManager[Crew]]
"""gives a crew for so many orders"""


@dataclass(frozen=True)
class WedgeSettings:
    """What is made, and how."""

    source: Path
    varied: tuple[Varied, ...]
    frames: tuple[int, int] | None = None
    threads: int = 1
    """of each take"""
    preview: bool = True
    """whether there are films and pictures"""
    most: int = 100


def run_wedge(settings: WedgeSettings, hire: Hire, *, resume: bool = False, progress: Tell | None = None) -> Book:
    """Make a wedge, or carry on the newest one of these values. `hire` gives the crew that makes it."""
    tell = progress or (lambda event: None)
    with listening() as log:
        combos = combinations(settings.source, settings.varied, settings.most)
        shot = combos[0].shot
        home = shot.output.folder / shot.name
        check_writable(home)
        before = _to_resume(settings, home) if resume else None
        orders = _orders(settings, combos)
        with hire(len(combos)) as crew:
            tell(Remarked(f"{len(combos)} combinations, {crew.about}"))
            looked = _look(crew, orders, combos, tell)
            book = _carried_on(before, looked) if before else _begun(settings, home, combos, looked)
            with locked(book.folder):
                log.write_to(book.folder / "run.log")
                _settle(book, looked, home)
                book.save()
                fresh = _make(crew, book, orders, tell)
                write_gallery(book, _film(crew, book, fresh, tell) if settings.preview else kept_sight(book))
    return book


def varied_before(source: Path) -> tuple[Varied, ...]:
    """What the newest wedge of a shot file varies."""
    shot = read_shot(source)
    home = shot.output.folder / shot.name
    books = books_of(home)
    if not books:
        raise InputError(f"{home}: there is no wedge to resume; try: run without --resume, and say what to --vary")
    return tuple(Varied(key, tuple(values)) for key, values in books[0].vary.items())


def write_gallery(book: Book, sight: Sight | None) -> None:
    """The page and the table of a wedge, as far as it has come; `sight`: how its pictures were taken."""
    table = table_of(book)
    write_text(book.table, table.csv(book.folder))
    write_text(book.page, Gallery(book, table, sight).html())


def _film(crew: Crew, book: Book, fresh: Container[str], tell: Tell) -> Sight | None:
    """Have all takes filmed by one camera. Pictures that cannot be made are no reason to lose a wedge."""
    sight = sight_of(book)
    if sight is None:
        return None
    make_folder(book.pictures)
    orders = {one.name: one for one in film_orders(book, sight, fresh)}
    if orders:
        tell(Preparing("filming the gallery"))

    def ended(name: str, answer: Answer) -> None:
        if answer.outcome != "done":
            text = f"{name}: no picture was made: {first_line(answer.why)}"
            _log.info(text)
            tell(Noticed(text))

    shift = Shift(crew, film, orders, tell, ended)
    shift.work()
    note_sight(book, sight)
    return sight


def _orders(settings: WedgeSettings, combos: Sequence[Combination]) -> list[Order]:
    source = settings.source.absolute()
    sha256 = content_hash(source)
    return [
        Order(
            name, combo.settings, str(source), sha256, frames=settings.frames, threads=settings.threads,
            preview=settings.preview,
        )
        for name, combo in zip(named(len(combos)), combos, strict=True)
    ]  # fmt: skip


def _look(crew: Crew, orders: Sequence[Order], combos: Sequence[Combination], tell: Tell) -> list[Looked]:
    """What each combination's take would be made of; refused with all that is wrong with any."""
    answers: dict[str, Answer] = {}
    shift = Shift(crew, look, {one.name: one for one in orders}, tell, answers.__setitem__)
    shift.work()
    wrong: dict[str, list[Combination]] = {}
    for order, combo in zip(orders, combos, strict=True):
        answer = answers[order.name]
        if answer.outcome != "done":
            for line in answer.why.splitlines():
                wrong.setdefault(line, []).append(combo)
    if wrong:
        raise InputError("\n".join(_with_values(line, found, len(combos)) for line, found in wrong.items()))
    return [answers[order.name].value for order in orders]


def _with_values(line: str, found: Sequence[Combination], count: int) -> str:
    """A refusal, and of which combinations it is, where it is not of all."""
    if len(found) == count:
        return line
    said = [", ".join(f"{key} = {value_text(value)}" for key, value in one.values.items()) for one in found[:3]]
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return f"{line} (with {joined(said)}{more})"


def _begun(settings: WedgeSettings, home: Path, combos: Sequence[Combination], looked: Sequence[Looked]) -> Book:
    folder = make_numbered(home, BEFORE).path
    entries = [
        Entry(name, dict(combo.values), one.key, one.count, folder / name)
        for name, combo, one in zip(named(len(combos)), combos, looked, strict=True)
    ]
    vary = {one.key: list(one.values) for one in settings.varied}
    return Book(
        folder, combos[0].shot.name, settings.source.absolute(), vary, settings.frames, settings.threads,
        looked[0].settings, entries,
    )  # fmt: skip


def _to_resume(settings: WedgeSettings, home: Path) -> Book:
    """The newest wedge of these values."""
    books = books_of(home)
    vary = {one.key: list(one.values) for one in settings.varied}
    for book in books:
        if list(book.vary.items()) == list(vary.items()) and book.frames == settings.frames:
            return book
    remedy = "run without --resume"
    if not books:
        raise InputError(f"{home}: there is no wedge to resume; try: {remedy}")
    told = "; ".join(f"{key}={','.join(value_text(one) for one in values)}" for key, values in books[0].vary.items())
    raise InputError(f"{home}: no wedge of these values and frames is there (the newest varies {told}); try: {remedy}")


def _carried_on(book: Book, looked: Sequence[Looked]) -> Book:
    """The same book, once it is clear that nothing has changed since."""
    if [one.key for one in looked] == [one.key for one in book.entries]:
        return book
    changed = differences(book.settings, looked[0].settings)
    told = "; ".join(changed[:3]) or "what some combinations are made of has changed"
    raise InputError(f"{book.folder}: cannot be resumed, the shot has changed since: {told}; try: run without --resume")


def _settle(book: Book, looked: Sequence[Looked], home: Path) -> None:
    """Say of every combination where its take is: a twin's, one that stands already, or its own to be made. What a
    finished take lacks of what is asked for is made from its frames."""
    there = finished_takes(home)
    first: dict[str, Entry] = {}
    for entry, one in zip(book.entries, looked, strict=True):
        twin = first.setdefault(entry.key, entry)
        found = there.get(entry.key)
        if twin is not entry:
            entry.like, entry.folder = twin.name, twin.folder
        elif found is not None:
            entry.folder, entry.reused = found, found.parent != book.folder
        else:
            entry.folder, entry.reused = book.folder / entry.name, False
        whole = entry.folder == found and all((entry.folder / name).exists() for name in one.files)
        entry.outcome, entry.why = ("finished", "") if whole else (WAITING, "")
    for entry in book.entries:
        if entry.like:
            entry.outcome = first[entry.key].outcome


def _make(crew: Crew, book: Book, orders: Sequence[Order], tell: Tell) -> set[str]:
    """Have made what is not there; returns what was worked on."""
    by_name = dict(zip([one.name for one in book.entries], orders, strict=True))
    todo = {one.name: replace(by_name[one.name], out=str(one.folder)) for one in book.own if one.outcome == WAITING}
    entries = {one.name: one for one in book.entries}
    kept = sum(one.count if one.outcome == "finished" else frames_kept(one.folder) for one in book.own)
    tell(WedgeBegun(book.shot, book.folder, sum(one.count for one in book.own), kept, len(todo)))
    for one in book.entries:
        if one.reused and not one.like:
            tell(Remarked(f"{one.name}: the same take stands already, {os.path.relpath(one.folder, book.folder)}"))
        if one.like:
            tell(Remarked(f"{one.name}: the same shot as {one.like}"))
    _release(todo, tell)

    def ended(name: str, answer: Answer) -> None:
        answer = _judged(entries[name], answer)
        for one in (entries[name], *(twin for twin in book.entries if twin.like == name)):
            one.outcome, one.why = answer.outcome, answer.why
        _log.info("%s: %s%s", name, answer.outcome, f", {answer.why}" if answer.why else "")
        if answer.story:
            _log.info("%s", answer.story)
        book.save()
        tell(TakeEnded(name, answer.outcome, first_line(answer.why)))

    shift = Shift(crew, make, todo, tell, ended)
    try:
        shift.work()
    except KeyboardInterrupt:
        shift.stop({name: one.out for name, one in todo.items()})
        write_gallery(book, kept_sight(book))
        raise
    return set(todo)


def _judged(entry: Entry, answer: Answer) -> Answer:
    """The answer, unless the take is of other inputs than the wedge was begun with."""
    if answer.outcome not in ("finished", "stopped"):
        return answer
    with suppress(InputError):
        if key_of(spelled_out(TakeFolder(entry.folder).read_provenance()["settings"])) == entry.key:
            return answer
    return Answer("refused", "what the shot reads has changed while the wedge was made; try: a new wedge")


def _release(orders: dict[str, Order], tell: Tell) -> None:
    """Have runs end that an earlier wedge has left behind, for a take belongs to one at a time."""
    held = {name for name, one in orders.items() if is_held(Path(one.out))}
    if not held:
        return
    tell(Remarked(f"waiting for the runs that write into {joined(sorted(held))} to stop"))
    until = time.monotonic() + LAST_WORDS
    while held and time.monotonic() < until:
        held = {name for name in held if ask_to_stop(Path(orders[name].out))}
        time.sleep(0.2)
    if held:
        folders = joined([orders[name].out for name in sorted(held)])
        raise OutputError(
            f"{folders}: another run writes there and does not stop; try: again when it has ended, or delete .lock in "
            "that folder if that run is gone"
        )

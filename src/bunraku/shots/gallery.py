"""The gallery of a wedge: one HTML file that opens without a server and loads nothing from beyond the takes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from urllib.parse import quote

from .wedge_book import Book, Entry
from .wedge_films import Sight
from .wedge_table import Column, Row, WedgeTable, number_text, sortable, verdicts
from .wedge_vary import short_names, value_text
from .wording import first_line

_ABREAST, _FEW = 6, 5  # pictures in a row, at most, and where any number would do
_VARIED = ' class="varied"'
_MARKS = {"met": "✓", "missed": "!", "yielded": "~", "note": "·"}


@dataclass(frozen=True, eq=False)
class Gallery:
    """What the page shows."""

    book: Book
    table: WedgeTable
    sight: Sight | None
    """how the pictures were taken; None where there are none"""

    def html(self) -> str:
        """The whole page."""
        title = escape(f"{self.book.shot} {self.book.folder.name}")
        style = "".join(_resource(name) for name in ("page.css", "gallery.css"))
        return (
            f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title} · bunraku</title>\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>\n{style}</style>\n</head>\n'
            f"<body>\n<main>\n{self._head()}\n{self._transport()}\n{self._tiles()}\n{self._numbers()}\n{self._told()}\n"
            f"</main>\n<script>\n{_resource('gallery.js')}</script>\n</body>\n</html>\n"
        )

    def _head(self) -> str:
        names = short_names(list(self.book.vary))
        varied = ", ".join(
            f"<b>{escape(names[key])}</b> {escape(' / '.join(value_text(one) for one in values))}"
            for key, values in self.book.vary.items()
        )
        told = ", ".join(f"{word} {count}×" for word, count in verdicts(self.table.rows).items())
        return (
            f'<header><h1>{escape(self.book.shot)} <span class="version">{escape(self.book.folder.name)}</span></h1>'
            f"<p>{len(self.book.entries)} combinations of {varied}: {escape(told)}</p></header>"
        )

    def _transport(self) -> str:
        if self.sight is None:
            return ""
        s = self.sight
        return (
            f'<div class="transport" data-rate="{s.rate:g}" data-first="{s.first:g}" data-still="{s.frame:g}">'
            '<button type="button" id="play">Play all</button>'
            '<input type="range" id="scrub" min="0" max="1000" value="0" step="1" aria-label="Frame of all films">'
            f'<output id="frame">stills: frame {s.frame:g}, where takes differ most</output></div>'
        )

    def _tiles(self) -> str:
        columns, turned = self._grid()
        wide = f"--columns: {columns}; --rows: {-(-len(self.book.entries) // columns)}; --shape: {self._shape()}"
        kind = "tiles turned" if turned else "tiles"
        tiles = "\n".join(self._tile(row) for row in self.table.rows)
        return f'<section class="{kind}" style="{wide}" aria-label="Takes">\n{tiles}\n</section>'

    def _grid(self) -> tuple[int, bool]:
        """How many pictures abreast, so that those below each other differ in few values, and whether they go down
        first: of two keys the one with more values goes across."""
        counts = [len(values) for values in self.book.vary.values() if len(values) > 1]
        if len(counts) == 2 and counts[1] < counts[0] <= _ABREAST:
            return counts[0], True
        if counts and counts[-1] <= _ABREAST and (len(counts) > 1 or counts[-1] > 1):
            return counts[-1], False
        return min(len(self.book.entries), _FEW), False

    def _shape(self) -> str:
        width, height = self.sight.size if self.sight else (4, 3)
        return f"{width} / {height}"

    def _tile(self, row: Row) -> str:
        one = row.entry
        names = short_names(list(self.book.vary))
        values = " ".join(
            f"<span><i>{escape(names[key])}</i> {escape(value_text(value))}</span>" for key, value in one.values.items()
        )
        twin = f' <span class="quiet">same as {escape(one.like)}</span>' if one.like else ""
        name = f'<span class="name">{escape(one.name)}</span>'
        verdict = (
            f'<span class="verdict {row.tone}"><i aria-hidden="true">{_MARKS[row.tone]}</i>{escape(row.verdict)}</span>'
        )
        return (
            f'<figure class="tile" id="{escape(one.name)}">{self._link(one, self._picture(row), "picture")}'
            f'<figcaption>{values}<span class="line">{name}{verdict}{twin}</span></figcaption></figure>'
        )

    def _picture(self, row: Row) -> str:
        own = row.entry.like or row.entry.name
        still, film = (self.book.pictures / f"{own}.{kind}" for kind in ("png", "mp4"))
        if self.sight is None or not still.exists():
            why = first_line(row.entry.why) or "no picture"
            return f'<span class="blank">{escape(why)}</span>'
        alt = escape(", ".join(f"{key} {value_text(value)}" for key, value in row.entry.values.items()))
        video = (
            f'<video src="{self._to(film)}" muted loop playsinline preload="none" tabindex="-1"></video>'
            if film.exists()
            else ""
        )
        return f'<img src="{self._to(still)}" alt="{alt}" loading="lazy">{video}'

    def _numbers(self) -> str:
        columns = self.table.telling()
        heads = "".join(
            f"<th scope='col'{_VARIED if one.varied else ''}><button type='button'>{_heading(one)}</button></th>"
            for one in [Column("take", "take"), *columns, Column("verdict", "outcome")]
        )
        rows = "\n".join(self._row(row, columns) for row in self.table.rows)
        return (
            f'<section aria-label="Numbers"><h2>Numbers</h2><div class="wide"><table class="numbers"><thead><tr>{heads}'
            f"</tr></thead><tbody>\n{rows}\n</tbody></table></div>"
            f'<p class="quiet">A click on a heading sorts. Every number, also those that are the same for all takes: '
            f'<a href="{quote(self.book.table.name)}">{escape(self.book.table.name)}</a> · '
            f'<a href="wedge.json">wedge.json</a> · <a href="run.log">run.log</a></p></section>'
        )

    def _row(self, row: Row, columns: Sequence[Column]) -> str:
        cells = "".join(_cell(row.cells.get(one.name), one.varied) for one in columns)
        name = self._link(row.entry, escape(row.entry.name))
        return (
            f'<tr data-take="{escape(row.entry.name)}"><th scope="row" data-by="{escape(row.entry.name)}">{name}</th>'
            f'{cells}<td class="verdict {row.tone}" data-by="{escape(row.verdict)}">{escape(row.verdict)}</td></tr>'
        )

    def _told(self) -> str:
        """Why some have no take, or not a whole one."""
        items = [
            f'<li class="missed"><i aria-hidden="true">!</i>{escape(one.name)}: {escape(first_line(one.why))}</li>'
            for one in self.book.own
            if one.why
        ]
        return f'<section><ul class="told">{"".join(items)}</ul></section>' if items else ""

    def _link(self, one: Entry, inside: str, kind: str = "") -> str:
        """To the page of its take, where there is one."""
        page = one.folder / "index.html"
        named = f' class="{kind}"' if kind else ""
        if page.exists():
            return f'<a href="{self._to(page)}"{named}>{inside}</a>'
        return f"<span{named}>{inside}</span>" if kind else inside

    def _to(self, path: Path) -> str:
        return escape(quote(Path(os.path.relpath(path, self.book.folder)).as_posix()))


def _heading(one: Column) -> str:
    unit = f' <span class="unit">({escape(one.unit)})</span>' if one.unit else ""
    return f"{escape(one.title[:1].upper() + one.title[1:] if not one.varied else one.title)}{unit}"


def _cell(value: object, varied: bool) -> str:
    text = value_text(value) if varied else number_text(value)
    return f'<td class="number" data-by="{escape(str(sortable(value)))}">{escape(text)}</td>'


def _resource(name: str) -> str:
    return resources.files("bunraku.shots").joinpath(name).read_text(encoding="utf-8")

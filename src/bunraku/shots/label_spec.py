"""What a shot file may say about regions painted on the page: a file of the page's own, and their names."""

# `key` makes a dataclass field, which ruff cannot know.
# ruff: noqa: RUF009

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.contracts import input_error
from bunraku.io import is_there

from .findings import Place
from .kinds import InputPath, ListOf, Text
from .tables import Table, key

NAME = Text(r"\w[\w .+-]{0,59}", allowed="up to 60 letters, digits, ' ', '_', '-', '.', a letter first")
_MOST_NAMES = 4096


def _check_arrays(path: Path) -> None:
    if not is_there(path):
        raise input_error("there is no such file", where=str(path), remedy="paint on the page, or leave labels out")


@dataclass(frozen=True, kw_only=True)
class LabelsTable:
    """Regions painted on the page."""

    file: Path = key(
        InputPath("a .bkarrays file that the page wrote, relative to the shot file", _check_arrays),
        "which of the names each vertex has",
    )  # fmt: skip
    names: tuple[str, ...] = key(ListOf(NAME, least=1, most=_MOST_NAMES, what="a list of names"), "of the regions")

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Each name once."""
        names = self.names or ()
        for k, name in enumerate(names):
            if name in names[:k]:
                place.at("names").entry(k).refuse("is the name of two regions", got=name, remedy="another name")


LABELS = Table(LabelsTable, "{ file = 'box.box.bkarrays', names = ['collar'] }", LabelsTable.check)
LABELS_DOC = "regions painted on the page, which 'painted' and track may name"


def label_files(table: LabelsTable | None) -> list[Path]:
    """The file it names, if any."""
    return [] if table is None else [table.file]

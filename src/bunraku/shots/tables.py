"""Tables of a shot file as dataclasses: each field says its kind, its meaning and its default.

One declaration serves four ends: reading with every finding at once, writing back, the list of keys in the
help, and the Python object an instrument is built from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .findings import Place, nearest
from .kinds import Choice, Either, Kind, ListOf, joined


@dataclass(frozen=True)
class Key:
    """What a shot file may say under a name."""

    kind: Kind
    doc: str
    """one sentence"""
    otherwise: str = ""
    """what holds where it is not given, in words, where the default alone does not tell"""
    name: str = ""
    """of the key, where Python has another use for it; by default the field's"""
    field: str = ""
    """the field's name"""


def key(
    kind: Kind, doc: str, default: Any = dataclasses.MISSING, *, factory: Any = dataclasses.MISSING,
    otherwise: str = "", name: str = "",
) -> Any:  # fmt: skip
    """A field that is a key; without a default it must be given."""
    entry = Key(kind, doc, otherwise, name)
    return dataclasses.field(default=default, default_factory=factory, metadata={"key": entry})


def keys_of(table: type) -> dict[str, Key]:
    """The keys of a table by name, in order."""
    fields = [field for field in dataclasses.fields(table) if "key" in field.metadata]
    found = [dataclasses.replace(field.metadata["key"], field=field.name) for field in fields]
    return {entry.name or entry.field: entry for entry in found}


@dataclass(frozen=True)
class Table:
    """A table that becomes a dataclass."""

    cls: type
    example: str = ""
    check: Callable[[Any, Mapping[str, Any], Place], None] = lambda table, given, place: None
    """refuses what concerns several keys, for the table and what was given; what was refused is None in the table"""
    later: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """keys that will come, with what is to be said about them"""

    @property
    def allowed(self) -> str:
        return f"a table such as {self.example}" if self.example else f"a table of {joined(list(keys_of(self.cls)))}"

    def fits(self, value: object) -> bool:
        return isinstance(value, (dict, self.cls))

    def read(self, value: Any, place: Place) -> Any:
        if not isinstance(value, dict):
            return place.refuse("must be a table", got=value, allowed=self.allowed)
        before = len(place.findings)
        known = keys_of(self.cls)
        _refuse_unknown(value, list(known), self.later, place)
        required = {name for name, entry in known.items() if entry.field in _required(self.cls)}
        for name in sorted(required - set(value)):
            place.at(name).refuse("is missing", allowed=known[name].kind.allowed)
        read = {
            known[name].field: known[name].kind.read(value[name], place.at(name)) for name in known if name in value
        }
        table = self.cls(**{**dict.fromkeys(_required(self.cls)), **read})
        self.check(table, value, place)
        return table if len(place.findings) == before else None

    def write(self, value: Any, folder: Path) -> dict[str, Any]:
        return written(value, folder)


@dataclass(frozen=True)
class Named:
    """A table of tables, each under a name of the artist's own."""

    kind: Kind
    names: Kind

    @property
    def allowed(self) -> str:
        return f"NAME = {self.kind.allowed}"

    def fits(self, value: object) -> bool:
        return isinstance(value, dict)

    def read(self, value: Any, place: Place) -> dict[str, Any] | None:
        if not isinstance(value, dict):
            return place.refuse("must be a table", got=value, allowed=self.allowed)
        for name in value:
            self.names.read(name, place.at(name))
        return {name: self.kind.read(one, place.at(name)) for name, one in value.items()}

    def write(self, value: Any, folder: Path) -> dict[str, Any]:
        return {name: self.kind.write(one, folder) for name, one in value.items()}


@dataclass(frozen=True)
class OneTable:
    """One of several tables, told apart by the word under one of their keys."""

    by: str
    """that key"""
    tables: Mapping[str, Table]
    """word → table; the first holds where the key is not given"""
    hints: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """a key that only one table has → the word of that table, for those who forget or misspell the word"""

    @property
    def allowed(self) -> str:
        return ", or ".join(table.allowed for table in self.tables.values())

    def fits(self, value: object) -> bool:
        return any(table.fits(value) for table in self.tables.values())

    def read(self, value: Any, place: Place) -> Any:
        if not isinstance(value, dict):
            return place.refuse("must be a table", got=value, allowed=self.allowed)
        word = next(iter(self.tables))
        meant = next((self.hints[name] for name in self.hints if name in value), word)
        if self.by in value:
            word = value[self.by] if value[self.by] in list(self.tables) else meant
        elif meant != word:
            names = [name for name in self.hints if name in value and self.hints[name] == meant]
            place.at(self.by).refuse(
                f"is missing: {joined(names)} is for '{meant}'", allowed=Choice(tuple(self.tables)).allowed,
                remedy=f"{self.by} = '{meant}'",
            )  # fmt: skip
            word = meant
        return self.tables[word].read({self.by: word, **value}, place)

    def write(self, value: Any, folder: Path) -> dict[str, Any]:
        return written(value, folder)


def written(table: Any, folder: Path, *, defaults: bool = True) -> dict[str, Any]:
    """A table as TOML keeps it, with paths relative to a folder; what is None is left out, and so, without
    `defaults`, what equals its default."""
    usual = {field.name: default_of(field) for field in dataclasses.fields(table)}
    out: dict[str, Any] = {}
    for name, entry in keys_of(type(table)).items():
        value = getattr(table, entry.field)
        if value is None or (not defaults and value == usual[entry.field]) or value in ((), {}):
            continue
        out[name] = entry.kind.write(value, folder) if defaults else _without_defaults(entry.kind, value, folder)
    return out


def _without_defaults(kind: Kind, value: Any, folder: Path) -> Any:
    if isinstance(kind, Named):
        return {one: _without_defaults(kind.kind, inner, folder) for one, inner in value.items()}
    if any(isinstance(value, table.cls) for table in _tables(kind)):
        return written(value, folder, defaults=False)
    return kind.write(value, folder)


def _tables(kind: Kind) -> list[Table]:
    """The tables a value of a kind may be."""
    if isinstance(kind, OneTable):
        return list(kind.tables.values())
    found = kind.kinds if isinstance(kind, Either) else (kind,)
    return [one for one in found if isinstance(one, Table)]


@dataclass(frozen=True)
class KeyLine:
    """One line of the list of keys."""

    path: str
    allowed: str
    default: str
    doc: str


def key_lines(table: type, path: str = "") -> Iterator[KeyLine]:
    """Every key below a table with its meaning, in order."""
    defaults = {field.name: field for field in dataclasses.fields(table)}
    for name, entry in keys_of(table).items():
        where = f"{path}.{name}" if path else name
        inner = entry.kind.kind if isinstance(entry.kind, (Named, ListOf)) else entry.kind
        tables = _tables(inner)
        if not tables or isinstance(inner, Either):
            default = entry.otherwise or _shown(default_of(defaults[entry.field]))
            yield KeyLine(where, entry.kind.allowed, default, entry.doc)
        many = ".NAME" if isinstance(entry.kind, Named) else "[]" if isinstance(entry.kind, ListOf) else ""
        seen: dict[str, str] = {}  # tables told apart by a word have that key in common, and may have others
        words = [f"{inner.by} = '{word}': " for word in inner.tables] if isinstance(inner, OneTable) else [""]
        for word, one in zip(words, tables, strict=False):
            for line in key_lines(one.cls, where + many):
                if isinstance(inner, OneTable) and line.path == f"{where + many}.{inner.by}" and line.path in seen:
                    continue
                if line.path not in seen:
                    yield line
                elif seen[line.path] != line.doc:  # the same key, which means something else
                    yield dataclasses.replace(line, doc=word + line.doc)
                seen.setdefault(line.path, line.doc)


def _refuse_unknown(value: Mapping[str, Any], known: list[str], later: Mapping[str, str], place: Place) -> None:
    for name in value:
        if name in later:
            place.at(name).refuse(f"is not yet there: {later[name]}", got=value[name], remedy="leave it out")
        elif name not in known:
            remedy = nearest(name, known)
            place.at(name).refuse("unknown key", got=name, allowed=joined(known), remedy=remedy)


def _required(table: type) -> set[str]:
    return {field.name for field in dataclasses.fields(table) if default_of(field) is dataclasses.MISSING}


def default_of(field: dataclasses.Field[Any]) -> Any:
    """What a field is where nothing is said; MISSING where something must be."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _shown(value: Any) -> str:
    if value is dataclasses.MISSING:
        return "must be given"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{joined([_shown(one) for one in value])}]"
    if value is None or value == {}:
        return "none"
    return f"'{value}'" if isinstance(value, (str, Path)) else f"{value:g}" if isinstance(value, float) else str(value)


def one_of(given: Mapping[str, Any], place: Place, *names: str) -> str:
    """Which of several keys was given; refused where it is not exactly one."""
    found = [name for name in names if name in given]
    if len(found) == 1:
        return found[0]
    if len(names) == 2:
        place.refuse(f"needs either '{names[0]}' or '{names[1]}'", got="both" if found else "neither")
    else:
        place.refuse("needs one of several keys", got=joined(found) or "none", allowed=joined(names))
    return ""

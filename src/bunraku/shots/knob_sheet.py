"""The settings of a shot as knobs to turn: made from what the specs say of their keys, never listed a second time."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bunraku.materials import PRESETS, SOLID_PRESETS, Range, as_material, shell_ranges, solid_ranges
from bunraku.motion import Curve

from .contact_spec import SHAPES
from .kinds import Choice, Either, Flag, FolderPath, InputPath, Keyed, Kind, ListOf, Number, Text, Whole
from .material_spec import Material, MaterialSpec
from .roles import motion_key, role_of
from .shot import Shot
from .skin_spec import FIELDS, SkinKind
from .solid_spec import Solid, SolidSpec
from .tables import Key, Named, OneTable, Table, default_of, keys_of
from .toml_edit import KeyPath, nothing_short

KnobKind = Literal["number", "whole", "flag", "choice", "text", "numbers"]


@dataclass(frozen=True)
class Knob:
    """A setting, whether or not the file says it."""

    path: KeyPath
    doc: str
    kind: KnobKind
    default: Any = None
    """None where only `otherwise` knows"""
    value: Any = None
    """as the file says it; None where it does not"""
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    closed: bool = True
    """whether `low` itself is allowed"""
    options: tuple[str, ...] = ()
    """of a choice; of a number words that may stand in its place"""
    keyable: bool = False
    otherwise: str = ""


@dataclass(frozen=True)
class Played:
    """An object of a shot."""

    path: KeyPath
    role: str
    follows: str
    """what it goes after, as its file says it; '' where there is nothing"""


def shots_in(settings: Mapping[str, Any]) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    """The shots of a file, each with the path of its table: one, or one a stage."""
    stages = settings.get("stage")
    if not isinstance(stages, dict):
        yield (), settings
        return
    yield from ((("stage", name), table) for name, table in stages.items() if isinstance(table, dict))


def followed(told: Any) -> str:
    """What a table of a motion names, in a word or two: 'hero.usd /hero/body', 'box/v003', 'sphere'; '' for nothing."""
    if not isinstance(told, Mapping):
        return ""
    name = next((str(told[one]) for one in ("take", "file", "stage", "name") if one in told), "")
    prim = f" {told['prim']}" if "prim" in told and "file" in told else ""
    return f"{name}{prim}" or next((one for one in SHAPES if one in told), "")


def objects_of(settings: Mapping[str, Any]) -> list[Played]:
    """All objects of a file's shots."""
    found = []
    for path, shot in shots_in(settings):
        for name, table in _tables_in(shot.get("object")).items():
            told = table.get(motion_key(table))
            found.append(Played((*path, "object", name), role_of(table), followed(told)))
    return found


def knobs_of(settings: Mapping[str, Any]) -> list[Knob]:
    """All knobs of a file's shots, in the order of the specs."""
    found = []
    for path, shot in shots_in(settings):
        found += _of_table(Shot, shot, path)
    if "stage" in settings:  # what all stages share
        shared = {name: entry for name, entry in keys_of(Shot).items() if name != "object"}
        for name, entry in shared.items():
            found += _of_kind(entry.kind, settings.get(name), None, (name,), entry)
    return found


def opened_in(settings: Mapping[str, Any]) -> Any:
    """What turns a value that is short for a table into that table, as `edited` asks for it."""

    def opened(path: KeyPath, value: Any) -> Mapping[str, Any]:
        kind, default = _kind_at(path, settings)
        if isinstance(kind, (Material, Solid, SkinKind)):
            usual = getattr(default, "preset", None)
            named = value if isinstance(value, str) else usual
            return {} if named is None else {"preset": named}
        if isinstance(kind, Either) and isinstance(value, bool) and any(isinstance(one, Table) for one in kind.kinds):
            return {}
        return nothing_short(path, value)

    return opened


def _of_table(table: type, given: Any, path: KeyPath) -> Iterator[Knob]:
    said = given if isinstance(given, Mapping) else {}
    defaults = {field.name: default_of(field) for field in dataclasses.fields(table)}
    for name, entry in keys_of(table).items():
        default = defaults[entry.field]
        yield from _of_kind(
            entry.kind, said.get(name), None if default is dataclasses.MISSING else default, (*path, name), entry
        )


def _of_kind(kind: Kind, value: Any, default: Any, path: KeyPath, entry: Key) -> Iterator[Knob]:
    match kind:
        case Table(cls=cls):
            yield from _of_table(cls, value, path)
        case OneTable():
            word = value.get(kind.by) if isinstance(value, Mapping) else None
            if word not in kind.tables:
                word = next((kind.hints[one] for one in kind.hints if one in (value or ())), next(iter(kind.tables)))
            own = _of_table(kind.tables[str(word)].cls, value, path)
            yield from (one for one in own if one.path != (*path, kind.by))  # with another word other keys come
        case Named(kind=inner):
            for name, one in _tables_in(value).items():
                yield from _of_kind(inner, one, None, (*path, name), entry)
        case ListOf(kind=inner) if isinstance(inner, Table):
            for k, one in enumerate(value if isinstance(value, list) else ()):
                yield from _of_kind(inner, one, None, (*path, k), entry)
        case Material() | Solid() | SkinKind():
            yield from _of_material(kind, value, default, path, entry)
        case Either(kinds=kinds):
            yield from _of_several(kinds, value, default, path, entry)
        case _:
            found = _plain(kind, value, default, path, entry)
            yield from () if found is None else (found,)


def _of_several(kinds: tuple[Kind, ...], value: Any, default: Any, path: KeyPath, entry: Key) -> Iterator[Knob]:
    """Of a value that may be of several kinds: the first that is a knob, with the words that may stand in its place;
    where there are several words, a list of them; of a table that may be switched on, the switch and, where it is on,
    the table's."""
    words = tuple(one for kind in kinds if isinstance(kind, Choice) for one in kind.options)
    tables = [kind for kind in kinds if isinstance(kind, Table)]
    numbers = [kind for kind in kinds if isinstance(kind, (Number, Whole, Keyed))]
    flags = [kind for kind in kinds if isinstance(kind, Flag)]
    if tables and flags:
        on = isinstance(value, Mapping)
        yield from _of_kind(flags[0], True if on else value, default, path, entry)
        if on or value:
            yield from _of_kind(tables[0], value if on else {}, None, path, entry)
        return
    lists = [kind for kind in kinds if isinstance(kind, Choice) and len(kind.options) > 1]
    first = (lists or numbers or flags or list(kinds))[0]
    found = _plain(first, value, default, path, entry)
    if found is not None:
        yield dataclasses.replace(found, options=(*found.options, *(one for one in words if one not in found.options)))


def _plain(kind: Kind, value: Any, default: Any, path: KeyPath, entry: Key) -> Knob | None:
    """The knob of a value that is no table; None where there is none to turn."""
    usual = str(default) if isinstance(default, Path) else list(default) if isinstance(default, tuple) else default
    told: dict[str, Any] = {
        "path": path, "doc": entry.doc, "default": usual, "value": value, "otherwise": entry.otherwise
    }  # fmt: skip
    match kind:
        case Keyed(number=inner):
            return dataclasses.replace(_number(inner, told), keyable=True)
        case Number():
            return _number(kind, told)
        case Whole():
            return Knob(kind="whole", low=kind.low, high=math.inf if kind.high >= 10**9 else kind.high, **told)
        case Flag():
            return Knob(kind="flag", **told)
        case Choice():
            return Knob(kind="choice", options=kind.options, **told)
        case Text() | InputPath() | FolderPath():
            return Knob(kind="text", **told)
        case ListOf(kind=Number() as inner) if kind.least == kind.most:
            return dataclasses.replace(_number(inner, told), kind="numbers")
        case ListOf(kind=Whole()) if kind.least == kind.most:
            return Knob(kind="numbers", **told)
    return None


def _number(kind: Number, told: Mapping[str, Any]) -> Knob:
    return Knob(kind="number", unit=kind.unit, low=kind.low, high=kind.high, closed=kind.closed, **told)


def _of_material(kind: Kind, value: Any, default: Any, path: KeyPath, entry: Key) -> Iterator[Knob]:
    """The preset, and every number that may differ from it."""
    said: dict[str, Any] = {"preset": value} if isinstance(value, str) else dict(value or {})
    usual = default.preset if isinstance(default, (MaterialSpec, SolidSpec)) else None
    solid = isinstance(kind, Solid)
    presets = SOLID_PRESETS if solid else PRESETS
    yield Knob(
        (*path, "preset"), entry.doc, "choice", usual, said.get("preset"), options=tuple(presets),
        otherwise=entry.otherwise,
    )  # fmt: skip
    base = _presets_numbers(said.get("preset", usual), solid)
    ranges = solid_ranges() if solid else shell_ranges()
    for name, ends in ranges.items():
        if not isinstance(kind, SkinKind) or name in FIELDS:
            yield _of_range(ends, base.get(name), said.get(name), (*path, name), not isinstance(kind, Material))


def _of_range(ends: Range, default: Any, value: Any, path: KeyPath, constant: bool) -> Knob:
    return Knob(
        path, ends.doc, "number", default, value, ends.unit, ends.low, ends.high, ends.closed,
        keyable=ends.keyable and not constant,
    )  # fmt: skip


def _presets_numbers(name: Any, solid: bool) -> dict[str, float]:
    """What a preset says by the names of its fields."""
    if solid:
        material: Any = SOLID_PRESETS[name].material if name in SOLID_PRESETS else None
    else:
        material = as_material(name) if name in PRESETS else None
    told = {} if material is None else {one.name: getattr(material, one.name) for one in dataclasses.fields(material)}
    told = {one: value.at(0.0) if isinstance(value, Curve) else value for one, value in told.items()}
    return {one: value for one, value in told.items() if isinstance(value, float) and math.isfinite(value)}


def _kind_at(path: KeyPath, settings: Mapping[str, Any]) -> tuple[Kind | None, Any]:
    """Of a key, its kind and its default; None where the specs know no such key."""
    kind, default = Table(Shot), None
    inner: Any = settings
    parts = list(path)
    if parts[:1] == ["stage"]:
        inner = _tables_in(inner.get("stage")).get(str(parts[1]), {}) if len(parts) > 1 else {}
        parts = parts[2:]
    for part in parts:
        default = None
        inner = inner[part] if isinstance(inner, list) and isinstance(part, int) and part < len(inner) else (
            inner.get(part) if isinstance(inner, Mapping) else None
        )  # fmt: skip
        found, default = _step(kind, part, default, inner)
        if found is None:
            return None, None
        kind = found
    return kind, default


def _step(kind: Kind, part: str | int, default: Any, given: Any) -> tuple[Any, Any]:
    """The kind one part further."""
    match kind:
        case Named(kind=inner) | ListOf(kind=inner):
            if isinstance(inner, OneTable):  # its table is known by what is said in it
                word = given.get(inner.by) if isinstance(given, Mapping) else None
                hinted = next((inner.hints[one] for one in inner.hints if one in (given or ())), None)
                return inner.tables.get(str(word or hinted), next(iter(inner.tables.values()))), None
            return inner, None
        case Either(kinds=kinds):
            table = next((one for one in kinds if isinstance(one, Table)), None)
            return (None, None) if table is None else _step(table, part, default, given)
        case Table(cls=cls):
            entry = keys_of(cls).get(str(part))
            if entry is None:
                return None, None
            field = next(one for one in dataclasses.fields(cls) if one.name == entry.field)
            usual = default_of(field)
            return entry.kind, None if usual is dataclasses.MISSING else usual
    return None, None


def _tables_in(value: Any) -> dict[str, Mapping[str, Any]]:
    return {name: one for name, one in value.items() if isinstance(one, dict)} if isinstance(value, Mapping) else {}

"""A shot's text with a few keys changed: comments, order and the way numbers are written stay as somebody wrote them.

`tomlkit` keeps the text and is imported here alone. What comes out is read again and compared with what was to come
out, so that an edit that it cannot make is refused and never half made.
"""

from __future__ import annotations

import copy
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Array, InlineTable

from bunraku.contracts import InputError, input_error

from .toml_text import toml_text

KeyPath = tuple[str | int, ...]
"""of a key: names of tables, and places in lists of tables from 0"""
Opened = Callable[[KeyPath, Any], Mapping[str, Any]]
"""the table that stands for a value that is short for one: 'cotton' for { preset = 'cotton' }; {} for None"""
Told = Callable[[Any, KeyPath, Any], Iterator[tuple[KeyPath, Any]]]
"""the changes that are written for one that is told, of what stands there"""
_LONG = 100  # letters of a list that stays on a line


def nothing_short(path: KeyPath, value: Any) -> Mapping[str, Any]:
    """Nothing is short for a table."""
    if value is None:
        return {}
    raise _no_table(path)


def edited(text: str, changes: Sequence[tuple[KeyPath, Any]], opened: Opened = nothing_short) -> str:
    """The text with keys changed one after another; None removes one. Refused where a path leads nowhere.

    Of tables and lists of tables that are told whole only what differs is written, where that can be."""
    try:
        return _edited(text, changes, opened, _smallest)
    except InputError:
        return _edited(text, changes, opened, _as_told)


def _edited(text: str, changes: Sequence[tuple[KeyPath, Any]], opened: Opened, told: Told) -> str:
    wanted: dict[str, Any] = tomllib.loads(text)
    document = tomlkit.parse(text)
    try:
        for path, value in changes:
            _check_path(path)
            smaller = list(told(_found(wanted, path), path, value))
            _put(wanted, path, value, opened)
            for inner, one in smaller:
                _write(document, inner, one, opened)
        out = _with_room(tomlkit.dumps(document), text)
    except (TOMLKitError, TypeError, ValueError, AttributeError, LookupError) as error:
        raise _by_hand(changes, str(error)) from error
    if "\r\n" in text:
        out = out.replace("\r\n", "\n").replace("\n", "\r\n")
    try:
        same = tomllib.loads(out) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise _by_hand(changes, "the file's way of writing it")
    return out


def _found(settings: dict[str, Any], path: KeyPath) -> Any:
    """What stands at a path; None where that leads nowhere."""
    at: Any = settings
    for part in path:
        inside = isinstance(at, dict) and part in at
        if not inside and not (isinstance(at, list) and isinstance(part, int) and 0 <= part < len(at)):
            return None
        at = cast(Any, at)[part]
    return at


def _as_told(there: Any, path: KeyPath, value: Any) -> Iterator[tuple[KeyPath, Any]]:
    """The change as it is."""
    yield path, value


def _smallest(there: Any, path: KeyPath, value: Any) -> Iterator[tuple[KeyPath, Any]]:
    """Smaller changes that come to the same, so that what is beside them stays as somebody wrote it."""
    if isinstance(there, dict) and isinstance(value, dict) and value:
        yield from (((*path, name), None) for name in there if name not in value)
        for name, one in value.items():
            if name not in there:
                yield (*path, name), one
            elif there[name] != one:
                yield from _smallest(there[name], (*path, name), one)
    elif _are_tables(there) and _are_tables(value):
        yield from _fewest(there, path, value)
    else:
        yield path, value


def _fewest(there: list[Any], path: KeyPath, value: list[Any]) -> Iterator[tuple[KeyPath, Any]]:
    """Of a list of tables: one that changed, some more behind it, some less. Else all of it, for a remark beside one
    would come to stand beside another."""
    first = next((k for k, (one, other) in enumerate(zip(there, value, strict=False)) if one != other), len(there))
    first, less = min(first, len(value)), len(there) - len(value)
    if less == 0 and there[first + 1 :] == value[first + 1 :]:
        for k in range(first, min(first + 1, len(value))):
            yield from _smallest(there[k], (*path, k), value[k])
    elif less > 0 and there[first + less :] == value[first:]:
        yield from (((*path, first), None) for _ in range(less))
    elif less < 0 and first == len(there):
        yield from (((*path, k), value[k]) for k in range(first, len(value)))
    else:
        yield path, value


def _are_tables(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def named(path: KeyPath) -> str:
    """'object.box.pins[0].strength'."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _put(settings: dict[str, Any], path: KeyPath, value: Any, opened: Opened) -> None:
    """The change in plain settings."""
    at: Any = settings
    for k, part in enumerate(path[:-1]):
        inner = _of(at, part, path)
        if value is None and inner is None:
            return
        if not isinstance(inner, (dict, list)):
            inner = [] if isinstance(path[k + 1], int) else dict(opened(path[: k + 1], inner))
            _set(at, part, inner)
        at = inner
    last = path[-1]
    if value is not None:
        _of(at, last, path)  # refused where it leads nowhere
        _set(at, last, copy.deepcopy(value))
    elif _of(at, last, path) is not None:
        del at[last]


def _write(document: Any, path: KeyPath, value: Any, opened: Opened) -> None:
    """The same change in the text."""
    above: Any = None
    at: Any = document
    for k, part in enumerate(path[:-1]):
        inner = _of(at, part, path)
        if value is None and inner is None:
            return
        if not isinstance(inner, (dict, list)):
            plain = [] if isinstance(path[k + 1], int) else dict(opened(path[: k + 1], inner))
            _set(at, part, _place_for(plain, at, path, k, value))
            inner = _of(at, part, path)
        above, at = at, inner
    last = path[-1]
    there = _of(at, last, path)
    if value is None:
        if there is not None:
            del at[last]
    elif there is None and isinstance(at, InlineTable):
        _set(above, path[-2], _longer(at, str(last), value))
    else:
        _set(at, last, _item(value, _has_headings(at)))


def _longer(table: InlineTable, name: str, value: Any) -> Any:
    """A table in braces with one key more; what is in it stays as it was written."""
    before = table.as_string().strip()[1:-1].strip()
    own = _written({name: value})
    return tomlkit.parse(f"x = {{ {before}, {own[1:-1].strip()} }}\n" if before else f"x = {own}\n")["x"]


def _with_room(out: str, before: str) -> str:
    """A blank line above every heading that was not there before."""
    known = set(before.splitlines())
    lines = list[str]()
    for line in out.splitlines(keepends=True):
        tight = bool(lines) and bool(lines[-1].strip()) and not lines[-1].startswith("#")
        if line.startswith("[") and line.strip() not in known and tight:
            lines.append("\n")
        lines.append(line)
    return "".join(lines)


def _place_for(plain: Any, at: Any, path: KeyPath, k: int, value: Any) -> Any:
    """What is made where a table is missing: a heading where that is outermost, one of many or gets tables, else
    braces."""
    heading = _has_headings(at)
    if isinstance(plain, list):
        return tomlkit.aot() if heading else tomlkit.array()
    if isinstance(at, AoT) or (heading and not plain and (k == 0 or isinstance(value, dict))):
        return tomlkit.table(is_super_table=isinstance(value, dict) and k > 0)
    return _item(plain, False)


def _has_headings(at: Any) -> bool:
    """Whether a table in it may have a heading, and is not in braces."""
    return not isinstance(at, (InlineTable, Array))


def _of(at: Any, part: str | int, path: KeyPath) -> Any:
    """What stands there; None for nothing."""
    if isinstance(at, list) and isinstance(part, int):
        if not 0 <= part <= len(at):
            raise input_error("the list has no such place", where=named(path), got=part, allowed=f"0 to {len(at)}")
        return at[part] if part < len(at) else None
    if isinstance(at, dict) and isinstance(part, str):
        return at.get(part)
    raise _no_table(path)


def _set(at: Any, part: str | int, value: Any) -> None:
    if hasattr(at, "append") and part == len(at):  # of tables, only a place can be as large as its list is long
        at.append(value)
    else:
        at[part] = value


def _item(value: Any, outside: bool) -> Any:
    """A value as it is to stand in the text; a table becomes one with a heading where it stands `outside` of braces."""
    if isinstance(value, dict) and outside:
        table = tomlkit.table()
        for name, one in value.items():
            table.append(name, _item(one, False))
        return table
    if isinstance(value, (dict, list)):
        return tomlkit.parse(f"x = {_written(value)}\n")["x"]
    return tomlkit.item(value)


def _written(value: Any) -> str:
    """A value on one line, or a long list of numbers on several."""
    if isinstance(value, dict):
        inside = ", ".join(f"{tomlkit.key(name).as_string()} = {_written(one)}" for name, one in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if not isinstance(value, list):
        return tomlkit.item(value).as_string()
    line = f"[{', '.join(_written(one) for one in value)}]"
    if len(line) <= _LONG or not all(isinstance(one, (int, float)) for one in value):
        return line
    return toml_text({"x": value}).removeprefix("x = ").rstrip("\n")


def _check_path(path: KeyPath) -> None:
    if not path or not isinstance(path[0], str) or any(part == "" for part in path):
        raise input_error("a change needs the path of a key", got=named(path) or "nothing")


def _no_table(path: KeyPath) -> InputError:
    return input_error("the path leads through what is no table", where=named(path))


def _by_hand(changes: Sequence[tuple[KeyPath, Any]], why: str) -> InputError:
    return input_error(
        "the file cannot be edited here", where=", ".join(named(path) for path, _ in changes), got=why,
        remedy="change it in an editor",
    )  # fmt: skip


def is_plain(value: Any) -> bool:
    """Whether a value is one that a shot file can hold and JSON can say: no NaN, no infinity, no null inside."""
    if isinstance(value, dict):
        return all(isinstance(name, str) and is_plain(one) for name, one in value.items())
    if isinstance(value, (list, tuple)):
        return all(is_plain(one) for one in value)
    return isinstance(value, (str, bool)) or (isinstance(value, (int, float)) and _is_finite(value))


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False

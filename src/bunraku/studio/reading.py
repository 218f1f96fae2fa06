"""Messages from the page, read as strictly as shots are: a sentence for whatever is not what messages.py says."""

from __future__ import annotations

import json
import typing
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, Literal, TypeVar

from bunraku.shots import is_plain

from .gate import Refusal

MOST_BYTES = 8 << 20
"""of a message in JSON"""
_Message = TypeVar("_Message")
_WORDS: dict[Any, str] = {
    str: "a text", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"
}  # fmt: skip


def read_message(kind: type[_Message], body: bytes) -> _Message:
    """The message of a body, or a Refusal that says what is wrong where."""
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_number, object_pairs_hook=_once)
    except UnicodeDecodeError:
        raise Refusal(400, "the message is not text in UTF-8") from None
    except RecursionError:
        raise Refusal(400, "the message is nested too deeply") from None
    except ValueError as error:
        raise Refusal(400, f"the message is not JSON: {str(error)[:120]}") from None
    return _read(kind, value, kind.__name__)


def _read(kind: Any, value: Any, where: str) -> Any:
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        if value is None or is_plain(value):
            return value
        raise Refusal(400, f"{where} must be a value that a shot file can hold (got {_short(value)})")
    if is_dataclass(kind):
        return _record(kind, value, where)
    if origin is tuple:
        if not isinstance(value, list):
            raise _wrong(where, value, "a list")
        return tuple(_read(inside[0], one, f"{where}[{k}]") for k, one in enumerate(value))
    if origin is Literal:
        if value not in inside or isinstance(value, bool):
            raise _wrong(where, value, ", ".join(map(repr, inside)))
        return value
    if origin in (UnionType, typing.Union):
        for one in inside:
            if _fits(one, value):
                return _read(one, value, where)
        raise _wrong(where, value, " or ".join(_WORDS.get(one, str(one)) for one in inside))
    if not _fits(kind, value):
        raise _wrong(where, value, _WORDS[kind])
    return value


def _record(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(where, value, "an object")
    types, known = typing.get_type_hints(kind), [one.name for one in fields(kind)]
    if unknown := [name for name in value if name not in known]:
        raise Refusal(400, f"{where} has an unknown key (got {_short(unknown[0])}; allowed: {', '.join(known)})")
    if missing := [name for name in known if name not in value]:
        raise Refusal(400, f"{where}.{missing[0]} is missing")
    return kind(**{name: _read(types[name], value[name], f"{where}.{name}") for name in known})


def _fits(kind: Any, value: Any) -> bool:
    if kind is float:  # 1e999 is JSON, and infinite
        return isinstance(value, (int, float)) and not isinstance(value, bool) and is_plain(value)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)


def _wrong(where: str, value: Any, allowed: str) -> Refusal:
    return Refusal(400, f"{where} is of the wrong kind (got {_short(value)}; allowed: {allowed})")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is said twice")
    return found

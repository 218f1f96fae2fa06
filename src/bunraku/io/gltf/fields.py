"""Objects of a JSON file whose every field is checked as it is taken."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from bunraku.contracts import InputError, Vector, input_error

_REMEDY = "export it again, or see what the Khronos glTF validator says"
_LARGEST_INTEGER = 2**53


@dataclass(frozen=True, eq=False)
class Entry:
    """An object of the file, and where it stands."""

    values: dict[str, Any]
    where: str
    """'file.glb, accessors[3]'"""

    def has(self, key: str) -> bool:
        return key in self.values

    def integer(self, key: str, default: int | None = None) -> int:
        """A whole number from 0."""
        value = self._value(key, default, "a whole number")
        if type(value) is float and value.is_integer():  # 3.0 is met in the wild
            value = int(value)
        if type(value) is not int or not 0 <= value <= _LARGEST_INTEGER:
            self.refuse(f"{key!r} must be a whole number from 0", value)
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """A string; lone surrogates and control characters, which cannot be shown, are replaced."""
        value = self._value(key, default, "a text")
        if not isinstance(value, str):
            self.refuse(f"{key!r} must be a text", value)
        return "".join(c if c.isprintable() else "_" for c in value) if not value.isprintable() else value

    def flag(self, key: str) -> bool:
        """True or false; false where it is not given."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            self.refuse(f"{key!r} must be true or false", value)
        return value

    def numbers(self, key: str, count: int | None = None) -> Vector:
        """(m,) finite numbers; `count` of them where given."""
        value = self.values.get(key)
        wanted = f"a list of {'' if count is None else f'{count} '}finite numbers"
        if not isinstance(value, list) or (count is not None and len(value) != count):
            self.refuse(f"{key!r} must be {wanted}", value)
        # Not np.asarray of the list as it is: strings and nested lists would pass, huge integers would not.
        if not all(type(one) in (int, float) and abs(one) < 1e300 and math.isfinite(one) for one in value):
            self.refuse(f"{key!r} must be {wanted}", value)
        return np.array(value, dtype=np.float64)

    def integers(self, key: str) -> list[int]:
        """Whole numbers from 0; [] where the field is not given."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(type(one) is int and 0 <= one <= _LARGEST_INTEGER for one in value):
            self.refuse(f"{key!r} must be a list of whole numbers from 0", value)
        return value

    def texts(self, key: str) -> list[str]:
        """Strings; [] where the field is not given."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self.refuse(f"{key!r} must be a list of texts", value)
        return value

    def entry(self, key: str) -> Entry:
        """An object; an empty one where the field is not given."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            self.refuse(f"{key!r} must be an object", value)
        return Entry(value, f"{self.where}.{key}" if self.where else key)

    def entries(self, key: str) -> list[Entry]:
        """The objects of a list; [] where the field is not given."""
        count = self.count(key)
        return [self.at(key, k) for k in range(count)]

    def count(self, key: str) -> int:
        """Length of a list; 0 where the field is not given."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            self.refuse(f"{key!r} must be a list", value)
        return len(value)

    def at(self, key: str, index: int) -> Entry:
        """One object of a list."""
        value = self.values[key][index]
        if not isinstance(value, dict):
            self.refuse(f"{key}[{index}] must be an object", value)
        return Entry(value, f"{self.where}, {key}[{index}]")

    def refuse(self, what: str, got: object = None, allowed: str = "", remedy: str = _REMEDY) -> NoReturn:
        """Raise the refusal of this object."""
        raise self.error(what, got, allowed, remedy)

    def error(self, what: str, got: object = None, allowed: str = "", remedy: str = _REMEDY) -> InputError:
        """The refusal of this object."""
        plain = got is None or isinstance(got, float) or (isinstance(got, int) and abs(got) < 10**20)
        short = got if plain else shown(got)
        return input_error(what, where=self.where, got=short, allowed=allowed, remedy=remedy)

    def _value(self, key: str, default: object, wanted: str) -> Any:
        if key not in self.values and default is None:
            self.refuse(f"{key!r} is missing", allowed=wanted)
        return self.values.get(key, default)


def shown(value: object) -> str:
    """A value in a message: short, and lists (which may be nested deeply) by their length."""
    if isinstance(value, (list, dict)):
        flat = isinstance(value, list) and len(value) <= 16 and not any(isinstance(v, (list, dict)) for v in value)
        if not flat:
            return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)} values"
    text = "a huge number" if isinstance(value, int) and abs(value) > 10**20 else str(value)[:500]
    text = text if text.isprintable() else repr(text)[1:-1]
    return text if len(text) <= 80 else text[:77] + "..."


def parse(data: bytes, where: str) -> Entry:
    """The JSON object of a file. NaN and Infinity, which JSON does not have, are refused."""

    def refuse_constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not a JSON number")

    try:
        value = json.loads(data.decode("utf-8-sig"), parse_constant=refuse_constant)
    except RecursionError:
        raise input_error("is nested too deeply", where=where, remedy=_REMEDY) from None
    except ValueError as error:  # of the syntax, the encoding, and of numbers with thousands of digits
        reason = str(error).splitlines()[0]
        raise input_error("is no valid JSON", where=where, got=shown(reason), remedy=_REMEDY) from None
    if not isinstance(value, dict):
        raise input_error("is no glTF, its JSON is not an object", where=where, got=shown(value), remedy=_REMEDY)
    return Entry(value, where)

# SPDX-License-Identifier: GPL-3.0-or-later
"""A shot's tables as TOML: strings, numbers, lists and tables are all it needs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from .refusal import Refusal


def toml_text(tables: Mapping[str, Any]) -> str:
    """The text of nested tables: those of two levels get a heading, what is deeper stands in a line."""
    lines: list[str] = []
    for name, table in tables.items():
        flat = {key: value for key, value in table.items() if not _is_named_group(name, value)}
        if flat:
            lines += _table(_key(name), flat)
        for key, value in table.items():
            if key not in flat:
                lines += _table(f"{_key(name)}.{_key(key)}", value)
    return "\n".join(lines) + "\n"


def _is_named_group(name: str, value: Any) -> bool:
    return name == "object" and isinstance(value, Mapping)


def _table(heading: str, values: Mapping[str, Any]) -> list[str]:
    return [f"[{heading}]", *(f"{_key(key)} = {_value(value)}" for key, value in values.items()), ""]


def _key(text: str) -> str:
    bare = text.isascii() and text.replace("_", "").replace("-", "").isalnum()
    return text if bare else _string(text)


def _string(text: str) -> str:
    # JSON escapes what lies beyond the basic plane in pairs, which TOML does not take: it stands as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Refusal(f"a number of the shot is not finite (got {value})")
        return repr(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items()) + " }"
    return "[" + ", ".join(_value(one) for one in value) + "]"

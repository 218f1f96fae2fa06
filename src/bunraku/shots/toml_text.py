"""Shots as people would write them: numbers that belong together on a line."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import Any

import tomli_w

_LINE = 110  # letters of a line of numbers
_NUMBERS = re.compile(r"\[\n((?:[ ]*[-+.0-9A-Za-z_]+,\n)+)([ ]*)\]")
"""an array of nothing but numbers (inf, nan, true, false), each on a line of its own; strings have no line breaks"""


def toml_text(settings: Mapping[str, Any]) -> str:
    """Settings as TOML."""
    return _NUMBERS.sub(_joined, tomli_w.dumps(settings))


def _joined(found: re.Match[str]) -> str:
    """The array in one line, or in as many as it fills."""
    numbers, indent = ", ".join(part.strip().rstrip(",") for part in found[1].splitlines()), found[2]
    if len(indent) + len(numbers) <= _LINE:
        return f"[{numbers}]"
    inner = f"{indent}    "
    lines = textwrap.wrap(numbers, _LINE, initial_indent=inner, subsequent_indent=inner, break_long_words=False)
    return "[\n" + "\n".join(lines) + f",\n{indent}]"

"""What each number of a material may be, and what it means: for whoever offers them as knobs."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from dataclasses import dataclass
from functools import cache

from .shell import BOUNDS, KEYABLE, WEIGHT, ShellMaterial
from .solid import BOUNDS as SOLID_BOUNDS
from .solid import SolidMaterial

_UNIT = re.compile(r"\s*\[[^\]]*\]")


@dataclass(frozen=True)
class Range:
    """One number of a material."""

    low: float
    closed: bool
    """whether `low` itself is allowed"""
    high: float
    unit: str
    doc: str
    keyable: bool


@cache
def shell_ranges() -> dict[str, Range]:
    """The numbers of `ShellMaterial` by name, with the weight that may stand for its density."""
    told = {**_told(ShellMaterial), "weight": "instead of density: mass per area, as cloth is sold"}
    all_bounds = {**BOUNDS, "weight": WEIGHT}
    return {name: _range(bounds, told[name], name in KEYABLE) for name, bounds in all_bounds.items()}


@cache
def solid_ranges() -> dict[str, Range]:
    """The numbers of `SolidMaterial` by name."""
    told = _told(SolidMaterial)
    return {name: _range(bounds, told[name], False) for name, bounds in SOLID_BOUNDS.items()}


def _range(bounds: tuple[float, bool, float, str], doc: str, keyable: bool) -> Range:
    low, closed, high, unit = bounds
    return Range(low, closed, high, unit, doc, keyable)


def _told(of: type) -> dict[str, str]:
    """What stands under each field of a class, without its unit."""
    body = ast.parse(textwrap.dedent(inspect.getsource(of))).body[0]
    assert isinstance(body, ast.ClassDef)
    told: dict[str, str] = {}
    for field, after in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            said = ast.literal_eval(after.value) if isinstance(after, ast.Expr) else ""
            told[field.target.id] = _UNIT.sub("", said).replace("`", "").strip() or field.target.id
    return told

"""The numbers of a wedge: a row a combination, a column for each value that varies and each number its shots have."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.contracts import Vector

from .charts import CHARTS, MORE, Chart, worth_showing
from .folder import TakeFolder
from .timings import Timings
from .wedge_book import Book, Entry
from .wedge_vary import short_names, value_text

_LEAST, _MEAN = ("closest",), ("iterations",)
"""curves of which the smallest value matters, or the mean; of all others the largest does"""
_LEFT_OUT = ("strength", "intersections", "exposure", "converged", "last_step", "gravity")
"""what was asked for, what is counted whether or not there is any, and what tells a developer only"""
_TITLES = {
    "residual_m": "missed by", "residual_in_file_m": "missed by, in the file", "pin_residual_m": "pins missed by",
    "muscle_residual_m": "muscles missed by", "rotation_residual": "turn missed by", "force_N": "largest force",
}  # fmt: skip
_COUNTED = {
    "missed": ("frames missed", ""), "gave_way": ("frames yielded", ""), "intersections": ("triangles that cross", ""),
    "frames": ("frames", ""), "seconds": ("time", "s"), "vertices": ("vertices", ""),
}  # fmt: skip
_ALWAYS = ("residual_m", "force_N", "intersections", "seconds")
"""numbers that are shown even where all takes have the same"""


@dataclass(frozen=True)
class Column:
    """A number of every take, or a value that varies."""

    name: str
    title: str
    unit: str = ""
    varied: bool = False

    @property
    def heading(self) -> str:
        """'largest force of direction [N]'."""
        return f"{self.title} [{self.unit}]" if self.unit else self.title


@dataclass(frozen=True)
class Row:
    """A combination."""

    entry: Entry
    verdict: str
    """in words"""
    tone: str
    """"met", "missed", "yielded" or "note\""""
    cells: Mapping[str, Any]
    """column → number or text; what a take does not have is left out"""


@dataclass(frozen=True)
class WedgeTable:
    """All of it."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def telling(self) -> list[Column]:
        """Columns without those in which all takes say the same."""
        return [
            one for one in self.columns
            if one.varied or one.name in _ALWAYS or len({repr(row.cells.get(one.name)) for row in self.rows}) > 1
        ]  # fmt: skip

    def csv(self, folder: Path) -> str:
        """As a file for spreadsheets; folders relative to the one it lies in."""
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(["take", "folder", "outcome", "verdict", *(one.heading for one in self.columns)])
        for row in self.rows:
            where = os.path.relpath(row.entry.folder, folder)
            lines.writerow(
                [row.entry.name, where, row.entry.outcome, row.verdict]
                + [_plain(row.cells.get(one.name)) for one in self.columns]
            )
        return text.getvalue()


def table_of(book: Book) -> WedgeTable:
    """The numbers of a wedge as far as its takes have come, from their reports."""
    names = short_names(list(book.vary))
    varied = [Column(key, names[key], varied=True) for key in book.vary]
    found = [_numbers(entry) for entry in book.entries]
    known = {name for _, numbers in found for name in numbers}
    columns = [one for one in _columns() if one.name in known]
    rows = []
    for entry, (report, numbers) in zip(book.entries, found, strict=True):
        verdict, tone = _verdict(entry, report)
        rows.append(Row(entry, verdict, tone, {**{key: entry.values[key] for key in book.vary}, **numbers}))
    return WedgeTable((*varied, *columns), tuple(rows))


def _columns() -> list[Column]:
    """Every number a take may have, the most interesting first."""
    curves = {name: one for one in (*CHARTS, *MORE) for name, _ in one.lines}
    first = [name for name in _TITLES if name in curves]
    rest = [one for name in (*first, *(name for name in curves if name not in (*first, *_LEFT_OUT)))
            if (one := Column(name, _title(name, curves[name]), curves[name].unit))]  # fmt: skip
    counted = [Column(name, title, unit) for name, (title, unit) in _COUNTED.items()]
    return [*rest[: len(first)], *counted, *rest[len(first) :]]


def _title(name: str, one: Chart) -> str:
    """Short, for a column."""
    if name in _TITLES:
        return _TITLES[name]
    label = dict(one.lines)[name]
    said = f"{label} energy" if one.unit == "J" and label else one.title
    how = "least" if name in _LEAST else "mean" if name in _MEAN else ""
    return f"{said}, {how}" if how else said


def _numbers(entry: Entry) -> tuple[dict[str, Any], dict[str, float]]:
    """The report of a take and its numbers; empty where there is none that can be read."""
    take = TakeFolder(entry.folder)
    try:
        report = json.loads(take.report.read_text(encoding="utf-8"))
        curves = {str(name): np.array(values, float) for name, values in report["per_frame"].items()}
        facts, frames = report["facts"], len(report["frames"])
        crossing = report["intersections"]
        found: dict[str, float] = {
            "missed": len(report["missed_frames"]), "gave_way": len(report["yielded_frames"]), "frames": frames,
            "vertices": facts["vertices"],
        }  # fmt: skip
        if crossing is not None:
            found["intersections"] = max(crossing["per_frame"], default=0)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}, {}
    for name, values in worth_showing(curves, bool(facts.get("regions"))).items():
        if (number := _one_number(name, values)) is not None and name not in _LEFT_OUT:
            found[name] = number
    if (seconds := Timings.of(take.timings).total) > 0.0:
        found["seconds"] = seconds
    return report, found


def _one_number(name: str, values: Vector) -> float | None:
    """What stands for a curve (t,)."""
    good = values[np.isfinite(values)] if values.ndim == 1 else values[:0]
    if not len(good):
        return None
    return float(good.min() if name in _LEAST else good.mean() if name in _MEAN else good.max())


def _verdict(entry: Entry, report: Mapping[str, Any]) -> tuple[str, str]:
    """What became of a combination, in words and as a colour."""
    words = {
        "waiting": "not made yet", "interrupted": "interrupted", "refused": "could not be made", "fault": "failed",
        "lost": "its workers died", "stopped": "stopped by physics",
    }  # fmt: skip
    if entry.outcome in words:
        return words[entry.outcome], "note" if entry.outcome in ("waiting", "interrupted") else "missed"
    kinds = {one.get("kind") for one in report.get("told", []) if isinstance(one, dict)}
    if "missed" in kinds:
        return "direction missed", "missed"
    if "yielded" in kinds:
        return "yielded to a cap", "yielded"
    return ("direction met", "met") if report.get("direction_met") else ("finished", "note")


def number_text(value: Any) -> str:
    """A cell as a page says it."""
    if value is None:
        return "—"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "0" if value == 0 else f"{value:.3g}" if abs(value) < 1e5 and abs(value) >= 1e-3 else f"{value:.2g}"
    return value_text(value)


def sortable(value: Any) -> float | str:
    """What a cell is sorted by."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return float(value) if isinstance(value, (int, float)) else value_text(value)


def _plain(value: Any) -> Any:
    return "" if value is None else value if isinstance(value, (int, float, str)) else value_text(value)


def verdicts(rows: Sequence[Row]) -> dict[str, int]:
    """Verdict → how many takes have it."""
    found: dict[str, int] = {}
    for row in rows:
        found[row.verdict] = found.get(row.verdict, 0) + 1
    return found

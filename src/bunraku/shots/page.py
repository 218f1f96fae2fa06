"""The page of a take: one HTML file that opens without a server and loads nothing from outside its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib import resources
from typing import Any

from .charts import CHARTS, worth_showing
from .curves import Line, chart
from .report import Measured, Report, Sentence, TakeOutcome, per_frame
from .wording import length, on

_MARKS = {"met": "✓", "missed": "!", "yielded": "~", "note": "·"}
_REGIONS = "regions that obey the guide"
_MOST_YIELDED = 20  # regions on the page; all of them are in report.json


@dataclass(frozen=True, eq=False)
class Page:
    """What the page shows."""

    report: Report
    version: str
    shot_text: str
    """the resolved shot file"""
    provenance: Mapping[str, Any]
    seconds: float
    """all frames together took [s]"""
    video: bool
    """whether there is a preview"""
    forces: bool = False
    """whether there is a picture of the forces of direction"""

    def html(self) -> str:
        """The whole page."""
        style = resources.files("bunraku.shots").joinpath("page.css").read_text(encoding="utf-8")
        title = escape(f"{self.report.shot} {self.version}")
        return (
            f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title} · bunraku</title>\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>\n{style}</style>\n</head>\n'
            f"<body>\n<main>\n{self._head()}\n{self._told()}\n{self._pictures()}\n{self._yielded()}\n{self._curves()}\n{self._facts()}\n"
            f"{self._origin()}\n</main>\n</body>\n</html>\n"
        )

    def _head(self) -> str:
        word, tone = _verdict(self.report)
        frames = self.report.measured.frames
        span = f"frames {frames[0]:g}–{frames[-1]:g}" if len(frames) else "no frames"
        return (
            f'<header><h1>{escape(self.report.shot)} <span class="version">{escape(self.version)}</span></h1>'
            f'<p><span class="badge {tone}">{word}</span> {span} of <b>{escape(self.report.object)}</b></p></header>'
        )

    def _told(self) -> str:
        items = "".join(_item(sentence) for sentence in self.report.sentences)
        animations = [name.split("/")[0] for names in self.report.animations.values() for name in names]
        names = [*animations, "report.json", "shot.toml", "provenance.json", "run.log"]
        links = " · ".join(f'<a href="{escape(name)}">{escape(name)}</a>' for name in names)
        return (
            f'<section aria-label="What was met and what was missed"><ul class="told">{items}</ul>'
            f'<p class="quiet">{links}</p></section>'
        )

    def _pictures(self) -> str:
        if not self.video:
            return '<p class="quiet">No preview was made.</p>'
        forces = (
            '<a href="forces.png"><img src="forces.png" alt="The force of direction on each region"></a>'
            if self.forces
            else ""
        )
        return (
            '<section aria-label="Preview"><video src="preview.mp4" controls loop muted playsinline preload="metadata">'
            '</video><a href="contact_sheet.png">'
            f'<img src="contact_sheet.png" alt="Guide above result at eight moments"></a>{forces}</section>'
        )

    def _yielded(self) -> str:
        if not self.report.yielded:
            return ""
        rows = [
            (one.region, f"{length(one.farthest)} away at most, {on(one.frames)}")
            for one in self.report.yielded[:_MOST_YIELDED]
        ]
        left = len(self.report.yielded) - len(rows)
        more = f'<p class="quiet">… and {left} more, all in report.json</p>' if left else ""
        return f"<section><h2>Regions that yielded</h2><table>{_rows(rows)}</table>{more}</section>"

    def _curves(self) -> str:
        m = self.report.measured
        if len(m.frames) < 2:
            return ""
        return f'<section class="curves" aria-label="Curves">{"".join(_charts(m))}</section>'

    def _facts(self) -> str:
        facts = self.report.measured.facts
        rows = [
            ("vertices", facts.get("vertices")), ("faces", facts.get("faces")), ("tetrahedra", facts.get("tets")),
            (_REGIONS if "wavelength" not in facts else "handles", facts.get("regions")),
            ("wavelength", f"{facts['wavelength']:.4g} m" if "wavelength" in facts else None),
            ("cells inside", facts.get("elements")), ("mass", f"{facts.get('mass', 0):.4g} kg"),
            ("size", f"{self.report.measured.size:.4g} m"), ("frames per second", f"{facts['rate']:g}"),
            ("numbers are counted from", f"({', '.join(f'{c:g}' for c in facts['origin'])}) m"),
            ("time for all frames", f"{self.seconds:.1f} s"), ("linear solver", self.provenance.get("solver")),
            ("threads", self.provenance.get("threads")),
        ]  # fmt: skip
        rows = [(name, value) for name, value in rows if value is not None]
        return f"<section><h2>Facts</h2><table>{_rows(rows)}</table></section>"

    def _origin(self) -> str:
        inputs = [(one["key"], f"{one['path']} — {one['sha256'][:16]}…") for one in self.provenance["inputs"]]
        versions = list(self.provenance["versions"].items())
        again = [("resumed", text) for entry in self.provenance["resumed"] for text in _resumption(entry)]
        return (
            f"<section><h2>Where it comes from</h2><table>{_rows([*inputs, *again])}</table>"
            "<details><summary>The shot, every default written out</summary>"
            f"<pre>{escape(self.shot_text)}</pre></details>"
            f"<details><summary>Versions</summary><table>{_rows(versions)}</table></details></section>"
        )


def _verdict(report: Report) -> tuple[str, str]:
    if report.outcome is TakeOutcome.STOPPED:
        return "stopped by physics", "missed"
    if report.crossed:
        return "surfaces intersect", "missed"
    if report.missed:
        return "direction missed", "missed"
    if (yielded := int(report.measured.yielded.sum())) > 0:
        return f"yielded on {yielded} of {len(report.measured.frames)} frames", "yielded"
    directed = report.measured.directed.any() or report.measured.keys
    return ("direction met", "met") if directed else ("finished", "note")


def _item(sentence: Sentence) -> str:
    return f'<li class="{sentence.kind}"><i aria-hidden="true">{_MARKS[sentence.kind]}</i>{escape(sentence.text)}</li>'


def _charts(m: Measured) -> list[str]:
    curves = worth_showing(per_frame(m), m.regions > 0)
    return [
        chart(one.title, one.unit, m.frames, lines, log=one.log)
        for one in CHARTS
        if (lines := [Line(label or one.title, curves[name]) for name, label in one.lines if name in curves])
    ]


def _resumption(entry: Mapping[str, Any]) -> list[str]:
    changed = "; ".join(entry["differences"]) or "under the same circumstances"
    return [f"after {entry['done']} frames, {changed}"]


def _rows(rows: list[tuple[str, Any]]) -> str:
    return "".join(f"<tr><th>{escape(str(name))}</th><td>{escape(str(value))}</td></tr>" for name, value in rows)

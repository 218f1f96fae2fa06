"""Everything made from finished frames: animation files, preview, report, page."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.contracts import BunrakuError, InputError, OutputError, Vector
from bunraku.direction import Frame
from bunraku.io import write_json, write_text
from bunraku.render import LOOKING, moments, write_png

from .animations import agree, animation_files, as_kept, prim_of, read_back, write_animation_file
from .contact_sentences import kept_off_regions
from .drawn import Drawn
from .events import Event, Noticed, PictureDone, Preparing
from .folder import TakeFolder, point_latest
from .force_sheet import force_sheet
from .intersections import count_intersections
from .kept import each, kept
from .page import Page
from .prepared import Prepared, Written
from .preview import Pair, Preview
from .report import Measured, Report, TakeOutcome, distances, measure
from .scenery import Scenery
from .sentences import sentences
from .timings import Timings
from .yielded import yielded_regions

_log = logging.getLogger(__name__)
_MOMENTS = 8  # of the forces' picture

_CONTENTS = {
    "index.html": "the report to look at: video, curves, what was met",
    "preview.mp4": "guide and result, beside or above each other",
    "contact_sheet.png": "both at eight moments",
    "forces.png": "how hard the guide pulls at each region",
    "report.json": "the same numbers for a program",
    "timings.json": "how long each frame took",
    "shot.toml": "the shot with every default written out",
    "provenance.json": "input hashes, versions, solver",
    "run.log": "everything that was said",
    "scene": "guide, obstacles and regions as a reviewer needs them",
    "frames": "finished frames in double precision; --resume carries on from them",
}


_SHAPE = "a shape that the shot file names"
_BESIDE = {
    ".toml": "the shot file, to change and to run again",
    ".msh": "the body's tetrahedra",
    **dict.fromkeys((".obj", ".usda", ".usdc"), _SHAPE),
}
"""what a demo puts beside its take, by its suffix"""


@dataclass(frozen=True, eq=False)
class Outputs:
    """The files of one take."""

    prepared: Prepared
    take: TakeFolder
    facts: dict[str, Any]
    """the job's"""
    timings: Timings
    tell: Callable[[Event], None]

    def make(self, done: int, story: str, *, again: bool = True) -> Report:
        """Write everything for `done` frames; without `again` only what is missing."""
        names = animation_files(self.prepared) if done > self.prepared.preroll else {}
        for one in self.prepared.written:
            for name in names.get(one.name, ()):
                if again or not as_kept(self.take.path, name, self.prepared, one, self._frames(done)):
                    self._stage(f"writing {name}", lambda name=name, one=one: self._write_animation(name, one, done))
        report = self._report(done, story, names)
        if names and self.prepared.shot.output.preview and (again or not self._previewed()):
            self._stage("rendering the preview", lambda: self._preview(done, report.measured.force))
        write_json(self.take.report, report.as_json(), changed_only=True)
        self.timings.save()
        if again or not self.take.page.exists():
            write_text(self.take.page, self._page(report).html())
        point_latest(self.take)
        return report

    def _frames(self, done: int) -> Iterator[Frame]:
        return each(self.take.cache(), self.prepared.preroll, done)

    def _write_animation(self, name: str, one: Written, done: int) -> None:
        drawn = Drawn.of(self.prepared, self._frames(done))
        write_animation_file(self.take.path, name, self.prepared, one, self._frames(done), drawn)

    def _previewed(self) -> bool:
        return self.take.video.exists() and self.take.sheet.exists()

    def _report(self, done: int, story: str, names: dict[str, tuple[str, ...]]) -> Report:
        before = each(self.take.cache(), 0, min(done, self.prepared.preroll))
        measured = measure(self.prepared, self._frames(done), self.facts, before)
        for one in self.prepared.written:
            for name in names.get(one.name, ()):
                measured = self._measured_in_file(measured, name, one, done)
        if self.prepared.shot.output.checked:
            measured = replace(measured, intersections=count_intersections(self.prepared, self._frames(done)))
        return Report(
            shot=self.prepared.shot.name, object=self.prepared.name,
            outcome=TakeOutcome.STOPPED if story else TakeOutcome.FINISHED, story=story, measured=measured,
            sentences=sentences(self.prepared, measured, story),
            yielded=yielded_regions(self.prepared, measured), animations=names, prims=self._prims(names),
            kept_off=kept_off_regions(self.prepared, measured), contact=self.prepared.contact.table is not None,
        )  # fmt: skip

    def _prims(self, names: dict[str, tuple[str, ...]]) -> dict[str, str]:
        """File → prim, of the formats that have prims."""
        each = ((name, prim_of(one, name)) for one in self.prepared.written for name in names.get(one.name, ()))
        return {name: prim for name, prim in each if prim is not None}

    def _measured_in_file(self, measured: Measured, name: str, one: Written, done: int) -> Measured:
        """With what a written file says, where it is further from the guide than the files before."""
        try:
            written = tuple(read_back(self.take.path, name, self.prepared, one))
        except InputError as error:
            raise OutputError(f"what was just written cannot be read back: {error}") from error
        if not agree(self.prepared, one, self._frames(done), written):
            raise OutputError(f"{self.take.path / name}: does not say what was written to it; try: another disk")
        found = distances(self.prepared, (one.going.vertices_from(points) for points in written))
        if found is None:
            return measured
        before, exact = measured.in_file, measured.exact  # the file is named for the regions that had to be met
        if before is None or found[exact].max(initial=0.0) > before[exact].max(initial=0.0):
            measured = replace(measured, worst_file=name)
        return replace(measured, in_file=found if before is None else np.maximum(before, found))

    def _preview(self, done: int, force: Vector) -> None:
        """A preview that cannot be made is no reason to lose a take."""
        p, cache = self.prepared, self.take.cache()
        numbers = p.numbers[p.preroll : done]
        scenery = Scenery(p.contact.obstacles, p.contact.planes, p.ground)
        obstacles, faces = scenery.around(p.guide.points[p.preroll], LOOKING)

        def pair(k: int) -> Pair:
            frame = kept(cache, p.preroll + k)
            there = np.concatenate([np.zeros((0, 3)), *(one.at(frame.time) for one in obstacles)])
            return Pair(float(numbers[k]), p.beside(frame), p.vertices(frame.points), there)

        title = f"{p.shot.name} {self.take.version}"
        film = Preview(
            p.guide.mesh.faces, p.shell.faces, numbers, pair, title, p.clip.rate, faces, scenery.floor,
            (p.told, p.shown), p.alike, p.rounded,
        )  # fmt: skip
        unheard: list[Exception] = []

        def told(k: int, count: int) -> None:
            try:
                self.tell(PictureDone(k, count))
            except Exception as error:  # a listener may stop the run
                unheard.append(error)
                raise

        try:
            film.make(self.take.video, self.take.sheet, told)
            self._forces(done, force)
        except Exception as error:
            if unheard:
                raise
            why = str(error) if isinstance(error, BunrakuError) else f"unexpected {type(error).__name__}: {error}"
            _log.info("no preview: %s", why, exc_info=not isinstance(error, BunrakuError))
            self.tell(Noticed(f"no preview was made: {why}"))

    def _forces(self, done: int, force: Vector) -> None:
        """At moments evenly spread and at that of the largest force (t,) [N], which ends the scale."""
        p, cache = self.prepared, self.take.cache()
        if p.functions is None or not p.forces:
            return
        chosen = [int(k) for k in np.union1d(moments(done - p.preroll, _MOMENTS - 1), np.argmax(force))]
        frames = [kept(cache, p.preroll + k) for k in chosen]
        sheet = force_sheet(p, frames, [float(p.numbers[p.preroll + k]) for k in chosen], float(force.max()))
        if sheet is not None:
            write_png(self.take.forces, sheet)

    def _page(self, report: Report) -> Page:
        return Page(
            report=report, version=self.take.version, shot_text=self.take.shot.read_text(encoding="utf-8"),
            provenance=self.take.read_provenance(), seconds=self.timings.total, video=self._previewed(),
            forces=self.take.forces.exists(),
        )  # fmt: skip

    def _stage(self, name: str, work: Callable[[], None]) -> None:
        self.tell(Preparing(name))
        begin = time.perf_counter()
        work()
        self.timings.stages[name] = time.perf_counter() - begin


@dataclass(frozen=True)
class Content:
    """Something in a take's folder."""

    name: str
    about: str
    size: int
    """[bytes]"""


def contents(folder: Path, objects: Iterable[str]) -> list[Content]:
    """What is in a take's folder, the most interesting first."""
    names = list(objects)
    of = {name: "the animation" if len(names) == 1 else f"the animation of {name}" for name in names}
    about = {f"{name}.{kind}": of[name] for name in names for kind in ("usdc", "usda", "pc2", "mdd", "glb")}
    about |= {f"{name}.obj": "the rest shape that belongs to the .pc2 or .mdd" for name in names}
    about |= {kind: "the animation, a file a frame" for kind in ("obj", "ply")}
    known = {**about, **_CONTENTS}
    found = [name for name in known if (folder / name).exists()]
    others = sorted(one.name for one in folder.iterdir() if one.name not in known and not one.name.startswith("."))
    return [Content(name, known.get(name, _guess(name)), _size(folder / name)) for name in [*found, *others]]


def _guess(name: str) -> str:
    """About the files a demo puts beside its take."""
    if name == "takes":
        return "what bodies are made of, kept for the next take"
    if Path(name).stem.endswith("guide"):
        return "the guide"
    return _BESIDE.get(Path(name).suffix, "")


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())

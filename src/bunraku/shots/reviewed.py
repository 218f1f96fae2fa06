"""A take folder as a reviewer sees it: what is there already, while a run still writes into it and years later.

Nothing is ever written or removed here. Frames are looked for by their names, for a frame is there whole or not at all;
several threads may ask at once.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.contracts import Array, Points, Vector, input_error
from bunraku.io import is_complete, is_there, read_some_arrays

from .charts import CHARTS, MORE, worth_showing
from .folder import TakeFolder, takes_of
from .lock import LOCK, is_held
from .provenance import spelled_out
from .report import FORCE, MET, Measured, Sentence, TakeOutcome, per_frame, pushed_away
from .scene import Scene, read_scene
from .scene_check import is_cloud
from .stopping import ask_to_stop

_log = logging.getLogger(__name__)
RUNNING, INTERRUPTED = "running", "interrupted"
_FAR = 10**12  # no frame has such a number
_RECENT = 10  # frames from whose times the pace is taken
_KINDS = ("met", "missed", "yielded", "note")
_REMEDY = "delete it and resume, so that it is computed again"


class ReviewedTake:
    """One take. Frames are counted from 0 by their place among the written ones, preroll left out."""

    def __init__(self, take: TakeFolder, scene: Scene, provenance: Mapping[str, Any]) -> None:
        self.take, self.scene, self.provenance = take, scene, provenance
        self._guard = threading.RLock()
        self._kept = 0
        self._begun: tuple[int, int] | None = None
        self._warned: set[Path] = set()
        self._reports: list[dict[str, NDArray[Any]]] = []
        self._told: tuple[tuple[int, int], dict[str, Any]] | None = None
        self._measured: Measured | None = None

    @property
    def name(self) -> str:
        """'box v003'."""
        return f"{self.scene.meta['shot']} {self.take.version}"

    @property
    def object(self) -> str:
        """What is simulated."""
        return str(self.scene.meta["object"])

    @property
    def count(self) -> int:
        """Frames to make in all, preroll included."""
        return self.scene.preroll + len(self.scene.numbers)

    @property
    def state(self) -> str:
        """Whether a run writes, every frame was made, physics stopped it, or its run ended early."""
        if is_held(self.take.path):
            return RUNNING
        outcome = self._report().get("outcome")
        return outcome if outcome in [one.name.lower() for one in TakeOutcome] else INTERRUPTED

    @property
    def done(self) -> int:
        """Frames that are made, preroll included, up to one that is damaged."""
        with self._guard:
            begun = _stamp(self._path(0))
            if begun != self._begun or (self._kept and _stamp(self._path(self._kept - 1)) is None):  # begun anew since
                self._begun, self._kept, self._measured = begun, 0, None
                self._reports.clear()
            while self._kept < self.count and self._whole(self._path(self._kept)):
                self._kept += 1
            return self._kept

    def _whole(self, path: Path) -> bool:
        """Whether a frame is there; one that was cut short by a power cut is told of once."""
        if _stamp(path) is None:
            return False
        if is_complete(path):
            return True
        if path not in self._warned and _stamp(path) is not None:  # it may have been removed just now
            self._warned.add(path)
            _log.warning("%s is damaged, so nothing is shown from there on; --resume makes it again", path)
        return False

    @property
    def ready(self) -> int:
        """Written frames that are made, from the first."""
        return max(self.done - self.scene.preroll, 0)

    @property
    def seconds_left(self) -> float | None:
        """[s] until the last frame, from the pace of the last ones; None where nobody knows or nothing is made."""
        done = self.done
        if done == self.count or not is_held(self.take.path):
            return None
        try:
            times = [self._path(k).stat().st_mtime for k in range(max(done - _RECENT, 0), done)]
            begun = (self.take.path / LOCK).stat().st_mtime
        except OSError:
            return None
        if len(times) < 3:
            return None
        pace = float(np.median(np.diff(times)))  # the median: a run may have been interrupted in between
        worked = time.time() - max(times[-1], begun)  # at the frame to come, by the run that goes on now
        return pace * (self.count - done) - min(max(worked, 0.0), pace)

    def stop(self) -> bool:
        """Ask the run that writes into the take to stop; False where none does."""
        return ask_to_stop(self.take.path)

    def points(self, k: int) -> Points:
        """(n, 3) [m] of the result, about the scene's origin."""
        points, carrier = self.simulated(k), self.scene.carrier
        return points if carrier is None else np.asarray(carrier @ points)

    def simulated(self, k: int) -> Points:
        """(s, 3) [m] of the points that are simulated: of bodies the nodes of their tetrahedra."""
        found, carrier = self._part(k, "q").get("q"), self.scene.carrier
        count = self.scene.shell.point_count if carrier is None else carrier.shape[1]
        where, got = str(self._path(k + self.scene.preroll)), "nothing" if found is None else found.shape
        if found is None or found.size != 3 * count:
            raise input_error(
                "the cached frame is of another mesh than the scene", where=where, got=got, allowed=f"{count} points",
                remedy="open the take again, if it was begun anew since",
            )  # fmt: skip
        if not is_cloud(points := found.reshape(-1, 3), count):
            raise input_error("the cached frame has points that are nowhere", where=where, got=got, remedy=_REMEDY)
        return points

    def guide(self, k: int) -> NDArray[np.float32]:
        """(g, 3) [m] what is shown beside the result."""
        name = self.scene.beside
        if name is None:
            self.check(k)
            return self.scene.guide(k)
        found = self.reported(k, name)
        if not is_cloud(found, self.scene.counts["guide"]):
            where, got = str(self._path(k + self.scene.preroll)), found.shape
            raise input_error("the cached frame has points that are nowhere", where=where, got=got, remedy=_REMEDY)
        return found.astype(np.float32)

    def reported(self, k: int, name: str) -> NDArray[Any]:
        """What a frame reports under a name."""
        found = self._part(k, "report").get(f"report/{name}")
        if found is None:
            where = str(self._path(k + self.scene.preroll))
            raise input_error(f"the cached frame reports no {name}", where=where, remedy=_REMEDY)
        return found

    def obstacles(self, k: int) -> NDArray[np.float32]:
        """(o, 3) [m]"""
        self.check(k)
        return self.scene.obstacles(k)

    @property
    def measured(self) -> Measured:
        """The numbers of all frames that are ready, from the frames themselves."""
        with self._guard:
            done = self.done
            known = self._measured
            while len(self._reports) < done:
                self._reports.append(self._report_of(len(self._reports)))
            if known is None or len(known.frames) != self.ready:
                known = self._measured = self._measure(self._reports)
            return known

    def _measure(self, reports: list[dict[str, NDArray[Any]]]) -> Measured:
        written, scene = reports[self.scene.preroll :], self.scene
        empty: dict[str, Array] = {"residual": np.zeros((0, len(scene.regions))), "held": np.zeros((0, 0))}
        empty |= {"force": np.zeros((0, 0, 3)), "pin_residual": np.zeros((0, scene.arrays["firm"].shape[1]))}
        shapes = [{name: array.shape for name, array in one.items()} for one in written]
        names = [
            name for name in (shapes[0] if written else ()) if all(one.get(name) == shapes[0][name] for one in shapes)
        ]
        arrays = {name: np.stack([one[name] for one in written]) for name in names} or empty
        small = MET * scene.shell.size
        return Measured(
            frames=scene.numbers[: len(written)], arrays=arrays, strength=scene.arrays["strength"][: len(written)],
            firm=scene.arrays["firm"][: len(written)], exempt=bool(scene.meta["exempt"]), size=scene.shell.size,
            facts=self.provenance["facts"],
            pushed=pushed_away(reports, small)[scene.preroll :] if "gave_way" in arrays else None,
        )  # fmt: skip

    def curves(self) -> dict[str, Vector]:
        """(t,) by name, of the frames that are ready: those of report.json, or of the frames where there is none."""
        told = self._report().get("per_frame")
        if self.state != RUNNING and isinstance(told, dict):
            found = {name: values for name in told if (values := _curve(told[name])) is not None}
        else:
            found = per_frame(self.measured) if self.ready else {}
        return worth_showing(found, bool(self.scene.regions))

    def sentences(self) -> list[Sentence]:
        """What the report says; nothing while a run goes on."""
        report = self._report()
        if self.state == RUNNING:
            return []
        told = report.get("told") or [{"kind": "note", "text": one} for one in _list(report.get("sentences"))]
        return [_sentence(one, len(self.scene.regions)) for one in _list(told) if isinstance(one, dict)]

    @property
    def shot(self) -> str:
        """The shot file, every default written out."""
        return _text(self.take.shot)

    @cached_property
    def settings(self) -> dict[str, str]:
        """Every setting that decides the frames by its key, as a shot file says it; of files their hash."""
        found = dict(_flat(spelled_out(self.provenance["settings"]), ""))
        return {key.removeprefix("inputs."): value for key, value in found.items()}

    def _part(self, k: int, name: str) -> dict[str, NDArray[Any]]:
        self.check(k)
        return self._read(k + self.scene.preroll, name)

    def _report_of(self, index: int) -> dict[str, NDArray[Any]]:
        """What a frame reports; refused where it does not speak of the scene's regions and pins."""
        found = {name.removeprefix("report/"): value for name, value in self._read(index, "report").items()}
        regions, pins = len(self.scene.regions), self.scene.arrays["firm"].shape[1]
        needed: dict[str, tuple[int, ...]] = {"residual": (regions,), "held": (regions,)}
        needed |= {FORCE: (regions, 3)} if self.scene.forces else {}
        needed |= {"pin_residual": (pins,)} if pins else {}
        for name, shape in needed.items():
            array = found.get(name)
            if array is None or array.shape != shape or not np.isfinite(array).all():
                raise input_error(
                    f"the cached frame reports no {name} of this scene", where=str(self._path(index)),
                    got="nothing" if array is None else array.shape, allowed=f"finite numbers {shape}", remedy=_REMEDY,
                )  # fmt: skip
        return found

    def _read(self, index: int, name: str) -> dict[str, NDArray[Any]]:
        return read_some_arrays(self._path(index), (name,), "the cached frame", _REMEDY)

    def check(self, k: int) -> None:
        """Refuse a frame that is not there."""
        if not 0 <= k < self.ready:
            raise input_error(
                "there is no such frame yet", where=self.name, got=k, allowed=f"0 to {self.ready - 1}"
            )  # fmt: skip

    def _path(self, index: int) -> Path:
        return self.take.path / "frames" / f"frame_{index:06d}.bkframe"

    def _report(self) -> dict[str, Any]:
        """report.json, read again when it is another; empty where there is none that can be read, or more frames were
        made since."""
        stamp = _stamp(self.take.report)
        if stamp is None:
            return {}
        with self._guard:
            if self._told is None or self._told[0] != stamp:
                self._told = stamp, _json(self.take.report)
            told = self._told[1]
            frames = told.get("frames")
            return {} if isinstance(frames, list) and len(frames) < self.ready else told


def open_take(path: str | Path) -> ReviewedTake:
    """The take in a folder, the newest one of a shot's folder, or that a `latest` points to; refused in a sentence."""
    try:
        return _opened(_found(Path(path)))
    except OSError as error:  # a folder that may not be looked into
        raise input_error(
            "the take cannot be read", where=str(path), got=error.strerror or str(error), remedy="check its permissions"
        ) from error  # fmt: skip


def _opened(take: TakeFolder) -> ReviewedTake:
    provenance = _json(take.provenance)
    if not isinstance(provenance.get("settings"), dict) or not isinstance(provenance.get("facts"), dict):
        raise input_error("the take is damaged", where=str(take.provenance), got="not what a take writes",
                          remedy="another take, or run the shot again")  # fmt: skip
    return ReviewedTake(take, read_scene(take.scene), provenance)


def curve_titles() -> dict[str, tuple[str, str, bool]]:
    """Curve → its title, its unit, and whether a logarithmic scale shows it better."""
    return {
        name: (f"{one.title}: {label}" if label and len(one.lines) > 1 else one.title, one.unit, one.log)
        for one in (*CHARTS, *MORE)
        for name, label in one.lines
    }


def _found(path: Path) -> TakeFolder:
    if not is_there(path):
        raise input_error("there is no such take", where=str(path), remedy="a folder that bunraku run or demo has made")
    if path.is_file() and path.name == "latest":  # where links are not allowed
        path = path.parent / path.read_text(encoding="utf-8", errors="replace").strip()
    if path.is_symlink():
        path = path.resolve()  # what is latest may be another take soon
    path = path.absolute()
    if (path / "provenance.json").is_file():
        return TakeFolder(path)
    takes = [one for one in takes_of(path) if one.begun]
    if not takes:
        raise input_error(
            "is no take", where=str(path), got="a folder without provenance.json" if path.is_dir() else "a file",
            allowed="the folder of a take, such as takes/box/v001, or of a shot's takes, such as takes/box",
        )  # fmt: skip
    return takes[0]


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(_text(path))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(path: Path) -> str:
    """Of a file in its folder; empty where there is none, or it leads out of the folder: that is nobody's to show."""
    try:
        real = path.resolve()
        if not real.is_relative_to(path.parent.resolve()) or not real.is_file():
            return ""
        return real.read_text(encoding="utf-8", errors="replace")
    except (OSError, RuntimeError):  # links in a circle
        return ""


def _stamp(path: Path) -> tuple[int, int] | None:
    """What is another one when a file is; None where there is none."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_ino, facts.st_mtime_ns


def _list(told: Any) -> list[Any]:
    return told if isinstance(told, list) else []


def _curve(told: Any) -> Vector | None:
    """(t,) numbers, nan for null; None where it is no curve."""
    try:
        found = np.array(told, float)
    except (ValueError, TypeError, OverflowError):
        return None
    return found if found.ndim == 1 else None


def _sentence(told: Mapping[str, Any], regions: int) -> Sentence:
    """As it was written; what is not what a run writes is left out."""
    frame, region = told.get("frame"), told.get("region")
    return Sentence(
        str(told.get("kind")) if told.get("kind") in _KINDS else "note", str(told.get("text", "")),
        float(frame) if isinstance(frame, (int, float)) and abs(frame) < _FAR else None,  # not nan
        region if isinstance(region, int) and 0 <= region < regions else None,
    )  # fmt: skip


def _flat(value: Any, path: str) -> list[tuple[str, str]]:
    if isinstance(value, Mapping):
        return [one for name in value for one in _flat(value[name], f"{path}.{name}" if path else str(name))]
    if path.startswith("inputs.") and isinstance(value, list):
        value = [str(one)[:12] for one in value]
    return [(path, "" if value is None else json.dumps(value, ensure_ascii=False))]


def differences_of(takes: list[ReviewedTake]) -> list[tuple[str, tuple[str, ...]]]:
    """(key, its value in each take) of every setting in which takes differ; '' where a take does not say it."""
    keys = dict.fromkeys(key for take in takes for key in take.settings)
    found = [(key, tuple(take.settings.get(key, "") for take in takes)) for key in keys]
    return [one for one in found if len(set(one[1])) > 1]

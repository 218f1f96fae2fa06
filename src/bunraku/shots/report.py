"""What a take met and what it missed: numbers from its frames, told in `sentences`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.constraints import HARD
from bunraku.contracts import Array, Points, Vector
from bunraku.direction import Frame
from bunraku.direction.steer import MISSED_TURN
from bunraku.dynamics import SHARPNESS
from bunraku.motion import Curve

from .intersections import Intersections
from .prepared import Prepared

Rows = NDArray[np.bool_]
"""(t,) which frames"""

KEYS = "planned_keys"
"""fact of a job: what became of the keys of planned motions, as `plan_sentences.key_facts` has them"""
GROUNDS = "planned_ground"
"""fact of a job: how deep planned motions go below their ground, as `plan_sentences.ground_facts` has it"""
INTERIOR, HEIGHT = "interior", "height"
"""in a frame's report of a skin: (n, 3) [m] where the interior has its points, (n,) [m] of the skin over that"""
FORCE = "force"
"""in a frame's report: (k, 3) [N] on each region; not of all that is directed"""
MET = 1e-9
"""share of the shell's size within which a region's average counts as the guide's, in memory"""
MET_IN_FILE = 1e-5
"""the same for the float32 points of the written file"""


class TakeOutcome(Enum):
    """How a run ended; the value is the sentence a user reads."""

    FINISHED = "every frame was made"
    STOPPED = "stopped by physics; the frames before are kept"


@dataclass(frozen=True)
class Sentence:
    """Something to know about a take."""

    kind: str
    """"met", "missed", "yielded" (to a cap, as asked) or "note\""""
    text: str
    frame: float | None = None
    """the frame number to look at, where it speaks of one"""
    region: int | None = None
    """the region to look at, where it speaks of one"""

    def as_json(self) -> dict[str, Any]:
        """What report.json holds."""
        return {"kind": self.kind, "text": self.text, "frame": self.frame, "region": self.region}


@dataclass(frozen=True, eq=False)
class YieldedRegion:
    """A region that gave way to its cap."""

    region: str
    """its name, or the guide vertex it lies around"""
    frames: Vector
    """(t,) frame numbers"""
    farthest: float
    """[m] from the guide"""

    def as_json(self) -> dict[str, Any]:
        """What report.json holds."""
        return {"region": self.region, "frames": self.frames, "max_m": self.farthest}


@dataclass(frozen=True, eq=False)
class Measured:
    """The numbers of the written frames; t frames, k regions."""

    frames: Vector
    """(t,) frame numbers"""
    arrays: Mapping[str, Array]
    """(t, …) as the job reports them: residual (t, k) [m], force (t, k, 3) [N], energies (t,) [J], …"""
    strength: Vector
    """(t,) how firmly the guide was to be obeyed"""
    firm: Rows
    """(t, p) bool: which pins had to be met exactly"""
    exempt: bool
    """whether the first frame was not to obey, for the shot starts in the rest shape"""
    size: float
    """of the shell [m]"""
    facts: Mapping[str, Any]
    in_file: Array | None = None
    """(t, k) [m] the residual, found again from the written files, the largest of all"""
    worst_file: str = "the file"
    """the file of the largest of them"""
    pushed: Rows | None = None
    """(t, k) bool: regions away from the guide since contact was in their way"""
    intersections: Intersections | None = None
    """None: nobody looked"""

    @property
    def keys(self) -> Sequence[Mapping[str, Any]]:
        """What became of the keys of planned motions."""
        return self.facts.get(KEYS, ())

    @property
    def grounds(self) -> Sequence[Mapping[str, Any]]:
        """How deep planned motions go below their ground, where they have one."""
        return self.facts.get(GROUNDS, ())

    @property
    def regions(self) -> int:
        """Number of regions k that obey the guide."""
        return int(np.shape(self.arrays["residual"])[1])

    @property
    def exact(self) -> Rows:
        """(t, k) bool: regions that had to meet the guide exactly: held firmly, not yielding to a cap, and free."""
        return self._firmly & ~self.yielding & ~self.kept_off

    @property
    def kept_off(self) -> Rows:
        """(t, k) bool: regions that had to meet the guide and were kept from it by contact: missed direction."""
        none = np.zeros((len(self.frames), self.regions), dtype=bool)
        return none if self.pushed is None else self.pushed & self._firmly & ~self.yielding

    @property
    def _firmly(self) -> Rows:
        firmly = np.asarray(self.arrays["held"] >= HARD, dtype=bool)
        firmly[:1] &= not self.exempt
        return firmly

    @property
    def yielding(self) -> Rows:
        """(t, k) bool: regions whose cap was reached, so that they are away from the guide.

        A region that is away and is not pulled as hard as its cap allows does not yield: it is missed.
        """
        if "cap" not in self.arrays:
            return np.zeros((len(self.frames), self.regions), dtype=bool)
        away, cap = self.arrays["residual"], self.arrays["cap"]
        capped = np.isfinite(cap) & (self.arrays["held"] > 0.0)
        pull = np.where(capped, cap, 0.0) * away / np.hypot(away, SHARPNESS * self.size)  # [N] of one that yields
        force = np.linalg.norm(self.arrays["force"], axis=2)
        started = self.arrays["iterations"][:, None] == 0  # a frame without steps has no forces yet
        return capped & (away > MET * self.size) & (started | (force > 0.99 * pull))

    @property
    def yielded(self) -> Rows:
        """(t,) bool: frames on which some region yielded."""
        return np.any(self.yielding, axis=1)

    @property
    def directed(self) -> Rows:
        """(t,) bool: frames on which some region had to meet the guide exactly."""
        return np.any(self.exact, axis=1)

    @property
    def residual(self) -> Vector:
        """(t,) [m] the largest of all regions, in memory."""
        return np.max(self.arrays["residual"], axis=1, initial=0.0)

    @property
    def residual_exact(self) -> Array:
        """(t, k) [m] of the regions that had to meet the guide, in memory; zero of the others."""
        return np.where(self.exact, self.arrays["residual"], 0.0)

    @property
    def residual_in_file(self) -> Vector | None:
        """(t,) [m] the largest of all regions, in the file."""
        return None if self.in_file is None else np.max(self.in_file, axis=1, initial=0.0)

    @property
    def residual_exact_in_file(self) -> Vector | None:
        """(t,) [m] the largest of the regions that had to meet the guide, in the file."""
        return None if self.in_file is None else np.max(np.where(self.exact, self.in_file, 0.0), axis=1, initial=0.0)

    @property
    def missed(self) -> Rows:
        """(t,) bool: frames on which the guide had to be met and was not, for whatever reason."""
        return self.astray | self.kept_off.any(axis=1) | self.misturned

    @property
    def turned_off(self) -> Vector:
        """(t,) [rad] by how much a body is turned otherwise than its path says; 0 where none says so."""
        off = np.asarray(self.arrays.get("rotation_residual", np.zeros(len(self.frames))))
        return off.reshape(len(self.frames), -1).max(axis=1, initial=0.0)

    @property
    def misturned(self) -> Rows:
        """(t,) bool: frames on which a body missed the turn of its path."""
        return self.turned_off > MISSED_TURN

    @property
    def astray(self) -> Rows:
        """(t,) bool: frames on which a region that nothing was in the way of missed the guide."""
        far = self.residual_exact.max(axis=1, initial=0.0) > MET * self.size
        if self.residual_exact_in_file is not None:
            far |= self.residual_exact_in_file > MET_IN_FILE * self.size
        return far & self.directed

    @property
    def pin_gaps(self) -> Array:
        """(t, p) [m] distance of each pin from its goal where it had to be met, else 0."""
        return np.where(self.held, self.arrays["pin_residual"], 0.0)

    @property
    def held(self) -> Rows:
        """(t, p) bool: where a pin had to be met exactly, a start in the rest shape left out."""
        firm = self.firm.copy()
        firm[:1] &= not self.exempt
        return firm

    @property
    def force(self) -> Vector:
        """(t,) [N] the largest force of direction on a region; 0 where frames do not tell of forces."""
        if FORCE not in self.arrays:
            return np.zeros(len(self.frames))
        return np.max(np.linalg.norm(self.arrays[FORCE], axis=2), axis=1, initial=0.0)


@dataclass(frozen=True, eq=False)
class Report:
    """A take's numbers and sentences. The same run gives the same report: it holds no times and no paths."""

    shot: str
    object: str
    outcome: TakeOutcome
    story: str
    """why it stopped; empty where it did not"""
    measured: Measured
    sentences: tuple[Sentence, ...]
    animations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """object → the files of its animation in the take's folder"""
    prims: Mapping[str, str] = field(default_factory=dict)
    """USD file → the prim in it that holds the result"""
    kept_off: Sequence[Mapping[str, Any]] = ()
    """regions that contact kept from the guide: region, frames, max_m"""
    contact: bool = False
    """whether surfaces had to stay apart"""
    yielded: tuple[YieldedRegion, ...] = ()
    """the farthest first"""

    @property
    def met(self) -> bool | None:
        """Whether guide and pins were met on every frame on which they had to be, and no frame is lacking.

        A region that yields to its cap does as asked, but the guide is not met there. None where nothing had to be met
        exactly.
        """
        m = self.measured
        if self.outcome is not TakeOutcome.FINISHED:
            return False
        if not m.keys and not any(rows.any() for rows in (m.directed, m.held, m.missed, m.yielded)):
            return None
        return not self.missed and not m.yielded.any()

    @property
    def missed(self) -> bool:
        """Whether guide, pins, keys or ground of a plan were missed somewhere without having yielded to a cap."""
        m = self.measured
        missed = m.missed.any() or (m.pin_gaps > MET * m.size).any()
        return bool(missed or not all(one["met"] for one in (*m.keys, *m.grounds)))

    @property
    def crossed(self) -> bool:
        """Whether something passes through something that had to stay apart."""
        found = self.measured.intersections
        return self.contact and found is not None and found.total > 0

    @property
    def arrays(self) -> Mapping[str, Array]:
        """Per-frame arrays (t, …), as `Take.report`."""
        return self.measured.arrays

    def as_json(self) -> dict[str, Any]:
        """What report.json holds."""
        m = self.measured
        return {
            "shot": self.shot,
            "object": self.object,
            "outcome": self.outcome.name.lower(),
            "story": self.story,
            "direction_met": self.met,
            "missed_frames": m.frames[m.missed],
            "yielded_frames": m.frames[m.yielded],
            "yielded": [region.as_json() for region in self.yielded],
            "sentences": [sentence.text for sentence in self.sentences],
            "told": [sentence.as_json() for sentence in self.sentences],
            "animations": self.animations,
            "prims": dict(self.prims),
            "facts": dict(m.facts),
            "kept_off_by_contact": [dict(one) for one in self.kept_off],
            "intersections": None if m.intersections is None else m.intersections.as_json(),
            "worst_file": None if m.in_file is None else m.worst_file,
            "tolerances": {"in_memory_m": MET * m.size, "in_file_m": MET_IN_FILE * m.size, "turn_rad": MISSED_TURN},
            "frames": m.frames,
            "per_frame": per_frame(m),
        }


def per_frame(m: Measured) -> dict[str, Vector]:
    """(t,) curves: the largest residuals and force, and every number a frame reports."""
    curves = {"residual_m": m.residual, "strength": m.strength}
    if FORCE in m.arrays:
        curves["force_N"] = m.force
    if m.firm.shape[1]:
        curves["pin_residual_m"] = m.pin_gaps.max(axis=1)
    if m.residual_in_file is not None:
        curves["residual_in_file_m"] = m.residual_in_file
    if m.intersections is not None:
        curves["intersections"] = m.intersections.either.astype(np.float64)
    if m.arrays.get("muscle_residual", np.zeros((0, 0))).any():
        curves["muscle_residual_m"] = m.arrays["muscle_residual"].max(axis=1)
    if "rotation_residual" in m.arrays:
        curves["rotation_residual"] = m.turned_off
    if "pressure" in m.arrays:  # of all closed pieces together, and of the one under the highest pressure
        curves |= {"volume_m3": m.arrays["volume"].sum(axis=1), "pressure_Pa": m.arrays["pressure"].max(axis=1)}
    return curves | {name: values for name, values in m.arrays.items() if values.ndim == 1}


def measure(
    prepared: Prepared, frames: Iterable[Frame], facts: Mapping[str, Any], before: Iterable[Frame] = ()
) -> Measured:
    """The numbers of the frames that are written; those `before` them tell what contact kept off by then."""
    found = list(frames)
    names = list(found[0].report) if found else []
    arrays = {name: np.stack([np.asarray(frame.report[name]) for frame in found]) for name in names}
    pins = [Curve.of(pin.strength) for pin in prepared.pins]
    empty = {
        "residual": np.zeros((0, 0)),
        "held": np.zeros((0, 0)),
        "force": np.zeros((0, 0, 3)),
        "pin_residual": np.zeros((0, len(pins))),
    }
    times = [frame.time for frame in found]
    return Measured(
        frames=prepared.numbers[prepared.preroll :][: len(found)],
        arrays=arrays or empty,
        strength=np.array([prepared.strength.at(time) for time in times]),
        firm=np.array([pin.at(time) == 1.0 for time in times for pin in pins])
        .reshape(len(times), len(pins))
        .astype(bool),
        exempt=prepared.shot.physics.start == "rest" and not prepared.preroll,
        size=prepared.shell.size,
        facts={**facts, "origin": prepared.origin, "preroll": prepared.preroll, **_facts_of_file(prepared)},
        pushed=pushed_away([frame.report for frame in (*before, *found)], MET * prepared.shell.size)[-len(found) :]
        if "gave_way" in arrays
        else None,
    )


def pushed_away(reports: Sequence[Mapping[str, Array]], small: float) -> Rows:
    """(t, k) of frames' reports: regions farther than `small` [m] from the guide that gave way to contact, or did and
    have not caught up since: they come back at a limited pace."""
    out: list[Rows] = []
    for report in reports:
        gave_way = np.asarray(report["gave_way"], dtype=bool)
        out.append((report["residual"] > small) & (gave_way | out[-1] if out else gave_way))
    return np.stack(out)


def _facts_of_file(prepared: Prepared) -> dict[str, Any]:
    """How a file that cannot say so itself is to be read."""
    clip = prepared.clip
    return {"rate": clip.rate, "unit": clip.meters_per_unit, "up_axis": clip.up_axis}


def distances(prepared: Prepared, points: Iterable[Points]) -> Array | None:
    """(t, k) [m] of what was directed from where it had to be, for points (n, 3) in the world, frame by frame; None
    where that is not to be told from the surface."""
    times = prepared.times[prepared.preroll :]
    gaps = [prepared.distances(x - prepared.origin, float(time)) for x, time in zip(points, times, strict=False)]
    known = [gap for gap in gaps if gap is not None]
    return np.stack(known) if known else None

"""What a run tells while it goes. Whoever listens decides how to show it; a listener may raise to stop the run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Started:
    """The take's folder is there, the first frame comes next."""

    shot: str
    folder: Path
    count: int
    """frames to simulate in all, preroll included"""
    done: int
    """of these, already made by an earlier run"""
    solver: str
    """the linear solver this run takes, with its threads"""


@dataclass(frozen=True)
class Preparing:
    """Something that takes a while and has no frames."""

    text: str


@dataclass(frozen=True)
class FrameDone:
    """A frame is finished and safe on disk."""

    frame: float
    """the file's frame number"""
    index: int
    """from 0, preroll included"""
    count: int
    residual: float | None
    """largest distance of a region's average from the guide's [m]; None where nothing is directed"""
    iterations: int
    """Newton iterations of all its steps"""
    preroll: bool
    """simulated, but not to be written"""


@dataclass(frozen=True)
class PictureDone:
    """A picture of the preview is finished."""

    index: int
    count: int


@dataclass(frozen=True)
class Noticed:
    """Something the artist should know, though the work goes on."""

    text: str


@dataclass(frozen=True)
class Remarked:
    """Something good to know, and nothing to worry about."""

    text: str


@dataclass(frozen=True)
class Finished:
    """The take is complete, or as complete as physics allows."""

    folder: Path
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class WedgeBegun:
    """Several takes are to be made at once."""

    shot: str
    folder: Path
    count: int
    """frames to simulate in all takes"""
    done: int
    """of these, already made"""
    takes: int
    """to be made, or carried on"""


@dataclass(frozen=True)
class OfTake:
    """What one of several takes tells."""

    take: str
    """'c001'"""
    event: Event


@dataclass(frozen=True)
class TakeEnded:
    """One of several takes is finished, or will not be."""

    take: str
    outcome: str
    """'finished', 'stopped' (by physics), 'refused', 'fault', 'lost' (with its workers), 'interrupted'"""
    why: str


Event = Started | Preparing | FrameDone | PictureDone | Noticed | Remarked | Finished | WedgeBegun | OfTake | TakeEnded

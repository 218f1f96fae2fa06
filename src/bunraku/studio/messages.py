"""What server and page say to each other: the one place where it is typed.

Plain facts travel as JSON, one message a reply. Numbers by vertex travel in a *parcel*:

    4 bytes "BKP1" · length of the header, 4 bytes little-endian · the header, a `Parcel` as JSON in UTF-8 ·
    zeros up to a multiple of 8 · the arrays of all its entries one after the other, each padded to a multiple of 8

Arrays are little-endian and go row by row. An array of type "u2" whose `low` and `high` are given holds shares: in
column c its value v stands for low[c] + v / 65535 · (high[c] − low[c]).

`typescript.py` makes the client's types from this file, and from `sketch_messages.py`, which goes on with what is
painted and posed. Annotations are those it knows: str, int, float, bool, None, Literal, tuple[T, ...], other messages,
unions of these, and Any for whatever JSON can say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

State = Literal["running", "finished", "stopped", "interrupted"]
"""of a take: a run writes into it, every frame was made, physics stopped it, its run ended early and may be resumed"""

Kind = Literal["met", "missed", "yielded", "note"]
"""of a sentence, as in the report"""


@dataclass(frozen=True)
class Overlay:
    """Something that can be drawn on the result."""

    name: str
    """what a request for frames calls it"""
    title: str
    unit: str
    """"" for a plain number or a label"""
    draws: Literal["values", "labels", "segments"]
    """values: an array (n,) with every frame; labels: `label` of the mesh, whole numbers, −1 where there is none;
    segments: an array (m, 2, 3) of points [m] with every frame"""
    about: str
    """one sentence for whoever wonders what is shown"""
    low: float
    high: float
    """ends of the colour scale that suit the whole take, as far as it is known"""


@dataclass(frozen=True)
class Take:
    """A take that is open."""

    number: int
    """its place in requests, from 0"""
    name: str
    """'box v003'"""
    folder: str
    object: str
    state: State
    frames: tuple[float, ...]
    """frame numbers of the shot, those not made yet included; requests count frames by their place in here"""
    ready: int
    """how many of them are there, from the first"""
    rate: float
    """[frames/s]"""
    vertices: int
    faces: int
    guide_vertices: int
    guide_faces: int
    obstacle_faces: int
    centre: tuple[float, ...]
    """(3,) [m] of all that is to be seen over the shot; y is up"""
    radius: float
    """[m] of a ball about it that holds that"""
    floor: float | None
    """[m] height of the ground, where there is one"""
    regions: tuple[str, ...]
    """names by number"""
    overlays: tuple[Overlay, ...]


@dataclass(frozen=True)
class Difference:
    """A setting in which the open takes differ."""

    key: str
    """as in a shot file: 'physics.substeps'"""
    values: tuple[str, ...]
    """one a take, as a shot file says it; '' where it does not"""


@dataclass(frozen=True)
class Opened:
    """GET /takes: what is open."""

    version: str
    takes: tuple[Take, ...]
    differences: tuple[Difference, ...]
    directed: str
    """the shot file that is edited; '' where takes are looked at only"""


@dataclass(frozen=True)
class Sentence:
    """Something the report says, and where to look."""

    kind: Kind
    text: str
    frame: float | None
    """a frame number of the shot"""
    region: int | None


@dataclass(frozen=True)
class Curve:
    """A number a frame."""

    name: str
    title: str
    unit: str
    log: bool
    """whether a logarithmic scale shows it better"""
    values: tuple[float | None, ...]
    """one a frame that is ready; None where there is none"""


@dataclass(frozen=True)
class Report:
    """GET /takes/N/report: what is known of the frames that are ready."""

    state: State
    ready: int
    sentences: tuple[Sentence, ...]
    """empty while a run goes on"""
    curves: tuple[Curve, ...]
    shot: str
    """the shot file, every default written out"""


@dataclass(frozen=True)
class News:
    """GET /takes/N/news?ready=K&state=S: answered when more than K frames are ready or the state is not S any more,
    after some twenty seconds in any case."""

    state: State
    ready: int
    count: int
    """frames to make in all, preroll included"""
    done: int
    """of these, made"""
    seconds_left: float | None
    """about, until the last frame; None where nobody knows"""
    can_cancel: bool


@dataclass(frozen=True)
class Cancelled:
    """POST /takes/N/cancel: the run was asked to stop; it does after the frame it is at, and can be resumed.
    POST /movies/ID/cancel: the film was left, and what there was of it removed."""

    asked: bool
    """False: no run writes into this take; there is no such film"""


@dataclass(frozen=True)
class ArrayPlace:
    """An array in a parcel."""

    name: str
    type: Literal["u2", "u4", "i4", "f4"]
    shape: tuple[int, ...]
    offset: int
    """[bytes] from the end of the padded header"""
    low: tuple[float, ...] | None
    high: tuple[float, ...] | None
    """of shares: what 0 and 65535 stand for, one a column (one for an array (n,))"""


@dataclass(frozen=True)
class Entry:
    """What belongs to one frame, or to none."""

    frame: int | None
    """its place among the take's frames; None for what does not move"""
    arrays: tuple[ArrayPlace, ...]


@dataclass(frozen=True)
class Parcel:
    """Header of a parcel.

    GET /takes/N/mesh has one entry: faces (f, 3) u4, guide_faces, obstacle_faces, and label (n,) i4 where there are
    regions. GET /takes/N/frames?from=A&count=B&overlay=NAME&with=guide,obstacles has one a frame that is ready: points
    (n, 3) of shares, guide and obstacles alike where asked for, and the overlay's array under its name.
    """

    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class MovieBegun:
    """POST /movies?width=W&height=H&rate=R: a film to which pictures are sent, POST /movies/ID with a PNG or JPEG each;
    GET /movies/ID ends it and answers with the mp4."""

    id: str


@dataclass(frozen=True)
class ShotObject:
    """An object of the shot that is directed."""

    path: tuple[str | int, ...]
    """of its table: ('object', 'coat'), or with ('stage', 'dress') before it"""
    name: str
    role: str
    """'shell', 'obstacle', 'body', 'plan' or 'wrinkle'"""
    follows: str
    """what it goes after, as its file says it; '' where there is nothing"""


@dataclass(frozen=True)
class Knob:
    """A setting of the shot, whether or not its file says it."""

    path: tuple[str | int, ...]
    """from the outermost table on"""
    doc: str
    kind: Literal["number", "whole", "flag", "choice", "text", "numbers"]
    """numbers: as many as its default or value has, such as a velocity"""
    unit: str
    low: float | None
    high: float | None
    """what is allowed; None where there is no end"""
    open: bool
    """whether `low` itself is not allowed"""
    options: tuple[str, ...]
    """of a choice; of a number words that may stand in its place"""
    keyable: bool
    """whether it may be keyed: [[frame, value, ease], …]"""
    default: Any
    """what holds where the file does not say it; None where only `otherwise` knows"""
    otherwise: str
    """the same in words, where those are needed"""
    value: Any
    """as the file says it; None where it does not"""


@dataclass(frozen=True)
class ShotSheet:
    """GET /shot: the shot as it stands in its file."""

    revision: int
    file: str
    text: str
    first: float | None
    last: float | None
    """frames, as the file says; None where its guide decides"""
    objects: tuple[ShotObject, ...]
    knobs: tuple[Knob, ...]
    problems: tuple[str, ...]
    """what is wrong with the file, where somebody else wrote what cannot be run; knobs are then the last ones"""
    diff: str
    """unified, from the file as it was when directing began; '' where it is the same"""
    undo: str
    """what can be taken back, in a sentence; '' for nothing"""
    redo: str


@dataclass(frozen=True)
class Change:
    """One key of the shot file."""

    path: tuple[str | int, ...]
    """names, and places in lists from 0"""
    value: Any
    """None removes it"""


@dataclass(frozen=True)
class ArraysBeside:
    """Arrays to be kept in a file beside the shot, <shot>.<name>.bkarrays."""

    name: str
    id: str
    """of arrays that were sent before"""


@dataclass(frozen=True)
class Edit:
    """POST /shot/edit: all of it or nothing."""

    revision: int
    """for which it was made"""
    changes: tuple[Change, ...]
    files: tuple[ArraysBeside, ...]
    about: str
    """one sentence: what undo calls it"""
    gesture: str
    """edits of one gesture that follow each other are one step; '' for a step of its own"""
    tab: str
    """of whom"""


@dataclass(frozen=True)
class Step:
    """POST /shot/undo, POST /shot/redo."""

    revision: int
    tab: str


@dataclass(frozen=True)
class Edited:
    """What an edit, or taking one back, has made of the shot."""

    sheet: ShotSheet
    diff: str
    """of this change alone, unified"""


@dataclass(frozen=True)
class ArraysKept:
    """POST /shot/arrays: a parcel was taken in; an edit may name it."""

    id: str


@dataclass(frozen=True)
class RunWanted:
    """POST /run: a take of the shot as it is."""

    revision: int


@dataclass(frozen=True)
class ShotNews:
    """GET /shot/news?revision=R&run=K: answered when there is another revision than R, or the run's number is not K."""

    revision: int
    by: str
    """the tab that made it; '' where the file was edited elsewhere"""
    about: str
    """what was done"""
    run: int
    """goes up whenever something happens to the run that was asked for here"""
    running: bool
    take: int | None
    """its number among the takes, once its folder is there"""
    saying: str
    """what it does before there are frames, or why it ended"""
    failed: bool
    """whether it ended early or was refused"""


@dataclass(frozen=True)
class Refused:
    """The body of every reply that is not 200, in one sentence; plain text instead without a token."""

    error: str

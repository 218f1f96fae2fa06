"""Biovision hierarchies (.bvh): a tree of joints with channels, then a row of numbers a frame.

A file has no unit. Words may be in any case and spread over lines as they like, rows may not. A joint's position
channels stand for its offset, not on top of it, as every program that writes both means it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import numpy as np

from bunraku.contracts import Array, InputError, Vector, input_error
from bunraku.rigs import Motion, Skeleton
from bunraku.rigs.rotations import about, product
from bunraku.rigs.skeleton import worlds_of

from .files import read_bytes
from .tokens import REEXPORT, Text, is_number

_MOTION = re.compile(rb"^[ \t]*MOTION\b", re.IGNORECASE | re.MULTILINE)
_HEADER = re.compile(rb"\s*frames\s*:?\s*(\S+)\s+frame\s+time\s*:?[ \t]*(\S+)[^\S\n]*", re.IGNORECASE)
_WORD = re.compile(rb"[{}]|[^\s{}]+")
_AXES = {"x": 0, "y": 1, "z": 2}
_MOST_CHANNELS = 6
_MOST_POSES = 30_000_000  # frames × joints
_LARGEST = 1e12  # [file units]
_USUAL = (24, 25, 30, 48, 50, 60, 72, 90, 96, 100, 120, 144, 150, 200, 240, 250, 300, 480, 500, 1000)  # [frames/s]


@dataclass(eq=False)
class _Joint:
    """A joint as it is being read."""

    name: str
    parent: int
    line: int
    is_tip: bool = False
    offset: Vector | None = None
    channels: list[tuple[str, int]] | None = None
    """("position" or "rotation", axis) each"""


@dataclass(eq=False)
class _Words:
    """The words of the hierarchy, one after another, each with its line."""

    text: Text
    place: int = 0
    words: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        line, last = self.text.first_line, 0
        for match in _WORD.finditer(self.text.data):
            line += self.text.data.count(b"\n", last, match.start())
            last = match.start()
            self.words.append((match.group(0).decode("utf-8", "replace"), line))

    @property
    def line(self) -> int:
        """Of the next word, or of the last where there is none."""
        if not self.words:
            return self.text.first_line
        return self.words[min(self.place, len(self.words) - 1)][1]

    def peek(self) -> str:
        """The next word in small letters; '' at the end."""
        return self.words[self.place][0].lower() if self.place < len(self.words) else ""

    def take(self) -> str:
        self.place += 1
        return self.words[self.place - 1][0] if self.place <= len(self.words) else ""

    def name(self) -> str:
        """All words up to a brace."""
        parts = []
        while self.peek() not in ("{", "}", ""):
            parts.append(self.take())
        whole = " ".join(parts)[:200]
        return whole if whole.isprintable() else "".join(c if c.isprintable() else "_" for c in whole)

    def brace(self, after: str) -> None:
        """Take the brace that opens a joint."""
        if self.peek() != "{":
            self.refuse(f"{after} must be followed by {{", self.peek())
        self.take()

    def number(self, what: str) -> float:
        word = self.peek()
        value = float(word) if is_number(word.encode()) else math.nan
        if not abs(value) <= _LARGEST:
            self.refuse(f"{what} needs a finite number", word)
        self.take()
        return value

    def refuse(self, what: str, got: str | None = None, allowed: str = "", line: int | None = None) -> NoReturn:
        shown = None if got is None else (got[:40] or "the end of the hierarchy")
        raise _refusal(self.text.path, self.line if line is None else line, what, shown, allowed)


def _refusal(path: str, line: int, what: str, got: object = None, allowed: str = "") -> InputError:
    return input_error(what, where=f"{path}, line {line}", got=got, allowed=allowed, remedy=REEXPORT)


def read_bvh(path: Path) -> Skeleton:
    """The skeleton of a file in its own unit and axes; the bind pose is that without any rotation."""
    if path.is_dir():
        raise input_error("is a folder", where=str(path), allowed="a .bvh file")
    text = Text.of(read_bytes(path), str(path))
    if not text.data.strip():
        raise input_error("is empty", where=str(path), got=f"{len(text.data)} bytes", remedy="export it again")
    if not re.match(rb"(\xef\xbb\xbf)?\s*HIERARCHY\b", text.data, re.IGNORECASE):
        raise _refusal(str(path), 1, "does not begin with HIERARCHY, so it is no BVH file")
    found = _MOTION.search(text.data)
    nodes = _read_hierarchy(_Words(text.part(0, found.start() if found else None)))
    if found is None:
        raise _refusal(str(path), text.line_at(len(text.data)), "is cut short: it has no MOTION")
    joints = [node for node in nodes if not node.is_tip]
    rows, rate = _read_motion(text.part(found.end()), sum(len(one.channels or ()) for one in joints))
    if len(rows) * len(joints) > _MOST_POSES:
        raise input_error("has too many frames and joints", where=str(path), got=f"{len(rows)} × {len(joints)}",
                          allowed=f"up to {_MOST_POSES} together", remedy="cut it into parts")  # fmt: skip
    return _skeleton(nodes, rows, rate)


def _read_hierarchy(words: _Words) -> list[_Joint]:
    """Joints and tips in the order of the file."""
    words.take()  # HIERARCHY
    nodes: list[_Joint] = []
    open_nodes: list[int] = []
    while words.peek():
        keyword = words.peek()
        if keyword == "}":
            if not open_nodes:
                words.refuse("a } too many")
            _check_complete(words, nodes[open_nodes.pop()])
            words.take()
        elif keyword in ("root", "joint", "end"):
            _open(words, nodes, open_nodes)
        elif keyword in ("offset", "channels") and open_nodes:
            words.take()
            (_read_offset if keyword == "offset" else _read_channels)(words, nodes[open_nodes[-1]])
        else:
            allowed = "OFFSET, CHANNELS, JOINT, End Site, }" if open_nodes else "ROOT, MOTION"
            words.refuse("unknown word", keyword, allowed)
    if open_nodes:
        node = nodes[open_nodes[-1]]
        words.refuse(f"{node.name!r} is opened on line {node.line} and never closed: a }} is missing")
    if not nodes:
        words.refuse("has no ROOT")
    return nodes


def _open(words: _Words, nodes: list[_Joint], open_nodes: list[int]) -> None:
    """Begin a joint or a tip."""
    line, keyword = words.line, words.take().lower()
    above = nodes[open_nodes[-1]] if open_nodes else None
    if keyword == "root" and above is not None:
        words.refuse(f"ROOT stands inside {above.name!r}", line=line)
    if keyword != "root" and above is None:
        words.refuse(f"{keyword.upper()} stands before any ROOT", line=line, allowed="ROOT")
    if above is not None and above.is_tip:
        words.refuse("an End Site can hold nothing but its OFFSET", keyword, line=line)
    name = words.name()
    if not name and keyword != "end":
        words.refuse(f"{keyword.upper()} needs a name", words.peek(), line=line)
    words.brace("End Site" if keyword == "end" else f"the name {name!r}")
    parent = open_nodes[-1] if open_nodes else -1
    open_nodes.append(len(nodes))
    nodes.append(_Joint("End Site" if keyword == "end" else name, parent, line, keyword == "end"))


def _read_offset(words: _Words, node: _Joint) -> None:
    if node.offset is not None:
        words.refuse(f"{node.name!r} has a second OFFSET")
    node.offset = np.array([words.number("OFFSET") for _ in range(3)])


def _read_channels(words: _Words, node: _Joint) -> None:
    if node.is_tip:
        words.refuse("an End Site has no channels", "CHANNELS")
    if node.channels is not None:
        words.refuse(f"{node.name!r} has a second list of CHANNELS")
    count = words.number("CHANNELS")
    if count not in range(_MOST_CHANNELS + 1):
        words.refuse("CHANNELS needs their number", f"{count:g}", f"0 to {_MOST_CHANNELS}")
    node.channels = []
    for _ in range(int(count)):
        word = words.peek()
        axis, kind = _AXES.get(word[:1], -1), word[1:]
        if axis < 0 or kind not in ("position", "rotation"):
            words.refuse("unknown channel", word, "Xposition, Yposition, Zposition, Xrotation, Yrotation, Zrotation")
        if (kind, axis) in node.channels:
            words.refuse(f"{node.name!r} has a channel twice", word)
        node.channels.append((kind, axis))
        words.take()


def _check_complete(words: _Words, node: _Joint) -> None:
    if node.offset is None:
        words.refuse(f"{node.name!r} of line {node.line} has no OFFSET")


def _read_motion(text: Text, channels: int) -> tuple[Array, float]:
    """(t, c) numbers and the rate [1/s] of their frames. `text` begins behind MOTION."""
    header = _HEADER.match(text.data)
    if header is None:
        raise text.refusal("MOTION must be followed by 'Frames: …' and 'Frame Time: …'", 0)
    frames = _count(text, header)
    rate = _rate(text, header)
    body = text.part(header.end())
    first, counts = body.rows()
    wrong = np.flatnonzero(counts != channels)
    if len(wrong):
        line = body.first_line + int(body.lines()[first[wrong[0]]])
        raise _refusal(text.path, line, f"frame {wrong[0]} has another number of values than the joints have channels",
                       int(counts[wrong[0]]), str(channels))  # fmt: skip
    if len(first) != frames:
        raise _refusal(text.path, text.line_at(header.start(1)), "declares another number of frames than it has rows",
                       frames, str(len(first)))  # fmt: skip
    values = body.numbers()
    bad = np.flatnonzero(~(np.abs(values) <= _LARGEST))
    if len(bad):
        raise body.refusal("is not a finite number", int(bad[0]))
    return values.reshape(frames, channels), rate


def _count(text: Text, header: re.Match[bytes]) -> int:
    word = header.group(1)
    if not re.fullmatch(rb"\+?\d{1,15}", word):
        raise _refusal(text.path, text.line_at(header.start(1)), "the number of frames is no whole number from 0",
                       word[:40].decode("utf-8", "replace"))  # fmt: skip
    return int(word)


def _rate(text: Text, header: re.Match[bytes]) -> float:
    """The rate [1/s] that the time between frames means: a usual one where its digits allow that."""
    word = header.group(2)
    value = float(word) if is_number(word) else math.nan
    if not (math.isfinite(value) and 1e-6 <= value <= 1e6):
        raise _refusal(text.path, text.line_at(header.start(2)), "the frame time must be a positive number of seconds",
                       word[:40].decode("utf-8", "replace"), "1e-06 to 1e+06")  # fmt: skip
    digits = re.fullmatch(rb"\+?\d*\.(\d+)", word)
    last = 10.0 ** -len(digits.group(1)) if digits else 1e-9 * value  # one unit of the last digit written
    rate = 1.0 / value
    near = [float(one) for one in _USUAL if abs(1.0 / one - value) <= last]
    near = near or [float(one) for one in [round(rate)] if abs(one - rate) <= min(1e-4, last / value) * rate]
    near = near or [one * 1000.0 / 1001.0 for one in (24, 30, 60, 120) if abs(1.001 / one - value) <= last]
    return min(near, key=lambda one: abs(one - rate), default=rate)


def _skeleton(nodes: list[_Joint], rows: Array, rate: float) -> Skeleton:
    """The skeleton; a file without frames rests for one."""
    number = np.cumsum([not node.is_tip for node in nodes]) - 1
    joints = [node for node in nodes if not node.is_tip]
    tips = [node for node in nodes if node.is_tip]
    parents = np.array([number[node.parent] if node.parent >= 0 else -1 for node in joints], dtype=np.int64)
    offsets = np.array([node.offset for node in joints])
    count = max(len(rows), 1)
    translations = np.broadcast_to(offsets, (count, *offsets.shape)).copy()
    rotations = np.zeros((count, len(joints), 4))
    rotations[..., 3] = 1.0
    column = 0
    for k, joint in enumerate(joints):
        for kind, axis in joint.channels or ():
            if len(rows) and kind == "position":
                translations[:, k, axis] = rows[:, column]
            elif len(rows):
                rotations[:, k] = product(rotations[:, k], about(axis, np.deg2rad(rows[:, column])))
            column += 1
    still = np.broadcast_to(np.eye(4), (1, len(joints), 4, 4)).copy()
    still[0, :, :3, 3] = offsets
    return Skeleton(
        tuple(joint.name for joint in joints), parents, worlds_of(parents, still)[0],
        Motion(np.arange(count) / rate, translations, rotations),
        np.array([number[node.parent] for node in tips], dtype=np.int64),
        np.array([node.offset for node in tips]).reshape(-1, 3), rate,
    )  # fmt: skip

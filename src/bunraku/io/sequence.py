"""Numbered files, a mesh a frame, as one animation: finding them, reading them, naming them."""

from __future__ import annotations

import glob
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np

from bunraku.contracts import input_error
from bunraku.geometry import Surface

from .clip import Recording
from .files import is_there, missing
from .obj import read_obj
from .off import read_off
from .ply import read_ply
from .stl import read_stl

_log = logging.getLogger(__name__)

MESH_READERS: Mapping[str, Callable[[Path], Surface]] = {
    ".obj": read_obj, ".ply": read_ply, ".off": read_off, ".stl": read_stl,
}  # fmt: skip
"""how a file of one mesh is read"""

_PLACE = re.compile(r"#+|%0?\d*d")
_NUMBERED = re.compile(r"^(?P<head>.*?)(?P<number>(?:(?<![^._])-)?\d+)(?P<tail>\D*)$")
"""the last number of a name; a minus belongs to it after '.', '_' or nothing: name.-003, but name-003 is 3"""


def is_pattern(path: Path) -> bool:
    """Whether a path's name has a place for the frame number (`####`, `%04d`)."""
    return _PLACE.search(path.name) is not None and not path.exists()


def frame_name(pattern: Path, frame: float) -> str:
    """The name of a frame's file: its number in the place of `####` or `%04d`."""
    whole = round(frame)
    if abs(frame - whole) > 1e-6:
        raise input_error(
            "a file sequence has whole frame numbers only", where=str(pattern), got=f"{frame:g}",
            remedy="write USD, or give frames= whole numbers",
        )  # fmt: skip
    return _PLACE.sub(lambda place: _number(place.group(0), whole), pattern.name, count=1)


def find_sequence(path: Path) -> dict[int, Path]:
    """Frame number → file, in order, of a folder, a glob, a `####` or `%04d` pattern, or a first file.

    A single file that has no number is one frame, number 0.
    """
    if not is_there(path) and len(path.name) > 255:
        raise missing(path)
    if path.is_dir():
        found = _one_sequence(sorted(file for file in path.iterdir() if file.suffix.lower() in MESH_READERS), path)
    elif path.is_file():
        found = _following(path)
    elif is_pattern(path):
        found = _fitting(path)
    elif glob.has_magic(str(path)):
        found = _one_sequence([Path(name) for name in sorted(glob.glob(str(path)))], path)
    else:
        raise missing(path)
    if not found:
        raise input_error(
            "no numbered file fits", where=str(path), allowed="a folder of numbered .obj or .ply files, name.####.obj, "
            "name.%04d.obj, name.*.obj or the first file", remedy="check the folder and the name",
        )  # fmt: skip
    return found


def read_sequence(path: Path, limit: int | None = None) -> Recording:
    """The recording of a sequence (its first `limit` files); a topology change is refused by frame."""
    files = dict(list(find_sequence(path).items())[:limit])
    _report_gaps(list(files), path)
    (first, file), *others = files.items()
    surface = read_one(file)
    points = np.empty((len(files), *surface.points.shape))
    points[0] = surface.points
    for k, (frame, file) in enumerate(others, start=1):
        now = read_one(file)
        if not now.same_topology(surface):
            alike = now.shape_in_words() == surface.shape_in_words()
            raise input_error(
                f"the topology changes at frame {frame}", where=str(file),
                got=now.shape_in_words() + (" wired differently" if alike else ""),
                allowed=f"{surface.shape_in_words()} as in frame {first}",
                remedy="export every frame with the same mesh",
            )  # fmt: skip
        points[k] = now.points
    return Recording(path, surface, frames=np.array(list(files), dtype=np.float64), points=points)


def read_one(file: Path) -> Surface:
    """The surface of a file that holds one mesh."""
    return MESH_READERS[file.suffix.lower()](file)


def _fitting(pattern: Path) -> dict[int, Path]:
    """The files that fit a `####` or `%04d` pattern."""
    head, tail = _PLACE.split(pattern.name, maxsplit=1)
    expression = re.compile(re.escape(head) + r"(-?\d+)" + re.escape(tail))
    files = sorted(pattern.parent.iterdir()) if pattern.parent.is_dir() else []
    fits = [(match, file) for file in files if (match := expression.fullmatch(file.name))]
    return _ordered([(int(match.group(1)), file) for match, file in fits], pattern)


def _following(first: Path) -> dict[int, Path]:
    """The file and those of its folder named like it with a higher number."""
    name = _NUMBERED.match(first.stem)
    if name is None:
        return {0: first}
    neighbours = [file for file in sorted(first.parent.iterdir()) if file.suffix == first.suffix]
    alike = [file for file in neighbours if _family(file) == _family(first)]
    return {k: file for k, file in _one_sequence(alike, first).items() if k >= int(name["number"])}


def _family(file: Path) -> tuple[str, str] | None:
    """What numbered files of one sequence share: the name before and after the number."""
    name = _NUMBERED.match(file.stem)
    return (name["head"], name["tail"] + file.suffix) if name else None


def families(files: Iterable[Path]) -> list[str]:
    """Names of files as an animation is named by: numbered ones of a family as one, `walk.####.obj`; sorted."""
    found: dict[str, list[Path]] = {}
    for file in files:
        number = _NUMBERED.match(file.stem) if file.suffix.lower() in MESH_READERS else None
        place = "" if number is None else "#" * len(number["number"].lstrip("-"))
        name = file.name if number is None else f"{number['head']}{place}{number['tail']}{file.suffix}"
        found.setdefault(name, []).append(file)
    return sorted(name if len(alike) > 1 else alike[0].name for name, alike in found.items())


def _one_sequence(files: list[Path], where: Path) -> dict[int, Path]:
    """Frame number → file; files without a number are passed over unless there is just one file."""
    families = sorted({family for file in files if (family := _family(file))})
    if len(families) > 1:
        raise input_error(
            "several sequences", where=str(where),
            got=", ".join(f"{head}####{tail}" for head, tail in families),
            remedy="give the pattern of one of them",
        )  # fmt: skip
    if not families and len(files) == 1:
        return {0: files[0]}
    plain = [file for file in files if _family(file) is None]
    if plain and len(files) - len(plain) < 2:
        raise input_error(
            "holds several meshes that are no sequence", where=str(where),
            got=", ".join(file.name for file in files[:12]), remedy="name one of them",
        )  # fmt: skip
    names = [(name, file) for file in files if (name := _NUMBERED.match(file.stem))]
    return _ordered([(int(name["number"]), file) for name, file in names], where)


def _ordered(pairs: list[tuple[int, Path]], where: Path) -> dict[int, Path]:
    found: dict[int, Path] = {}
    for number, file in sorted(pairs):
        if number in found:
            raise input_error(
                f"two files for frame {number}", where=str(where), got=f"{found[number].name}, {file.name}",
                remedy="delete one, or give a pattern that fits only one",
            )  # fmt: skip
        found[number] = file
    return found


def _number(place: str, frame: int) -> str:
    """The frame number in the form of its place: `####` or `%04d`."""
    return f"{frame:0{len(place)}d}" if place.startswith("#") else place % frame


def _report_gaps(frames: list[int], path: Path) -> None:
    steps = np.diff(frames)
    if len(steps) and steps.max() > steps.min():
        after = frames[int(np.argmax(steps))]
        _log.warning("%s: frames are missing after frame %d; they are interpolated", path, after)

"""The files a shot reads: the guide's clip, the rest shape, and the hashes that tell whether they changed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from bunraku.contracts import InputError, input_error
from bunraku.geometry import TriMesh
from bunraku.io import Clip, content_hash, input_files, read_clip, read_mesh, require_motion

from .kinds import absolute
from .spec import GuideTable, MeshTable

REPORT = "report.json"


@dataclass(frozen=True)
class InputFile:
    """A file that was read."""

    key: str
    """where the shot names it, e.g. 'object.box.guide'"""
    path: Path
    sha256: str


def read_guide(table: GuideTable, rate: float | None, takes: Path) -> tuple[Clip, Path]:
    """The guide's clip, two frames at least, and the file it comes from."""
    path = table.file if table.file is not None else take_animation(takes, table.take or "")
    clip = read_clip(path, table.prim, rate, meters_per_unit=table.meters_per_unit, up_axis=table.up_axis)
    if rate is not None and clip.prim_path:
        raise input_error(
            "shot.rate is for OBJ sequences; a USD file says its own", got=rate, remedy="leave shot.rate out"
        )
    return require_motion(clip), path


def read_rest(table: MeshTable) -> TriMesh | None:
    """The mesh whose shape is the rest shape, where the shot names one."""
    if table.file is None:
        return None
    return read_mesh(table.file, table.prim, meters_per_unit=table.meters_per_unit, up_axis=table.up_axis)


def take_animation(takes: Path, name: str) -> Path:
    """The animation of a finished take: `name` is 'shot/v003' or 'shot/latest' below the folder of takes."""
    folder = absolute(takes, name)
    pointer = folder.parent / "latest"
    if folder.name == "latest" and pointer.is_file():  # where links are not allowed it is a text
        folder = folder.parent / pointer.read_text(encoding="utf-8").strip()
    if not folder.is_dir():
        raise input_error(
            "there is no such take", where=str(folder), allowed=_known_takes(takes), remedy="run that shot first"
        )
    try:
        report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        finished, files = report["outcome"] == "finished", next(iter(report["animations"].values()))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, StopIteration, RecursionError):
        finished, files = False, []
    if not finished or not files:
        raise input_error("the take is not finished", where=str(folder), remedy="bunraku run its shot with --resume")
    readable = [one for one in files if not one.endswith(".pc2")]
    if not readable:
        raise input_error("the take holds PC2 only, which has no faces", where=str(folder), remedy="write 'usdc' too")
    return folder / readable[0]


def _known_takes(takes: Path) -> str:
    found = sorted(f"{one.parent.name}/{one.name}" for one in takes.glob("*/v[0-9]*")) if takes.is_dir() else []
    return ", ".join(found[:12]) or "none is there yet"


def hashed(key: str, path: Path) -> list[InputFile]:
    """Every file that is read for `path`, with its hash."""
    try:
        return [InputFile(key, file, content_hash(file)) for file in input_files(path)]
    except InputError as error:  # it was readable a moment ago
        raise InputError(f"{key}: {error}") from error

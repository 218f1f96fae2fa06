"""Reading: any file an artist may have becomes a mesh or a clip. A new format is one entry in `_FORMATS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bunraku.contracts import input_error
from bunraku.geometry import TriMesh
from bunraku.motion import Animation

from .clip import Clip, Recording, as_clip, rest_mesh
from .files import missing
from .obj import read_obj
from .sequence import find_sequence, is_pattern, read_sequence


@dataclass(frozen=True)
class _Format:
    """How files of one kind are read: `record(path, prim, limit of samples)` and `files(path)`."""

    record: Callable[[Path, str | None, int | None], Recording]
    files: Callable[[Path], list[Path]]


def _record_usd(path: Path, prim: str | None, limit: int | None) -> Recording:
    from .usd import read_usd

    return read_usd(path, prim, limit)


def _usd_files(path: Path) -> list[Path]:
    from .usd import used_files

    return used_files(path)


def _record_obj(path: Path, prim: str | None, limit: int | None) -> Recording:
    if prim is not None:
        raise input_error("OBJ files have no prims", where=str(path), got=prim, remedy="leave prim out")
    return read_sequence(path, limit=limit)


def _obj_files(path: Path) -> list[Path]:
    return list(find_sequence(path).values())


_USD, _OBJ = _Format(_record_usd, _usd_files), _Format(_record_obj, _obj_files)
_FORMATS = {".usd": _USD, ".usda": _USD, ".usdc": _USD, ".usdz": _USD, ".obj": _OBJ}


def read_mesh(
    path: str | Path,
    prim: str | None = None,
    *,
    meters_per_unit: float | None = None,
    up_axis: str | None = None,
) -> TriMesh:
    """The mesh of a file [m, Y-up]: its rest shape where it moves.

    `prim` names the mesh in a USD file that holds several. The file's unit and up-axis (OBJ: metres, Y) are
    overridden by `meters_per_unit` and `up_axis`.
    """
    source = Path(path)
    if source.is_file() and source.suffix.lower() == ".obj" and prim is None:
        rest, faces = read_obj(source)
        recording = Recording(source, "", faces, rest, rest[:0, 0], rest[None, :0], 1.0, 1.0, "Y")
    else:
        recording = _format(source).record(source, prim, 1)
    return rest_mesh(_overridden(recording, None, meters_per_unit, up_axis))


def read_clip(
    path: str | Path,
    prim: str | None = None,
    rate: float | None = None,
    *,
    meters_per_unit: float | None = None,
    up_axis: str | None = None,
) -> Clip:
    """The animation of a file with the file's frame numbers, rate, unit and axis.

    `path` is a USD file, or an OBJ sequence: a folder, a glob, `name.####.obj`, `name.%04d.obj` or its
    first file. `rate` [frames/s] overrides the file's; OBJ has none, 24 where not given. Points are in world
    space, metres and Y-up, times are frame / rate. A still mesh gives a clip of one frame.
    """
    source = Path(path)
    recording = _format(source).record(source, prim, None)
    return as_clip(_overridden(recording, rate, meters_per_unit, up_axis))


def read_animation(
    path: str | Path,
    prim: str | None = None,
    rate: float | None = None,
    *,
    meters_per_unit: float | None = None,
    up_axis: str | None = None,
) -> Animation:
    """The animation of a file, as `read_clip` reads it: metres, Y-up, seconds = frame / rate."""
    return read_clip(path, prim, rate, meters_per_unit=meters_per_unit, up_axis=up_axis).animation


def input_files(path: str | Path) -> list[Path]:
    """Every file `read_clip(path)` reads: the numbered ones of a sequence, the layers of a USD stage."""
    source = Path(path)
    return _format(source).files(source)


def _format(path: Path) -> _Format:
    """The format of a path: by its suffix; folders and patterns are OBJ sequences."""
    known = _FORMATS.get(path.suffix.lower())
    if path.is_dir():
        return _OBJ
    if known is _OBJ and (is_pattern(path) or not path.exists()):
        return _OBJ
    if not path.exists():
        raise missing(path)
    if known is None:
        raise input_error(
            "unknown kind of file", where=str(path), got=path.suffix or "no suffix",
            allowed=", ".join(_FORMATS), remedy="export USD or OBJ",
        )  # fmt: skip
    return known


def _overridden(
    recording: Recording, rate: float | None, meters_per_unit: float | None, up_axis: str | None
) -> Recording:
    return replace(
        recording,
        rate=recording.rate if rate is None else float(rate),
        meters_per_unit=recording.meters_per_unit if meters_per_unit is None else float(meters_per_unit),
        up_axis=recording.up_axis if up_axis is None else up_axis,
    )

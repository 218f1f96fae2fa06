"""Reading: any file an artist may have becomes a mesh or a clip. A new format is one entry in `_FORMATS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bunraku.contracts import Array, InputError, Vector, input_error, need, path_of
from bunraku.geometry import Surface, TriMesh
from bunraku.motion import Animation

from .axes import length_of, to_metres
from .caches import cache_files, record_cache
from .clip import Clip, Recording, as_clip, check_rate, rest_surface, welded_mesh
from .files import is_there, missing
from .sequence import MESH_READERS, find_sequence, read_one, read_sequence


@dataclass(frozen=True)
class Asked:
    """What of a file is wanted."""

    prim: str | None = None
    """which mesh of a file that holds several"""
    clip: str | None = None
    """which animation of a file that holds several"""
    faces: Path | None = None
    """the file with the faces of a point cache"""
    rate: float | None = None
    """[frames/s] at which motion given by curves is sampled"""
    limit: int | None = None
    """how many samples, from the first"""

    def __post_init__(self) -> None:
        for name in ("prim", "clip"):
            if getattr(self, name) is not None:
                need(str, name, getattr(self, name))


@dataclass(frozen=True)
class _Format:
    """How files of one kind are read."""

    record: Callable[[Path, Asked], Recording]
    files: Callable[[Path, Asked], list[Path]]
    answers: frozenset[str] = frozenset()
    """the fields of `Asked` it understands, besides the rate and the limit"""
    meshes: Callable[[Path], list[str]] | None = None
    """paths of the meshes in a file that may hold several; such files say their unit, too"""


def _record_usd(path: Path, asked: Asked) -> Recording:
    from .usd import read_usd

    return read_usd(path, asked.prim, asked.limit)


def _usd_files(path: Path, asked: Asked) -> list[Path]:
    from .usd import used_files

    return used_files(path)


def _usd_meshes(path: Path) -> list[str]:
    from .usd import mesh_paths

    return mesh_paths(path)


def _record_gltf(path: Path, asked: Asked) -> Recording:
    from .gltf import read_gltf

    found = read_gltf(path, asked.prim, asked.limit, clip=asked.clip, rate=asked.rate)
    return Recording(path, found.surface, found.prim_path, found.frames, found.points, found.rate, 1.0, "Y")


def _gltf_files(path: Path, asked: Asked) -> list[Path]:
    from .gltf import gltf_files

    return gltf_files(path)


def _gltf_meshes(path: Path) -> list[str]:
    from .gltf import gltf_meshes

    return gltf_meshes(path)


def _record_cache(path: Path, asked: Asked) -> Recording:
    return record_cache(path, asked.faces, asked.rate)


_USD = _Format(_record_usd, _usd_files, frozenset({"prim"}), _usd_meshes)
_GLTF = _Format(_record_gltf, _gltf_files, frozenset({"prim", "clip"}), _gltf_meshes)
_CACHE = _Format(_record_cache, lambda path, asked: cache_files(path, asked.faces), frozenset({"faces"}))
_SEQUENCE = _Format(
    lambda path, asked: read_sequence(path, asked.limit), lambda path, asked: list(find_sequence(path).values())
)
_FORMATS = {
    **dict.fromkeys((".usd", ".usda", ".usdc", ".usdz"), _USD), **dict.fromkeys((".gltf", ".glb"), _GLTF),
    **dict.fromkeys(MESH_READERS, _SEQUENCE), **dict.fromkeys((".pc2", ".mdd"), _CACHE),
}  # fmt: skip
SUFFIXES = tuple(_FORMATS)
"""of files that may hold a guide"""
_ELSEWHERE = {
    ".abc": "Alembic cannot be read here; convert it once: in Blender import it and export USD, or run "
    "`usdcat cloth.abc -o cloth.usdc` with a USD built with Alembic",
    ".fbx": "FBX cannot be read here; export USD or glTF from the program it came from, or import it in Blender and "
    "export USD",
    ".blend": "Blender files cannot be read here; export USD from Blender",
    **dict.fromkeys((".ma", ".mb"), "Maya files cannot be read here; export USD from Maya"),
    ".bgeo": "Houdini geometry cannot be read here; write USD from Houdini",
    ".bvh": "holds a skeleton's motion, no surface; read it with read_skeleton and bind a mesh to it, or name it as "
    "guide = { file = 'mesh.obj', rig = { skeleton = 'motion.bvh' } } in a shot",
    **dict.fromkeys(
        (".msh", ".node", ".ele"), "holds a solid of tetrahedra, not an animated surface; read it with read_tets"
    ),
}


def several_meshes(path: Path) -> list[str]:
    """The paths of a file's meshes, of which one must be named; [] where there is nothing to choose."""
    form = _FORMATS.get(path.suffix.lower())
    found = [] if form is None or form.meshes is None else form.meshes(path)
    return found if len(found) > 1 else []


def says_unit(name: str) -> bool:
    """Whether files of such a name know their unit and their axes."""
    form = _FORMATS.get(Path(name).suffix.lower())
    return form is not None and form.meshes is not None


def read_surface(
    path: str | Path,
    prim: str | None = None,
    *,
    unit: str | float | None = None,
    up_axis: str | None = None,
) -> Surface:
    """The surface of a file as the file has it, at rest [m, Y-up]: polygons, split points, what is painted on them."""
    return rest_surface(_still(path_of(path), prim, unit, up_axis))


def read_mesh(
    path: str | Path,
    prim: str | None = None,
    *,
    unit: str | float | None = None,
    up_axis: str | None = None,
    sew: bool = True,
) -> TriMesh:
    """The mesh of a file for physics [m, Y-up]: its rest shape where it moves.

    Polygons are triangulated, seams are sewn (`sew=False` leaves them), elements without meaning are left out with a
    note. `prim` names the mesh in a file that holds several. `unit` ('cm', or its length in metres) and `up_axis`
    override the file's own; where it does not say, metres and Y.
    """
    need(bool, "sew", sew)
    return welded_mesh(_still(path_of(path), prim, unit, up_axis), sew=sew)


def read_clip(
    path: str | Path,
    prim: str | None = None,
    rate: float | None = None,
    *,
    clip: str | None = None,
    faces: str | Path | None = None,
    unit: str | float | None = None,
    up_axis: str | None = None,
    sew: bool = True,
) -> Clip:
    """The animation of a file with the file's frame numbers, rate, unit and axis.

    `path` is a USD or glTF file, a PC2 or MDD cache (`faces`: the mesh file it belongs to; the one of the same name
    where not given), or a sequence of OBJ, PLY, OFF or STL: a folder, a glob, `name.####.obj`, `name.%04d.obj` or its
    first file. `prim` and glTF's `clip` choose where there are several. `rate` [frames/s] overrides the file's; 24
    where neither says. Points are in world space, metres and Y-up, times are frame / rate. A still mesh gives a clip
    of one frame. For the rest see `read_mesh`.
    """
    need(bool, "sew", sew)
    found = record(path, prim, rate, clip=clip, faces=faces, unit=unit, up_axis=up_axis)
    return as_clip(found, rate, sew=sew, faces_path=None if faces is None else Path(faces))


def record(
    path: str | Path,
    prim: str | None = None,
    rate: float | None = None,
    *,
    clip: str | None = None,
    faces: str | Path | None = None,
    unit: str | float | None = None,
    up_axis: str | None = None,
) -> Recording:
    """What a file says, in its own unit and axes (or those given instead); parameters as for `read_clip`."""
    source = path_of(path)
    if rate is not None:
        check_rate(rate, str(path))
    asked = Asked(prim, clip, None if faces is None else path_of(faces, "faces"), rate)
    return _overridden(_format(source, asked).record(source, asked), unit, up_axis)


def read_animation(
    path: str | Path,
    prim: str | None = None,
    rate: float | None = None,
    *,
    clip: str | None = None,
    faces: str | Path | None = None,
    unit: str | float | None = None,
    up_axis: str | None = None,
    sew: bool = True,
) -> Animation:
    """The animation of a file, as `read_clip` reads it: metres, Y-up, seconds = frame / rate."""
    return read_clip(path, prim, rate, clip=clip, faces=faces, unit=unit, up_axis=up_axis, sew=sew).animation


def read_poses(
    path: str | Path,
    prim: str | None = None,
    rate: float | None = None,
    *,
    unit: str | float | None = None,
    up_axis: str | None = None,
) -> tuple[Vector, Array]:
    """Frame numbers (t,) and points (t, n, 3) [m, Y-up] of a file, point by point as the file has them."""
    found = record(path, prim, rate, unit=unit, up_axis=up_axis)
    moving = found.surface.points[None] if found.points is None else found.points
    frames = np.zeros(1) if found.frames is None else found.frames
    return frames, to_metres(moving, found.unit, found.up_axis)


def input_files(path: str | Path, *, faces: str | Path | None = None) -> list[Path]:
    """Every file `read_clip(path)` reads: the numbered ones of a sequence, the layers of a USD stage."""
    source = Path(path)
    asked = Asked(faces=None if faces is None else Path(faces))
    return _format(source, asked).files(source, asked)


def check_there(path: str | Path) -> None:
    """Refuse what is not there or is of no kind that can be read; what else it needs is seen when it is read."""
    source = Path(path)
    chosen = _format(source, Asked())
    if chosen is _SEQUENCE:
        find_sequence(source)


def _still(path: Path, prim: str | None, unit: str | float | None, up_axis: str | None) -> Recording:
    """The recording of one shape: of a sequence's file, that file alone."""
    asked = Asked(prim=prim, limit=1)
    chosen = _format(path, asked)
    alone = chosen is _SEQUENCE and is_there(path) and path.is_file()
    recording = Recording(path, read_one(path)) if alone else chosen.record(path, asked)
    return _overridden(recording, unit, up_axis)


def _format(path: Path, asked: Asked) -> _Format:
    """The format of a path: by its suffix; folders and patterns are sequences."""
    folder = is_there(path) and path.is_dir()
    known = _SEQUENCE if folder else _FORMATS.get(path.suffix.lower())
    sequence = known is _SEQUENCE and not (is_there(path) and path.is_file())
    if not sequence and not is_there(path):
        raise missing(path)
    if sequence and not folder and is_there(path):
        raise input_error("is no ordinary file", where=str(path), got="a pipe or a device", remedy="copy it to a file")
    if known is None:
        raise _unknown(path)
    for name in ("prim", "clip", "faces"):
        if getattr(asked, name) is not None and name not in known.answers:
            kind = path.suffix.lower() or "sequences"
            raise input_error(
                f"{kind} files have no {name}",
                where=str(path),
                got=str(getattr(asked, name)),
                remedy=f"leave {name} out",
            )
    return known


def _unknown(path: Path) -> InputError:
    suffix = path.suffix.lower()
    if suffix in _ELSEWHERE:
        return input_error(_ELSEWHERE[suffix], where=str(path), got=suffix)
    return input_error(
        "unknown kind of file", where=str(path), got=path.suffix or "no suffix",
        allowed=", ".join(_FORMATS) + "; solids: .msh, .node, .ele", remedy="export USD or OBJ",
    )  # fmt: skip


def _overridden(recording: Recording, unit: str | float | None, up_axis: str | None) -> Recording:
    return replace(
        recording,
        meters_per_unit=recording.meters_per_unit if unit is None else length_of(unit),
        up_axis=recording.up_axis if up_axis is None else up_axis,
    )

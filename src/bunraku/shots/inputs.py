"""The files a shot reads: the guide's clip, the rest shape, and the hashes that tell whether they changed."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.contracts import InputError, Points, input_error
from bunraku.geometry import Surface, check_coordinates
from bunraku.io import (
    UNITS,
    Clip,
    body_files,
    content_hash,
    doubt_about_body,
    doubt_about_unit,
    holds_tets_only,
    input_files,
    read_clip,
    record_skeleton,
    require_motion,
    skeleton_files,
    survey,
)
from bunraku.rigs import Skeleton, bind

from .kinds import absolute
from .rest_spec import RestTable
from .source_spec import AnimationKeys, MeshTable, RigTable

REPORT = "report.json"
_UNLIKE = 0.3  # share by which a skeleton may be smaller or larger than its mesh before that is said

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class InputFile:
    """A file that was read."""

    key: str
    """where the shot names it, e.g. 'object.box.guide'"""
    path: Path
    sha256: str


@dataclass(frozen=True)
class _Source:
    """Where a guide is read from, and what must be known to read it."""

    path: Path
    prim: str | None = None
    unit: str | float | None = None
    up_axis: str | None = None
    rate: float | None = None


def read_guide(table: AnimationKeys, rate: float | None, takes: Path) -> tuple[Clip, Path]:
    """The guide's clip, two frames at least, and the file it comes from."""
    clip, path = read_source(table, rate, takes)
    if table.rig is None and rate is not None and clip.rate_known and clip.path.suffix.lower() not in (".gltf", ".glb"):
        raise input_error(
            "shot.rate is for files that have no rate; this one says its own", got=rate, remedy="leave shot.rate out"
        )
    return require_motion(clip), path


def read_source(table: AnimationKeys, rate: float | None, takes: Path) -> tuple[Clip, Path]:
    """The clip of a file or of a finished take, perhaps of one frame, and the file it comes from. `rate` [frames/s]
    is for files that have none, and for skeletons and glTF files, which are sampled."""
    if table.file is None:
        source = take_animation(takes, table.take or "")
    else:
        source = _Source(table.file, table.prim, table.unit, table.up_axis, rate)
    clip = read_clip(
        source.path, source.prim, source.rate, clip=table.clip, faces=table.faces, unit=source.unit,
        up_axis=source.up_axis, sew=table.sew,
    )  # fmt: skip
    require_unit(clip.unit_known, clip.mesh.rest, clip.path)
    if table.rig is not None:
        clip = rigged(clip, table.rig, rate)
    return clip, source.path


def source_inputs(key: str, path: Path, table: AnimationKeys) -> list[InputFile]:
    """Every file that is read for an animation that came from `path`."""
    found = hashed(key, path, table.faces)
    return found if table.rig is None else found + hashed(f"{key}.rig", table.rig.skeleton, skeleton=True)


def rigged(clip: Clip, table: RigTable, rate: float | None) -> Clip:
    """The clip's rest shape carried by a skeleton: on the skeleton's frames, or sampled at a rate [frames/s]."""
    found = record_skeleton(table.skeleton, clip=table.clip, prim=table.prim)
    skeleton = found.in_metres(table.unit if table.unit is not None or not table.fit else 1.0, table.up_axis)
    if not table.fit:
        known = table.unit is not None or found.meters_per_unit is not None
        if not known:
            raise _unit_of_skeleton(table.skeleton, np.concatenate(skeleton.bones()[1:]))
    if table.bind_frame is not None:
        low, high = np.round(skeleton.times[[0, -1]] * skeleton.rate, 6)
        if not low <= table.bind_frame <= high:
            raise input_error("the skeleton's motion has no such frame", where="rig.bind_frame", got=table.bind_frame,
                              allowed=f"{low:g} to {high:g}")  # fmt: skip
        skeleton = skeleton.bound_at(table.bind_frame / skeleton.rate)
    if len(clip.frames) > 1:
        _log.warning("%s moves by itself; with a rig only its rest shape is used", clip.path)
    if table.up_axis is None and (lying := found.lying()):
        _log.warning("%s: it %s", table.skeleton, lying)
    if not table.fit:
        _compare_heights(skeleton, clip, table.skeleton)
    rig = bind(clip.mesh, skeleton.fitted(clip.mesh) if table.fit else skeleton)
    animation = rig.animation(rate=rate)
    own = skeleton.rate if rate is None else rate
    loose = np.repeat(clip.surface.points[clip.welded.loose][None], animation.frame_count, axis=0)
    return replace(clip, animation=animation, frames=np.round(animation.times * own, 6), rate=own, rate_known=True,
                   loose=loose)  # fmt: skip


def _unit_of_skeleton(path: Path, ends: Points) -> InputError:
    """The refusal of a skeleton whose unit nobody said; it need not be known where the skeleton is fitted."""
    doubt = doubt_about_body(ends)
    named = doubt.rpartition(": if so, say ")[2] if "if so" in doubt else "" if doubt else "unit = 'm'"
    sizes = " × ".join(f"{size:.3g}" for size in np.ptp(ends, axis=0))
    return input_error(
        "the file does not say its unit, so the skeleton cannot be laid into the mesh", where=str(path),
        got=f"a bind pose of {sizes} units", allowed=", ".join(repr(name) for name in UNITS) + " or a length in metres",
        remedy="fit = true" + (f", or {named}" if named else ""),
    )  # fmt: skip


def _compare_heights(skeleton: Skeleton, clip: Clip, path: Path) -> None:
    """Warn where the skeleton is much smaller or larger than the mesh it is to stand in."""
    ends = np.concatenate(skeleton.bones()[1:])
    tall, high = float(np.ptp(ends[:, 1])), float(np.ptp(clip.mesh.rest[:, 1]))
    if not (1 - _UNLIKE) * high <= tall <= (1 + _UNLIKE) * high:
        _log.warning(
            "%s: its bind pose is %.2g m tall and the mesh %.2g m, so it does not stand in it and weights will be "
            "wrong; try: fit = true, or another unit or up_axis", path, tall, high,
        )  # fmt: skip


def require_unit(known: bool, rest: Points, path: Path) -> None:
    """Refuse a file whose unit nobody said: physics depends on it. `rest` (n, 3) as read in metres."""
    if known:
        return
    doubt = doubt_about_unit(rest, 1.0)
    sizes = " × ".join(f"{size:.3g}" for size in np.ptp(rest, axis=0))
    raise input_error(
        "the file does not say its unit, and weight and stiffness depend on it", where=str(path),
        got=f"a shape of {sizes} units", allowed=", ".join(repr(name) for name in UNITS),
        remedy="unit = 'm'" if not doubt else doubt.rsplit(": if so, say ", 1)[1],
    )  # fmt: skip


def read_rest(table: MeshTable | RestTable) -> Surface | None:
    """The surface whose shape is the rest shape, where the shot names one."""
    if table.file is None:
        return None
    found = survey(table.file, table.prim, unit=table.unit, up_axis=table.up_axis)
    check_coordinates(found.surface.points, found.name)
    require_unit(found.unit_known, found.surface.points[found.surface.corners], found.path)
    return found.surface


def take_animation(takes: Path, name: str) -> _Source:
    """The animation of a finished take."""
    folder, chosen, report = find_take(takes, name)
    files, prims = report["animations"][chosen], report["prims"]
    best = min(files, key=lambda one: (one not in prims, one.endswith(".glb")))  # USD where there is one
    if best in prims:
        return _Source(folder / best, prims[best])
    if best.endswith(".glb"):
        return _Source(folder / best)
    facts = report["facts"]
    return _Source(folder / best, None, float(facts["unit"]), str(facts["up_axis"]), float(facts["rate"]))


def find_take(takes: Path, name: str) -> tuple[Path, str, dict[str, Any]]:
    """The folder of a finished take, the object that is meant, and its report: `name` is 'shot/v003' or 'shot/latest'
    below the folder of takes; of a take of several objects 'shot/v003/NAME'."""
    folder, chosen = absolute(takes, name), ""
    if not folder.exists() and (folder.parent / REPORT).is_file():
        folder, chosen = folder.parent, folder.name
    pointer = folder.parent / "latest"
    if folder.name == "latest" and pointer.is_file():  # where links are not allowed it is a text
        folder = folder.parent / pointer.read_text(encoding="utf-8").strip()
    if not folder.is_dir():
        raise input_error(
            "there is no such take", where=str(folder), allowed=_known_takes(takes), remedy="run that shot first"
        )
    report = finished_report(folder)
    animations = report["animations"]
    if chosen not in animations and (chosen or len(animations) > 1):
        several, first = len(animations) > 1, next(iter(animations))
        raise input_error(
            "the take has several objects" if several else "the take has no such object", where=str(folder),
            got=chosen or None, allowed=", ".join(animations),
            remedy=f"take = '{folder.parent.name}/{folder.name}/{first}'",
        )  # fmt: skip
    return folder, chosen or next(iter(animations)), report


def finished_report(folder: Path) -> dict[str, Any]:
    """The report of a take; refused where it is not finished."""
    try:
        report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        told = dict(report["animations"]).items()
        animations = {str(name): [str(one) for one in files] for name, files in told if files}
        prims = {str(file): str(prim) for file, prim in dict(report["prims"]).items()}
        report, facts = {**report, "animations": animations, "prims": prims}, report["facts"]
        _ = float(facts["unit"]), str(facts["up_axis"]), float(facts["rate"])
        finished = report["outcome"] == "finished" and bool(animations)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        report, finished = {}, False
    if not finished:
        raise input_error("the take is not finished", where=str(folder), remedy="bunraku run its shot with --resume")
    return report


def _known_takes(takes: Path) -> str:
    found = sorted(f"{one.parent.name}/{one.name}" for one in takes.glob("*/v[0-9]*")) if takes.is_dir() else []
    return ", ".join(found[:12]) or "none is there yet"


def hashed(
    key: str, path: Path, faces: Path | None = None, *, skeleton: bool = False, body: bool = False
) -> list[InputFile]:
    """Every file that is read for `path`, with its hash."""
    try:
        if body or holds_tets_only(path):
            files = body_files(path)
        else:
            files = skeleton_files(path) if skeleton else input_files(path, faces=faces)
        return [InputFile(key, file, content_hash(file)) for file in files]
    except InputError as error:  # it was readable a moment ago
        raise InputError(f"{key}: {error}") from error

"""What an object of a shot may go after: what others go after, stages, finished takes, files beside those it names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from bunraku.contracts import InputError
from bunraku.io import SUFFIXES, families, several_meshes

from .contact_spec import SHAPES
from .folder import TakeFolder, takes_of
from .inputs import finished_report
from .kinds import absolute, relative
from .knob_sheet import followed
from .roles import motion_key, role_of
from .stage_links import FEED

_MOST_FILES = 200  # of a folder
_MOST_SHOTS = 40
_MOST_TAKES = 6  # of a shot, the newest
Group = Literal["now", "object", "stage", "take", "file"]
"""where a motion comes from: what the object goes after now, another object, a stage, a take, a file"""


@dataclass(frozen=True)
class Motion:
    """Something to go after."""

    told: Mapping[str, Any]
    """as the file would say it"""
    title: str
    group: Group


def motions_for(
    settings: Mapping[str, Any], name: str, folder: Path, stage: str = "", opened: Collection[Path] = ()
) -> list[Motion]:
    """What the object of a shot whose file in `folder` says this may go after, that which it does first. Files that
    shots name, and those in `opened`, are looked into: each of several meshes stands for itself."""
    shot = settings.get("stage", {}).get(stage, {}) if stage else settings
    objects = {one: table for one, table in shot.get("object", {}).items() if isinstance(table, dict)}
    if name not in objects:
        return []
    now = _motion_of(objects[name])
    found = [] if not now else [Motion(now, followed(now), "now")]
    found += _of_others(objects, name, now)
    if stage:
        found += [Motion({FEED: one}, one, "stage") for one in settings["stage"] if one != stage]
    told = {**settings.get("output", {}), **shot.get("output", {})}
    takes = absolute(folder, str(told.get("folder", "takes")))
    found += _takes(takes)
    found += _files(objects, folder, takes, opened)
    return _once(found)


def _of_others(objects: Mapping[str, Any], name: str, now: Mapping[str, Any]) -> Iterator[Motion]:
    solid = role_of(objects[name]) != "obstacle"
    for other, table in objects.items():
        told = _motion_of(table)
        if other != name and told and not (solid and any(one in told for one in SHAPES)):
            yield Motion(told, f"as {other}: {followed(told)}", "object")


def _motion_of(table: Mapping[str, Any]) -> Mapping[str, Any]:
    told = table.get(motion_key(table))
    return told if isinstance(told, dict) else {}


def _takes(takes: Path) -> Iterator[Motion]:
    """Finished takes, the newest of each shot first, an object each where they have several."""
    shots = sorted(one for one in takes.iterdir() if one.is_dir()) if takes.is_dir() else []
    for shot in shots[:_MOST_SHOTS]:
        for take in takes_of(shot)[:_MOST_TAKES]:
            name = f"{shot.name}/{take.version}"
            for one in _objects_of_take(take, name):
                yield Motion({"take": one}, one, "take")


def _objects_of_take(take: TakeFolder, name: str) -> list[str]:
    """As a shot names them; none where it is not finished."""
    with suppress(InputError):
        animations = finished_report(take.path)["animations"]
        return [name] if len(animations) == 1 else [f"{name}/{one}" for one in animations]
    return []


def _files(objects: Mapping[str, Any], folder: Path, takes: Path, opened: Collection[Path]) -> Iterator[Motion]:
    named = [absolute(folder, str(told["file"])) for told in map(_motion_of, objects.values()) if "file" in told]
    folders = dict.fromkeys([folder, *(one.parent for one in named)])
    for place in folders:
        for file in _names_in(place):
            if takes not in file.parents:
                yield from _meshes_of(file, folder, file in named or file in opened)


def _names_in(folder: Path) -> list[Path]:
    with suppress(OSError):
        files = [one for one in folder.iterdir() if one.suffix.lower() in SUFFIXES and one.is_file()]
        return [folder / name for name in islice(families(files), _MOST_FILES)]
    return []


def _meshes_of(file: Path, folder: Path, look: bool) -> Iterator[Motion]:
    name, prims = relative(file, folder), list[str]()
    if look:
        with suppress(InputError):  # said by whoever reads it
            prims = several_meshes(file)
    tables = [{"file": name, "prim": one} for one in prims] or [{"file": name}]
    yield from (Motion(one, followed(one), "file") for one in tables)


def _once(found: list[Motion]) -> list[Motion]:
    """Those that say the same only once; what an object goes after now is what it is among the files, too."""
    seen, out = list[tuple[Any, ...]](), list[Motion]()
    for one in found:
        says = tuple(one.told.get(name) for name in ("file", "prim", "take", FEED, *SHAPES))
        if says not in seen:
            seen.append(says)
            out.append(one)
    return out

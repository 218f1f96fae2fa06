"""What must change in a shot's objects for one of them to play another role, or to go after another motion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bunraku.contracts import input_error
from bunraku.io import says_unit

from .contact_spec import SHAPES
from .findings import Place
from .kinds import Kind, joined
from .spec import OBJECT
from .stage_links import fed
from .tables import Named, Table, keys_of
from .toml_edit import KeyPath, named

Changes = list[tuple[KeyPath, Any]]
"""paths below `object` and what stands there then; None: nothing"""
MOTIONS = {"shell": "guide", "obstacle": "source", "body": "surface", "plan": "surface", "wrinkle": "surface"}
"""the key under which an object of a role names the animation or the mesh it goes after"""
_TOGETHER = ("body", "plan")
"""roles that several objects of a shot may play"""
_OF_ANY_FILE = ("sew", "retime")
"""what is said of a motion whichever file it is in"""


def role_of(table: Mapping[str, Any]) -> str:
    """The role an object plays, said or not."""
    return str(table.get("role", "obstacle" if "source" in table and "guide" not in table else "shell"))


def motion_key(table: Mapping[str, Any]) -> str:
    """The key under which an object says what it goes after."""
    said = [one for one in ("guide", "source", "surface") if isinstance(table.get(one), dict)]
    return said[0] if said else MOTIONS.get(role_of(table), "guide")


def role_changes(objects: Mapping[str, Any], name: str, role: str, folder: Path) -> tuple[Changes, str]:
    """Changes to a shot's objects, as its file in `folder` has them, by which one plays another role, and what to call
    that.

    What only the former role understands goes. Where an obstacle comes to be simulated that cannot be beside the one
    that is, the two trade roles: that one becomes the obstacle.
    """
    table = objects.get(name)
    if not isinstance(table, dict):
        raise input_error("there is no such object", got=name[:80], allowed=joined(list(objects)))
    before = role_of(table)
    if before == role:
        return [], ""
    turned = {name: role}
    others = [one for one, told in objects.items() if one != name and role_of(told) != "obstacle"]
    if before == "obstacle" and len(others) == 1 and not role_of(objects[others[0]]) == role in _TOGETHER:
        turned[others[0]] = "obstacle"
    if role == "obstacle" and not others:
        raise input_error(
            "is all that is simulated", where=f"object.{name}.role", got=role,
            remedy="another role for an obstacle, and the two trade",
        )  # fmt: skip
    changes, told = Changes(), list[str]()
    for one, to in turned.items():
        own, moved = list(_turned(objects[one], one, to, folder)), (motion_key(objects[one]),)
        lost = [named(path) for path, value in own if value is None and path != moved]
        changes += [((one, *path), value) for path, value in own]
        told.append(f"{one}: {to} instead of {role_of(objects[one])}" + (f", without {joined(lost)}" if lost else ""))
    return changes, "; ".join(told)


def follow_changes(table: Mapping[str, Any], told: Mapping[str, Any]) -> Changes:
    """Changes to an object's table by which it goes after another motion: `told`, as the file would say it. What was
    said of the former file (its unit, its mesh) goes with it, unless the new one needs to be told the same."""
    key = motion_key(table)
    before = table.get(key)
    if not isinstance(before, dict):
        return list(_written(key, told))
    alike = before.get("file") == told.get("file") is not None
    kept = {one: value for one, value in before.items() if one in _OF_ANY_FILE or (alike and one not in told)}
    if alike and "prim" not in told:
        kept.pop("prim", None)
    files = [str(one.get("file", "x.usd")) for one in (before, told)]
    if not any(says_unit(one) for one in files):
        kept |= {one: before[one] for one in ("unit", "up_axis") if one in before}
    return [((key,), {**kept, **told})]


def _turned(table: Mapping[str, Any], name: str, role: str, folder: Path) -> Iterator[tuple[KeyPath, Any]]:
    """Changes to a table by which its object plays another role."""
    before, after = motion_key(table), MOTIONS[role]
    if role == "wrinkle" and before == "guide":
        after = before
    motion = table.get(before, {})
    if role != "obstacle" and (shape := next((one for one in SHAPES if one in motion), "")):
        raise input_error(
            f"a {shape} stands in the way and cannot be simulated", where=f"object.{name}.role", got=role,
            allowed="obstacle", remedy="a file or a take as its source first",
        )  # fmt: skip
    known = keys_of(OBJECT.tables[role].cls)
    readable = fed({"object": {name: {one: value for one, value in table.items() if one in known}}}, {})["object"][name]
    place = Place("", folder)
    yield ("role",), role
    for one in table:
        if one == before != after or (one not in known and one != before):
            yield (one,), None
        elif one not in ("role", before):
            yield from ((path, None) for path in _strange(known[one].kind, readable[one], (one,), place))
    if after != before:
        yield from _written(after, motion)


def _strange(kind: Kind, value: Any, path: KeyPath, place: Place) -> list[KeyPath]:
    """What a kind does not understand of a value: parts of it, where the rest can stand alone, or all."""
    if _reads(kind, value, place):
        return []
    if not isinstance(value, dict) or not isinstance(kind, (Table, Named)):
        return [path]
    known = {name: kind.kind for name in value} if isinstance(kind, Named) else {
        name: entry.kind for name, entry in keys_of(kind.cls).items()
    }  # fmt: skip
    gone = [
        inner for name, one in value.items()
        for inner in (_strange(known[name], one, (*path, name), place) if name in known else [(*path, name)])
    ]  # fmt: skip
    whole = {path + (name,) for name in value} <= set(gone)
    return [path] if whole or not gone or not _reads(kind, _without(value, gone, len(path)), place) else gone


def _without(value: Any, gone: list[KeyPath], depth: int) -> Any:
    """A table without the keys at some paths, which have `depth` parts before it."""
    left = {}
    for name, one in value.items():
        mine = [path for path in gone if path[depth] == name]
        if not any(len(path) == depth + 1 for path in mine):
            left[name] = _without(one, mine, depth + 1) if mine else one
    return left


def _reads(kind: Kind, value: Any, place: Place) -> bool:
    fresh = Place(place.file, place.folder)
    kind.read(value, fresh)
    return not fresh.findings


def _written(key: str, told: Mapping[str, Any]) -> Iterator[tuple[KeyPath, Any]]:
    """A table that was not there, key by key, so that it is written in braces."""
    yield from (((key, name), value) for name, value in told.items())

"""What a wedge varies: `object.coat.material.young=1e5,1e6` read, spelled out into the shots of all combinations.

The shots say themselves what is wrong with a key or a value: nothing is checked here that they check.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.contracts import InputError

from .findings import Place, nearest
from .kinds import joined
from .shot import Shot, read_settings, shown

_PART = re.compile(r"""([A-Za-z0-9_-]+|"[^"]*"|'[^']*')((?:\[\d+\])*)""")
_PRESETS = ("material", "skin", "interior")
"""keys under which a text is the name of a preset, which a table of that preset may stand for"""
_OPEN, _CLOSE = "[{", "]}"
MOST = 100
"""combinations that are made without being asked for by their number"""
OPTION = "--vary"


@dataclass(frozen=True)
class Varied:
    """A key of a shot file and the values it takes."""

    key: str
    """'object.coat.material.young'"""
    values: tuple[Any, ...]
    """as TOML has them"""

    @property
    def path(self) -> list[str | int]:
        """Its names, and the places in lists."""
        found: list[str | int] = []
        for name, places in _parts(self.key):
            found += [name.strip("\"'"), *(int(one) for one in re.findall(r"\d+", places))]
        return found


@dataclass(frozen=True)
class Combination:
    """One shot of a wedge."""

    values: Mapping[str, Any]
    """key → its value"""
    settings: Mapping[str, Any]
    """of the shot, as its file would say them"""
    shot: Shot


def parse_varied(texts: Sequence[str]) -> tuple[Varied, ...]:
    """The keys and values that 'key=1,2' texts name; refused with everything that is wrong with them at once."""
    place = Place(OPTION, Path())
    found = [one for text in texts if (one := _parsed(text, place)) is not None]
    if not texts:
        place.refuse("a wedge needs something to vary", remedy="--vary object.NAME.material.young=1e5,1e6")
    for k, one in enumerate(found):
        if one.key in [other.key for other in found[:k]]:
            place.at(one.key).refuse("is varied twice", remedy="one --vary with all its values")
    place.raise_all()
    return tuple(found)


def combinations(source: str | Path, varied: Sequence[Varied], most: int = MOST) -> list[Combination]:
    """The shots of all combinations, the last key's values going fastest; everything wrong with any of them is said at
    once."""
    file = Path(source)
    settings = read_settings(file)
    place = Place(OPTION, Path())
    _check_file(settings, file)
    _check_count(varied, most, place)
    known = [one for one in varied if _is_known(one, settings, place)]
    found: list[Combination] = []
    wrong: dict[str, None] = {}
    for values in itertools.product(*(one.values for one in known)):
        told = _with(settings, known, values, place)
        if told is None:
            continue
        try:
            shot = Shot.of(told, folder=file.absolute().parent, source=file)
        except InputError as error:
            wrong |= dict.fromkeys(_ours(line, file, varied) for line in str(error).splitlines())
        else:
            found.append(Combination({one.key: value for one, value in zip(known, values, strict=True)}, told, shot))
    if refused := dict.fromkeys([*place.findings, *wrong]):
        raise InputError("\n".join(refused))
    return found


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """Key → as much of its end as tells it from the others: 'young', or 'coat.material.young'."""
    split = {key: key.split(".") for key in keys}
    for count in range(1, max((len(parts) for parts in split.values()), default=0) + 1):
        names = {key: ".".join(parts[-count:]) for key, parts in split.items()}
        if len(set(names.values())) == len(keys):
            return names
    return {key: key for key in keys}


def value_text(value: Any) -> str:
    """A value as people would write it: '1e6', 'denim', '[1, 2]'."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and float(f"{value:g}") == value:
        return re.sub(r"e\+?(-?)0*", r"e\1", f"{value:g}")
    return json.dumps(value, ensure_ascii=False, default=str)


def _parsed(text: str, place: Place) -> Varied | None:
    key, equals, given = (part.strip() for part in text.partition("="))
    where = place.at(key or text)
    if not equals or not key:
        return where.refuse("does not say what to vary", got=text, allowed="KEY=VALUE,VALUE,…")
    if ".".join(name + places for name, places in _parts(key)) != key:
        return where.refuse("is no key", got=key, allowed="names with dots between them: object.coat.material.young")
    told = _split(given)
    if not all(told):
        return where.refuse("lacks a value", got=given, allowed="VALUE,VALUE,…")
    values = [_value(one) for one in told]
    for k, one in enumerate(values):
        if any(_same(one, other) for other in values[:k]):
            where.refuse("names a value twice", got=told[k])
            return None
    return Varied(key, tuple(values))


def _parts(key: str) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in _PART.finditer(key)]


def _split(text: str) -> list[str]:
    """At commas, but for those in lists, tables and quotes."""
    out, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        depth += 0 if quote else (letter in _OPEN) - (letter in _CLOSE)
        if letter == "," and not quote and depth <= 0:
            out.append("")
        else:
            out[-1] += letter
    return [one.strip() for one in out]


def _value(text: str) -> Any:
    """What TOML makes of it; a word without quotes is a text."""
    try:
        read = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return read["value"] if set(read) == {"value"} else text


def _same(a: Any, b: Any) -> bool:
    """Whether two values say the same: 1e5 and 100000 do, 1 and true do not."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    both_nan = isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b)
    return bool(a == b) or both_nan


def _check_file(settings: Mapping[str, Any], file: Path) -> None:
    if "stage" in settings:
        place = Place(shown(file), Path()).at("stage")
        stages = settings["stage"]
        place.refuse(
            "a wedge varies one shot, and this file has several that feed each other",
            got=joined(list(stages)) if isinstance(stages, dict) else None,
            remedy="a shot of its own that says take = 'FILE-STAGE/v001' where another stage would feed it",
        )  # fmt: skip
        place.raise_all()


def _check_count(varied: Sequence[Varied], most: int, place: Place) -> None:
    count = math.prod(len(one.values) for one in varied)
    if count > most:
        product = " × ".join(str(len(one.values)) for one in varied)
        place.refuse(
            "these are very many combinations", got=f"{product} = {count}" if len(varied) > 1 else count,
            allowed=f"up to {most}", remedy=f"--most {count}, if all of them are meant",
        )  # fmt: skip
        place.raise_all()


def _is_known(one: Varied, settings: Mapping[str, Any], place: Place) -> bool:
    """Refuses what all takes of a wedge have in common, and objects that would only come to be by a slip."""
    path, where = one.path, place.at(one.key)
    before = len(place.findings)
    if path[0] == "output" or path[:2] == ["shot", "name"]:
        where.refuse("is the same for all takes of a wedge, for it changes no motion", remedy="say it in the shot file")
    objects = settings.get("object")
    if path[0] == "object" and isinstance(objects, dict) and (len(path) < 2 or path[1] not in objects):
        named = str(path[1]) if len(path) > 1 else None
        where.refuse(
            "the shot has no such object" if named else "does not say which object", got=named,
            allowed=joined(list(objects)), remedy=nearest(named, list(objects)) if named else "",
        )  # fmt: skip
    return len(place.findings) == before


def _with(
    settings: Mapping[str, Any], varied: Sequence[Varied], values: Sequence[Any], place: Place
) -> dict[str, Any] | None:
    """The settings with these values, tables before what is in them; None where there is no room for one."""
    told = copy.deepcopy(dict(settings))
    pairs = sorted(zip(varied, values, strict=True), key=lambda pair: len(pair[0].path))
    if all(_put(told, one, copy.deepcopy(value), place) for one, value in pairs):
        return told
    return None


def _put(settings: dict[str, Any], one: Varied, value: Any, place: Place) -> bool:
    """Put a value in its place; tables are made on the way, as TOML does."""
    path, inside, where = one.path, settings, place.at(one.key)
    for k, part in enumerate(path):
        if isinstance(part, int) and not (isinstance(inside, list) and part < len(inside)):
            allowed = f"0 to {len(inside) - 1}" if isinstance(inside, list) and inside else "none: it is no list"
            where.refuse("there is no such entry", got=part, allowed=allowed)
            return False
        if isinstance(part, str) and not isinstance(inside, dict):
            where.refuse(f"nothing lies below {_told(path[:k])}", got=inside)
            return False
        within: Any = inside
        if k == len(path) - 1:
            within[part] = value
        elif isinstance(part, str):
            within[part] = _opened(part, within.get(part, {}))
        inside = within[part]
    return True


def _opened(name: str, value: Any) -> Any:
    """What stands for a table with its defaults, as that table: a preset by its name, or `contact = true`."""
    if isinstance(value, str) and name in _PRESETS:
        return {"preset": value}
    return {} if value is True else value


def _told(path: Sequence[str | int]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def _ours(line: str, file: Path, varied: Sequence[Varied]) -> str:
    """A shot's refusal; of what is varied it is not the file that says it."""
    begin = f"{shown(file)}: "
    where = line.removeprefix(begin).partition(":")[0]
    for one in varied:
        if line.startswith(begin) and (where == one.key or _below(where, one.key) or _below(one.key, where)):
            return f"{OPTION}: {line.removeprefix(begin)}"
    return line


def _below(inner: str, outer: str) -> bool:
    return inner.startswith((f"{outer}.", f"{outer}["))

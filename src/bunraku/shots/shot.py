"""A shot: what one TOML file says, validated. Reading, writing, running."""

# `key` makes a dataclass field, which ruff cannot know.
# ruff: noqa: RUF009

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.contracts import InputError, input_error, path_of
from bunraku.io import SUFFIXES, is_there, same_file, write_text

from .body_spec import BodyObject, check_key_order
from .contact_spec import ContactTable, ObstacleObject
from .events import Event
from .findings import Place
from .kinds import Text, joined, relative
from .plan_spec import PlanObject
from .spec import OBJECT, OUTPUT, PHYSICS, SHOT, ObjectTable, OutputTable, PhysicsTable, ShotTable
from .tables import KeyLine, Named, Table, key, key_lines, written
from .toml_text import toml_text
from .wrinkle_spec import WrinkleObject

if TYPE_CHECKING:
    from .run import TakeResult

_OBJECT_NAME = Text(r"[A-Za-z_][A-Za-z0-9_]*", allowed="a name of letters, digits and '_', for it names a prim")


@dataclass(frozen=True, kw_only=True)
class Shot:
    """One shot file. Paths are absolute here and relative to the file there."""

    shot: ShotTable = key(SHOT, "name and time", factory=ShotTable)
    object: Mapping[str, ObjectTable | ObstacleObject | BodyObject | PlanObject | WrinkleObject] = key(
        Named(OBJECT, _OBJECT_NAME), "the bodies, each under its name"
    )
    physics: PhysicsTable = key(PHYSICS, "how the motion is computed", factory=PhysicsTable)
    output: OutputTable = key(OUTPUT, "where the takes go, and as what", factory=OutputTable)
    source: Path | None = field(default=None, compare=False)
    """the file it was read from"""
    within: str = field(default="", compare=False)
    """the table of that file that holds it: 'stage.jump'; empty: the whole file"""

    @classmethod
    def of(
        cls, settings: Mapping[str, Any], *, folder: str | Path = ".", source: Path | None = None, within: str = ""
    ) -> Shot:
        """The shot a file of these settings in `folder` would say; refused with every finding at once. `within`: the
        table of the file that holds them, where it is not the whole file."""
        place = Place(shown(source) if source else "shot", Path(folder).absolute(), within)
        name = source.stem if source else "shot"
        if "stage" in settings and not within:
            place.at("stage").refuse(
                "stages are several shots", allowed="one shot", remedy="bunraku run, or bk.read_stages in Python"
            )
            place.raise_all()
        read = Table(cls, check=_check_objects).read(_filled(settings, name), place)
        place.raise_all()
        return cls(
            shot=read.shot, object=read.object, physics=read.physics, output=read.output, source=source, within=within
        )

    @property
    def name(self) -> str:
        """Names the folder of its takes."""
        return self.shot.name or "shot"

    @property
    def shells(self) -> dict[str, ObjectTable]:
        """The shells, by name; there is one, or bodies instead."""
        return {name: table for name, table in self.object.items() if isinstance(table, ObjectTable)}

    @property
    def bodies(self) -> dict[str, BodyObject]:
        """The bodies that are steered, by name."""
        return {name: table for name, table in self.object.items() if isinstance(table, BodyObject)}

    @property
    def plans(self) -> dict[str, PlanObject]:
        """The bodies whose motion is planned, by name."""
        return {name: table for name, table in self.object.items() if isinstance(table, PlanObject)}

    @property
    def wrinkles(self) -> dict[str, WrinkleObject]:
        """The soft bodies with a skin, by name; there is one at most."""
        return {name: table for name, table in self.object.items() if isinstance(table, WrinkleObject)}

    @property
    def obstacles(self) -> dict[str, ObstacleObject]:
        """The objects that stand in the way, by name."""
        return {name: table for name, table in self.object.items() if isinstance(table, ObstacleObject)}

    @property
    def place(self) -> Place:
        """For errors about this shot's file."""
        return Place(shown(self.source) if self.source else self.name, Path.cwd(), self.within)

    def settings(self, folder: str | Path, *, defaults: bool = True) -> dict[str, Any]:
        """What a file in `folder` must say for this shot; without `defaults` only what differs from them."""
        return written(self, Path(folder), defaults=defaults)

    def write(self, path: str | Path, *, defaults: bool = False, heading: str = "") -> None:
        """Write a shot file that reads back as this shot; `heading` becomes a comment on top."""
        read = [one for table in self.object.values() for one in table.files]
        read += [one.file for one in self.physics.wind.obstacles] if self.physics.wind else []
        if any(same_file(path, one) for one in read):
            raise input_error(
                "the shot file would overwrite an input of the shot", where=str(path), remedy="another name"
            )
        comment = "".join(f"# {line}".rstrip() + "\n" for line in heading.splitlines())
        write_text(path, comment + toml_text(self.settings(Path(path).absolute().parent, defaults=defaults)))

    def run(
        self,
        out: str | Path | None = None,
        *,
        resume: bool = False,
        frames: tuple[int, int] | None = None,
        threads: int | None = None,
        progress: Callable[[Event], None] | None = None,
    ) -> TakeResult:
        """Make a take: frames, files, report. `out` is its folder; else the next number in the output folder.

        `resume` carries on an unfinished take, `frames` (first, last) overrides the shot's, `progress` is told
        of every `Event`. Where physics stops, the frames before it are kept and the outcome says so.
        """
        from .run import run_shot

        return run_shot(self, out=out, resume=resume, frames=frames, threads=threads, progress=progress)


def read_shot(path: str | Path) -> Shot:
    """The shot of a TOML file; everything wrong with it is said at once, a line each."""
    file = path_of(path)
    return Shot.of(read_settings(file), folder=file.absolute().parent, source=file)


def read_settings(path: str | Path) -> dict[str, Any]:
    """What a TOML file says, as it stands there; refused where it is none."""
    file = path_of(path)
    if is_there(file) and not file.is_file() and not file.is_dir():
        raise input_error("is no ordinary file", where=str(path), got="a pipe or a device")
    if file.suffix.lower() in (*SUFFIXES, ".bvh") and file.is_file():
        raise _not_a_shot(file)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise input_error("there is no such file", where=str(path), remedy="check the name") from None
    except IsADirectoryError:
        raise input_error("is a folder", where=str(path), allowed="a shot file (.toml)") from None
    except UnicodeDecodeError as error:
        raise input_error("is not text in UTF-8", where=str(path), got=f"byte {error.start}") from None
    except OSError as error:
        raise input_error("cannot be read", where=str(path), got=error.strerror or str(error)) from None
    return settings_of(text, str(path))


def settings_of(text: str, where: str) -> dict[str, Any]:
    """What a text of TOML says; refused where it is none. `where`: its file, for refusals."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise input_error(f"is not TOML: {_one_line(error, text)}", where=where, remedy="repair that line") from None
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, lists in lists without end
        why = "is nested too deeply" if isinstance(error, RecursionError) else "holds a value no one can mean"
        raise input_error(why, where=where, allowed="a shot file (.toml)") from None


def shot_keys() -> list[KeyLine]:
    """Every key of a shot file with its meaning and default, for the help and the handbook."""
    return list(key_lines(Shot))


def shown(source: Path) -> str:
    """The file as errors name it: from here where that is shorter."""
    near = relative(source.absolute(), Path.cwd())
    return near if len(near) < len(str(source)) or not near.startswith("..") else str(source)


def _filled(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The settings with the defaults that depend on the file: its name, and the folder beside it."""
    filled = dict(settings)
    for table, default in (("shot", {"name": name}), ("output", {"folder": "takes"})):
        if isinstance(filled.get(table, {}), dict):
            filled[table] = {**default, **filled.get(table, {})}
    return filled


def _check_objects(shot: Shot, given: Mapping[str, Any], place: Place) -> None:
    objects = given.get("object")
    if not isinstance(objects, dict):
        return  # refused already
    obstacles = [name for name, one in objects.items() if _is_obstacle(one)]
    shells = [name for name in objects if name not in obstacles]
    if not objects:
        place.at("object").refuse("is empty", allowed="[object.NAME] with a guide")
    elif not shells:
        place.at("object").refuse(
            "has obstacles only, and nothing is simulated", got=joined(obstacles), remedy="[object.NAME] with a guide"
        )
    bodies, plans, wrinkles = (
        [name for name in shells if _has_role(objects[name], role)] for role in ("body", "plan", "wrinkle")
    )
    if len(shells) > 1 and len(shells) not in (len(bodies), len(plans)):
        place.at("object").refuse(
            "several shells, or shells, bodies, plans and skins together, are not yet there", got=joined(shells),
            allowed="one shell or one with role = 'wrinkle', or any number with role = 'body', or with role = 'plan'; "
            "and any number with role = 'obstacle'",
            remedy="one shot file for each; a finished take may be an obstacle",
        )  # fmt: skip
    for name in bodies:
        check_key_order(objects[name], _first_frame(shot), place.at("object").at(name))
    _check_alike([*bodies, *plans], place)
    _check_contact(shot.physics, obstacles, place, felt=not plans and not wrinkles)


def _first_frame(shot: Shot) -> float:
    """Where a shot of bodies begins; before everything where its table is refused already."""
    table: ShotTable | None = shot.shot
    return -math.inf if table is None else float((table.frames or (1, 1))[0])


def _check_alike(names: list[str], place: Place) -> None:
    """Each is written to a file of its name, and on many disks 'Bar' and 'bar' are one."""
    for k, name in enumerate(names):
        same = [other for other in names[:k] if other.lower() == name.lower()]
        if same:
            place.at("object").at(name).refuse(
                "would be written over another body on disks that do not tell capitals apart",
                got=f"{name} and {same[0]}", remedy="another name",
            )  # fmt: skip


def _is_obstacle(given: object) -> bool:
    """Or is meant to be one."""
    return isinstance(given, dict) and (given.get("role") == "obstacle" or ("source" in given and "guide" not in given))


def _has_role(given: object, role: str) -> bool:
    return isinstance(given, dict) and given.get("role") == role


def _check_contact(physics: PhysicsTable | None, obstacles: list[str], place: Place, *, felt: bool) -> None:
    """Obstacles are felt with contact only, unless nothing feels them, and contact needs something that may touch."""
    contact = None if physics is None else physics.contact  # None: refused already
    if contact is False and felt:
        for name in obstacles:
            place.at("object").at(name).at("role").refuse(
                "an obstacle is felt only with contact, and contact is off", got="obstacle",
                remedy="[physics] contact = true",
            )  # fmt: skip
    for name in obstacles:
        if name in ("start", "guide"):
            place.at("object").at(name).refuse(
                "an obstacle of this name could not be told from what pins go to", got=name, remedy="another name"
            )
    if isinstance(contact, ContactTable) and not contact.self_contact and not obstacles:
        place.at("physics").at("contact").at("self").refuse(
            "the shell feels neither itself nor an obstacle", got=False,
            remedy="an [object.NAME] with role = 'obstacle', or contact = false",
        )  # fmt: skip


def _one_line(error: tomllib.TOMLDecodeError, text: str) -> str:
    """The parser's message, with the line put first."""
    said = " ".join(str(error).split())
    place = re.search(r"\(at (line \d+, column \d+|end of document)\)", said)
    if place is None:
        return said
    end = f"line {max(len(text.splitlines()), 1)}, the last"
    where = end if place.group(1).startswith("end") else place.group(1)
    return f"{where}: {said[: place.start()].strip()}"


def _not_a_shot(file: Path) -> InputError:
    """The refusal of a guide in the place of a shot, with the shot that would be meant."""
    suffix, name = file.suffix.lower(), re.sub(r"\W", "_", file.stem.split(".")[0]) or "cloth"
    if suffix == ".bvh":
        what, rig = "motion of a skeleton", f'rig = {{ skeleton = "{file.name}", fit = true }}'
        guide = f'file = "body.obj", unit = "m", {rig}'
    else:
        says_unit = suffix.startswith(".usd") or suffix in (".gltf", ".glb")
        what, guide = "guide", f'file = "{file.name}"' + ("" if says_unit else ', unit = "m"')
    lines = [f"[object.{name}]", f"guide = {{ {guide} }}", 'material = "cotton"']
    shot = name
    while file.with_name(f"{shot}.toml").exists():  # the artist's own
        shot += "_shot"
    return input_error(
        f"is a {what}, not a shot", where=str(file), allowed="a shot file (.toml)",
        remedy=f"write these lines to {shot}.toml and run that:\n  " + "\n  ".join(lines),
    )  # fmt: skip

"""Several shots in one file that feed each other: a motion planned, its landing steered, a coat on it, a skin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.contracts import InputError, path_of

from .events import Event
from .findings import Place, nearest
from .kinds import Text, joined
from .shot import Shot, read_settings, shown
from .spec import OUTPUT, PHYSICS, SHOT
from .stage_links import FEED, Link, check_fed, fed, in_order, links_of, refuse_links

if TYPE_CHECKING:
    from .stage_run import StagesResult

_STAGE_NAME = Text(r"[A-Za-z0-9_]+", allowed="a name of letters, digits and '_'")
_SHARED = {"shot": SHOT, "physics": PHYSICS, "output": OUTPUT}
_OF_STAGE = ("shot", "object", "physics", "output")


@dataclass(frozen=True)
class Stage:
    """One shot of a file of several."""

    name: str
    settings: Mapping[str, Any]
    """of its shot, with what all stages share; what feeds it is named as in the file"""
    feeds: tuple[str, ...]
    """the stages that feed it"""
    folder: Path
    """of the file"""
    source: Path | None

    def shot(self, takes: Mapping[str, str]) -> Shot:
        """The shot, fed by the takes of other stages: stage → 'figure-jump/v001'."""
        return Shot.of(
            fed(self.settings, takes), folder=self.folder, source=self.source, within=f"stage.{self.name}"
        )  # fmt: skip


@dataclass(frozen=True)
class Stages:
    """A file of several shots that feed each other. Each makes takes of its own, in takes/<file>-<stage>."""

    name: str
    """of the file, or what shot.name says"""
    stages: Mapping[str, Stage]
    """by name, each after those that feed it"""
    source: Path | None = field(default=None, compare=False)
    """the file it was read from"""

    @classmethod
    def of(cls, settings: Mapping[str, Any], *, folder: str | Path = ".", source: Path | None = None) -> Stages:
        """The stages a file of these settings in `folder` would say; refused with every finding at once."""
        base = Path(folder).absolute()
        place = Place(shown(source) if source else "stages", base)
        _check_tables(settings, place)
        place.raise_all()
        shared = {name: dict(settings.get(name, {})) for name in _SHARED}
        name = shared["shot"].pop("name", source.stem if source else "shot")
        _check_name(name, place)
        tables: dict[str, dict[str, Any]] = settings["stage"]
        links = {one: links_of(table) for one, table in tables.items()}
        refuse_links(links, place)
        feeds = {one: tuple(dict.fromkeys(link.fed_by for link in own)) for one, own in links.items()}
        stages = {
            one: Stage(one, _merged(f"{name}-{one}", table, shared), feeds[one], base, source)
            for one, table in tables.items()
        }
        _check_stages(stages, links, place)
        place.raise_all()
        order, _ = in_order({one: set(needs) for one, needs in feeds.items()})
        return cls(name, {one: stages[one] for one in order}, source)

    def run(
        self,
        out: str | Path | None = None,
        *,
        resume: bool = False,
        frames: tuple[int, int] | None = None,
        threads: int | None = None,
        progress: Callable[[Event], None] | None = None,
    ) -> StagesResult:
        """Make every stage, each after those that feed it. One whose settings and inputs, what feeds it included, are
        those of a finished take is left alone.

        `out` is a folder of takes instead of the file's; `resume` carries on the take of a stage that is not finished;
        `frames` (first, last) are made of every stage. Where a stage fails, those after it are not made.
        """
        from .stage_run import run_stages

        return run_stages(self, out=out, resume=resume, frames=frames, threads=threads, progress=progress)


def read_stages(path: str | Path) -> Stages:
    """The stages of a TOML file; everything wrong with it is said at once, a line each."""
    file = path_of(path)
    return Stages.of(read_settings(file), folder=file.absolute().parent, source=file)


def read_shot_or_stages(path: str | Path) -> Shot | Stages:
    """What a TOML file holds: one shot, or several in stages."""
    return shot_or_stages_of(read_settings(path), Path(path))


def shot_or_stages_of(settings: Mapping[str, Any], source: Path) -> Shot | Stages:
    """What settings of the file `source` hold: one shot, or several in stages."""
    return (Stages if "stage" in settings else Shot).of(settings, folder=source.absolute().parent, source=source)


def _check_tables(settings: Mapping[str, Any], place: Place) -> None:
    """What stands in the file beside the stages, and that these are tables."""
    known = [*_SHARED, "stage"]
    for name in settings:
        if name == "object":
            place.at(name).refuse("belongs to a stage", got=name, remedy="[stage.NAME.object.NAME]")
        elif name not in known:
            place.at(name).refuse("unknown key", got=name, allowed=joined(known), remedy=nearest(name, known))
    for name, kind in _SHARED.items():
        if name in settings:
            kind.read(settings[name], place.at(name))
    told, where = settings.get("stage"), place.at("stage")
    if not isinstance(told, dict) or not told:
        where.refuse("must be a table of stages", got=told, allowed="[stage.NAME.object.NAME], the objects of a shot")
        return
    alike: dict[str, str] = {}
    for name, table in told.items():
        _STAGE_NAME.read(name, where.at(name))
        if alike.setdefault(name.lower(), name) != name:
            where.at(name).refuse(
                "another stage's takes would be in the same folder where letters are not told apart", got=name,
                allowed=f"a name that is not {alike[name.lower()]!r} in other letters",
            )  # fmt: skip
        if not isinstance(table, dict):
            where.at(name).refuse("must be a table", got=table, allowed=f"a table of {joined(_OF_STAGE)}")
            continue
        for part, key in (("shot", "name"), ("output", "folder")):
            if isinstance(table.get(part), dict) and key in table[part]:
                where.at(name).at(part).at(key).refuse(
                    "is the same for all stages", got=table[part][key], remedy=f"{key} in [{part}] of the file"
                )


def _check_name(name: object, place: Place) -> None:
    """Refuse a name that no folder of takes can have, where it is told and not once a stage."""
    _ = SHOT.read({"name": name}, alone := replace(place, findings=[]))
    if alone.findings and place.findings == []:
        place.at("shot").at("name").refuse(
            "names the takes of all stages, and is the file's own where it is not told", got=name,
            allowed="letters, digits, '_', '-', '.'", remedy="name in [shot]",
        )  # fmt: skip
    place.raise_all()


def _merged(name: str, own: Mapping[str, Any], shared: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The settings of a stage: what all share, where it does not say otherwise itself."""
    out = dict(own)
    for part, table in shared.items():
        if isinstance(own.get(part, {}), dict):
            out[part] = {**table, **own.get(part, {})}
    if isinstance(out["shot"], dict):
        if any("guide" in link.path for link in links_of(own)) and "rate" not in own.get("shot", {}):
            out["shot"].pop("rate", None)  # a take that is a guide says its own
        out["shot"]["name"] = name
    return out


def _check_stages(stages: Mapping[str, Stage], links: Mapping[str, list[Link]], place: Place) -> None:
    """All that is wrong with the shots of all stages, and where nothing is, with what they have of each other."""
    for one, stage in stages.items():
        _check_stage(stage, links[one], place)
    if place.findings:
        return
    told = {one: stage.settings for one, stage in stages.items()}
    for one in stages:
        check_fed(told, one, links[one], place)


def _check_stage(stage: Stage, links: list[Link], place: Place) -> None:
    """All that is wrong with the shot of a stage, as if what feeds it were there."""
    for link in links:
        table: Any = stage.settings
        for part in link.path:
            table = table[part]
        if "take" in table:
            link.place(place.at("stage").at(stage.name)).refuse("is fed by a stage or by a take", got="both")
    try:
        stage.shot({one: f"{one}/latest" for one in stage.feeds})
    except InputError as error:
        at = {f"{link.place(place.at('stage').at(stage.name)).name}": link for link in links}
        for line in str(error).splitlines():
            where, _, _ = line.partition(".take: unknown key")
            if where in at:
                at[where].place(place.at("stage").at(stage.name)).at(FEED).refuse(
                    "no stage can stand here", got=at[where].stage,
                    allowed="a guide, a surface, the source of an obstacle, a path, a key shape of a body",
                )  # fmt: skip
            else:
                place.findings.append(line)

"""Which stage of a file feeds which: every `stage = "jump"` in it, and the order in which stages can be made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .findings import Place, nearest
from .kinds import joined

FEED = "stage"
"""the key by which a table names the stage that feeds it"""


@dataclass(frozen=True)
class Link:
    """A table of a stage that is fed by another one."""

    path: tuple[str | int, ...]
    """of the table in the stage's settings"""
    stage: Any
    """what it says: 'jump', or 'jump/figure' for one object of several"""

    @property
    def fed_by(self) -> str:
        """The stage's name."""
        return str(self.stage).partition("/")[0]

    @property
    def chosen(self) -> str:
        """'/figure' where it names an object, else ''."""
        name = str(self.stage).partition("/")[2]
        return f"/{name}" if name else ""

    def place(self, of: Place) -> Place:
        """Where it stands, of the place of its stage."""
        for part in self.path:
            of = of.entry(part) if isinstance(part, int) else of.at(part)
        return of


def links_of(settings: Mapping[str, Any]) -> list[Link]:
    """Every table below the objects of a stage that says which stage feeds it."""
    return list(_links(settings.get("object"), ("object",)))


def _links(value: Any, path: tuple[str | int, ...]) -> Iterator[Link]:
    if isinstance(value, dict):
        if FEED in value and not isinstance(value[FEED], dict):  # a table is an object or a region of that name
            yield Link(path, value[FEED])
        for name, one in value.items():
            yield from _links(one, (*path, name))
    elif isinstance(value, list):
        for k, one in enumerate(value):
            yield from _links(one, (*path, k))


def fed(settings: Mapping[str, Any], takes: Mapping[str, str]) -> dict[str, Any]:
    """The settings of a stage with takes in the place of the stages that feed it: stage → 'figure-jump/v001'."""
    return {**settings, "object": _fed(settings.get("object"), takes)}


def _fed(value: Any, takes: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_fed(one, takes) for one in value]
    if not isinstance(value, dict):
        return value
    out = {name: _fed(one, takes) for name, one in value.items()}
    if FEED in out and not isinstance(out[FEED], dict):
        link = Link((), out.pop(FEED))
        out["take"] = takes.get(link.fed_by, link.fed_by) + link.chosen
    return out


def refuse_links(links: Mapping[str, Iterable[Link]], place: Place) -> None:
    """Refuse stages that are fed by none, by themselves, or round in a circle."""
    names, before = list(links), len(place.findings)
    for name, own in links.items():
        for link in own:
            where = link.place(place.at("stage").at(name)).at(FEED)
            others = [one for one in names if one != name]
            if not isinstance(link.stage, str) or link.fed_by not in names:
                where.refuse(
                    "unknown stage", got=link.stage, allowed=joined(others) or "none: there is one stage only",
                    remedy=nearest(link.stage, others),
                )  # fmt: skip
            elif link.fed_by == name:
                where.refuse(
                    "a stage cannot feed itself", got=name, allowed=joined(others) or "none: there is one stage only"
                )
    if len(place.findings) > before:
        return
    _, left = in_order({name: {link.fed_by for link in own} for name, own in links.items()})
    if left:
        place.at("stage").refuse(
            "stages feed each other in a circle, so that none can be first", got=" → ".join(_circle(left)),
            remedy="a finished take in the place of one of them: take = 'shot-stage/v001'",
        )  # fmt: skip


def check_fed(stages: Mapping[str, Mapping[str, Any]], name: str, links: Sequence[Link], place: Place) -> None:
    """Refuse, of the stage called `name` among the settings of all, links to objects that no stage makes, and to stages
    at another rate: keys and paths go by frames."""
    where = place.at("stage").at(name)
    for link in links:
        own = [one for one, table in stages[link.fed_by]["object"].items() if table.get("role") != "obstacle"]
        chosen = link.chosen[1:]
        if chosen not in own and (chosen or len(own) > 1):
            link.place(where).at(FEED).refuse(
                "the stage makes no such object" if chosen else "the stage makes several objects", got=link.stage,
                allowed=joined([f"{link.fed_by}/{one}" for one in own]),
            )  # fmt: skip
        rates = [one.get("shot", {}).get("rate") for one in (stages[name], stages[link.fed_by])]
        guided = any("guide" in one.path for one in links)  # a guide says its own
        if rates[0] != rates[1] and not (guided and None in rates):
            where.at("shot").at("rate").refuse(
                f"is not that of stage {link.fed_by}, which feeds it", got=rates[0] or "none",
                allowed=f"{rates[1]:g} frames/s" if rates[1] else "none",
                remedy="one rate in [shot] of the file",
            )  # fmt: skip
            return


def in_order(feeds: Mapping[str, set[str]]) -> tuple[list[str], dict[str, set[str]]]:
    """Stages in an order in which each comes after those that feed it, as near to the file's as can be; and those, with
    what they wait for, that have none."""
    done, left = [], dict(feeds)
    while ready := next((name for name, needs in left.items() if needs <= set(done)), ""):
        done.append(ready)
        del left[ready]
    return done, left


def _circle(left: Mapping[str, set[str]]) -> list[str]:
    """Stages that wait for each other, the first again at the end."""
    way = [next(iter(left))]
    while way[-1] not in way[:-1]:
        way.append(next(one for one in sorted(left[way[-1]]) if one in left))
    return way[way.index(way[-1]) :][::-1]

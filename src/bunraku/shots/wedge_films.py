"""Stills and films of a wedge: every take by the same camera, at the same frame, so that they can be compared.

The still shows the frame at which the takes differ most.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.contracts import Array, InputError, Points
from bunraku.io import write_json
from bunraku.render import STUDIO, Camera, Image, Rounding, moments, picture, write_png, write_video

from .events import PictureDone
from .preview import OBSTACLE_PAINT, larger_view
from .reviewed import ReviewedTake, open_take
from .wedge_book import Book, Entry
from .wedge_work import Answer, Tell

TALL, WIDE = (480, 540), (720, 405)
"""[pixels] of a picture"""
_SIGHT = "sight.json"
_SIGHTS = 16  # frames looked at
_FAR = 1.0  # times the room most takes need, so far beyond it that what flies away is not stepped back for


@dataclass(frozen=True)
class Sight:
    """How all takes of a wedge are seen."""

    camera: Camera
    ground: float
    size: tuple[int, int]
    frame: float
    """the frame number that stills show"""
    first: float
    """the frame number with which films begin"""
    rate: float

    def as_json(self) -> dict[str, Any]:
        """What is kept with the pictures."""
        camera = {name: getattr(self.camera, name) for name in ("eye", "target", "up", "field_of_view")}
        return {
            **camera,
            "ground": self.ground,
            "size": self.size,
            "frame": self.frame,
            "first": self.first,
            "rate": self.rate,
        }


@dataclass(frozen=True)
class FilmOrder:
    """A take to be filmed."""

    name: str
    take: str
    """its folder"""
    still: str
    film: str
    """the files that are made"""
    sight: Sight


def sight_of(book: Book) -> Sight | None:
    """From where all takes are seen well; None where none has frames."""
    takes = [take for entry in book.own if (take := _opened(entry)) is not None and take.ready]
    if not takes:
        return None
    first = takes[0]
    numbers = first.scene.numbers
    chosen = [int(k) for k in moments(len(numbers), _SIGHTS)]
    seen = [{k: take.points(k) for k in chosen if k < take.ready} for take in takes]
    clouds = _near(seen)
    floors = [take.scene.floor for take in takes if take.scene.floor is not None]
    ground = min(floors) if floors else min(float(points[:, 1].min()) for points in clouds)
    view = larger_view(clouds, ground, TALL, WIDE)
    at = float(numbers[_telling(seen, chosen)])
    return Sight(view.camera, view.ground, view.size, at, float(numbers[0]), first.scene.rate)


def film_orders(book: Book, sight: Sight, fresh: Container[str]) -> list[FilmOrder]:
    """What is to be filmed: takes that are `fresh`, and those of which there are no pictures by this camera."""
    kept = _kept_sight(book) == _as_kept(sight)
    orders = [
        FilmOrder(
            one.name, str(one.folder), str(book.pictures / f"{one.name}.png"), str(book.pictures / f"{one.name}.mp4"),
            sight,
        )
        for one in book.own
        if (take := _opened(one)) is not None and take.ready
    ]  # fmt: skip
    there = [kept and Path(one.still).exists() and Path(one.film).exists() for one in orders]
    return [one for one, done in zip(orders, there, strict=True) if one.name in fresh or not done]


def kept_sight(book: Book) -> Sight | None:
    """How the pictures there are were taken; None where nothing is known of any."""
    try:
        told = _kept_sight(book)
        camera = Camera(tuple(told["eye"]), tuple(told["target"]), tuple(told["up"]), told["field_of_view"])
        return Sight(camera, told["ground"], tuple(told["size"]), told["frame"], told["first"], told["rate"])
    except (LookupError, TypeError, ValueError):
        return None


def _kept_sight(book: Book) -> dict[str, Any]:
    try:
        found = json.loads((book.pictures / _SIGHT).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _as_kept(sight: Sight) -> dict[str, Any]:
    return json.loads(json.dumps(sight.as_json()))


def film(order: FilmOrder, tell: Tell) -> Answer:
    """Draw a take's frames, and one of them for itself."""
    take, sight = open_take(order.take), order.sight
    draw = _Drawing(take, sight)
    numbers = take.scene.numbers[: take.ready]
    at = int(np.argmin(np.abs(numbers - sight.frame)))

    def pictures() -> Iterator[Image]:
        for k in range(len(numbers)):
            image = draw.frame(k)
            if k == at:
                write_png(order.still, image)
            yield image
            tell(PictureDone(k, len(numbers)))

    write_video(order.film, pictures(), take.scene.rate)
    return Answer("done", value=float(numbers[at]))


def note_sight(book: Book, sight: Sight) -> None:
    """Keep with the pictures how they were taken."""
    write_json(book.pictures / _SIGHT, sight.as_json())


class _Drawing:
    """A take, drawn frame by frame."""

    def __init__(self, take: ReviewedTake, sight: Sight) -> None:
        self._take, self._sight = take, sight
        shell = take.scene.shell
        skins = any(one.get("role") == "wrinkle" for one in _objects(take))
        self._rounding = Rounding.of(shell.faces, shell.point_count) if skins else None
        faces = shell.faces if self._rounding is None else self._rounding.faces
        count = shell.point_count if self._rounding is None else len(self._rounding.points(shell.rest))
        obstacles = take.scene.obstacle_faces
        self._faces = np.concatenate([faces, obstacles + count])
        self._paint: Array | None = None
        if len(obstacles):
            self._paint = np.repeat([STUDIO.front, OBSTACLE_PAINT], [len(faces), len(obstacles)], axis=0)

    def frame(self, k: int) -> Image:
        """(h, w, 3) of a frame by its place."""
        points = self._take.points(k)
        if self._rounding is not None:
            points = self._rounding.points(points)
        both = np.concatenate([points, self._take.obstacles(k).astype(np.float64)])
        s = self._sight
        return picture(both, self._faces, s.camera, size=s.size, paint=self._paint, ground=s.ground)


def _objects(take: ReviewedTake) -> list[Mapping[str, Any]]:
    found = take.provenance["settings"].get("object")
    return [one for one in found.values() if isinstance(one, dict)] if isinstance(found, dict) else []


def _opened(entry: Entry) -> ReviewedTake | None:
    """The take of a combination, where there is one to be looked at."""
    with suppress(InputError):
        return open_take(entry.folder)
    return None


def _near(seen: Sequence[Mapping[int, Points]]) -> list[Points]:
    """All clouds (n, 3), without those far from where most takes are: one that explodes would leave the others too
    small to be seen."""
    lows, highs = [], []
    for k in {k for one in seen for k in one}:
        clouds = [one[k] for one in seen if k in one]
        lows.append(np.median([points.min(axis=0) for points in clouds], axis=0))
        highs.append(np.median([points.max(axis=0) for points in clouds], axis=0))
    low, high = np.min(lows, axis=0), np.max(highs, axis=0)
    room = _FAR * float((high - low).max())
    every = [points for one in seen for points in one.values()]
    return [points for points in every if (points > low - room).all() and (points < high + room).all()] or every


def _telling(seen: Sequence[Mapping[int, Points]], chosen: Sequence[int]) -> int:
    """The frame, of those chosen, at which takes of one mesh differ most; at which the first moved farthest, where
    there is nothing to compare with."""
    whole = [one for one in seen if len(one) == len(chosen)] or list(seen)
    alike = [one for one in whole if one[0].shape == whole[0][0].shape]
    frames = [k for k in chosen if all(k in one for one in alike)]
    if len(alike) > 1:
        apart = [float(np.stack([one[k] for one in alike]).std(axis=0).mean()) for k in frames]
    else:
        apart = [float(np.linalg.norm(alike[0][k] - alike[0][0], axis=1).mean()) for k in frames]
    return frames[int(np.argmax(apart))]

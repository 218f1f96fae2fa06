"""The preview: guide left, result right, or one above the other; obstacles with both; one framing for the shot, a few
moments on one sheet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from bunraku.contracts import Array, Faces, Points, Vector
from bunraku.render import (
    GUIDE,
    STUDIO,
    Camera,
    Image,
    Rounding,
    Style,
    above_each_other,
    burn_in,
    framing,
    moments,
    picture,
    side_by_side,
    write_png,
    write_video,
)
from bunraku.render import contact_sheet as sheet_of

TALL, WIDE = (640, 720), (1280, 360)
"""[pixels] of each half: beside each other, or above each other where that shows a body that travels larger"""
_LARGER = 1.2  # times, that it must show it for that
_SIGHTS = 24  # frames looked at to frame the shot
OBSTACLE_PAINT = (0.52, 0.52, 0.53)
_MOST = 2.0  # an obstacle this many times larger than the shell is not framed whole


@dataclass(frozen=True, eq=False)
class Pair:
    """Guide and result at one frame."""

    number: float
    guide: Points
    """(n_guide, 3) [m]"""
    result: Points
    """(n_shell, 3) [m]"""
    obstacles: Points = field(default_factory=lambda: np.zeros((0, 3)))
    """(n_obstacles, 3) [m]"""


def _floor(pairs: list[Pair]) -> float:
    """Where to draw the ground: under the guide, so that it stands on it, unless the result falls well below."""
    guide = float(min(pair.guide[:, 1].min() for pair in pairs))
    result = float(min(pair.result[:, 1].min() for pair in pairs))
    size = float(max(np.ptp(pair.guide, axis=0).max() for pair in pairs))
    return guide if guide - result < 0.2 * size else result


@dataclass(frozen=True, eq=False)
class View:
    """From where a shot is seen, and how large the pictures are."""

    camera: Camera
    ground: float
    """[m] its height"""
    size: tuple[int, int]
    """[pixels] width and height"""

    @property
    def scale(self) -> float:
        """How large things are in the pictures [pixels/m], but for a factor."""
        return self.size[1] / float(np.linalg.norm(np.subtract(self.camera.target, self.camera.eye)))


def larger_view(seen: list[Points], ground: float, tall: tuple[int, int], wide: tuple[int, int]) -> View:
    """What frames all points (n, 3) [m]: tall pictures, or wide ones where they show them larger."""
    first, second = (View(framing(seen, ground=ground, aspect=w / h), ground, (w, h)) for w, h in (tall, wide))
    return second if second.scale > _LARGER * first.scale else first


@dataclass(frozen=True, eq=False)
class Preview:
    """A film of guide and result."""

    guide_faces: Faces
    shell_faces: Faces
    numbers: Vector
    """(t,) frame numbers"""
    pair: Callable[[int], Pair]
    """guide and result of frame 0 … t − 1"""
    title: str
    """burnt in: shot and take"""
    rate: float
    obstacle_faces: Faces = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    floor: float | None = None
    """height [m] of the ground, where there is one"""
    captions: tuple[str, str] = ("guide", "result")
    """of the two halves"""
    alike: bool = False
    """whether what is shown beside the result is drawn as the result is"""
    rounded: bool = False
    """whether both are skins, drawn on smooth surfaces so that waves look round"""

    def make(self, video: Path, sheet: Path, told: Callable[[int, int], None]) -> None:
        """Write both files; `told(index, count)` after every picture."""
        view = self.view()
        chosen = {int(k): None for k in moments(len(self.numbers))}
        stills: dict[int, tuple[Image, Image]] = {}

        def pictures() -> Iterator[Image]:
            for k in range(len(self.numbers)):
                left, right = self._halves(self.pair(k), view)
                if k in chosen:
                    stills[k] = left, right
                yield self._film_frame(left, right, k)
                told(k, len(self.numbers))

        write_video(video, pictures(), self.rate)
        captions = [f"frame {self.numbers[k]:g}" for k in stills]
        guides, results = ([pair[side] for pair in stills.values()] for side in (0, 1))
        write_png(sheet, sheet_of(guides, results, captions, titles=self.captions))

    def view(self) -> View:
        """One for all frames, the larger of the two."""
        pairs = [self.pair(int(k)) for k in moments(len(self.numbers), _SIGHTS)]
        seen: list[Points] = [points for pair in pairs for points in (pair.guide, pair.result)]
        size = max(float(np.ptp(points, axis=0).max()) for points in seen)
        things = [pair.obstacles for pair in pairs if len(pair.obstacles)]
        seen += [one for one in things if float(np.ptp(one, axis=0).max()) <= _MOST * size]
        return larger_view(seen, _floor(pairs) if self.floor is None else self.floor, TALL, WIDE)

    def _halves(self, pair: Pair, view: View) -> tuple[Image, Image]:
        (guide, guide_faces), (result, shell_faces) = self._round(pair)
        left = self._half(guide, guide_faces, pair.obstacles, view, STUDIO if self.alike else GUIDE)
        return left, self._half(result, shell_faces, pair.obstacles, view, STUDIO)

    def _round(self, pair: Pair) -> tuple[tuple[Points, Faces], tuple[Points, Faces]]:
        """Points and faces that are drawn of both."""
        if not self.rounded:
            return (pair.guide, self.guide_faces), (pair.result, self.shell_faces)
        left, right = self._roundings
        return (left.points(pair.guide), left.faces), (right.points(pair.result), right.faces)

    @cached_property
    def _roundings(self) -> tuple[Rounding, Rounding]:
        """Made once for the film."""
        pair = self.pair(0)
        return Rounding.of(self.guide_faces, len(pair.guide)), Rounding.of(self.shell_faces, len(pair.result))

    def _half(self, x: Points, faces: Faces, obstacles: Points, view: View, style: Style) -> Image:
        points = np.concatenate([x, obstacles])
        both = np.concatenate([faces, self.obstacle_faces + len(x)])
        paint = self._paint(len(faces), style)
        return picture(points, both, view.camera, size=view.size, style=style, paint=paint, ground=view.ground)

    def _paint(self, count: int, style: Style) -> Array | None:
        """(f, 3) the style's colour for a body of `count` faces and a neutral one for the obstacles."""
        if not len(self.obstacle_faces):
            return None
        return np.repeat([style.front, OBSTACLE_PAINT], [count, len(self.obstacle_faces)], axis=0)

    def _film_frame(self, left: Image, right: Image, k: int) -> Image:
        both = (side_by_side if left.shape[:2] == TALL[::-1] else above_each_other)(left, right, captions=self.captions)
        return burn_in(both, self.title, bottom_right=f"frame {self.numbers[k]:g}")

"""The preview: guide left, result right, one framing for the shot; and both at a few moments on one sheet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bunraku.contracts import Faces, Points, Vector
from bunraku.render import (
    GUIDE,
    STUDIO,
    Camera,
    Image,
    burn_in,
    framing,
    moments,
    picture,
    side_by_side,
    write_png,
    write_video,
)
from bunraku.render import contact_sheet as sheet_of

SIZE = (640, 720)  # [pixels] of each half
_SIGHTS = 24  # frames looked at to frame the shot


@dataclass(frozen=True, eq=False)
class Pair:
    """Guide and result at one frame."""

    number: float
    guide: Points
    """(n_guide, 3) [m]"""
    result: Points
    """(n_shell, 3) [m]"""


def _floor(pairs: list[Pair]) -> float:
    """Where to draw the ground: under the guide, so that it stands on it, unless the result falls well below."""
    guide = float(min(pair.guide[:, 1].min() for pair in pairs))
    result = float(min(pair.result[:, 1].min() for pair in pairs))
    size = float(max(np.ptp(pair.guide, axis=0).max() for pair in pairs))
    return guide if guide - result < 0.2 * size else result


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

    def make(self, video: Path, sheet: Path, told: Callable[[int, int], None]) -> None:
        """Write both files; `told(index, count)` after every picture."""
        camera, ground = self._view()
        chosen = {int(k): None for k in moments(len(self.numbers))}
        stills: dict[int, tuple[Image, Image]] = {}

        def pictures() -> Iterator[Image]:
            for k in range(len(self.numbers)):
                left, right = self._halves(self.pair(k), camera, ground)
                if k in chosen:
                    stills[k] = left, right
                yield self._film_frame(left, right, k)
                told(k, len(self.numbers))

        write_video(video, pictures(), self.rate)
        captions = [f"frame {self.numbers[k]:g}" for k in stills]
        write_png(sheet, sheet_of([a for a, _ in stills.values()], [b for _, b in stills.values()], captions))

    def _view(self) -> tuple[Camera, float]:
        pairs = [self.pair(int(k)) for k in moments(len(self.numbers), _SIGHTS)]
        seen: list[Points] = [points for pair in pairs for points in (pair.guide, pair.result)]
        return framing(seen, ground=(ground := _floor(pairs)), aspect=SIZE[0] / SIZE[1]), ground

    def _halves(self, pair: Pair, camera: Camera, ground: float) -> tuple[Image, Image]:
        left = picture(pair.guide, self.guide_faces, camera, size=SIZE, style=GUIDE, ground=ground)
        return left, picture(pair.result, self.shell_faces, camera, size=SIZE, style=STUDIO, ground=ground)

    def _film_frame(self, left: Image, right: Image, k: int) -> Image:
        both = side_by_side(left, right)
        return burn_in(both, self.title, bottom_right=f"frame {self.numbers[k]:g}")

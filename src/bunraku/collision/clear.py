"""Where nothing is near anything, and that it stays so: what a look has shown, carried along as points move."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Faces, Points

from .keeping import kept

_LONGEST = 15  # looks that are left out after looks that served nothing


class Clear:
    """What elements of a surface keep between them where they were looked at last, if nothing was near.

    It is carried on from step to step, and changes nothing of what is found: only whether it is looked for.
    """

    def __init__(self, faces: Faces, own: int) -> None:
        """Of faces (f, 3) of which those without one of the first `own` points do not count."""
        self._faces, self._own = np.ascontiguousarray(faces, dtype=np.int64), own
        self._none = np.zeros((0, 3)), 0.0
        self._seen = self._certain = self._none
        self._pause = self._left = 0

    def pays(self) -> bool:
        """Whether it is worth a look how far everything is apart: seldom, where earlier looks have not served."""
        self._left -= 1
        if self._left >= 0:
            return False
        self._left = self._pause
        self._pause = min(2 * self._pause + 1, _LONGEST)
        return True

    def see(self, x: Points, apart: float) -> None:
        """Everything is `apart` [m] or more at points x (n, 3); zero: nothing is known any more."""
        self._seen = self._certain = (np.array(x), apart) if apart > 0.0 else self._none

    def keeps(self, x: Points, distance: float) -> bool:
        """Whether it is certain that nothing is within a distance [m] at x (n, 3)."""
        base, apart = self._seen
        if not apart > 0.0:
            return False
        left = kept(base, x, self._faces, self._own, distance=apart, least=distance, on_the_way=False)
        self._certain = np.array(x), left
        if left > 0.0:
            self._pause = self._left = 0
        return left > 0.0

    def stays(self, x: Points, end: Points, gap: float, open_: float, share: float) -> bool:
        """Whether it is certain that of what is `open_` [m] beyond a gap [m] at x (n, 3), or farther, a share is left
        on all of the straight way to `end`."""
        place, apart = self._certain
        apart = max(gap + open_, apart if np.array_equal(place, x) else 0.0)
        least = gap + share * (apart - gap)
        left = kept(x, end, self._faces, self._own, distance=apart, least=least, on_the_way=True)
        if left > 0.0:
            self._pause = self._left = 0
        return left > 0.0

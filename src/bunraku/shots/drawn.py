"""What an animation file says of every point beside its place, for programs that draw it: how hard the guide pulls
there, how far it is missed, as numbers and as colours on one scale for all frames, and which region it is in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Sparse, Vector
from bunraku.direction import Frame
from bunraku.render import heat

from .faces import heaviest, label_colours
from .prepared import Prepared
from .report import FORCE, MET

RESIDUAL, REGIONS = "residual", "regions"


@dataclass(frozen=True, eq=False)
class Drawn:
    """The numbers of directions, spread over the vertices of the written surface."""

    weights: Sparse
    """(n, k) how much each direction weighs at each vertex"""
    most: Mapping[str, float]
    """name → the number that has the lightest colour [N, m]"""
    regions: bool
    """whether to say them"""

    @staticmethod
    def of(prepared: Prepared, frames: Iterable[Frame]) -> Drawn | None:
        """What the shot asks for, on the scale of its frames; None where nothing is asked for or directed."""
        functions, names = prepared.functions, prepared.shot.output.drawn
        if not names or functions is None:
            return None
        least = {FORCE: 0.0, RESIDUAL: MET * prepared.shell.size}
        most = {name: least[name] for name in names if name in least}
        for frame in frames:
            for name in list(most):
                if name not in frame.report:  # not every kind of body tells of forces
                    del most[name]
                else:
                    most[name] = max(most[name], float(_numbers(frame, name).max(initial=0.0)))
        return Drawn(sparse.csr_array(functions.T), most, REGIONS in names)

    def at(self, frame: Frame) -> dict[str, Array]:
        """Name → (n,) [N, m] or numbers of regions and, with "_colour" behind, (n, 3) in linear light; nothing and dark
        where nothing is directed, −1 and grey of regions."""
        region = heaviest(self.weights, np.asarray(frame.report["held"]))
        found: dict[str, Array] = {}
        for name, most in self.most.items():
            values = np.append(_numbers(frame, name), 0.0)[region]
            found[f"bunraku_{name}"] = values
            found[f"bunraku_{name}_colour"] = _linear(heat(values / (most or 1.0)))
        if self.regions:
            found |= {
                "bunraku_regions": region.astype(np.float64),
                "bunraku_regions_colour": _linear(label_colours(region)),
            }
        return found


def _numbers(frame: Frame, name: str) -> Vector:
    """(k,) of the directions."""
    values = np.asarray(frame.report[name])
    return values if values.ndim == 1 else np.linalg.norm(values, axis=1)


def _linear(colours: Array) -> Array:
    """Colours as light adds up, from sRGB; USD's are."""
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)

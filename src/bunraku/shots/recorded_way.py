"""The way of a body in a finished take, as its nodes went: its centre of mass, and how it turned as a whole.

The surface that a take writes tells that only nearly. So where the take's folder holds the tetrahedra and the frames,
the way is the one that `Path.recorded` finds in Python.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bunraku.contracts import InputError, input_error
from bunraku.energies import mean_rotation
from bunraku.geometry import TetMesh, tet_masses
from bunraku.io import content_hash
from bunraku.motion import Animation
from bunraku.motion import Path as Way

from .inputs import InputFile, find_take
from .reviewed import open_take
from .scene import STILL


@dataclass(frozen=True, eq=False)
class RecordedBody:
    """A body of a finished take."""

    animation: Animation[TetMesh]
    """of its nodes in the world; at 0 s is frame 0"""
    tetrahedra: Path
    """the file that has them"""

    def way(self, *, turning: bool) -> Way:
        """Where its centre of mass went, and with `turning` the rotation of the whole."""
        path, mesh = Way.of(self.animation), self.animation.mesh
        if not turning:
            return path
        masses = tet_masses(mesh)
        turns = [mean_rotation(x, mesh.rest, mesh.tets, masses) for x in self.animation.points]
        return replace(path, rotations=np.stack(turns))

    def input(self, key: str) -> InputFile:
        """The file of the tetrahedra as an input of the shot; frames change with the animation that is one already."""
        return InputFile(key, self.tetrahedra, content_hash(self.tetrahedra))


def recorded_body(takes: Path, name: str) -> RecordedBody:
    """The body a take's name means (`find_take`); refused where the folder does not hold its tetrahedra, or not all of
    its frames."""
    folder, chosen, _ = find_take(takes, name)
    take = open_take(folder)
    scene = take.scene
    if chosen not in scene.solids:
        raise input_error(
            "the take does not hold the tetrahedra of a body", where=str(folder), got=chosen,
            remedy="of a body: delete the take's folder scene and run its shot with --resume, which writes them",
        )  # fmt: skip
    if take.ready < len(scene.numbers):
        raise input_error(
            "the take does not hold its frames", where=str(folder / "frames"), got=take.ready,
            allowed=f"{len(scene.numbers)} frames", remedy="run its shot with --resume",
        )  # fmt: skip
    names = list(scene.solids)
    first = sum(scene.solids[one].point_count for one in names[: names.index(chosen)])
    body = scene.solids[chosen]
    own = slice(first, first + body.point_count)
    points = np.stack([take.simulated(k)[own] for k in range(len(scene.numbers))]) + scene.origin
    mesh = body.with_rest(body.rest + scene.origin)
    return RecordedBody(Animation(mesh, scene.numbers / scene.rate, points), scene.folder / STILL)


def recorded_input(takes: Path, name: str, key: str) -> list[InputFile]:
    """The file of the tetrahedra a way is recorded with; none where the surface has to do."""
    try:
        return [recorded_body(takes, name).input(key)]
    except InputError:
        return []

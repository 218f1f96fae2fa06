"""What is to be seen of a shot besides its result, written down when a run begins.

Guide, obstacles and regions come from files that may have moved or changed since. So a take's folder holds them under
`scene/`: what does not move, the tetrahedra of bodies among it, in `still.bkscene`, guide and moving obstacles in a
file a frame, in single precision and about the same origin as the frames that are kept. Preroll is not shown. The same
shot gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bunraku.collision import Between, Obstacle, Plane
from bunraku.contracts import Array, Faces, InputError, Points, Sparse, Vector, input_error
from bunraku.direction.track.seams import sewn_pairs
from bunraku.geometry import TetMesh, TriMesh
from bunraku.io import atomic_files, packed, read_arrays, read_some_arrays
from bunraku.motion import Curve, RestShapes

from .prepared import Prepared
from .scene_check import check_still, is_cloud
from .scenery import Scenery

STILL = "still.bkscene"
"""the file of what does not move"""
_REMEDY = "delete the folder and run the shot with --resume, so that it is written again"
_WIDE = 3.0  # times the guide's box beyond which obstacles are not stepped back for


@dataclass(frozen=True, eq=False)
class Scene:
    """A scene as it was written down. Coordinates are about `origin`."""

    folder: Path
    arrays: Mapping[str, NDArray[Any]]
    """what does not move"""
    meta: Mapping[str, Any]

    @property
    def numbers(self) -> Vector:
        """(t,) frame numbers, preroll left out."""
        return self.arrays["numbers"]

    @property
    def preroll(self) -> int:
        """Frames before these that are kept and not shown."""
        return int(self.meta["preroll"])

    @property
    def rate(self) -> float:
        """[frames/s]"""
        return float(self.meta["rate"])

    @property
    def origin(self) -> Vector:
        """(3,) [m] in the world."""
        return self.arrays["origin"]

    @property
    def floor(self) -> float | None:
        """[m] height of the ground."""
        return self.meta["floor"]

    @property
    def regions(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.meta["regions"])

    @property
    def box(self) -> tuple[Vector, Vector]:
        """(3,) lowest and (3,) highest corner [m] of guide and obstacles over all frames."""
        return self.arrays["low"], self.arrays["high"]

    @property
    def beside(self) -> str | None:
        """The name under which frames report what is shown beside the result; None: the guide is."""
        return self.meta.get("beside")

    @property
    def forces(self) -> bool:
        """Whether frames report the forces of direction."""
        return bool(self.meta.get("forces", True))

    @property
    def guide_faces(self) -> Faces:
        """(g, 3)"""
        return self.arrays["guide_faces"]

    @property
    def obstacle_faces(self) -> Faces:
        """(o, 3) of all obstacles, and of slanting planes, which are squares."""
        return self.arrays["obstacle_faces"]

    @cached_property
    def shell(self) -> TriMesh:
        """The mesh that is simulated."""
        return TriMesh(self.arrays["rest"], self.arrays["faces"])

    def rest(self, k: int) -> RestShapes | None:
        """What stretching is measured from on frame k of `numbers`, where it is not the mesh's own shape."""
        if "rest_shapes" not in self.arrays:
            return None
        return RestShapes(tuple(self.arrays["rest_shapes"]), tuple(self.arrays["rest_weights"][k].tolist()))

    @cached_property
    def carrier(self) -> Sparse | None:
        """(n, s) how the simulated points carry the vertices of the surface; None: they are the same."""
        if "carrier/data" not in self.arrays:
            return None
        parts = tuple(self.arrays[f"carrier/{name}"] for name in ("data", "indices", "indptr"))
        return sparse.csr_array(parts, shape=(self.shell.point_count, int(self.arrays["carrier/points"])))

    @cached_property
    def solids(self) -> Mapping[str, TetMesh]:
        """Name → the tetrahedra of an elastic body, whose nodes are the simulated points, one body after another; none
        for shells, and in scenes from before they were written down."""
        names = self.meta.get("solids", [])
        return {name: TetMesh(self.arrays[f"solid/{name}/rest"], self.arrays[f"solid/{name}/tets"]) for name in names}

    @cached_property
    def functions(self) -> Sparse | None:
        """(k, n) test functions on the shell; None where nothing is directed."""
        if "tests/data" not in self.arrays:
            return None
        parts = tuple(self.arrays[f"tests/{name}"] for name in ("data", "indices", "indptr"))
        return sparse.csr_array(parts, shape=(len(self.regions), self.shell.point_count))

    def guide(self, k: int) -> NDArray[np.float32]:
        """(n, 3) single precision, of frame k of `numbers`."""
        return self._points(k, "guide")

    def obstacles(self, k: int) -> NDArray[np.float32]:
        """(m, 3) single precision, of frame k."""
        still = self.arrays.get("obstacles")
        return self._points(k, "obstacles") if still is None else still

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many points guide and obstacles have."""
        found = dict(self.arrays) | self._frame(0)
        return {name: len(found[name]) for name in ("guide", "obstacles")}

    def _points(self, k: int, name: str) -> NDArray[np.float32]:
        found = self._frame(k).get(name)
        if found is None or not is_cloud(found, self.counts[name]):  # what draws them trusts their number
            got = "nothing" if found is None else found.shape
            allowed = f"{self.counts[name]} points, none infinitely far away"
            where = f"{self.folder / _name(k)}: {name}"
            raise input_error("the scene is damaged", where=where, got=got, allowed=allowed, remedy=_REMEDY)
        return found

    def _frame(self, k: int) -> dict[str, NDArray[Any]]:
        return read_some_arrays(self.folder / _name(k), ("guide", "obstacles"), "the scene", _REMEDY)


def read_scene(folder: Path) -> Scene:
    """The scene in a take's `scene` folder; refused where there is none or it is not what a run writes."""
    if not (folder / STILL).is_file():
        raise input_error(
            "the take has no scene to look at, it was made before scenes were written down", where=str(folder.parent),
            remedy="bunraku run its shot with --resume, which writes it",
        )  # fmt: skip
    arrays, meta = read_arrays(folder / STILL, "the scene", _REMEDY)
    scene = Scene(folder, arrays, meta)
    try:  # a file of this kind that holds something else
        check_still(arrays, meta)
        _ = (
            scene.shell,
            scene.functions,
            scene.carrier,
            scene.solids,
            [
                TriMesh(points.astype(np.float64), faces)
                for points, faces in ((scene.guide(0), scene.guide_faces), (scene.obstacles(0), scene.obstacle_faces))
            ],
        )
    except (LookupError, TypeError, ValueError, OverflowError, InputError) as error:
        raise input_error("the scene is damaged", where=str(folder), got=str(error), remedy=_REMEDY) from None
    return scene


def write_scene(folder: Path, prepared: Prepared, facts: Mapping[str, Any]) -> None:
    """Write the scene of a shot whole or not at all; `facts` are the job's."""
    p = prepared
    scenery = Scenery(p.contact.obstacles, p.contact.planes, p.ground)
    things, faces = scenery.around(p.guide.points[p.preroll])
    moving = any(one.motion is not None for one in things)
    arrays = _still(p, faces)
    if not moving:
        arrays["obstacles"] = _points(things, 0.0)
    boxes: list[list[Points]] = [[], []]
    with atomic_files(folder, create=True) as temporary:
        for k, time in enumerate(p.times[p.preroll :]):
            frame = {"guide": p.guide.at(float(time)).astype(np.float32)}
            if moving:
                frame["obstacles"] = _points(things, float(time))
            (temporary / _name(k)).write_bytes(packed(frame, {}, f"scene {k}"))
            boxes[0].append(_ends(frame["guide"]))
            boxes[1].append(_ends(frame.get("obstacles", arrays.get("obstacles", np.zeros((0, 3), np.float32)))))
        arrays |= _box(np.array(boxes[0]), np.array(boxes[1]))
        (temporary / STILL).write_bytes(packed(arrays, _facts(p, scenery.floor, things, facts), "scene"))


def _still(p: Prepared, obstacle_faces: Faces) -> dict[str, NDArray[Any]]:
    """What does not move."""
    times = p.times[p.preroll :]
    arrays: dict[str, NDArray[Any]] = {
        "rest": p.shell.rest, "faces": p.shell.faces.astype(np.int32),
        "guide_faces": p.guide.mesh.faces.astype(np.int32), "obstacle_faces": obstacle_faces.astype(np.int32),
        "numbers": p.numbers[p.preroll :], "origin": p.origin,
        "strength": np.array([p.strength.at(float(time)) for time in times]),
        "firm": np.array([[Curve.of(pin.strength).at(float(time)) == 1.0 for pin in p.pins] for time in times], bool)
        .reshape(len(times), len(p.pins)),
    }  # fmt: skip
    if p.functions is not None:
        functions = sparse.csr_array(p.functions)
        arrays |= {
            "tests/data": functions.data.astype(np.float32), "tests/indices": functions.indices.astype(np.int32),
            "tests/indptr": functions.indptr.astype(np.int32),
            "held": p.held(float(times[0])),
        }  # fmt: skip
    if p.carrier is not None:
        carrier = sparse.csr_array(p.carrier)
        arrays |= {
            "carrier/data": carrier.data, "carrier/indices": carrier.indices.astype(np.int32),
            "carrier/indptr": carrier.indptr.astype(np.int32), "carrier/points": np.array(p.carrier.shape[1]),
        }  # fmt: skip
    for name, body in p.solids.items():
        arrays |= {f"solid/{name}/rest": body.rest, f"solid/{name}/tets": body.tets.astype(np.int32)}
    if p.rest is not None:
        weights = np.array([p.rest.at(float(time)) for time in times])
        arrays |= {"rest_shapes": np.stack(p.rest.shapes), "rest_weights": weights}
    if p.contact.table is not None:
        arrays |= {f"part/{name}": np.asarray(vertices) for name, vertices in p.parts.items()}
        if p.seams:
            arrays["sewn"] = sewn_pairs(p.seams, p.shell.point_count)
    return arrays


def _facts(
    p: Prepared, floor: float | None, things: Sequence[Obstacle], facts: Mapping[str, Any]
) -> dict[str, Any]:  # fmt: skip
    """What is no array."""
    told, contact = facts.get("contact"), p.contact.contact
    meta: dict[str, Any] = {
        "shot": p.shot.name, "object": p.name, "rate": float(p.clip.rate), "preroll": p.preroll, "floor": floor,
        "exempt": p.shot.physics.start == "rest" and not p.preroll,
        "regions": list(p.regions),
        "obstacles": [
            {"name": one.name, "points": one.mesh.point_count, "faces": len(one.mesh.faces), "thickness": one.thickness}
            for one in things
        ],
        "planes": [
            {"name": one.name, "point": one.point.tolist(), "normal": one.normal.tolist(), "thickness": one.thickness}
            for one in p.contact.planes
        ],
        "contact": None, "solids": list(p.solids), "beside": p.reported_beside, "forces": p.forces,
    }  # fmt: skip
    if told is not None and contact is not None:
        between = contact.between if not isinstance(contact.between, Between) else (contact.between,)
        apart = [asdict(one) | {"friction": None} for one in between if one.thickness is not None]
        meta["contact"] = {
            "gap_m": told["gap_m"], "reach_m": told["reach_m"], "self": contact.self_contact, "between": apart,
            "felt": len(p.contact.obstacles),
        }  # fmt: skip
    return meta


def _points(things: Sequence[Obstacle], time: float) -> NDArray[np.float32]:
    there = [one.at(time).astype(np.float32) for one in things]
    return np.concatenate([np.zeros((0, 3), np.float32), *there])


def _ends(points: NDArray[np.float32]) -> Points:
    """(2, 3) lowest and highest corner; of no points those of nothing."""
    there = points.astype(np.float64)
    return np.stack([there.min(axis=0, initial=np.inf), there.max(axis=0, initial=-np.inf)])


def _box(guide: Array, others: Array) -> dict[str, Vector]:
    """Of boxes (t, 2, 3): all of the guide, and of obstacles unless they are far larger."""
    low, high = guide[:, 0].min(axis=0), guide[:, 1].max(axis=0)
    wide_low, wide_high = np.minimum(low, others[:, 0].min(axis=0)), np.maximum(high, others[:, 1].max(axis=0))
    if np.linalg.norm(wide_high - wide_low) <= _WIDE * np.linalg.norm(high - low):
        low, high = wide_low, wide_high
    return {"low": low, "high": high}


def _name(k: int) -> str:
    return f"frame_{k:06d}.bkscene"


def planes_of(scene: Scene) -> tuple[Plane, ...]:
    """The planes of a scene."""
    return tuple(
        Plane(np.array(one["point"]), np.array(one["normal"]), one["name"], one.get("thickness"))
        for one in scene.meta["planes"]
    )

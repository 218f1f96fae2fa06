"""What can be drawn on a take's result: regions, forces, distances, strain, contact, by vertex and frame."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numba.np.ufunc.parallel
import numpy as np
from scipy import sparse

from bunraku.collision import Between, Obstacle, Surfaces, near_segments
from bunraku.contracts import Array, Faces, InputError, Integers, Points, Sparse, Vector, input_error
from bunraku.energies import FaceBlend, corner_gradients, strains
from bunraku.geometry import TriMesh, closest_points, face_areas
from bunraku.render import moments

from .faces import heaviest
from .lock import held_here
from .report import INTERIOR, MET
from .reviewed import ReviewedTake
from .scene import planes_of

_SAMPLES = 4  # frames from which a scale is taken
_TRACE = 1e-3  # share of a scale's upper end below which its lower end is zero, but for rounding
_MOST = 99.0  # percent of the vertices that a scale holds: a few stray ones would hide all else
_UNKNOWN = 0.0, 1.0  # a scale of what nobody has seen yet
_kernels = threading.Lock()
"""kernels that run on several threads are not all made to be called from several"""


@dataclass(frozen=True)
class OverlayKind:
    """Something that can be drawn."""

    name: str
    title: str
    unit: str
    draws: str
    """"values", "labels" or "segments\""""
    about: str


REGIONS = OverlayKind("regions", "Regions", "", "labels", "Which test function weighs most at each vertex.")
FORCE = OverlayKind(
    "force", "Force of direction", "N", "values", "How hard the guide pulls at each region, or a handle at its own."
)
RESIDUAL = OverlayKind(
    "residual", "Residual", "m", "values", "How far the average of each region is from what the guide asks for."
)
MISSED = OverlayKind(
    "missed", "Missed directions", "m", "values",
    "How far regions are from the guide that missed it, were kept from it by contact, or yielded to a cap.",
)  # fmt: skip
STRAIN = OverlayKind(
    "strain", "Strain", "", "values", "How much longer the most stretched direction is than in the rest shape."
)
DISTANCE = OverlayKind(
    "distance", "Distance to the guide", "m", "values", "How far each vertex is from the surface of the guide."
)
HEIGHT = OverlayKind(
    "height", "Height", "m", "values", "How far the skin stands out of the body it is on, along the body's normals."
)
CONTACT = OverlayKind(
    "contact", "Contact pairs", "", "segments", "Between the nearest places of surfaces that feel each other."
)


class Overlays:
    """The overlays of one take."""

    def __init__(self, take: ReviewedTake) -> None:
        self._take, self._scene = take, take.scene
        self._scales: dict[tuple[str, int], tuple[float, float]] = {}
        self._kept_gradients: tuple[tuple[float, ...], Array] | None = None
        self._guard = threading.Lock()

    @cached_property
    def kinds(self) -> dict[str, OverlayKind]:
        """Those that apply, by name."""
        scene, found = self._scene, []
        if scene.functions is not None:
            found += [REGIONS, *([FORCE] if scene.forces else []), RESIDUAL, MISSED]
        found += [STRAIN]
        found += [DISTANCE] if len(scene.guide_faces) else []
        found = [HEIGHT, *found] if scene.beside == INTERIOR else found
        found += [CONTACT] if scene.meta["contact"] else []
        return {one.name: one for one in found}

    def values(self, name: str, k: int) -> Array:
        """(n,) or, of segments, (m, 2, 3) on frame k."""
        if name not in self.kinds or name == REGIONS.name:
            allowed = ", ".join(one for one in self.kinds if one != REGIONS.name)
            raise input_error("there is no such overlay", where=self._take.name, got=name, allowed=allowed)
        make: dict[str, Callable[[int], Array]] = {
            "force": self._force, "residual": self._residual, "missed": self._missed, "strain": self._strain,
            "distance": self._distance, "contact": self._contact, "height": self._height,
        }  # fmt: skip
        return make[name](k)

    @cached_property
    def labels(self) -> Integers | None:
        """(n,) the region that weighs most at each vertex when the shot begins, −1 where none does."""
        return None if self._weights is None else heaviest(self._weights, self._scene.arrays["held"])

    def scale(self, name: str) -> tuple[float, float]:
        """Ends of a colour scale that suits all frames there are, taken from some of them."""
        if name in (REGIONS.name, CONTACT.name):
            return 0.0, float(max(len(self._scene.regions) - 1, 1)) if name == REGIONS.name else 1.0
        if name in (STRAIN.name, DISTANCE.name) and not _several_threads_may():
            return _UNKNOWN  # until the run is over
        ready = self._take.ready
        known = 0 if not ready else 1 << (ready.bit_length() - 1) if ready < len(self._scene.numbers) else ready
        with self._guard:
            if (name, known) not in self._scales:  # while a run goes on, again whenever twice as many frames are there
                self._scales[name, known] = self._scale(name, ready)
            return self._scales[name, known]

    def _scale(self, name: str, ready: int) -> tuple[float, float]:
        small = MET * self._scene.shell.size
        if not ready:
            return _UNKNOWN
        if name == FORCE.name:
            return 0.0, float(self._take.measured.force.max()) or 1.0
        if name in (RESIDUAL.name, MISSED.name):
            m = self._take.measured
            most = m.residual.max() if name == RESIDUAL.name else self._missed_by_region().max(initial=0.0)
            return 0.0, max(float(most), small)
        found = [self.values(name, int(k)) for k in moments(ready, _SAMPLES)]
        high = max(float(np.percentile(one, _MOST)) for one in found)
        signed = name in (STRAIN.name, HEIGHT.name)
        low = min(float(np.percentile(one, 100.0 - _MOST)) for one in found) if signed else 0.0
        if not np.isfinite([low, high]).all():  # faces without area
            return 0.0, 1.0
        high = max(high, small)
        return low if low < -_TRACE * high else 0.0, high

    @cached_property
    def _weights(self) -> Sparse | None:
        """(n, k) how much each region weighs at each vertex."""
        functions = self._scene.functions
        return None if functions is None else sparse.csr_array(functions.T)

    def _by_region(self, values: Vector, k: int) -> Vector:
        """(n,) values (k,) of regions at the vertices where they weigh most, as firmly as each is held on a frame."""
        assert self._weights is not None
        held = self._take.measured.arrays["held"][k]
        if len(values) != self._weights.shape[1]:
            raise input_error("the scene has other regions than its frames", where=self._take.name, got=len(values),
                              allowed=str(self._weights.shape[1]))  # fmt: skip
        return np.append(values, 0.0)[heaviest(self._weights, held)]

    def _force(self, k: int) -> Vector:
        self._take.check(k)
        return self._by_region(np.linalg.norm(self._take.measured.arrays["force"][k], axis=1), k)

    def _residual(self, k: int) -> Vector:
        self._take.check(k)
        return self._by_region(self._take.measured.arrays["residual"][k], k)

    def _missed(self, k: int) -> Vector:
        self._take.check(k)
        return self._by_region(self._missed_by_region()[k], k)

    def _missed_by_region(self) -> Array:
        """(t, k) [m]"""
        m = self._take.measured
        astray = m.exact & (m.arrays["residual"] > MET * m.size)
        return np.where(astray | m.kept_off | m.yielding, m.arrays["residual"], 0.0)

    def _strain(self, k: int) -> Vector:
        with several_threads(self._take.name), np.errstate(all="ignore"):  # faces without area have no stretch
            stretch = largest_stretch(self._take.points(k), self._scene.shell.faces, self._gradients(k))
            return np.asarray(self._around @ stretch)

    def _gradients(self, k: int) -> Array:
        """(f, 3, 2) of the corners in the rest shape of a frame; kept until it is another."""
        rest = self._scene.rest(k)
        weights = () if rest is None else tuple(rest.at(0.0))
        known = self._kept_gradients
        if known is None or known[0] != weights:
            shape = FaceBlend(self._scene.shell, rest).at(0.0)
            known = self._kept_gradients = weights, corner_gradients(shape.rest, shape.faces)
        return known[1]

    @cached_property
    def _around(self) -> Sparse:
        """(n, f) the mean, by area, over the faces around each vertex."""
        shell = self._scene.shell
        areas = np.repeat(face_areas(shell.rest, shell.faces), 3)
        faces = np.repeat(np.arange(len(shell.faces)), 3)
        matrix = sparse.csr_array(
            (areas, (shell.faces.reshape(-1), faces)), shape=(shell.point_count, len(shell.faces))
        )
        whole = np.asarray(matrix.sum(axis=1)).reshape(-1)
        return sparse.csr_array(sparse.diags_array(1.0 / np.where(whole > 0.0, whole, 1.0)) @ matrix)

    def _distance(self, k: int) -> Vector:
        points = self._take.points(k)
        guide = TriMesh(self._take.guide(k).astype(np.float64), self._scene.guide_faces)
        with several_threads(self._take.name):
            return closest_points(points, guide).distances

    def _height(self, k: int) -> Vector:
        return self._take.reported(k, HEIGHT.name)

    def _contact(self, k: int) -> Array:
        points, others = self._take.points(k), self._take.obstacles(k).astype(np.float64)
        with several_threads(self._take.name):
            felt = len(self._surfaces.rest) - self._surfaces.count
            return near_segments(self._surfaces, np.concatenate([points, others[:felt]]))

    @cached_property
    def _surfaces(self) -> Surfaces:
        """As the run had them, without friction."""
        try:
            return self._found_surfaces()
        except (LookupError, TypeError, ValueError, AttributeError, InputError) as error:
            raise input_error(
                "contact is not written down as a run does", where=str(self._scene.folder), got=str(error),
                remedy="delete the folder and run the shot with --resume",
            ) from None  # fmt: skip

    def _found_surfaces(self) -> Surfaces:
        scene, told = self._scene, self._scene.meta["contact"]
        felt = scene.meta["obstacles"][: told["felt"]]
        starts = np.cumsum([0, *(one["points"] for one in felt)])
        first = np.cumsum([0, *(one["faces"] for one in felt)])
        there = scene.obstacles(0).astype(np.float64)
        obstacles = [
            Obstacle(
                TriMesh(there[starts[j] : starts[j + 1]], scene.obstacle_faces[first[j] : first[j + 1]] - starts[j]),
                name=one["name"], thickness=one["thickness"],
            )
            for j, one in enumerate(felt)
        ]  # fmt: skip
        named = {name[5:]: vertices for name, vertices in scene.arrays.items() if name.startswith("part/")}
        return Surfaces(
            scene.shell, obstacles, planes_of(scene), reach=told["reach_m"], gap=told["gap_m"],
            self_contact=told["self"], sewn=scene.arrays.get("sewn"), named=named,
            between=[Between(**one) for one in told["between"]],
        )  # fmt: skip


def largest_stretch(x: Points, faces: Faces, gradients: Array) -> Vector:
    """(f,) λ − 1 of the most stretched direction of faces at points x (n, 3), from the corner gradients (f, 3, 2) of
    their rest shapes: λ² is the larger eigenvalue of 1 + 2 E, with E Green's strain."""
    first, second, shear = strains(np.ascontiguousarray(x), faces, gradients).T
    return np.sqrt(1.0 + first + second + np.hypot(first - second, shear)) - 1.0


def _several_threads_may() -> bool:
    """Whether kernels that use several threads can be called beside a run of this process, or none goes on."""
    try:
        layer = numba.np.ufunc.parallel.threading_layer()
    except ValueError:  # none was needed yet
        layer = ""
    return layer != "workqueue" or not held_here()


class several_threads:
    """While held, kernels that use several threads may be called; refused where that would end the process."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        _kernels.acquire()
        if not _several_threads_may():
            _kernels.release()
            raise input_error(
                "cannot be computed here while a run goes on in this process", where=self._name,
                remedy="bunraku view in a terminal of its own, or wait for the run's end",
            )  # fmt: skip

    def __exit__(self, *_: object) -> None:
        _kernels.release()

"""A body in a few modes: what a motion is planned in."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from bunraku.contracts import Array, ContentStore, Integers, Sparse, Vector, input_error, is_between
from bunraku.dynamics import (
    Bends,
    Groups,
    LinearBody,
    Modes,
    Observed,
    Warp,
    attachments,
    enriched,
    natural_modes,
    observed_centre,
    observed_vertices,
)
from bunraku.energies import linear_stiffness, solid_mass
from bunraku.geometry import TetMesh
from bunraku.materials import SolidMaterial
from bunraku.numerics import Oscillators


@dataclass(frozen=True, eq=False)
class Reduced:
    """An elastic body with some vertices fixed, in some of its modes, warped or not."""

    stock: Stock
    fixed: Integers
    """(f,)"""
    modes: Modes
    warped: bool
    """whether turns are meant as turns"""
    attached: bool = False
    """whether what moving each key's vertices as one does is among the modes"""
    _seen: dict[bytes, Observed] = field(default_factory=dict, repr=False)

    @property
    def mesh(self) -> TetMesh:
        """The body at rest."""
        return self.stock.mesh

    @property
    def mass(self) -> Vector:
        """(n,) lumped [kg]"""
        return self.stock.mass

    @property
    def warp(self) -> Warp:
        """From displacements to what they mean."""
        return self.stock.warp(self.fixed)[0]

    @cached_property
    def oscillators(self) -> Oscillators:
        """One a mode."""
        flat = self.modes.shapes.reshape(-1, self.modes.count)
        pull = -flat.T @ (np.repeat(self.mass, 3) * np.tile(self.stock.gravity, len(self.mass)))
        return Oscillators(self.modes.stiffness, self.stock.damped(self.modes), pull)

    def observe(self, vertices: Integers | None) -> Observed:
        """Vertices (v,) by the roots of their masses, or the centre of mass: kept, for keys are edited often."""
        name = b"" if vertices is None else np.ascontiguousarray(vertices).tobytes()
        if name not in self._seen:
            warp, groups = self.stock.warp(self.fixed)
            basis = self.modes.shapes
            self._seen[name] = (
                observed_centre(warp, basis, groups=groups) if vertices is None
                else observed_vertices(warp, basis, vertices, groups=groups)
            )  # fmt: skip
        return self._seen[name]

    def prepare(self, keyed: Sequence[Integers | None]) -> None:
        """Make all that a search needs and that depends only on which vertices have keys, not on what these ask."""
        for vertices in keyed:
            self.observe(vertices)
        if self.warped:
            _ = self.bends

    @cached_property
    def bends(self) -> Bends:
        """Second derivatives of what is observed."""
        return Bends.of(self.stock.warp(self.fixed)[1], self.modes.shapes)

    def displacements(self, q: Array) -> Array:
        """(n, 3), or (r, n, 3), of modal coordinates (d,), or (r, d) [m]."""
        u = self.modes.displacements(q)
        return self.warp.displacements(u) if self.warped else u

    def along(self, q: Array, directions: Array) -> Array:
        """(n, r) how far vertices go along a direction (3,) each, of (3, r), at modal coordinates (r, d) [m]."""
        flat = self.modes.shapes.reshape(-1, self.modes.count)
        u = (flat @ q.T).reshape(len(self.mass), 3, len(q))
        return self.warp.along(u, directions) if self.warped else np.einsum("nir,ir->nr", u, directions)

    def velocities(self, q: Array, v: Array) -> Array:
        """How fast vertices move where q changes at v [m/s]."""
        rate = self.modes.displacements(v)
        return self.warp.velocities(self.modes.displacements(q), rate) if self.warped else rate

    @property
    def unwarped(self) -> Reduced:
        """The same without warp; what is observed is shared."""
        return replace(self, warped=False)

    def with_shapes(self, vectors: Array) -> Reduced:
        """The body in these modes and in other displacements (n, 3, e) as well."""
        modes = enriched(self.modes, vectors, self.stock.linear(self.fixed))
        return Reduced(self.stock, self.fixed, modes, self.warped, self.attached)

    @property
    def whole(self) -> bool:
        """Whether its modes are all that it has."""
        return self.modes.count >= 3 * (self.mesh.point_count - len(self.fixed))

    def without_rigid(self) -> Reduced:
        """The body in its elastic modes alone."""
        return replace(self, modes=self.modes.elastic, _seen={})


@dataclass(frozen=True, eq=False)
class Stock:
    """What motions of one body are made from, whichever of its vertices are fixed: set up once, used by all of them."""

    mesh: TetMesh
    materials: tuple[SolidMaterial, ...]
    of_tet: Integers | None
    """(m,) which of several materials each tetrahedron is of"""
    damping: tuple[tuple[float, float], ...]
    """α [1/s] of the mass and β [s] of the stiffness, for all or of each material: 2δ = α + β λ where they are alike"""
    gravity: Vector
    """(3,) [m/s²]"""
    cache: ContentStore | None = None
    threads: int | None = None
    _linear: dict[bytes, LinearBody] = field(default_factory=dict, repr=False)
    _warps: dict[bytes, tuple[Warp, Groups]] = field(default_factory=dict, repr=False)
    _reduced: dict[str, Reduced] = field(default_factory=dict, repr=False)

    @property
    def _chosen(self) -> SolidMaterial | Sequence[SolidMaterial]:
        return self.materials[0] if self.of_tet is None else self.materials

    @cached_property
    def mass(self) -> Vector:
        """(n,) lumped [kg]"""
        return solid_mass(self.mesh, self._chosen, self.of_tet)

    @cached_property
    def stiffness(self) -> Sparse:
        """(3n, 3n) of the body at rest [N/m]."""
        return linear_stiffness(self.mesh, self._chosen, self.of_tet)

    def damped(self, modes: Modes) -> Vector:
        """(d,) δ [1/s] of modes: each is damped by what it moves and strains, 2δ = φᵀ (Σ αM + Σ βK) φ of the materials.
        By what else that would couple modes they are not told apart, as is usual where damping is light."""
        if len(set(self.damping)) == 1:
            alpha, beta = self.damping[0]
            return 0.5 * (alpha + beta * modes.stiffness)
        drag, viscosity = self._dampers
        flat = modes.shapes.reshape(-1, modes.count)
        own = np.einsum("ij,i,ij->j", flat, np.repeat(drag, 3), flat)
        strained = flat[:, modes.rigid :]
        own[modes.rigid :] += np.einsum("ij,ij->j", strained, viscosity @ strained)
        return 0.5 * own

    @cached_property
    def _dampers(self) -> tuple[Vector, Sparse]:
        """(n,) [kg/s] and (3n, 3n) [N s/m] where materials are not damped alike."""
        alpha, beta = zip(*self.damping, strict=True)
        return (
            solid_mass(self.mesh, self.materials, self.of_tet, alpha),
            linear_stiffness(self.mesh, self.materials, self.of_tet, beta),
        )

    def linear(self, fixed: Integers) -> LinearBody:
        """The body in its linear range with vertices fixed."""
        name = fixed.tobytes()
        if name not in self._linear:
            self._linear[name] = LinearBody(self.mesh.rest, self.stiffness, self.mass, fixed)
        return self._linear[name]

    def warp(self, fixed: Integers) -> tuple[Warp, Groups]:
        """The warp with vertices fixed, and its tetrahedra in groups."""
        name = fixed.tobytes()
        if name not in self._warps:
            warp = Warp(self.mesh, self.mass, fixed)
            self._warps[name] = warp, Groups.of(warp)
        return self._warps[name]

    def reduced(self, fixed: Integers, count: int, *, warped: bool, keyed: Sequence[Integers] = ()) -> Reduced:
        """The body in its `count` lowest modes, rigid ones among them, and those that moving sets of `keyed` vertices
        as one takes."""
        name = self._content(fixed, count, keyed)
        if (known := f"{name}{warped}") not in self._reduced:
            self._reduced[known] = Reduced(self, fixed, self._modes(name, fixed, count, keyed), warped, bool(keyed))
        return self._reduced[known]

    def flying(self, count: int, *, warped: bool, keyed: Sequence[Integers] = ()) -> Reduced:
        """The body with nothing fixed, in its `count` lowest elastic modes and those that `keyed` vertices take."""
        rigid = 6 * self.mesh.part_count
        return self.reduced(np.zeros(0, np.int64), count + rigid, warped=warped, keyed=keyed).without_rigid()

    def _modes(self, name: str, fixed: Integers, count: int, keyed: Sequence[Integers]) -> Modes:
        kept = None if self.cache is None else self.cache.load(name)
        if kept is not None:
            return Modes(np.array(kept["shapes"]), np.array(kept["stiffness"]), int(kept["rigid"]))
        body = self.linear(fixed)
        elastic, order = max(count - body.rigid().shape[2], 0), self.warp(fixed)[0].order
        modes = natural_modes(body, elastic, threads=self.threads, order=order).lowest(count)
        for vertices in keyed:
            modes = enriched(modes, attachments(body, vertices, threads=self.threads), body)
        if self.cache is not None:
            arrays = {"shapes": modes.shapes, "stiffness": modes.stiffness, "rigid": np.array(modes.rigid)}
            self.cache.store(name, arrays)
        return modes

    def _content(self, fixed: Integers, count: int, keyed: Sequence[Integers]) -> str:
        """The name of modes: that of all they are made of."""
        digest = hashlib.blake2b(digest_size=16)
        laws = np.array([[*one.lame, one.density] for one in self.materials])
        for part in (self.mesh.rest, self.mesh.tets, laws, self.of_tet, fixed, np.array(count), *keyed):
            part = np.zeros(0) if part is None else np.ascontiguousarray(part)
            digest.update(repr((part.shape, str(part.dtype))).encode() + part.tobytes())
        return f"modes-2-{digest.hexdigest()}"

    def serves(self, other: Stock) -> bool:
        """Whether all that was set up here is that of another."""
        mine, theirs = (
            [one.mesh.rest, one.mesh.tets, one.of_tet, np.array(one.damping), one.gravity] for one in (self, other)
        )
        same = all(
            (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b))
            for a, b in zip(mine, theirs, strict=True)
        )
        return same and self.materials == other.materials


def as_damping(given: ArrayLike | None, materials: Sequence[SolidMaterial]) -> tuple[tuple[float, float], ...]:
    """(α, β) as given, for all; else those of each material."""
    if given is None:
        return tuple((one.mass_damping, one.stiffness_damping) for one in materials)
    try:
        alpha, beta = given  # type: ignore[misc]
    except (TypeError, ValueError):
        alpha = beta = None
    if not (is_between(alpha, 0.0, 1e6) and is_between(beta, 0.0, 1e6)):
        raise input_error(
            "damping must be two numbers", got=repr(given)[:60],
            allowed="(of the mass [1/s], of the stiffness [s]), each from 0",
        )  # fmt: skip
    return ((float(alpha), float(beta)),)  # type: ignore[arg-type]

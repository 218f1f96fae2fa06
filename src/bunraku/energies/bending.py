"""Bending of a shell in its dihedral angles, with Kelvin–Voigt damping.

With b_e = l_e (θ_e − θ̄_e) on the inner edges (l rest length) and a constant, sparse compliance C,

    energy = ½ bᵀ C⁻¹ b,      edge moments m = C⁻¹ b.

Two compliances:

* `plate_compliance`: the condensed Morley / Hellan–Herrmann–Johnson element, in which the edges of a
  face share a constant moment tensor. A flat plate then has exactly D = E h³/12(1−ν²) and ν, on any mesh.
* `hinge_compliance`: independent hinges [Grinspun 2003], diagonal. Cheap to think about, but not a plate:
  its stiffness depends on the mesh.

C is a sum over *elements* (faces, or single hinges) of local C_T, and an element's share of the rotations is
a_T = C_T m. Kelvin–Voigt damping with r = τ/dt, from the elastic shares aₙ at the start of the step, turns C_T into
C_T/(1 + r) and b into b − Σ r/(1+r) aₙ; where τ varies over the mesh the shares are elastic again at every step.
Angles do not see rigid motion, so neither does the damping.
The moments are kept as auxiliary unknowns of the linear system: C⁻¹ is dense, [K Jᵀ; J −C] is sparse and
quasi-definite, and needs thinner separators than the hinge's own 4-point blocks.
An edge with one face carries no moment: a free or simply supported edge. Where k ≥ 3 faces meet (a pocket, a collar)
the plate has k − 1 moments, paired face after face: they balance along the edge as they must, and the angles between
other pairs are sums of theirs. Independent hinges sit between every two of the faces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bunraku.contracts import Array, Flags, Integers, Points, State, Stencil, Vector
from bunraku.geometry import TriMesh, hinges
from bunraku.materials import MaterialBlend, ShellFields, bending_rigidity
from bunraku.motion import Growth, RestShapes
from bunraku.numerics import Scatter, inner

from .compliance import (
    Compliance,
    ComplianceSolver,
    hinge_compliance,
    hinges_of_corners,
    inside_loose,
    plate_compliance,
)
from .dihedral import angle_gradients, angle_hessians, angles
from .membrane import point_unknowns
from .plasticity import PASSES, Gauge, hardened, hinge_gauge, plate_gauge, yielding
from .rest import FaceBlend, HingeBlend
from .weave import Weave

ANGLES = "bending.angles"
PLASTIC_ANGLES = "bending.plastic_angles"
SET_CURVATURE = "bending.set_curvature"
RIGID = 1e6  # how much stiffer than its material a rigid face is


@dataclass(frozen=True, eq=False)
class BendingEnergy:
    """Bending energy of one step. Zero and stationary at rest, invariant under rigid motion."""

    hinges: Integers
    """(m, 4) edge start, end, corner of the first face, corner of the second"""
    lengths: Vector
    """(m,) rest edge lengths [m]"""
    rest_angles: Vector
    """(m,) θ̄ [rad]"""
    near: Vector
    """(m,) angles at the start of the step, or where it was followed to: fixes the branch [rad]"""
    offset: Vector
    """(m,) b already relaxed by damping [m]"""
    compliance: Compliance
    solver: ComplianceSolver = field(repr=False)
    scatter: Scatter = field(repr=False)

    @property
    def auxiliary_count(self) -> int:
        """One moment a hinge."""
        return len(self.hinges)

    def rotations(self, x: Points) -> Vector:
        """(m,) b = l (θ − θ̄) [m]."""
        return self.lengths * (angles(x, self.hinges, self.near) - self.rest_angles)

    def moments(self, x: Points) -> Vector:
        """(m,) edge moments, elastic and viscous [N]."""
        self.solver.take(self.compliance)
        return self.solver.solve(self.rotations(x) - self.offset)

    def value(self, x: Points) -> float:
        """[J]"""
        b = self.rotations(x) - self.offset
        self.solver.take(self.compliance)
        return 0.5 * inner(b, self.solver.solve(b))

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N]"""
        weights = self.lengths * self.moments(x)
        return self.scatter.sum((weights[:, None] * angle_gradients(x, self.hinges)).reshape(-1, 4, 3))

    def follow(self, x: Points) -> Mapping[str, Array]:
        """Angles go on from those at x: where a face turns over within one solve, their branch would end there."""
        self.near[:] = angles(x, self.hinges, self.near)
        return {ANGLES: self.near.copy()}

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """Moments against moments, moments against points, and without psd the curvature of the angles."""
        first = 3 * (len(self.scatter.starts) - 1)
        edges = self.compliance.edges
        points = point_unknowns(self.hinges)
        own = np.arange(first, first + len(self.hinges))[:, None]
        out = [Stencil(np.where(edges >= 0, edges + first, -1)), Stencil(own, points)]
        return out if psd else [*out, Stencil(points)]

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """With psd the second derivative of the angles is left out (Gauss–Newton)."""
        slopes = self.lengths[:, None] * angle_gradients(x, self.hinges)
        out = [-self.compliance.local, slopes[:, None, :]]
        if not psd:
            weights = self.lengths * self.moments(x)
            out.append(weights[:, None, None] * angle_hessians(x, self.hinges))
        return out


class Bending:
    """The bending of a shell as material and rest shape change: gives each step its `BendingEnergy`.

    Where the material yields (`plasticity.py`) the state's memory holds what has set: an angle a hinge and a
    curvature an element. It is brought up to date at the end of every step, from the state alone.
    A rest shape that changes is no rate of strain: damping compares both ends of a step with the rest shape at its end.
    """

    def __init__(
        self, mesh: TriMesh, material: MaterialBlend, *, plate: bool = True, rigid: Flags | None = None,
        rest: RestShapes | None = None, growth: Growth | None = None,
    ) -> None:  # fmt: skip
        """`plate=False` takes independent hinges; `rigid` (f,) marks faces that cannot bend (inside a clamp)."""
        self._rigid = np.zeros(len(mesh.faces), dtype=bool) if rigid is None else rigid
        self._material = material
        self._per_face = plate
        self._hinges = hinges(mesh, every_pair=not plate)
        self._faces, self._angles = FaceBlend(mesh, rest, growth), HingeBlend(mesh, self._hinges, rest)
        self._constant = material.constant and self._faces.constant
        self._first = self._faces.at(0.0)
        self.rest_angles = self._angles.at(0.0)
        self._lengths = self._angles.lengths(self._first)
        self._weave = Weave.of(mesh, material) if plate else Weave(None)  # hinges know no directions
        fields = material.at(0.0)
        self._base = self._made(self._first, fields)
        self.yields = any(np.isfinite(one.yield_curvature) for one in material.materials)
        self._base_gauge = self._gauged(self._first, fields) if self.yields else None
        self._solver = ComplianceSolver(self._base)
        self._elastic_solver = ComplianceSolver(self._base)
        self._scatter = Scatter.of(self._hinges.vertices, mesh.point_count)

    @property
    def hinge_count(self) -> int:
        """Pairs of faces that share an edge."""
        return len(self._hinges.vertices)

    def _elements(self, per_face: Vector) -> Vector:
        """(k,) a face quantity on the elements of the compliance."""
        if self._per_face:
            return per_face
        return per_face[self._hinges.faces].mean(axis=1)

    def _compliance(self, time: float, memory: Mapping[str, Array]) -> Compliance:
        base = self._base
        if not self._constant:
            base = self._made(self._faces.at(time), self._material.at(time))
        stiffness = self._stiffness(memory)
        return base if stiffness is None else base.scaled(1.0 / stiffness)

    def _stiffness(self, memory: Mapping[str, Array]) -> Vector | None:
        """(k,) of hardened elements over that of their material, or None where nothing has hardened."""
        already = memory.get(SET_CURVATURE)
        if already is None or not already.any():
            return None
        hardening = self._elements(self._material.at(0.0).hardening)
        return hardened(hardening, already) if hardening.any() else None

    def _made(self, mesh: TriMesh, fields: ShellFields) -> Compliance:
        soft = self._compliance_of(mesh, fields, np.ones(len(self._rigid)))
        if not self._rigid.any():
            return soft
        hard = self._compliance_of(mesh, fields, np.where(self._rigid, RIGID, 1.0))
        return inside_loose(hard, soft, np.all(self._rigid[self._hinges.faces], axis=1))

    def _compliance_of(self, mesh: TriMesh, fields: ShellFields, stiffer: Vector) -> Compliance:
        """The compliance of the material made `stiffer` (f,)."""
        rigidity = stiffer * _rigidity(fields)
        if not self._per_face:
            return hinge_compliance(mesh, self._hinges, rigidity, fields.poisson)
        flexibility = self._weave.flexibility(fields, stiffer)
        return plate_compliance(mesh, self._hinges, rigidity, fields.poisson, flexibility)

    def _gauged(self, mesh: TriMesh, fields: ShellFields) -> Gauge:
        rigidity = _rigidity(fields)
        if not self._per_face:
            return hinge_gauge(self._hinges, rigidity)
        edges, signs = hinges_of_corners(self._hinges, len(mesh.faces))
        flexibility = self._weave.flexibility(fields, np.ones(len(mesh.faces)))
        return plate_gauge(mesh, edges, signs, rigidity, fields.poisson, flexibility)

    def _near(self, state: State) -> Vector:
        return angles(state.q.reshape(-1, 3), self._hinges.vertices, state.memory.get(ANGLES, self.rest_angles))

    def elastic(self, time: float, memory: Mapping[str, Array] | None = None) -> BendingEnergy:
        """The energy without damping at a time [s], with what a state's `memory` says has set."""
        memory = memory or {}
        rest, lengths = self.rest_angles, self._lengths
        if not self._faces.constant:
            rest, lengths = self._angles.at(time), self._angles.lengths(self._faces.at(time))
        if PLASTIC_ANGLES in memory:
            rest = rest + memory[PLASTIC_ANGLES]
        return BendingEnergy(
            self._hinges.vertices, lengths, rest, np.array(memory.get(ANGLES, rest)), np.zeros(self.hinge_count),
            self._compliance(time, memory), self._elastic_solver, self._scatter,
        )  # fmt: skip

    def at(self, state: State, dt: float) -> BendingEnergy:
        """The energy of the step to `state.time + dt`."""
        energy = self.elastic(state.time + dt, {**state.memory, ANGLES: self._near(state)})
        damping = self._elements(self._material.at(state.time + dt).bend_damping)
        if not damping.any():
            return energy
        ratio = damping / dt
        shares = energy.compliance.spread(energy.moments(state.q.reshape(-1, 3)))
        offset = energy.compliance.gathered((ratio / (1.0 + ratio))[:, None] * shares)
        soft = energy.compliance.scaled(1.0 / (1.0 + ratio))
        return replace(energy, offset=offset, compliance=soft, solver=self._solver)

    def remember(self, state: State) -> Mapping[str, Array]:
        """The angles on their branch: a fold beyond ±π is not mistaken for its opposite. And what has set."""
        near = self._near(state)
        if not self.yields:
            return {ANGLES: near}
        memory = {
            PLASTIC_ANGLES: state.memory.get(PLASTIC_ANGLES, np.zeros(self.hinge_count)),
            SET_CURVATURE: state.memory.get(SET_CURVATURE, np.zeros(len(self._base.edges))), ANGLES: near,
        }  # fmt: skip
        for _ in range(PASSES):  # hardening shifts bending between elements, which may then be beyond yield again
            energy = self.elastic(state.time, memory)
            found = yielding(
                energy.lengths * (near - energy.rest_angles), self._limits(),
                self._reader(energy, state.time, memory), energy.compliance.gathered,
            )  # fmt: skip
            if found is None:
                break
            memory[PLASTIC_ANGLES] = memory[PLASTIC_ANGLES] + found.rotations / energy.lengths
            memory[SET_CURVATURE] = memory[SET_CURVATURE] + found.curvature
        return memory

    def yielded(self, memory: Mapping[str, Array]) -> float:
        """Share of the elements (faces, or hinges) that have set, 0 to 1."""
        already = memory.get(SET_CURVATURE)
        return 0.0 if already is None else float(np.count_nonzero(already) / max(len(already), 1))

    def curvature(self, state: State) -> Vector:
        """(k,) by how much each element (face, or hinge) is bent from its rest shape [1/m]."""
        energy = self.elastic(state.time, {**state.memory, ANGLES: self._near(state)})
        read = self._reader(energy, state.time, state.memory)
        return read(energy.rotations(state.q.reshape(-1, 3)))[0]

    def _reader(
        self, energy: BendingEnergy, time: float, memory: Mapping[str, Array]
    ) -> Callable[[Vector], tuple[Vector, Array]]:
        """Rotations (m,) to the curvature (k,) of every element and its shares (k, w) of them."""
        gauge = self._base_gauge if self._constant else None
        gauge = gauge or self._gauged(self._faces.at(time), self._material.at(time))
        stiffness = self._stiffness(memory)
        stiffness = np.ones(len(gauge.edges)) if stiffness is None else stiffness
        energy.solver.take(energy.compliance)

        def read(rotations: Vector) -> tuple[Vector, Array]:
            moments = energy.solver.solve(rotations)
            return gauge.read(moments, stiffness), energy.compliance.spread(moments)

        return read

    def _limits(self) -> Vector:
        """(k,) yield curvature of every element; what is inside a clamp does not yield."""
        with np.errstate(divide="ignore"):
            inverse = np.where(self._rigid, 0.0, 1.0 / self._material.at(0.0).yield_curvature)
            return 1.0 / self._elements(inverse)


def _rigidity(fields: ShellFields) -> Vector:
    """(f,) D [N·m]."""
    return bending_rigidity(fields.young, fields.poisson, fields.thickness) * fields.bend_scale

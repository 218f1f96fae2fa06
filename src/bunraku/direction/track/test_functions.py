"""Test functions: at what scale the shell must obey the guide [Bergou 2007, §4.1–4.2]."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy import sparse

from bunraku.contracts import Integers, Sparse, Vector, input_error, need
from bunraku.geometry import Embedding, TriMesh, area_mass_matrix, embed, first_few, subdivide

_log = logging.getLogger(__name__)


class Tests(Protocol):
    """Test functions, as `hierarchy`, `clusters`, `painted`, `gaussians`, `changing` or `pointwise` make them."""

    @property
    def count(self) -> int: ...

    @property
    def guide(self) -> Sparse: ...

    @property
    def shell(self) -> Sparse: ...

    @property
    def prolongation(self) -> Sparse | None: ...

    @property
    def embedding(self) -> Embedding | None: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def held(self) -> Callable[[float], Vector] | None: ...

    @property
    def nested(self) -> bool: ...

    def averages(self, guide: TriMesh, shell: TriMesh) -> tuple[Sparse, Sparse]: ...

    def averages_at(self, time: float, guide: TriMesh, shell: TriMesh) -> tuple[Sparse, Sparse] | None: ...


@dataclass(frozen=True, eq=False)
class TestFunctions:
    """Corresponding test functions on a guide and on a shell, by their vertex values."""

    __test__ = False  # not a pytest class

    guide: Sparse
    """(k, n_guide) CSR values on the guide's vertices"""
    shell: Sparse
    """(k, n_shell) CSR values on the shell's vertices"""
    prolongation: Sparse | None = None
    """(n_shell, n_guide) how the guide's pose becomes the shell's, where the two correspond point by point"""
    embedding: Embedding | None = None
    """how the shell hangs on a guide whose shape is not its own; the goals are then the averages of the shell so posed,
    which its rest shape meets whatever the distance between the two"""
    names: tuple[str, ...] = ()
    """(k,) of the regions; none: their numbers"""
    held: Callable[[float], Vector] | None = None
    """time [s] → (k,) how firmly each is held, 0 to 1; None: all of them exactly"""
    nested: bool = False
    """whether regions contain others (and `held` never holds both of such a pair exactly)"""

    def __post_init__(self) -> None:
        guide, shell = _values("guide", self.guide), _values("shell", self.shell)
        if guide.shape[0] != shell.shape[0]:
            raise input_error(
                "guide and shell must have the same number of test functions",
                got=(guide.shape[0], shell.shape[0]),
            )
        if self.names and len(self.names) != guide.shape[0]:
            raise input_error("regions need one name each", got=len(self.names), allowed=str(guide.shape[0]))
        object.__setattr__(self, "guide", guide)
        object.__setattr__(self, "shell", shell)

    @property
    def count(self) -> int:
        """Number of test functions k."""
        return self.guide.shape[0]

    def averages(self, guide: TriMesh, shell: TriMesh) -> tuple[Sparse, Sparse]:
        """Weights (k, n_guide) and (k, n_shell) of the averages that must agree.

        C̄ = S̄ 𝓜̄ and C = S 𝓜, rows of C rescaled to C̄'s sums by eq. (8), then both divided by
        those sums: each row averages, so its multiplier is the force on the region in newtons.
        """
        given = self.guide.shape[1], self.shell.shape[1]
        if given != (guide.point_count, shell.point_count):
            raise input_error(
                "test functions belong to other meshes", got=f"{given[0]} guide and {given[1]} shell vertices",
                allowed=f"{guide.point_count} and {shell.point_count}", remedy="clusters(guide, 200, shell=shell)",
            )  # fmt: skip
        return _unit_rows(self.guide @ area_mass_matrix(guide)), _unit_rows(self.shell @ area_mass_matrix(shell))

    def averages_at(self, time: float, guide: TriMesh, shell: TriMesh) -> None:
        """They never change."""
        return None

    def along(self, prolongation: Sparse) -> TestFunctions:
        """The guide's functions carried to a shell that lies in it, as the guide's own hats are: the averages of both
        then agree. `prolongation` (n_shell, n_guide)."""
        functions: Sparse = sparse.csr_array(self.guide @ prolongation.T)
        return replace(self, shell=functions, prolongation=prolongation, embedding=None)

    def carried(self, guide: TriMesh, shell: TriMesh | None) -> TestFunctions:
        """The functions of a guide's own mesh carried to the shell: the guide subdivided, or any mesh that lies on it
        (both in their rest shapes); None is the guide's own mesh."""
        if shell is None:
            return self
        need(TriMesh, "shell", shell)
        finer = _subdivision(guide, shell)
        return self.onto(shell, embed(shell, guide)) if finer is None else self.along(finer)

    def onto(self, shell: TriMesh, embedding: Embedding) -> TestFunctions:
        """The guide's functions carried to a shell that hangs on it; regions that do not reach it are left out."""
        functions: Sparse = sparse.csr_array(self.guide @ embedding.matrix.T)
        reached = np.flatnonzero(np.asarray(abs(functions).sum(axis=1)).reshape(-1) > 0)
        if len(reached) < self.count:
            lost = np.setdiff1d(np.arange(self.count), reached)
            _log.warning("regions %s reach no vertex of the shell and are left out", first_few(self.named(lost)))
        if not len(reached):
            raise input_error("no region of the guide reaches the shell", remedy="a shell that lies on the guide")
        kept = self.only(reached)
        return replace(kept, shell=functions[reached], prolongation=embedding.matrix, embedding=embedding)

    def only(self, rows: Integers) -> TestFunctions:
        """Some of the functions, in the order of `rows`."""
        held = self.held
        return replace(
            self, guide=self.guide[rows], shell=self.shell[rows],
            names=tuple(self.names[k] for k in rows) if self.names else (),
            held=None if held is None else lambda time: held(time)[rows],
        )  # fmt: skip

    def named(self, rows: Integers | Sequence[int]) -> list[str]:
        """The names of some regions."""
        return [self.names[k] if self.names else str(k) for k in rows]


def _subdivision(guide: TriMesh, shell: TriMesh) -> Sparse | None:
    """(n_shell, n_guide) the prolongation of a shell that is the guide subdivided; None where it is not."""
    levels = round(np.log(max(len(shell.faces), 1) / max(len(guide.faces), 1)) / np.log(4.0))
    if levels < 0 or len(guide.faces) * 4**levels != len(shell.faces):
        return None
    fine, prolongation = subdivide(guide, levels)
    same = np.array_equal(fine.faces, shell.faces) and np.allclose(
        fine.rest, shell.rest, rtol=0, atol=1e-9 * shell.size
    )
    return sparse.csr_array(prolongation) if same else None


def _values(name: str, given: object) -> Sparse:
    """(k, n) CSR, refused where it is no matrix of finite numbers."""
    try:
        found: Sparse = sparse.csr_array(given)
    except (TypeError, ValueError):
        found = sparse.csr_array((0,))
    if found.ndim != 2:
        allowed = "a matrix (regions, vertices) of numbers"
        raise input_error("not test functions", where=name, got=type(given).__name__, allowed=allowed)
    entries = found.tocoo()
    broken = np.unique(entries.row[~np.isfinite(entries.data)])
    if len(broken):
        raise input_error("test functions must be finite", where=f"{name}, regions {first_few(broken)}")
    return found


def _unit_rows(matrix: Sparse) -> Sparse:
    total = np.asarray(matrix.sum(axis=1)).reshape(-1)
    empty = np.flatnonzero(~(np.abs(total) > 0))
    if len(empty):
        raise input_error(
            "test functions without any weight", where=f"regions {first_few(empty)}",
            remedy="every region needs at least one vertex on the guide and on the shell",
        )  # fmt: skip
    return sparse.csr_array(sparse.diags_array(1.0 / total) @ matrix)


def hierarchy(
    guide: TriMesh, levels: int | None = None, *, shell: TriMesh | None = None
) -> tuple[TriMesh, TestFunctions]:
    """A shell and the guide's own hat functions as test functions.

    The shell is the guide subdivided `levels` times, the guide's vertices first, in their order; or it is any `shell`,
    which then goes with the nearest places of the guide (both in their rest shapes).
    """
    if (levels is None) == (shell is None):
        raise input_error(
            "hierarchy needs either levels or a shell", got="neither" if levels is None else "both", remedy="levels=3"
        )
    need(TriMesh, "guide", guide, remedy="guide.mesh")
    identity = sparse.eye_array(guide.point_count, format="csr")
    if shell is not None:
        need(TriMesh, "shell", shell)
        return shell, TestFunctions(identity, identity).onto(shell, embed(shell, guide))
    assert levels is not None
    fine, prolongation = subdivide(guide, levels)
    return fine, TestFunctions(identity, sparse.csr_array(prolongation.T), prolongation)


def _picked(vertices: Integers, count: int) -> Sparse:
    """(k, n) one at a vertex a row."""
    rows = np.arange(len(vertices))
    return sparse.csr_array((np.ones(len(rows)), (rows, vertices)), shape=(len(rows), count))


def pointwise(guide: TriMesh, shell: TriMesh, pairs: Integers) -> PointTests:
    """Vertex-to-vertex conditions, for comparison only: `pairs` (k, 2) guide vertex, shell vertex."""
    for name, mesh in (("guide", guide), ("shell", shell)):
        need(TriMesh, name, mesh)
    try:
        pairs = np.asarray(pairs)
    except ValueError:  # of different lengths
        pairs = np.zeros((0, 0), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise input_error("pairs must be whole numbers of shape (k, 2)", got=f"{pairs.dtype} {pairs.shape}")
    for column, (name, count) in enumerate((("guide", guide.point_count), ("shell", shell.point_count))):
        outside = pairs[(pairs[:, column] < 0) | (pairs[:, column] >= count), column]
        if len(outside):
            raise input_error(
                f"pairs name vertices the {name} has not", got=first_few(outside), allowed=f"0 to {count - 1}"
            )
    return PointTests(pairs[:, 0], pairs[:, 1], guide.point_count, shell.point_count)


@dataclass(frozen=True, eq=False)
class PointTests:
    """Interpolating conditions: no averaging, hence the tugging the averages avoid."""

    guide_vertices: Integers
    """(k,)"""
    shell_vertices: Integers
    """(k,)"""
    guide_count: int
    shell_count: int
    prolongation: Sparse | None = None
    embedding: None = None
    names: tuple[str, ...] = ()
    held: None = None
    nested: bool = False

    @property
    def count(self) -> int:
        """Number of pairs k."""
        return len(self.guide_vertices)

    @property
    def guide(self) -> Sparse:
        """(k, n_guide) one at each pair's vertex."""
        return _picked(self.guide_vertices, self.guide_count)

    @property
    def shell(self) -> Sparse:
        """(k, n_shell) one at each pair's vertex."""
        return _picked(self.shell_vertices, self.shell_count)

    def averages(self, guide: TriMesh, shell: TriMesh) -> tuple[Sparse, Sparse]:
        """One vertex each."""
        return self.guide, self.shell

    def averages_at(self, time: float, guide: TriMesh, shell: TriMesh) -> None:
        """They never change."""
        return None

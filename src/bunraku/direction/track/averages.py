"""From test functions to the conditions a step must meet."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np

from bunraku.constraints import LinearConstraint, average_jacobian, felt_mass
from bunraku.contracts import Sparse, Vector, input_error
from bunraku.geometry import TriMesh, first_few
from bunraku.materials import MaterialBlend
from bunraku.motion import Animation, Curve

from .caps import region_caps
from .changing import ChangingTests
from .independence import dependent_rows
from .settings import TrackSettings
from .test_functions import PointTests, TestFunctions, Tests

_log = logging.getLogger(__name__)


def average_constraint(
    guide: Animation, shell: TriMesh, tests: Tests, lumped: Vector, blend: MaterialBlend, knobs: TrackSettings,
    press: float | None = None,
) -> LinearConstraint:  # fmt: skip
    """The averages of the shell (k regions, three rows each) that must equal the guide's.

    With `press` they yield to contact: it is how hard they may press, as a strain.
    """
    of_guide, of_shell = tests.averages(guide.mesh, shell)
    jacobian = average_jacobian(of_shell)
    caps = region_caps(tests.shell, shell, blend, knobs.cap, knobs.cap_pressure, knobs.stretch)
    return LinearConstraint(
        jacobian, _goals(guide, shell, tests, of_guide, of_shell), _strength(tests, knobs, caps),
        felt_mass(jacobian, lumped), changing=_changing(guide.mesh, shell, tests), caps=_scaled(caps, knobs),
        differential=knobs.enforcement == "velocity", press=_press(tests, shell, blend, press),
    )  # fmt: skip


def independent(tests: Tests) -> Tests:
    """The test functions without those that follow from others, which are named in a warning."""
    if not isinstance(tests, (TestFunctions, ChangingTests, PointTests)):
        raise input_error(
            "not test functions", where="tests", got=type(tests).__name__, allowed="what hierarchy and the like return",
            remedy="shell, tests = hierarchy(guide.mesh, 3)" if isinstance(tests, tuple) else "tests=None for none",
        )  # fmt: skip
    if not isinstance(tests, TestFunctions) or tests.nested:
        return tests
    if not tests.count:
        raise input_error("there are no test functions", remedy="tests=None simulates without direction")
    double = dependent_rows(tests.shell)
    if not len(double):
        return tests
    _log.warning(
        "%d of %d regions follow from others (the same region twice, or a region and its parts) and are left out: %s",
        len(double), tests.count, first_few(tests.named(double)),
    )  # fmt: skip
    return tests.only(np.setdiff1d(np.arange(tests.count), double))


def _goals(
    guide: Animation, shell: TriMesh, tests: Tests, of_guide: Sparse, of_shell: Sparse
) -> Callable[[float], Vector]:
    """time [s] → (3k,) what the averages must be."""
    embedding = tests.embedding

    def goals(time: float) -> Vector:
        changed = tests.averages_at(time, guide.mesh, shell)
        on_guide, on_shell = (of_guide, of_shell) if changed is None else changed
        x = guide.at(time)
        return (on_guide @ x if embedding is None else on_shell @ embedding.points(x)).reshape(-1)

    return goals


def _changing(guide: TriMesh, shell: TriMesh, tests: Tests) -> Callable[[float], Sparse] | None:
    if tests.averages_at(0.0, guide, shell) is None:
        return None

    def jacobian(time: float) -> Sparse:
        found = tests.averages_at(time, guide, shell)
        assert found is not None
        return average_jacobian(found[1])

    return jacobian


def _press(tests: Tests, shell: TriMesh, blend: MaterialBlend, press: float | None) -> Callable[[float], Vector] | None:
    """time [s] → (k,) [N]: a strain as a force, as for caps."""
    return None if press is None else region_caps(tests.shell, shell, blend, None, None, press)


Caps = Callable[[float], Vector]
"""time [s] → (k,) [N]"""


def _strength(tests: Tests, knobs: TrackSettings, caps: Caps | None) -> Callable[[float], Vector]:
    """time [s] → (3k,) the strength of the whole times each region's own; a cap is scaled by the whole instead."""
    whole, count, held = Curve.of(knobs.strength), tests.count, tests.held

    def strength(time: float) -> Vector:
        own = np.ones(count) if held is None else held(time)
        uncapped = True if caps is None else np.isinf(caps(time))
        return np.repeat(np.where(uncapped, whole.at(time), 1.0) * own, 3)

    return strength


def _scaled(caps: Caps | None, knobs: TrackSettings) -> Caps | None:
    """The caps times the strength of the whole; none stays none."""
    if caps is None:
        return None
    whole = Curve.of(knobs.strength)

    def scaled(time: float) -> Vector:
        full = caps(time)
        return np.multiply(full, whole.at(time), out=full.copy(), where=np.isfinite(full))

    return scaled

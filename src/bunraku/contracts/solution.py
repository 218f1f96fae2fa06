"""A result that says how it was reached. Failure is a value with a sentence, not a flag."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, TypeVar

T = TypeVar("T")
WHY = "why"
"""in the evidence of a solution: a sentence for the user, where more is known than the outcome says"""


class Outcome(Enum):
    """How a solve ended; the value is the sentence a user reads."""

    CONVERGED = "converged"
    ITERATION_LIMIT = "took the allowed number of Newton iterations"
    NOT_CONVERGED = (
        "Newton's method did not converge; try more substeps, slower direction, a stiffer material or more damping"
    )
    LINE_SEARCH_FAILED = "no step along Newton's direction lowered the energy; try more substeps or slower direction"
    NOT_FINITE = (
        "the solution became infinite or not a number; what is directed is too violent for this step: "
        "try more substeps, slower direction or a stiffer material"
    )
    CONDITIONS_CONFLICT = (
        "two directions ask for different things of the same vertices (a pin inside a region or path, say); "
        "release one of them"
    )
    FACTORISATION_FAILED = (
        "the linear system could not be factorised; a region may be constrained twice or the mesh may be degenerate"
    )

    @property
    def usable(self) -> bool:
        """Whether the value may be built upon."""
        return self in (Outcome.CONVERGED, Outcome.ITERATION_LIMIT)


@dataclass(frozen=True)
class Solution(Generic[T]):
    """A value, how it was reached, and where and why it failed if it did."""

    value: T
    outcome: Outcome
    stats: Mapping[str, Any] = field(default_factory=dict)
    """what it cost and what it carries: iterations, multipliers, energies, timings"""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """where and why it failed: the worst vertex, the residual there"""

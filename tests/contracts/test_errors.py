"""Errors and outcomes are sentences."""

from __future__ import annotations

from bunraku.contracts import BunrakuError, InputError, Outcome, OutputError, PhysicsStopped, input_error


def test_input_error_says_what_where_got_allowed_try() -> None:
    error = input_error("young is out of range", where="material", got=-1, allowed="above 0 Pa", remedy="2e6")
    assert str(error) == "material: young is out of range (got -1); allowed: above 0 Pa; try: 2e6"
    assert str(input_error("unknown ease", got="bouncy")) == "unknown ease (got 'bouncy')"


def test_errors_are_ours_and_python_s() -> None:
    assert issubclass(InputError, BunrakuError) and issubclass(InputError, ValueError)
    assert issubclass(OutputError, BunrakuError) and issubclass(OutputError, OSError)
    assert issubclass(PhysicsStopped, BunrakuError)


def test_only_good_outcomes_are_built_upon() -> None:
    assert {outcome for outcome in Outcome if outcome.usable} == {Outcome.CONVERGED, Outcome.ITERATION_LIMIT}
    assert all(len(outcome.value) > 8 for outcome in Outcome)

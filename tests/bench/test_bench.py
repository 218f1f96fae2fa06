"""The tables: a tiny case to the end, and the command around it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from bunraku.bench import BENCHES
from bunraku.bench.step import run
from bunraku.cli import main


def test_a_tiny_case_prints_a_table_and_finishes() -> None:
    lines = list(run(((8, 2),), threads=1))
    assert lines[0].startswith("measured 64 vertices, 2 regions: ")
    head = next(k for k, line in enumerate(lines) if line.startswith("vertices regions |"))
    numbers = [float(text) for text in re.findall(r"[\d.]+", lines[head + 1])]
    assert numbers[:2] == [64, 2] and len(numbers) == len(
        re.findall(r"[\w/]+", lines[head].replace("peak MiB", "peak"))
    )
    assert lines[-1].startswith("plate against hinge bending at 64 vertices")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    try:
        code = main(["bench", *words])
    except SystemExit as wrong:
        code = int(wrong.code or 0)
    told = capsys.readouterr()
    return code, told.out, told.err


def test_tables_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys)
    assert code == 0 and {line.split()[0] for line in out.splitlines()} == set(BENCHES)


def test_the_command_prints_the_lines_of_a_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int | None] = []

    def lines(*, threads: int | None) -> Iterator[str]:
        given.append(threads)
        yield from ("one", "", "two")

    monkeypatch.setitem(BENCHES, "step", ("short", lines))
    assert said(capsys, "step", "--threads", "2") == (0, "one\n\ntwo\n", "")
    assert given == [2]


def test_an_unknown_solver_is_one_sentence(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUNRAKU_SOLVER", "foo")
    code, out, err = said(capsys, "step")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1 and err.startswith("bunraku: unknown or missing linear solver (got 'foo'); allowed: ")


@pytest.mark.parametrize("threads", ["0", "-1", "many"])
def test_threads_must_be_a_whole_number_above_zero(capsys: pytest.CaptureFixture[str], threads: str) -> None:
    code, _, err = said(capsys, "step", f"--threads={threads}")
    assert code == 2 and f"'{threads}' is not a whole number above zero" in err

"""The tables: a tiny case to the end, and the command around it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from scipy import sparse

from bunraku.bench import BENCHES, forms
from bunraku.bench.forms import scalar_form
from bunraku.bench.step import run, sheet
from bunraku.cli import main
from bunraku.energies import plate_compliance
from bunraku.geometry import hinges


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
    assert said(capsys, "--list") == (0, out, "")


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


def test_one_slab_is_asked_for_of_wavelength_alone(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "step", "--ratio", "30")
    assert code == 2 and not out and "bench step: --ratio is for 'wavelength'" in err
    code, out, err = said(capsys, "--thickness", "0.1")
    assert code == 2 and not out and "bench: --thickness is for 'wavelength'" in err
    code, out, err = said(capsys, "wavelength", "--ratio", "1e300")
    assert code == 2 and not out and "--ratio: ratio must be a number (got '1e+300')" in err
    code, out, err = said(capsys, "wavelength", "--thickness", "0")
    assert code == 2 and "thickness must be a number (got '0.0'); allowed: above 0 m" in err and "Traceback" not in err


def test_an_unknown_solver_is_one_sentence(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUNRAKU_SOLVER", "foo")
    code, out, err = said(capsys, "step")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1 and err.startswith("bunraku: unknown or missing linear solver (got 'foo'); allowed: ")


@pytest.mark.parametrize("threads", ["0", "-1", "many"])
def test_threads_must_be_a_whole_number_above_zero(capsys: pytest.CaptureFixture[str], threads: str) -> None:
    code, _, err = said(capsys, "step", f"--threads={threads}")
    assert code == 2 and f"'{threads}' is not a whole number above zero" in err


def test_the_scalar_form_is_the_same_plate() -> None:
    """Eliminating φ from the positive definite form leaves what eliminating m leaves: K + Jᵀ C⁻¹ J."""
    generator = np.random.default_rng(0)
    mesh = sheet(4)
    found = hinges(mesh)
    one, count, size = np.ones(len(mesh.faces)), len(found.vertices), 3 * mesh.point_count
    plate = plate_compliance(mesh, found, one, 0.3 * one)
    slopes = generator.normal(size=(count, size))
    base = np.diag(generator.uniform(1.0, 2.0, size))
    whole = scalar_form(sparse.csr_array(base), sparse.csr_array(slopes), plate.edges, plate.local).toarray()
    condensed = whole[:size, :size] - whole[:size, size:] @ np.linalg.solve(whole[size:, size:], whole[size:, :size])
    compliance = np.zeros((count, count))
    for edges, local in zip(plate.edges, plate.local, strict=True):
        kept = edges >= 0
        compliance[np.ix_(edges[kept], edges[kept])] += local[np.ix_(kept, kept)]
    expected = base + slopes.T @ np.linalg.solve(compliance, slopes)
    assert condensed == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())


def test_the_forms_are_timed_at_a_tiny_size() -> None:
    lines = list(forms.run((5,), threads=1))
    assert len(lines) == 3 and lines[-1].startswith("      25 |")

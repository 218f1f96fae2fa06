"""Kernels are compiled ahead of the suites: once, where out of date, those that call each other together."""

from __future__ import annotations

import json
import os
from pathlib import Path

import compile_kernels
import pytest
from compile_kernels import LIST, SOURCE, compile_all, outdated, shares
from kernels import called_files


def test_the_list_is_of_files_and_arguments_that_can_be_read() -> None:
    listed = json.loads(LIST.read_text(encoding="utf-8"))
    assert len(listed) > 20
    for kernels in listed.values():
        for kinds in kernels.values():
            assert all(isinstance(compile_kernels._types(kind), tuple) for kind in kinds)


def test_files_with_most_kernels_missing_or_older_are_out_of_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_kernels, "SOURCE", tmp_path)
    (tmp_path / "some.py").write_text("def one(\ndef two(\ndef three(\n")
    os.utime(tmp_path / "some.py", (100.0, 100.0))
    listed = {"some.py": {"one": [], "two": [], "three": [], "gone": []}, "lost.py": {"one": []}}
    indexes = [tmp_path / f"some.{name}-3.py311.nbi" for name in ("one", "two", "three")]
    for index in indexes:
        index.write_text("compiled")
        os.utime(index, (200.0, 200.0))
    assert outdated(listed, indexes) == []
    assert outdated(listed, indexes[1:]) == []
    assert outdated(listed, indexes[2:]) == ["some.py"]
    os.utime(tmp_path / "some.py", (300.0, 300.0))
    assert outdated(listed, indexes) == ["some.py"]


def test_files_that_call_each_other_are_in_one_share() -> None:
    files = list(json.loads(LIST.read_text(encoding="utf-8")))
    made = shares(files, 2)
    assert sorted(file for share in made for file in share) == sorted(files)
    assert len(made) == 2
    where = {SOURCE / file: k for k, share in enumerate(made) for file in share}
    for path, others in called_files(SOURCE).items():
        assert len({where[one] for one in {path} | others if one in where}) <= 1


def test_what_no_longer_fits_is_left_out() -> None:
    listed = {"collision/barrier.py": {"height": ["(float64, float64, float64)", "(float64,)"], "gone": ["()"]}}
    took = compile_all(["collision/barrier.py"], listed)
    assert [one is None for one in took.values()] == [False, True, True]

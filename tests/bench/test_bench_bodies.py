"""The table of bodies: a made one where the third-party meshes are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from bunraku.bench.bodies import run, urchin
from bunraku.geometry.enclosing import enclosed


@pytest.mark.slow
def test_a_tiny_case_prints_a_table_and_finishes(tmp_path: Path) -> None:
    lines = list(run(shares=(0.25,), data=tmp_path))
    row = next(line for line in lines if line.startswith("urchin")).split()
    assert row[1:3] == [str(urchin().point_count), "0.250"] and int(row[3]) > 20
    assert row[9].endswith("%") and abs(float(row[9].rstrip("%"))) < 0.1
    assert lines[-2].split()[:2] == [str(urchin().point_count), "vertices"]
    assert all(float(one) > 0 for one in lines[-1].split()[2:5])


def test_the_urchin_is_closed() -> None:
    found = enclosed(urchin(3))
    assert found.open_share == 0.0 and found.volume is not None and found.volume > 4.0
    assert float(abs(urchin(3).rest).max()) == pytest.approx(2.2)

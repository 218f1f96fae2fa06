"""What is compiled is thrown away where a file it calls has changed, and only there."""

from __future__ import annotations

import os
from pathlib import Path

from kernels import called_files, forget_stale

SOURCE = Path(__file__).resolve().parents[1] / "src" / "bunraku"


def test_files_whose_kernels_call_others_are_known() -> None:
    found = {
        str(path.relative_to(SOURCE)): {str(one.relative_to(SOURCE)) for one in others}
        for path, others in called_files(SOURCE).items()
    }
    assert found["collision/blocks.py"] >= {"collision/barrier.py"}
    assert found["collision/sliding.py"] >= {"geometry/hulls.py"}
    assert found["geometry/passing.py"] >= {"geometry/hulls.py", "geometry/bvh.py"}
    assert "geometry/hulls.py" not in found


def test_only_what_is_out_of_date_is_thrown_away(tmp_path: Path) -> None:
    """c calls b calls a, and d calls none of them: a change of a reaches both."""
    room = tmp_path / "house" / "room"
    (room / "__pycache__").mkdir(parents=True)
    texts = {"a": "", "b": "from .a import f\n", "c": "from house.room.b import g\n", "d": ""}
    for name, text in texts.items():
        (room / f"{name}.py").write_text(f"from numba import njit\n{text}")
        index = room / "__pycache__" / f"{name}.kernel-3.py311.nbi"
        index.write_text("compiled")
        os.utime(room / f"{name}.py", (100.0, 100.0))
        os.utime(index, (200.0, 200.0))
    assert forget_stale(tmp_path / "house") == []
    os.utime(room / "a.py", (300.0, 300.0))
    assert forget_stale(tmp_path / "house") == [room / "b.py", room / "c.py"]
    assert sorted(one.name[0] for one in (room / "__pycache__").iterdir()) == ["a", "d"]
    assert forget_stale(tmp_path / "house") == []

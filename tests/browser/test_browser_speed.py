"""How fast the page is, printed: the first frame, and playing. What draws here is no graphics card but software."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from browser_page import Studio
from browser_takes import make_large

from bunraku.studio import StudioServer

pytestmark = pytest.mark.studio


# Of the shot's 24 frames a second, on two cores that draw themselves and have other work too.
@pytest.mark.parametrize(("side", "name", "least"), [(100, "10k", 15.0), (316, "100k", 1.0)])
def test_large_takes_play_without_freezing(
    tab: Callable[..., Studio], serve: Callable[..., StudioServer], takes: list[Path], tmp_path: Path, side: int,
    name: str, least: float, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    address = serve(make_large(takes[0], tmp_path / "v001", side)).address
    studio = tab().open(address + "#m=result")
    first = studio.says("bunraku.firstFrame")
    studio.until("bunraku.buffered === 24")
    weight = studio.says("bunraku.bufferedBytes") / 24
    studio.keep(f"large_{name}")
    studio.press(" ")
    studio.until("bunraku.fps > 0")
    rates, waits = [], []
    for _ in range(12):
        begin = time.monotonic()
        rates.append(studio.says("bunraku.fps"))
        waits.append(time.monotonic() - begin)
        time.sleep(0.25)
    studio.press(" ")
    studio.until("bunraku.ready && !bunraku.playing")
    with capsys.disabled():
        pace = f"{statistics.median(rates):.1f} fps (largest {max(rates):.1f})"
        calm = f"answers within {1e3 * max(waits):.0f} ms while it plays"
        print(f"\n{name}: first frame {first:.0f} ms, {pace}, {weight / 1e3:.0f} kB a frame, {calm}")
    assert weight < 7 * side * side  # six bytes a vertex and little else
    assert statistics.median(rates) >= least
    assert max(waits) < 3.0  # it does not freeze

"""Real workers, killed and interrupted in the middle: what they leave is carried on to the same bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inline_crew import InlineCrew

from bunraku import Animation, shots
from bunraku.cli import main
from bunraku.scenes import box_mesh
from bunraku.shots.crew import ONE_THREAD

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="signals"),
    pytest.mark.filterwarnings("default"),  # Dask's own
]
Bunraku = Callable[..., tuple[int, str, str]]
STIFF = "object.box.material.young=2e5,4e5"
TAKE = "takes/box/wedge_v001/c001"
LEVELS = "mesh = { levels = 2 }\n"
_LONG = 40  # frames


@pytest.fixture
def long_shot(folder: Any) -> Any:
    """Frames enough for somebody to die between two of them."""
    mesh = box_mesh()
    points = np.repeat(mesh.rest[None], _LONG, axis=0)
    points[:, 4:, 0] += 0.02 * np.sin(0.3 * np.arange(_LONG))[:, None]
    folder.guide(Animation(mesh, np.arange(1, _LONG + 1) / 24.0, points))
    folder.box(LEVELS)
    return folder


class Killer:
    """Kills, once, whoever writes into a take after a few frames."""

    def __init__(self, take: Path, number: signal.Signals = signal.SIGKILL) -> None:
        self.take, self.number, self.told = take, number, list[shots.Event]()

    def __call__(self, event: shots.Event) -> None:
        inner = event.event if isinstance(event, shots.OfTake) and event.take in ("c001", "take") else None
        if isinstance(inner, shots.FrameDone) and inner.index == 3 and not self.told:
            os.kill(int((self.take / ".lock").read_text().split()[0]), self.number)
        if isinstance(event, shots.Noticed):
            self.told.append(event)


def undisturbed(folder: Any) -> list[bytes]:
    """The first combination, made in one go; as deep as the wedge's takes."""
    folder.box(LEVELS + "material = { young = 2e5 }")
    return whole(shots.read_shot("box.toml").run("takes/box/alone/c001", threads=1).folder)


def whole(take: Path) -> list[bytes]:
    """All bytes that say what the take is."""
    files = [*sorted((take / "frames").glob("*.bkframe")), take / "box.usdc", take / "report.json"]
    return [file.read_bytes() for file in files]


@pytest.mark.parametrize("hire", [shots.local_crew, shots.local_dask], ids=["processes", "dask"])
def test_a_killed_worker_is_replaced_and_leaves_no_trace(long_shot: Any, hire: Callable[..., Any]) -> None:
    killer, before = Killer(long_shot.path / TAKE), [os.environ.get(name) for name in ONE_THREAD]
    settings = shots.WedgeSettings(Path("box.toml"), shots.parse_varied([STIFF]), preview=False)
    book = shots.run_wedge(settings, lambda most: hire(2, 1), progress=killer)
    assert [one.outcome for one in book.entries] == ["finished", "finished"]
    assert len(killer.told) == 1 and "another worker carries on" in killer.told[0].text  # type: ignore[union-attr]
    assert json.loads((long_shot.path / TAKE / "provenance.json").read_text())["resumed"]
    assert [os.environ.get(name) for name in ONE_THREAD] == before  # Dask's nannies leave them in their own process
    assert whole(long_shot.path / TAKE) == undisturbed(long_shot)


@pytest.fixture
def cluster() -> Iterator[str]:
    """A scheduler with two workers, as somebody else would have started it; its address."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        silence_logs=50,
    ) as found:  # fmt: skip
        yield str(found.scheduler_address)  # pyright: ignore[reportAttributeAccessIssue]


def test_a_farm_survives_the_death_of_its_worker(long_shot: Any, cluster: str, bunraku: Bunraku) -> None:
    killer = Killer(long_shot.path / "takes/box/v001")
    told: list[shots.Event] = []

    def tell(event: shots.Event) -> None:
        told.append(event)
        killer(shots.OfTake("take", event))

    result = shots.run_farm(Path("box.toml"), lambda most: shots.dask_at(cluster), progress=tell)
    assert result.outcome is shots.TakeOutcome.FINISHED and len(result.report.measured.frames) == _LONG
    assert any(isinstance(one, shots.Noticed) and "the worker at it is gone" in one.text for one in told)
    assert main(["run", "box.toml", "--threads", "1"]) == 0
    assert whole(result.folder) == whole(long_shot.path / "takes/box/v002")
    words = ("wedge", "box.toml", "--vary", STIFF, "--no-preview", "--frames", "1-4", "--address", cluster)
    code, out, err = bunraku(*words)
    assert code == 0 and f"2 workers of {cluster}" in err and out.count("direction met") == 2


def test_ctrl_c_in_a_terminal_ends_all_and_nothing_is_lost(
    long_shot: Any, bunraku: Bunraku, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["wedge", "box.toml", "--vary", STIFF, "--no-preview", "--progress", "plain"]
    process = subprocess.Popen(
        [sys.executable, "-m", "bunraku", *words], cwd=long_shot.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 120
    while len(long_shot.frames(TAKE)) < 3:
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to everybody
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in err
    assert "carry on with: bunraku wedge box.toml --resume --vary " in err
    kept = len(long_shot.frames(TAKE))
    assert 3 <= kept < _LONG and not (long_shot.path / TAKE / ".lock").exists()
    crew = InlineCrew()
    monkeypatch.setattr("bunraku.cli.wedge.hire", lambda args: crew.hire)
    assert bunraku(*words, "--resume")[0] == 0
    assert len(long_shot.frames(TAKE)) == _LONG


def test_nobody_at_the_address_is_said_within_seconds(folder: Any, bunraku: Bunraku) -> None:
    begun = time.monotonic()
    code, _, err = bunraku("farm", "box.toml", "--address", "tcp://127.0.0.1:9")
    assert code == 2 and "--address: no scheduler answers (got 'tcp://127.0.0.1:9'" in err
    assert time.monotonic() - begun < 30  # about five, on a machine that is not busy

"""`bunraku view`, and runs that are watched: real processes, asked through their page's address."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku import Animation
from bunraku.scenes import box_mesh

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals")


def _asked(address: str, path: str, method: str = "GET") -> Any:
    base, token = address.split("?token=")
    request = urllib.request.Request(base + path, method=method, headers={"X-Bunraku-Token": token})
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.loads(reply.read())


class Served:
    """A command that prints its page's address as a line of standard output."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bunraku", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.process.communicate()

    def ask(self, path: str, method: str = "GET") -> Any:
        return _asked(self.address, path, method)

    def wait_for(self, state: str) -> dict[str, Any]:
        until = time.monotonic() + 60
        while (take := self.ask("takes")["takes"][0])["state"] != state:
            assert time.monotonic() < until
            time.sleep(0.05)
        return take

    def end(self, number: signal.Signals = signal.SIGINT) -> tuple[int, str, str]:
        """Exit code, the rest of standard output, standard error."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.fixture
def served(folder) -> Iterator[Any]:
    """served('view', …) → a process, ended at the end."""
    running: list[Served] = []

    def start(*words: str) -> Served:
        running.append(Served(folder.path, *words))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


def long_guide(folder) -> None:
    """Forty frames of a gentle shake."""
    mesh = box_mesh()
    points = np.repeat(mesh.rest[None], 40, axis=0)
    points[:, 4:, 0] += 0.02 * np.sin(0.3 * np.arange(40))[:, None]
    folder.guide(Animation(mesh, np.arange(1, 41) / 24.0, points))


@pytest.mark.slow
def test_a_take_is_served_in_one_plain_line_until_ctrl_c(folder, bunraku, served):
    assert bunraku("run", "box.toml")[0] == 0
    view = served("view", "takes/box", "takes/box/latest", "--no-open")
    takes = view.ask("takes")["takes"]
    assert [take["name"] for take in takes] == ["box v001", "box v001"] and takes[0]["ready"] == 6
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(view.address.split("?")[0], timeout=10)
    assert view.end() == (0, "", "")


@pytest.mark.slow
def test_a_killed_server_is_started_again_at_its_port(folder, bunraku, served):
    assert bunraku("run", "box.toml")[0] == 0
    first = served("view", "takes/box/v001", "--no-open")
    port = first.address.split(":")[2].split("/")[0]
    first.end(signal.SIGKILL)
    again = served("view", "takes/box/v001", "--no-open", "--port", port)
    assert again.address != first.address and again.ask("takes")["takes"][0]["ready"] == 6
    code, out, err = bunraku("view", "takes/box/v001", "--no-open", "--port", port)  # where it is listening
    assert code == 2 and out == "" and "cannot be listened at" in err and again.process.poll() is None
    code, _, err = Served.end(again)
    assert code == 0 and err == ""


@pytest.mark.slow
def test_a_run_is_watched_cancelled_and_looked_at_afterwards(folder, served):
    long_guide(folder)
    run = served("run", "box.toml", "--view", "--no-open", "--progress", "plain", "--threads", "1")
    assert run.wait_for("running")["frames"] == list(range(1, 41))
    assert run.ask("takes/0/cancel", "POST") == {"asked": True}
    take = run.wait_for("interrupted")
    assert take["ready"] < 40 and run.process.poll() is None  # it serves on
    code, _, err = run.end()
    assert code == 130 and "asked to stop from outside; " in err and "carry on with: bunraku run box.toml" in err


@pytest.mark.slow
def test_a_run_that_was_watched_is_served_when_it_is_over(folder, served):
    """And what is noticed then is told as during it."""
    run = served("run", "box.toml", "--view", "--no-open", "--progress", "plain")
    assert run.wait_for("finished")["ready"] == 6
    assert any("Direction met on all 6 frames" in line for line in _over(run))
    frames = folder.path / "takes/box/v001/frames"
    (frames / "frame_000003.bkframe").write_bytes(b"")
    (frames / "frame_000005.bkframe").unlink()  # so that they are counted again
    assert run.ask("takes/0/news")["ready"] == 3
    code, _, err = run.end()
    assert code == 0 and err.splitlines()[-1].startswith("warning: ") and "is damaged" in err


def test_what_is_finished_already_is_served_at_once(folder, bunraku, monkeypatch: pytest.MonkeyPatch):
    """There is nothing to watch but the take."""
    seen: list[Any] = []
    monkeypatch.setattr("webbrowser.open", lambda address: seen.append(_asked(address, "takes")))
    monkeypatch.setattr("bunraku.cli.viewing.wait_for_ctrl_c", lambda: _until(lambda: bool(seen)))
    assert bunraku("run", "box.toml")[0] == 0
    assert bunraku("run", "box.toml", "--resume", "--view")[0] == 0
    assert seen[0]["takes"][0]["state"] == "finished" and seen[0]["takes"][0]["ready"] == 6


def test_a_watched_run_shows_its_bar_all_the_same(folder, bunraku, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("bunraku.cli.viewing.wait_for_ctrl_c", lambda: None)
    code, out, err = bunraku("run", "box.toml", "--view", "--no-open", "--progress", "bar")
    assert code == 0 and out.startswith("http://127.0.0.1:") and "frame 6: 100%" in err.split("\r")[-1]


@pytest.mark.slow
def test_ctrl_c_ends_a_watched_run_and_its_page(folder, served):
    long_guide(folder)
    run = served("run", "box.toml", "--view", "--no-open", "--progress", "plain", "--threads", "1")
    run.wait_for("running")
    run.ask("takes/0/news?ready=0&state=running")  # the first frame is there
    code, _, err = run.end()
    assert code == 130 and "interrupted; " in err and "Traceback" not in err


@pytest.mark.slow
def test_a_demo_is_watched_too(folder, served):
    demo = served("demo", "box", "--out", "look", "--view", "--no-open", "--progress", "plain")
    assert demo.ask("takes")["takes"][0]["folder"] == str(folder.path / "look")
    demo.ask("takes/0/news?ready=0&state=running")
    code, _, err = demo.end()
    assert code == 130 and "carry on with: bunraku run look/box.toml --resume --out look" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "nowhere: there is no such take"), (["box.toml"], "is no take"),
        (["nowhere", "box.toml"], "box.toml: is no take"), (["."], "is no take"), (["x"] * 17, "too many takes"),
    ],
)  # fmt: skip
def test_what_is_no_take_is_refused(folder, bunraku, words: list[str], said: str):
    code, out, err = bunraku("view", *words, "--no-open")
    assert code == 2 and out == "" and said in err


def test_wrong_words_are_refused(folder, bunraku):
    assert bunraku("view")[0] == 2
    for port in ("many", "-1", "70000"):
        assert bunraku("view", "x", "--port", port)[0] == 2


def test_the_browser_is_opened_unless_told_not_to(folder, bunraku, monkeypatch: pytest.MonkeyPatch):
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("bunraku.cli.view.wait_for_ctrl_c", lambda: _until(lambda: bool(opened)))
    assert bunraku("run", "box.toml")[0] == 0
    code, out, err = bunraku("view", "takes/box")
    assert code == 0 and opened == [out.strip()] and err == ""


def _until(come: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not come():
        assert time.monotonic() < until
        time.sleep(0.02)


def _over(run: Served) -> list[str]:
    """Wait until the run has told of its end and only serves; what it told."""
    assert run.process.stdout is not None
    told = [run.process.stdout.readline()]
    while "report.json" not in told[-1]:
        told.append(run.process.stdout.readline())
    time.sleep(0.3)
    return told


@pytest.mark.parametrize(
    "signals",
    [
        pytest.param([signal.SIGTERM], marks=pytest.mark.slow),
        pytest.param([signal.SIGINT] * 2, marks=pytest.mark.slow),
        [signal.SIGTERM, signal.SIGINT],
    ],
)
def test_however_a_watched_run_is_left_it_keeps_its_exit_code(folder, served, signals: list[signal.Signals]):
    run = served("run", "box.toml", "--view", "--no-open", "--progress", "plain")
    _over(run)
    for number in signals[:-1]:
        run.process.send_signal(number)
        time.sleep(0.05)
    code, _, err = run.end(signals[-1])
    assert code == 0 and "Traceback" not in err


@pytest.mark.slow
def test_impatient_signals_spoil_no_exit_code(folder, served):
    run = served("run", "box.toml", "--view", "--no-open", "--progress", "plain")
    _over(run)
    until = time.monotonic() + 60
    while run.process.poll() is None:  # from the first, which ends it, to the interpreter's own end
        assert time.monotonic() < until
        run.process.send_signal(signal.SIGINT)
        time.sleep(0.002)
    _, err = run.process.communicate()
    assert run.process.returncode == 0 and "Traceback" not in err


@pytest.mark.slow
def test_a_browser_that_returns_only_when_it_is_closed_hinders_no_run(folder, served, monkeypatch):
    monkeypatch.setenv("BROWSER", f"{sys.executable} -c 'import time; time.sleep(8)' %s")
    run = served("run", "box.toml", "--view", "--progress", "plain")
    begin = time.monotonic()
    run.wait_for("finished")
    assert time.monotonic() - begin < 6
    run.process.send_signal(signal.SIGINT)
    assert run.process.wait(5) == 0
    for stream in (run.process.stdout, run.process.stderr):  # the browser still has their other ends
        stream.close()

"""A shot that is edited through the server: whole or not at all, one after another, and run as it stands."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from studio_client import PAGE, Answer, Client, write_shot

from bunraku.shots import EditedShot
from bunraku.studio import StudioServer, serving

STRENGTH = ["object", "box", "track", "strength"]


class Page:
    """What a page does about a shot."""

    def __init__(self, client: Client, tab: str = "one") -> None:
        self.client, self.tab = client, tab

    @property
    def sheet(self) -> Any:
        return self.client.ask("/shot").json

    def post(self, path: str, **told: Any) -> Answer:
        return self.client.ask(path, "POST", json.dumps(told).encode())

    def edit(self, *changes: tuple[list[Any], Any], revision: int | None = None, **told: Any) -> Answer:
        """Change keys, for the newest revision unless another is given."""
        known = self.sheet["revision"] if revision is None else revision
        listed = [{"path": path, "value": value} for path, value in changes]
        usual = {"files": [], "about": "an edit", "gesture": "", "tab": self.tab}
        return self.post("/shot/edit", revision=known, changes=listed, **{**usual, **told})

    def step(self, which: str) -> Answer:
        return self.post(f"/shot/{which}", revision=self.sheet["revision"], tab=self.tab)


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    return write_shot(tmp_path)


@pytest.fixture
def page(shot: Path) -> Iterator[Page]:
    """A page of a server over the shot, which has no take yet."""
    with serving(StudioServer([], page=PAGE, shot=EditedShot(shot))) as server:
        yield Page(Client(server))


def test_one_knob_is_written_and_nothing_else(page: Page, shot: Path) -> None:
    before = shot.read_text()
    got = page.edit((STRENGTH, 0.5), about="strength")
    assert got.status == 200 and "+track = { strength = 0.5 }" in got.json["diff"]
    assert set(before.splitlines()) < set(shot.read_text().splitlines())
    assert got.json["sheet"]["revision"] == 2 and got.json["sheet"]["undo"] == "strength"


def test_a_run_makes_a_take_that_joins(page: Page, shot: Path) -> None:
    page.edit((STRENGTH, 0.5))
    assert page.client.ask("/takes").json["takes"] == []
    assert page.post("/run", revision=2).status == 200
    assert page.post("/run", revision=2).status == 409
    until = time.monotonic() + 60
    news = page.client.ask("/shot/news").json
    while news["running"] and time.monotonic() < until:
        news = page.client.ask(f"/shot/news?revision={news['revision']}&run={news['run']}").json
    assert (news["take"], news["failed"], news["saying"]) == (0, False, "")
    (take,) = page.client.ask("/takes").json["takes"]
    assert take["state"] == "finished" and take["ready"] == 6
    assert "strength = 0.5" in page.client.ask("/takes/0/report").json["shot"]

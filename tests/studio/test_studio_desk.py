"""A shot that is edited through the server: whole or not at all, one after another, and run as it stands."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from studio_client import PAGE, Answer, Client, write_shot

from bunraku.io import packed
from bunraku.shots import EditedShot, open_take, read_shot
from bunraku.studio import StudioServer, serving
from bunraku.studio.parcels import Piece, parcel

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
    with serving(StudioServer([], page=PAGE, shot=EditedShot(shot), threads=1)) as server:
        yield Page(Client(server))


def ended(page: Page) -> Any:
    """The news when the run is over."""
    until = time.monotonic() + 60
    news = page.client.ask("/shot/news").json
    while news["running"]:
        assert time.monotonic() < until
        news = page.client.ask(f"/shot/news?revision={news['revision']}&run={news['run']}").json
    return news


def test_one_knob_is_written_and_nothing_else(page: Page, shot: Path) -> None:
    before = shot.read_text()
    got = page.edit((STRENGTH, 0.5), about="strength")
    assert got.status == 200 and "+track = { strength = 0.5 }" in got.json["diff"]
    assert set(before.splitlines()) < set(shot.read_text().splitlines())
    assert got.json["sheet"]["revision"] == 2 and got.json["sheet"]["undo"] == "strength"


@pytest.mark.slow
def test_a_run_makes_a_take_that_joins(page: Page, shot: Path) -> None:
    """Of the shot as it was when the run was asked for: its process starts a moment later, and a slider may move on."""
    page.edit((STRENGTH, 0.5))
    assert page.client.ask("/takes").json["takes"] == []
    assert page.post("/run", revision=2).status == 200
    assert "a run goes on already" in page.post("/run", revision=2).json["error"]
    page.edit((STRENGTH, 0.25))
    news = ended(page)
    assert (news["take"], news["failed"], news["saying"]) == (0, False, "")
    (take,) = page.client.ask("/takes").json["takes"]
    assert take["state"] == "finished" and take["ready"] == 6
    assert "strength = 0.5\n" in page.client.ask("/takes/0/report").json["shot"]
    made = shot.parent / "takes" / "box" / "v001" / "frames"
    page.step("undo")
    other = read_shot(shot).run(threads=1).folder / "frames"
    assert [one.read_bytes() for one in sorted(made.iterdir())] == [one.read_bytes() for one in sorted(other.iterdir())]


@pytest.mark.slow
def test_a_run_that_cannot_begin_says_why(page: Page, shot: Path) -> None:
    page.edit((["shot", "frames"], [1, 99]))
    assert page.post("/run", revision=2).status == 200
    news = ended(page)
    assert news["failed"] and news["take"] is None
    assert "the guide has no such frames (got '1 to 99')" in news["saying"]
    assert not (shot.parent / "takes").exists()


def test_a_run_is_cancelled_before_it_has_a_take(page: Page, shot: Path) -> None:
    page.post("/run", revision=1)
    assert page.client.ask("/run/cancel", "POST").json == {"asked": True}
    news = ended(page)
    assert not news["failed"] and news["take"] is None
    assert page.client.ask("/run/cancel", "POST").json == {"asked": False}


@pytest.mark.slow
def test_a_run_ends_with_its_server(shot: Path) -> None:
    write_shot(shot.parent, frames=240, physics={"substeps": 40})
    with serving(StudioServer([], page=PAGE, shot=EditedShot(shot), threads=1)) as server:
        page = Page(Client(server))
        page.post("/run", revision=1)
        news = page.client.ask("/shot/news").json
        while news["take"] is None:
            news = page.client.ask(f"/shot/news?revision=1&run={news['run']}").json
        page.client.ask("/takes/0/news?ready=0&state=running")  # else nothing is left of it
    take = open_take(shot.parent / "takes" / "box")
    assert take.state == "interrupted" and take.done < 240


def test_a_take_of_which_nothing_is_left_is_none(shot: Path, tmp_path: Path) -> None:
    """As after a run that was cancelled before its first frame; the next one has its folder again."""
    folder = read_shot(shot).run(threads=1).folder
    edited = EditedShot(shot)
    with serving(StudioServer(edited.newest_takes(), page=PAGE, shot=edited)) as server:
        client = Client(server)
        assert len(client.ask("/takes").json["takes"]) == 1
        folder.rename(tmp_path / "elsewhere")
        assert client.ask("/takes").json["takes"] == []
        (tmp_path / "elsewhere").rename(folder)
        assert server.studio.open_another(folder) == 0 and server.studio.open_another(folder) == 0


def test_the_other_window_is_told_who_did_what(page: Page) -> None:
    other = Page(page.client, "two")
    page.edit((STRENGTH, 0.5), about="strength 0.5")
    news = page.client.ask("/shot/news?revision=1&run=0").json
    assert (news["revision"], news["by"], news["about"]) == (2, "one", "strength 0.5")
    late = other.edit((STRENGTH, 0.7), revision=1)
    assert late.status == 409 and "was changed in another window meanwhile" in late.json["error"]
    assert page.post("/run", revision=1).status == 409
    assert other.step("undo").json["sheet"]["undo"] == ""
    assert page.client.ask("/shot/news?revision=2&run=0").json["about"] == "taken back: strength 0.5"


def test_arrays_are_kept_beside_the_shot_and_come_back(page: Page, shot: Path) -> None:
    label = np.array([0, 1, -1], np.int32)
    kept = page.client.ask("/shot/arrays", "POST", parcel([(None, {"label": Piece(label)})])).json["id"]
    got = page.edit(files=[{"name": "coat", "id": kept}], about="a stroke")
    assert got.json["sheet"]["undo"] == "a stroke" and got.json["diff"] == ""
    ((_, arrays),) = page.client.ask("/shot/arrays?name=coat").parcel
    assert arrays["label"].tolist() == [0, 1, -1]
    page.step("undo")
    assert page.client.ask("/shot/arrays?name=coat").status == 404
    assert page.client.ask("/shot/arrays?name=../box").status == 400
    assert "were not sent" in page.edit(files=[{"name": "coat", "id": "nothing"}]).json["error"]


GOOD = {"revision": 1, "changes": [], "files": [], "about": "", "gesture": "", "tab": ""}


def test_arrays_of_somebody_else_are_a_sentence(page: Page, shot: Path) -> None:
    shot.with_name("box.coat.bkarrays").write_bytes(packed({"weight": np.zeros(2)}, {}, "coat"))
    got = page.client.ask("/shot/arrays?name=coat")
    assert got.status == 400 and "no page has written (got float64)" in got.json["error"]
    assert page.client.ask("/shot/arrays?name=../box").status == 400


def with_change(value: str) -> bytes:
    """An edit of strength, the value as it stands in the JSON."""
    return json.dumps({**GOOD, "changes": [{"path": STRENGTH, "value": "HERE"}]}).replace('"HERE"', value).encode()


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "is not JSON"),
        (b"\xff", "not text in UTF-8"),
        (b"[]", "Edit is of the wrong kind"),
        (b"[" * 100_000, "nested too deeply"),
        (json.dumps({**GOOD, "colour": 1}).encode(), "unknown key"),
        (json.dumps({**GOOD, "revision": True}).encode(), "a whole number"),
        (json.dumps({**GOOD, "revision": "1"}).encode(), "a whole number"),
        (json.dumps({name: one for name, one in GOOD.items() if name != "tab"}).encode(), "Edit.tab is missing"),
        (json.dumps({**GOOD, "changes": [{"path": [1.5], "value": 1}]}).encode(), r"changes[0].path[0]"),
        (json.dumps({**GOOD, "changes": {}}).encode(), "a list"),
        (b'{"revision": 1, "revision": 2}', "a key is said twice"),
        (with_change("NaN"), "NaN is no number"),
        (with_change("Infinity"), "Infinity is no number"),
        (with_change("1e999"), "a value that a shot file can hold"),
        (with_change("[1, null]"), "a value that a shot file can hold"),
        (with_change('"much"'), "object.box.track.strength: must be a number"),
        (with_change("-1"), "is out of range (got -1)"),
        (with_change('{"a": 1}'), "must be a number"),
        (with_change("[[1, 0.5], [1, 0.7]]"), "keys must increase in frames"),
        (with_change('[[1, 0.5, "bouncy"]]'), "unknown word (got 'bouncy')"),
        (json.dumps({**GOOD, "changes": [{"path": [], "value": 1}]}).encode(), "needs the path of a key"),
        (json.dumps({**GOOD, "changes": [{"path": ["object", "bix"], "value": 1}]}).encode(), "must be a table"),
        (json.dumps({**GOOD, "changes": [{"path": ["sead"], "value": 1}]}).encode(), "unknown key"),
        (json.dumps({**GOOD, "changes": [{"path": ["object"], "value": None}]}).encode(), "object: is missing"),
    ],
)
def test_bad_messages_get_a_sentence_and_change_nothing(page: Page, shot: Path, body: bytes, why: str) -> None:
    before = shot.read_bytes()
    got = page.client.ask("/shot/edit", "POST", body)
    assert got.status == 400 and why in got.json["error"] and "Traceback" not in got.json["error"]
    assert shot.read_bytes() == before and page.sheet["revision"] == 1


def test_what_is_too_large_is_not_read(page: Page) -> None:
    with socket.create_connection(("127.0.0.1", page.client.port), timeout=10) as one:
        head = f"POST /shot/edit HTTP/1.1\r\nHost: 127.0.0.1:{page.client.port}\r\n"
        told = f"X-Bunraku-Token: {page.client.token}\r\nContent-Length: {(8 << 20) + 1}\r\n\r\n"
        one.sendall((head + told).encode())
        assert b" 413 " in one.recv(65536).split(b"\r\n")[0]


@pytest.mark.parametrize(
    "place",
    [
        {"type": "f8"}, {"offset": -8}, {"offset": 8}, {"shape": [3]}, {"shape": [-1]}, {"shape": [True]},
        {"shape": ["1"]}, {"low": [0.0]}, {"shape": [2**40]}, {"shape": [10**30]}, {"offset": 10**30}, {"offset": "0"},
    ],
)  # fmt: skip
def test_arrays_that_are_none_are_refused(page: Page, place: dict[str, Any]) -> None:
    fine = {"name": "label", "type": "i4", "shape": [2], "offset": 0, "low": None, "high": None}
    header = json.dumps({"entries": [{"frame": None, "arrays": [{**fine, **place}]}]}).encode()
    start = b"BKP1" + len(header).to_bytes(4, "little") + header
    got = page.client.ask("/shot/arrays", "POST", start + bytes(-len(start) % 8) + bytes(8))
    assert got.status == 400 and "the arrays cannot be read" in got.json["error"]


def test_numbers_that_are_none_do_not_come_in_arrays(page: Page) -> None:
    body = parcel([(None, {"weight": Piece(np.array([np.nan], np.float32))})])
    assert "numbers that are none" in page.client.ask("/shot/arrays", "POST", body).json["error"]
    assert page.client.ask("/shot/arrays", "POST", b"").status == 400


def test_without_the_token_nothing_is_told_or_changed(page: Page, shot: Path) -> None:
    before = shot.read_bytes()
    for method, path in (("GET", "/shot"), ("POST", "/shot/edit"), ("POST", "/run"), ("POST", "/shot/arrays")):
        assert page.client.ask(path, method, b"{}", X_Bunraku_Token="").status == 403
        assert page.client.ask(path, method, b"{}", Origin="http://elsewhere.example").status == 403
    assert shot.read_bytes() == before


def test_where_takes_are_only_looked_at_nothing_is_directed(client: Client) -> None:
    assert client.ask("/takes").json["directed"] == ""
    assert client.ask("/shot").status == 404 and client.ask("/run", "POST").status == 404

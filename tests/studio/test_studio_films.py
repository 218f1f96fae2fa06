"""Films from pictures that a page sends, and what is refused of them."""

from __future__ import annotations

import io
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from studio_client import Client

from bunraku.studio import films


def picture(kind: str = "PNG", size: tuple[int, int] = (64, 48), shade: int = 90) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.full((size[1], size[0], 3), shade, np.uint8)).save(buffer, kind)
    return buffer.getvalue()


def begun(client: Client) -> str:
    return client.ask("/movies?width=64&height=48&rate=24", "POST").json["id"]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def test_pictures_become_an_mp4_and_nothing_is_left(client: Client, scratch: Path) -> None:
    name = begun(client)
    for k, kind in enumerate(["PNG", "JPEG", "PNG"]):
        assert client.ask(f"/movies/{name}", "POST", picture(kind, shade=60 * k)).status == 200
    answer = client.ask(f"/movies/{name}")
    assert answer.status == 200 and answer.headers["content-type"] == "video/mp4" and answer.body[4:8] == b"ftyp"
    assert client.ask(f"/movies/{name}").status == 404 and list(scratch.iterdir()) == []


@pytest.mark.parametrize("harm", ["size", "noise", "cut", "kind", "empty"])
def test_what_is_no_such_picture_is_refused(client: Client, harm: str) -> None:
    wrong = {"size": picture(size=(32, 32)), "noise": b"\x00" * 400, "cut": picture()[:70], "empty": b"",
             "kind": picture("GIF")}[harm]  # fmt: skip
    name = begun(client)
    answer = client.ask(f"/movies/{name}", "POST", wrong)
    assert answer.status == 400 and answer.json["error"]
    assert client.ask(f"/movies/{name}", "POST", picture()).status == 200  # the film goes on


def test_films_have_limits(client: Client, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [begun(client) for _ in range(films.MOST_FILMS)]
    answer = client.ask("/movies?width=64&height=48&rate=24", "POST")
    assert answer.status == 429
    assert client.ask(f"/movies/{names[0]}").status == 400  # no pictures: dropped
    assert client.ask("/movies/nope", "POST", picture()).status == 404
    too_many = {"Content-Length": str(films.MOST_BYTES + 1)}  # said, and not sent
    assert client.ask(f"/movies/{names[1]}", "POST", None, **too_many).status == 413
    monkeypatch.setattr(films, "MOST_PICTURES", 1)
    assert client.ask(f"/movies/{names[1]}", "POST", picture()).status == 200
    assert client.ask(f"/movies/{names[1]}", "POST", picture()).status == 413


def test_a_film_that_is_left_makes_room_for_another(client: Client, scratch: Path) -> None:
    names = [begun(client) for _ in range(films.MOST_FILMS)]
    assert client.ask(f"/movies/{names[0]}", "POST", picture()).status == 200
    answers = [client.ask(f"/movies/{names[0]}/cancel", "POST").json["asked"] for _ in range(2)]
    assert answers == [True, False]
    assert len(list(scratch.glob("bunraku-film-*"))) == films.MOST_FILMS - 1
    assert begun(client)


def test_films_nobody_sends_to_are_dropped_and_so_are_all_at_the_end(
    client: Client, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = begun(client)
    assert client.ask(f"/movies/{name}", "POST", picture()).status == 200
    assert len(list(scratch.glob("bunraku-film-*"))) == 1
    monkeypatch.setattr(films, "IDLE", 0.2)
    until = time.monotonic() + 10
    while list(scratch.glob("bunraku-film-*")) and time.monotonic() < until:
        time.sleep(0.05)
    assert list(scratch.iterdir()) == [] and client.ask(f"/movies/{name}").status == 404
    monkeypatch.setattr(films, "IDLE", 60.0)
    begun(client)
    client.server.studio.close()
    assert list(scratch.iterdir()) == []


def test_what_is_no_picture_is_told_in_plain_words(client: Client) -> None:
    answer = client.ask(f"/movies/{begun(client)}", "POST", b"hello")
    assert answer.json["error"] == "is no picture (got '5 bytes'); allowed: a PNG or a JPEG"

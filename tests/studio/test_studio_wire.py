"""Requests that readers of HTTP understand differently, and clients that are too many: bytes on the wire."""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from studio_client import PAGE, Client

from bunraku.shots import open_take
from bunraku.studio import StudioServer, serving
from bunraku.studio import server as server_module


@pytest.fixture(scope="module")
def client(made: Path) -> Iterator[Client]:
    with serving(StudioServer([open_take(made)], page=PAGE)) as server:
        yield Client(server)


def said(client: Client, text: str) -> bytes:
    """Everything that comes back, until the server hangs up or is silent."""
    with socket.create_connection(("127.0.0.1", client.port), timeout=10) as one:
        one.sendall(text.format(host=f"Host: 127.0.0.1:{client.port}", token=client.token).encode("latin-1"))
        found = b""
        try:
            while part := one.recv(65536):
                found += part
                one.settimeout(0.5)
        except TimeoutError:
            pass
        return found


KEY = "X-Bunraku-Token: {token}\r\n"
SECOND = "GET /takes HTTP/1.1\r\n{host}\r\n" + KEY + "\r\n"


@pytest.mark.parametrize(
    "header",
    [
        "Content-Length: 0\r\nContent-Length: 90", "Transfer-Encoding : chunked", "X: a\r\n Transfer-Encoding: chunked",
        "Host: evil.example", "Origin: http://127.0.0.1:1\r\nOrigin: null", "X-Bunraku-Token: other",
    ],
)  # fmt: skip
@pytest.mark.parametrize("key", [KEY, ""])
def test_what_can_be_read_in_two_ways_is_not_read(client: Client, key: str, header: str) -> None:
    found = said(client, "POST /takes/0/cancel HTTP/1.1\r\n{host}\r\n" + key + header + "\r\n\r\n")
    assert found.split(b" ")[1] == (b"403" if not key or "Origin" in header else b"400")


@pytest.mark.parametrize("key", [KEY, ""])
@pytest.mark.parametrize("body", ["Content-Length: 0\r\nContent-Length: 90", "Transfer-Encoding : chunked"])
def test_nothing_is_smuggled_behind_it(client: Client, key: str, body: str) -> None:
    found = said(client, "POST /takes/0/cancel HTTP/1.1\r\n{host}\r\n" + key + body + "\r\n\r\n" + SECOND)
    assert found.count(b"HTTP/1.1 ") == 1 and b"Connection: close" in found


def test_requests_without_a_version_get_nothing(client: Client) -> None:
    found = said(client, "GET /takes\r\n{host}\r\n" + KEY + "\r\n")
    assert b"says no version" in found and b"frames" not in found


@pytest.mark.parametrize("target", ["http://[", "http://[::1]:1]/takes"])
def test_addresses_with_odd_brackets_are_refused_in_a_sentence(client: Client, target: str) -> None:
    found = said(client, f"GET {target} HTTP/1.1\r\n" + "{host}\r\n" + KEY + "\r\n")
    assert found.startswith(b"HTTP/1.1 400 ") and b"no path of this server" in found


def test_a_body_is_asked_for_only_once_it_is_wanted(client: Client) -> None:
    expecting = "{host}\r\nExpect: 100-continue\r\nContent-Length: "
    assert said(client, "POST /movies/x HTTP/1.1\r\n" + expecting + "9\r\n\r\n").startswith(b"HTTP/1.1 403 ")
    too_large = "POST /movies/x HTTP/1.1\r\n" + KEY + expecting + "99999999999\r\n\r\n"
    assert said(client, too_large).startswith(b"HTTP/1.1 413 ")
    wanted = "POST /movies/x HTTP/1.1\r\n" + KEY + expecting + "9\r\n\r\n"
    assert said(client, wanted) == b"HTTP/1.1 100 Continue\r\n\r\n"


def test_connections_are_counted_so_that_files_can_still_be_opened(
    made: Path, serve: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "_MOST_CONNECTIONS", 5)
    client = serve(made)
    idle = [socket.create_connection(("127.0.0.1", client.port), timeout=10) for _ in range(8)]
    try:
        for one in idle[5:]:
            assert one.recv(1) == b""  # hung up on
    finally:
        for one in idle:
            one.close()
    until = time.monotonic() + 10
    while True:  # the threads of those that left give their places back
        try:
            assert client.ask("/takes").status == 200
            break
        except ConnectionError:
            assert time.monotonic() < until
            time.sleep(0.05)


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_folder_whose_name_is_no_text_is_served(made: Path, serve: Callable[..., Client], tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/lat\xe9"))
    try:
        shutil.copytree(made, folder)
    except OSError:
        pytest.skip("this disk takes only names that are text")
    client = serve(folder)
    assert client.ask("/takes").json["takes"][0]["name"] == "box lat?"
    (folder / "frames/frame_000001.bkframe").unlink()
    refused = client.ask("/takes/0/frames?from=0")
    assert refused.status == 500 and "lat?" in refused.json["error"]

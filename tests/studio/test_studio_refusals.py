"""Who is not answered: without the token, from other places, with requests that no page of ours sends."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from studio_client import PAGE, Client

from bunraku.shots import open_take
from bunraku.studio import StudioServer, serving
from bunraku.studio import server as server_module

ROUTES = [
    ("GET", "/"), ("GET", "/takes"), ("GET", "/takes/0/mesh"), ("GET", "/takes/0/frames?from=0"),
    ("GET", "/takes/0/report"), ("GET", "/takes/0/news?ready=0&state=x"), ("POST", "/takes/0/cancel"),
    ("POST", "/movies?width=64&height=64&rate=24"), ("POST", "/movies/abc"), ("GET", "/movies/abc"),
    ("POST", "/movies/abc/cancel"), ("GET", "/nothing"), ("GET", "/favicon.ico"), ("PUT", "/"),
    ("BREW", "/takes"), ("OPTIONS", "/takes"),
]  # fmt: skip


@pytest.fixture(scope="module")
def client(made: Path) -> Iterator[Client]:
    """One server for all: nothing asked here may change what it says next."""
    with serving(StudioServer([open_take(made)], page=PAGE)) as server:
        yield Client(server)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_nothing_is_answered_without_the_token(client: Client, method: str, path: str) -> None:
    sign = "&" if "?" in path else "?"
    wrong = client.token[:-1] + ("A" if client.token[-1] != "A" else "B")
    for answer in (
        client.ask(path, method, X_Bunraku_Token=""),
        client.ask(path, method, X_Bunraku_Token="wrong"),
        client.ask(f"{path}{sign}token={wrong}", method, X_Bunraku_Token=""),
        client.ask(f"{path}{sign}token=%ff%00é", method, X_Bunraku_Token=""),
    ):
        assert answer.status == 403 and answer.headers["content-type"].startswith("text/plain")
        assert client.token.encode() not in answer.body


def test_the_token_may_be_in_the_address_or_in_the_header(client: Client) -> None:
    assert client.ask(f"/takes?token={client.token}", X_Bunraku_Token="").status == 200
    assert client.ask("/takes").status == 200
    assert client.server.address == f"http://127.0.0.1:{client.port}/?token={client.token}"
    assert len(client.token) >= 32


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example:{port}"}, {"Host": "127.0.0.1"}, {"Host": "127.0.0.1:1"}, {"Host": "[::1]:{port}"},
        {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://127.0.0.1:1"}, {"Origin": "http://127.0.0.1:{port}.evil.example"},
    ],
)  # fmt: skip
def test_foreign_names_and_pages_are_refused_though_they_have_the_token(client: Client, headers: dict) -> None:
    given = {name: value.format(port=client.port) for name, value in headers.items()}
    for method, path in ROUTES[:8]:
        assert client.ask(path, method, **given).status == 403


def test_the_pages_own_origin_is_not_foreign(client: Client) -> None:
    for name in ("127.0.0.1", "localhost"):
        host = f"{name}:{client.port}"
        assert client.ask("/takes", Host=host, Origin=f"http://{host}").status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/../etc/passwd", "/takes/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/takes/0/../../report.json",
        "/takes/%2e%2e/mesh", "/takes/0/frames/frame_000000.bkframe", "/page/index.html", "//etc/passwd",
        "/takes/0/mesh/", "/takes/00000/mesh", "/takes/-1/mesh", "/takes/0x0/mesh", "/takes/٣/mesh", "/movies/..",
        "/takes/1/mesh", "/takes/0%00/mesh", "/nothing",
    ],
)  # fmt: skip
def test_there_is_nothing_besides_the_routes(client: Client, path: str) -> None:
    answer = client.ask(path)
    assert answer.status in (400, 404) and set(answer.json) == {"error"} and b"root:" not in answer.body


@pytest.mark.parametrize(
    "path",
    [
        "/takes/0/frames", "/takes/0/frames?from=-1", "/takes/0/frames?from=6", "/takes/0/frames?from=1.5",
        "/takes/0/frames?from=1e3", "/takes/0/frames?from=" + "9" * 400, "/takes/0/frames?from=0&count=0",
        "/takes/0/frames?from=0&count=257", "/takes/0/frames?from=0&count=x", "/takes/0/frames?from=0&overlay=nope",
        "/takes/0/frames?from=0&overlay=contact", "/takes/0/frames?from=0&with=guide,shell",
        "/takes/0/frames?from=0&from=1", "/takes/0/frames?from=0&file=report.json", "/takes/0/frames?from",
        "/takes/0/frames?from=0&" + "&".join(f"a{k}=1" for k in range(40)), "/takes/0/news?ready=many&state=running",
        "/movies?width=0&height=64&rate=24", "/movies?width=64&height=64&rate=nan", "/movies?width=64&height=64",
        "/movies?width=8000&height=8000&rate=24", "/takes?folder=/etc", "/takes?" + "&" * 40,
    ],
)  # fmt: skip
def test_queries_that_cannot_be_meant_are_refused_in_a_sentence(client: Client, path: str) -> None:
    answer = client.ask(path, "POST" if path.startswith("/movies") else "GET")
    assert answer.status == 400 and answer.json["error"] and "\n" not in answer.json["error"]
    assert len(answer.body) < 400


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/takes"), ("GET", "/takes/0/cancel"), ("DELETE", "/takes/0/mesh"), ("HEAD", "/"), ("BREW", "/takes")],
)
def test_other_methods_are_not_answered(client: Client, method: str, path: str) -> None:
    assert client.ask(path, method).status == 405


def test_bodies_are_refused_before_they_are_read(client: Client) -> None:
    with socket.create_connection(("127.0.0.1", client.port), timeout=10) as one:
        head = f"POST /takes/0/cancel HTTP/1.1\r\nHost: 127.0.0.1:{client.port}\r\nX-Bunraku-Token: {client.token}\r\n"
        one.sendall((head + "Content-Length: 99999999999\r\n\r\n").encode())
        answer = one.recv(65536)
        assert b" 413 " in answer.split(b"\r\n")[0] and b"Connection: close" in answer
        while one.recv(65536):  # the rest of the answer; then the connection ends
            pass
    assert client.ask("/takes/0/cancel", "POST", b"{}").status == 413
    assert client.ask("/takes", "GET", b"x" * 5).status == 413
    assert client.ask("/takes", Content_Length="many").status == 400
    assert client.ask("/takes/0/cancel", "POST", Transfer_Encoding="chunked").status == 411
    assert client.ask("/takes").status == 200


def test_endless_lines_and_headers_are_refused(client: Client) -> None:
    assert client.ask("/takes?" + "a" * 3000).status == 414
    assert client.ask("/takes?" + "a" * 70_000).status == 414
    assert client.ask("/takes", X_Long="a" * 70_000).status == 431
    many: dict[str, Any] = {f"X_{k}": "1" for k in range(200)}
    assert client.ask("/takes", **many).status == 431
    for noise in (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n"):
        with socket.create_connection(("127.0.0.1", client.port), timeout=10) as one:
            one.sendall(noise)
            one.shutdown(socket.SHUT_WR)
            assert b"Traceback" not in one.recv(65536)
    assert client.ask("/takes").status == 200


def test_a_client_that_dawdles_hinders_nobody(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module._Handler, "timeout", 0.5)
    slow = [socket.create_connection(("127.0.0.1", client.port), timeout=10) for _ in range(20)]
    try:
        for one in slow:
            one.sendall(b"GET /takes HTTP/1.1\r\nHost: ")
        begin = time.monotonic()
        assert client.ask("/takes").status == 200 and time.monotonic() - begin < 5
        assert slow[0].recv(10) == b""  # it was hung up on
    finally:
        for one in slow:
            one.close()


def test_a_connection_is_used_again_and_a_body_is_no_second_request(client: Client) -> None:
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=10)
    given = {"X-Bunraku-Token": client.token}
    connection.request("GET", "/takes/0/news?ready=0&state=x", headers=given)
    assert connection.getresponse().read()
    first = connection.sock
    connection.request("GET", "/nothing", headers=given)
    assert connection.getresponse().read() and connection.sock is first  # a refusal keeps it too
    smuggled = f"GET /takes HTTP/1.1\r\nHost: 127.0.0.1:{client.port}\r\nX-Bunraku-Token: {client.token}\r\n\r\n"
    connection.request("GET", "/nothing", smuggled.encode(), given)
    reply = connection.getresponse()
    assert reply.status == 404 and reply.getheader("Connection") == "close"
    connection.close()

"""The server: plain requests on loopback, each in a thread of its own, and nothing else on this machine is told."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bunraku.contracts import OutputError
from bunraku.shots import EditedShot, ReviewedTake

from .gate import LOOPBACK, Gate, Refusal, asked, check_headers, check_shape
from .messages import Refused
from .replies import Reply
from .routes import Studio

_log = logging.getLogger(__name__)
_LINGER = 0.2  # [s] without a word, after which whoever was refused is hung up on
_LITTLE = 1 << 20  # [bytes]
_MOST_CONNECTIONS = 128  # a run of this process needs files to be opened too
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class StudioServer(ThreadingHTTPServer):
    """Serves takes on 127.0.0.1 until it is closed."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = os.name != "nt"  # there it would let two servers share a port
    request_queue_size = 64  # of a few, connections of a second tab are dropped and tried again a second later

    def __init__(
        self, takes: Sequence[ReviewedTake], port: int = 0, page: bytes | None = None, *,
        shot: EditedShot | None = None, threads: int | None = None, ahead: bool = False,
    ) -> None:  # fmt: skip
        """Port 0 is any that is free; `page` replaces the one that is installed; a `shot` is directed as well, on so
        many threads, perhaps with a process that waits ahead for the next run."""
        try:
            self._room = threading.BoundedSemaphore(_MOST_CONNECTIONS)
            super().__init__((LOOPBACK, port), _Handler)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise OutputError(f"port {port}: cannot be listened at: {why}; try: another --port, or none") from error
        self.gate = Gate(int(self.server_address[1]))
        self.studio = Studio(takes, page, shot, threads, ahead)

    @property
    def address(self) -> str:
        """The page's, token and all."""
        return self.gate.address

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread of its own; hung up on where too many talk already."""
        if not self._room.acquire(blocking=False):
            return self.shutdown_request(request)
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread could be started
            self._room.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """As the base class does, and make room."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def service_actions(self) -> None:
        """Now and then, between requests."""
        self.studio.tidy()

    def close(self) -> None:
        """End long polls, drop films, give the port back."""
        self.studio.close()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that went away in the middle of an answer is no fault; anything else is for the log."""
        _log.debug("a request ended early", exc_info=True)


@contextmanager
def serving(server: StudioServer) -> Iterator[StudioServer]:
    """While the server answers in a thread beside this one."""
    threads = [
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.2}, daemon=True),
        threading.Thread(target=server.studio.warm_up, daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        yield server
    finally:
        server.studio.close()
        server.shutdown()
        server.close()
        for thread in threads:
            thread.join(10.0)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    timeout = 60.0  # [s] of silence, or of a reader that does not read
    disable_nagle_algorithm = True
    server: StudioServer  # type: ignore[assignment]
    server_version, sys_version = "bunraku", ""

    def do_GET(self) -> None:
        """Answer."""
        try:
            reply = self._reply()
        except Refusal as refusal:
            self._refuse(refusal)
        except (TimeoutError, ConnectionError):
            self.close_connection = True
        except Exception as error:
            _log.exception("unexpected error while answering %s", self.command)
            self._refuse(Refusal(500, f"unexpected {type(error).__name__}: {error}"))
        else:
            self._send(200, reply)

    do_POST = do_GET

    def _reply(self) -> Reply:
        try:
            path, query = asked(self.path)
        except ValueError:  # brackets that are no address
            path, query = "", {}
        self.server.gate.check(self.headers, query)  # type: ignore[arg-type]
        check_headers(self.headers, self.request_version)
        check_shape(self.path)
        most, answer = self.server.studio.route(self.command, path, query)
        return answer(self._body(most))

    def _body(self, most: int) -> bytes:
        """What was sent along; refused before it is read where it is too large or of unknown length."""
        if self.headers.get("Transfer-Encoding") is not None:
            raise Refusal(411, "the length of the body must be said")
        text = self.headers.get("Content-Length", "0")
        if not (text.isascii() and text.isdigit() and len(text) <= 12):
            raise Refusal(400, "the length of the body is no number")
        if int(text) > most:
            raise Refusal(413, f"the body is too large (got {int(text)} bytes; allowed: up to {most})")
        if self._awaited:
            self.send_response_only(HTTPStatus.CONTINUE)
            self.end_headers()
        body = self.rfile.read(int(text))
        if len(body) < int(text):
            raise ConnectionError("the body ended early")
        self._unread = False
        return body

    def _refuse(self, refusal: Refusal) -> None:
        if refusal.status == 403:
            reply = Reply(f"{refusal}\n".encode(), "text/plain; charset=utf-8")
        else:
            reply = Reply(json.dumps(asdict(Refused(str(refusal))), ensure_ascii=False).encode(errors="replace"))
        if self._unread and self._has_body():
            self.close_connection = True  # what was not read would be taken for the next request
        self._send(refusal.status, reply)
        if self.close_connection:
            self._hear_out()

    def _has_body(self) -> bool:
        """Whether a body follows, or might."""
        headers = self.headers
        lengths = headers.get_all("Content-Length", ["0"])
        return bool(headers.defects) or "Transfer-Encoding" in headers or lengths != ["0"]

    def _hear_out(self) -> None:
        """Let a client that still sends finish a little, so that it hears why it was refused."""
        with suppress(OSError):
            self.connection.settimeout(_LINGER)
            left = _LITTLE
            while left > 0 and (heard := self.connection.recv(min(left, 65536))):
                left -= len(heard)

    def _send(self, status: int, reply: Reply) -> None:
        try:
            self.send_response(status)
            for name, value in {**_HEADERS, "Content-Security-Policy": reply.policy}.items():
                self.send_header(name, value)
            self.send_header("Content-Type", reply.kind)
            self.send_header("Content-Length", str(len(reply.body)))
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)
        except (TimeoutError, ConnectionError, OSError):
            self.close_connection = True

    def handle_one_request(self) -> None:
        """As the base class does, each request with a body of its own."""
        self._unread, self._awaited = True, False
        super().handle_one_request()

    def handle_expect_100(self) -> bool:
        """Nobody is asked for a body before it is known whether it is wanted."""
        self._awaited = True
        return True

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the base class refuses: lines and headers that are too long, or no HTTP at all."""
        if code == HTTPStatus.NOT_IMPLEMENTED:  # another method: refused as everything is, the token first
            return self.do_GET()
        self.close_connection = True
        self.command = getattr(self, "command", "") or ""
        self.requestline = getattr(self, "requestline", "") or ""
        why = message or HTTPStatus(code).phrase
        self._send(code, Reply(json.dumps(asdict(Refused(f"the request cannot be read: {why[:80]}"))).encode()))

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are told to nobody: their addresses hold the token."""

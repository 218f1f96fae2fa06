"""Who may ask: whoever has the token, from this machine's own page, in requests of a size that makes sense."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from urllib.parse import parse_qsl, unquote, urlsplit

HEADER = "X-Bunraku-Token"
LOOPBACK = "127.0.0.1"
_MOST_FIELDS = 16  # of a query
_LONGEST = 2048  # letters of an address
_ONCE = ("Host", "Origin", HEADER, "Content-Length", "Transfer-Encoding", "Expect")  # headers


class Refusal(Exception):
    """A request that is not answered: with which status, and why in one sentence."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True)
class Gate:
    """What every request must pass."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def address(self) -> str:
        """The page's, token and all."""
        return f"http://{LOOPBACK}:{self.port}/?token={self.token}"

    @property
    def _hosts(self) -> tuple[str, ...]:
        names = (LOOPBACK, "localhost")
        return tuple(f"{name}:{self.port}" for name in names) + (names if self.port == 80 else ())

    def check(self, headers: Mapping[str, str], query: Mapping[str, str]) -> None:
        """Refuse a request without the token, with a name that only leads here, or from another page."""
        given = headers.get(HEADER) or query.get("token", "")
        host, origin = headers.get("Host", "").lower(), headers.get("Origin")
        own = [f"http://{name}" for name in self._hosts]
        passes = secrets.compare_digest(given.encode(errors="replace"), self.token.encode())
        if not passes or host not in self._hosts or (origin is not None and origin.lower() not in own):
            raise Refusal(403, "not without the token of this page's address; try: the address that bunraku printed")


def asked(target: str) -> tuple[str, dict[str, str]]:
    """Path and query of a request; what is in no shape is refused, once the token was looked at."""
    parts = urlsplit(target)
    return unquote(parts.path), dict(parse_qsl(parts.query, keep_blank_values=True)[:_MOST_FIELDS])


def check_shape(target: str) -> None:
    """Refuse addresses that no page of ours sends."""
    if len(target) > _LONGEST:
        raise Refusal(414, f"the address is too long (got {len(target)} letters; allowed: up to {_LONGEST})")
    try:
        parts = urlsplit(target)
    except ValueError:  # brackets that are no address
        raise Refusal(400, "the address is no path of this server") from None
    if parts.scheme or parts.netloc or not parts.path.startswith("/"):
        raise Refusal(400, "the address is no path of this server")
    try:
        fields = parse_qsl(
            parts.query, keep_blank_values=True, strict_parsing=bool(parts.query), max_num_fields=_MOST_FIELDS
        )
    except ValueError:
        raise Refusal(400, "the query cannot be read; allowed: key=value&…, each key once") from None
    if len({name for name, _ in fields}) < len(fields):
        raise Refusal(400, "the query says a key twice")


def check_headers(headers: Message, version: str) -> None:
    """Refuse what readers of HTTP understand differently: headers said twice, or in no shape."""
    if version not in ("HTTP/1.0", "HTTP/1.1"):
        raise Refusal(400, "the request says no version; allowed: HTTP/1.0, HTTP/1.1")
    for name in _ONCE:
        if len(headers.get_all(name, [])) > 1:
            raise Refusal(400, f"the request says {name} twice")
    if headers.defects or any("\n" in value or "\r" in value for value in headers.values()):
        raise Refusal(400, "the request has a header that is in no shape; allowed: a line each, name: value")


def number(query: Mapping[str, str], key: str, low: int, high: int, default: int | None = None) -> int:
    """A whole number of a query, within bounds."""
    text = query.get(key)
    if text is None and default is not None:
        return default
    if text is None or not (text.isascii() and text.isdigit()) or len(text) > 12 or not low <= int(text) <= high:
        raise Refusal(400, f"{key} must be a whole number (got {(text or '')[:40]!r}; allowed: {low} to {high})")
    return int(text)

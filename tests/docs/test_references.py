"""Every work cited in the code, its tests and the pages is in docs/references.md."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_BRACKET = re.compile(r"\[([A-Z][\w’'-]+)(?:[^\]\d\n]*?)[ ,]+((?:18|19|20)\d{2})\b[^\]\n]*\]")
_PROSE = re.compile(r"\b([A-Z][\w’'-]+)(?:,? (?:and|&|et al\.)(?: [A-Z][\w’'-]+)?,?) \(?((?:18|19|20)\d{2})\b")


def cited(text: str) -> set[str]:
    """`Author year` of every `[Author year, eq. 3]`, `Author and Other (year)` and `Author et al. year`."""
    return {f"{author} {year}" for pattern in (_BRACKET, _PROSE) for author, year in pattern.findall(text)}


def listed() -> set[str]:
    return set(re.findall(r"^\* \*\*\[(.+?)\]\*\*", (ROOT / "docs/references.md").read_text(), re.MULTILINE))


def test_citations_are_found() -> None:
    found = cited(
        "[Some 1999, §4.1–4.2] of Other and More (2001), Third et al. 2014; [0, 2014] x[Mass 12] [Two & One 1984]"
    )
    assert found == {"Some 1999", "Other 2001", "Third 2014", "Two 1984"}


def test_every_citation_is_in_the_list() -> None:
    missing, used = {}, set()
    files = [
        path
        for folder in ("src", "tests", "docs")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".md") and "node_modules" not in path.parts
    ]
    for path in files:
        if path not in (Path(__file__), ROOT / "docs/references.md"):
            found = cited(path.read_text())
            used |= found
            if found - listed():
                missing[str(path.relative_to(ROOT))] = found - listed()
    assert missing == {}
    assert {"Bergou 2007", "Grinspun 2003", "Kabsch 1976", "Leissa 1973", "Vanderbei 1995"} <= used


def test_keys_are_unique_and_name_their_first_author_and_year() -> None:
    entries = re.findall(
        r"^\* \*\*\[(.+?)\]\*\* (.*(?:\n  .*)*)", (ROOT / "docs/references.md").read_text(), re.MULTILINE
    )
    assert len({key for key, _ in entries}) == len(entries) > 5
    for key, text in entries:
        author, year = key.split()
        assert author in text.split(",")[0] or author in text.split(". *")[0]
        assert year in text

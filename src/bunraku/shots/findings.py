"""Where in a shot file something stands, and all that was found wrong, gathered so that it is told at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from bunraku.contracts import InputError, input_error

_LONG = 200  # letters of a value that a sentence repeats


@dataclass(frozen=True)
class Place:
    """A key of a shot file. All places of one reading share their list of findings."""

    file: str
    """the file's name, as errors say it"""
    folder: Path
    """what relative paths are relative to"""
    path: str = ""
    """'object.coat.pins[0].axes'; empty for the whole file"""
    findings: list[str] = field(default_factory=list)

    def at(self, key: str) -> Place:
        """The place of a key of this table."""
        return replace(self, path=f"{self.path}.{key}" if self.path else key)

    def entry(self, index: int) -> Place:
        """The place of an entry of this list, from 0."""
        return replace(self, path=f"{self.path}[{index}]")

    @property
    def name(self) -> str:
        """'box.toml: object.box.guide'."""
        return f"{self.file}: {self.path}" if self.path else self.file

    def refuse(self, what: str, *, got: object = None, allowed: str = "", remedy: str = "") -> None:
        """Add a finding: what is wrong here, the value got, what is allowed, what to try."""
        if got is not None and len(str(got)) > _LONG:
            got = str(got)[: _LONG - 1] + "…"
        self.findings.append(str(input_error(what, where=self.name, got=got, allowed=allowed, remedy=remedy)))

    def pass_on(self, error: InputError, *, without: str = "") -> None:
        """Add what another room found, as found here; `without` is a beginning that the place says already."""
        self.findings.extend(f"{self.name}: {line.removeprefix(without)}" for line in str(error).splitlines())

    def raise_all(self) -> None:
        """Raise everything found so far, one line each; nothing where all is well."""
        if self.findings:
            raise InputError("\n".join(self.findings))


def nearest(name: object, names: Iterable[str]) -> str:
    """ "'vinyl'" for 'vinly', as a remedy; empty where nothing is near."""
    near = difflib.get_close_matches(str(name).lower(), list(names), n=1, cutoff=0.5)
    return f"'{near[0]}'" if near else ""

"""Where a take comes from: settings, input hashes, versions. Decides whether it may be resumed."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, TypeGuard

from bunraku.numerics import choose, default_threads

from .contact_spec import ContactTable
from .prepared import Prepared
from .tables import written

_PACKAGES = ("bunraku", "numpy", "scipy", "numba", "usd-core", "mkl", "py-mkl-pardiso", "qdldl")
_FILES = ("file", "take", "skeleton", "faces")
"""keys whose text is the name of a file or of a take"""


def settings(prepared: Prepared) -> dict[str, Any]:
    """All that decides the frames: the resolved shot, its inputs by their hashes and not by their names."""
    resolved = prepared.shot.settings(".")
    resolved.pop("output")
    resolved["shot"].pop("name")
    resolved["object"] = _nameless(resolved["object"])
    for one in resolved["physics"].get("wind", {}).get("obstacles", []):
        del one["file"]
    inputs: dict[str, list[str]] = {}
    for one in prepared.inputs:
        key = one.key.removeprefix(f"{prepared.shot.within}.")  # the shot of a stage is the same without its file
        inputs.setdefault(f"{key} (its file)", []).append(one.sha256)
    prims = {f"{name} (its prim)": prim for name, prim in prepared.contact.prims.items()}
    return _plain(
        {**resolved, "inputs": inputs, "prim": ", ".join(one.clip.prim_path for one in prepared.written), **prims}
    )


def _nameless(objects: Mapping[str, Any]) -> dict[str, Any]:
    """Objects without the names of files and takes, which depend on where a run is started from, and without the prims
    that `settings` says beside them, whether or not the shot does."""
    found = {name: _without_files(table) for name, table in objects.items()}
    for table in found.values():
        for part in ("guide", "source", "surface"):
            table.get(part, {}).pop("prim", None)
    return found


def _without_files(value: Any) -> Any:
    if isinstance(value, Mapping):
        kept = {name: one for name, one in value.items() if name not in _FILES or not isinstance(one, str)}
        return {name: _without_files(one) for name, one in kept.items()}
    return [_without_files(one) for one in value] if isinstance(value, (list, tuple)) else value


def solver_name(threads: int | None) -> str:
    """The linear solver a run takes here; an unknown BUNRAKU_SOLVER is refused."""
    return choose(threads=threads, single=True).name


def circumstances(threads: int | None) -> dict[str, Any]:
    """What may change the last digits: solver, threads, versions, machine."""
    return _plain(
        {
            "threads": threads or default_threads(),
            "solver": solver_name(threads),
            "versions": {"python": platform.python_version(), **dict(_versions())},
            "machine": f"{platform.system()} {platform.machine()}",
        }
    )


def provenance(prepared: Prepared, threads: int | None, facts: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept with a take; `facts` are the job's."""
    return {
        **circumstances(threads),
        "settings": settings(prepared),
        "facts": _plain(dict(facts)),
        "inputs": [{"key": one.key, "path": str(one.path), "sha256": one.sha256} for one in prepared.inputs],
        "source": str(prepared.shot.source) if prepared.shot.source else None,
        "command": sys.argv[1:] if sys.argv and sys.argv[0].endswith("bunraku") else None,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "resumed": [],
    }


def differences(before: Mapping[str, Any], now: Mapping[str, Any], path: str = "") -> list[str]:
    """'physics.substeps was 2, is 3': every leaf in which two nested mappings differ."""
    found: list[str] = []
    for name in sorted(set(before) | set(now)):
        where = f"{path}.{name}" if path else name
        a, b = before.get(name), now.get(name)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            found += differences(a, b, where)
        elif _alike(a) and _alike(b) and len(a) == len(b):  # keys[3].move was …
            for k, (x, y) in enumerate(zip(a, b, strict=True)):
                found += differences(x, y, f"{where}[{k}]")
        elif a != b:
            hashes = where.startswith("inputs.")
            found.append(f"{where[7:]} has changed" if hashes else f"{where} was {_told(a)}, is {_told(b)}")
    return found


def _alike(value: object) -> TypeGuard[list[Mapping[str, Any]]]:
    """Whether it is a list of tables."""
    return isinstance(value, list) and all(isinstance(one, Mapping) for one in value)


def spelled_out(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a take with what `contact = true` stands for, which may have been said in full instead, and without
    the names of files, which takes made earlier have in them."""
    physics, objects = settings.get("physics"), settings.get("object")
    told = {**settings, "object": _nameless(objects)} if isinstance(objects, Mapping) else dict(settings)
    if not isinstance(physics, Mapping) or physics.get("contact") is not True:
        return told
    return {**told, "physics": {**physics, "contact": _plain(written(ContactTable(), Path()))}}


def _told(value: object) -> str:
    text = "not given" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"


def _versions() -> Iterator[tuple[str, str]]:
    for name in _PACKAGES:
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue


def _plain(value: Any) -> Any:
    """As JSON gives it back, so that what was kept compares equal."""
    return json.loads(json.dumps(value))

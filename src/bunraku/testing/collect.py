"""Which classes of a room speak a contract, found by their members, so that none escapes its check."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType


def implementations(room: ModuleType, contract: type) -> list[type]:
    """The concrete classes defined in a room's modules that have every public member of a protocol."""
    members = {name for name in vars(contract) if not name.startswith("_")}
    members |= {name for name in getattr(contract, "__annotations__", {}) if not name.startswith("_")}
    return [
        found
        for module in _modules(room)
        for found in vars(module).values()
        if inspect.isclass(found) and found.__module__ == module.__name__ and not getattr(found, "_is_protocol", False)
        if members <= _members(found)
    ]


def _members(given: type) -> set[str]:
    """Names a class defines or declares, fields of dataclasses without default included."""
    declared = {name for base in given.__mro__ for name in getattr(base, "__annotations__", {})}
    return declared | set(dir(given))


def _modules(room: ModuleType) -> list[ModuleType]:
    found = [room]
    for info in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        found.append(importlib.import_module(info.name))
    return found

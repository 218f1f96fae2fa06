"""Rooms opened on demand: what a package offers is imported when it is first asked for.

Physics and its kernels take two seconds to import, and neither `bunraku --help` nor a look at a mesh needs them. Such a
package lists what it offers in one `if TYPE_CHECKING:` block of plain imports. Type checkers, the documentation and the
walk of tests/test_house.py read that block as they read any other, and at run time `on_demand` reads it too, so that
there is no second list. Sources must be there for this; kernels could not be kept without them either.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def on_demand(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """A package's `__getattr__`, `__dir__` and `__all__`, from what its file imports for type checkers."""
    origins = _origins(Path(file))

    def opened(name: str) -> Any:
        module = sys.modules[package]
        if name in origins:
            value = getattr(import_module(origins[name], package), name)
        elif not name.startswith("_") and find_spec(f"{package}.{name}"):  # one of its own modules
            value = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=module)
        setattr(module, name, value)
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *origins})

    return opened, listed, sorted(origins)


def _origins(file: Path) -> dict[str, str]:
    """name: the module it comes from, relative to the package, as the block for type checkers has it."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    blocks = [node for node in body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: "." * node.level + (node.module or "") for node in imports for alias in node.names}

"""Compiled kernels that are out of date.

Numba keeps a compiled kernel until *its own* file changes. A kernel that calls one of another file has that one inside
it, so that a change there would go unnoticed by every test: such kernels are thrown away here and compiled again.
"""

from __future__ import annotations

import ast
from pathlib import Path


def called_files(source: Path) -> dict[Path, set[Path]]:
    """Of each file with kernels below a package's folder the other such files it imports from, however indirectly."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(source.rglob("*.py"))}
    kernels = {path for path, text in texts.items() if "njit" in text}
    direct = {path: _imported(path, texts[path], source) & kernels - {path} for path in kernels}
    found = {path: _reached(path, direct) for path in sorted(kernels)}
    return {path: others for path, others in found.items() if others}


def _reached(path: Path, direct: dict[Path, set[Path]]) -> set[Path]:
    """All that can be reached from a file, without itself."""
    found, ahead = set(), {path}
    while ahead:
        found |= ahead
        ahead = set().union(*(direct[one] for one in ahead)) - found
    return found - {path}


def _imported(path: Path, text: str, source: Path) -> set[Path]:
    """The files of the package that a file imports names from."""
    out = set()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        parts = node.module.split(".")
        if node.level:
            out.add(path.parents[node.level - 1].joinpath(*parts).with_suffix(".py"))
        elif parts[0] == source.name and len(parts) > 1:
            out.add(source.joinpath(*parts[1:]).with_suffix(".py"))
    return out


def forget_stale(source: Path) -> list[Path]:
    """Throw away what was compiled before a file it calls was changed; the files that are compiled anew."""
    stale = []
    for path, others in called_files(source).items():
        changed = max(other.stat().st_mtime for other in others)
        old = [one for one in path.parent.glob(f"__pycache__/{path.stem}.*.nbi") if one.stat().st_mtime < changed]
        for one in old:
            one.unlink(missing_ok=True)
        stale += [path] if old else []
    return stale

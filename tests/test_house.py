"""The house of docs/architecture.md, walked with `ast`: who may import whom, and the habits a file keeps."""

from __future__ import annotations

import ast
import itertools
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "bunraku"

ROOMS = (
    "contracts", "geometry", "motion", "numerics", "rigs", "materials", "energies", "constraints", "collision",
    "dynamics", "direction", "io", "render", "scenes", "shots", "bench", "studio", "cli", "testing",
)  # fmt: skip
"""top to bottom: a room imports only rooms above it"""

PHYSICS = ("materials", "energies", "constraints", "collision", "dynamics")
MUST_NOT_KNOW = {
    "numerics": ("geometry", "motion"),
    "materials": ("geometry", "numerics"),
    "constraints": ("motion", "materials", "energies"),
    "dynamics": ("energies", "materials", "motion"),
    "io": (*PHYSICS, "numerics", "direction"),
    "render": (*PHYSICS, "numerics", "direction"),
    "scenes": ("render", "io"),
    "cli": PHYSICS,
    "studio": (*PHYSICS, "bench"),
    "testing": tuple(room for room in ROOMS if room not in ("contracts", "geometry", "numerics", "testing")),
}
"""the table's last column, where it says more than the order does"""

DOORSTEP = ("bunraku.__version__", "bunraku.opening.on_demand")
"""what every room may take from the root"""

HEAVY = {
    "pxr": 6, "PIL": 4, "imageio_ffmpeg": 1, "qdldl": 1, "ipctk": 1, "wildmeshing": 1, "pytetwild": 1, "dask": 2,
    "tomlkit": 1,
}  # fmt: skip
"""package: in how many files it may be imported"""


def _files() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def _name(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@cache
def _tree(path: Path) -> ast.Module:
    """A file, read once."""
    return ast.parse(path.read_text())


@cache
def _nodes(path: Path) -> list[ast.AST]:
    """All that is in a file's tree: several tests look at it."""
    return list(ast.walk(_tree(path)))


@cache
def _imports(path: Path) -> list[str]:
    """Dotted names of everything a file imports, relative ones resolved; functions' own imports included."""
    package = ["bunraku", *path.relative_to(SOURCE).parent.parts]
    found = []
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            found += [f"{stem}.{alias.name}" for alias in node.names]
    return found


def forbidden(room: str, imports: list[str]) -> list[str]:
    """The imports of a room's file that the house does not allow."""
    allowed = {*ROOMS[: ROOMS.index(room)], room} - set(MUST_NOT_KNOW.get(room, ()))
    wrong = []
    for name in imports:
        parts = name.split(".")
        if parts[0] != "bunraku" or name in DOORSTEP:
            continue
        if len(parts) == 1 or parts[1] not in allowed:  # the whole package, another room, or the root's own names
            wrong.append(name)
    return wrong


def test_every_room_is_in_the_table() -> None:
    """A new room needs a place in the order before anything may import it."""
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert rooms <= set(ROOMS)
    assert {path.name for path in SOURCE.glob("*.py")} <= {"__init__.py", "__main__.py", "opening.py"}


def test_arrows_point_up() -> None:
    """Each room imports only rooms above it."""
    inside = [path for path in _files() if path.parent != SOURCE]
    found = {_name(path): forbidden(path.relative_to(SOURCE).parts[0], _imports(path)) for path in inside}
    assert len(found) > 50
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_arrows_that_point_down_are_found() -> None:
    """The walker itself: one wrong arrow of each kind."""
    assert forbidden("geometry", ["numpy", "bunraku.contracts.State", "bunraku.motion.Curve"]) == [
        "bunraku.motion.Curve"
    ]
    assert forbidden("io", ["bunraku.materials.preset"]) == ["bunraku.materials.preset"]
    assert forbidden("dynamics", ["bunraku.energies.Membrane"]) == ["bunraku.energies.Membrane"]
    assert forbidden("testing", ["bunraku.motion.Curve", "bunraku.geometry.TriMesh"]) == ["bunraku.motion.Curve"]
    assert forbidden("shots", ["bunraku.track", "bunraku", "bunraku.__version__"]) == ["bunraku.track", "bunraku"]
    assert forbidden("materials", ["bunraku.motion.Curve"]) == []


def test_relative_imports_are_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`from ..energies import x` in a room is an arrow too."""
    room = tmp_path / "dynamics"
    room.mkdir()
    (room / "wrong.py").write_text(
        "from ..energies import Membrane\nfrom .system import System\ndef f():\n    import pxr\n"
    )
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    found = _imports(room / "wrong.py")
    assert found == ["bunraku.energies.Membrane", "bunraku.dynamics.system.System", "pxr"]
    assert forbidden("dynamics", found) == ["bunraku.energies.Membrane"]


def test_files_stay_small() -> None:
    """About 400 lines."""
    assert {_name(p): n for p in _files() if (n := len(p.read_text().splitlines())) > 450} == {}


def test_libraries_do_not_print() -> None:
    """Library code logs; only the command line prints."""
    printing = []
    for path in _files():
        for node in _nodes(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                printing.append(f"{_name(path)}:{node.lineno}")
    assert [place for place in printing if not place.startswith("cli/")] == []


def test_names_offered_on_demand_are_no_modules_of_their_package() -> None:
    """A module, once imported, is its package's attribute and would hide the name that is asked for."""
    lazy = [path for path in SOURCE.rglob("__init__.py") if "on_demand(" in path.read_text()]
    hidden = [
        f"{_name(init)}: {name}"
        for init in lazy
        for name in import_module(".".join(["bunraku", *init.parent.relative_to(SOURCE).parts])).__all__
        if (init.parent / name).is_dir() or (init.parent / f"{name}.py").exists()
    ]
    assert len(lazy) == 3 and hidden == []


def test_the_blender_extension_is_never_imported() -> None:
    """It is a distribution of its own (tests/blender_bridge looks at it from the other side)."""
    users = [_name(p) for p in _files() if any(name.split(".")[0] in ("blender", "bridge") for name in _imports(p))]
    assert users == []


@pytest.mark.parametrize("package", HEAVY)
def test_heavy_packages_live_in_few_files(package: str) -> None:
    """So that a missing or changed one is one file's problem."""
    users = [_name(p) for p in _files() if any(name.split(".")[0] == package for name in _imports(p))]
    assert len(users) <= HEAVY[package], users


def test_every_public_room_says_what_it_holds() -> None:
    """A room's `__init__` begins with its sentence."""
    for init in SOURCE.glob("*/__init__.py"):
        if init.read_text().strip():  # else the room is still empty
            assert ast.get_docstring(ast.parse(init.read_text())), init


def test_docstrings_speak_of_arguments_that_exist() -> None:
    """As the documentation asks: one argument a line, by the name it has."""
    strangers = [
        f"{_name(path)}:{node.lineno}: {named}"
        for path in _files()
        for node in _nodes(path)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        for named in _described(ast.get_docstring(node) or "") - _arguments(node)
    ]
    assert not strangers, strangers


def _described(docstring: str) -> set[str]:
    """Names that a docstring's `Args:` describes."""
    _, _, after = docstring.partition("Args:\n")
    lines = itertools.takewhile(lambda line: line.startswith("    ") or not line, after.splitlines())
    return {line.partition(":")[0].strip() for line in lines if line[4:5].strip()}


def _arguments(node: ast.FunctionDef | ast.ClassDef) -> set[str]:
    """Names of a function's arguments, or of what a class is made from."""
    if isinstance(node, ast.ClassDef):
        fields = {
            part.target.id
            for part in node.body
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
        }
        made = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
        return fields.union(*map(_arguments, made))
    given = node.args
    several = [part for part in (given.vararg, given.kwarg) if part]
    return {part.arg for part in [*given.posonlyargs, *given.args, *given.kwonlyargs, *several]}


def test_arguments_that_share_a_line_are_found() -> None:
    assert _described("Run.\n\nArgs:\n    a, b: both.\n    c: one\n        more: words.\n\nReturns:\n    d: e\n") == {
        "a, b",
        "c",
    }

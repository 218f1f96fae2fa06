"""Rooms opened on demand: all that is offered is there, and nothing is loaded before it is asked for."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from bunraku.opening import on_demand

PHYSICS = ("materials", "energies", "constraints", "collision", "dynamics", "direction")


@pytest.mark.parametrize("package", ["bunraku", "bunraku.shots", "bunraku.studio"])
def test_all_that_is_offered_is_there(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__all__
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert name in dir(module)


def test_a_name_is_what_its_room_holds() -> None:
    import bunraku
    from bunraku.direction.track import track

    assert bunraku.track is track and bunraku.track.__module__.startswith("bunraku.direction.track")


def test_a_module_of_the_package_is_found_as_an_attribute() -> None:
    get, _, _ = on_demand("bunraku", importlib.import_module("bunraku").__file__ or "")
    assert get("testing") is importlib.import_module("bunraku.testing")


@pytest.mark.parametrize("name", ["trak"])
def test_what_is_not_offered_is_an_attribute_error_that_suggests(name: str) -> None:
    import bunraku

    with pytest.raises(AttributeError, match="module 'bunraku' has no attribute 'trak'") as caught:
        getattr(bunraku, name)
    assert caught.value.name == name and caught.value.obj is bunraku


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--version"], ["--help"], ["run"], ["nonsense"], ["check", "square.obj"]])
def test_commands_that_need_no_physics_load_none(words: list[str], tmp_path: Path) -> None:
    """A process each: this one has long loaded everything."""
    (tmp_path / "square.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n")
    program = (
        "import sys\n"
        "from bunraku.cli import main\n"
        "try:\n"
        f"    main({words!r})\n"
        "except SystemExit:\n"
        "    pass\n"
        "print('loaded:', *(name for name in sys.modules if name.startswith('bunraku.')))\n"
    )
    told = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = told.stdout.splitlines()[-1].removeprefix("loaded:").split()
    assert "bunraku.cli" in loaded
    assert not {f"bunraku.{room}" for room in PHYSICS} & set(loaded)

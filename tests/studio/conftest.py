"""A small take on disk, and a real server over a copy of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from studio_client import PAGE, Client, write_shot

from bunraku.shots import open_take, read_shot
from bunraku.studio import StudioServer, serving


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six frames of a box, after one of preroll."""
    folder = tmp_path_factory.mktemp("studio")
    return read_shot(write_shot(folder, shot={"preroll": 1})).run(threads=1).folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy that may be changed."""
    return Path(shutil.copytree(made, tmp_path / "v001"))


@pytest.fixture
def serve() -> Iterator[Callable[..., Client]]:
    """serve(folder, …) → a client of a server over these takes, closed at the end."""
    with ExitStack() as stack:

        def start(*folders: Path, **options: Any) -> Client:
            server = StudioServer([open_take(one) for one in folders], **{"page": PAGE, **options})
            return Client(stack.enter_context(serving(server)))

        yield start


@pytest.fixture
def client(serve: Callable[..., Client], folder: Path) -> Client:
    return serve(folder)

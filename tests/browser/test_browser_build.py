"""The page that is committed is the one its sources build, and they pass the type checker."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import bunraku.studio

pytestmark = pytest.mark.studio

STUDIO = Path(bunraku.studio.__file__).parent


@pytest.fixture(scope="module")
def npm() -> str:
    """npm, with the page's packages installed beside its sources."""
    found = shutil.which("npm")
    if found is None or not (STUDIO / "client").is_dir():
        pytest.skip("building the page needs npm and its sources; users need neither")
    if not (STUDIO / "client" / "node_modules").is_dir():
        words = [found, "ci", "--no-audit", "--no-fund"]
        got = subprocess.run(words, cwd=STUDIO / "client", capture_output=True, text=True)
        if got.returncode != 0:
            pytest.skip(f"npm could not fetch the page's packages: {got.stderr.strip()[-200:]}")
    return found


def _run(npm: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([npm, "run", "--silent", *words], cwd=STUDIO / "client", capture_output=True, text=True)


def test_the_committed_page_is_what_the_sources_build(npm: str, tmp_path: Path) -> None:
    got = _run(npm, "build", "--", str(tmp_path / "index.html"))
    assert got.returncode == 0, got.stdout + got.stderr
    same = (tmp_path / "index.html").read_bytes() == (STUDIO / "page" / "index.html").read_bytes()
    assert same, "page/index.html is not what client/ builds; try: npm run build in src/bunraku/studio/client"


def test_the_sources_pass_the_type_checker(npm: str) -> None:
    got = _run(npm, "check")
    assert got.returncode == 0, got.stdout + got.stderr


def test_the_page_is_one_file_with_the_licence_of_what_it_holds() -> None:
    page = (STUDIO / "page" / "index.html").read_text(encoding="utf-8")
    assert page.count("<script") == page.count('<script nonce="__NONCE__">') == 1
    assert page.count("<style") == page.count('<style nonce="__NONCE__">') == 1
    assert "three.js authors" in page and "Permission is hereby granted" in page
    assert 'src="' not in page.split("<style", maxsplit=1)[0] and "@import" not in page


def test_the_sources_pass_their_own_tests(npm: str) -> None:
    got = _run(npm, "test")
    assert got.returncode == 0, got.stdout + got.stderr

"""The folder of real bodies and motions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("BUNRAKU_TEST_DATA") or Path(__file__).resolve().parents[2] / "../shared/data").resolve()
"""third-party files, which are not part of the project: BUNRAKU_TEST_DATA, else ../shared/data beside the checkout"""


@pytest.fixture
def data() -> Path:
    """The folder of third-party test data."""
    if not DATA.is_dir():
        pytest.skip(f"third-party test data is not there: {DATA}; BUNRAKU_TEST_DATA says where it is")
    return DATA

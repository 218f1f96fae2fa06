"""Shots as text: what is written reads back the same, and numbers that belong together stand together."""

from __future__ import annotations

import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.shots.toml_text import toml_text

NUMBERS = st.one_of(st.integers(-(2**60), 2**60), st.floats(allow_nan=False), st.booleans())
VALUES = st.recursive(
    st.one_of(NUMBERS, st.text(max_size=12), st.lists(NUMBERS, max_size=60)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(min_size=1, max_size=6), inner)),
    max_leaves=12,
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=6), VALUES, max_size=4))
def test_whatever_is_written_reads_back(table: dict[str, object]) -> None:
    assert tomllib.loads(toml_text(table)) == table


def test_rows_of_numbers_are_rows_of_text() -> None:
    text = toml_text({"points": [[1, 0.5, -2e-7], [12, float("inf"), 0.0]], "vertices": list(range(1000, 1060))})
    assert "    [1, 0.5, -2e-07],\n    [12, inf, 0.0],\n" in text
    rows = text[text.index("vertices") :].splitlines()
    assert rows[0] == "vertices = [" and rows[1].startswith("    1000, 1001, ") and rows[-1] == "]"
    assert len(rows) == 2 + 4 and max(map(len, rows)) <= 120


def test_text_that_looks_like_numbers_stays_as_it_is() -> None:
    table = {"name": "[\n    1,\n    2,\n]", "several": ["1,", "a\n2,\n"]}
    assert tomllib.loads(toml_text(table)) == table

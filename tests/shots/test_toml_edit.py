"""A shot's text with keys changed: the rest stays letter by letter, and what comes out is what was meant."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.contracts import InputError
from bunraku.shots import toml_edit
from bunraku.shots.toml_edit import KeyPath, edited, is_plain, named

TEXT = """\
# a shot by hand
[shot]
name = 'box'   # its name

[object.box]
# what it obeys
guide = { file = "guide.usda" }
material = "cotton"  # soft
track.strength = 1_0e-1

[object.box.mesh]
levels = 3

[[object.box.pins]]
vertices = [0,
  1,  # two of them
]
strength = 1

[physics.wind]
velocity = [1, 0, 0]
"""
BOX = ("object", "box")


def opened(path: KeyPath, value: Any) -> Mapping[str, Any]:
    return {} if value is None or value is True else {"preset": value}


def changed(*changes: tuple[tuple[str | int, ...], Any], text: str = TEXT) -> tuple[list[str], list[str]]:
    """The lines that went and those that came."""
    before, after = text.splitlines(), edited(text, changes, opened).splitlines()
    return [line for line in before if line not in after], [line for line in after if line not in before]


def test_a_number_is_one_line() -> None:
    assert changed(((*BOX, "track", "strength"), 0.5)) == (["track.strength = 1_0e-1"], ["track.strength = 0.5"])


def test_keys_are_one_line() -> None:
    keys = [[1, 0.5], [24, 1.0, "smooth"]]
    assert changed(((*BOX, "track", "strength"), keys))[1] == ['track.strength = [[1, 0.5], [24, 1.0, "smooth"]]']


def test_a_comment_outlives_its_value() -> None:
    assert changed(((*BOX, "material"), "vinyl"))[1] == ['material = "vinyl"  # soft']


def test_what_is_short_for_a_table_becomes_one() -> None:
    young, poisson = ((*BOX, "material", "young"), 2e5), ((*BOX, "material", "poisson"), 0.3)
    assert changed(young, poisson)[1] == ['material = { preset = "cotton", young = 200000.0, poisson = 0.3 }  # soft']


def test_a_table_that_is_not_there_stands_in_braces_or_under_a_heading_of_its_own() -> None:
    assert changed(((*BOX, "rest", "amount"), 0.5))[1] == ["rest = { amount = 0.5 }"]
    assert edited(TEXT, [(("output", "preview"), False)]).endswith("\n\n[output]\npreview = false\n")
    assert "\n[physics]\nsubsteps = 4\n\n[physics.wind]\n" in edited(TEXT, [(("physics", "substeps"), 4)])
    made = edited(TEXT, [((*BOX, "regions", "left cuff"), {"painted": "cuff", "scale": 0.05})])
    assert '\n\n[object.box.regions."left cuff"]\npainted = "cuff"\nscale = 0.05\n' in made


def test_lists_of_tables_get_longer_and_shorter() -> None:
    longer = edited(TEXT, [((*BOX, "pins", 1), {"vertices": [3], "to": "start"})])
    assert tomllib.loads(longer)["object"]["box"]["pins"][1] == {"vertices": [3], "to": "start"}
    assert "  1,  # two of them" in longer
    assert 'to = "start"\n\n[physics]\nsubsteps = 4\n' in edited(longer, [(("physics", "substeps"), 4)])
    shorter = edited(longer, [((*BOX, "pins", 0), None)])
    assert [one["vertices"] for one in tomllib.loads(shorter)["object"]["box"]["pins"]] == [[3]]
    first = edited(TEXT, [((*BOX, "seams", 0, "stitches"), [[1, 2]])])
    assert "[[object.box.seams]]\nstitches = [[1, 2]]\n" in first


def test_what_is_removed_leaves_the_rest() -> None:
    assert changed((("shot", "name"), None)) == (["name = 'box'   # its name"], [])
    assert changed(((*BOX, "gas", "pressure"), None)) == ([], [])


def test_long_lists_of_numbers_fill_lines() -> None:
    told = edited(TEXT, [((*BOX, "regions", "left"), {"vertices": list(range(400))})])
    assert max(len(line) for line in told.splitlines()) <= 114 and len(told.splitlines()) < 60


def test_lines_end_as_the_files_do() -> None:
    told = edited(TEXT.replace("\n", "\r\n"), [(("physics", "substeps"), 4)])
    assert told.count("\r\n") == told.count("\n") > 20


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ((), "needs the path"),
        ((0, "box"), "needs the path"),
        (("object", "", "x"), "needs the path"),
        ((*BOX, "mesh", "levels", "x"), "no table"),
        ((*BOX, "pins", 3, "strength"), "no such place"),
        ((*BOX, "pins", -1, "strength"), "no such place"),
        ((*BOX, "pins", "x"), "no table"),
        ((*BOX, 0), "no table"),
        ((*BOX, "guide", "file", "x"), "no table"),
    ],
)
def test_paths_that_lead_nowhere_are_refused(path: tuple[str | int, ...], why: str) -> None:
    with pytest.raises(InputError, match=why):
        edited(TEXT, [(path, 1)])


def test_what_comes_out_otherwise_than_meant_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toml_edit.tomlkit, "dumps", lambda document: TEXT)
    with pytest.raises(InputError, match=r"object\.box\.track\.strength: the file cannot be edited here"):
        edited(TEXT, [((*BOX, "track", "strength"), 0.5)])


def test_paths_are_named_as_shots_name_them() -> None:
    assert named(("object", "box", "pins", 0, "strength")) == "object.box.pins[0].strength"


_NAMES = st.sampled_from(["a", "b", "c d", "é", "x.y"])
_VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_NAMES, inner, max_size=3)), max_leaves=6,
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(st.tuples(st.lists(_NAMES, min_size=1, max_size=4).map(tuple), st.none() | _VALUES), max_size=5))
@settings(max_examples=150, deadline=None)
def test_any_change_is_what_was_meant_or_is_refused(changes: list[tuple[tuple[str, ...], Any]]) -> None:
    """`edited` compares with what was meant; the text is TOML whatever is asked, and most is not refused."""
    text = TEXT
    for change in changes:
        try:
            text = edited(text, [change])
        except InputError as error:
            assert "no table" in str(error) or "cannot be edited" in str(error)
    assert tomllib.loads(text)["physics"]["wind"]["velocity"] == [1, 0, 0]
    assert "# what it obeys" in text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, [1, None], {"a": float("nan")}, {1: 2}, 10**400])
def test_what_no_shot_can_hold_is_no_value(value: Any) -> None:
    assert not is_plain(value)
    assert is_plain([1, 2.5, "x", True, {"a": []}])


POSED = """\
[object.bar.track] # how it is directed
method = "clusters" # for now
count = 9
strength = 1_0.5e-1 # of the guide

[[object.bar.keys]] # the nod
frame = 13 # on the beat
move = [0.10, 0.0, 0.0]

[[object.bar.keys]] # the bow
frame = 20
"""


def test_of_what_is_told_whole_only_what_differs_is_written() -> None:
    nod, bow = {"frame": 13, "move": [0.1, 0, 0]}, {"frame": 20}
    keys = ("object", "bar", "keys")
    assert edited(POSED, [(keys, [nod, bow])]) == POSED
    moved = [{**nod, "move": [0.2, 0.0, 0.0]}, bow]
    assert edited(POSED, [(keys, moved)]) == POSED.replace("[0.10, 0.0, 0.0]", "[0.2, 0.0, 0.0]")
    assert edited(POSED, [(keys, [nod])]) == POSED[: POSED.index("[[object.bar.keys]] # the bow")]
    longer = edited(POSED, [(keys, [nod, bow, {"frame": 24}])])
    assert longer == POSED + "\n[[object.bar.keys]]\nframe = 24\n"
    swapped = edited(POSED, [(keys, [bow, nod])])  # no remark beside another key than it was made for
    assert "# the nod" not in swapped and tomllib.loads(swapped)["object"]["bar"]["keys"] == [bow, nod]
    track = edited(POSED, [(("object", "bar", "track"), {"method": "painted", "strength": 1.05})])
    assert track == POSED.replace('"clusters"', '"painted"').replace("count = 9\n", "")

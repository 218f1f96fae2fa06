"""Arrays as bytes: shares of a range, and where each array stands."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from studio_client import Answer

from bunraku.studio.parcels import Piece, parcel, shares

TABLES = hnp.arrays(
    np.float64, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6), elements=st.floats(-1e6, 1e6)
)


@given(table=TABLES)
def test_shares_are_within_half_a_step_of_what_they_stand_for(table: np.ndarray) -> None:
    piece = shares(table)
    assert piece.array.dtype == np.uint16 and piece.low is not None and piece.high is not None
    low, high = np.array(piece.low), np.array(piece.high)
    found = low + piece.array / 65535 * (high - low)
    assert (np.abs(found - table) <= 0.5001 * (high - low) / 65535 + 1e-9).all()


def test_ends_are_met_exactly_and_what_is_no_number_is_zero() -> None:
    piece = shares(np.array([3.0, -1.0, np.nan, np.inf]))
    assert piece.array.tolist() == [65535, 0, 16384, 16384] and (piece.low, piece.high) == ((-1.0,), (3.0,))
    flat = shares(np.full((4, 3), 2.5), np.array([1.0, 0.0, 0.0]))
    assert flat.array.max() == 0 and flat.low == (3.5, 2.5, 2.5)
    assert shares(np.zeros((0, 3))).array.shape == (0, 3)


def test_arrays_come_back_as_they_went() -> None:
    faces = np.arange(9, dtype=np.uint32).reshape(3, 3)
    lines = np.random.default_rng(0).normal(size=(2, 2, 3)).astype(np.float32)
    label = np.array([-1, 4, 2], dtype=np.int32)
    sent = [(None, {"faces": Piece(faces), "label": Piece(label)}), (7, {"contact": Piece(lines)})]
    (none, still), (seven, moving) = Answer(200, {}, parcel(sent)).parcel
    assert (none, seven) == (None, 7)
    np.testing.assert_array_equal(still["faces"], faces)
    np.testing.assert_array_equal(still["label"], label)
    np.testing.assert_array_equal(moving["contact"], lines)
    assert Answer(200, {}, parcel([])).parcel == []


def test_other_types_are_not_sent() -> None:
    with pytest.raises(KeyError):
        parcel([(None, {"x": Piece(np.zeros(3))})])

"""The kernels of owners against plain Python and numpy. They need no Dask."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligner.cluster import _owners
from aligner.cluster.owners import Owned, Slice

ROWS = st.dictionaries(st.integers(0, 5), st.sets(st.integers(0, 9)))  # source word -> its target words


def as_slice(rows: dict[int, set[int]], start: int) -> Slice:
    src = sorted(rows)
    ends = np.cumsum([0, *(len(rows[e]) for e in src)])
    tgt = [f for e in src for f in sorted(rows[e])]
    return np.array(src, np.int32) + np.int32(start), ends, np.array(tgt, np.int32)


@given(shards=st.lists(ROWS, min_size=1, max_size=5), start=st.integers(0, 3))
def test_rows_of_shards_are_merged(shards, start):
    owned = Owned.of(start, start + 6, [as_slice(rows, start) for rows in shards])
    every = sorted({(e, f) for rows in shards for e in rows for f in rows[e]})
    assert owned.tgt.tolist() == [f for _, f in every]
    assert np.diff(owned.rows).tolist() == [sum(e == own for own, _ in every) for e in range(6)]
    for rows, places in zip(shards, owned.places, strict=True):
        assert places.tolist() == [every.index((e, f)) for e in sorted(rows) for f in sorted(rows[e])]


def test_word_pairs_that_cannot_be_are_refused():
    good = [np.array(x) for x in ([0, 1], [0], [0, 2], [3, 4])]
    for n, bad, message in (
        (0, [0, 2], "n_words leaves its array"),
        (1, [1], "src must be between 0 and 0"),
        (1, [-1], "src must be between 0 and 0"),
        (2, [0, 3], "begins leaves its array"),
        (2, [0, 1, 2], "begins has 3 numbers"),
    ):
        arrays = [np.array(bad) if k == n else x for k, x in enumerate(good)]
        types = np.int64, np.int32, np.int64, np.int32
        with pytest.raises(ValueError, match=message):
            _owners.merge_rows(*map(np.ndarray.astype, arrays, types), np.zeros(2, np.int64))


@pytest.mark.parametrize("n", [1, 2])
def test_counts_are_added_at_their_places(n):
    total, own = np.ones((4, n), np.int64), np.arange(10, 10 + 2 * n).reshape(2, n)
    expected = total.copy()
    expected[[3, 1]] += own
    _owners.add_rows(total, np.array([3, 1]), own)
    np.testing.assert_array_equal(total, expected)
    for places in ([0, 4], [-1, 0]):
        with pytest.raises(ValueError, match="1 places are not among 4 word pairs"):
            _owners.add_rows(total, np.array(places), own)
    with pytest.raises(ValueError, match="of other directions"):
        _owners.add_rows(total, np.array([0, 1]), np.ones((2, 3 - n), np.int64))
    np.testing.assert_array_equal(total, expected)

"""The kernel of owners against numpy. It needs no Dask."""

from __future__ import annotations

import numpy as np
import pytest

from aligner.cluster import _owners


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

"""The threshold of least expected AER, against every cut and against Dinkelbach's iteration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligner.learning.learn import least_expected_aer

few = st.integers(0, 8).map(lambda x: x / 8)  # of few values, many are equal
cells = st.lists(st.tuples(few, few) | st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12)


def right(s: np.ndarray, n_sure: float, threshold: float) -> float:
    """1 - the AER that is expected of the links above a threshold. s: [n] pS + pP"""
    chosen = s / 2 > threshold
    links = chosen.sum() + n_sure
    return float(s[chosen].sum() / links) if links else 0.0


@given(cells, st.randoms())
def test_no_other_cut_is_better(probabilities, random):
    """Nor is the least expected AER another one if the cells stand in another order."""
    sure = np.array([min(p) for p in probabilities])
    possible = np.array([max(p) for p in probabilities])
    s, n_sure = sure + possible, float(sure.sum())
    threshold = least_expected_aer(s / 2, n_sure)
    assert 0 <= threshold <= 1
    found = right(s, n_sure, threshold)
    cuts = [-1.0, *(s / 2).tolist(), 1.0]
    assert found == pytest.approx(max(right(s, n_sure, cut) for cut in cuts), rel=1e-12, abs=1e-15)
    order = list(range(len(s)))
    random.shuffle(order)
    assert least_expected_aer(s[order] / 2, n_sure) == threshold


@given(cells)
def test_dinkelbach_ends_at_the_same_links(probabilities):
    """lam is 1 - the AER that is expected of the links whose pS + pP is above lam."""
    sure = np.array([min(p) for p in probabilities])
    s = sure + [max(p) for p in probabilities]
    n_sure, lam = float(sure.sum()), 0.8
    for _ in range(100):
        chosen = s > lam * (1 - 1e-12)  # rounding
        lam, before = float(s[chosen].sum() / max(chosen.sum() + n_sure, 1e-300)), lam
        if lam == before:
            break
    threshold = least_expected_aer(s / 2, n_sure)
    assert right(s, n_sure, threshold) == pytest.approx(lam, rel=1e-9, abs=1e-12)
    clear = abs(s - lam) > 1e-9  # a link that has lam itself changes nothing
    np.testing.assert_array_equal((s / 2 > threshold)[clear], (s > lam)[clear])


def test_by_hand():
    assert least_expected_aer(np.empty(0), 0.0) == 0.5
    assert least_expected_aer(np.zeros(5), 0.0) == 0.0  # no cell is above
    assert least_expected_aer(np.ones(5), 5.0) == 0.5  # all are
    assert least_expected_aer(np.array([0.6]), 0.6) == pytest.approx(0.3)  # the only one is
    assert least_expected_aer(np.array([0.9, 0.9, 0.1, 0.1]), 2.0) == pytest.approx(0.5)
    assert least_expected_aer(np.full(4, 0.3), 1.2) == pytest.approx(0.15)
    assert least_expected_aer(np.full(4, 0.25), 0.0) == 0.125  # two links are as good as one, but not none

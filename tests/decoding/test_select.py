"""Links from scores: those above a threshold, sentence pair by sentence pair."""

from __future__ import annotations

import numpy as np
import pytest

from aligner.decoding._select import above

SRC, TGT, CELLS = (np.array(x, dtype=np.int64) for x in ([3, 5, 5, 6], [1, 3, 4, 7], [10, 14, 14, 17]))
SCORES = np.array([0.25, 0.5, 0.75, 1.0, 0.5, 1.5, 0.125], dtype=np.float32)  # 2 x 2, none, 1 x 3


@pytest.mark.parametrize("n_threads", [1, 3])
def test_links_are_the_cells_above_the_threshold(n_threads):
    """A score at the threshold is not above it; one above 1 becomes 1. Offsets need not begin at 0."""
    offsets, src, tgt, scores = above(SRC, TGT, CELLS, SCORES, 0.5, n_threads)
    assert offsets.tolist() == [0, 2, 2, 3]
    assert list(zip(src.tolist(), tgt.tolist(), scores.tolist(), strict=True)) == [
        (1, 0, 0.75),
        (1, 1, 1.0),
        (0, 1, 1.0),
    ]
    assert above(SRC, TGT, CELLS, SCORES, 1.5, n_threads)[0].tolist() == [0, 0, 0, 0]


def test_scores_of_another_text_are_refused():
    with pytest.raises(ValueError, match="sentence pair 0 has 2 x 2 words, 5 cells"):
        above(SRC, TGT, CELLS + np.array([0, 1, 1, 0]), SCORES, 0.5, 1)
    with pytest.raises(ValueError, match="cell_offsets leaves its array"):
        above(SRC, TGT, CELLS, SCORES[:-1], 0.5, 1)
    with pytest.raises(ValueError, match="src_offsets falls at 2"):
        above(np.array([3, 5, 4, 5]), TGT, CELLS, SCORES, 0.5, 1)
    with pytest.raises(ValueError, match="n_threads"):
        above(SRC, TGT, CELLS, SCORES, 0.5, 0)

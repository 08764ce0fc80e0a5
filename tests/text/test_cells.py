"""Numbers of word pairs against a dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import corpus_of

from aligner.text._cells import find_cells, sort_rows
from aligner.text.cells import number_pairs

sentences = st.lists(st.integers(0, 6), max_size=5)
corpora = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=8).map(
    lambda pairs: corpus_of(*pairs)
)


def words(corpus, n):
    return [side.ids[side.offsets[n] : side.offsets[n + 1]].tolist() for side in (corpus.src, corpus.tgt)]


@given(corpus=corpora, n_threads=st.sampled_from([1, 3]), block=st.sampled_from([1, 4, 1 << 20]))
def test_numbers_equal_slow_twin(corpus, n_threads, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aligner.text.cells.BLOCK_CELLS", block)
        pairs = number_pairs(corpus, n_threads)
    met: dict[int, list[int]] = {e: [] for e in range(len(corpus.src.vocab))}
    for n in range(len(corpus)):
        src, tgt = words(corpus, n)
        for e in src:
            met[e] += [f for f in dict.fromkeys(tgt) if f not in met[e]]
    assert np.diff(pairs.rows).tolist() == [len(row) for row in met.values()]
    assert pairs.tgt.tolist() == [f for row in met.values() for f in row]
    cells = [
        met[e].index(f) for n in range(len(corpus)) for e in words(corpus, n)[0] for f in words(corpus, n)[1]
    ]
    assert pairs.cells.tolist() == cells


@given(corpus=corpora, other=corpora)
def test_cells_of_other_text(corpus, other):
    pairs = number_pairs(corpus, 1)
    t = np.arange(2 * len(pairs), dtype=np.float32).reshape(-1, 2)
    tgt, sorted_t = sort_rows(pairs.rows, pairs.tgt, t)
    rows = [
        dict(zip(tgt[a:b].tolist(), range(b - a), strict=True))
        for a, b in zip(pairs.rows, pairs.rows[1:], strict=False)
    ]
    for a, b in zip(pairs.rows, pairs.rows[1:], strict=False):
        assert tgt[a:b].tolist() == sorted(pairs.tgt[a:b].tolist())
        order = np.argsort(pairs.tgt[a:b])
        np.testing.assert_array_equal(sorted_t[a:b], t[a:b][order])
    src_ids = np.where(other.src.ids < len(rows), other.src.ids, -1).astype(np.int32)
    tgt_ids = np.where(other.tgt.ids < len(corpus.tgt.vocab), other.tgt.ids, -1).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(other.src.lengths * other.tgt.lengths)])
    cells = np.empty(offsets[-1], np.int32)
    find_cells(src_ids, other.src.offsets, tgt_ids, other.tgt.offsets, offsets, pairs.rows, tgt, cells, 1)
    expected = [
        rows[e].get(f, -1) if e < len(rows) else -1
        for n in range(len(other))
        for e in words(other, n)[0]
        for f in words(other, n)[1]
    ]
    assert cells.tolist() == expected

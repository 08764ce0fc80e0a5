"""Numbers of word pairs against a dictionary, and the parts that a text is cut into."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import corpus_of

from aligner.text._cells import find_cells
from aligner.text.cells import Seen, cell_offsets, cut, in_shards, number_pairs, shard_cells
from aligner.text.known import Known, Weights

sentences = st.lists(st.integers(0, 6), max_size=5)
corpora = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=8).map(
    lambda pairs: corpus_of(*pairs)
)


def words(corpus, n):
    return [side.ids[side.offsets[n] : side.offsets[n + 1]].tolist() for side in (corpus.src, corpus.tgt)]


def copies(sights, scored):
    """The parts of a text. Cells are copied: those of the next part are written over them."""
    return [
        (start, stop, [replace(shard, cells=shard.cells.copy()) for shard in shards])
        for start, stop, shards in in_shards(sights, 1, scored=scored)
    ]


@given(corpus=corpora, n_threads=st.sampled_from([1, 3]), block=st.sampled_from([1, 4, 1 << 20]))
def test_numbers_equal_slow_twin(corpus, n_threads, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aligner.text.cells.BLOCK_CELLS", block)
        seen = Seen.of_own_words(corpus, "word", n_threads)
        seen.keep(len(corpus) * 25, n_threads)
    rows, pair_tgt, offsets, cells = seen.rows, seen.tgt, seen.cell_offsets, seen.cells
    found: dict[int, set[int]] = {e: set() for e in range(len(corpus.src.vocab))}
    for n in range(len(corpus)):
        src, tgt = words(corpus, n)
        for e in src:
            found[e] |= set(tgt)
    met = {e: sorted(row) for e, row in found.items()}
    assert rows[0] == 0 and np.diff(rows).tolist() == [len(row) for row in met.values()]
    assert pair_tgt.tolist() == [f for row in met.values() for f in row]
    lengths = [len(src) * len(tgt) for src, tgt in (words(corpus, n) for n in range(len(corpus)))]
    assert offsets.tolist() == np.cumsum([0, *lengths]).tolist()
    expected = [
        met[e].index(f) for n in range(len(corpus)) for e in words(corpus, n)[0] for f in words(corpus, n)[1]
    ]
    assert cells.tolist() == expected


def test_numbers_of_a_large_vocabulary_equal_slow_twin():
    """Words with few neighbours among many words have their rows sorted, not walked through."""
    random = np.random.default_rng(0)
    pairs = [
        tuple(random.integers(0, 900, random.integers(1, 9)).tolist() for _ in range(2)) for _ in range(300)
    ]
    corpus = corpus_of(*pairs)
    seen = Seen.of_own_words(corpus, "word", 2)
    seen.keep(1 << 20, 2)
    rows, pair_tgt, cells = seen.rows, seen.tgt, seen.cells
    met: dict[int, set[int]] = {e: set() for e in range(len(corpus.src.vocab))}
    for src, tgt in pairs:
        for e in src:
            met[e] |= set(tgt)
    assert max(map(len, met.values())) * 16 < len(corpus.tgt.vocab)
    assert pair_tgt.tolist() == [f for row in met.values() for f in sorted(row)]
    assert cells.tolist() == [sorted(met[e]).index(f) for src, tgt in pairs for e in src for f in tgt]
    assert rows[-1] == len(pair_tgt)


@given(corpus=corpora, other=corpora, n_threads=st.sampled_from([1, 3]), skipped=st.integers(0, 3))
def test_cells_of_other_text(corpus, other, n_threads, skipped):
    """Offsets may begin after 0: tokens before are not looked at, and cells before are left as they are."""
    rows, pair_tgt = number_pairs(corpus, 1)
    places = [
        dict(zip(pair_tgt[a:b].tolist(), range(b - a), strict=True))
        for a, b in zip(rows, rows[1:], strict=False)
    ]
    src_ids = np.where(other.src.ids < len(places), other.src.ids, -1).astype(np.int32)
    tgt_ids = np.where(other.tgt.ids < len(corpus.tgt.vocab), other.tgt.ids, -1).astype(np.int32)
    offsets = cell_offsets(other) + skipped
    cells = np.full(offsets[-1], -7, np.int32)
    before = np.full(skipped, 1 << 20, np.int32)  # no words
    src_ids, tgt_ids = (np.concatenate([before, ids]) for ids in (src_ids, tgt_ids))
    text = src_ids, other.src.offsets + skipped, tgt_ids, other.tgt.offsets + skipped
    find_cells(*text, offsets, rows, pair_tgt, cells, n_threads)
    expected = [
        places[e].get(f, -1) if e < len(places) else -1
        for n in range(len(other))
        for e in words(other, n)[0]
        for f in words(other, n)[1]
    ]
    assert cells.tolist() == [-7] * skipped + expected


def test_cells_are_looked_up_in_parts(monkeypatch):
    """Parts have about as many cells as there are word pairs, or more."""
    corpus = corpus_of(*np.random.default_rng(0).integers(0, 3, (40, 2, 4)).tolist())
    seen = Seen.of_own_words(corpus, "word", 2)
    expected = seen.shard(3, 37, 2).cells
    calls = []
    monkeypatch.setattr("aligner.text.cells.SHARD_CELLS", 1)
    monkeypatch.setattr(
        "aligner.text.cells._cells.find_cells", lambda *x: (calls.append(len(x[1]) - 1), find_cells(*x))
    )
    assert seen.shard(3, 37, 2).cells.tolist() == expected.tolist()
    assert len(seen.tgt) == 9 and sum(calls) == 34 and len(calls) > 10  # a sentence pair has 16 cells


@pytest.mark.parametrize("n_others", [0, 1000])
def test_cells_of_rows_of_every_length(n_others):
    """Word e stands beside the first e odd target words. The text asks for all words and for unknown ones.

    In a lexicon with many other words, rows are searched by bisection, else they are gone through.
    """
    n = 70
    rows = np.cumsum([0, *range(n), *[0] * n_others])
    pair_tgt = np.concatenate([2 * np.arange(e, dtype=np.int32) + 1 for e in range(n)])
    src, tgt = np.arange(-1, n, dtype=np.int32), np.arange(-1, 2 * n, dtype=np.int32)
    cells = np.empty(len(src) * len(tgt), dtype=np.int32)
    ends = (np.array([0, size]) for size in (len(src), len(tgt), len(cells)))
    src_offsets, tgt_offsets, offsets = ends
    find_cells(src, src_offsets, tgt, tgt_offsets, offsets, rows, pair_tgt, cells, 1)
    expected = [[f // 2 if f % 2 and 0 <= f // 2 < e else -1 for f in tgt.tolist()] for e in src.tolist()]
    assert cells.reshape(len(src), len(tgt)).tolist() == expected


def test_cells_of_long_rows_and_of_a_few_tokens():
    """A long row is searched, not gone through; so are all rows of a few tokens of a large lexicon."""
    corpus = corpus_of(([0], list(range(900))), *(([n], [n, n + 1]) for n in range(1, 60)))
    rows, pair_tgt = number_pairs(corpus, 1)
    for n_others in (0, 20):  # of few tokens, and of many: the lexicon has 60 source words
        text = corpus_of(([0, 5], [899, 3, 6, 5]), *(([n], [n + 1]) for n in range(1, n_others)))
        offsets = cell_offsets(text)
        cells = np.full(offsets[-1], -7, np.int32)
        ids = text.src.ids, text.src.offsets, text.tgt.ids, text.tgt.offsets
        find_cells(*ids, offsets, rows, pair_tgt, cells, 2)
        assert cells[:8].tolist() == [899, 3, 6, 5, -1, -1, 1, 0]
        assert cells[8:].tolist() == [1] * max(0, n_others - 1)


@given(
    corpus=corpora,
    other=corpora,
    n_cells=st.integers(1, 30),
    scored=st.booleans(),
    room=st.integers(0, 100),
)
def test_shards_are_the_whole_text(corpus, other, n_cells, scored, room):
    """Of all views alike. Kept cells and looked-up ones are equal, shard by shard; so are the words."""
    own = Seen.of_own_words(corpus, "word", 1)
    own.keep(room, 1)
    assert len(own.cells) <= room and len(own.cells) in own.cell_offsets
    assert room < own.n_cells or len(own.cells) == own.n_cells
    vocabs = own.text.src.vocab, own.text.tgt.vocab
    found = Seen.of_known_words(corpus, "word", *vocabs, own.rows, own.tgt)
    again = Seen.of_known_words(other, "word", *vocabs, own.rows, own.tgt)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aligner.text.cells.LARGEST", 2 * n_cells)
        patch.setattr("aligner.text.cells.SCORED_CELLS", n_cells)
        both, alone = copies([own, found], scored), copies([again], scored)
    offsets = cell_offsets(other)
    expected = cut(offsets, 2 * n_cells)
    if scored:
        inside = [cut(offsets[a : b + 1] - offsets[a], n_cells) for a, b in expected]
        parts = zip(expected, inside, strict=True)
        expected = [(start + a, start + b) for (start, _), found in parts for a, b in found]
    assert [(a, b) for a, b, _ in alone] == expected
    for text, n_views, parts in ((corpus, 2, both), (other, 1, alone)):
        starts = np.cumsum([0, *(len(x) for _, _, (x, *_) in parts)]).tolist()
        assert [start for start, _, _ in parts] == starts[:-1] and starts[-1] == len(text)
        assert [stop for _, stop, _ in parts] == starts[1:]
        assert all(len(shards) == n_views for _, _, shards in parts)
        for k in range(n_views):
            assert sum(shards[k].n_cells for _, _, shards in parts) == cell_offsets(text)[-1]
    for _, _, (a, b) in both:
        assert a.cells.tolist() == b.cells.tolist()
        assert a.cell_offsets.tolist() == b.cell_offsets.tolist()
        assert a.src_ids.tolist() == b.src_ids.tolist() and a.tgt_ids.tolist() == b.tgt_ids.tolist()


@pytest.mark.parametrize(
    "n_cells, expected", [(0, 1 << 24), (1 << 30, 1 << 24), (1 << 31, 1 << 25), (1 << 50, 1 << 27)]
)
def test_a_large_text_has_few_shards_but_none_too_large(n_cells, expected):
    assert shard_cells(n_cells) == expected


@given(lengths=st.lists(st.integers(0, 9), max_size=30), n_cells=st.integers(1, 40))
def test_parts_are_of_about_the_size_that_is_asked_for(lengths, n_cells):
    """They have all sentence pairs in order; none is larger by more than the pair that ends it."""
    offsets = np.cumsum([0, *lengths], dtype=np.int64)
    parts = cut(offsets, n_cells)
    assert [n for a, b in parts for n in range(a, b)] == list(range(len(lengths)))
    for start, stop in parts:
        assert start < stop
        assert offsets[stop] - offsets[start] < n_cells + max(lengths)


@given(
    lists=st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=3), max_size=6),
    data=st.data(),
)
def test_parts_and_selections_of_known_links(lists, data):
    flat = [link for links in lists for link in links]
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    src, tgt = (np.array([link[k] for link in flat], dtype=np.int32) for k in range(2))
    known = Known(Weights(offsets, src, tgt, np.arange(len(flat), dtype=np.float32)))

    def listed(known):
        known = known.weights
        links = list(zip(known.src.tolist(), known.tgt.tolist(), known.weight.tolist(), strict=True))
        return [links[a:b] for a, b in zip(known.offsets, known.offsets[1:], strict=False)]

    whole = listed(known)
    assert [[link[:2] for link in links] for links in whole] == lists
    start = data.draw(st.integers(0, len(lists)))
    stop = data.draw(st.integers(start, len(lists)))
    assert listed(known.part(start, stop)) == whole[start:stop]
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=len(lists), max_size=len(lists))), dtype=bool)
    assert listed(known.select(keep)) == [links for links, kept in zip(whole, keep, strict=True) if kept]

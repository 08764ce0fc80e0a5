"""Shares: packed, counted and found again, against slow twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from leaving import MOST, Recounted, left_problems, packed, random_left, unpacked, whole_numbers
from problems import HMM, how_of
from strategies import sentences
from trained import generated

from aligner import Corpus, Recipe, train
from aligner.models import _shares, hmm
from aligner.models.counts import Counts
from aligner.models.jumps import Jumps
from aligner.models.lexicon import Lexicon
from aligner.models.parameters import Parameters
from aligner.models.shares import CUTOFF, Shares
from aligner.text.cells import Seen
from aligner.text.corpus import pair_keys

LEAST = 1 / MOST


def longs(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@settings(max_examples=60)
@given(
    problem=left_problems(),
    cutoff=st.sampled_from([CUTOFF, LEAST, 0.3, 0.9999]),
    n_threads=st.integers(1, 3),
)
def test_packed_links_equal_slow_twin_and_can_be_undone(problem, cutoff, n_threads):
    """Cells of no more than the cutoff are dropped, all others are kept."""
    shards = [seen.shard(0, len(problem), 1) for seen in problem.seen]
    lexicons = [problem.lexicon(v, seen, np.float32) for v, seen in enumerate(problem.seen)]
    rest = shards, lexicons, problem.positions, how_of(HMM), problem.own
    fwd, rev = (np.zeros(shards[0].n_cells, np.float32) for _ in range(2))
    hmm._hmm.posteriors(*rest, False, 1.0, fwd, rev, None, 1)
    statistics = np.empty((len(problem), len(hmm._hmm.STATISTICS)))
    starts, entries = hmm._hmm.expect_links(*rest, cutoff, None, statistics, n_threads)
    assert (starts.dtype, entries.dtype) == (np.int64, np.uint32) and starts[0] == 0
    assert starts[-1] == len(entries)
    values, offsets = whole_numbers(fwd, rev, cutoff), shards[0].cell_offsets
    for k, (a, b) in enumerate(zip(offsets[:-1], offsets[1:], strict=True)):
        own = entries[starts[k] : starts[k + 1]]
        assert own.tolist() == packed(values[a:b])
        found = unpacked(own, b - a)
        np.testing.assert_array_equal(found, values[a:b])
        q = ((fwd + rev) / 2)[a:b]
        np.testing.assert_allclose(
            found / MOST, np.where(q > np.float32(cutoff), q, 0), rtol=0, atol=0.51 / MOST
        )


@pytest.mark.parametrize("gap", [65534, 65535, 65536, 65537, 131070, 131071])
def test_cells_far_apart_have_fillers_between_them(gap):
    """A distance of 65535 is the largest; fillers have no links. The first distance is from cell 0."""
    for chosen in ([0, gap, gap + 1], [gap, gap + 1]):
        J = gap + 9
        corpus = Corpus.from_pairs([(["a"], ["x" if j in chosen else "y" for j in range(J)])])
        seen = Seen.of_own_words(corpus, "word", 1)
        x = corpus.tgt.vocab.find(["x"])
        t, null = np.zeros((2, 2), np.float32), np.ones(2, np.float32)
        t[seen.tgt == x], null[x] = 1, 0
        lexicon = Lexicon(seen.rows, seen.tgt, t, null, np.zeros(1, np.float32))
        shard, statistics = seen.shard(0, 1, 1), np.empty((1, len(hmm._hmm.STATISTICS)))
        starts, entries = hmm._hmm.expect_links(
            [shard], [lexicon], Jumps.even(1, 0.5), how_of(HMM), None, CUTOFF, None, statistics, 1
        )
        assert starts.tolist() == [0, len(entries)]
        fillers = sum((b - a - 1) // MOST for a, b in zip([0, *chosen], chosen, strict=False) if b > a)
        assert len(entries) == len(chosen) + fillers and (entries & MOST == 0).sum() == fillers
        found = unpacked(entries, J)
        assert np.flatnonzero(found).tolist() == chosen
        assert entries.tolist() == packed(found) and found[chosen].min() > MOST / 2


def test_the_last_sentence_pairs_may_have_no_entries():
    """Their place is behind the last entry."""
    corpus = Corpus.from_pairs([("a b", "x y"), ("q", ""), ("", "")])
    seen = Seen.of_own_words(corpus, "word", 1)
    starts, entries = hmm._hmm.expect_links(
        [seen.shard(0, 3, 1)], [Lexicon.even(seen)], Jumps.even(1, 0.5), how_of(HMM), None, CUTOFF, None,
        np.empty((3, len(hmm._hmm.STATISTICS))), 2,
    )  # fmt: skip
    assert starts.tolist() == [0, 4, 4, 4] and len(entries) == 4


def test_fillers_are_counted_as_nothing():
    """A source word so many times that its cells are more than 65535 apart."""
    I, J = 2, 70_000
    corpus = Corpus.from_pairs([(["a"] * I, [f"x{j}" for j in range(J)])])
    problem, counts = counted_of(corpus, {(0, 3): 1.0, (1, 5): 0.25})
    row = {int(f): int(c) for f, c in zip(problem.tgt, counts.pairs[:, 0], strict=True)}
    ids = corpus.tgt.vocab.find(["x3", "x5", "x4"]).tolist()
    assert row[ids[0]] == 1 << 32 and row[ids[2]] == 0
    assert abs(row[ids[1]] / 2**32 - 0.25) < LEAST and (counts.pairs > 0).sum() == 2
    assert abs(counts.null_rev[0] / 2**32 - 0.75) < LEAST
    assert counts.null_fwd[ids[0]] == 0 and counts.null_fwd[ids[2]] == 1 << 32


def counted_of(corpus: Corpus, links: dict) -> tuple:
    """The lexicon of a corpus of one sentence pair, and the counts of its links."""
    seen = Seen.of_own_words(corpus, "word", 1)
    shard, m = seen.shard(0, 1, 1), Lexicon.even(seen)
    values = np.zeros(shard.n_cells, dtype=np.int64)
    for (i, j), x in links.items():
        values[i * int(corpus.tgt.lengths[0]) + j] = round(x * MOST)
    entries = np.array(packed(values), dtype=np.uint32)
    counts = Counts.zero(Parameters(m), shared=True)
    _shares.count(shard, m, longs(0, len(entries)), entries, counts, 1)
    return m, counts


def slow_counts(problem, seen) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts of whole numbers of 2^-32: each cell and each token is rounded by itself."""
    pairs = np.zeros(len(seen.tgt), dtype=np.int64)
    null_fwd = np.zeros(len(seen.text.tgt.vocab), dtype=np.int64)
    null_rev = np.zeros(len(seen.text.src.vocab), dtype=np.int64)
    for (src, tgt), values in zip(problem.views[0], problem.values, strict=True):
        if not src or not tgt:
            continue
        links = [0.0] * len(src), [0.0] * len(tgt)
        for i, e in enumerate(src):
            for j, f in enumerate(tgt):
                q = int(values[i, j]) / MOST
                row = seen.tgt[seen.rows[e] : seen.rows[e + 1]].tolist()
                pairs[seen.rows[e] + row.index(f)] += int(q * 2**32 + 0.5)
                links[0][i] += q
                links[1][j] += q
        for words, sums, null in ((src, links[0], null_rev), (tgt, links[1], null_fwd)):
            for w, x in zip(words, sums, strict=True):
                null[w] += int(max(0.0, 1 - x) * 2**32 + 0.5)
    return pairs, null_fwd, null_rev


@settings(max_examples=60)
@given(problem=left_problems(n_views=1))
def test_counts_equal_slow_twin(problem):
    assert_counts(problem, [(0, len(problem))], 1)
    (seen,) = problem.seen
    found = Recounted.of(problem.views[0], problem.shares, [1.0] * len(problem))
    pairs = slow_counts(problem, seen)[0]
    np.testing.assert_allclose(pairs.sum() / 2**32, sum(found.links.values()), rtol=1e-6, atol=1e-8)


def assert_counts(problem, parts: list, n_threads: int) -> None:
    """The counts of all parts, added one after another, are those of the slow twin to the last bit."""
    (seen,) = problem.seen
    m, own = problem.lexicon(0, seen, np.float32), problem.own
    offsets = np.append(own.start, own.stop[-1])
    counts = Counts.zero(Parameters(m), shared=True)
    for start, stop in parts:
        shard = seen.shard(start, stop, 1)
        _shares.count(shard, m, offsets[start : stop + 1], own.entries, counts, n_threads)
    found = counts.pairs[:, 0], counts.null_fwd, counts.null_rev
    for ours, theirs in zip(found, slow_counts(problem, seen), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_shards_and_threads_change_no_bit(n_threads):
    """More sentence pairs than a thread takes at a time, and more word pairs than it has sums under way."""
    lengths = [(5, 17), (0, 3), (12, 9), (1, 1), (4, 0), (7, 8), (20, 3)] * 60
    problem = random_left(np.random.default_rng(0), lengths, n_words=60)
    cuts = [0, 3, 4, 10, 50, 420]
    parts = list(zip(cuts[:-1], cuts[1:], strict=True))
    for order in ([(0, 420)], parts[::-1], [parts[k] for k in (2, 0, 4, 1, 3)]):
        assert_counts(problem, order, n_threads)
    own, order = problem.own, np.random.default_rng(1).permutation(420)
    starts, entries = _shares.gather(np.append(own.start, own.stop[-1]), own.entries, order, n_threads)
    for n, k in enumerate(order):
        np.testing.assert_array_equal(
            entries[starts[n] : starts[n + 1]], own.entries[own.start[k] : own.stop[k]]
        )


def test_wrong_shares_are_refused():
    problem = random_left(np.random.default_rng(0), [(3, 5), (4, 2)])
    (seen,) = problem.seen
    shard, m, own = seen.shard(0, 2, 1), problem.lexicon(0, seen, np.float32), problem.own
    starts = np.append(own.start, own.stop[-1])
    counts = Counts.zero(Parameters(m), shared=True)
    _shares.count(shard, m, starts, own.entries, counts, 1)
    blank = replace(shard, src_ids=np.full_like(shard.src_ids, -1))
    two = Counts.zero(Parameters(m))
    few = replace(counts, null_fwd=counts.null_fwd[:-1])
    for changed in (
        (shard, m, starts[:-1], own.entries, counts, 1),
        (shard, m, starts, own.entries[:-1], counts, 1),
        (shard, m, starts - 1, own.entries, counts, 1),
        (shard, m, starts, own.entries, two, 1),
        (shard, m, starts, own.entries, few, 1),
        (shard, m, starts, own.entries, counts, 0),
        (blank, m, starts, own.entries, counts, 1),
    ):
        with pytest.raises(ValueError):
            _shares.count(*changed)


def text(*pairs: tuple[str, str]) -> Corpus:
    return Corpus.from_pairs(pairs)


A, B, C, D, NONE = ("a b", "x"), ("b a", "x y"), ("c", "x x x"), ("a b", "x z"), ("", "")


def shares_of(corpus: Corpus) -> Shares:
    """Shares that tell which sentence pair they are of: pair n has as many entries as it has cells."""
    cells = corpus.src.lengths * corpus.tgt.lengths
    keys = pair_keys(corpus)
    parts = []
    for n in range(0, len(corpus), 2):  # two sentence pairs a shard
        own = [
            np.full(int(cells[m]), int(keys[m] % MOST), np.uint32) for m in range(n, min(n + 2, len(corpus)))
        ]
        parts.append((np.cumsum([0, *map(len, own)], dtype=np.int64), np.concatenate(own)))
    return Shares.joined(pair_keys(corpus), parts)


def entries_of(own, n: int) -> list[int] | None:
    return None if own.start[n] == -1 else own.entries[own.start[n] : own.stop[n]].tolist()


def test_shares_are_found_by_what_a_sentence_pair_says():
    """In a text of another order, with other numbers of words, duplicates and unknown sentence pairs."""
    trained = text(B, A, NONE, C, A, B, B)
    shares = shares_of(trained)
    whole, found = shares.of_all(0.5), shares.sorted()
    assert whole.left_out == 0.5 and len(whole.start) == 7
    assert [len(entries_of(whole, n)) for n in range(7)] == [4, 2, 0, 3, 2, 4, 4]
    assert len(found.keys) == 4 and (np.diff(found.keys.astype(object)) > 0).all()
    assert len(found.entries) == 9 and found.offsets[0] == 0 and found.offsets[-1] == 9
    other = text(C, D, A, NONE, B, C, ("x", "a b"), ("x", ""))
    own = found.of(other, 0.25)
    assert own.left_out == 0.25
    expected = [entries_of(whole, n) for n in (3, 1, 2, 0)]
    c, a, none, b = expected
    assert [entries_of(own, n) for n in range(8)] == [c, None, a, none, b, c, None, None]
    part = own.part(2, 5)
    assert [entries_of(part, n) for n in range(3)] == [a, none, b] and part.left_out == 0.25
    again = found.of(trained, 1.0)
    assert [entries_of(again, n) for n in range(7)] == [entries_of(whole, n) for n in range(7)]


def test_shares_of_nothing():
    nothing = Shares.joined(pair_keys(text()), []).sorted()
    assert len(nothing.keys) == len(nothing.entries) == 0 and nothing.offsets.tolist() == [0]
    assert nothing.of(text(A, NONE), 1.0).start.tolist() == [-1, -1]
    some = shares_of(text(A)).sorted()
    assert len(some.of(text(), 1.0).start) == 0


def test_keys_are_of_words_their_order_and_their_sides():
    distinct = [
        ("a b", "x y"), ("b a", "x y"), ("a b", "y x"), ("x y", "a b"), ("a", "b x y"), ("a b x", "y"),
        ("a b x y", ""), ("", "a b x y"), ("ab", "x y"), ("a b", "xy"), ("a a b", "x y"), ("a b", "x y y"),
        ("a", "a"), ("a a", "a"), ("a", "a a"), ("", "a"), ("a", ""), ("", ""),
    ]  # fmt: skip
    keys = pair_keys(text(*distinct))
    assert keys.dtype == np.uint64 and len(set(keys.tolist())) == len(distinct)
    turned = pair_keys(text(*distinct[::-1], *distinct))
    np.testing.assert_array_equal(turned, np.concatenate([keys[::-1], keys]))
    for n in range(len(distinct)):
        np.testing.assert_array_equal(pair_keys(text(*distinct).part(n, n + 1)), keys[n : n + 1])


@settings(max_examples=50)
@given(pairs=st.lists(st.tuples(sentences, sentences), max_size=6))
def test_equal_keys_are_of_equal_sentence_pairs(pairs):
    keys = pair_keys(Corpus.from_pairs(pairs)).tolist()
    for n, key in enumerate(keys):
        for m, other in enumerate(keys):
            assert (key == other) == (pairs[n] == pairs[m])


def test_shares_of_a_text_are_small():
    """Few cells of a sentence pair have expected links: not many bytes a token, on both sides together."""
    corpus = generated().part(0, 500)
    n_cells = int((corpus.src.lengths * corpus.tgt.lengths).sum())
    n_tokens = len(corpus.src.ids) + len(corpus.tgt.ids)
    shares = train(corpus, Recipe.of("loo")).shares
    assert 0 < shares.entries.nbytes < 8 * n_tokens
    assert len(shares.entries) < n_cells / 4 and len(shares.offsets) == len(shares.keys) + 1
    assert ((shares.entries & MOST) > 0).all()  # no sentence pair is long enough for fillers
    links = (shares.entries & MOST).sum() / MOST
    assert 0.6 < links / (n_tokens / 2) < 1.1

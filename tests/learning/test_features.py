"""Features of candidates: surroundings, spelling, what lexicons say and all of them, against slow twins."""

from __future__ import annotations

from dataclasses import replace

import described
import numpy as np
import pytest
from described import Pair, candidates_of, corpus_of
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled import random_candidates, scores_in
from leaving import Left, Recounted, left_problems, random_left
from problems import corpus_of as corpus_of_ids
from problems import problem_of
from trained import SRC, TGT, recipe_of

from aligner import Corpus, Model, read_corpus, train
from aligner.decoding.posteriors import blocks
from aligner.learning import _surroundings, _tables
from aligner.learning.candidates import LEAST, Candidates, candidates
from aligner.learning.features import features, names
from aligner.learning.spelling import NAMES as SPELLING
from aligner.learning.spelling import Spelling
from aligner.text import _spelling
from aligner.text.spelling import letters

WORDS = ["a", "b", "ab", "été", "e\u0301te\u0301", "\u0301", "\u00a0", "12", "1b", ",", "...", "gouvernement"]
WORDS += ["government", "\u4e00\u4e8c", "aeiou", "nnn"]
SHARES = st.integers(0, 64).map(lambda x: x / 64)  # exact in single precision, and so are their means
SIZES = st.sampled_from([(1, 1), (1, 4), (5, 1), (2, 3), (4, 4), (0, 2), (3, 0), (0, 0)])


@st.composite
def described_pairs(draw) -> list[Pair]:
    """Some sentence pairs, some of them without words on a side, or without candidates."""
    views = draw(st.sampled_from([["word"], ["word", "prefix3"]]))
    pairs = []
    for _ in range(draw(st.integers(1, 3))):
        I, J = draw(SIZES)
        src, tgt = (draw(st.lists(st.sampled_from(WORDS), min_size=n, max_size=n)) for n in (I, J))
        cells = [(i, j) for i in range(I) for j in range(J) if draw(st.integers(0, 3))]
        posteriors = {cell: tuple(draw(SHARES) for _ in range(4)) for cell in cells}
        tables = {
            view: {cell: tuple(draw(SHARES) * scale for scale in (1, 1, 9, 99, 0)) for cell in cells}
            for view in views
        }
        pairs.append(Pair(src, tgt, posteriors, tables))
    return pairs


@given(described_pairs())
@settings(max_examples=50)
def test_features_equal_slow_twin(pairs):
    views = list(pairs[0].tables)
    these = candidates_of(pairs)
    found = features(these, Spelling(corpus_of(pairs)), 1)
    expected = [described.features(pair, cell) for pair in pairs for cell in sorted(pair.posteriors)]
    assert found.shape == (len(names(views)), len(expected)) and found.dtype == np.float32
    for name, row in zip(names(views), found, strict=True):
        truth = [one[name] for one in expected]
        np.testing.assert_allclose(row, truth, rtol=1e-4, atol=1e-3, err_msg=name)
    np.testing.assert_array_equal(features(these, Spelling(corpus_of(pairs)), 3), found)


def test_features_have_different_names():
    assert len(set(names(["word", "prefix3"]))) == len(names(["word", "prefix3"]))


def test_no_candidates_have_no_features():
    for pairs in ([], [Pair([], ["a"], {}, {"word": {}})], [Pair(["a"], ["a"], {}, {"word": {}})]):
        these = candidates_of(pairs)
        if not pairs:
            these = Candidates(**{**vars(these), "tables": np.empty((1, 5, 0), np.float32)})
        assert features(these, Spelling(corpus_of(pairs)), 2).shape == (len(names(["word"])), 0)


def test_parts_have_the_features_of_the_whole():
    """Of sentence pairs that are cut, joined or selected."""
    random = np.random.default_rng(1)
    pairs = []
    for _ in range(9):
        I, J = random.integers(0, 6, 2).tolist()
        src, tgt = ([WORDS[k] for k in random.integers(0, len(WORDS), size)] for size in (I, J))
        cells = [(i, j) for i in range(I) for j in range(J) if random.random() < 0.6]
        posteriors = {cell: tuple(random.random(4).tolist()) for cell in cells}
        pairs.append(Pair(src, tgt, posteriors, {"word": {x: tuple(random.random(5)) for x in cells}}))
    these, spelling = candidates_of(pairs), Spelling(corpus_of(pairs))
    whole = features(these, spelling, 1)
    parts = [these.part(0, 2), these.part(2, 2), these.part(2, 7), these.part(7, 9)]
    np.testing.assert_array_equal(np.hstack([features(x, spelling, 1) for x in parts]), whole)
    which = np.arange(9) % 2 == 0
    inside = which[these.sentences]
    chosen = these.select(which)
    np.testing.assert_array_equal(features(chosen, spelling, 1), whole[:, inside])
    np.testing.assert_array_equal(chosen.cells, these.cells[inside])
    alone = [candidates_of([pair]) for pair in pairs]
    joined = Candidates.joined(alone)
    for name in ("offsets", "src", "tgt", "cells", "lengths", "posteriors", "tables", "repeats"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(these, name), err_msg=name)


# Surroundings


@given(st.integers(0, 10**6), st.floats(0, 1), st.sampled_from([2, 5, 1000]))
@settings(max_examples=50)
def test_surroundings_equal_slow_twin(seed, density, values):
    """Of a few values many are equal."""
    random = np.random.default_rng(seed)
    shapes = [(1, 1), (1, 7), (6, 1), (3, 5), (0, 3), (5, 4)]
    (offsets, src, tgt), s = random_candidates(random, shapes, density, low=0.0)
    s = (np.round(s * values) / values).astype(np.float32)
    found = _surroundings.surroundings(offsets, src, tgt, s, 1)
    for n in range(len(shapes)):
        a, b = offsets[n], offsets[n + 1]
        grid = scores_in((offsets, src[a:b], tgt[a:b]), s[a:b])
        truth = np.array([described.surroundings(grid, cell) for cell in grid]).reshape(b - a, len(found))
        np.testing.assert_allclose(found[:, a:b].T, truth, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(_surroundings.surroundings(offsets, src, tgt, s, 4), found)


@pytest.mark.parametrize(
    "change",
    [
        {"offsets": [0, 2]},
        {"offsets": [0, 4]},
        {"offsets": [1, 3]},
        {"src": [0, 0]},
        {"src": [0, -1, 1]},
        {"tgt": [0, -1, 0]},
        {"tgt": [0, 0, 0]},
        {"tgt": [1, 0, 0]},
        {"src": [0, 1, 0]},
        {"values": [0, 0.5, -0.1]},
        {"values": [0, 0.5, np.nan]},
        {"values": [0, 0.5, np.inf]},
        {"n_threads": 0},
    ],
)
def test_what_leads_out_of_a_grid_is_refused(change):
    good = {"offsets": [0, 3], "src": [0, 0, 1], "tgt": [0, 1, 0], "values": [0, 0.5, 1], "n_threads": 1}
    types = {"offsets": np.int64, "src": np.int32, "tgt": np.int32, "values": np.float32}

    def call(x):
        arrays = [np.array(x[name], dtype=dtype) for name, dtype in types.items()]
        return _surroundings.surroundings(*arrays, x["n_threads"])

    assert call(good).shape == (len(_surroundings.NAMES), 3)
    with pytest.raises(ValueError):
        call(good | change)


# Spelling


@given(st.lists(st.tuples(*[st.text(alphabet="abcé\u0301界1,", min_size=1, max_size=9)] * 2), min_size=1))
@settings(max_examples=50)
def test_spelling_equals_slow_twin(pairs):
    corpus = Corpus.from_pairs([([e], [f]) for e, f in pairs])
    e, f = corpus.src.ids, corpus.tgt.ids
    truth = np.array([list(described.spelling(*pair).values()) for pair in pairs], float).T
    found = Spelling(corpus).features(e, f, 1)
    np.testing.assert_allclose(found, truth, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(Spelling(corpus).features(e, f, 4), found)
    folded = [tuple(map(described.without_accents, pair)) for pair in pairs]
    counts = _spelling.common_letters(
        *letters(corpus.src.vocab.words), *letters(corpus.tgt.vocab.words), e, f, 2
    )
    assert counts.T.tolist() == [list(described.common_letters(*pair)) for pair in folded]


def spelled(e: str, f: str) -> dict[str, float]:
    corpus = Corpus.from_pairs([([e], [f])])
    return dict(zip(SPELLING, Spelling(corpus).features(*(np.zeros(1, np.int32),) * 2, 1)[:, 0], strict=True))


def test_spelling_by_hand():
    found = spelled("gouvernement", "government")
    assert found["common letters"] == np.float32(10 / 12) and found["equal consonants"] == 1
    assert found["common beginning"] == np.float32(2 / 12) and found["equal"] == 0
    assert spelled("été", "e\u0301te\u0301")["equal"] == 1
    assert spelled("\u00a0", ",")["both signs"] == 1 and spelled("\u00a0", "a")["one a sign"] == 1
    assert spelled("\u0301", "\u0301")["equal"] == 1  # a mark alone is a word
    assert spelled("1990", "1990")["both digits"] == 1 and spelled("1990", "year")["one has digits"] == 1


def test_long_words_count_up_to_64_letters():
    """Words that are equal are alike, however long."""
    found = spelled("ab" * 100, "ab" * 100)
    assert found["common letters"] == found["common beginning"] == found["equal"] == 1
    assert spelled("a" * 70, "a" * 64)["common letters"] == 1
    assert spelled("b" + "a" * 70, "a" * 70)["common letters"] == np.float32(63 / 64)


# Lexicons


@given(left_problems())
@settings(max_examples=40)
def test_tables_of_counts_are_recounted_without_the_pair_itself(left):
    """What the emissions of a lattice are made of, of each view: counts of all other sentence pairs."""
    assert_tables(left)


def test_tables_of_longer_pairs():
    random = np.random.default_rng(3)
    assert_tables(random_left(random, [(5, 8), (1, 9), (10, 3)], n_views=2), n_threads=3)


def assert_tables(left: Left, n_threads: int = 1) -> None:
    for v, seen in enumerate(left.seen):
        shard, lexicon = seen.shard(0, len(left), 1), left.lexicon(v, seen, np.float32)
        cells = [(n, i, j) for n, q in enumerate(left.values) for i, j in np.ndindex(q.shape)]
        counts = np.bincount([cell[0] for cell in cells], minlength=len(left)) if cells else [0] * len(left)
        offsets = np.cumsum([0, *counts])
        src, tgt = (np.array([cell[k] for cell in cells], np.int32) for k in (1, 2))
        found = _tables.tables(shard, lexicon, left.own, offsets, src, tgt, n_threads)
        truth = np.array([recounted(left, v, *cell, 1 - left.left_out) for cell in cells]).reshape(-1, 5).T
        np.testing.assert_allclose(found, truth, rtol=2e-4, atol=2e-4)
        plain = _tables.tables(shard, lexicon, None, offsets, src, tgt, n_threads)
        whole = np.array([recounted(left, v, *cell, 1.0) for cell in cells]).reshape(-1, 5).T
        np.testing.assert_allclose(plain, whole, rtol=2e-4, atol=2e-4)


def recounted(left: Left, v: int, n: int, i: int, j: int, own: float) -> list[float]:
    """The five numbers of cell (i, j) of sentence pair n, which itself counts for `own`."""
    pairs = left.views[v]
    e, f = pairs[n][0][i], pairs[n][1][j]
    whole = Recounted.of(pairs, left.shares, [1.0] * len(left))
    others = Recounted.of(pairs, left.shares, [own if m == n else 1.0 for m in range(len(left))])
    links = sum(whole.links.values())
    many = [
        links / whole.sum("many", side) * others.many[side, word] + left.alpha
        for side, word in (("src", e), ("tgt", f))
    ]
    count = others.links[e, f] + left.alpha / whole.words("tgt") if whole.links[e, f] else 0.0
    return [count / many[0], count / many[1], count, *many]


def test_a_lexicon_without_evidence_has_no_counts():
    random = np.random.default_rng(1)
    text = corpus_of_ids(([0, 1], [0, 0, 1]), ([1], []))
    problem = problem_of(text, 1, 0.2, lambda *shape: random.random(shape))
    lexicon = replace(problem.m.lexicon, t=problem.m.lexicon.t.astype(np.float32))
    for name in ("null_fwd", "null_rev"):
        lexicon = replace(lexicon, **{name: getattr(lexicon, name).astype(np.float32)})
    cells = [(i, j) for i in range(2) for j in range(3)]
    src, tgt = (np.array([cell[k] for cell in cells], np.int32) for k in (0, 1))
    found = _tables.tables(problem.shard, lexicon, None, np.array([0, 6, 6]), src, tgt, 2)
    words = problem.words(0)
    truth = [lexicon.t[problem.pair(words[0][i], words[1][j])] for i, j in cells]
    np.testing.assert_array_equal(found[:2].T, truth)
    assert not found[2:].any()
    for offsets, i, j in (
        ([0, 1, 1], [2], [0]),
        ([0, 1, 1], [0], [3]),
        ([0, 0, 1], [0], [0]),
        ([0, 1, 1], [-1], [0]),
    ):
        with pytest.raises(ValueError, match="outside sentence pair"):
            _tables.tables(
                problem.shard,
                lexicon,
                None,
                np.array(offsets),
                np.array(i, np.int32),
                np.array(j, np.int32),
                1,
            )
    with pytest.raises(ValueError, match="different numbers"):
        _tables.tables(problem.shard, lexicon, None, np.array([0, 6, 6]), src, tgt[:5], 1)


# Candidates of a model


def dense(model: Model, corpus: Corpus) -> tuple[np.ndarray, np.ndarray]:
    """[2, n_cells] posteriors of a text, projected and not, as `decode` has them."""
    blocks = list(directions_of(model, corpus, "trained")), list(directions_of(model, corpus, "none"))
    return tuple(np.concatenate(x, axis=1) for x in blocks)


def directions_of(model: Model, corpus: Corpus, project: str):
    found = blocks(model.views, model.recipe, corpus, shares=model.shares, project=project)
    return (np.stack(block.scores) for block in found)


@pytest.mark.parametrize("name", ["loo", "shmm", "bhmm", "hmm", "ibm1", "agree", "diagonal"])
def test_candidates_are_the_likely_cells(name):
    """Posteriors before projection are those of decoding without projection; unknown words have no counts."""
    corpus = read_corpus(str(SRC), str(TGT))
    model = train(
        corpus.part(0, 40), recipe_of(name, iterations=2, ibm1_iterations=2, views=["word", "prefix2"])
    )
    text = Corpus.from_pairs(
        [
            *((corpus.src.sentence(n), corpus.tgt.sentence(n)) for n in range(38, 44)),
            ("", "le"),
            ("the", ""),
            ("the zzz", "yyy le le"),
        ]
    )
    projected, alone = dense(model, text)
    likely = (projected.sum(axis=0) > 2 * LEAST) | (alone.sum(axis=0) > 2 * LEAST)
    found = list(candidates(model, text, 1))
    these = Candidates.joined([some for _, some in found])
    np.testing.assert_array_equal(these.cells, np.flatnonzero(likely))
    np.testing.assert_allclose(these.posteriors[:2], projected[:, likely], rtol=0, atol=1e-6)
    np.testing.assert_allclose(these.posteriors[2:], alone[:, likely], rtol=0, atol=1e-6)
    lengths = np.stack([text.src.lengths, text.tgt.lengths])
    np.testing.assert_array_equal(these.lengths, lengths)
    begin = np.concatenate([[0], np.cumsum(lengths.prod(axis=0))])
    n = these.sentences
    np.testing.assert_array_equal(these.cells, begin[n] + these.src * lengths[1][n] + these.tgt)
    for k in range(len(these)):
        src, tgt = text.src.sentence(n[k]), text.tgt.sentence(n[k])
        words = text.src.vocab.words[these.e[k]], text.tgt.vocab.words[these.f[k]]
        assert words == (src[these.src[k]], tgt[these.tgt[k]])
        assert these.repeats[:, k].tolist() == [src.count(words[0]), tgt.count(words[1])]
        if words == ("zzz", "yyy"):
            assert not these.tables[:, :3, k].any()
    again = Candidates.joined([some for _, some in candidates(model, text, 3)])
    for field in vars(these):
        np.testing.assert_array_equal(getattr(again, field), getattr(these, field), err_msg=field)
    x = features(these, Spelling(text), 2)
    assert np.isfinite(x).all()

"""Lexicons and places that training begins with, taken from an earlier model."""

from __future__ import annotations

import numpy as np

from aligner import Corpus
from aligner.models.families import FAMILIES
from aligner.models.jumps import Jumps
from aligner.models.lexicon import LEAST, Evidence, Lexicon
from aligner.models.recipe import Recipe
from aligner.text.cells import Seen


def test_an_inherited_lexicon_against_dictionaries():
    """Word pairs of both texts keep their probabilities, at least LEAST; what the old one lacks has LEAST."""
    old = Seen.of_own_words(Corpus.from_pairs([("a b", "x y"), ("c", "z"), ("d b", "z w")]), "word", 1)
    new = Seen.of_own_words(Corpus.from_pairs([("e d", "w v x"), ("b a", "z y"), ("c", "w")]), "word", 1)
    random = np.random.default_rng(0)
    t, null_fwd, null_rev = (random.random(n).astype(np.float32) for n in ((len(old.tgt), 2), 4, 4))
    t[::3] = null_fwd[0] = null_rev[1] = 0  # ruled out, and possible again
    src, tgt = old.text.src.vocab, old.text.tgt.vocab

    def pairs(seen: Seen) -> list[tuple[str, str]]:
        e = np.repeat(np.arange(len(seen.text.src.vocab)), np.diff(seen.rows))
        words = seen.text.src.vocab.words, seen.text.tgt.vocab.words
        return [(words[0][k], words[1][f]) for k, f in zip(e, seen.tgt, strict=True)]

    found = Lexicon.inherited(new, Lexicon(old.rows, old.tgt, t, null_fwd, null_rev), src, tgt)
    known = dict(zip(pairs(old), t.tolist(), strict=True))
    assert 0 < len(known.keys() & set(pairs(new))) < len(pairs(new))
    least = np.float32(LEAST)
    for pair, row in zip(pairs(new), found.t, strict=True):
        np.testing.assert_array_equal(row, np.maximum(known.get(pair, (0, 0)), least).astype(np.float32))
    for vocab, words, table, row in (
        (tgt, new.text.tgt.vocab.words, null_fwd, found.null_fwd),
        (src, new.text.src.vocab.words, null_rev, found.null_rev),
    ):
        nulls = dict(zip(vocab.words, table, strict=True))
        np.testing.assert_array_equal(row, [max(nulls.get(word, 0), least) for word in words])
    assert found.rows is new.rows and found.tgt is new.tgt


def test_positions_of_an_earlier_model():
    """The HMM takes a copy of jumps of its own window, with p0 of its own; Model 1 keeps any for later."""
    old = Jumps(np.random.default_rng(0).random((2, 5)), np.ones((2, 2)), 0.3)
    assert old.window == 2

    def positions(family, before, window):
        recipe = Recipe.of("hmm", window=window, p0=0.1)
        return FAMILIES[family].positions(before, recipe.last, recipe, np.array([[1, 1]]))

    taken = positions("hmm", old, 2)
    np.testing.assert_array_equal(taken.jump, old.jump)
    np.testing.assert_array_equal(taken.first, old.first)
    assert taken.p0 == 0.1 and not np.shares_memory(taken.jump, old.jump)
    assert not np.shares_memory(taken.first, old.first)
    for before in (None, old):
        even = positions("hmm", before, 4)
        assert even.window == 4 and even.p0 == 0.1 and len(np.unique(even.jump)) == 1
        assert positions("ibm1", before, 4) is before


def test_even_start_favours_words_spelled_alike():
    """Each row sums to 1, and the word pair of equal spelling is `identical` times likelier than others."""
    seen = Seen.of_own_words(Corpus.from_pairs([("a b", "a x b"), ("b c", "x y"), ("a", "y")]), "word", 1)
    words = seen.text.src.vocab.words, seen.text.tgt.vocab.words
    pairs = [(e, f) for e in range(3) for f in seen.tgt[seen.rows[e] : seen.rows[e + 1]]]
    alike = np.array([5.0 if words[0][e] == words[1][f] else 1.0 for e, f in pairs])
    assert (alike == 5).sum() == 2
    found = Lexicon.even(seen, 5.0)
    for column in range(2):
        keys = np.array([pair[column] for pair in pairs])
        total = np.bincount(keys, weights=alike)
        np.testing.assert_allclose(found.t[:, column], alike / total[keys], rtol=1e-6)
    np.testing.assert_array_equal(
        Lexicon.even(seen).t[:, 0], np.float32(1) / np.diff(seen.rows)[[p[0] for p in pairs]]
    )
    np.testing.assert_allclose(found.null_fwd, 1 / len(words[1]), rtol=1e-6)
    np.testing.assert_allclose(found.null_rev, 1 / len(words[0]), rtol=1e-6)


def test_jumps_are_the_shares_of_their_counts():
    """At least LEAST each; a direction without counts stays as it was."""
    m = Jumps.even(3, 0.2)
    before = m.copied()
    counts = np.zeros((2, m.n_counts))
    counts[0] = [0, 1, 2, 3, 2, 0, 0, 3, 1, 0, 1, 0, 1]
    m.update(counts)
    np.testing.assert_allclose(m.jump[0], [LEAST, 1 / 8, 2 / 8, 3 / 8, 2 / 8, LEAST, LEAST], rtol=1e-12)
    np.testing.assert_allclose(m.first[0], [3 / 4, 1 / 4, LEAST], rtol=1e-12)
    np.testing.assert_allclose(m.last[0], [1 / 2, LEAST, 1 / 2], rtol=1e-12)
    np.testing.assert_array_equal(m.jump[1], before.jump[1])
    np.testing.assert_array_equal(m.first[1], before.first[1])
    np.testing.assert_array_equal(m.last[1], before.last[1])


def test_shares_of_a_lexicon_learned_from_occurrences_sum_to_one():
    """Rows keep their proportions. A lexicon without evidence stays as it is."""
    seen = Seen.of_own_words(Corpus.from_pairs([("a b", "x y"), ("c", "z"), ("d b", "z w")]), "word", 1)
    t = np.random.default_rng(0).random((len(seen.tgt), 2)).astype(np.float32)
    nulls = np.full(4, 0.25, np.float32), np.full(4, 0.25, np.float32)
    plain = Lexicon(seen.rows, seen.tgt, t, *nulls)
    assert plain.normalised() is t
    many = np.ones(4, np.float32)
    evidence = Evidence(many, many, (1.0, 1.0), (1.0, 1.0), (4, 4), 1.0)
    shares = Lexicon(seen.rows, seen.tgt, t, *nulls, evidence).normalised()
    e = np.repeat(np.arange(4), np.diff(seen.rows))
    for column, word in ((0, e), (1, seen.tgt)):
        np.testing.assert_allclose(np.bincount(word, shares[:, column]), 1, rtol=1e-6)
        ratio = shares[:, column] / t[:, column]
        for k in range(4):
            np.testing.assert_allclose(ratio[word == k], ratio[word == k][0], rtol=1e-6)
    t[e == 1] = 0  # a word that was never linked
    shares = Lexicon(seen.rows, seen.tgt, t, *nulls, evidence).normalised()
    assert (shares[e == 1] == 0).all() and (shares[e != 1, 0] > 0).all()


def test_a_pruned_lexicon_has_all_word_pairs_but_impossible_ones():
    """A word pair that is possible in one direction stays. The bits of word pairs are forgotten."""
    seen = Seen.of_own_words(Corpus.from_pairs([("a b", "x y"), ("c", "z"), ("d b", "z w")]), "word", 1)
    t = np.random.default_rng(0).random((len(seen.tgt), 2)).astype(np.float32) + 0.1
    nulls, many = np.full(4, 0.25, np.float32), np.ones(4, np.float32)
    linked = np.full((len(t) + 7) // 8, 255, np.uint8)
    evidence = Evidence(many, many, (1.0, 2.0), (0.5, 0.6), (4, 4), 1.0, linked)
    whole = Lexicon(seen.rows, seen.tgt, t, nulls, nulls, evidence)
    assert whole.pruned() is whole
    t[1], t[2, 0], t[3, 1], t[-1] = 0, 0, 0, 0
    small = whole.pruned()
    e = np.repeat(np.arange(4), np.diff(seen.rows))
    kept = [k for k in range(len(t)) if t[k].any()]
    assert len(kept) == len(t) - 2
    np.testing.assert_array_equal(np.repeat(np.arange(4), np.diff(small.rows)), e[kept])
    np.testing.assert_array_equal(small.tgt, seen.tgt[kept])
    np.testing.assert_array_equal(small.t, t[kept])
    assert small.evidence.linked is None and small.evidence.kappa == (0.5, 0.6)
    assert small.evidence.src is many and small.null_fwd is nulls

"""Pseudo-counts of earlier text: M-steps with them are those of added counts, which a slow twin adds up."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from aligner import Corpus, DataError
from aligner.models.counts import MOST_TOKENS, ONE, Counts
from aligner.models.jumps import Jumps
from aligner.models.kinds import Leaving, Limits
from aligner.models.lexicon import Lexicon
from aligner.models.parameters import Parameters
from aligner.models.pseudo import EarlierCounts, Overlap, find_pairs
from aligner.models.stage import Stage
from aligner.models.update import start_with, update
from aligner.text.cells import Seen

EARLIER = [("a b", "x y"), ("a c a", "x z"), ("g h", "v w x"), ("b g", "y")]
HERE = [("a b d", "x y"), ("c b", "z y x u"), ("d", "u"), ("b g a", "y x")]
ML = Stage("hmm", "likelihood", 1, Limits())
LOO = Stage("loo", "likelihood", 1, Limits(), leaving=Leaving(smoothing=2.0, evenness=1.0, spelling=0.0))


def seen_of(pairs: list) -> Seen:
    return Seen.of_own_words(Corpus.from_pairs(pairs), "word", 1)


def counted(seen: Seen, seed: int, shared: bool) -> Counts:
    """Any counts of a text."""
    random = np.random.default_rng(seed)
    parameters = Parameters(Lexicon.even(seen), Jumps.even(2, 0.2))
    counts = Counts.zero(parameters, shared=shared)
    for name in ("pairs", "null_fwd", "null_rev", "positions"):
        array = getattr(counts, name)
        array[...] = random.gamma(2, 0.2, array.shape) * ONE
    return counts


def words_of(seen: Seen) -> tuple[list[str], list[str]]:
    return seen.text.src.vocab.words, seen.text.tgt.vocab.words


def named(seen: Seen, counts: Counts, k: int) -> dict[tuple[str, str], float]:
    """Counts of direction k by word pairs."""
    src, tgt = words_of(seen)
    e = np.repeat(np.arange(len(src)), np.diff(seen.rows))
    values = counts.pairs[:, min(k, counts.pairs.shape[1] - 1)] / ONE
    return {(src[a], tgt[b]): float(x) for a, b, x in zip(e, seen.tgt, values, strict=True)}


def counts_of(seen: Seen, counts: Counts, occurrences: Any = None) -> EarlierCounts:
    """What a text counted. occurrences: of words; None: as many as a word has links, so that kappa is 1"""
    src, tgt = words_of(seen)
    e = np.repeat(np.arange(len(src), dtype=np.int32), np.diff(seen.rows))
    pairs = np.repeat(counts.pairs, 3 - counts.pairs.shape[1], axis=1)[:, :2] / ONE
    linked = np.bincount(e, pairs[:, 0], len(src)), np.bincount(seen.tgt, pairs[:, 1], len(tgt))
    occurrences = linked if occurrences is None else tuple(n.astype(float) for n in occurrences)
    nulls = counts.null_fwd / ONE, counts.null_rev / ONE
    return EarlierCounts(src, tgt, e, seen.tgt, pairs, occurrences, nulls)


def added(one: dict, other: dict, weight: float) -> Counter:
    both: Counter = Counter(one)
    for key, x in other.items():
        both[key] += weight * x
    return both


@pytest.mark.parametrize("weight", [1.0, 0.25, 3.0])
def test_maximum_likelihood_with_a_prior_is_that_of_added_counts(weight):
    """Also where the earlier text has words and word pairs that this text lacks."""
    earlier, here = seen_of(EARLIER), seen_of(HERE)
    old, new = counted(earlier, 1, shared=False), counted(here, 2, shared=False)
    m = Parameters(Lexicon.even(here), Jumps.even(2, 0.2))
    twins = [added(named(here, new, k), named(earlier, old, k), weight) for k in range(2)]
    jumps = new.positions / ONE + weight * old.positions / ONE
    nulls = [
        added(
            dict(zip(words_of(here)[1 - k], getattr(new, name) / ONE, strict=True)),
            dict(zip(words_of(earlier)[1 - k], getattr(old, name) / ONE, strict=True)),
            weight,
        )
        for k, name in enumerate(("null_fwd", "null_rev"))
    ]
    prior = counts_of(earlier, old).on(here, None, old.positions / ONE, weight, 1)
    update(m, new, ML, prior=prior)
    for k in range(2):
        total: dict[str, float] = defaultdict(float)
        for pair, x in twins[k].items():
            total[pair[k]] += x
        for n, pair in enumerate(named(here, new, 0)):
            assert m.lexicon.t[n, k] == pytest.approx(twins[k][pair] / total[pair[k]], rel=1e-6)
        row = (m.lexicon.null_fwd, m.lexicon.null_rev)[k]
        expected = [nulls[k][word] / sum(nulls[k].values()) for word in words_of(here)[1 - k]]
        np.testing.assert_allclose(row, expected, rtol=1e-6)
    assert isinstance(m.positions, Jumps)
    np.testing.assert_allclose(m.positions.jump, jumps[:, :5] / jumps[:, :5].sum(1, keepdims=True), rtol=1e-6)
    assert total["v"] > 0 and ("g", "x") in twins[0]  # v is lacking here; g and x stand together in both


@pytest.mark.parametrize("weight", [1.0, 0.25, 3.0])
def test_of_occurrences_with_a_prior_is_that_of_added_counts(weight):
    """t(f | e) = (c + alpha / V) / (kappa N(e) + alpha), all of them of both texts."""
    earlier, here = seen_of(EARLIER), seen_of(HERE)
    old, new = counted(earlier, 1, shared=True), counted(here, 2, shared=True)
    links = added(named(here, new, 0), named(earlier, old, 0), weight)
    m = Parameters(Lexicon.even(here), Jumps.even(2, 0.2))
    prior = counts_of(earlier, old, earlier.text.occurrences).on(here, None, None, weight, 1)
    update(m, new, LOO, here.text.occurrences, None, prior)
    alpha, N = 2.0, []
    for k in range(2):
        tokens = [Counter(word for pair in text for word in pair[k].split()) for text in (HERE, EARLIER)]
        N.append(added(tokens[0], tokens[1], weight))
    for k in range(2):
        kappa = sum(links.values()) / sum(N[k].values())
        for n, pair in enumerate(named(here, new, 0)):
            expected = (links[pair] + alpha / len(N[1 - k])) / (kappa * N[k][pair[k]] + alpha)
            assert m.lexicon.t[n, k] == pytest.approx(expected, rel=1e-6)
    evidence = m.lexicon.evidence
    assert evidence is not None and evidence.words == (len(N[0]), len(N[1]))
    null = int(new.null_fwd.sum()) / ONE  # the prior was added to it
    assert (
        evidence.nulls[0] == pytest.approx(null + prior.lacking.nulls[0] + alpha)
        and prior.lacking.nulls[0] > 0
    )


def test_the_start_counts_this_text_evenly():
    """A word that the prior does not know is even, a known one is as the prior says, and both in between."""
    here = seen_of([("a", "x y"), ("b", "x y")])
    first, nine, one = np.zeros(1, np.int32), np.array([9.0]), np.array([1.0])
    taught = EarlierCounts(["a"], ["x"], first, first, np.array([[9.0, 9.0]]), (nine, nine), (one, one))
    lexicon = Lexicon.even(here)
    start_with(lexicon, here.text.occurrences, 2, taught.on(here, None, None, 1.0, 1))
    np.testing.assert_allclose(lexicon.t[:, 0], [9.5 / 10, 0.5 / 10, 0.5, 0.5], rtol=1e-6)
    np.testing.assert_allclose(lexicon.t[:, 1], [10 / 11, 0.5, 1 / 11, 0.5], rtol=1e-6)
    np.testing.assert_allclose(lexicon.null_fwd, [2 / 3, 1 / 3], rtol=1e-6)


def test_words_that_are_equal_add_up():
    """As where a view sees two words as one."""
    here = seen_of([("a b", "x"), ("b", "z")])
    pairs = np.array([[1.0, 2.0], [4.0, 8.0], [16.0, 16.0], [32.0, 32.0]])
    e, f = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    occurrences, nulls = (np.array([3.0, 5.0, 7.0, 0.0]), np.array([60.0])), (np.zeros(1), np.zeros(4))
    taught = EarlierCounts(["a", "a", "q", "q"], ["x"], e, f, pairs, occurrences, nulls)
    prior = taught.on(here, None, None, 1.0, 1)
    assert prior.place.tolist() == [0] and (prior.pairs / ONE).tolist() == [[5.0, 10.0]]
    assert prior.src.tolist() == [8.0, 0.0] and prior.lacking.occurrences == (7.0, 0.0)
    assert prior.lacking.words == (1, 0) and prior.lacking.links == (53 + 58 - 15) / 2


def test_an_overlap_is_taken_away_and_nothing_becomes_negative():
    earlier, here = seen_of(EARLIER), seen_of(EARLIER[:2] + [("b", "x")])
    old = counted(earlier, 1, shared=True)
    shared = counted(here, 3, shared=True)
    shared.pairs[:] = 0
    shared.pairs[0], shared.pairs[1] = 0.01 * ONE, 100 * ONE
    taught = counts_of(earlier, old, earlier.text.occurrences)
    whole = taught.on(here, None, None, 2.0, 1)
    less = taught.on(here, Overlap(shared, here.text.occurrences), None, 2.0, 1)
    assert whole.place[:2].tolist() == [0, 1] and less.place[0] == 0 and 1 not in less.place
    assert less.pairs[0, 0] / ONE == pytest.approx(whole.pairs[0, 0] / ONE - 0.02, rel=1e-9)
    for name in ("pairs", "rest_src", "rest_tgt", "null_fwd", "null_rev", "src", "tgt"):
        assert getattr(less, name).min() >= 0, name
    np.testing.assert_allclose(less.src, np.maximum(0, whole.src - 2 * here.text.occurrences[0]))
    assert less.lacking == whole.lacking


def test_word_pairs_are_found_as_they_are_numbered():
    here = seen_of(HERE)
    e = np.repeat(np.arange(len(here.rows) - 1, dtype=np.int32), np.diff(here.rows))
    np.testing.assert_array_equal(find_pairs(here, e, here.tgt, 2), np.arange(len(e)))
    ids = np.array([-1, 0, -1], np.int32), np.array([0, -1, -1], np.int32)
    assert find_pairs(here, *ids, 1).tolist() == [-1, -1, -1]


def test_a_text_without_words_takes_a_prior():
    earlier, here = seen_of(EARLIER), seen_of([("", "x"), ("", "")])
    prior = counts_of(earlier, counted(earlier, 1, shared=True), earlier.text.occurrences).on(
        here, None, None, 1.0, 1
    )
    assert len(prior.place) == 0 and prior.lacking.occurrences[0] == sum(earlier.text.occurrences[0])
    lexicon = Lexicon.even(here)
    start_with(lexicon, here.text.occurrences, 2, prior)
    assert lexicon.t.shape == (0, 2)


def test_counts_that_an_int64_does_not_hold_are_refused():
    earlier, here = seen_of(EARLIER), seen_of(HERE)
    taught = counts_of(earlier, counted(earlier, 1, shared=True))
    heavy = replace(taught, nulls=(taught.nulls[0] + MOST_TOKENS, taught.nulls[1]))
    for one, positions, weight in (
        (heavy, None, 1.0),
        (taught, np.full((2, 3), MOST_TOKENS / 5), 1.0),
        (taught, np.full((2, 3), 1e308), 1.0),  # the sum is infinite
        (taught, None, float(MOST_TOKENS)),
    ):
        with pytest.raises(DataError, match="more than 1000000000") as error:
            one.on(here, None, positions, weight, 1)
        assert error.value.hint == "give the prior a smaller weight"

"""Indicators of words and word pairs, against counts of words in plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aligner import Corpus
from aligner.learning import indicators
from aligner.learning.indicators import ALONE, PAIR, Indicators

WORDS = ["a", "b", "c", "\u00a0", "été"]
Pairs = list[tuple[str, str]]


def corpus_of(pairs: Pairs) -> Corpus:
    return Corpus.from_pairs([([e], [f]) for e, f in pairs])


def shown(these: Indicators) -> list[object]:
    """What each indicator is of."""
    src, tgt = these.src.words, these.tgt.words
    pairs = [(src[k // len(tgt)], tgt[k % len(tgt)]) for k in these.pairs.tolist()]
    return [*(("src", w) for w in src[: these.n_src]), *(("tgt", w) for w in tgt[: these.n_tgt]), *pairs]


def expected(pairs: Pairs, alone: int, together: int) -> set[object]:
    src, tgt = Counter(e for e, _ in pairs), Counter(f for _, f in pairs)
    found: set[object] = {("src", w) for w, n in src.items() if n >= alone}
    found |= {("tgt", w) for w, n in tgt.items() if n >= alone}
    return found | {pair for pair, n in Counter(pairs).items() if n >= together}


pairs_of_words = st.lists(st.tuples(*[st.sampled_from(WORDS)] * 2), max_size=40)


@given(pairs_of_words, pairs_of_words)
def test_indicators_of_words_that_are_there_often(pairs, others):
    """Also of another text, some of whose words are new."""
    with_few = {"alone": 4, "together": 2}
    before = indicators.ALONE, indicators.PAIR
    indicators.ALONE, indicators.PAIR = with_few.values()
    try:
        corpus = corpus_of(pairs)
        these = Indicators.of(corpus, corpus.src.ids, corpus.tgt.ids)
    finally:
        indicators.ALONE, indicators.PAIR = before
    names = shown(these)
    assert set(names) == expected(pairs, **with_few) and len(names) == len(these) == len(set(names))
    text = corpus_of([*others, ("new", "a"), ("a", "new"), ("new", "new")])
    found = these.found(these.numbers(text), text.src.ids, text.tgt.ids)
    assert found.shape == (3, len(text)) and found.dtype == np.int32
    for k, column in enumerate(found.T.tolist()):
        e, f = text.src.sentence(k)[0], text.tgt.sentence(k)[0]
        wanted = [("src", e), ("tgt", f), (e, f)]
        assert [names[n] if n >= 0 else None for n in column] == [x if x in names else None for x in wanted]


def test_how_often_is_enough():
    for n, e, f in ((ALONE, "a", "x"), (ALONE - 1, "b", "y"), (PAIR, "c", "z"), (PAIR - 1, "d", "w")):
        corpus = corpus_of([(e, f)] * n)
        found = set(shown(Indicators.of(corpus, corpus.src.ids, corpus.tgt.ids)))
        assert (("src", e) in found) == (("tgt", f) in found) == (n >= ALONE)
        assert ((e, f) in found) == (n >= PAIR)


def test_none():
    corpus = corpus_of([("a", "b")])
    for these in (Indicators.none(), Indicators.of(corpus_of([]), *(np.empty(0, np.int32),) * 2)):
        assert len(these) == 0
        found = these.found(these.numbers(corpus), corpus.src.ids, corpus.tgt.ids)
        np.testing.assert_array_equal(found, [[-1], [-1], [-1]])

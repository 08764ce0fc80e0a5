"""A census: what views see of a text's words, without its sentences."""

from __future__ import annotations

import numpy as np
import pytest
from trained import generated

from aligner import Corpus
from aligner.models.census import Census
from aligner.models.places import sizes_of
from aligner.text.views import see

PAIRS = [("Abc abd Abd", "x"), ("", "u v"), ("xy abc", "v"), ("xz", ""), ("abe", "u x v")]


@pytest.mark.parametrize("view", ["word", "prefix2", "word/suffix1", "prefix1"])
@pytest.mark.parametrize("corpus", [Corpus.of(PAIRS), generated().part(100, 200), Corpus.of([])])
def test_a_view_sees_of_words_what_it_sees_of_their_text(corpus, view):
    census, text = Census.of(corpus).seen(view), see(corpus, view)
    full = (corpus.src.lengths > 0) & (corpus.tgt.lengths > 0)
    for words, side in ((census.src, text.src), (census.tgt, text.tgt)):
        assert words.vocab.words == side.vocab.words and words.classes is None
        np.testing.assert_array_equal(words.tokens, side.counts)
    for one, other in zip(census.occurrences, see(corpus, view).occurrences, strict=True):
        assert one.dtype == np.int64
        np.testing.assert_array_equal(one, other)
    assert census.n_pairs == full.sum()
    assert census.n_generated == (corpus.tgt.lengths[full].sum(), corpus.src.lengths[full].sum())
    np.testing.assert_array_equal(census.sizes, sizes_of(corpus.src.lengths, corpus.tgt.lengths))

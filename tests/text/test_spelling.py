"""How alike words are spelled, against a slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligner import Corpus
from aligner.text import _spelling
from aligner.text.cells import Seen
from aligner.text.spelling import folded, likeness


def common(a: str, b: str) -> int:
    """The length of the longest common subsequence, by its recurrence."""
    best = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            best[i + 1][j + 1] = best[i][j] + 1 if x == y else max(best[i][j + 1], best[i + 1][j])
    return best[-1][-1]


def alike(a: str, b: str) -> int:
    """What `likeness` says of two words."""
    a, b = folded(a)[:64], folded(b)[:64]
    n, longer = common(a, b), max(len(a), len(b))
    if min(len(a), len(b)) < 3:
        return 255 if a == b else 0
    return 255 * n // longer if 2 * n >= longer else 0


WORDS = st.text(alphabet="abcé\u0301界", min_size=1, max_size=9)


@given(st.lists(WORDS, min_size=1, max_size=6), st.lists(WORDS, min_size=1, max_size=6))
def test_likeness_equals_slow_twin(src, tgt):
    seen = Seen.of_own_words(Corpus.from_pairs([(src, tgt)]), "word", 1)
    words, others = seen.text.src.vocab.words, seen.text.tgt.vocab.words
    truth = [
        alike(words[e], others[f])
        for e in range(len(words))
        for f in seen.tgt[seen.rows[e] : seen.rows[e + 1]]
    ]
    for n_threads in (1, 3):
        assert likeness(seen, n_threads).tolist() == truth


def test_long_words_count_up_to_64_letters():
    """The 64th letter still counts, the 65th does not."""
    src = ["a" * 63 + "x", "a" * 64 + "x", "a" * 200]
    tgt = ["a" * 63 + "y", "a" * 64 + "y", "a" * 70]
    seen = Seen.of_own_words(Corpus.from_pairs([(src, tgt)]), "word", 1)
    assert likeness(seen, 1).reshape(3, 3).tolist() == [[251, 251, 251], [251, 255, 255], [251, 255, 255]]


def test_accents_do_not_matter_and_marks_alone_stay():
    assert folded("été") == "ete" and folded("e\u0301") == "e" and folded("\u0301") == "\u0301"
    seen = Seen.of_own_words(Corpus.from_pairs([("présent , .", "present , ;")]), "word", 1)
    assert likeness(seen, 1).reshape(3, 3).tolist() == [[255, 0, 0], [0, 255, 0], [0, 0, 0]]


def test_a_view_sees_its_own_spelling():
    seen = Seen.of_own_words(Corpus.from_pairs([("government", "gouvernement")]), "prefix3", 1)
    assert likeness(seen, 1).tolist() == [255 * 2 // 3]


def test_no_words():
    assert likeness(Seen.of_own_words(Corpus.from_pairs([]), "word", 1), 2).tolist() == []


@pytest.mark.parametrize(
    "change",
    [
        {"src_offsets": [0, 9]},
        {"tgt_offsets": [0, -1]},
        {"rows": [0, 2]},
        {"pairs": [1]},
        {"pairs": [-1]},
        {"n_threads": 0},
    ],
)
def test_what_leads_elsewhere_is_refused(change):
    letters = np.array([97, 98, 99], dtype=np.uint32)
    good = {"src_offsets": [0, 3], "tgt_offsets": [0, 3], "rows": [0, 1], "pairs": [0], "n_threads": 1}

    def call(x):
        longs = {name: np.array(x[name], dtype=np.int64) for name in ("src_offsets", "tgt_offsets", "rows")}
        pairs = np.array(x["pairs"], dtype=np.int32)
        return _spelling.likeness(
            letters, longs["src_offsets"], letters, longs["tgt_offsets"], longs["rows"], pairs, x["n_threads"]
        )

    assert call(good).tolist() == [255]
    with pytest.raises(ValueError):
        call(good | change)

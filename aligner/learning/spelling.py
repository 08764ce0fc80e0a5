"""How the two words of a candidate are spelled, accents aside."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aligner.text import _spelling
from aligner.text.corpus import Corpus
from aligner.text.sides import Vocab
from aligner.text.spelling import folded, letters

Ints = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float32]

NAMES = (
    "equal", "equal, long", "common letters", "common letters, long", "common beginning", "both short",
    "both signs", "one a sign", "both digits", "one has digits", "equal consonants", "length ratio",
)  # fmt: skip
SHORT = 3  # letters of a short word
VOWELS = str.maketrans("", "", "aeiouy")


class Spelling:
    """The spelling of the words of a text."""

    def __init__(self, corpus: Corpus) -> None:
        numbers: dict[str, int] = {}  # of spellings of both sides: equal ones have equal numbers
        self.sides = [_Side(side.vocab, numbers) for side in (corpus.src, corpus.tgt)]

    def features(self, e: Ints, f: Ints, n_threads: int) -> Reals:
        """[12, n] in the order of NAMES, of word pairs e, f [n]."""
        src, tgt = self.sides
        found = _spelling.common_letters(*src.letters, *tgt.letters, e, f, n_threads)
        n_e, n_f = src.n_letters[e], tgt.n_letters[f]
        longer, shorter = np.maximum(n_e, n_f), np.minimum(n_e, n_f)
        subsequence, beginning = found / np.minimum(longer, _spelling.MOST_LETTERS)
        equal = src.whole[e] == tgt.whole[f]
        columns = (
            equal,
            equal & (longer > SHORT),
            subsequence,
            np.where(shorter > SHORT, subsequence, 0),
            beginning,
            longer <= SHORT,
            src.sign[e] & tgt.sign[f],
            src.sign[e] != tgt.sign[f],
            src.digits[e] & tgt.digits[f],
            src.digits[e] != tgt.digits[f],
            src.consonants[e] == tgt.consonants[f],
            np.log(n_e / n_f),
        )
        return np.array(columns, dtype=np.float32)


class _Side:
    """The words of one side.

    letters     of all words, one after another, and where words begin
    n_letters   [V]
    whole       [V] numbers of the words as they are, without accents
    consonants  [V] numbers of the words without vowels
    sign        [V] whether a word has neither letters nor digits
    digits      [V] whether a word has digits
    """

    def __init__(self, vocab: Vocab, numbers: dict[str, int]) -> None:
        words = list(map(folded, vocab.words))
        self.letters = letters(vocab.words)
        self.n_letters = np.diff(self.letters[1])
        self.whole, self.consonants = (
            np.array([numbers.setdefault(word, len(numbers)) for word in some], dtype=np.int32)
            for some in (words, [word.translate(VOWELS) for word in words])
        )
        self.sign = np.array([not any(map(str.isalnum, word)) for word in words], dtype=bool)
        self.digits = np.array([any(map(str.isdigit, word)) for word in words], dtype=bool)

"""Spelling: how alike the words of word pairs are, accents aside."""

from __future__ import annotations

import unicodedata

import numpy as np
import numpy.typing as npt

from aligner.text import _spelling
from aligner.text.cells import Seen
from aligner.text.sides import Vocab

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


def folded(word: str) -> str:
    """The word without accents and other combining marks, unless nothing else is left."""
    if word.isascii():
        return word
    letters = (x for x in unicodedata.normalize("NFD", word) if not unicodedata.combining(x))
    return "".join(letters) or word


def letters(words: list[str]) -> tuple[npt.NDArray[np.uint32], Longs]:
    """(letters of all words, one after another; where the words begin)"""
    shown = list(map(folded, words))
    offsets = np.zeros(len(shown) + 1, dtype=np.int64)
    np.cumsum(list(map(len, shown)), out=offsets[1:])
    text = "".join(shown).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(text, dtype=np.uint32), offsets


def likeness(seen: Seen, n_threads: int) -> npt.NDArray[np.uint8]:
    """[P] how alike the words of each word pair of a text are: see likeness_of."""
    return likeness_of(seen.text.src.vocab, seen.text.tgt.vocab, seen.rows, seen.tgt, n_threads)


def likeness_of(src: Vocab, tgt: Vocab, rows: Longs, pair_tgt: Ints, n_threads: int) -> npt.NDArray[np.uint8]:
    """[P] how alike the words of each word pair are: 255 if they are equal, 0 if less than half is common.

    rows, pair_tgt: the word pairs, as Seen numbers them
    """
    spelled = *letters(src.words), *letters(tgt.words)
    return _spelling.likeness(*spelled, rows, pair_tgt, n_threads)

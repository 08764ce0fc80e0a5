"""Indicators: features that are 1 for one word, or for one word pair, and 0 for all others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.text.corpus import Corpus
from aligner.text.sides import Vocab

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

ALONE = 16  # candidates that a word must be in to have an indicator
PAIR = 3  # candidates that a word pair must be in


@dataclass(frozen=True, eq=False)
class Indicators:
    """The indicators of some words and word pairs. They are numbered: source words, target words, pairs.

    src, tgt  words. The first n_src and n_tgt of them have indicators, the others are words of pairs only
    pairs     [n_pairs] the word pairs, as e * len(tgt) + f, rising
    """

    src: Vocab
    tgt: Vocab
    n_src: int
    n_tgt: int
    pairs: Longs

    def __len__(self) -> int:
        return self.n_src + self.n_tgt + len(self.pairs)

    @staticmethod
    def none() -> Indicators:
        """No indicators."""
        return Indicators(Vocab.of([]), Vocab.of([]), 0, 0, np.empty(0, np.int64))

    @staticmethod
    def of(corpus: Corpus, e: Ints, f: Ints) -> Indicators:
        """The indicators of words and pairs that are in enough candidates. e, f: [n] words of candidates"""
        width = len(corpus.tgt.vocab)
        keys, counts = np.unique(e.astype(np.int64) * width + f, return_counts=True)
        keys = keys[counts >= PAIR]
        paired = np.divmod(keys, max(1, width))
        vocabs, numbers, alone = [], [], []
        for side, ids, others in ((corpus.src, e, paired[0]), (corpus.tgt, f, paired[1])):
            many = np.flatnonzero(np.bincount(ids, minlength=len(side.vocab)) >= ALONE)
            order = np.concatenate([many, np.setdiff1d(others, many)])
            number = np.full(len(side.vocab), -1, np.int64)
            number[order] = np.arange(len(order))
            vocabs.append(side.vocab.select(order))
            numbers.append(number[others])
            alone.append(len(many))
        pairs = np.sort(numbers[0] * len(vocabs[1]) + numbers[1])
        return Indicators(vocabs[0], vocabs[1], alone[0], alone[1], pairs)

    def numbers(self, corpus: Corpus) -> tuple[Ints, Ints]:
        """[V_src], [V_tgt] the numbers here of the words of a text; -1: they are not here."""
        return self.src.find(corpus.src.vocab.words), self.tgt.find(corpus.tgt.vocab.words)

    def found(self, numbers: tuple[Ints, Ints], e: Ints, f: Ints) -> Ints:
        """[3, n] the indicators of candidates: of the source word, the target word, the pair; -1: none.

        numbers  of the words of the text
        e, f     [n] word ids of the text
        """
        src, tgt = numbers[0][e], numbers[1][f]
        keys = src.astype(np.int64) * len(self.tgt) + tgt
        place = np.searchsorted(self.pairs, keys)
        there = (src >= 0) & (tgt >= 0) & (place < len(self.pairs))
        there[there] = self.pairs[place[there]] == keys[there]
        return np.array(
            [
                np.where(src < self.n_src, src, -1),
                np.where((tgt >= 0) & (tgt < self.n_tgt), self.n_src + tgt, -1),
                np.where(there, self.n_src + self.n_tgt + place, -1),
            ],
            dtype=np.int32,
        )

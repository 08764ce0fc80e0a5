"""A census: what a training must know of a whole text, beside what its sentence pairs count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.models.places import sizes_of
from aligner.text.classes import BothClasses, WordClasses
from aligner.text.corpus import Corpus, Side, Vocab, renamed
from aligner.text.views import Cut, parse

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Words:
    """The words of one side.

    vocab    the words
    tokens   [V]  how often each occurs
    paired   [V]  how often each occurs in sentence pairs that have words on both sides
    classes  [V]  the class of each, 0 for a word that has none; None: there are no classes
    """

    vocab: Vocab
    tokens: Longs
    paired: Longs
    classes: Ints | None = None

    @staticmethod
    def of(side: Side, paired: Longs, classes: WordClasses | None) -> Words:
        return Words(side.vocab, side.counts, paired, None if classes is None else classes.of(side.vocab))

    def seen(self, cut: Cut) -> Words:
        """What a view sees of the words. Its class is that of the most tokens, the first of equals."""
        if cut is None:
            return self
        vocab, looks = renamed(self.vocab, cut)
        tokens, paired = (
            np.bincount(looks, x, minlength=len(vocab)).astype(np.int64) for x in (self.tokens, self.paired)
        )
        return Words(vocab, tokens, paired, self._classes_seen(looks, len(vocab)))

    def _classes_seen(self, looks: Ints, n: int) -> Ints | None:
        """looks: word -> one of n that the view sees"""
        if self.classes is None:
            return None
        there = (self.tokens > 0) & (self.classes > 0)
        width = int(self.classes.max(initial=0)) + 1
        codes, place = np.unique(
            looks[there].astype(np.int64) * width + self.classes[there], return_inverse=True
        )
        tokens = np.bincount(place, self.tokens[there], minlength=len(codes))
        order = np.lexsort((-codes, tokens))  # the last one of a view's word is that of the most tokens
        result = np.zeros(n, dtype=np.int32)
        result[codes[order] // width] = codes[order] % width
        return result


@dataclass(frozen=True, eq=False)
class Census:
    """The words of a text, and the sizes of its sentence pairs.

    sizes    [n, 2]  sizes (I, J) of the sentence pairs that have words on both sides, sorted, each once
    n_pairs  how many such sentence pairs there are
    """

    src: Words
    tgt: Words
    sizes: Longs
    n_pairs: int

    @staticmethod
    def of(corpus: Corpus, classes: BothClasses | None = None) -> Census:
        src, tgt = corpus.src, corpus.tgt
        full = (src.lengths > 0) & (tgt.lengths > 0)
        one, other = classes or (None, None)
        sizes = sizes_of(src.lengths, tgt.lengths)
        paired = corpus.occurrences
        return Census(Words.of(src, paired[0], one), Words.of(tgt, paired[1], other), sizes, int(full.sum()))

    def seen(self, view: str) -> Census:
        """What a view sees of the words."""
        src, tgt = parse(view)
        return Census(self.src.seen(src), self.tgt.seen(tgt), self.sizes, self.n_pairs)

    @property
    def occurrences(self) -> tuple[Longs, Longs]:
        """How often words occur in sentence pairs that have words on both sides: source, target."""
        return self.src.paired, self.tgt.paired

    @property
    def n_generated(self) -> tuple[int, int]:
        """The tokens that the forward and the reverse model generate."""
        return int(self.tgt.paired.sum()), int(self.src.paired.sum())

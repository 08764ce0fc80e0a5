"""Parallel text: two sides (text/sides.py) that have as many sentences.

Tokens stand between ASCII spaces and tabs, or between all blanks of Unicode (text/blanks.py). An
empty side is a sentence of no tokens.
"""

from __future__ import annotations

import logging
import reprlib
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from aligner import arguments
from aligner.errors import DataError
from aligner.text import _corpus
from aligner.text.blanks import SPLITS, has_blanks
from aligner.text.sides import Builder, Side, relabelled

Pairs = Iterable[tuple[str | Sequence[str], str | Sequence[str]]]
MOST_CELLS = 1 << 22  # of a sentence pair, source words x target words: 2,048 x 2,048
SHORT = 16  # words that a lattice has room for at least: a side of fewer words needs the same memory
SHOWN = 5  # how many lines a message names
SEED = 1  # of samples

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Sentence pairs: src and tgt have the same number of sentences."""

    src: Side
    tgt: Side

    def __len__(self) -> int:
        return len(self.src)

    def __repr__(self) -> str:
        tokens, words = (
            f"{len(a)} and {len(b)}"
            for a, b in ((self.src.ids, self.tgt.ids), (self.src.vocab, self.tgt.vocab))
        )
        return f"Corpus({len(self)} sentence pairs, {tokens} tokens, {words} words)"

    @staticmethod
    def of(text: Corpus | Pairs, lowercase: bool = False, split: str = "ascii") -> Corpus:
        """A text as functions take it: a Corpus, or sentence pairs as of `from_pairs`."""
        if isinstance(text, Corpus):
            return text.fitted(lowercase, split)
        if isinstance(text, str) or not isinstance(text, Iterable):
            raise TypeError(f"text must be a Corpus or sentence pairs, not {reprlib.repr(text)}")
        return Corpus.from_pairs(text, lowercase, split)

    @staticmethod
    def from_pairs(pairs: Pairs, lowercase: bool = False, split: str = "ascii") -> Corpus:
        """Sentence pairs given as text or as lists of tokens. split: as of `read_corpus`"""
        arguments.choice("split", split, SPLITS)
        builders = Builder(), Builder()
        lines = []
        for n, pair in enumerate(pairs):
            if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
                raise ValueError(f"sentence pair {n} of the text is not two sentences: {reprlib.repr(pair)}")
            lines.append([_line(sentence, n, split) for sentence in pair])
        for k, builder in enumerate(builders):
            text = "".join(line[k] + "\n" for line in lines).encode()
            builder.add(text, len(lines))
        return Corpus(*(builder.side(lowercase) for builder in builders))

    def fitted(self, lowercase: bool, split: str) -> Corpus:
        """The same text as a recipe wants it; refused if it was not split so."""
        if split == "unicode" and any(has_blanks(side.vocab.text) for side in (self.src, self.tgt)):
            raise DataError(
                "the text has blanks in its words, such as U+00A0", hint="read it with split unicode"
            )
        return self.lowered() if lowercase else self

    def lowered(self) -> Corpus:
        """The same text in lower case; the same object if it is in lower case already."""
        sides = [
            side
            if all(word == word.lower() for word in side.vocab.words)
            else relabelled(side, str.lower).held()
            for side in (self.src, self.tgt)
        ]
        return self if sides == [self.src, self.tgt] else Corpus(*sides)

    @cached_property
    def too_long(self) -> npt.NDArray[np.bool_]:
        """[S] whether the lattices of a sentence pair need too much memory: it has no links.

        Such a pair has more than MOST_CELLS cells. A side of 1 to 15 words counts as SHORT words.
        """
        src, tgt = self.src.lengths, self.tgt.lengths
        cells = np.maximum(src, SHORT) * np.maximum(tgt, SHORT)
        return np.asarray((cells > MOST_CELLS) & (src > 0) & (tgt > 0))

    def bounded(self) -> Corpus:
        """The same sentence pairs, but two empty sentences for each that is too long."""
        if not self.too_long.any():
            return self
        sides = []
        for side in (self.src, self.tgt):
            offsets = np.zeros(len(self) + 1, dtype=np.int64)
            np.cumsum(np.where(self.too_long, 0, side.lengths), out=offsets[1:])
            sides.append(Side(side.ids[np.repeat(~self.too_long, side.lengths)], offsets, side.vocab))
        return Corpus(*sides)

    def long_pairs(self, n_before: int = 0) -> list[tuple[int, int, int]]:
        """The sentence pairs that are too long: (number, source words, target words).

        n_before: how many sentence pairs stand before these ones
        """
        lengths = self.src.lengths, self.tgt.lengths
        found = np.flatnonzero(self.too_long).tolist()
        return [(n_before + n + 1, int(lengths[0][n]), int(lengths[1][n])) for n in found]

    def part(self, start: int, stop: int) -> Corpus:
        """Sentence pairs start to stop."""
        return Corpus(self.src.part(start, stop), self.tgt.part(start, stop))

    def select(self, keep: npt.NDArray[np.bool_]) -> Corpus:
        """The sentence pairs to keep. The vocabularies stay as they are."""
        return Corpus(self.src.select(keep), self.tgt.select(keep))

    def compact(self) -> Corpus:
        """The same sentence pairs, as if they had been read from files of their own."""
        return Corpus(self.src.compact(), self.tgt.compact())

    @cached_property
    def occurrences(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """How often source words and target words occur in sentence pairs that have words on both sides."""
        one_empty = (self.src.lengths == 0) != (self.tgt.lengths == 0)
        src, tgt = (side.counts - side.select(one_empty).counts for side in (self.src, self.tgt))
        return src, tgt


def _line(sentence: str | Sequence[str], n: int, split: str) -> str:
    """A sentence as a line of text, to be split at spaces and tabs."""
    where = f"sentence pair {n} of the text"
    if not isinstance(sentence, str):
        if not isinstance(sentence, Sequence) or not all(isinstance(token, str) for token in sentence):
            raise TypeError(
                f"{where}: a sentence must be a string or a list of tokens, not {reprlib.repr(sentence)}"
            )
        if any(not token or " " in token or "\t" in token for token in sentence):
            raise ValueError(f"{where}: a token is empty or has a space or a tab in it")
        if split == "unicode" and any(token.split() != [token] for token in sentence):
            raise ValueError(f"{where}: a token has a blank in it")
        sentence = " ".join(sentence)
    if "\n" in sentence:
        raise ValueError(f"{where}: a sentence has a line break in it")
    return " ".join(sentence.split()) if split == "unicode" else sentence


def sampled(n: int, size: int) -> npt.NDArray[np.bool_]:
    """[n] which of n sentence pairs are in a sample: random ones, but always the same ones.

    RandomState draws the same ones in all versions of numpy. Links of the default model depend on them.
    """
    keep = np.ones(n, dtype=bool)
    keep[np.random.RandomState(SEED).permutation(n)[size:]] = False
    return keep


def shown(numbers: Sequence[int]) -> str:
    """The first few numbers, as a message names lines."""
    return ", ".join(map(str, numbers[:SHOWN])) + (", ..." if len(numbers) > SHOWN else "")


def warn_of_long(pairs: Sequence[tuple[int, int, int]], file: str | None = None) -> None:
    """Says which sentence pairs are too long, if there are any. file: where they come from"""
    if not pairs:
        return
    number, src, tgt = pairs[0]
    place = f"sentence pair {number}" if file is None else f"{file}, line {number}"
    others = ""
    if len(pairs) > 1:
        lines = "" if file is None else "lines "
        others = f" ({len(pairs)} such pairs: {lines}{shown([n for n, _, _ in pairs])})"
    logger.warning(
        "%s: %s x %s words are too many for one sentence pair; it has no links%s",
        place,
        f"{src:,}",
        f"{tgt:,}",
        others,
    )


def text_hash(corpus: Corpus) -> str:
    """What a signature calls a text: a checksum of its words and sentences."""
    value = 0
    for side in (corpus.src, corpus.tgt):
        value = zlib.crc32(side.vocab.text, value)
        for array in (side.vocab.offsets, side.ids, side.offsets):
            value = zlib.crc32(np.ascontiguousarray(array).data, value)
    return f"{value:08x}"


def pair_keys(corpus: Corpus, n_threads: int = 1) -> npt.NDArray[np.uint64]:
    """[S] 64-bit checksums of the sentence pairs. Equal pairs have equal keys, whatever the text."""
    src, tgt = (
        _corpus.hash_sentences(side.vocab.text, side.vocab.offsets, side.ids, side.offsets, n_threads)
        for side in (corpus.src, corpus.tgt)
    )
    return np.asarray(src * np.uint64(0x9E3779B97F4A7C15) + tgt)

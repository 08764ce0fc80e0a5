"""What looks wrong with a text, as a whole or pair by pair. Nothing here is surely wrong."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from aligner.text.corpus import Corpus
from aligner.text.sides import Side

Flags = npt.NDArray[np.bool_]

logger = logging.getLogger(__name__)

PART = 1 << 16  # sentence pairs looked at at a time, so that little memory is needed
RATIO = 9  # of lengths; sentence pairs beyond it are seldom translations (Moses' clean-corpus-n)
OFTEN = 2  # a word that is so many times as frequent on one side as on the other belongs to that side
MARKS = ".,;:!?"  # of a tokenised text, they stand alone, except for abbreviations


def warn_of_unknown(name: str, unknown: Sequence[int], tokens: Sequence[int]) -> None:
    """Says so if more than half of a side's words are unknown. [2] source and target

    name: of what does not know them
    """
    if any(2 * n > total for n, total in zip(unknown, tokens, strict=True)):
        logger.warning(
            "%s does not know %d of %d source words and %d of %d target words: is it of these languages, with"
            " the sides in this order?",
            *(name, unknown[0], tokens[0], unknown[1], tokens[1]),
        )


def warn_of_turned(name: str, unknown: int, turned: int, tokens: int) -> None:
    """Says so if words of two languages seem to be in the other order, or if none is of the text.

    name             of what has the words
    unknown, turned  how many tokens it does not know, as it is and with its sides turned
    tokens           of both sides
    """
    if turned < unknown or unknown == tokens > 0:
        logger.warning(
            "%s knows %d of %d words of the text, and %d with its sides turned: is a source word first, and"
            " are words spelled as in the text?",
            *(name, tokens - unknown, tokens, tokens - turned),
        )


def one_empty(corpus: Corpus) -> Flags:
    """[S] whether just one side is empty"""
    return np.asarray((corpus.src.lengths == 0) != (corpus.tgt.lengths == 0))


def uneven(corpus: Corpus) -> Flags:
    """[S] whether one side has more than RATIO times the words of the other, and both have some"""
    src, tgt = corpus.src.lengths, corpus.tgt.lengths
    shorter = np.minimum(src, tgt)
    return np.asarray((shorter > 0) & (np.maximum(src, tgt) > RATIO * shorter))


def identical(corpus: Corpus) -> Flags:
    """[S] whether both sides are the same, and not empty"""
    there = corpus.tgt.vocab.find(corpus.src.vocab.words)  # source word -> the same word on the target side
    found = np.zeros(len(corpus), np.bool_)
    for start in range(0, len(corpus), PART):
        part = corpus.part(start, start + PART)
        src, tgt = part.src, part.tgt
        alike = (src.lengths == tgt.lengths) & (src.lengths > 0)
        equal = there[src.ids[np.repeat(alike, src.lengths)]] == tgt.ids[np.repeat(alike, tgt.lengths)]
        ends = np.cumsum(src.lengths[alike])
        right = np.diff(np.concatenate([[0], np.cumsum(equal)])[np.concatenate([[0], ends])])
        found[start : start + PART][alike] = right == src.lengths[alike]
    return found


def swapped(corpus: Corpus) -> Flags:
    """[S] whether each side has more words of the other side than of its own.

    A word belongs to the side where it is OFTEN times as frequent. A word that occurs once says nothing.
    """
    src, tgt = corpus.src, corpus.tgt
    strange = np.ones(len(corpus), np.bool_)
    for side, other in ((src, tgt), (tgt, src)):
        there = other.vocab.find(side.vocab.words)
        counts = np.append(other.counts, 0)[there]  # a word that is not there has the last one, 0
        theirs = _number(side, counts >= OFTEN * side.counts)
        strange &= theirs > _number(side, (side.counts > 1) & (side.counts >= OFTEN * counts))
    return strange


def glued(side: Side) -> Flags:
    """[S] whether a word with letters or digits in it ends in a punctuation mark"""
    ends = [word[-1] in MARKS and any(map(str.isalnum, word)) for word in side.vocab.words]
    return _number(side, np.array(ends, np.bool_)) > 0


def most(side: Side, words: Flags) -> Flags:
    """[S] whether more than half of a sentence's tokens are of these words. words: [V]"""
    return np.asarray(2 * _number(side, words) > side.lengths)


def _number(side: Side, words: Flags) -> npt.NDArray[np.int64]:
    """[S] how many tokens of each sentence are of these words"""
    found = []
    for start in range(0, len(side), PART):
        part = side.part(start, start + PART)
        sums = np.concatenate([[0], np.cumsum(words[part.ids])])
        found.append(np.diff(sums[part.offsets]))
    return np.concatenate([np.zeros(0, np.int64), *found])


def lines(flags: Flags) -> Sequence[int]:
    """The lines of flagged sentence pairs, from 1"""
    return [int(n) + 1 for n in np.flatnonzero(flags)]

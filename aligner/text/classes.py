"""Word classes: words that stand beside the same words have one class. Files of classes are those of mkcls.

Classes are made by exchange (ext/text/_classes.pyx). In a round each word in turn goes to its best class.
Such rounds end where no single word can gain, and other classes may be better still. So rounds with noise
come first. The noise falls from round to round. Then rounds without noise follow until no word moves.

A file has a line `word<TAB>class` for each word, sorted by the bytes of the words. mkcls numbers classes from
2 on: 0 is the end of a sentence, and 1 is nothing. Other programs may number them otherwise.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from aligner import arguments
from aligner.errors import DataError
from aligner.text import _classes, _corpus
from aligner.text.giza import Table
from aligner.text.sides import Side, Vocab

FIRST_CLASS = 2  # the number of the first class in a file
CLASSES = 50  # as users of mkcls ask for
MOST_CLASSES = 4096  # as in ext/text/_classes.pyx
ROUNDS = 50  # with noise
MOST_ROUNDS = 100_000
MOST_QUIET = 100  # rounds without noise
HOT = 1.2  # the temperature at first: 0.3 and 0.6 gave worse classes of English and Japanese


@dataclass(frozen=True, eq=False)
class WordClasses:
    """A class for each word.

    vocab      the words
    classes    [n_words] word id -> its class, 1 to n_classes
    n_classes  each class has a word at least
    """

    vocab: Vocab
    classes: npt.NDArray[np.int32]
    n_classes: int

    def of(self, vocab: Vocab) -> npt.NDArray[np.int32]:
        """[n_words] the class, 1 to n_classes, of each word of a vocabulary; 0 for a word that has none."""
        found = _corpus.find_words(self.vocab.text, self.vocab.offsets, vocab.encoded())
        return np.append(self.classes, np.int32(0))[found]  # -1, a word that is not there, is the last

    def checksum(self) -> str:
        """Eight letters that are the same for the same classes of the same words."""
        parts = self.vocab.text, self.vocab.offsets.tobytes(), self.classes.tobytes()
        return f"{zlib.crc32(b'|'.join(parts)):08x}"


BothClasses = tuple[WordClasses, WordClasses]  # of source words, of target words


@dataclass(frozen=True)
class Round:
    """How a round went.

    number       of the round, from 1 on
    temperature  of the noise; 0: each word went to its best class
    moved        how many words went to another class
    perplexity   of the text by the class bigram model, at the end of the round; ends of sentences count
    """

    number: int
    temperature: float
    moved: int
    perplexity: float


def cluster(
    side: Side,
    n_classes: int = CLASSES,
    *,
    rounds: int = ROUNDS,
    seed: int = 1,
    tell: Callable[[Round], object] | None = None,
) -> WordClasses:
    """Classes of all words, n_classes or fewer. The same arguments give the same classes.

    Class 1 has the most frequent word, class 2 the most frequent word that is not in class 1, and so on.

    rounds  with noise; more rounds give better classes
    seed    of the noise
    tell    is called after each round
    """
    n_classes = int(arguments.number("n_classes", n_classes, 1, MOST_CLASSES, whole=True))
    rounds = int(arguments.number("rounds", rounds, 0, MOST_ROUNDS, whole=True))
    seed = int(arguments.number("seed", seed, 0, 2**32 - 1, whole=True))
    order = np.argsort(-side.counts, kind="stable").astype(np.int32)
    classes = np.empty(len(order), dtype=np.int32)
    classes[order] = np.arange(len(order)) % n_classes
    if len(order) > n_classes:  # else each word has a class of its own
        bigrams = _classes.Bigrams(side.ids, side.offsets, len(order))
        perplexity = _Perplexity(side)
        for k in range(rounds + MOST_QUIET):
            temperature = HOT * (1 - k / rounds) if k < rounds else 0.0
            noise = (seed << 32) + k
            moved, criterion = _classes.exchange(bigrams, order, classes, n_classes, temperature, noise)
            if tell is not None:
                tell(Round(k + 1, temperature, moved, perplexity.of(criterion)))
            if moved == 0 and temperature == 0:
                break
    return WordClasses(side.vocab, *_numbered(classes, order))


def _numbered(
    classes: npt.NDArray[np.int32], order: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int32], int]:
    """The same classes as 1, 2, ... in the order of their most frequent words, and how many there are."""
    _, first, found = np.unique(classes[order], return_index=True, return_inverse=True)
    numbers = np.empty_like(classes)
    numbers[order] = 1 + np.argsort(np.argsort(first))[found]
    return numbers, len(first)


class _Perplexity:
    """exp(-log-likelihood / tokens) of a text, of which the criterion is the part that classes change."""

    def __init__(self, side: Side) -> None:
        counts = np.append(side.counts, np.count_nonzero(side.lengths)).astype(np.float64)
        self.tokens = float(counts.sum())
        self.constant = float((counts * np.log(np.maximum(counts, 1))).sum())

    def of(self, criterion: float) -> float:
        return math.exp(-(criterion + self.constant) / self.tokens) if self.tokens else 1.0


def read_classes(path: str, *, encoding: str = "utf-8") -> WordClasses:
    """The classes of a file; "-" is stdin. They are 1 to n_classes in the order of their numbers in the file.

    The columns stand between tabs or spaces.
    """
    table = Table(path, encoding)
    if (odd := table.lengths != 2).any():
        raise table.error("the line is not `word<TAB>class`", int(np.argmax(odd)))
    words, numbers = table.tokens.reshape(-1, 2).T
    if (odd := table.numbers[numbers] < 0).any():
        raise table.error("a class is a whole number, 0 or more", int(np.argmax(odd)))
    order = np.argsort(words, kind="stable")
    if (twice := np.diff(words[order]) == 0).any():
        line = int(order[1:][twice].min())
        word = table.vocab.words[words[line]]
        raise table.error(f"the word {word} has a line already", line, "a word has one class")
    strings = table.vocab.words
    found, classes = np.unique(table.numbers[numbers], return_inverse=True)
    if len(found) > MOST_CLASSES:
        raise DataError(f"{len(found):,} classes, more than {MOST_CLASSES:,}", file=table.name)
    vocab = Vocab.of(strings[word] for word in words.tolist())
    return WordClasses(vocab, (classes + 1).astype(np.int32), len(found))


def write_classes(out: BinaryIO, classes: WordClasses) -> None:
    """Writes `word<TAB>class` lines as mkcls does. Words have the bytes that they were read as."""
    rows = zip(classes.vocab.encoded(), (classes.classes + FIRST_CLASS - 1).tolist(), strict=True)
    out.write(b"".join(b"%b\t%d\n" % row for row in sorted(rows)))

"""Word classes: words that stand beside the same words. The files are those of mkcls.

A file has a line `word<TAB>class` for each word, sorted by the bytes of the words. mkcls numbers classes from
2 on: 0 is the end of a sentence, and 1 is nothing. Other programs may number them otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from aligner.text import _corpus
from aligner.text.corpus import Vocab
from aligner.text.giza import Table

FIRST_CLASS = 2  # the number of the first class in a file


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
    vocab = Vocab.of(strings[word] for word in words.tolist())
    return WordClasses(vocab, (classes + 1).astype(np.int32), len(found))


def write_classes(out: BinaryIO, classes: WordClasses) -> None:
    """Writes `word<TAB>class` lines as mkcls does. Words have the bytes that they were read as."""
    rows = zip(classes.vocab.encoded(), (classes.classes + FIRST_CLASS - 1).tolist(), strict=True)
    out.write(b"".join(b"%b\t%d\n" % row for row in sorted(rows)))

"""GIZA++'s A3 files: one direction, with the words, three lines a sentence pair.

    # Sentence pair (1) source length 2 target length 3 alignment score : 0.0123
    la maison bleue
    NULL ({ }) house ({ 1 2 }) blue ({ 3 })

Line 2 has the generated words, line 3 the generating words. After each stand the positions, from 1, of the
words that it generates. What NULL generates has no link. `a3` is the file of p(tgt | src): its line 3 has
our source words. `a3-reverse` is the file of p(src | tgt): its line 3 has our target words.

GIZA++ gives every generated word exactly one generating word or NULL. Links that are read may be any; links
that are written must have at most one link a generated word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from aligner.errors import DataError
from aligner.links import _a3, _giza
from aligner.links._giza import Status
from aligner.links.formats.format import Format, LinkFile, Messages
from aligner.links.links import Links
from aligner.text.corpus import Corpus
from aligner.text.sides import Side

HEADER = b"# Sentence pair ("
BLANKS = re.compile(rb"[\n\v\f\r]")  # what others split words at, and our texts do not
SAME = "are text and links of the same sentences, with the sides in the same order?"
REVERSE = f"{SAME} The A3 file of p(src | tgt) is in format a3-reverse"
WORDS: Messages = {
    Status.FEW_WORDS: ("the line has fewer words than the length that is given for it", None),
    Status.MANY_WORDS: ("the line goes on after as many words as are given for it", None),
    Status.OUTSIDE: ("the position is beyond the last word", "is the file damaged?"),
    Status.OTHER_LENGTH: ("the sentence has not as many words as that of the text", SAME),
    Status.OTHER_WORD: ("the word is not that of the text", SAME),
    Status.CUT_OFF: ("the file ends within a sentence pair", "is the file whole?"),
}
MESSAGES: Messages = {
    **WORDS,
    Status.OTHER_LENGTH: (WORDS[Status.OTHER_LENGTH][0], REVERSE),
    Status.OTHER_WORD: (WORDS[Status.OTHER_WORD][0], REVERSE),
    Status.NO_HEADER: (
        "`# Sentence pair (N) source length L target length M alignment score : S` was expected",
        None,
    ),
    Status.BAD_NUMBER: (
        "the number of the sentence pair does not follow that of the one before",
        "is this one of several parts? then give all of them at once",
    ),
    Status.NO_NULL: ("`NULL` was expected", None),
    Status.NO_OPENING: ("`({` was expected after a word", None),
    Status.NO_POSITION: ("a position or `})` was expected", None),
}
Words = tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], bytes, npt.NDArray[np.int64]]


def words(side: Side) -> Words:
    """One side of a text as the kernels take it."""
    return side.ids, side.offsets, side.vocab.text, side.vocab.offsets


def known_words(text: Corpus | None, first: int, n: int) -> tuple[Words | None, Words | None]:
    """Both sides of n sentences from `first`, as far as the text has them."""
    if text is None:
        return None, None
    start = min(first, len(text))
    part = (side.part(start, min(start + n, len(text))) for side in (text.src, text.tgt))
    src, tgt = map(words, part)
    return src, tgt


def format_a3(
    links: Links,
    src: Side,
    tgt: Side,
    *,
    numbers: npt.NDArray[np.int64] | None = None,
    scores: npt.NDArray[np.float64] | None = None,
) -> bytearray:
    """The links of p(tgt | src) as an A3 file. For p(src | tgt), give transposed links and swapped sides.

    src, tgt  the sentences of the links
    numbers   [S] of the sentence pairs, from 1; None: 1, 2, ...
    scores    [S] p(tgt, alignment | src), written with six digits as GIZA++ writes it; None: 1
    """
    numbers = np.arange(1, len(links) + 1) if numbers is None else numbers
    scores = np.ones(len(links)) if scores is None else scores
    check_words(src, tgt)
    n, word, text = _a3.format_a3(
        links.offsets, links.src, links.tgt, words(src), words(tgt), numbers, scores
    )
    if n >= 0:
        raise two_links(tgt, n, word, int(numbers[n]))
    return text


def check_words(*sides: Side) -> None:
    """Refuses words with characters that readers of GIZA++'s files take for blanks."""
    for side in sides:
        if (match := BLANKS.search(side.vocab.text)) is not None:
            raise DataError(
                f"a word of the text has the character {match[0].decode()!r} in it: files of GIZA++ cannot"
                " say it",
                hint="replace it by a space",
            )


def two_links(side: Side, n: int, word: int, number: int) -> DataError:
    """The error of a generated word with two links. n: its sentence; number: what the file calls that"""
    return DataError(
        f"word {word + 1} of {' '.join(side.sentence(n))!r}, sentence pair {number}, has two links: a"
        " direction has one link a generated word",
        hint="write one direction of an alignment, and is it this one?",
    )


class A3(Format):
    """One direction of GIZA++."""

    base = 1
    lines = 3

    def __init__(self, help: str, reverse: bool) -> None:
        self.help, self.reverse = help, reverse

    def detect(self, block: bytes) -> bool:
        """A file does not tell its direction: it is taken for p(tgt | src)."""
        return not self.reverse and block.startswith(HEADER)

    def read(self, file: LinkFile, blocks: Iterable[tuple[bytes, int]]) -> Iterator[Links]:
        check_base(file)
        n_before = 0
        for text, n_lines in blocks:
            S = -(-n_lines // 3)
            offsets = np.empty(S + 1, dtype=np.int64)
            src, tgt = (np.empty(len(text) // 2 + 1, dtype=np.int32) for _ in range(2))
            source, target = known_words(file.text, n_before, S)
            sides = (target, source) if self.reverse else (source, target)
            status, line, column, n = _giza.parse_a3(text, n_before + 1, *sides, offsets, src, tgt)
            if status != Status.OK:
                messages = numbered(MESSAGES, n_before + line // 3)
                file.refuse(status, 3 * n_before + line, column, messages)
            links = Links(offsets, src[:n].copy(), tgt[:n].copy())
            file.n_scored += S
            yield links.transposed() if self.reverse else links
            n_before += S

    def write(self, links: Links, first: int, base: int, text: Corpus | None) -> bytearray:
        if text is None:
            raise DataError("A3 files have the words of the text", hint="give the text", setting="text")
        if base != self.base:
            raise DataError("the positions of A3 files count from 1", setting="to_base", value="1")
        src, tgt = (side.part(first, first + len(links)) for side in (text.src, text.tgt))
        numbers = np.arange(first + 1, first + len(links) + 1)
        if self.reverse:
            return format_a3(links.transposed(), tgt, src, numbers=numbers)
        return format_a3(links, src, tgt, numbers=numbers)

    def losses(self, links: Links) -> Counter[str]:
        return marks_of(links)


def marks_of(links: Links) -> Counter[str]:
    """What files of positions alone cannot say of the links, and of how many of them."""
    lost: Counter[str] = Counter()
    if links.scores is not None:
        lost["scores left out"] = len(links.scores)
    if links.sure is not None:
        lost["possible links written as plain ones"] = int((links.sure == 0).sum())
    return +lost


def check_base(file: LinkFile) -> None:
    """Positions count from 1."""
    if file.base == 0:
        what = f"positions of {file.format} files count from 1"
        raise DataError(what, file=file.name, setting="base", value="1")
    file.base = 1


def numbered(messages: Messages, sentence: int) -> Messages:
    """Messages with the number of the sentence pair, which is not that of the line."""
    return {
        status: (f"sentence pair {sentence + 1}: {what}", hint) for status, (what, hint) in messages.items()
    }

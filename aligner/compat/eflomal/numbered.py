"""Text and priors with numbers for words, as eflomal's program in C reads them.

Text begins with `sentences words`, the numbers of both. Then a line has a sentence: `length number number
...`, with numbers from 0 on. Priors begin with seven numbers: words of both sides, then how many lines
follow of word pairs, jumps forward and reverse, fertilities forward and reverse. There, words are numbered
from 1 on, and 0 is NULL.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

import numpy as np
import numpy.typing as npt

from aligner.compat.eflomal.words import Sight
from aligner.errors import DataError
from aligner.links.priors import NULL, Priors, parse_priors

Sentence = npt.NDArray[np.uint32]
KINDS = {"LEX": 3, "HMMF": 2, "HMMR": 2, "FERF": 3, "FERR": 3}  # in the file's order: how many columns


def read_text(
    pyfile: Iterable[str], lowercase: bool, prefix_len: int, suffix_len: int
) -> tuple[list[Sentence], dict[str, int]]:
    """Sentences as arrays of word numbers, and the number of each word.

    lowercase               words are lower-cased
    prefix_len, suffix_len  only so many letters of a word are seen; 0: all of them
    """
    index: dict[str, int] = {}
    sight = Sight(prefix_len, suffix_len, lowercase)
    sentences = [
        np.array([index.setdefault(word, len(index)) for word in sight.words(line)], dtype=np.uint32)
        for line in pyfile
    ]
    return sentences, index


def write_text(pyfile: IO[bytes], sents: Sequence[Sentence], voc_size: int) -> None:
    """Writes sentences of word numbers to an open file. Long sentences are written, too."""
    pyfile.write(f"{len(sents)} {voc_size}\n".encode())
    for sentence in sents:
        pyfile.write(" ".join(map(str, [len(sentence), *sentence.tolist()])).encode() + b"\n")
    pyfile.flush()


def read_sentences(lines: Iterator[str], file: str) -> list[str]:
    """The sentences of a text of numbers, with spaces between the numbers. What follows them is not read."""
    n, size = _numbers(next(lines, ""), 2, file, 1)
    sentences = []
    for k, line in enumerate(itertools.islice(lines, n)):
        length, *words = line.split() or [""]
        if length != str(len(words)):
            raise _wrong("a line must have the number of its words, then the words' numbers", file, k + 2)
        if not all(_is_number(word) and int(word) < size for word in words):
            raise _wrong(f"the number of a word must be between 0 and {size - 1}", file, k + 2)
        sentences.append(" ".join(words))
    if len(sentences) < n:
        raise _wrong(f"the first line tells of {n} sentences", file, len(sentences) + 1)
    return sentences


def read_numbered_priors(lines: Iterator[str], file: str) -> Priors:
    """Priors of numbered words. The words are called by the text's numbers."""
    _, _, *sizes = _numbers(next(lines, ""), 7, file, 1)

    def named() -> Iterator[str]:
        """The same as lines of eflomal's other form of priors."""
        n = 1
        for (kind, width), size in zip(KINDS.items(), sizes, strict=True):
            for _ in range(size):
                n += 1
                fields = next(lines, "").split()
                if len(fields) != width:
                    raise _wrong(f"{width} numbers are wanted here", file, n)
                n_words = 2 if kind == "LEX" else 1 if kind.startswith("FER") else 0
                for k in range(n_words):
                    word = _numbers(fields[k], 1, file, n)[0]
                    fields[k] = str(word - 1) if word else NULL
                yield "\t".join([kind, *fields])
        if any(line.strip() for line in lines):
            raise _wrong(f"more lines than the {sum(sizes)} that the first line tells", file, n + 1)

    return parse_priors(named(), file, 2)


def _numbers(line: str, n: int, file: str, at: int) -> list[int]:
    """The n numbers of a line."""
    fields = line.split()
    if len(fields) != n or not all(map(_is_number, fields)):
        raise _wrong(f"{n} whole numbers are wanted here" if n > 1 else "a whole number is wanted", file, at)
    return [int(field) for field in fields]


def _is_number(field: str) -> bool:
    """Whether a field is a whole number of at most 18 digits, which an int64 holds."""
    return field.isascii() and field.isdigit() and len(field) <= 18


def _wrong(what: str, file: str, line: int) -> DataError:
    return DataError(what, file=file, line=line, hint="is this text for eflomal's program?")

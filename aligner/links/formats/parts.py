"""An A3 file in parts, as mgiza writes it: each of its threads has a file, and takes the next sentence pair.

The numbers of the sentence pairs rise within a part. Together the parts have every number from 1 once.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from aligner.errors import DataError
from aligner.files import display_name, read_chunks
from aligner.text.reading import line_blocks

BLOCK = 1 << 13  # lines read at a time
NUMBER = re.compile(rb"\((\d{1,18})\)")  # the first of a header is that of the sentence pair


@dataclass(frozen=True, order=True)
class Pair:
    """A sentence pair of a part: its number, the part's name, the line of its header, its three lines."""

    number: int
    part: str
    line: int
    text: bytes


def merged(paths: Sequence[str]) -> Iterator[bytes]:
    """The sentence pairs of all parts in the order of their numbers, which must be 1, 2, ..."""
    expected = 1
    for pair in heapq.merge(*map(_pairs, paths)):
        if pair.number != expected:
            twice = pair.number < expected
            raise DataError(
                f"sentence pair {pair.number} is there twice" if twice else f"no sentence pair {expected}",
                file=pair.part,
                line=pair.line,
                hint="is a part given twice?" if twice else "give all parts of the file",
            )
        expected += 1
        yield pair.text


def _pairs(path: str) -> Iterator[Pair]:
    """The sentence pairs of one part."""
    name, n_lines, last = display_name(path), 0, 0
    for header, *rest in _triples(_lines(path)):
        match = NUMBER.search(header)
        if match is None or not header.startswith(b"# Sentence pair"):
            what = "`# Sentence pair (N) ...` was expected"
            hint = "several files can be the parts of an A3 file only"
            raise DataError(what, file=name, line=n_lines + 1, hint=hint)
        if len(rest) < 2 or not rest[1].rstrip().endswith(b"})"):
            what = "the sentence pair is cut off"
            raise DataError(what, file=name, line=n_lines + 1, hint="is the file whole?")
        number = int(match[1])
        if number <= last:
            what = f"sentence pair {number} comes after sentence pair {last}"
            raise DataError(what, file=name, line=n_lines + 1, hint="numbers must rise within a part")
        yield Pair(number, name, n_lines + 1, b"".join((header, *rest)))
        n_lines, last = n_lines + 3, number


def _lines(path: str) -> Iterator[bytes]:
    """The lines of a file, each with its newline."""
    for text, _ in line_blocks(read_chunks(path), BLOCK):
        yield from (line + b"\n" for line in text.split(b"\n")[:-1])


def _triples(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Three lines at a time, the last perhaps fewer."""
    three = []
    for line in lines:
        three.append(line)
        if len(three) == 3:
            yield three
            three = []
    if three:
        yield three

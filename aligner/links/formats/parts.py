"""An A3 file in parts, as mgiza writes it: each of its threads has a file, and takes the next sentence pair.

The numbers of the sentence pairs rise within a part. Together the parts have every number from 1 once.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Sequence

from aligner.errors import DataError
from aligner.files import display_name, read_chunks
from aligner.text.reading import line_blocks

BLOCK = 3 << 13  # lines read at a time: whole sentence pairs
NUMBER = re.compile(rb"# Sentence pair \((\d{1,18})\)")

# A sentence pair of a part: its number, the name of the part, the line of its header, its three lines
Pair = tuple[int, str, int, bytes]


def merged(paths: Sequence[str]) -> Iterator[bytes]:
    """The sentence pairs of all parts in the order of their numbers, which must be 1, 2, ..."""
    expected = 1
    for number, name, line, text in heapq.merge(*map(_pairs, paths)):
        if number != expected:
            twice = number < expected
            raise DataError(
                f"sentence pair {number} is there twice" if twice else f"no sentence pair {expected}",
                file=name,
                line=line,
                hint="is a part given twice?" if twice else "give all parts of the file",
            )
        expected += 1
        yield text


def _pairs(path: str) -> Iterator[Pair]:
    """The sentence pairs of one part."""
    name, n_before, last = display_name(path), 0, 0
    for text, n_lines in line_blocks(read_chunks(path), BLOCK):
        lines = text.split(b"\n")
        for k in range(0, n_lines, 3):
            three, at = lines[k : min(k + 3, n_lines)], n_before + k + 1
            match = NUMBER.match(three[0])
            if match is None:
                what = "`# Sentence pair (N) ...` was expected"
                hint = "several files can be the parts of an A3 file only"
                raise DataError(what, file=name, line=at, hint=hint)
            if len(three) < 3 or not three[2].rstrip().endswith(b"})"):
                raise DataError("the sentence pair is cut off", file=name, line=at, hint="is the file whole?")
            number = int(match[1])
            if number <= last:
                what = f"sentence pair {number} comes after sentence pair {last}"
                raise DataError(what, file=name, line=at, hint="numbers must rise within a part")
            last = number
            yield number, name, at, b"%b\n%b\n%b\n" % tuple(three)
        n_before += n_lines

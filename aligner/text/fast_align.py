"""Text as fast_align reads it: any line is a sentence pair, and the first `|||` or tab separates its sides.

A later `|||`, or a later tab, is the word `|||` of the target. A line without a separator has no target.
Words stand between spaces, and may be of any bytes: a line that is not UTF-8 is read as Latin-1.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence

import numpy as np

from aligner.files import display_name, read_chunks
from aligner.text.corpus import Corpus
from aligner.text.reading import line_blocks
from aligner.text.sides import Builder

BLOCK = 1 << 14  # lines indexed at a time
SEPARATOR = re.compile(rb"\t|(?:(?<= )|^)\|\|\|(?=[ \t]|$)")

Sides = tuple[bytes, bytes]

logger = logging.getLogger(__name__)


def cut(line: bytes) -> Sides:
    """The two sides of a line, which has no newline at its end."""
    src, found, tgt = line.partition(b" ||| ")
    if not found or b"\t" in src or src.startswith(b"|||"):
        if (match := SEPARATOR.search(line)) is None:
            return line, b""
        src, tgt = line[: match.start()], line[match.end() :]
    return src, tgt.replace(b"\t", b" ||| ") if b"\t" in tgt else tgt


def read_pairs(path: str) -> tuple[Corpus, dict[int, str]]:
    """The sentence pairs of a file, "-" for stdin; and the lines that lack a side, by number from 1."""
    builders = Builder(), Builder()
    odd: dict[int, str] = {}
    for n_before, lines in utf8_blocks(path):
        _add(list(map(cut, lines)), builders)
        empty = [builder.lengths[n_before : n_before + len(lines)] == 0 for builder in builders]
        for n in np.flatnonzero(empty[0] | empty[1]).tolist():
            odd[n_before + n + 1] = lines[n].decode()
    return Corpus(*(builder.side(lowercase=False) for builder in builders)), odd


def stream_pairs(path: str) -> Iterator[tuple[Corpus, list[Sides]]]:
    """The sentence pairs of a file in parts, and their sides as text. Lines are read as soon as they come."""
    for _, lines in utf8_blocks(path, eager=True):
        sides = list(map(cut, lines))
        builders = Builder(), Builder()
        _add(sides, builders)
        yield Corpus(*(builder.side(lowercase=False) for builder in builders)), sides


def utf8_blocks(path: str, eager: bool = False) -> Iterator[tuple[int, list[bytes]]]:
    """Blocks of lines in UTF-8, and the number of lines before each. A warning says which were not UTF-8.

    eager: lines are read as soon as they come
    """
    n_before, n_odd, first = 0, 0, 0
    for text, _ in line_blocks(read_chunks(path), BLOCK, eager):
        lines = text.split(b"\n")[:-1]
        if not _is_utf8(text):
            for n, line in enumerate(lines):
                if not _is_utf8(line):
                    lines[n] = line.decode("latin-1").encode()
                    n_odd, first = n_odd + 1, first or n_before + n + 1
        yield n_before, lines
        n_before += len(lines)
    if n_odd:
        logger.warning(
            "%s: %d lines are not UTF-8, the first is line %d; they are read as Latin-1",
            *(display_name(path), n_odd, first),
        )


def _is_utf8(text: bytes) -> bool:
    try:
        return text.isascii() or bool(text.decode())
    except UnicodeDecodeError:
        return False


def _add(lines: Sequence[Sides], builders: tuple[Builder, Builder]) -> None:
    """Adds lines to both sides."""
    for builder, side in zip(builders, zip(*lines, strict=True), strict=True):
        builder.add(b"\n".join(side) + b"\n", len(lines))

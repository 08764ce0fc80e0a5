"""Where words end: at ASCII spaces and tabs, or at every blank that Python's str.split() separates words at.

Lines end at "\\n" in either case.
"""

from __future__ import annotations

import logging

from aligner import arguments
from aligner.files import display_name
from aligner.text import _blanks

SPLITS = ("ascii", "unicode")

logger = logging.getLogger(__name__)


class Splitter:
    """Prepares a file's lines for a reader that separates words at spaces and tabs.

    split "unicode" makes all blanks spaces. "ascii" leaves them inside words, and counts the lines.
    """

    def __init__(self, path: str, split: str) -> None:
        self.path, self.split = path, arguments.choice("split", split, SPLITS)
        self.n_lines = 0  # that have blanks inside words
        self.first = 0, ""  # the first of these lines, and its first blank

    def prepared(self, text: bytes, n_before: int) -> bytes:
        """Whole lines of UTF-8, ready to be split. n_before: how many lines stand before these ones"""
        n_lines, at = _blanks.find_blanks(text)
        if n_lines == 0:
            return text
        if self.split == "unicode":
            filled = bytearray(text)
            _blanks.fill_blanks(filled)
            return bytes(filled)
        if self.n_lines == 0:
            blank = text[at : at + 3].decode(errors="ignore")[0]
            self.first = n_before + text.count(b"\n", 0, at) + 1, f"U+{ord(blank):04X}"
        self.n_lines += n_lines
        return text

    def warn(self) -> None:
        """Says where words would end if they were split in the other way, if they would."""
        if self.n_lines:
            line, blank = self.first
            others = f" ({self.n_lines} such lines)" if self.n_lines > 1 else ""
            logger.warning(
                "%s, line %d: %s is part of a word here, but separates words for Python's str.split()%s; with"
                " split unicode it separates words here, too",
                *(display_name(self.path), line, blank, others),
            )


def has_blanks(words: bytes) -> bool:
    """Whether words, one after another in UTF-8, have blanks in them."""
    return _blanks.find_blanks(words)[0] > 0

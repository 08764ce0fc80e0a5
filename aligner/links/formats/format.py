"""What every link format does, and what is known of a link file while it is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from aligner.errors import DataError
from aligner.links._links import Status
from aligner.links.links import Links
from aligner.text.corpus import Corpus

# A kernel's status -> what is wrong, and what to do; None: the file may be in another format
Messages = Mapping[int, tuple[str, str | None]]
POSITIONS: Messages = {
    Status.NO_NUMBER: ("a position was expected", None),
    Status.TOO_LARGE: ("the position is above 2,147,483,647", "is it a position?"),
}


class LinkFile:
    """A link file: what the user says of it, and what a format finds out while it reads.

    name      what messages call the file
    format    the name of its format; None: not known yet
    base      the number of a sentence's first word; None: not known yet
    text      the sentences that the links belong to; None: not given
    has_lines whether line numbers of the file can be told: not where the file was put together of parts
    n_null    how many links to the NULL word were left out
    n_scored  how many scores of sentence pairs were left out
    """

    def __init__(self, name: str, format: str | None, base: int | None, text: Corpus | None) -> None:
        self.name, self.format, self.base, self.text = name, format, base, text
        self.has_lines = True
        self.n_null = self.n_scored = 0
        self.detected = format is None  # not named by the user

    def refuse(self, status: int, line: int, column: int, messages: Messages) -> None:
        """Raises what a kernel says of a place, counted from 0, if it is not OK."""
        if status == Status.OK:
            return
        what, hint = messages[status]
        setting = value = ""
        if status == Status.BELOW_BASE:
            setting, value = "base", "0"
        elif hint is None and self.detected:
            hint = f"is this a file of links? it was read as {self.format}; if that is wrong, name its format"
            setting = "format"
        elif hint is None:
            hint = f"is this really a file of links in format {self.format}?"
        place = {"line": line + 1, "column": column + 1} if self.has_lines else {}
        raise DataError(what, file=self.name, hint=hint, setting=setting, value=value, **place)


class Format(ABC):
    """A way to write links down. Inside, positions count from 0, whatever the file says."""

    help: str
    base: int  # the number of a sentence's first word where neither user nor file says
    sparse = False  # whether a sentence without links has no place in the file
    lines = 1  # of a sentence pair
    written = True  # whether links can be written in this format

    @abstractmethod
    def detect(self, block: bytes) -> bool:
        """Whether the first lines of a file have the marks of this format."""

    @abstractmethod
    def read(self, file: LinkFile, blocks: Iterable[tuple[bytes, int]]) -> Iterator[Links]:
        """The links of blocks of (whole lines, how many), in order. Sets file.base before the first."""

    @abstractmethod
    def write(self, links: Links, first: int, base: int, text: Corpus | None) -> bytearray:
        """The links as text. first is the number of the first sentence, from 0, here and in the corpus."""

    @abstractmethod
    def losses(self, links: Links) -> Counter[str]:
        """What this format cannot say of the links, and of how many of them."""

    def line(self, sentence: int) -> int | None:
        """The last line, from 1, of a sentence, from 0; None: a sentence has no line of its own."""
        return None if self.sparse else self.lines * (sentence + 1)


def first_line(block: bytes) -> bytes:
    """The first line that is not blank."""
    return next((line for line in block.split(b"\n") if line.strip()), b"")

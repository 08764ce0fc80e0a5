"""What every format of tables does: one line a word pair, and most formats one direction a file."""

from __future__ import annotations

import logging
import math
from abc import ABC, abstractmethod
from collections import Counter
from typing import BinaryIO

import numpy as np

from aligner.errors import DataError
from aligner.files import display_name
from aligner.lexicons.table import NULL, Reals, Table
from aligner.text.reading import read_lines
from aligner.text.sides import Vocab

BLOCK = 1 << 16  # lines written at a time
SURPLUS = 1e-5  # a probability may be above 1 by this much, which rounding in another program can cause

# e and f, None for NULL; p(f | e) and p(e | f), None for what the line does not have
Row = tuple[str | None, str | None, float | None, float | None]

logger = logging.getLogger(__name__)


class Format(ABC):
    """A way to write p(f | e) down. What is written of the other direction is the transposed table.

    shape  what a line looks like
    of     whose format it is
    null   how the NULL word is written; "": the format has no word pairs with NULL
    names  what the names of the files of both directions end in; None: the original writes one direction a
           run, under a name that its user gives
    both   whether a file has both directions
    doubt  what to ask of a file whose lines are not of this format
    """

    shape: str
    of: str
    null: str = "NULL"
    names: tuple[str, str] | None = None
    both: bool = False
    doubt: str = "is this the file's format?"

    @property
    def help(self) -> str:
        return f"`{self.shape}`: {self.of}"

    @abstractmethod
    def kept(self, table: Table) -> Table:
        """What is written of a table, in the order of its lines."""

    @abstractmethod
    def lines(self, table: Table, src: list[str], tgt: list[str]) -> list[str]:
        """The lines of word pairs. src, tgt: word id -> word as it is written; NULL is the last of each"""

    @abstractmethod
    def parse(self, line: str) -> Row:
        """What a line without its end says.

        ValueError: the line is not of this format. KeyError: a number in it stands for no word.
        """

    def transposed(self) -> Format:
        """The format of a transposed table."""
        return self

    def losses(self, table: Table) -> Counter[str]:
        """What this format leaves out because it cannot be written, and how many word pairs of it."""
        return Counter()

    def spelled(self, table: Table) -> list[list[str]]:
        """Of both sides, word id -> word as it is written, and NULL at the end."""
        for vocab, ids in ((table.src, table.e), (table.tgt, table.f)):
            same = int(vocab.find([self.null])[0]) if self.null else NULL
            if same != NULL and (ids == same).any():
                raise DataError(
                    f"the word {self.null} of the text cannot be told from the NULL word in this format",
                    hint="spell the word otherwise in the text, or choose another format",
                    setting="output_format",
                )
        return [[*vocab.words, self.null] for vocab in (table.src, table.tgt)]

    def word(self, text: str) -> str | None:
        """A word of a line; None for NULL."""
        if not text:
            raise ValueError
        return None if text == self.null else text

    def write(self, table: Table, out: BinaryIO, encoding: str = "utf-8") -> None:
        """Writes p(f | e). A word that could not be told from NULL is refused."""
        kept = self.kept(table)
        words = self.spelled(kept)
        for start in range(0, len(kept), BLOCK):
            part = kept.chosen(np.arange(start, min(start + BLOCK, len(kept))))
            out.write("".join(self.lines(part, *words)).encode(encoding))

    def read(self, path: str, encoding: str = "utf-8") -> Table:
        """The table of a file, "-" for stdin. Of a word pair that stands twice the last one counts."""
        rows: dict[tuple[int, int], tuple[float, float]] = {}
        src: dict[str, int] = {}
        tgt: dict[str, int] = {}
        n_again = 0
        for number, line in enumerate(read_lines(path, encoding), 1):
            try:
                e, f, *found = self.parse(line)
            except ValueError:
                raise DataError(
                    f"the line is not `{self.shape}`",
                    file=display_name(path),
                    line=number,
                    hint=self.doubt,
                    setting="format",
                ) from None
            except KeyError as error:
                what = f"the number {error} stands for no word"
                hint = "give the vocabulary files of the source and of the target, in this order"
                raise DataError(what, file=display_name(path), line=number, hint=hint) from None
            if not all(p is None or 0 <= p <= 1 + SURPLUS for p in found):
                what = "the probability is not between 0 and 1"
                raise DataError(what, file=display_name(path), line=number)
            fwd, rev = (math.nan if p is None else min(p, 1.0) for p in found)
            pair = (
                NULL if e is None else src.setdefault(e, len(src)),
                NULL if f is None else tgt.setdefault(f, len(tgt)),
            )
            n_again += rows.get(pair, (fwd, rev)) != (fwd, rev)
            rows[pair] = fwd, rev
        if n_again:
            logger.warning(
                "%s: %d lines repeat word pairs of lines before with other probabilities; the last line of a"
                " word pair counts",
                display_name(path),
                n_again,
            )
        ids = np.array(list(rows), dtype=np.int64).reshape(-1, 2)
        p = np.array(list(rows.values())).reshape(-1, 2)
        return Table(Vocab.of(src), Vocab.of(tgt), ids[:, 0], ids[:, 1], p)


def printed(numbers: Reals, form: str) -> list[str]:
    """Numbers as text. form: as of str.format. A number that occurs often is formatted once."""
    values, inverse = np.unique(numbers, return_inverse=True)
    texts = [form.format(value) for value in values.tolist()]
    return [texts[k] for k in inverse.tolist()]

"""Links for guided alignment: Marian trains its attention by them.

Marian takes the positions of links as they are: one that is not there is read as that of another sentence,
or ends the training. Positions count the pieces that Marian itself splits the text into, from 0. The position
behind the last piece is the end of the sentence. Marian links both ends by itself, so that a file need not
have this link, but may. Marian cuts a line at blanks and at each `-`, but not at tabs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from aligner.errors import DataError
from aligner.links.formats import LinkReader
from aligner.links.formats.format import Format
from aligner.links.links import Links
from aligner.text.corpus import Corpus

CUT = re.compile(rb"\t|:[^ \n]*-")  # where Marian cuts a line elsewhere than we do: a tab, `:1e-05`
REACHED = 0.9  # of both sides: links that end before this share of the words end early


class GuidedReader(LinkReader):
    """A link file for guided alignment, which must fit the text. Links of both ends are allowed.

    n_ends  how many links of both ends were read
    """

    def __init__(self, path: str, text: Corpus) -> None:
        super().__init__(path, base=0, text=text)
        self.n_ends = 0

    def read(self) -> Links:
        """The whole file. Refused are links in another form than `i-j`, with scores or without."""
        links = super().read()
        self.check_plain()
        return links

    def check(self, links: Links, text: Corpus, start: int = 0, n_before: int = 0) -> None:
        """As of LinkReader, but a link of both ends is none to words that are not there."""
        at = links.sentences + start
        ends = (links.src == text.src.lengths[at]) & (links.tgt == text.tgt.lengths[at])
        self.n_ends += int(ends.sum())
        try:
            super().check(links.chosen(~ends), text, start, n_before)
        except DataError as error:
            if error.setting != "base":
                raise
            hint = "the links look 1-based, and Marian counts from 0: convert them first"
            raise DataError(error.what, file=error.file, line=error.line, hint=hint) from None

    def _texts(self, eager: bool = False) -> tuple[Format, Iterator[tuple[bytes, int]]]:
        format, texts = super()._texts(eager)
        return format, self._uncut(texts)

    def _uncut(self, texts: Iterator[tuple[bytes, int]]) -> Iterator[tuple[bytes, int]]:
        """Refuses what Marian reads as other numbers."""
        n_before = 0
        for text, n in texts:
            found = CUT.search(text) if self.format in ("pharaoh", "scored") else None
            if found is not None:
                raise DataError(
                    "a tab among the links" if found[0] == b"\t" else "a score with a `-`",
                    file=self.name,
                    line=n_before + text.count(b"\n", 0, found.start()) + 1,
                    column=found.start() - text.rfind(b"\n", 0, found.start()),
                    hint="Marian reads the links behind it as others: write `i-j` with blanks between",
                )
            yield text, n
            n_before += n


def ends_early(links: Links, text: Corpus) -> npt.NDArray[np.bool_]:
    """[S] whether the links of a sentence pair end before its last tenth, on both sides.

    So do links of words beside a text of pieces. A sentence pair without links is not flagged.
    """
    early = np.diff(links.offsets) > 0
    for places, side in ((links.src, text.src), (links.tgt, text.tgt)):
        reach = np.zeros(len(text), dtype=np.int64)
        np.maximum.at(reach, links.sentences, places + np.int64(1))
        early &= reach < REACHED * side.lengths
    return early

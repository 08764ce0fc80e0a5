"""symal's .bal files, made by Moses' giza2bal.pl of two A3 files: both directions, three lines a pair.

    1
    3 la maison bleue # 0 1 2
    2 house blue # 2 3

After the target words stand the positions, from 1, of the source words that generate them, 0 for NULL: these
are the links of p(tgt | src), `bal`. After the source words stand those of the target words: these are the
links of p(src | tgt), `bal-reverse`. giza2bal.pl writes `1 ALIGN_ERR # 1` twice where its two files do not
match. Such a sentence pair is read as one without links, and a warning tells it.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from aligner.errors import DataError
from aligner.links import _giza
from aligner.links._giza import Status
from aligner.links.formats.format import Format, LinkFile, Messages
from aligner.links.formats.giza import (
    WORDS,
    check_base,
    check_words,
    known_words,
    marks_of,
    numbered,
    two_links,
)
from aligner.links.links import Links
from aligner.text.corpus import Corpus
from aligner.text.sides import Side

logger = logging.getLogger(__name__)

BEGIN = re.compile(rb"\s*\d+\s*\n\s*-?\d+ [^\n]*# ?[\d ]*\r?\n")
MESSAGES: Messages = {
    **WORDS,
    Status.NO_COUNT: ("the number of times that the sentence pair occurs was expected", None),
    Status.NO_LENGTH: ("the number of words was expected", None),
    Status.NO_SIGN: ("`#` was expected after as many words as are given for the line", None),
    Status.BAD_POSITION: ("a position was expected for each word", None),
}


class Bal(Format):
    """Both directions, one of which is read as links."""

    base = 1
    lines = 3
    written = False

    def __init__(self, help: str, reverse: bool) -> None:
        self.help, self.reverse = help, reverse

    def detect(self, block: bytes) -> bool:
        return not self.reverse and BEGIN.match(block) is not None

    def read(self, file: LinkFile, blocks: Iterable[tuple[bytes, int]]) -> Iterator[Links]:
        for forward, reverse in self.read_both(file, blocks):
            yield reverse if self.reverse else forward

    def read_both(
        self, file: LinkFile, blocks: Iterable[tuple[bytes, int]], keep_failed: bool = False
    ) -> Iterator[tuple[Links, Links]]:
        """(forward, reverse) of blocks. keep_failed: ALIGN_ERR has the link 0-0 that the file gives it."""
        check_base(file)
        n_before, failures = 0, []
        for text, n_lines in blocks:
            S = -(-n_lines // 3)
            room = len(text) // 2 + 1
            forward, reverse = (
                (np.zeros(S + 1, np.int64), np.empty(room, np.int32), np.empty(room, np.int32))
                for _ in range(2)
            )
            status, line, column, *n_links, failed = _giza.parse_bal(
                text, *known_words(file.text, n_before, S), forward, reverse
            )
            if status != Status.OK:
                messages = numbered(MESSAGES, n_before + line // 3)
                file.refuse(status, 3 * n_before + line, column, messages)
            both = []
            for (offsets, src, tgt), n in zip((forward, reverse), n_links, strict=True):
                links = Links(offsets, src[:n].copy(), tgt[:n].copy())
                if failed and not keep_failed:
                    links = links.chosen(~np.isin(links.sentences, failed))
                both.append(links)
            failures += [n_before + k + 1 for k in failed]
            yield both[0], both[1]
            n_before += S
        if failures:
            logger.warning(
                "%s: %d sentence pairs are ALIGN_ERR, the first is %d: giza2bal.pl found no match; %s",
                file.name,
                len(failures),
                failures[0],
                "they have the link 0-0" if keep_failed else "they have no links",
            )

    def write(self, links: Links, first: int, base: int, text: Corpus | None) -> bytearray:
        raise DataError("bal files have both directions", hint="give the links of both")

    def losses(self, links: Links) -> Counter[str]:
        return marks_of(links)


def format_bal(forward: Links, reverse: Links, text: Corpus) -> bytes:
    """The links of both directions of a text, with the bytes of giza2bal.pl; a side without words has 0."""
    check_words(text.src, text.tgt)
    tgt = _lines(text.tgt, forward, forward.tgt, forward.src)
    src = _lines(text.src, reverse, reverse.src, reverse.tgt)
    return "".join(f"1\n{above}{below}" for above, below in zip(tgt, src, strict=True)).encode()


def _lines(
    side: Side, links: Links, generated: npt.NDArray[np.int32], generating: npt.NDArray[np.int32]
) -> Iterator[str]:
    """A line a sentence of generated words: the words, and the positions of those that generate them."""
    places = side.offsets[links.sentences] + generated
    twice = np.flatnonzero(np.bincount(places, minlength=len(side.ids)) > 1)
    if twice.size:
        n = int(np.searchsorted(side.offsets, twice[0], side="right")) - 1
        raise two_links(side, n, int(twice[0] - side.offsets[n]), n + 1)
    found = np.zeros(len(side.ids), dtype=np.int64)
    found[places] = generating + 1
    positions, cuts = found.tolist(), side.offsets.tolist()
    for n in range(len(side)):
        words = side.sentence(n)
        yield f"{len(words)} {' '.join(words)}  # {' '.join(map(str, positions[cuts[n] : cuts[n + 1]]))}\n"

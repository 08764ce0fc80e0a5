"""Formats with one line a sentence: pharaoh, scored, gold, talp, simalign."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from aligner.errors import DataError
from aligner.links._links import Status, format_links, parse_links
from aligner.links.formats.format import POSITIONS, Format, LinkFile, Messages, first_line
from aligner.links.links import Links
from aligner.text.corpus import Corpus

ENOUGH = 20  # sentences with links, none of them to position 0, after which a file looks 1-based


@dataclass(frozen=True)
class Lines(Format):
    """Links `i-j` between blanks, one line a sentence. A mark is one character, or "" where there is none."""

    help: str
    base: int
    possible: str = ""  # the mark between the positions of a possible link, instead of "-"
    score: str = ""  # the mark before a link's score
    numbered: ClassVar[bool] = False  # whether lines begin with a sentence number and a tab

    def detect(self, block: bytes) -> bool:
        """Links with a mark. A format without marks (pharaoh) recognises nothing."""
        mark = re.escape(self.possible or self.score).encode()
        begins = re.match(rb"\s*\d+[-?p]\d", first_line(block))
        return bool(mark and begins and re.search(rb"\d" + mark, block))

    def scored(self, block: bytes) -> bool:
        """Whether links have scores, from the first block with links."""
        return bool(self.score)

    def read(self, file: LinkFile, blocks: Iterable[tuple[bytes, int]]) -> Iterator[Links]:
        n_before = n_links = 0
        for text, n_lines in blocks:
            if n_links == 0:
                scored = self.scored(text)
            if n_before == 0:
                number = re.match(rb"\d{1,9}\t", text) if self.numbered else None
                first = int(number[0]) if number else 0
            room = len(text) // 4 + 1
            offsets = np.empty(n_lines + 1, dtype=np.int64)
            src, tgt = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
            sure = np.empty(room if self.possible else 0, dtype=np.uint8)
            scores = np.empty(room if scored else 0, dtype=np.float64)
            possible, mark = ord(self.possible or "\0"), ord(self.score) if scored else 0
            arrays = offsets, src, tgt, sure, scores
            status, line, column, n = parse_links(
                text, possible, mark, self.numbered, first + n_before, file.base or 0, *arrays
            )
            file.refuse(status, n_before + line, column, self.messages())
            links = Links(
                offsets, src[:n], tgt[:n], sure[:n] if self.possible else None, scores[:n] if scored else None
            )
            if file.base is None:
                file.base = self.find_base(file, links)
                for positions in (links.src, links.tgt):
                    np.subtract(positions, file.base, out=positions)
            yield links
            n_before, n_links = n_before + n_lines, n_links + n

    def find_base(self, file: LinkFile, links: Links) -> int:
        """0 or 1, whichever the first block's positions allow. The positions stand as the file has them."""
        if len(links.src) and min(links.src.min(), links.tgt.min()) == 0:
            return 0
        n_lines = sum(a < b for a, b in itertools.pairwise(links.offsets.tolist()))
        if self.base == 0 and n_lines >= ENOUGH:
            raise DataError(
                f"no link to position 0 in {n_lines} sentences: the links look 1-based",
                file=file.name,
                hint="say whether they count from 0 or from 1",
                setting="base",
            )
        return self.base

    def messages(self) -> Messages:
        marks = "`-`" + (f" or `{self.possible}`" if self.possible else "")
        no_order = "the sentence number does not follow that of the line before"
        return {
            **POSITIONS,
            Status.NO_SEPARATOR: (f"{marks} was expected", None),
            Status.TRAILING: ("a blank was expected after the link", None),
            Status.BELOW_BASE: ("position 0 in links that count from 1", "say if they count from 0"),
            Status.NO_SCORE: (f"`{self.score}` and a number were expected after the link", None),
            Status.BAD_SCORE: ("the score is not a finite number", "correct it or leave the link out"),
            Status.NO_ID: ("a sentence number and a tab were expected", None),
            Status.BAD_ID: (no_order, "sentence numbers must rise by one"),
            Status.BARS: ("||| among the links", "keep the column of the links only"),
        }

    def write(self, links: Links, first: int, base: int, text: Corpus | None) -> bytearray:
        if self.score and not self.numbered and links.scores is None and len(links.src):
            what = "the links have no scores to write"
            raise DataError(what, hint="choose another format", setting="output_format")
        sure = links.sure if self.possible else None
        columns = links.offsets, links.src, links.tgt, sure, links.scores
        marks = ord(self.possible or "-"), ord(self.score) if self.score and links.scores is not None else 0
        return format_links(*columns, *marks, self.numbered, first, base, wpt=False)

    def losses(self, links: Links) -> Counter[str]:
        lost: Counter[str] = Counter()
        if links.scores is not None and not self.score:
            lost["scores left out"] = len(links.scores)
        if links.sure is not None and not self.possible:
            lost["possible links written as plain ones"] = int((links.sure == 0).sum())
        return +lost


class SimAlign(Lines):
    """Each line begins with a sentence number and a tab. Links may have scores."""

    numbered = True

    def detect(self, block: bytes) -> bool:
        """A number and a tab, but not three numbers: those are WPT's."""
        return re.match(rb"\d+\t(?!\s*\d+\s+\d+(\s|$))", first_line(block)) is not None

    def scored(self, block: bytes) -> bool:
        return re.search(rb"\t\d+[-p]\d+-", block) is not None

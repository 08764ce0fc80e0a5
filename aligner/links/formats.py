"""Link files to Links and back. Every format is one row of FORMATS; docs/formats.md shows examples.

Inside, positions are 0-based and the source side comes first, whatever the file says. Links keep the order
they have in the file.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aligner.errors import DataError
from aligner.files import display_name, line_blocks, read_chunks

if TYPE_CHECKING:
    from aligner.links.links import Links
    from aligner.text.corpus import Corpus

BLOCK = 1 << 13  # sentences read, worked on and written at a time
ENOUGH = 20  # sentences with links, none of them to position 0, after which a file looks 1-based
MAX_WPT_SENTENCE = 1 << 24  # a larger number is taken for a mistake where no text says otherwise


@dataclass(frozen=True)
class Format:
    """How a link file is written. Marks are single characters, "" where there is none."""

    help: str
    base: int  # the position of a sentence's first word where the user does not say
    possible: str = ""  # between the positions of a possible link, instead of "-"
    score: str = ""  # before a link's score
    numbered: bool = False  # lines begin with a sentence number, from 0, and a tab
    link_per_line: bool = False  # WPT: `sentence i j [S|P] [confidence]`, everything from 1


FORMATS = {
    "pharaoh": Format("`i-j`: plain links, written by fast_align, Moses and most tools", 0),
    "scored": Format("`i-j:0.93`: links with a score", 0, score=":"),
    "gold": Format("`i-j` sure, `i?j` possible", 0, possible="?"),
    "talp": Format("`i-j` sure, `ipj` possible, from 1", 1, possible="p"),
    "wpt": Format("`sentence i j S|P`: one link per line, from 1", 1, link_per_line=True),
    "simalign": Format(
        "`n<TAB>links`: SimAlign's, links `i-j`, `ipj` or `i-j-0.93`", 0, "p", "-", numbered=True
    ),
}


class LinkReader:
    """A link file, read block by block. Its format and base are known, if not given, from the first block.

    text: the sentences that the links belong to. Links to words that are not there are refused, and so is
    another number of lines; WPT, which has no lines for sentences without links, is filled up.
    format_option and base_option are what messages tell the user to pass.
    """

    def __init__(
        self,
        path: str,
        format: str | None = None,
        base: int | None = None,
        *,
        text: Corpus | None = None,
        format_option: str = "--from",
        base_option: str = "--base",
    ) -> None:
        self.path, self.name = path, display_name(path)
        self.format, self.base, self.text = format, base, text
        self.format_option, self.base_option = format_option, base_option
        self.n_null = 0  # WPT links to the NULL word, left out
        self._detected = format is None
        self._first_number = 0  # of a file whose lines are numbered
        self._scored = False  # whether the links have scores

    def read(self) -> Links:
        """The whole file."""
        from aligner.links.links import Links

        return Links.joined(block for _, block in self.blocks())

    def blocks(self) -> Iterator[tuple[int, Links]]:
        """(number of the first sentence, links) of BLOCK sentences at a time, the last perhaps fewer."""
        n = 0
        for links in self._blocks():
            if self.text is not None:
                self.check(links.part(0, min(len(links), max(0, len(self.text) - n))), self.text, n)
            yield n, links
            n += len(links)
        if self.text is not None and n != len(self.text):
            raise DataError(
                f"{self.name} has links of {n} sentences, the text has {len(self.text)}",
                hint="text and links must match line by line",
            )

    @property
    def link_per_line(self) -> bool:
        """Whether the number of sentences cannot be known from the file."""
        return self.format is not None and FORMATS[self.format].link_per_line

    def _blocks(self) -> Iterator[Links]:
        texts = line_blocks(read_chunks(self.path), BLOCK)
        first = next(texts, None)
        if first is not None:
            if self.format is None:
                self.format = self._find_format(first[0])
            texts = itertools.chain([first], texts)
        if self.link_per_line:
            links = self._parse_wpt(texts)
            if self.text is not None:
                links = links.padded(len(self.text))
            for start in range(0, len(links), BLOCK):
                yield links.part(start, min(start + BLOCK, len(links)))
        else:
            n = 0
            for text, n_lines in texts:
                yield self._parse(text, n_lines, n)
                n += n_lines

    def _find_format(self, text: bytes) -> str:
        """The one format that the first block can be in."""
        for line in text.split(b"\n"):
            if line.strip():
                if re.match(rb"\s*\d+\s+\d+\s+\d+(\s|$)", line):
                    return "wpt"
                if re.match(rb"\d+\t", line):
                    return "simalign"
                break
        marks = {"scored": rb"\d:", "gold": rb"\d\?", "talp": rb"\dp\d"}
        found = [name for name, mark in marks.items() if re.search(mark, text)]
        if len(found) > 1:
            raise DataError(
                f"the links look like {' and '.join(found)} at once",
                file=self.name,
                hint=f"name the format with {self.format_option}",
            )
        return found[0] if found else "pharaoh"

    def _parse(self, text: bytes, n_lines: int, n_before: int) -> Links:
        """The links of whole lines."""
        import numpy as np

        from aligner.links._links import parse_links
        from aligner.links.links import Links

        assert self.format is not None
        style = FORMATS[self.format]
        if n_before == 0:
            number = re.match(rb"\d{1,9}\t", text) if style.numbered else None
            self._first_number = int(number[0]) if number else 0
            self._scored = bool(style.score) and (
                not style.numbered or re.search(rb"\t\d+[-p]\d+-", text) is not None
            )
        room = len(text) // 4 + 1
        offsets = np.empty(n_lines + 1, dtype=np.int64)
        src, tgt = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
        sure = np.empty(room if style.possible else 0, dtype=np.uint8)
        scores = np.empty(room if self._scored else 0, dtype=np.float64)
        status, line, column, n = parse_links(
            text,
            ord(style.possible or "\0"),
            ord(style.score) if self._scored else 0,
            style.numbered,
            self._first_number + n_before,
            self.base or 0,
            offsets,
            src,
            tgt,
            sure,
            scores,
        )
        self._refuse(status, n_before + line + 1, column + 1)
        links = Links(
            offsets,
            src[:n],
            tgt[:n],
            sure[:n] if style.possible else None,
            scores[:n] if self._scored else None,
        )
        if self.base is None:
            self.base = self._find_base(links)
            for positions in (links.src, links.tgt):
                np.subtract(positions, self.base, out=positions)
        return links

    def _find_base(self, links: Links) -> int:
        """0 or 1, whichever the first block's positions, read as they stand, allow."""
        assert self.format is not None
        usual = FORMATS[self.format].base
        if len(links.src) == 0:
            return usual
        if min(links.src.min(), links.tgt.min()) == 0:
            return 0
        n_lines = sum(a < b for a, b in itertools.pairwise(links.offsets.tolist()))
        if usual == 0 and n_lines >= ENOUGH:
            raise DataError(
                f"no link to position 0 in {n_lines} sentences: the links look 1-based",
                file=self.name,
                hint=f"say which with {self.base_option} 1 or {self.base_option} 0",
            )
        return usual

    def _parse_wpt(self, texts: Iterable[tuple[bytes, int]]) -> Links:
        """One link per line, in any order; a sentence without links has no line.

        Position 0 is the NULL word in 1-based files: such links are counted and left out.
        """
        import numpy as np

        from aligner.links._links import parse_wpt
        from aligner.links.links import Links

        limit = MAX_WPT_SENTENCE if self.text is None else len(self.text)
        parts = [
            (np.empty(0, np.int64), *(np.empty(0, x) for x in (np.int32, np.int32, np.uint8, np.float64)))
        ]
        n_before = 0
        for text, n_lines in texts:
            sentences = np.empty(n_lines, dtype=np.int64)
            src, tgt = np.empty(n_lines, dtype=np.int32), np.empty(n_lines, dtype=np.int32)
            sure, scores = np.empty(n_lines, dtype=np.uint8), np.empty(n_lines, dtype=np.float64)
            status, line, column, n = parse_wpt(text, sentences, src, tgt, sure, scores)
            self._refuse(status, n_before + line + 1, column + 1)
            if n and (largest := int(sentences[:n].max())) >= limit:
                raise DataError(
                    f"sentence {largest + 1} is beyond the last, {limit}",
                    file=self.name,
                    hint="is the sentence number wrong, or the text another?",
                )
            parts.append((sentences[:n], src[:n], tgt[:n], sure[:n], scores[:n]))
            n_before += n_lines
        sentences, src, tgt, sure, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
        if self.base == 0:
            src, tgt = src + 1, tgt + 1
        self.base = 1 if self.base is None else self.base
        S = int(sentences.max()) + 1 if len(sentences) else 0
        words = (src >= 0) & (tgt >= 0)
        self.n_null = len(src) - int(words.sum())
        keep = np.flatnonzero(words)[np.argsort(sentences[words], kind="stable")]
        offsets = np.zeros(S + 1, dtype=np.int64)
        np.cumsum(np.bincount(sentences[words], minlength=S), out=offsets[1:])
        src, tgt, sure, scores = src[keep], tgt[keep], sure[keep], scores[keep]
        if np.isnan(scores).all():
            return Links(offsets, src, tgt, sure)
        return Links(offsets, src, tgt, sure, np.where(np.isnan(scores), 1.0, scores))

    def check(self, links: Links, text: Corpus, start: int = 0, skipped: int = 0) -> None:
        """Refuses links to words that are not there.

        Sentence 0 of links is sentence `start` of the text, and sentence `start + skipped` of the file.
        """
        import numpy as np

        at = links.sentences
        n_src, n_tgt = (
            np.diff(side.offsets[start : start + len(links) + 1])[at] for side in (text.src, text.tgt)
        )
        outside = np.flatnonzero((links.src >= n_src) | (links.tgt >= n_tgt))
        if not outside.size:
            return
        k, base = int(outside[0]), self.base or 0
        sentence = int(at[k]) + start + skipped + 1
        one_more = (links.src <= n_src) & (links.tgt <= n_tgt)
        looks_one_based = base == 0 and one_more.all() and min(links.src.min(), links.tgt.min()) > 0
        raise DataError(
            f"link {links.src[k] + base}-{links.tgt[k] + base} of sentence {sentence} is outside its pair"
            f" of {n_src[k]} and {n_tgt[k]} words",
            file=self.name,
            line=None if self.link_per_line else sentence,
            hint=f"the links look 1-based: pass {self.base_option} 1"
            if looks_one_based
            else "are text and links of the same sentences, with the sides in the same order?",
        )

    def _refuse(self, status: int, line: int, column: int) -> None:
        """What a kernel could not read, in words."""
        from aligner.links._links import Status

        if status == Status.OK:
            return
        assert self.format is not None
        style = FORMATS[self.format]
        look = f"is this really a file of links in format {self.format}?"
        if self._detected:
            look = f"the file looked like {self.format}: name its format with {self.format_option}"
        what, hint = {
            Status.NO_NUMBER: ("a position was expected", look),
            Status.NO_SEPARATOR: (
                "`-`" + (f" or `{style.possible}`" if style.possible else "") + " was expected", look
            ),
            Status.TOO_LARGE: ("the position is above 2,147,483,647", "is it a position?"),
            Status.TRAILING: ("a blank was expected after the link", look),
            Status.BELOW_BASE: (
                "position 0 in links that count from 1",
                f"pass {self.base_option} 0 if they count from 0",
            ),
            Status.NO_SCORE: (f"`{style.score}` and a number were expected after the link", look),
            Status.BAD_SCORE: ("the score is not a finite number", "correct it or leave the link out"),
            Status.NO_ID: ("a sentence number and a tab were expected", look),
            Status.BAD_ID: (
                "the sentence number does not follow that of the line before",
                "sentence numbers must rise by one",
            ),
            Status.BAD_COLUMNS: ("`sentence i j [S|P] [confidence]` was expected", look),
            Status.BARS: ("||| among the links", "keep the column of the links only"),
            Status.SENTENCE_ZERO: ("sentence 0", "WPT files count sentences from 1"),
        }[Status(status)]  # fmt: skip
        raise DataError(what, file=self.name, line=line, column=column, hint=hint)


def format_links(links: Links, format: str, first: int = 0, base: int | None = None) -> bytearray:
    """The links as text. first: the number of the first sentence, from 0, where lines are numbered."""
    from aligner.links._links import format_links

    style = FORMATS[format]
    if style.score == ":" and links.scores is None and len(links.src):
        raise DataError("the links have no scores to write", hint="choose another format with --to")
    scored = " " if style.link_per_line else style.score
    return format_links(
        links.offsets,
        links.src,
        links.tgt,
        links.sure if style.possible or style.link_per_line else None,
        links.scores,
        ord(style.possible or "-"),
        ord(scored) if scored and links.scores is not None else 0,
        style.numbered,
        first + style.link_per_line,
        style.base if base is None else base,
        style.link_per_line,
    )


def losses(links: Links, format: str) -> Counter[str]:
    """What the format cannot say of these links, and of how many of them."""
    style = FORMATS[format]
    lost: Counter[str] = Counter()
    if links.scores is not None and not (style.score or style.link_per_line):
        lost["scores left out"] = len(links.scores)
    if links.sure is not None and not (style.possible or style.link_per_line):
        lost["possible links written as plain ones"] = int((links.sure == 0).sum())
    return +lost

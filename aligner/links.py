"""Link files: which source word is linked with which target word, a line a sentence pair.

Inside, positions are 0-based and the source side comes first, whatever the file says. Links keep the
order they have in the file. Every format is one row of FORMATS; docs/formats.md shows examples.
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
    import numpy as np
    import numpy.typing as npt

    from aligner.corpus import Corpus

BLOCK = 1 << 13  # sentences read, worked on and written at a time
ENOUGH = 20  # sentences with links, none of them to position 0, after which a file looks 1-based


@dataclass(frozen=True)
class Format:
    """How a link file is written. Marks are single characters, "" where there is none."""

    help: str
    base: int  # the position of a sentence's first word where the user does not say
    possible: str = ""  # between the positions of a possible link, instead of "-"
    score: str = ""  # before a link's score
    numbered: bool = False  # lines begin with a sentence number, from 0, and a tab
    link_a_line: bool = False  # WPT: `sentence i j [S|P] [confidence]`, everything from 1


FORMATS = {
    "pharaoh": Format("`i-j`: plain links, of fast_align, Moses and everybody", 0),
    "scored": Format("`i-j:0.93`: links with a score", 0, score=":"),
    "gold": Format("`i-j` sure, `i?j` possible", 0, possible="?"),
    "talp": Format("`i-j` sure, `ipj` possible, from 1", 1, possible="p"),
    "wpt": Format("`sentence i j S|P`: one link a line, from 1", 1, link_a_line=True),
    "simalign": Format(
        "`n<TAB>links`: SimAlign's, links `i-j`, `ipj` or `i-j-0.93`", 0, "p", "-", numbered=True
    ),
}


@dataclass(frozen=True)
class Links:
    """The links of S sentence pairs.

    offsets   [S + 1]    links of sentence n are those from offsets[n] to offsets[n + 1]
    src, tgt  [n_links]  positions
    sure      [n_links]  1 sure, 0 possible; None: all are sure
    scores    [n_links]  None: links have no scores
    """

    offsets: npt.NDArray[np.int64]
    src: npt.NDArray[np.int32]
    tgt: npt.NDArray[np.int32]
    sure: npt.NDArray[np.uint8] | None = None
    scores: npt.NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sentences(self) -> npt.NDArray[np.int64]:
        """[n_links] link -> its sentence"""
        import numpy as np

        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def pairs(self) -> list[list[tuple[int, int]]]:
        """The links of each sentence as (source, target) positions."""
        links = list(zip(self.src.tolist(), self.tgt.tolist(), strict=True))
        cuts = self.offsets.tolist()
        return [links[a:b] for a, b in zip(cuts, cuts[1:], strict=False)]

    def transposed(self) -> Links:
        """The same links with the sides swapped."""
        return Links(self.offsets, self.tgt, self.src, self.sure, self.scores)

    def part(self, start: int, stop: int) -> Links:
        """Sentences start to stop."""
        offsets = self.offsets[start : stop + 1]
        a, b = int(offsets[0]), int(offsets[-1])
        columns = (None if x is None else x[a:b] for x in (self.sure, self.scores))
        return Links(offsets - a, self.src[a:b], self.tgt[a:b], *columns)  # type: ignore[arg-type]

    def padded(self, n: int) -> Links:
        """With sentences without links at the end, n in all if there were fewer."""
        import numpy as np

        more = np.full(max(0, n - len(self)), self.offsets[-1])
        offsets = np.concatenate([self.offsets, more])
        return Links(offsets, self.src, self.tgt, self.sure, self.scores)

    @staticmethod
    def from_pairs(sentences: Iterable[Iterable[tuple[int, int]]]) -> Links:
        """Links given as (source, target) positions."""
        import numpy as np

        lists = [list(sentence) for sentence in sentences]
        flat = np.array([link for links in lists for link in links], dtype=np.int32).reshape(-1, 2)
        offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
        return Links(offsets, flat[:, 0].copy(), flat[:, 1].copy())

    @staticmethod
    def joined(blocks: Iterable[Links]) -> Links:
        """Blocks of sentences as one."""
        import numpy as np

        parts = list(blocks)
        if len(parts) == 1:
            return parts[0]
        starts = np.cumsum([0, *(len(part.src) for part in parts)])
        offsets = [part.offsets[1:] + start for part, start in zip(parts, starts, strict=False)]

        def column(name: str) -> npt.NDArray[np.generic] | None:
            columns = [getattr(part, name) for part in parts]
            return None if any(x is None for x in columns) else np.concatenate(columns)

        return Links(
            np.concatenate([np.zeros(1, dtype=np.int64), *offsets]),
            *(column(name) for name in ("src", "tgt", "sure", "scores")),  # type: ignore[arg-type]
        )


_STATUS = {
    1: "a position was expected",
    2: "`-` was expected{possible} between two positions",
    3: "a position above 2,147,483,647",
    4: "text right behind a link",
    5: "position 0 in 1-based links",
    6: "a score was expected{score} behind the link",
    7: "the score is not a finite number",
    8: "a sentence number and a tab were expected",
    9: "the sentence number does not follow that of the line before",
    10: "`sentence i j [S|P] [confidence]` was expected",
    11: "||| among the links",
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
        self.n_sentences = 0  # read so far
        self.n_null = 0  # WPT links to the NULL word, left out
        self._first_number = 0  # of a file whose lines are numbered
        self._scored = False  # whether the links have scores

    def read(self) -> Links:
        """The whole file."""
        blocks = list(self.blocks())
        return Links.joined(blocks) if blocks else Links.from_pairs([])

    def blocks(self) -> Iterator[Links]:
        """The file's sentences, BLOCK at a time, the last block perhaps fewer."""
        texts = line_blocks(read_chunks(self.path), BLOCK)
        first = next(texts, None)
        if first is not None:
            if self.format is None:
                self.format = self._find_format(first[0])
            texts = itertools.chain([first], texts)
            if FORMATS[self.format].link_a_line:
                blocks = self._wpt_blocks(texts)
            else:
                blocks = (self._parse(text, n_lines) for text, n_lines in texts)
            for block in blocks:
                if self.text is not None:
                    n_known = min(len(block), max(0, len(self.text) - self.n_sentences))
                    self.check(block.part(0, n_known), self.text, self.n_sentences)
                yield block
                self.n_sentences += len(block)
        if self.text is not None and self.n_sentences != len(self.text):
            raise DataError(
                f"{self.name} has links of {self.n_sentences} sentences, the text has {len(self.text)}",
                hint="text and links must match line by line",
            )

    def _wpt_blocks(self, texts: Iterable[tuple[bytes, int]]) -> Iterator[Links]:
        """The whole file, since its links may come in any order, in blocks of sentences."""
        links = self._parse_wpt(texts)
        if self.text is not None:
            links = links.padded(len(self.text))
        for start in range(0, len(links), BLOCK):
            yield links.part(start, min(start + BLOCK, len(links)))

    def _find_format(self, text: bytes) -> str:
        """The one format that the first block can be in."""
        for line in text.split(b"\n"):
            if line.strip():
                if re.match(rb"\d+\t", line) and not re.match(rb"\d+\t\d+\s", line):
                    return "simalign"
                if re.match(rb"\s*\d+\s+\d+\s+\d+\s*($|[SP]|[\d.])", line):
                    return "wpt"
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

    def _parse(self, text: bytes, n_lines: int) -> Links:
        """The links of whole lines."""
        import numpy as np

        from aligner._links import parse_links

        assert self.format is not None
        style = FORMATS[self.format]
        if self.n_sentences == 0:
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
            self._first_number + self.n_sentences,
            self.base or 0,
            offsets,
            src,
            tgt,
            sure,
            scores,
        )
        self._refuse(status, self.n_sentences + line + 1, column + 1)
        links = Links(
            offsets,
            src[:n],
            tgt[:n],
            sure[:n] if style.possible else None,
            scores[:n] if self._scored else None,
        )
        if self.base is None:
            self.base = self._find_base(links)
            links.src.__isub__(self.base)
            links.tgt.__isub__(self.base)
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
        """One link a line, in any order; a sentence without links has no line.

        Position 0 is the NULL word in 1-based files: such links are counted and left out.
        """
        import numpy as np

        from aligner._links import parse_wpt

        parts = []
        n_before = 0
        for text, n_lines in texts:
            sentences = np.empty(n_lines, dtype=np.int64)
            src, tgt = np.empty(n_lines, dtype=np.int32), np.empty(n_lines, dtype=np.int32)
            sure, scores = np.empty(n_lines, dtype=np.uint8), np.empty(n_lines, dtype=np.float64)
            status, line, column, n = parse_wpt(text, sentences, src, tgt, sure, scores)
            self._refuse(status, n_before + line + 1, column + 1)
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

        at = links.sentences + start
        n_src, n_tgt = text.src.lengths[at], text.tgt.lengths[at]
        outside = np.flatnonzero((links.src >= n_src) | (links.tgt >= n_tgt))
        if not outside.size:
            return
        k, base = int(outside[0]), self.base or 0
        one_more = (links.src <= n_src) & (links.tgt <= n_tgt)
        looks_one_based = base == 0 and one_more.all() and min(links.src.min(), links.tgt.min()) > 0
        raise DataError(
            f"link {links.src[k] + base}-{links.tgt[k] + base} is outside its sentence pair"
            f" of {n_src[k]} and {n_tgt[k]} words",
            file=self.name,
            line=int(at[k]) + skipped + 1,
            hint=f"the links look 1-based: pass {self.base_option} 1"
            if looks_one_based
            else "are text and links of the same sentences, with the sides in the same order?",
        )

    def _refuse(self, status: int, line: int, column: int) -> None:
        if status == 0:
            return
        assert self.format is not None
        style = FORMATS[self.format]
        what = _STATUS[status].format(
            possible=f" or `{style.possible}`" if style.possible else "",
            score=f" (`{style.score}`)" if style.score else "",
        )
        hint = f"the file is read as {self.format}: name its format with {self.format_option}"
        if status == 5:
            hint = f"pass {self.base_option} 0 if the first word is number 0"
        elif status == 11:
            hint = "keep the column of the links only"
        elif status == 9:
            hint = "sentence numbers must rise by one"
        raise DataError(what, file=self.name, line=line, column=column, hint=hint)


def format_links(links: Links, format: str, first: int = 0, base: int | None = None) -> bytearray:
    """The links as text. first: the number of the first sentence, from 0, where lines are numbered."""
    from aligner._links import format_links

    style = FORMATS[format]
    if style.score == ":" and links.scores is None:
        raise DataError("the links have no scores to write", hint="choose another format with --to")
    scored = " " if style.link_a_line else style.score
    return format_links(
        links.offsets,
        links.src,
        links.tgt,
        links.sure if style.possible or style.link_a_line else None,
        links.scores,
        ord(style.possible or "-"),
        ord(scored) if scored and links.scores is not None else 0,
        style.numbered,
        first + style.link_a_line,
        style.base if base is None else base,
        style.link_a_line,
    )


def losses(links: Links, format: str) -> Counter[str]:
    """What the format cannot say of these links, and of how many of them."""
    style = FORMATS[format]
    lost: Counter[str] = Counter()
    if links.scores is not None and not (style.score or style.link_a_line):
        lost["scores"] = len(links.scores)
    if links.sure is not None and not (style.possible or style.link_a_line):
        lost["possible links told from sure ones"] = int((links.sure == 0).sum())
    return +lost

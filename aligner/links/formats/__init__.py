"""Link files to Links and back. A format is a module here and a row of FORMATS; docs/formats.md has examples.

Inside, positions count from 0 and the source side comes first, whatever the file says. Links keep the order
they have in the file.
"""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Iterator, Sequence

import numpy as np

from aligner.errors import DataError, number_of
from aligner.files import display_name, read_chunks
from aligner.links.formats.bal import Bal
from aligner.links.formats.format import Format, LinkFile
from aligner.links.formats.giza import A3
from aligner.links.formats.lines import Lines, SimAlign
from aligner.links.formats.parts import merged
from aligner.links.formats.wpt import Wpt
from aligner.links.links import Lengths, Links
from aligner.text.corpus import Corpus
from aligner.text.reading import line_blocks

logger = logging.getLogger(__name__)

BLOCK = 1 << 13  # sentences read, worked on and written at a time

FORMATS: dict[str, Format] = {
    "pharaoh": Lines("`i-j`: plain links, written by fast_align, Moses and most tools", 0),
    "scored": Lines("`i-j:0.93`: links with a score", 0, score=":"),
    "gold": Lines("`i-j` sure, `i?j` possible", 0, possible="?"),
    "talp": Lines("`i-j` sure, `ipj` possible, from 1", 1, possible="p"),
    "wpt": Wpt(),
    "simalign": SimAlign("`n<TAB>links`: SimAlign's, links `i-j`, `ipj` or `i-j-0.93`", 0, "p", "-"),
    "a3": A3("GIZA++'s A3 file of p(tgt | src): line 2 has the target words, line 3 the source words", False),
    "a3-reverse": A3("GIZA++'s A3 file of p(src | tgt): line 2 has the source words", True),
    "bal": Bal("symal's input, both directions: read as p(tgt | src), written of two files", False),
    "bal-reverse": Bal("the same, read as p(src | tgt); not written", True),
}
BEFORE_LINKS = re.compile(rb"^.* \|\|\| ", re.MULTILINE)  # a line up to its last bars
PLAIN = "pharaoh"  # the format of a file that has no format's marks


class LinkReader(LinkFile):
    """A link file, read block by block. The first block tells the format and the base that are not given.

    path     of the file, or of the parts of an A3 file
    text     the sentences that the links belong to. Links to words that are not there are refused, and so is
             another number of sentences. A sparse format, as WPT, is filled up with sentences without links.
    reverse  whether p(src | tgt) is wanted: `a3` is then read as `a3-reverse`, and `bal` as `bal-reverse`
    bars     whether lines may be `anything ||| links`
    """

    def __init__(
        self,
        path: str | Sequence[str],
        format: str | None = None,
        base: int | None = None,
        *,
        text: Corpus | None = None,
        reverse: bool = False,
        bars: bool = False,
    ) -> None:
        self.paths = [path] if isinstance(path, str) else list(path)
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        super().__init__(display_name(self.paths[0]) + more, format, base, text)
        self.has_lines = len(self.paths) == 1
        self.reverse, self.bars = reverse, bars
        if format is not None:
            self.format = self._turned(format)

    @property
    def sparse(self) -> bool:
        """Whether the file does not tell how many sentences there are."""
        return self.format is not None and FORMATS[self.format].sparse

    def read(self) -> Links:
        """The whole file."""
        return Links.joined(block for _, block in self.blocks())

    def blocks(self) -> Iterator[tuple[int, Links]]:
        """(number of the first sentence, links) of BLOCK sentences at a time, the last perhaps fewer."""
        n = 0
        for links in self._blocks():
            self._check_part(links, n)
            yield n, links
            n += len(links)
        self._check_number(n)

    def _check_part(self, links: Links, n: int) -> None:
        """Refuses links to words that are not there. Sentence 0 of links is sentence n of the text."""
        if self.text is not None:
            self.check(links.part(0, min(len(links), max(0, len(self.text) - n))), self.text, n)

    def _check_number(self, n: int) -> None:
        """Refuses n sentences, if the text has another number."""
        if self.text is not None and n != len(self.text):
            raise DataError(
                f"{self.name} has links of {number_of(n, 'sentence')}, the text has {len(self.text)}",
                hint="text and links must match line by line",
            )

    def directions(self) -> Iterator[tuple[int, Links, Links]]:
        """(number of the first sentence, links forward, links reverse) of a file that has both directions."""
        n = 0
        for both in self._both():
            for links in both:
                self._check_part(links, n)
            yield n, *both
            n += len(both[0])
        self._check_number(n)

    def _both(self) -> Iterator[tuple[Links, Links]]:
        """Blocks of both directions, which a bal file has."""
        format, texts = self._texts()
        if not isinstance(format, Bal):
            hint = "give the file of the other direction, too"
            raise DataError(f"links of one direction, in format {self.format}", file=self.name, hint=hint)
        yield from format.read_both(self, texts)

    def _blocks(self) -> Iterator[Links]:
        format, texts = self._texts()
        if isinstance(format, Bal) and self.detected and not self.reverse:
            raise DataError(
                "the file has both directions",
                file=self.name,
                hint="name the one that is meant: bal is p(tgt | src), bal-reverse is p(src | tgt)",
                setting="format",
            )
        for links in format.read(self, texts):
            for start in range(0, len(links), BLOCK):
                yield links.part(start, min(start + BLOCK, len(links)))

    def _texts(self, eager: bool = False) -> tuple[Format, Iterator[tuple[bytes, int]]]:
        """The format, and blocks of (whole lines, how many). eager: lines do not wait for others."""
        self.n_null = self.n_scored = 0
        chunks = read_chunks(self.paths[0]) if len(self.paths) == 1 else merged(self.paths)
        texts = line_blocks(chunks, BLOCK, eager)
        if self.bars:
            texts = ((BEFORE_LINKS.sub(b"", x) if b" ||| " in x else x, n) for x, n in texts)
        head = list(itertools.islice(texts, 1))
        if self.format is None:
            self.format = self._turned(self._find_format(head[0][0] if head else b""))
        format, texts = FORMATS[self.format], itertools.chain(head, texts)
        if format.lines > 1:
            texts = line_blocks((text for text, _ in texts), BLOCK * format.lines)
        return format, texts

    def _turned(self, format: str) -> str:
        """The format of the same name for the reverse direction, where there is one and it is wanted."""
        return name if self.reverse and (name := f"{format}-reverse") in FORMATS else format

    def _find_format(self, block: bytes) -> str:
        """The one format whose marks the first block has."""
        found = [name for name, format in FORMATS.items() if format.detect(block)]
        if len(found) > 1:
            raise DataError(
                f"the links look like {' and '.join(found)} at once",
                file=self.name,
                hint="name the format",
                setting="format",
            )
        return found[0] if found else PLAIN

    def tell_null(self) -> None:
        """Says how many links to the NULL word were left out of what was read."""
        if self.n_null:
            what = number_of(self.n_null, "link")
            logger.warning("%s: %s to the NULL word (0) left out", self.name, what)

    def check_plain(self) -> None:
        """Refuses a file whose links are not `i-j`, with scores or without, once its format is known."""
        if self.format not in ("pharaoh", "scored"):
            what = f"the links look like {self.format}"
            raise DataError(what, file=self.name, hint="convert them to `i-j` first")

    def check(self, links: Links, text: Corpus, start: int = 0, n_before: int = 0) -> None:
        """Refuses links to words that are not there. Sentence 0 of links is sentence `start` of the text.

        n_before: how many sentences stand before the text in the file
        """
        src, tgt = (np.diff(side.offsets[start : start + len(links) + 1]) for side in (text.src, text.tgt))
        self.check_lengths(links, src, tgt, start + n_before)

    def check_lengths(self, links: Links, src: Lengths, tgt: Lengths, start: int = 0) -> None:
        """The same, if only numbers of words are known. Sentence 0 of links is sentence `start` of the file.

        src, tgt: [S] of the links' sentences
        """
        outside = links.outside(src, tgt)
        if not outside.any():
            return
        at, k, base = links.sentences, int(outside.argmax()), self.base or 0
        n_src, n_tgt = src[at], tgt[at]
        sentence = int(at[k]) + start
        one_more = (links.src <= n_src) & (links.tgt <= n_tgt)
        one_based = base == 0 and one_more.all() and min(links.src.min(), links.tgt.min()) > 0
        raise DataError(
            f"link {links.src[k] + base}-{links.tgt[k] + base} of sentence {sentence + 1} is outside its pair"
            f" of {n_src[k]} and {n_tgt[k]} words",
            file=self.name,
            line=FORMATS[self.format or PLAIN].line(sentence) if self.has_lines else None,
            hint="the links look 1-based, so give their base"
            if one_based
            else "are text and links of the same sentences, with the sides in the same order?",
            setting="base" if one_based else "",
            value="1" if one_based else "",
        )


def format_links(
    links: Links, format: str, first: int = 0, base: int | None = None, text: Corpus | None = None
) -> bytearray:
    """The links as text.

    first: the number of the first sentence, from 0, where lines are numbered, and in the text
    text:  the sentences, of a format that has the words of the text
    """
    style = FORMATS[format]
    return style.write(links, first, style.base if base is None else base, text)

"""WPT's format: one line a link, `sentence i j [S|P] [confidence]`, everything counted from 1."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from aligner.errors import DataError
from aligner.links._links import Status, format_links, parse_wpt
from aligner.links.formats.format import POSITIONS, Format, LinkFile, Messages, first_line
from aligner.links.links import Links
from aligner.text.corpus import Corpus

MOST_SENTENCES = 1 << 24  # a larger number is taken for a mistake where no text says otherwise
MESSAGES: Messages = {
    **POSITIONS,
    Status.BAD_COLUMNS: ("`sentence i j [S|P] [confidence]` was expected", None),
    Status.SENTENCE_ZERO: ("sentence 0", "WPT files count sentences from 1"),
}


class Wpt(Format):
    """Links in any order. A sentence without links has no line."""

    help = "`sentence i j S|P`: one link per line, from 1"
    base = 1
    sparse = True

    def detect(self, block: bytes) -> bool:
        return re.match(rb"\s*\d+\s+\d+\s+\d+(\s|$)", first_line(block)) is not None

    def read(self, file: LinkFile, blocks: Iterable[tuple[bytes, int]]) -> Iterator[Links]:
        """All links at once, because any line may belong to any sentence.

        Position 0 is the NULL word in 1-based files. Links to the NULL word are counted and left out.
        """
        limit = MOST_SENTENCES if file.text is None else len(file.text)
        parts = [
            (np.empty(0, np.int64), *(np.empty(0, x) for x in (np.int32, np.int32, np.uint8, np.float64)))
        ]
        n_before = 0
        for text, n_lines in blocks:
            sentences = np.empty(n_lines, dtype=np.int64)
            src, tgt = np.empty(n_lines, dtype=np.int32), np.empty(n_lines, dtype=np.int32)
            sure, scores = np.empty(n_lines, dtype=np.uint8), np.empty(n_lines, dtype=np.float64)
            status, line, column, n = parse_wpt(text, sentences, src, tgt, sure, scores)
            file.refuse(status, n_before + line, column, MESSAGES)
            if n and (largest := int(sentences[:n].max())) >= limit:
                raise DataError(
                    f"sentence {largest + 1} is beyond the last, {limit}",
                    file=file.name,
                    hint="is the sentence number wrong, or the text another?",
                )
            parts.append((sentences[:n], src[:n], tgt[:n], sure[:n], scores[:n]))
            n_before += n_lines
        sentences, src, tgt, sure, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
        if file.base == 0:
            src, tgt = src + 1, tgt + 1
        file.base = 1 if file.base is None else file.base
        S = int(sentences.max()) + 1 if len(sentences) else 0
        words = (src >= 0) & (tgt >= 0)
        file.n_null = len(src) - int(words.sum())
        keep = np.flatnonzero(words)[np.argsort(sentences[words], kind="stable")]
        offsets = np.zeros(S + 1, dtype=np.int64)
        np.cumsum(np.bincount(sentences[words], minlength=S), out=offsets[1:])
        scores = scores[keep]
        known = None if np.isnan(scores).all() else np.where(np.isnan(scores), 1.0, scores)
        yield Links(offsets, src[keep], tgt[keep], sure[keep], known).padded(len(file.text or ()))

    def write(self, links: Links, first: int, base: int, text: Corpus | None) -> bytearray:
        columns = links.offsets, links.src, links.tgt, links.sure, links.scores
        scored = 0 if links.scores is None else ord(" ")
        return format_links(*columns, 0, scored, False, first + 1, base, wpt=True)

    def losses(self, links: Links) -> Counter[str]:
        return Counter()

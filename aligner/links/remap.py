"""Links between tokenisations of the same text: of words to those of subwords, and back."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from aligner import arguments
from aligner.errors import DataError, number_of
from aligner.links._remap import Merge
from aligner.links._remap import remap as remap_block
from aligner.links._remap import sizes as sizes_of
from aligner.links.formats import BLOCK, LinkReader
from aligner.links.links import Links
from aligner.links.symmetrize import check_scores
from aligner.text.corpus import Corpus
from aligner.text.subwords import HeldTokens, Overlaps, Retokenised

MOST = 1 << 27  # links that a sentence pair may have
AT_ONCE = 1 << 22  # links that are made at a time, if they are not of one sentence pair

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Rule:
    """How old links become one new link."""

    help: str
    number: Merge


PIECES = {
    "every": "every new token that it shares text with",
    "first": "the first of these",
    "last": "the last of these",
}
MERGES = {
    "any": Rule("one link of the pieces is enough; its score is the largest", Merge.ANY),
    "majority": Rule("more than half of the pieces of both words must be linked", Merge.MAJORITY),
    "mean": Rule("the score is the mean of the best scores of the pieces of both words", Merge.MEAN),
}


def remap(
    links: Links,
    old: Corpus,
    new: Corpus,
    *,
    pieces: str = "every",
    merge: str = "any",
    schemes: tuple[str | None, str | None] = (None, None),
    n_threads: int = 1,
) -> Links:
    """Links of one tokenisation as links of another one of the same text.

    old, new  the text as the links have it, and as the new links shall have it
    pieces    what an old token that overlaps several new ones turns into: every one, the first or the last
    merge     what becomes of old links that fall together: any, majority or mean (ext/links/_remap.pyx)
    schemes   how the tokens of old and new are written, as in SCHEMES of text/schemes.py; None: that is found
    """
    arguments.instance("links", links, Links, "Links")
    for name, text in (("old", old), ("new", new)):
        arguments.instance(name, text, Corpus, "a Corpus")
    arguments.threads(n_threads)
    how = Remapping(pieces, merge, n_threads)
    for name, n in (("old text", len(old)), ("new text", len(new))):
        if n != len(links):
            what = f"there are links of {number_of(len(links), 'sentence pair')}, the {name} has {n}"
            raise DataError(what, hint="links and texts must match line by line")
    sides = [
        Retokenised(
            HeldTokens(a, "the old text", scheme=schemes[0]),
            HeldTokens(b, "the new text", scheme=schemes[1]),
            n_threads,
        )
        for a, b in ((old.src, new.src), (old.tgt, new.tgt))
    ]
    outside = links.outside(old.src.lengths, old.tgt.lengths)
    if outside.any():
        k = int(outside.argmax())
        raise DataError(
            f"link {links.src[k]}-{links.tgt[k]} of sentence pair {links.sentences[k] + 1} is outside it",
            hint="are text and links of the same sentences, with the sides in the same order?",
        )
    src, tgt = (side.take(len(links)) for side in sides)
    return how.remapped(links, src, tgt)


class Remapping:
    """How links are remapped, and what was left out of them.

    n_lost: links of tokens that stand for no text, such as `<s>`; they have no place among other tokens
    """

    def __init__(self, pieces: str = "every", merge: str = "any", n_threads: int = 1) -> None:
        self.pieces = arguments.choice("pieces", pieces, PIECES)
        self.merge = arguments.choice("merge", merge, MERGES)
        self.n_threads = n_threads
        self.n_lost = 0

    def remapped(self, links: Links, src: Overlaps, tgt: Overlaps, first: int = 0) -> Links:
        """The new links of some sentence pairs. first: the number of the first of them, for messages"""
        src, tgt = src.taking(self.pieces), tgt.taking(self.pieces)
        sizes = sizes_of(_arrays(links), src.arrays, tgt.arrays)
        if len(sizes) and sizes.max() > MOST:
            n = int(sizes.argmax())
            raise DataError(
                f"sentence pair {first + n + 1} would have {sizes[n]:,} links",
                hint="let words turn into their first pieces, or cut long lines",
                setting="pieces",
                value="first",
            )
        self.n_lost += self._lost(links, src, tgt)
        total = np.cumsum(sizes)
        parts: list[Links] = []
        start = 0
        while start < len(links) or not parts:
            before = total[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(total, before + AT_ONCE, side="right")))
            stop = min(stop, len(links))
            parts.append(self._part(links.part(start, stop), src.part(start, stop), tgt.part(start, stop)))
            start = max(stop, 1)
        return Links.joined(parts)

    def _part(self, links: Links, src: Overlaps, tgt: Overlaps) -> Links:
        rule = MERGES[self.merge].number
        offsets, new_src, new_tgt, sure, scores = remap_block(
            _arrays(links), src.arrays, tgt.arrays, rule, self.n_threads
        )
        scored = links.scores is not None or rule == Merge.MEAN
        return Links(
            offsets, new_src, new_tgt, None if links.sure is None else sure, scores if scored else None
        )

    def _lost(self, links: Links, src: Overlaps, tgt: Overlaps) -> int:
        """How many links have a token that stands for no text."""
        at = links.sentences
        lost = np.zeros(len(at), dtype=bool)
        for side, positions in ((src, links.src), (tgt, links.tgt)):
            k = side.old[at] + positions
            lost |= side.first[k] == side.stop[k]
        return int(lost.sum())

    def tell(self, name: str) -> None:
        """Says what was left out of the links of a file, if anything was."""
        if self.n_lost:
            links = number_of(self.n_lost, "link")
            logger.warning("%s: %s of tokens that stand for no text left out", name, links)


def remap_file(
    reader: LinkReader, src: Retokenised, tgt: Retokenised, how: Remapping
) -> Iterator[tuple[int, Links]]:
    """(number of the first sentence, new links), block by block. Links and texts must match line by line."""
    n = 0
    blocks = reader.blocks()
    for _, links in blocks:
        a, b = src.take(len(links)), tgt.take(len(links))
        if min(len(a.old), len(b.old)) <= len(links):
            n += len(links) + sum(len(rest) for _, rest in blocks)
            break
        if how.merge != "any" and links.scores is not None:
            check_scores(reader, links, n, how.merge)
        reader.check_lengths(links, np.diff(a.old), np.diff(b.old), n)
        yield n, how.remapped(links, a, b, n)
        n += len(links)
    else:
        while reader.sparse:  # the last sentences have no links
            if (more := min(len(side.take(BLOCK).old) - 1 for side in (src, tgt))) == 0:
                break
            yield n, Links.from_pairs([[]] * more)
            n += more
    counts = {tokens.name: tokens.count() for side in (src, tgt) for tokens in (side.old, side.new)}
    for name, count in counts.items():
        if count != n:
            raise DataError(
                f"{name} has {number_of(count, 'line')}, {reader.name} has links of {n}",
                hint="links and texts must match line by line",
            )


def _arrays(links: Links) -> tuple:  # type: ignore[type-arg]
    return links.offsets, links.src, links.tgt, links.sure, links.scores

"""Word pairs counted along links: maximum-likelihood tables, as Moses' step 4 and Marian's extract_lex count.

A link counts once for its source word and its target word. A word without a link counts as linked with NULL.
p(f | e) is the count of e and f over all counts of e; so NULL has probabilities in both directions.
"""

from __future__ import annotations

import itertools
import logging

import numpy as np
import numpy.typing as npt

from aligner.errors import DataError
from aligner.files import display_name
from aligner.lexicons.table import NULL, Table
from aligner.links import formats
from aligner.links.formats import LinkReader
from aligner.links.in_step import check_step
from aligner.links.links import Links
from aligner.text.corpus import Corpus, shown
from aligner.text.reading import stream_sides
from aligner.text.sides import Side, Vocab

Longs = npt.NDArray[np.int64]

BLOCK = 1 << 17  # sentence pairs counted at a time
BYTES = "latin-1"  # every byte is a character, so that words of any encoding come out as they went in

logger = logging.getLogger(__name__)


def count(text: Corpus, links: Links, null: str = "NULL") -> Table:
    """The table of a text's links, see Counts."""
    if len(links) != len(text):
        raise DataError(
            f"links of {len(links)} sentences, the text has {len(text)}",
            hint="text and links must match line by line",
        )
    counts = Counts(null)
    counts.add(text, links)
    return counts.table()


def count_files(src: str, tgt: str, links: str, *, base: int = 0, strict: bool = False) -> Table:
    """The table of files, which are read in step: memory has the word pairs, not the text.

    Words are bytes, which a character each stands for (BYTES). The links are `i-j`, with or without scores.
    strict: links that point outside their sentence pairs are refused, not left out
    """
    reader = LinkReader(links, base=base)
    names = display_name(src), display_name(tgt), reader.name
    counts = Counts("NULL", BYTES)
    files = stream_sides(src, formats.BLOCK), stream_sides(tgt, formats.BLOCK), reader.blocks()
    for n, (e, f, linked) in enumerate(itertools.zip_longest(*files)):
        reader.check_plain()
        found = Links.from_pairs([]) if linked is None else linked[1]
        sizes = [0 if part is None else len(part) for part in (e, f, found)]
        check_step(names, sizes, n * formats.BLOCK)
        if strict:
            reader.check(found, Corpus(e, f), n_before=n * formats.BLOCK)
        counts.add(Corpus(e, f), found)
    return counts.table()


class Counts:
    """How often word pairs are linked, of a text that is added in parts.

    A link that stands twice counts twice. Links that point outside their sentence pairs are left out. null is
    how files spell the NULL word: a word of the text that is spelled so counts as NULL, since files could not
    tell them apart. Warnings say both.

    src, tgt      word -> id
    keys, counts  [P] what was merged so far: word pairs, sorted, and their counts
    pending       the same of parts that are not merged yet
    A key is (e + 1) * 2^32 + f + 1, so that NULL, -1, has a share of 0.
    """

    def __init__(self, null: str, encoding: str = "utf-8") -> None:
        self.null, self.encoding = null, encoding
        self.src: dict[str, int] = {}
        self.tgt: dict[str, int] = {}
        self.keys, self.counts = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        self.pending: list[tuple[Longs, Longs]] = []
        self.n_null = self.n_outside = self.n_sentences = 0
        self.outside: list[int] = []  # the first lines with links that point outside

    def add(self, text: Corpus, links: Links) -> None:
        """Counts sentence pairs. Word ids of the text mean nothing beyond this part."""
        src, tgt = self._ids(text.src.vocab, self.src), self._ids(text.tgt.vocab, self.tgt)
        for start in range(0, len(text), BLOCK):
            stop = min(start + BLOCK, len(text))
            part = text.part(start, stop)
            inside = self._inside(part, links.part(start, stop))
            self._count(part, inside, src[part.src.ids], tgt[part.tgt.ids])
            self.n_sentences += stop - start
            if sum(len(keys) for keys, _ in self.pending) > len(self.keys):
                self._merge()

    def table(self) -> Table:
        """The probabilities of what was counted."""
        self._merge()
        self._warn()
        e, f = (self.keys >> 32) - 1, (self.keys & 0xFFFFFFFF) - 1
        p = np.empty((len(self.keys), 2))
        for column, word in ((0, e), (1, f)):
            totals = np.bincount(word + 1, self.counts)
            p[:, column] = self.counts / totals[word + 1]
        return Table(Vocab.of(self.src), Vocab.of(self.tgt), e, f, p)

    def _ids(self, vocab: Vocab, known: dict[str, int]) -> Longs:
        """word id of a part of the text -> the id of the word here"""
        words = [word.decode(self.encoding) for word in vocab.encoded()]
        ids = [NULL if word == self.null else known.setdefault(word, len(known)) for word in words]
        return np.array(ids, dtype=np.int64)

    def _inside(self, text: Corpus, links: Links) -> Links:
        """The links that do not point outside their sentence pairs."""
        outside = links.outside(text.src.lengths, text.tgt.lengths)
        if not outside.any():
            return links
        self.n_outside += int(outside.sum())
        self.outside += (np.unique(links.sentences[outside]) + self.n_sentences + 1).tolist()
        return links.chosen(~outside)

    def _count(self, text: Corpus, links: Links, e: Longs, f: Longs) -> None:
        """Adds the counts of a part. e, f: [n_tokens] token -> id"""
        at = links.sentences
        i, j = text.src.offsets[at] + links.src, text.tgt.offsets[at] + links.tgt
        alone = _without(text.src, i), _without(text.tgt, j)
        keys = [((e[i] + 1) << 32) + f[j] + 1, (e[alone[0]] + 1) << 32, f[alone[1]] + 1]
        self.pending.append(np.unique(np.concatenate(keys), return_counts=True))
        self.n_null += int((e == NULL).sum() + (f == NULL).sum())

    def _merge(self) -> None:
        parts = [(self.keys, self.counts), *self.pending]
        keys, places = np.unique(np.concatenate([keys for keys, _ in parts]), return_inverse=True)
        counts = np.bincount(places, np.concatenate([counts for _, counts in parts]), minlength=len(keys))
        self.keys, self.counts, self.pending = keys, counts.astype(np.int64), []

    def _warn(self) -> None:
        if self.n_outside:
            what = "%d links point outside their sentence pairs and are left out (lines %s)"
            logger.warning(what, self.n_outside, shown(self.outside))
        if self.n_null:
            what = "the word %s occurs %d times in the text; it counts as the NULL word"
            logger.warning(what, self.null, self.n_null)


def _without(side: Side, linked: Longs) -> npt.NDArray[np.bool_]:
    """[n_tokens] whether a token has no link. linked: the tokens that have one"""
    alone = np.ones(len(side.ids), dtype=bool)
    alone[linked] = False
    return alone

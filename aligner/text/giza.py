"""Text in the files of GIZA++: words as numbers, and what the numbers mean.

.vcb  `id word count` lines, the columns between tabs or spaces. Id 0 is NULL, and is never there. Id 1 is
      UNK, and its line may be missing.
.snt  three lines a sentence pair: its count, the ids of the source sentence, the ids of the target sentence
.cooc `source target` lines: the pairs of ids that occur in a sentence pair, NULL first, then in rising order

GIZA++ trains on a sentence pair as often as its count says. Our models train on every pair once. The reader
says so if a count is not 1.
"""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from aligner.errors import DataError
from aligner.files import display_name, read_chunks
from aligner.text import _corpus
from aligner.text.cells import Seen, in_shards
from aligner.text.corpus import Corpus, shown
from aligner.text.reading import line_blocks, read_side
from aligner.text.sides import Builder, Side, Vocab

NULL, UNK = 0, 1  # ids that no word of the text has
FIRST = 2  # the id of the first word
BLOCK = 1 << 16  # sentence pairs, or lines, at a time
BLANKS = bytes.maketrans(b"\v\f\r", b"   ")  # what GIZA++'s programs take for blanks beside spaces and tabs
PAIR = "three lines are a sentence pair: count, source ids, target ids"  # a hint

Longs = npt.NDArray[np.int64]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Vcb:
    """The words of one side in the order of their ids.

    ids     [n]  place -> id, rising
    words   [n]  place -> word in UTF-8, or as the bytes that it was read as
    counts  [n]  place -> how often the word occurs
    name    of the file, for messages
    """

    ids: Longs
    words: list[bytes]
    counts: Longs
    name: str = "the vocabulary"

    def places(self, ids: Longs) -> Longs:
        """The place of each id; -1 if it is not there."""
        found = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[found] == ids, found, -1) if len(self.ids) else np.full(len(ids), -1)

    @cached_property
    def id_of(self) -> dict[bytes, int]:
        """word -> id. Of two ids of one word the last counts, as in GIZA++."""
        return dict(zip(self.words, self.ids.tolist(), strict=True))

    def ids_of(self, vocab: Vocab) -> Longs:
        """[n_words] the id of each word of a vocabulary; UNK for a word that is not there."""
        return np.array([self.id_of.get(word, UNK) for word in vocab.encoded()], dtype=np.int64)


def numbered(side: Side) -> Vcb:
    """The words that occur in a side, with ids from FIRST on, in the order of their first occurrence."""
    words = [word for word, n in zip(side.vocab.encoded(), side.counts.tolist(), strict=True) if n]
    ids = np.arange(FIRST, FIRST + len(words), dtype=np.int64)
    return Vcb(ids, words, side.counts[side.counts > 0])


def add_plain(builder: Builder, path: str) -> None:
    """Adds the lines of a text as GIZA++'s programs read it: bytes of any encoding, cut at BLANKS, too."""
    for text, n_lines in line_blocks(read_chunks(path), BLOCK):
        builder.add(text.translate(BLANKS), n_lines)


def read_vcb(path: str, *, encoding: str | None = "utf-8") -> Vcb:
    """The words of a .vcb file. UNK is added if it is not there.

    encoding: None: words are bytes of any encoding, and not checked
    """
    table = Table(path, encoding)
    if (odd := table.lengths != 3).any():
        raise table.error("the line is not `id word count`", int(np.argmax(odd)))
    columns = table.tokens.reshape(-1, 3)
    ids, counts = (table.numbers[columns[:, k]] for k in (0, 2))
    for found, least, what in ((ids, 1, "an id"), (counts, 0, "a count")):
        if (low := found < least).any():
            line = int(np.argmax(low))
            raise table.error(f"{what} is a whole number, {least} or more", line)
    order = np.argsort(ids, kind="stable")
    if (twice := np.diff(ids[order]) == 0).any():
        line = int(order[1:][twice].min())
        raise table.error(f"id {ids[line]} has a line already", line, "an id means one word")
    all_words = table.vocab.encoded()
    words = [all_words[k] for k in columns[order, 1].tolist()]
    ids, counts = ids[order], counts[order]
    if not len(ids) or ids[0] != UNK:
        ids, words, counts = np.append(UNK, ids), [b"UNK", *words], np.append(0, counts)
    return Vcb(ids, words, counts, display_name(path))


def write_vcb(out: BinaryIO, vcb: Vcb, separator: bytes = b" ") -> None:
    """Writes a line a word."""
    rows = zip(vcb.ids.tolist(), vcb.words, vcb.counts.tolist(), strict=True)
    out.write(b"".join(b"%d%b%b%b%d\n" % (id, separator, word, separator, n) for id, word, n in rows))


def read_snt(path: str, src: Vcb, tgt: Vcb, *, encoding: str = "utf-8", lowercase: bool = False) -> Corpus:
    """The sentence pairs of a .snt file, whose ids mean the words of src and tgt.

    The corpus is the same as if the text itself were read: word ids of ours are in the order of first
    occurrence.
    """
    table = Table(path, encoding)
    table.check_pairs()
    table.check_counts()
    sides = [table.side(k, vcb) for k, vcb in ((1, src), (2, tgt))]
    corpus = Corpus(*sides)
    return corpus.lowered() if lowercase else corpus


def cooccurrences(path: str, counted: bool = False) -> Iterator[bytes]:
    """The lines of a .cooc file of a .snt file, a block at a time. The file is read before the first block.

    counted: `n source target` lines, where n says how often
    """
    table = Table(path, "utf-8")
    table.check_pairs()
    return _listed(Corpus(*(table.numerals(k) for k in (1, 2))), counted)


def _listed(corpus: Corpus, counted: bool) -> Iterator[bytes]:
    """The word pairs of sentence pairs, whose words are ids."""
    src, tgt = (side.vocab.encoded() for side in (corpus.src, corpus.tgt))
    seen = Seen.of_own_words(corpus, "word", 1)
    rows, pair_tgt = seen.rows, seen.tgt
    heads = [b"%d " % NULL, *(word + b" " for word in src)]
    starts = [0, *(rows + len(tgt)).tolist()]
    ends = tgt + [tgt[word] for word in pair_tgt.tolist()]
    if counted:
        counts = np.append(corpus.tgt.counts, _counted(seen))
        for head, a, b in zip(heads, starts, starts[1:], strict=False):
            numbers = counts[a:b].tolist()
            yield b"".join(b"%d %b%b\n" % (n, head, end) for n, end in zip(numbers, ends[a:b], strict=True))
    else:
        for head, a, b in zip(heads, starts, starts[1:], strict=False):
            if a < b:
                yield head + (b"\n" + head).join(ends[a:b]) + b"\n"


def _counted(seen: Seen) -> npt.NDArray[np.int64]:
    """[P] how many cells each word pair has"""
    counts = np.zeros(len(seen.tgt), dtype=np.int64)
    for _, _, (shard,) in in_shards([seen], 1, scored=True):  # a few arrays of 8 bytes a cell
        widths = np.repeat(np.diff(shard.tgt_offsets), np.diff(shard.src_offsets))
        src_ids = shard.src_ids[shard.src_offsets[0] : shard.src_offsets[-1]]
        cells = shard.cells[shard.cell_offsets[0] : shard.cell_offsets[-1]]
        pairs, found = np.unique(np.repeat(seen.rows[src_ids], widths) + cells, return_counts=True)
        counts[pairs] += found
    return counts


def write_snt(
    out: BinaryIO, corpus: Corpus, src: Longs, tgt: Longs, *, count: bytes = b"1", end: bytes = b"\n"
) -> None:
    """Writes three lines a sentence pair.

    src, tgt  [n_words] word of the corpus -> its id in the .vcb file
    count     the first line of every sentence pair
    end       what follows the last id of a sentence
    """
    for start in range(0, len(corpus), BLOCK):
        block = corpus.part(start, start + BLOCK)
        lines = zip(_lines(block.src, src, end), _lines(block.tgt, tgt, end), strict=True)
        out.write(b"".join(b"%b\n%b%b" % (count, a, b) for a, b in lines))


def _lines(side: Side, ids: Longs, end: bytes) -> Iterator[bytes]:
    """The sentences of a side as lines of ids."""
    strings = [b"%d" % id for id in ids.tolist()]
    tokens = [strings[word] for word in side.ids.tolist()]
    cuts = side.offsets.tolist()
    for a, b in itertools.pairwise(cuts):
        yield b" ".join(tokens[a:b]) + (end if a < b else b"\n")


class Table:
    """The tokens of a file, in lines.

    tokens   [n_tokens]   token -> string
    lengths  [n_lines]    line -> number of its tokens
    vocab                 the strings
    numbers  [n_strings]  string -> the whole number that it is; -1 if it is none
    """

    def __init__(self, path: str, encoding: str | None) -> None:
        if encoding is None:
            add_plain(builder := Builder(), path)
        else:
            builder = read_side(path, encoding)
        side = builder.side(lowercase=False)
        self.name = display_name(path)
        self.tokens, self.lengths, self.offsets, self.vocab = side.ids, side.lengths, side.offsets, side.vocab

    @cached_property
    def numbers(self) -> Longs:
        found = [int(x) if x.isdigit() and len(x) <= 18 else -1 for x in self.vocab.encoded()]
        return np.array(found, dtype=np.int64)

    def error(self, what: str, line: int, hint: str = "") -> DataError:
        """What is wrong with a line, counted from 0."""
        return DataError(what, file=self.name, line=line + 1, hint=hint or None)

    def check_pairs(self) -> None:
        """Refuses lines that are not three a sentence pair."""
        if (n_lines := len(self.lengths)) % 3:
            what = f"the file ends within a sentence pair: it has {n_lines} lines"
            raise self.error(what, n_lines - 1, PAIR)

    def check_counts(self) -> None:
        """Refuses a line that is no count, and says which counts are not 1."""
        if (odd := self.lengths[0::3] != 1).any():
            n = int(np.argmax(odd))
            raise self.error("the line is no count of a sentence pair", 3 * n, PAIR)
        strings = self.tokens[self.offsets[:-1][0::3]]
        values = np.full(len(self.vocab), math.nan)
        for k in np.unique(strings).tolist():
            text = self.vocab.text[self.vocab.offsets[k] : self.vocab.offsets[k + 1]]
            try:
                values[k] = float(text)
            except ValueError:
                n = int(np.argmax(strings == k))
                raise self.error(f"{text.decode()!r} is no count", 3 * n) from None
        if (others := np.flatnonzero(values[strings] != 1) + 1).size:
            logger.warning(
                "%s: %d sentence pairs have a count other than 1 (%s); each is trained on once",
                self.name,
                len(others),
                shown(others.tolist()),
            )

    def lines(self, k: int) -> tuple[npt.NDArray[np.int32], Longs]:
        """The tokens on lines k, k + 3, ..., and where each line begins."""
        lengths = self.lengths[k::3]
        offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        kind = np.repeat(np.arange(len(self.lengths)) % 3 == k, self.lengths)
        return self.tokens[kind], offsets

    def side(self, k: int, vcb: Vcb) -> Side:
        """The sentences on lines k, k + 3, ..."""
        tokens, offsets = self.lines(k)
        first = np.full(len(self.vocab), len(tokens))  # string -> the first token that it is
        first[tokens[::-1]] = np.arange(len(tokens))[::-1]
        strings = np.argsort(first)[: np.count_nonzero(first < len(tokens))]
        places = vcb.places(self.numbers[strings])
        if (unknown := np.flatnonzero(places < 0)).size:
            string = strings[unknown[0]]
            line = 3 * (int(np.searchsorted(offsets, first[string], side="right")) - 1) + k
            what = f"{vcb.name} has no word of id {self.vocab.words[string]}"
            raise self.error(what, line, "is this the vocabulary of the text?")
        words = b" ".join(vcb.words[place] for place in places.tolist()) + b" \n"
        interner, merged = _corpus.Interner(), np.empty(len(words), dtype=np.int32)
        _corpus.index_lines(words, interner, merged, np.empty(1, dtype=np.int64), None)
        ours = np.empty(len(self.vocab), dtype=np.int32)  # string -> word of ours
        ours[strings] = merged[: len(strings)]
        return Side(ours[tokens], offsets, Vocab(*interner.words()))

    def numerals(self, k: int) -> Side:
        """The sentences on lines k, k + 3, ... with ids for words, in rising order."""
        tokens, offsets = self.lines(k)
        numbers = self.numbers[tokens]
        if (odd := numbers < 0).any():
            line = 3 * (int(np.searchsorted(offsets, np.argmax(odd), side="right")) - 1) + k
            raise self.error("an id is a whole number", line)
        found = np.unique(self.numbers[np.bincount(tokens, minlength=len(self.vocab)) > 0])
        ids = np.searchsorted(found, numbers).astype(np.int32)
        return Side(ids, offsets, Vocab.of(map(str, found.tolist())))

"""Lexical shortlists: for each source word the target words that a translation system may choose from.

A shortlist is made of a table of word pairs, p(f | e), as prune_shortlist.py makes it for Marian: of each
source word e the best target words, and then those that are among the first words of the target vocabulary.
Marian's binary shortlists (marian-conv) have the numbers of the words in place of the words. Marian always
offers the first words of the target vocabulary, so that a shortlist needs no line for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from aligner import arguments
from aligner.errors import DataError, number_of
from aligner.lexicons.counting import count
from aligner.lexicons.formats import Spaced
from aligner.lexicons.table import Table, among_first
from aligner.links.links import Links
from aligner.text.corpus import Corpus, Pairs
from aligner.text.sides import Vocab, ranks
from aligner.text.vocabulary import Vocabulary

Longs = npt.NDArray[np.int64]

BEST = 100  # target words of a source word
MOST = 2**31 - 1  # of them, and of first words
SPECIAL = 2  # words that a vocabulary begins with and that are none: the end of a sentence, the unknown word
MAGIC = 0xF11A48D5013417F5  # a binary shortlist begins so
FULL = 2**64 - 1


@dataclass(frozen=True)
class Shortlist(Spaced):
    """`f e p`, eight decimals. The lines of a source word stand together, in the order of the table."""

    of: str = "prune_shortlist.py's"
    names: tuple[str, str] = (".s2t", ".t2s")
    decimals: int = 8
    doubt = "is this a lexicon of extract_lex or a shortlist? Links need the text, too"

    def kept(self, table: Table) -> Table:
        return table


def shortlist(
    text: Corpus | Pairs, links: Links, *, best: int = BEST, min_prob: float = 0.0
) -> dict[str, list[tuple[str, float]]]:
    """Of each source word the target words that it is linked with, and how probable they are, the best first.

    best      how many target words of a source word to keep
    min_prob  target words that are less probable are left out
    A word without a link counts as linked with NULL, and NULL is left out: probabilities need not sum to 1.
    """
    best = int(arguments.number("best", best, 1, MOST, whole=True))
    arguments.number("min_prob", min_prob, 0, 1)
    arguments.instance("links", links, Links, "Links")
    table = as_written(count(Corpus.of(text), links)).probable(min_prob)
    table = pruned(table, best)
    found: dict[str, list[tuple[str, float]]] = {}
    rows = zip(table.e.tolist(), table.f.tolist(), table.p[:, 0].tolist(), strict=True)
    for e, f, p in rows:
        found.setdefault(table.src.words[e], []).append((table.tgt.words[f], p))
    return found


def as_written(table: Table) -> Table:
    """A table as extract_lex writes it: sorted by words, p(f | e) of seven decimals. NULL is left out."""
    table = table.forward().without_null().alphabetical("NULL")
    single = table.p[:, 0].astype(np.float32).astype(np.float64)
    p = np.rint(single * 1e7) / 1e7  # the product is exact, so that ties are rounded to even as in C
    return replace(table, p=np.column_stack([p, table.p[:, 1]]))


def pruned(table: Table, best: int = BEST, tops: Sequence[str] = ()) -> Table:
    """The lines of a shortlist, as prune_shortlist.py prints them. Word pairs of NULL are left out.

    Source words are sorted by their bytes. Of each come the `best` target words with the largest p(f | e),
    the largest first, and of equal ones the earlier row first. Then come the target words that are among
    `tops`, in the order of `tops`: a word pair may stand twice.
    """
    table = table.forward().without_null()
    rank = ranks(table.src.words)[table.e]
    order = np.lexsort((-table.p[:, 0], rank))
    kept = order[among_first(rank[order], best)]
    place = np.full(len(table.tgt), len(tops), dtype=np.int64)
    numbers = table.tgt.find(tops)
    place[numbers[numbers >= 0]] = np.flatnonzero(numbers >= 0)
    top = np.flatnonzero(place[table.f] < len(tops))
    top = top[np.argsort(place[table.f[top]], kind="stable")]
    rows = np.concatenate([kept, top])
    return table.chosen(rows[np.argsort(rank[rows], kind="stable")])


def first_words(vocabulary: Vocabulary, first: int) -> list[str]:
    """The words that prune_shortlist.py adds: the first ones of the vocabulary, not counting special ones."""
    return [word for word in vocabulary.words[: first + SPECIAL] if word]


def binary(table: Table, src: Vocabulary, tgt: Vocabulary, best: int, first: int) -> bytes:
    """A table as Marian's binary shortlist, byte for byte as marian-conv makes it with the threshold 0.

    Words that are not in a vocabulary are its unknown word. Of word pairs that become the same one the
    largest p(f | e) counts. Of each source word the `best` target words are kept, of equal ones those with
    the larger numbers. The file, in 64 bits a number, the lowest byte first: MAGIC, a checksum of all that
    follows, first, best, n = source words + 1, the number of target words m;
    [n] where the target words of each source word begin, and m; then
    [m] in 32 bits, the numbers of target words, sorted within a source word.
    """
    table = table.forward().without_null()
    e = _numbers(table.src, src)[table.e]
    f = _numbers(table.tgt, tgt)[table.f]
    p = table.p[:, 0].astype(np.float32)
    order = np.lexsort((-p, f, e))
    again = np.zeros(len(order), dtype=bool)
    again[1:] = (np.diff(e[order]) == 0) & (np.diff(f[order]) == 0)
    order = order[~again]
    order = order[np.lexsort((-f[order], -p[order], e[order]))]
    order = order[among_first(e[order], best)]
    order = order[np.lexsort((f[order], e[order]))]
    offsets = np.searchsorted(e[order], np.arange(len(src) + 1)).astype("<u8")
    head = np.array([first, best, len(offsets), len(order)], dtype="<u8")
    content = head.tobytes() + offsets.tobytes() + f[order].astype("<u4").tobytes()
    return np.array([MAGIC, checksum(content)], dtype="<u8").tobytes() + content


def checksum(content: bytes) -> int:
    """Marian's hash of 64-bit words. The last bytes, if they fill no word, are not in it."""
    seed = 0
    for word in np.frombuffer(content, dtype="<u8", count=len(content) // 8).tolist():
        seed ^= (word + 0x9E3779B9 + (seed << 6) + (seed >> 2)) & FULL
    return seed


def last_is_listed(table: Table, src: Vocabulary) -> bool:
    """Whether the last word of the source vocabulary has target words, as Marian's check wants."""
    return bool((_numbers(table.src, src)[table.without_null().e] == len(src) - 1).any())


def n_unknown(table: Table, src: Vocabulary, tgt: Vocabulary) -> tuple[int, int]:
    """How many source words and how many target words of a table are not in the vocabularies."""
    sides = (table.src, src, table.e), (table.tgt, tgt, table.f)
    e, f = (int((vocabulary.find(vocab.words)[np.unique(ids)] < 0).sum()) for vocab, vocabulary, ids in sides)
    return e, f


def _numbers(vocab: Vocab, vocabulary: Vocabulary) -> Longs:
    """word id -> the number of the word in a vocabulary, or that of the unknown word"""
    numbers = vocabulary.find(vocab.words)
    if vocabulary.unknown is None and (n := int((numbers < 0).sum())):
        raise DataError(
            f"{number_of(n, 'word')} of the text not in the vocabulary, which has no unknown word",
            file=vocabulary.file,
            hint="is this the vocabulary of the text, with <unk> in it?",
        )
    return np.where(numbers < 0, vocabulary.unknown or 0, numbers)

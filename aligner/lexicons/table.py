"""A table of word pairs: how probable each word is, given the other one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner.text.sides import Vocab, ranks

Reals = npt.NDArray[np.floating[Any]]

NULL = -1  # the id of the NULL word: what words without a link are linked with


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """P word pairs of source words e and target words f. A word pair stands once.

    src, tgt  the words of the sides
    e, f      [P]     word pair -> the ids of its words, or NULL
    p         [P, 2]  word pair -> p(f | e), p(e | f); nan: the table has no such probability
    """

    src: Vocab
    tgt: Vocab
    e: npt.NDArray[np.int64]
    f: npt.NDArray[np.int64]
    p: Reals

    def __len__(self) -> int:
        return len(self.e)

    def __repr__(self) -> str:
        return f"Table({len(self)} word pairs, {len(self.src)} and {len(self.tgt)} words)"

    def transposed(self) -> Table:
        """The same word pairs with the sides swapped: p(f | e) becomes p(e | f)."""
        return Table(self.tgt, self.src, self.f, self.e, self.p[:, ::-1])

    def chosen(self, rows: npt.NDArray[Any]) -> Table:
        """Some word pairs. rows: [P] whether to keep each, or the numbers of those to keep, in order"""
        return replace(self, e=self.e[rows], f=self.f[rows], p=self.p[rows])

    def forward(self) -> Table:
        """The word pairs that have p(f | e), with this probability alone."""
        table = self.chosen(~np.isnan(self.p[:, 0]))
        return replace(table, p=np.column_stack([table.p[:, 0], np.full_like(table.p[:, 1], np.nan)]))

    def without_null(self) -> Table:
        """The word pairs of two words, none of them NULL."""
        return self.chosen((self.e != NULL) & (self.f != NULL))

    def probable(self, least: float) -> Table:
        """The word pairs that have a probability of at least this much, and not 0, in some direction."""
        return self.chosen(np.any((self.p >= least) & (self.p > 0), axis=1))

    def best_first(self, top: int = 0) -> Table:
        """Sorted by source word, the best target words of each first. top: so many of each; 0: all

        What is best is told by p(f | e), or by p(e | f) where the table has no p(f | e).
        """
        goodness = np.where(np.isnan(self.p[:, 0]), self.p[:, 1], self.p[:, 0])
        order = np.lexsort((-goodness, self.e))
        return self.chosen(order[among_first(self.e[order], top)] if top else order)

    def alphabetical(self, null: str) -> Table:
        """Sorted by the bytes of source words, then of target words. null: how NULL is spelled"""
        e, f = (
            ranks([*vocab.words, null])[ids]  # the id of NULL, -1, is the last
            for vocab, ids in ((self.src, self.e), (self.tgt, self.f))
        )
        return self.chosen(np.lexsort((f, e)))


def among_first(words: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.bool_]:
    """[P] whether a row is among the first n of its word. words: [P] row -> its word, sorted"""
    return np.asarray(np.arange(len(words)) - np.searchsorted(words, words) < n)


def joined(forward: Table, reverse: Table) -> Table:
    """One table of two: p(f | e) of the first and p(e | f) of the second. A word pair may lack either."""
    words = [
        dict.fromkeys([*a.words, *b.words])
        for a, b in ((forward.src, reverse.src), (forward.tgt, reverse.tgt))
    ]
    src, tgt = map(Vocab.of, words)
    keys, columns = [], []
    for n, table in enumerate((forward, reverse)):
        e, f = (
            np.append(vocab.find(old.words), NULL)[ids].astype(np.int64)  # the id of NULL, -1, is the last
            for vocab, old, ids in ((src, table.src, table.e), (tgt, table.tgt, table.f))
        )
        there = ~np.isnan(table.p[:, n])
        keys.append(((e + 1) * (len(tgt) + 1) + f + 1)[there])
        columns.append(table.p[there, n])
    found = np.unique(np.concatenate(keys))
    p = np.full((len(found), 2), np.nan)
    for n in range(2):
        p[np.searchsorted(found, keys[n]), n] = columns[n]
    return Table(src, tgt, found // (len(tgt) + 1) - 1, found % (len(tgt) + 1) - 1, p)

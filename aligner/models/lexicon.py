"""Which word translates which: translation tables of both directions over word pairs, and NULL."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from aligner.lexicons.table import NULL, Table
from aligner.models import _update
from aligner.text.cells import Seen
from aligner.text.sides import Vocab

Reals = npt.NDArray[np.float32]

LEAST = 1e-6  # the probability of a word pair that an earlier lexicon does not know


@dataclass(frozen=True, eq=False)
class Evidence:
    """How much a lexicon was learned from. With it, counts can be found again: count(e, f) = t(f | e) src(e).

    src    [V_src]  what the counts of source word e were divided by: kappa times its occurrences, plus alpha
    tgt    [V_tgt]  the same of target words
    nulls  what the counts of NULL were divided by, forward and reverse
    kappa  expected links of an occurrence, of a source word and of a target word
    words  how many source and how many target words occur
    alpha  the counts that smoothing adds to a row, spread over all words of the other side that occur
    linked [P / 8]  a bit a word pair: whether its t is not 0; None: all are not
    """

    src: Reals
    tgt: Reals
    nulls: tuple[float, float]
    kappa: tuple[float, float]
    words: tuple[int, int]
    alpha: float
    linked: npt.NDArray[np.uint8] | None = None


@dataclass(eq=False)
class Lexicon:
    """Translation probabilities. Source words are e, target words f; P word pairs, sorted by e, then by f.

    rows      [V_src + 1]  word pairs of source word e are those from rows[e] to rows[e + 1]
    tgt       [P]          word pair -> f
    t         [P, 2]       word pair -> t(f | e), t(e | f)
    null_fwd  [V_tgt]      f -> t(f | NULL)
    null_rev  [V_src]      e -> t(e | NULL)
    evidence  how much it was learned from; None if that is not kept
    """

    rows: npt.NDArray[np.int64]
    tgt: npt.NDArray[np.int32]
    t: Reals
    null_fwd: Reals
    null_rev: Reals
    evidence: Evidence | None = None

    @staticmethod
    def even(seen: Seen, identical: float = 1.0, n_threads: int = 1) -> Lexicon:
        """The lexicon of what a view sees of a text: see even_of."""
        vocabs = seen.text.src.vocab, seen.text.tgt.vocab
        return Lexicon.even_of(*vocabs, seen.rows, seen.tgt, identical, n_threads)

    @staticmethod
    def even_of(
        src: Vocab,
        tgt: Vocab,
        rows: npt.NDArray[np.int64],
        pair_tgt: npt.NDArray[np.int32],
        identical: float,
        n_threads: int = 1,
    ) -> Lexicon:
        """All words that stand beside e in some sentence pair are equally likely translations of e.

        rows, pair_tgt  the word pairs
        identical       how many times likelier a translation spelled like e is
        """
        found = alike(src, tgt, rows, pair_tgt, identical)
        columns = alike_columns(pair_tgt, found, len(tgt), n_threads)
        t = even_t(rows, pair_tgt, found, identical, *columns, n_threads)
        null_fwd, null_rev = (
            np.full(len(vocab), 1 / max(1, len(vocab)), dtype=np.float32) for vocab in (tgt, src)
        )
        return Lexicon(rows, pair_tgt, t, null_fwd, null_rev)

    @staticmethod
    def inherited(seen: Seen, old: Lexicon, old_src: Vocab, old_tgt: Vocab) -> Lexicon:
        """The probabilities of an earlier lexicon. Word pairs that the earlier lexicon lacks get LEAST."""
        src, tgt = (
            vocab.find(side.vocab.words)
            for vocab, side in ((old_src, seen.text.src), (old_tgt, seen.text.tgt))
        )
        width = len(old_tgt)
        old_keys = np.repeat(np.arange(len(old_src)), np.diff(old.rows)) * width + old.tgt
        e = np.repeat(src.astype(np.int64), np.diff(seen.rows))
        f = tgt[seen.tgt] if len(seen.tgt) else seen.tgt
        place = np.searchsorted(old_keys, e * width + f)
        known = (e >= 0) & (f >= 0) & (place < len(old_keys))
        known[known] = old_keys[place[known]] == (e * width + f)[known]
        t = np.full((len(seen.tgt), 2), LEAST, dtype=np.float32)
        t[known] = np.maximum(old.t[place[known]], LEAST)

        def null(ids: npt.NDArray[np.int32], table: Reals) -> Reals:
            row = np.full(len(ids), LEAST, dtype=np.float32)
            row[ids >= 0] = np.maximum(table[ids[ids >= 0]], LEAST)
            return row

        return Lexicon(seen.rows, seen.tgt, t, null(tgt, old.null_fwd), null(src, old.null_rev))

    def keep(self, direction: str) -> None:
        """Forgets the probabilities of a direction that is not trained: they become 0.

        direction: both, forward or reverse
        """
        if direction == "forward":
            self.t[:, 1] = 0
            self.null_rev[:] = 0
        if direction == "reverse":
            self.t[:, 0] = 0
            self.null_fwd[:] = 0

    def normalised(self) -> Reals:
        """[P, 2] t(f | e) and t(e | f), rows that are learned from occurrences made to sum to 1."""
        if self.evidence is None:
            return self.t
        e = np.repeat(np.arange(len(self.null_rev)), np.diff(self.rows))
        table = np.empty_like(self.t)
        for column, word in ((0, e), (1, self.tgt)):
            total = np.bincount(word, self.t[:, column])
            table[:, column] = self.t[:, column] / np.maximum(total, np.finfo(np.float32).tiny)[word]
        return table

    def table(self, src: Vocab, tgt: Vocab, direction: str) -> Table:
        """The word pairs, and after them those of NULL. The rows of each direction sum to 1.

        direction: both, forward or reverse: the probabilities that were learned
        """
        e = np.repeat(np.arange(len(src)), np.diff(self.rows))
        p = np.full((len(e) + len(tgt) + len(src), 2), np.nan, dtype=np.float32)
        p[: len(e)] = self.normalised()
        p[len(e) : len(e) + len(tgt), 0] = self.null_fwd
        p[len(e) + len(tgt) :, 1] = self.null_rev
        if direction != "both":
            p[:, 1 if direction == "forward" else 0] = np.nan
        f = np.concatenate([self.tgt, np.arange(len(tgt)), np.full(len(src), NULL)])
        return Table(src, tgt, np.concatenate([e, np.full(len(tgt), NULL), np.arange(len(src))]), f, p)

    def pruned(self) -> Lexicon:
        """Without the word pairs whose t is 0 in both directions: they are as good as unknown."""
        keep = (self.t[:, 0] != 0) | (self.t[:, 1] != 0)
        return self if keep.all() else self.kept(keep)

    def kept(self, keep: npt.NDArray[np.bool_]) -> Lexicon:
        """Some of the word pairs. keep: [P]"""
        places = np.flatnonzero(keep)
        evidence = None if self.evidence is None else replace(self.evidence, linked=None)
        rows = np.searchsorted(places, self.rows)
        return replace(self, rows=rows, tgt=self.tgt[places], t=self.t[places], evidence=evidence)


def alike(
    src: Vocab, tgt: Vocab, rows: npt.NDArray[np.int64], pair_tgt: npt.NDArray[np.int32], identical: float
) -> npt.NDArray[np.int64]:
    """The word pairs of equal spelling; none if it does not matter."""
    if identical == 1:
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(np.repeat(tgt.find(src.words), np.diff(rows)) == pair_tgt)


def alike_columns(
    pair_tgt: npt.NDArray[np.int32], alike: npt.NDArray[np.int64], n_tgt: int, n_threads: int = 1
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """[V_tgt] how many word pairs a target word has, and how many of equal spelling."""
    widths = _update.widths_of(pair_tgt, n_tgt, n_threads)
    return widths, np.bincount(pair_tgt[alike], minlength=n_tgt)


def even_t(
    rows: npt.NDArray[np.int64],
    pair_tgt: npt.NDArray[np.int32],
    alike: npt.NDArray[np.int64],
    identical: float,
    n: npt.NDArray[np.int64],
    n_alike: npt.NDArray[np.int64],
    n_threads: int = 1,
) -> Reals:
    """[P, 2] t of words that are all equally likely, but for those of equal spelling.

    rows, pair_tgt, alike  word pairs of some source words
    n, n_alike             what alike_columns says of the word pairs of all source words
    """
    widths, e = np.diff(rows), np.searchsorted(rows, alike, side="right") - 1
    same = np.bincount(e, minlength=len(widths))
    src, tgt = (
        (many + (identical - 1) * equal).astype(np.float32) for many, equal in ((widths, same), (n, n_alike))
    )
    t = np.empty((len(pair_tgt), 2), dtype=np.float32)
    with np.errstate(divide="ignore"):
        _update.set_even(rows, pair_tgt, np.float32(1) / src, np.float32(1) / tgt, t, n_threads)
    t[alike, 0] = np.float32(identical) / src[e]
    t[alike, 1] = np.float32(identical) / tgt[pair_tgt[alike]]
    return t

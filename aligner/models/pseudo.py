"""Pseudo-counts: what earlier text taught of the words of this text, as counts beside the text's own.

Earlier text has words and word pairs that this text lacks. They have no place in the lexicon of this text.
They count where a row is divided by all that its word counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.errors import DataError
from aligner.models.counts import MOST_TOKENS, ONE, Counts
from aligner.models.lexicon import Lexicon
from aligner.text._cells import find_cells
from aligner.text.cells import Seen

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Lacking:
    """What earlier text counted of words and word pairs that this text lacks.

    links        of word pairs, mean of both directions
    nulls        links of words with NULL, forward and reverse
    occurrences  of source words and of target words
    words        how many source words and target words there are
    """

    links: float
    nulls: tuple[float, float]
    occurrences: tuple[float, float]
    words: tuple[int, int]


@dataclass(frozen=True, eq=False)
class PseudoCounts:
    """What earlier text counted of this text's words. Longs are written as counts are (models/counts.py).

    place      [n]      the word pairs of the lexicon that have counts, each once
    pairs      [n, 2]   their counts, forward and reverse
    rest_src   [V_src]  what source word e counted with words that do not stand beside e here, forward
    rest_tgt   [V_tgt]  the same of target words, reverse
    null_fwd   [V_tgt]  target word -> links with NULL
    null_rev   [V_src]  source word -> links with NULL
    src, tgt   [V]      how often words occur; need not be whole
    positions  [2, n]   as Jumps lay them out; None: nothing is known of them
    """

    place: Longs
    pairs: Longs
    rest_src: Longs
    rest_tgt: Longs
    null_fwd: Longs
    null_rev: Longs
    src: Doubles
    tgt: Doubles
    positions: Longs | None
    lacking: Lacking

    def add_to(self, counts: Counts, jumps: bool = False) -> None:
        """Adds to the counts of this text; to those of positions only if they were counted.

        jumps: whether the positions of this text are Jumps
        """
        shared = counts.pairs.shape[1] == 1
        counts.pairs[self.place] += self.pairs.sum(axis=1, keepdims=True) // 2 if shared else self.pairs
        counts.null_fwd += self.null_fwd
        counts.null_rev += self.null_rev
        if jumps and self.positions is not None and counts.positions.any():
            counts.positions[:, : self.positions.shape[1]] += self.positions  # by class, nothing is known


@dataclass(frozen=True, eq=False)
class Overlap:
    """What sentence pairs that this text has, too, added to what earlier text counted.

    counts       of this text's lexicon; both directions have the same links
    occurrences  [V]  of this text's source words and target words
    """

    counts: Counts
    occurrences: tuple[Longs, Longs]


@dataclass(frozen=True, eq=False)
class EarlierCounts:
    """What earlier text counted, with words of its own. Words may be equal: their counts add up.

    src, tgt     its words
    e, f         [n]     word pairs: source word, target word
    pairs        [n, 2]  word pair -> expected links, forward and reverse
    occurrences  of source words [V_src] and of target words [V_tgt]
    nulls        links with NULL of target words [V_tgt], forward, and of source words [V_src], reverse
    """

    src: Sequence[str]
    tgt: Sequence[str]
    e: Ints
    f: Ints
    pairs: Doubles
    occurrences: tuple[Doubles, Doubles]
    nulls: tuple[Doubles, Doubles]

    def on(
        self, seen: Seen, overlap: Overlap | None, positions: Doubles | None, weight: float, n_threads: int
    ) -> PseudoCounts:
        """Weight times what was counted, for the words and word pairs that a view sees of this text.

        A row is divided by kappa times the occurrences of its word, as that of leave-one-out is
        (models/update.py): rest = kappa N(e) - sum_f c(e, f), f: the words that stand beside e here.
        overlap    is taken away before
        positions  [2, n] what was counted of positions
        """
        self._check_size(positions, weight)
        vocabs = seen.text.src.vocab, seen.text.tgt.vocab
        ids = [vocab.find(words) for vocab, words in zip(vocabs, (self.src, self.tgt), strict=True)]
        sizes = [len(vocab) for vocab in vocabs]
        place, pairs = self._pairs(seen, ids, n_threads)
        occurrences = [summed(ids[k], self.occurrences[k], sizes[k]) for k in range(2)]
        nulls = [summed(ids[1 - k], self.nulls[k], sizes[1 - k]) for k in range(2)]
        lacking = self._lacking(ids, pairs, nulls, occurrences, weight)
        if overlap is not None:
            pairs -= overlap.counts.pairs[place] / ONE
            for k, null in enumerate((overlap.counts.null_fwd, overlap.counts.null_rev)):
                nulls[k] -= null / ONE
                occurrences[k] -= overlap.occurrences[k]
            for array in (pairs, *occurrences):  # this text may have a sentence pair more often
                np.maximum(array, 0, out=array)
        e, f = np.searchsorted(seen.rows, place, side="right") - 1, seen.tgt[place]
        rests = []
        for k, word in ((0, e), (1, f)):
            kappa = self.pairs[:, k].sum() / (self.occurrences[k].sum() or 1)
            rests.append(kappa * occurrences[k] - np.bincount(word, pairs[:, k], minlength=sizes[k]))
        counted = _fixed(weight * pairs)
        some = counted.any(axis=1)
        return PseudoCounts(
            place[some],
            counted[some],
            _fixed(weight * rests[0]),
            _fixed(weight * rests[1]),
            _fixed(weight * nulls[0]),
            _fixed(weight * nulls[1]),
            weight * occurrences[0],
            weight * occurrences[1],
            None if positions is None else _fixed(weight * positions),
            lacking,
        )

    def _check_size(self, positions: Doubles | None, weight: float) -> None:
        """Refuses what an int64 might not hold."""
        with np.errstate(over="ignore"):  # a sum may be infinite
            sums = [x.sum() for x in (*self.pairs.T, *self.occurrences, *self.nulls)]
            most = weight * max([*sums, 0.0 if positions is None else positions.sum()])
        if most > MOST_TOKENS // 2:
            raise DataError(
                f"the prior counts {most:.3g} words or jumps, more than {MOST_TOKENS // 2}",
                hint="give the prior a smaller weight",
            )

    def _pairs(self, seen: Seen, ids: Sequence[Ints], n_threads: int) -> tuple[Longs, Doubles]:
        """The word pairs that stand in this text, too, each once, and their counts."""
        places = find_pairs(seen, ids[0][self.e], ids[1][self.f], n_threads)
        here = places >= 0
        place, which = np.unique(places[here], return_inverse=True)
        counts = [np.bincount(which, x[here], minlength=len(place)) for x in self.pairs.T]
        return place, np.stack(counts, axis=1)

    def _lacking(
        self,
        ids: Sequence[Ints],
        pairs: Doubles,
        nulls: Sequence[Doubles],
        occurrences: Sequence[Doubles],
        weight: float,
    ) -> Lacking:
        """Weight times what is left when all that is in this text is taken away."""
        links = self.pairs.sum() / 2 - pairs.sum() / 2
        of_null, tokens = (
            [weight * max(0.0, x.sum() - y.sum()) for x, y in zip(all_, here, strict=True)]
            for all_, here in ((self.nulls, nulls), (self.occurrences, occurrences))
        )
        words = [
            len({words[n] for n in np.flatnonzero((ids[k] < 0) & (self.occurrences[k] > 0)).tolist()})
            for k, words in enumerate((self.src, self.tgt))
        ]
        return Lacking(
            weight * max(0.0, links), (of_null[0], of_null[1]), (tokens[0], tokens[1]), (words[0], words[1])
        )


def find_pairs(seen: Seen | Lexicon, e: Ints, f: Ints, n_threads: int) -> Longs:
    """[n] the numbers of word pairs (e, f) in what a view sees, or in a lexicon; -1: not there.

    e, f: [n] words, -1 for unknown ones
    """
    offsets = np.arange(len(e) + 1)
    cells = np.empty(len(e), dtype=np.int32)
    find_cells(e, offsets, f, offsets, offsets, seen.rows, seen.tgt, cells, n_threads)
    return np.where(cells < 0, -1, seen.rows[e] + cells)


def summed(ids: Ints | Longs, values: Doubles, size: int) -> Doubles:
    """[size] the sum of the values of each id; values of the id -1 are left out."""
    known = ids >= 0
    return np.asarray(np.bincount(ids[known], values[known], minlength=size), dtype=np.float64)


def _fixed(x: Doubles) -> Longs:
    """Counts as integers; negative ones become 0."""
    return (np.maximum(x, 0) * ONE).astype(np.int64)

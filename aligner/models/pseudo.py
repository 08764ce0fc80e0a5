"""Pseudo-counts: what earlier text taught of the words of this text, as counts beside the text's own.

Earlier text has words and word pairs that this text lacks. They have no place in the lexicon of this text, but
they count where a row is divided by all that its word counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.errors import DataError
from aligner.models.counts import MOST_TOKENS, ONE, Counts
from aligner.text._cells import find_cells
from aligner.text.cells import Seen

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PseudoCounts:
    """What earlier text counted of this text's words. Longs and links are written as counts are (counts.py).

    place        [n]      the word pairs of the lexicon that have counts, each once
    pairs        [n, 2]   their counts, forward and reverse
    rest_src     [V_src]  what source word e counted with words that do not stand beside e here, forward
    rest_tgt     [V_tgt]  the same of target words, reverse
    null_fwd     [V_tgt]  target word -> links with NULL
    null_rev     [V_src]  source word -> links with NULL
    src, tgt     [V]      how often words occur; need not be whole
    positions    [2, n]   as the model's positions lay them out; None: nothing is known of them
    links        the links of word pairs that the lexicon lacks, mean of both directions
    nulls        the links with NULL of words that this text lacks, forward and reverse
    occurrences  of source words and of target words that this text lacks
    words        how many source words and target words there are that this text lacks
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
    links: int
    nulls: tuple[int, int]
    occurrences: tuple[float, float]
    words: tuple[int, int]

    def add_to(self, counts: Counts) -> None:
        """Adds to the counts of this text; to those of positions only if they were counted."""
        shared = counts.pairs.shape[1] == 1
        counts.pairs[self.place] += mean(self.pairs) if shared else self.pairs
        counts.null_fwd += self.null_fwd
        counts.null_rev += self.null_rev
        if self.positions is not None and counts.positions.any():
            counts.positions += self.positions


def mean(pairs: Longs) -> Longs:
    """[n, 1] the mean of both directions' counts [n, 2]."""
    return (pairs[:, :1] + pairs[:, 1:]) // 2


@dataclass(frozen=True, eq=False)
class Overlap:
    """What sentence pairs that this text has, too, added to what earlier text counted.

    counts       of this text's lexicon; both directions have the same links
    occurrences  [V]  of this text's source words and target words
    """

    counts: Counts
    occurrences: tuple[Longs, Longs]


@dataclass(frozen=True, eq=False)
class Table:
    """What earlier text counted, with words of its own. Words may be equal: their counts add up.

    src, tgt     its words
    e, f         [n]       word pairs: source word, target word
    pairs        [n, 2]    word pair -> expected links, forward and reverse
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

        overlap    what is taken away first
        positions  [2, n] what was counted of positions
        """
        self._check_size(positions, weight)
        vocabs = seen.text.src.vocab, seen.text.tgt.vocab
        ids = [vocab.find(words) for vocab, words in zip(vocabs, (self.src, self.tgt), strict=True)]

        def here(side: int, values: Doubles) -> Doubles:
            known = ids[side] >= 0
            return np.bincount(ids[side][known], values[known], minlength=len(vocabs[side]))

        def fixed(x: Doubles) -> Longs:
            return np.asarray(np.maximum(x, 0) * (weight * ONE)).astype(np.int64)

        places = find_pairs(seen, ids[0][self.e], ids[1][self.f], n_threads)
        there = places >= 0
        place, which = np.unique(places[there], return_inverse=True)
        pairs = np.stack([np.bincount(which, x[there], minlength=len(place)) for x in self.pairs.T], axis=1)
        occurrences = [here(side, self.occurrences[side]) for side in range(2)]
        nulls = [here(1 - side, self.nulls[side]) for side in range(2)]
        totals = [x.sum() for x in self.occurrences]
        kappa = [x / max(1.0, n) for x, n in zip(self.pairs.sum(axis=0), totals, strict=True)]
        links = self.pairs.sum() / 2
        beyond = [n - x.sum() for n, x in zip(totals, occurrences, strict=True)]
        beyond_nulls = [x.sum() - y.sum() for x, y in zip(self.nulls, nulls, strict=True)]
        lost = links - pairs.sum() / 2
        if overlap is not None:
            pairs -= overlap.counts.pairs[place] / ONE
            for side, both in enumerate((overlap.counts.null_fwd, overlap.counts.null_rev)):
                nulls[side] -= both / ONE
                occurrences[side] -= overlap.occurrences[side]
        pairs, occurrences = np.maximum(pairs, 0), [np.maximum(x, 0) for x in occurrences]
        e = np.searchsorted(seen.rows, place, side="right") - 1
        rests = [
            kappa[side] * occurrences[side] - np.bincount(word, pairs[:, side], minlength=len(vocabs[side]))
            for side, word in enumerate((e, seen.tgt[place]))
        ]
        lacking = [
            len({words[k] for k in np.flatnonzero((ids[side] < 0) & (self.occurrences[side] > 0))})
            for side, words in enumerate((self.src, self.tgt))
        ]
        counted = fixed(pairs)
        some = counted.any(axis=1)
        return PseudoCounts(
            place[some],
            counted[some],
            fixed(rests[0]),
            fixed(rests[1]),
            fixed(nulls[0]),
            fixed(nulls[1]),
            weight * occurrences[0],
            weight * occurrences[1],
            None if positions is None else fixed(positions),
            int(fixed(lost)),
            (int(fixed(beyond_nulls[0])), int(fixed(beyond_nulls[1]))),
            (weight * max(0.0, beyond[0]), weight * max(0.0, beyond[1])),
            (lacking[0], lacking[1]),
        )

    def _check_size(self, positions: Doubles | None, weight: float) -> None:
        """Refuses what an int64 might not hold."""
        sums = [x.sum() for x in (*self.pairs.T, *self.occurrences, *self.nulls)]
        most = weight * max([*sums, 0.0 if positions is None else positions.sum()])
        if most > MOST_TOKENS:
            raise DataError(
                f"the prior counts {most:.3g} words or jumps, more than {MOST_TOKENS}",
                hint="give the prior a smaller weight",
            )


def find_pairs(seen: Seen, e: Ints, f: Ints, n_threads: int) -> Longs:
    """[n] the numbers of the word pairs (e, f) in what a view sees; -1 for those that are not there.

    e, f: [n] words, -1 for unknown ones
    """
    offsets = np.arange(len(e) + 1)
    cells = np.empty(len(e), dtype=np.int32)
    find_cells(e, offsets, f, offsets, offsets, seen.rows, seen.tgt, cells, n_threads)
    return np.where(cells < 0, -1, seen.rows[e] + cells)

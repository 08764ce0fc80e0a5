"""Word pairs that are spread over owners: each owns those of some source words, one range after another.

All functions here are pure. Whoever runs them moves arrays between shards and owners (cluster/workers.py):

    shard -> owner   `slice_of` its word pairs, once a view; `Found.pairs` of its counts, each iteration
    owner -> shard   `cut_out`, t of the shard's word pairs, each iteration
    all owners       Columns, sums over target words, are added up, and come back
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from aligner.cluster import _owners
from aligner.cluster.local import LocalView, WordPairs
from aligner.models.counts import Counts
from aligner.models.lexicon import Evidence, Lexicon, alike, alike_columns, even_t
from aligner.models.parameters import Parameters
from aligner.models.shares import Own, Packed, Shares
from aligner.models.stage import Stage
from aligner.models.update import Bytes, Columns, update_rows
from aligner.text.sides import Vocab
from aligner.text.spelling import likeness_of
from aligner.training.iteration import expect

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Slice = tuple[Ints, Longs, Ints]  # source words, rows, target words of each word pair: of the whole text


@dataclass(frozen=True, eq=False)
class Owned:
    """The word pairs of the source words start to stop.

    rows    [stop - start + 1]  word pairs of source word start + k are those from rows[k] to rows[k + 1]
    tgt     [p]                 word pair -> target word
    places  for each shard, [p of the shard]: the word pairs that stand in it
    """

    start: int
    stop: int
    rows: Longs
    tgt: Ints
    places: list[Longs]

    @staticmethod
    def of(start: int, stop: int, slices: Sequence[Slice]) -> Owned:
        """The word pairs of all shards. slices: those of each shard"""
        src = np.concatenate([src for src, _, _ in slices]) - np.int32(start)
        n_words = np.array([0, *(len(src) for src, _, _ in slices)]).cumsum()
        n_pairs = np.array([0, *(len(tgt) for _, _, tgt in slices)]).cumsum()
        begins = [rows[:-1] + n for n, (_, rows, _) in zip(n_pairs, slices, strict=False)]
        every = np.concatenate([tgt for _, _, tgt in slices])
        rows = np.zeros(stop - start + 1, np.int64)
        merged = n_words, src, np.concatenate([*begins, n_pairs[-1:]]), every
        tgt, places = _owners.merge_rows(*merged, rows)
        return Owned(start, stop, rows, tgt, np.split(places, n_pairs[1:-1]))

    def words(self, vocab: Vocab) -> Vocab:
        """The source words."""
        offsets = vocab.offsets[self.start : self.stop + 1]
        return Vocab(vocab.text[offsets[0] : offsets[-1]], offsets - offsets[0])

    def alike(self, src: Vocab, tgt: Vocab, identical: float) -> Longs:
        """The word pairs of equal spelling."""
        return alike(self.words(src), tgt, self.rows, self.tgt, identical)

    def columns(self, alike: Longs, n_tgt: int) -> tuple[Longs, Longs]:
        """How many word pairs, and how many of equal spelling, target words have here."""
        return alike_columns(self.tgt, alike, n_tgt)

    def even(self, alike: Longs, identical: float, columns: tuple[Longs, Longs], direction: str) -> Reals:
        """t before the first iteration. columns: of all owners"""
        t = even_t(self.rows, self.tgt, alike, identical, *columns)
        self.lexicon(t).keep(direction)
        return t

    def likeness(self, src: Vocab, tgt: Vocab) -> Bytes:
        """How alike the words of word pairs are spelled."""
        return likeness_of(self.words(src), tgt, self.rows, self.tgt, 1)

    def lexicon(self, t: Reals, evidence: Evidence | None = None) -> Lexicon:
        """The lexicon of these source words, without NULL."""
        none = np.empty(0, np.float32)
        return Lexicon(self.rows, self.tgt, t, none, none, evidence)

    def cut_out(self, t: Reals, shard: int) -> Reals:
        """t of the word pairs of a shard."""
        return t.take(self.places[shard], axis=0)

    def total(self, counts: Sequence[Longs]) -> Longs:
        """The counts of all shards."""
        total = np.zeros((len(self.tgt), counts[0].shape[1]), np.int64)
        for places, own in zip(self.places, counts, strict=True):
            _owners.add_rows(total, places, own)
        return total

    def renewed(
        self,
        t: Reals,
        counts: Longs,
        stage: Stage,
        direction: str,
        columns: Columns | None,
        evidence: Evidence | None,
        likeness: Bytes | None,
    ) -> tuple[Reals, tuple[float, Doubles] | None]:
        """(t after an update, what update_rows returns). columns, evidence: of all owners"""
        if evidence is not None:
            evidence = replace(evidence, src=evidence.src[self.start : self.stop])
        m = self.lexicon(t.copy(), evidence)
        added = update_rows(m, counts, stage, columns, likeness)
        if stage.leaving is None:
            m.keep(direction)
        return m.t, added

    def pruned(self, t: Reals) -> tuple[Longs, Ints, Reals]:
        """(widths of rows, target words, t) of the word pairs that a finished model keeps."""
        kept = self.lexicon(t).pruned()
        return np.diff(kept.rows), kept.tgt, kept.t


def slice_of(pairs: WordPairs, bounds: Longs, owner: int) -> Slice:
    """The word pairs of a shard that an owner has. bounds: the first source word of each, and the end"""
    a, b = _cuts(pairs, bounds)[owner]
    rows = pairs.rows[a : b + 1]
    return pairs.src[a:b], rows - rows[0], pairs.tgt[pairs.pair_tgt[rows[0] : rows[-1]]]


def _cuts(pairs: WordPairs, bounds: Longs) -> list[tuple[int, int]]:
    """The local source words of each owner."""
    places = np.searchsorted(pairs.src, bounds).tolist()
    return list(zip(places, places[1:], strict=False))


@dataclass(frozen=True, eq=False)
class Found:
    """What an iteration finds in a shard.

    pairs       for each view, for each owner: counts of word pairs
    counts      of each view, without word pairs: of local words
    statistics  sums over sentence pairs
    shares      of the sentence pairs, if they are left out the next time
    """

    pairs: list[list[Longs]]
    counts: list[Counts]
    statistics: dict[str, int]
    shares: Packed | None

    @staticmethod
    def of(
        views: Sequence[LocalView],
        t: Sequence[Sequence[Reals]],
        whole: Sequence[Parameters],
        stage: Stage,
        direction: str,
        bounds: Sequence[Longs],
        shares: Packed | None,
    ) -> Found:
        """One iteration over a shard.

        t       for each view, for each owner: what `cut_out` gave
        whole   parameters of the views without word pairs
        bounds  of the owners, for each view
        shares  that are left out
        """
        parameters = [
            view.with_t(m, np.concatenate(parts)) for view, m, parts in zip(views, whole, t, strict=True)
        ]
        own = None
        if shares is not None and stage.leaving is not None:
            own = Own(shares[0][:-1], shares[0][1:], shares[1], stage.leaving.left_out)
        found = expect(parameters, [view.seen for view in views], stage, direction, own=own)
        pairs, counts = [], []
        for view, c, cuts in zip(views, found.counts, bounds, strict=True):
            rows = view.pairs.rows
            pairs.append([c.pairs[rows[a] : rows[b]] for a, b in _cuts(view.pairs, cuts)])
            counts.append(Counts(np.empty((0, 2), np.int64), c.null_fwd, c.null_rev, c.positions))
        packed = None
        if stage.together:
            joined = Shares.joined(np.empty(0, np.uint64), found.shares)
            packed = joined.offsets, joined.entries
        return Found(pairs, counts, found.statistics, packed)

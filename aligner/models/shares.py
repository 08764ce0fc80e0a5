"""The expected links of each sentence pair of a text: its share in the counts of a model, kept sparse.

A sentence pair must not be its own witness. What it had counted is subtracted again when it is aligned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.models import _shares
from aligner.text.corpus import Corpus, pair_keys

Longs = npt.NDArray[np.int64]
Entries = npt.NDArray[np.uint32]
Packed = tuple[Longs, Entries]  # offsets and entries of a shard

CUTOFF = 1e-3  # a cell of no more expected links has no share
MOST = 65535  # how an entry writes one expected link


@dataclass(frozen=True, eq=False)
class Own:
    """Where the shares of some sentence pairs are.

    start, stop  [S]  the entries of sentence pair n are entries[start[n]:stop[n]]; start -1: not counted
    entries      as ext/models/shares.pxd packs them
    left_out     how much of its share a sentence pair does not see: 0 nothing, 1 all
    """

    start: Longs
    stop: Longs
    entries: Entries
    left_out: float

    def part(self, start: int, stop: int) -> Own:
        """The shares of the sentence pairs start to stop."""
        return Own(self.start[start:stop], self.stop[start:stop], self.entries, self.left_out)


def taken(parts: list[Packed]) -> Iterator[Packed]:
    """The parts, one after another. The list becomes empty: none is held longer than it is used."""
    parts.reverse()  # the first one is taken off the end
    while parts:
        yield parts.pop()


class Passing:
    """The shares of a text's shards, which are asked for one after another, and forgotten then.

    parts     of the shards, in the order of the text; the list becomes empty
    left_out  that of Own
    """

    def __init__(self, parts: list[Packed], left_out: float) -> None:
        self.parts, self.left_out = taken(parts), left_out

    def part(self, start: int, stop: int) -> Own:
        """The shares of the next shard, the sentence pairs start to stop."""
        offsets, entries = next(self.parts)
        if len(offsets) != stop - start + 1:
            raise ValueError(f"the next shares are of {len(offsets) - 1} sentence pairs, not {stop - start}")
        return Own(offsets[:-1], offsets[1:], entries, self.left_out)


@dataclass(frozen=True, eq=False)
class Shares:
    """The shares of all sentence pairs that a model was trained on.

    keys     [S]      checksums of the sentence pairs
    offsets  [S + 1]  the entries of sentence pair n are entries[offsets[n]:offsets[n + 1]]
    entries           as ext/models/shares.pxd packs them
    """

    keys: npt.NDArray[np.uint64]
    offsets: Longs
    entries: Entries

    @staticmethod
    def joined(keys: npt.NDArray[np.uint64], parts: Iterable[Packed]) -> Shares:
        """The shares of a text's shards, one after another, with the keys of its sentence pairs."""
        lengths, entries, n = [np.zeros(1, np.int64)], np.empty(0, dtype=np.uint32), 0
        for offsets, packed in parts:
            end = n + len(packed)
            if end > len(entries):  # it grows in place: parts may be forgotten as they are taken
                entries.resize(max(end, len(entries) * 5 // 4), refcheck=False)
            entries[n:end], n = packed, end
            lengths.append(np.diff(offsets))
        entries.resize(n, refcheck=False)
        return Shares(keys, np.cumsum(np.concatenate(lengths)), entries)

    def of_all(self, left_out: float) -> Own:
        """The shares of the text that they were made of, in its order."""
        return Own(self.offsets[:-1], self.offsets[1:], self.entries, left_out)

    def parts(self, cuts: Iterable[tuple[int, int]]) -> list[Packed]:
        """The shares of some shards of the text that they were made of. cuts: first and last of each"""
        found = []
        for start, stop in cuts:
            offsets = self.offsets[start : stop + 1]
            found.append((offsets - offsets[0], self.entries[offsets[0] : offsets[-1]]))
        return found

    def sorted(self, n_threads: int = 1) -> Shares:
        """By key, each key once: equal pairs have equal shares, unless links known by hand differ."""
        keys, order = np.unique(self.keys, return_index=True)
        return Shares(keys, *_shares.gather(self.offsets, self.entries, order, n_threads))

    def find(self, keys: npt.NDArray[np.uint64]) -> Longs:
        """The sentence pair of each key, -1 for a key that is not there. The shares are sorted by key."""
        place = np.searchsorted(self.keys, keys)
        found = place < len(self.keys)
        found[found] = self.keys[place[found]] == keys[found]
        return np.where(found, place, -1)

    def of(self, corpus: Corpus, left_out: float, n_threads: int = 1) -> Own:
        """The shares of any text's sentence pairs. The keys are sorted."""
        place = self.find(pair_keys(corpus, n_threads))
        found = place >= 0
        start, stop = (np.full(len(corpus), -1, np.int64) for _ in range(2))
        start[found], stop[found] = self.offsets[place[found]], self.offsets[place[found] + 1]
        return Own(start, stop, self.entries, left_out)

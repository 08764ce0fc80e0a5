"""The positions of Model 2: a table of probabilities for each size of sentence pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from aligner import store
from aligner.models.places import Places, find_sizes, sizes_of
from aligner.text.cells import Shard

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float32]


@dataclass(eq=False)
class Table:
    """p(i | j, I, J) forward and p(j | i, I, J) reverse, NULL included, for each size (I, J) that was met.

    sizes     [n, 2]  sizes (I, J), sorted
    position  [2, N]  of each size, one after the other, a block [I + 1, J + 1]: row 0 is NULL's, forward, and
                      column 0 is NULL's, reverse
    Counts are laid out as position is.
    """

    sizes: Longs
    position: Reals

    kind: ClassVar[str] = "table"
    ARRAYS: ClassVar[tuple[str, ...]] = ("sizes", "position")
    NUMBERS: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def of(sizes: Longs, old: Table | None) -> Table:
        """The table of a text's sizes. What the old table does not have is even: 1 / (I + 1), 1 / (J + 1)."""
        table = Table(sizes, np.empty((2, int(_n_cells(sizes).sum())), dtype=np.float32))
        found = np.full(len(sizes), -1) if old is None else find_sizes(old.sizes, sizes[:, 0], sizes[:, 1])
        starts = None if old is None else old.starts
        for n, (I, J, begin, end) in enumerate(table.blocks()):
            if old is not None and starts is not None and found[n] >= 0:
                first = starts[found[n]]
                table.position[:, begin:end] = old.position[:, first : first + end - begin]
            else:
                table.position[0, begin:end] = 1 / (I + 1)
                table.position[1, begin:end] = 1 / (J + 1)
        return table

    @property
    def starts(self) -> Longs:
        """[n] where the block of each size begins"""
        n_cells = _n_cells(self.sizes)
        return np.cumsum(n_cells) - n_cells

    def blocks(self) -> Iterator[tuple[int, int, int, int]]:
        """I, J and the place of each size: its first cell, and the one after its last."""
        ends = np.cumsum(_n_cells(self.sizes)).tolist()
        for (I, J), end in zip(self.sizes.tolist(), ends, strict=True):
            yield I, J, end - (I + 1) * (J + 1), end

    @property
    def n_counts(self) -> int:
        return int(self.position.shape[1])

    def places(self, shard: Shard) -> Places:
        """What the kernel reads for a shard."""
        found = find_sizes(self.sizes, np.diff(shard.src_offsets), np.diff(shard.tgt_offsets))
        return Places(np.append(self.starts, -1)[found], self.position)

    def update(self, expected: Doubles, power: float = 1.0) -> None:
        """p(i | j, I, J) = c(i, j) / sum_i c(i, j), NULL among i. A word without counts keeps what it has."""
        for I, J, begin, end in self.blocks():
            for d, axis in ((0, 0), (1, 1)):
                counts = expected[d, begin:end].reshape(I + 1, J + 1)
                total = counts.sum(axis=axis, keepdims=True)
                block = self.position[d, begin:end].reshape(I + 1, J + 1)
                np.divide(counts, total, out=block, where=total > 0, casting="same_kind")

    def copied(self) -> Table:
        return replace(self, position=self.position.copy())

    def check(self, large: bool) -> None:
        arrays: dict[str, npt.NDArray[Any]] = {"sizes": self.sizes, "position": self.position}
        n, N = store.size_of(arrays, "sizes"), store.size_of(arrays, "position", 1)
        store.check_arrays(arrays, {"sizes": (np.int64, (n, 2)), "position": (np.float32, (2, N))})
        store.check_bounds(arrays, "sizes", 1, max(1, N))
        sizes = self.sizes.astype(np.float64) + 1  # products of damaged sizes may be very large
        if sizes.prod(axis=1).sum() != N:
            raise ValueError("position does not have the sizes that sizes says")
        if not np.array_equal(sizes_of(*self.sizes.T), self.sizes):
            raise ValueError("sizes does not rise")
        if large:
            store.check_bounds(arrays, "position", 0, 1)


def _n_cells(sizes: Longs) -> Longs:
    """[n] the cells of each size's block"""
    return np.asarray((sizes[:, 0] + 1) * (sizes[:, 1] + 1))

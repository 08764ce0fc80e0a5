"""What kernels read of positions (ext/models/places.pxd): the sizes of sentence pairs, tables and ramps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Ramps:
    """exp(tension k / L), k = 0 ... L, of some lengths L; both directions.

    starts  [longest + 1]  length -> where its numbers begin; -1: it has none
    up      [2, n]         exp(tension k / L)
    down    [2, n]         exp(-tension k / L)
    gap     [2, n]         1 - exp(-tension k / L)
    """

    starts: Longs
    up: Doubles
    down: Doubles
    gap: Doubles

    @staticmethod
    def of(lengths: Longs, tension: Doubles) -> Ramps:
        """lengths: any; tension: [2] forward, reverse"""
        some = np.unique(lengths[lengths > 0])
        starts = np.full(int(some.max(initial=0)) + 1, -1, dtype=np.int64)
        starts[some] = np.cumsum(some + 1) - (some + 1)
        k = np.arange(int((some + 1).sum())) - np.repeat(starts[some], some + 1)
        x = tension[:, None] * (k / np.repeat(some, some + 1))
        return Ramps(starts, np.exp(x), np.exp(-x), -np.expm1(-x))


@dataclass(frozen=True, eq=False)
class Places:
    """The positions of a shard: those of a table, or of the diagonal.

    starts  [S]     sentence pair -> where its size begins, in the table and in the counts; -1: nowhere
    table   [2, n]  of each size (I, J) a block [I + 1, J + 1]; row 0 and column 0 are those of NULL
    p0      of the diagonal: the probability of NULL
    ramps   of the diagonal
    """

    starts: Longs | None
    table: Reals | None = None
    p0: float = 0.0
    ramps: Ramps | None = None


def sizes_of(src: Longs, tgt: Longs) -> Longs:
    """[n, 2] the sizes of sentence pairs, sorted, each once; without those that have an empty side.

    src, tgt: [S] lengths
    """
    some = (src > 0) & (tgt > 0)
    keys = np.unique(_keys(src[some], tgt[some]))
    return np.stack([keys >> 32, keys & (2**32 - 1)], axis=1)


def find_sizes(sizes: Longs, src: Longs, tgt: Longs) -> Longs:
    """[S] the numbers of sizes; -1 for those that are not there."""
    known, wanted = _keys(sizes[:, 0], sizes[:, 1]), _keys(src, tgt)
    places = np.searchsorted(known, wanted)
    found = np.append(known, -1)[places] == wanted
    return np.where(found, places, -1)


def _keys(src: Longs, tgt: Longs) -> Longs:
    """A number for each size, in the order of sizes."""
    return (src.astype(np.int64) << 32) | tgt.astype(np.int64)

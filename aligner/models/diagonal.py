"""The positions of the diagonal model: links that favour the diagonal (Dyer, Chahuneau & Smith 2013).

A generated sentence has J words, j = 1 ... J, and a given sentence has I words, i = 1 ... I.

    p(i | j, I, J) = exp(tension h(i, j)) / Z    h(i, j) = -|i / I - j / J|    Z = sum_i exp(tension h(i, j))

Expected counts say how far links are from the diagonal: far = sum of posteriors times -h. The update of the
tension maximises what is expected of the log-likelihood, w: the expected links of a generated word,

    Q(tension) = -tension far - sum w log Z    Q' = -far + sum w E[-h]    Q'' = -sum w Var[h] <= 0

so that its maximum is where Q' = 0, and there is one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from aligner import store
from aligner.models._diagonal import expected_distance
from aligner.models.places import Places, Ramps, find_sizes, sizes_of
from aligner.models.settings import SETTINGS
from aligner.text.cells import Shard

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]

LEAST, MOST = SETTINGS["tension"].least, SETTINGS["tension"].most  # sums are exact, float holds exp(tension)
FITTED = 0.1, 14.0  # the bounds of a tension that is fitted for fast_align
SMALLEST, LARGEST = 1e-6, 700.0  # the bounds of a tension that can be computed with: Z is no 0
USUAL = 4.0  # the tension to start with, that of fast_align
STEPS = 100  # the most of an update; it needs less than ten
FLAT = 1e-12  # a variance of h, a link, that is as good as none
EXACT = 1e-10  # how far from its maximum, relatively, a tension may be


@dataclass(eq=False)
class Diagonal:
    """How much links favour the diagonal.

    tension  [2]     of the forward and of the reverse direction
    p0       the probability of NULL
    sizes    [n, 2]  sizes of sentence pairs (I, J) in the text that is trained on, sorted; none if the
                     tension is kept
    Counts of a direction are the distance of links from the diagonal, then for each size the expected links
    of its generated words. A size has room for max(I, J) words.
    """

    tension: Doubles
    p0: float
    sizes: Longs = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))

    kind: ClassVar[str] = "diagonal"
    ARRAYS: ClassVar[tuple[str, ...]] = ("tension",)
    NUMBERS: ClassVar[tuple[str, ...]] = ("p0",)

    @staticmethod
    def of(sizes: Longs, old: Diagonal | None, fixed: float | None, p0: float) -> Diagonal:
        """sizes: of the text's sentence pairs

        fixed: the tension; None: it is learned, and begins with the old one or the usual one
        """
        if fixed is not None:
            return Diagonal(np.full(2, fixed), p0)
        tension = np.full(2, USUAL) if old is None else np.clip(old.tension, LEAST, MOST)
        return Diagonal(tension, p0, sizes)

    @property
    def starts(self) -> Longs:
        """[n] where the words of each size begin, the first size's at 0"""
        return _starts(self.sizes)

    @property
    def n_counts(self) -> int:
        return 1 + int(self.sizes.max(axis=1).sum()) if len(self.sizes) else 0

    def places(self, shard: Shard) -> Places:
        """What the kernel reads for a shard."""
        src, tgt = np.diff(shard.src_offsets), np.diff(shard.tgt_offsets)
        ramps = Ramps.of(np.concatenate([src, tgt]), self.tension)
        starts = None
        if len(self.sizes):
            starts = np.append(self.starts, -1)[find_sizes(self.sizes, src, tgt)]
        return Places(starts, None, self.p0, ramps)

    def update(self, expected: Doubles, power: float = 1.0) -> None:
        """The tension that makes what is expected most probable. A direction without links keeps its own."""
        for d, (far, tension) in enumerate(zip(expected[:, 0].tolist(), self.tension.tolist(), strict=True)):
            self.tension[d] = most_probable(far, self.sizes, expected[d, 1:], d, tension, LEAST, MOST)

    def copied(self) -> Diagonal:
        return replace(self, tension=self.tension.copy())

    def check(self, large: bool) -> None:
        arrays = {"tension": self.tension}
        store.check_arrays(arrays, {"tension": (np.float64, (2,))})
        store.check_bounds(arrays, "tension", LEAST, MOST)


def most_probable(
    far: float, sizes: Longs, weights: Doubles, direction: int, tension: float, least: float, most: float
) -> float:
    """The tension between least and most that maximises Q, by Newton's steps from a tension inside a bracket.

    far      sum of posteriors times -h
    weights  expected links of the generated words, laid out as in Diagonal
    Where Q' = 0 for every tension, as it is if every given sentence has one word, the tension stays.
    """
    starts = _starts(sizes)

    def slope(x: float) -> tuple[float, float]:
        ramps = Ramps.of(sizes.ravel(), np.full(2, x))
        mean, variance = expected_distance(sizes, starts, weights, ramps, direction)
        return mean - far, variance

    at_least, variance = slope(least)
    if variance <= FLAT * weights.sum():
        return tension
    if at_least <= 0:
        return least
    if slope(most)[0] >= 0:
        return most
    low, high, x = least, most, min(max(tension, least), most)
    for _ in range(STEPS):
        value, variance = slope(x)
        low, high = (x, high) if value > 0 else (low, x)
        step = x + value / variance if variance > 0 else high
        new = step if low < step < high else (low + high) / 2
        if abs(new - x) <= EXACT * x:
            return new
        x = new
    return x


def _starts(sizes: Longs) -> Longs:
    """[n] where the words of each size begin, if each has room for max(I, J) of them"""
    widths = sizes.max(axis=1) if len(sizes) else np.empty(0, dtype=np.int64)
    return np.asarray(np.cumsum(widths) - widths)


def positions(n_generated: int, n_given: int, tension: float, share: float = 1.0) -> Doubles:
    """[J, I] p(i | j, I, J) times share. The tension is between SMALLEST and LARGEST.

    The terms of Z fall by the factor exp(-tension / I) from the diagonal to the left and to the right: Z is
    the sum of two geometric series. The operations, and their order, are those of fast_align: where two words
    are equally far from the diagonal, the last bit decides, and decides alike.
    """
    I, J = n_given, n_generated
    factor = math.exp(-tension / I)
    found = np.empty((J, I))
    for j in range(1, J + 1):
        weights = [math.exp(-abs(i / I - j / J) * tension) for i in range(1, I + 1)]
        left = int(j * I / J)  # words up to the diagonal
        right = I - left
        below = weights[left - 1] * (1 - factor**left) / (1 - factor) if left else 0.0
        above = weights[left] * (1 - factor**right) / (1 - factor) if right else 0.0
        Z = (below + above) / share
        found[j - 1] = [weight / Z for weight in weights]
    return found


def fitted_tension(given: Longs, generated: Longs, n_given: Longs, n_generated: Longs) -> float:
    """The tension that makes links most probable, within fast_align's bounds; the usual one without links.

    given, generated      [n_links]  positions of links, from 0
    n_given, n_generated  [n_links]  the lengths of their sentences
    """
    if not len(given):
        return USUAL
    far = float(np.abs((given + 1) / n_given - (generated + 1) / n_generated).sum())
    sizes = sizes_of(n_given, n_generated)
    starts = _starts(sizes)
    place = starts[find_sizes(sizes, n_given, n_generated)] + generated
    weights = np.bincount(place, minlength=int(sizes.max(axis=1).sum())).astype(np.float64)
    return most_probable(far, sizes, weights, 0, USUAL, *FITTED)

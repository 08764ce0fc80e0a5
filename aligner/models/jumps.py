"""Jumps: how far a word's link is from that of the word before, whatever the words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from aligner import store
from aligner.models.settings import checked

Doubles = npt.NDArray[np.float64]

LEAST = 1e-6  # the smallest probability of a jump


@dataclass(eq=False)
class Jumps:
    """The HMM's positions: probabilities of distances from the word before, both directions. W = window - 1.

    jump    [2, 2 W + 3]  left of -W, distances -W ... W, right of W
    first   [2, W + 1]    the first position: 0 ... W - 1, and beyond
    p0      the probability of NULL
    last    [2, W + 1]    the last position, counted from the end; [2, 0]: it does not matter
    Counts are those of jump, then those of first, then those of last.
    """

    jump: Doubles
    first: Doubles
    p0: float
    last: Doubles = field(default_factory=lambda: np.zeros((2, 0)))

    kind: ClassVar[str] = "jumps"
    ARRAYS: ClassVar[tuple[str, ...]] = ("jump", "first", "last")
    NUMBERS: ClassVar[tuple[str, ...]] = ("p0",)

    @staticmethod
    def even(window: int, p0: float) -> Jumps:
        """All distances are equally likely, all first positions, and all last ones."""
        W = window - 1
        jump, first, last = (np.full((2, n), 1 / n) for n in (2 * W + 3, W + 1, W + 1))
        return Jumps(jump, first, p0, last)

    @property
    def window(self) -> int:
        return int(self.first.shape[1])

    @property
    def n_classes(self) -> int:
        """How many classes of words the jumps depend on (models/class_jumps.py)."""
        return 0

    @property
    def n_counts(self) -> int:
        return sum(int(table.shape[1]) for table in (self.jump, self.first, self.last))

    def update(self, expected: Doubles, power: float = 1.0) -> None:
        """jump(b) = c(b) / sum_b c(b), c the expected jumps into bucket b; the same for first and last ones.

        The lattice divides jump by Z, its sum over the buckets that a sentence has room for. The exact update
        would take account of Z. This update does not: the likelihood can fall by a trifle.
        """
        tables = self.jump, self.first, self.last
        cuts = np.cumsum([table.shape[1] for table in tables])[:-1]
        for table, part in zip(tables, np.split(expected, cuts, axis=1), strict=True):
            learn(table, part, power)

    def copied(self) -> Jumps:
        return replace(self, **{name: getattr(self, name).copy() for name in self.ARRAYS})

    def check(self, large: bool) -> None:
        tables = {"jump": self.jump, "first": self.first, "last": self.last}
        W = int(checked("window", store.size_of(tables, "first", 1))) - 1
        widths = {"jump": 2 * W + 3, "first": W + 1, "last": W + 1 if self.last.size else 0}
        store.check_arrays(tables, {name: (np.float64, (2, width)) for name, width in widths.items()})
        for name in tables:
            store.check_bounds(tables, name, LEAST, 1)


def learn(table: Doubles, counts: Doubles, power: float) -> None:
    """The rows of a table become the shares of counts, raised to a power. Rows without counts stay."""
    total = counts.sum(axis=-1, keepdims=True)
    np.divide(counts, total, out=table, where=total > 0)
    if power != 1:
        table **= power
        table /= table.sum(axis=-1, keepdims=True)
    np.maximum(table, LEAST, out=table)

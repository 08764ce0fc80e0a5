"""Positions: what a model believes of where links are, whatever the words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from aligner import store
from aligner.models.settings import checked

Doubles = npt.NDArray[np.float64]

LEAST = 1e-6  # the smallest probability of a jump


class Positions(Protocol):
    """What training and model files ask of beliefs about positions.

    kind     their name in a model file, a key of POSITIONS
    ARRAYS   attributes that a model file keeps as arrays
    NUMBERS  attributes that a model file keeps as numbers; each is a setting, and has its bounds
    """

    kind: ClassVar[str]
    ARRAYS: ClassVar[tuple[str, ...]]
    NUMBERS: ClassVar[tuple[str, ...]]

    @property
    def n_counts(self) -> int:
        """How many counts a direction has."""

    def update(self, expected: Doubles, power: float = 1.0) -> None:
        """Maximum likelihood, in place, from expected counts [2, n_counts] of both directions.

        power: what probabilities are raised to afterwards; below 1 they become more even
        """

    def copied(self) -> Positions:
        """A copy, which the next update does not change."""

    def check(self, large: bool) -> None:
        """Refuses, by a ValueError, arrays of a file that training does not make.

        large: looks at what arrays hold that grow with the text, too
        """


@dataclass(eq=False)
class Jumps:
    """The HMM's positions: probabilities of distances from the word before, both directions. W = window - 1.

    jump    [2, 2 W + 3]  left of -W, distances -W ... W, right of W
    first   [2, W + 1]    the first position: 0 ... W - 1, and beyond
    p0      the probability of NULL
    Counts are those of jump, then those of first.
    """

    jump: Doubles
    first: Doubles
    p0: float

    kind: ClassVar[str] = "jumps"
    ARRAYS: ClassVar[tuple[str, ...]] = ("jump", "first")
    NUMBERS: ClassVar[tuple[str, ...]] = ("p0",)

    @staticmethod
    def even(window: int, p0: float) -> Jumps:
        """All distances and all first positions are equally likely."""
        W = window - 1
        return Jumps(np.full((2, 2 * W + 3), 1 / (2 * W + 3)), np.full((2, W + 1), 1 / (W + 1)), p0)

    @property
    def window(self) -> int:
        return int(self.first.shape[1])

    @property
    def n_counts(self) -> int:
        return int(self.jump.shape[1] + self.first.shape[1])

    def update(self, expected: Doubles, power: float = 1.0) -> None:
        """jump(b) = c(b) / sum_b c(b), c the expected jumps into bucket b; the same for first positions.

        The lattice divides jump by Z, its sum over the buckets that a sentence has room for. The exact update
        would take account of Z. This update does not: the likelihood can fall by a trifle.
        """
        width = self.jump.shape[1]
        for table, part in ((self.jump, expected[:, :width]), (self.first, expected[:, width:])):
            total = part.sum(axis=1, keepdims=True)
            np.divide(part, total, out=table, where=total > 0)
            if power != 1:
                table **= power
                table /= table.sum(axis=1, keepdims=True)
            np.maximum(table, LEAST, out=table)

    def copied(self) -> Jumps:
        return replace(self, jump=self.jump.copy(), first=self.first.copy())

    def check(self, large: bool) -> None:
        tables = {"jump": self.jump, "first": self.first}
        W = int(checked("window", store.size_of(tables, "first", 1))) - 1
        store.check_arrays(tables, {"jump": (np.float64, (2, 2 * W + 3)), "first": (np.float64, (2, W + 1))})
        for name in tables:
            store.check_bounds(tables, name, LEAST, 1)


POSITIONS: dict[str, type[Jumps]] = {Jumps.kind: Jumps}


def restored(saved: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Positions:
    """The positions that a model file keeps. saved: their kind and their numbers; arrays: theirs, and more"""
    kind = POSITIONS[saved["kind"]]
    tables: dict[str, Any] = {name: arrays[name] for name in kind.ARRAYS}
    return kind(**tables, **{name: saved[name] for name in kind.NUMBERS})

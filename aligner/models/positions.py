"""Positions: what a model believes of where links are, whatever the words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from aligner import store
from aligner.models.diagonal import Diagonal
from aligner.models.settings import checked
from aligner.models.table import Table

Doubles = npt.NDArray[np.float64]

LEAST = 1e-6  # the smallest probability of a jump


class Positions(Protocol):
    """What training and model files ask of beliefs about positions.

    kind     their name in a model file, a key of POSITIONS
    ARRAYS   attributes that a model file keeps as arrays; one that has a default may be missing there
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
            total = part.sum(axis=1, keepdims=True)
            np.divide(part, total, out=table, where=total > 0)
            if power != 1:
                table **= power
                table /= table.sum(axis=1, keepdims=True)
            np.maximum(table, LEAST, out=table)

    def copied(self) -> Jumps:
        return replace(self, jump=self.jump.copy(), first=self.first.copy(), last=self.last.copy())

    def check(self, large: bool) -> None:
        tables = {"jump": self.jump, "first": self.first, "last": self.last}
        W = int(checked("window", store.size_of(tables, "first", 1))) - 1
        widths = {"jump": 2 * W + 3, "first": W + 1, "last": W + 1 if self.last.size else 0}
        store.check_arrays(tables, {name: (np.float64, (2, width)) for name, width in widths.items()})
        for name in tables:
            store.check_bounds(tables, name, LEAST, 1)


POSITIONS: dict[str, type[Jumps] | type[Table] | type[Diagonal]] = {
    kind.kind: kind for kind in (Jumps, Table, Diagonal)
}


def needed(kind: type[Positions]) -> list[str]:
    """The arrays that no model file lacks."""
    found = {f.name: f.default_factory is MISSING for f in fields(kind)}  # type: ignore[arg-type]
    return [name for name in kind.ARRAYS if found[name]]


def kept(positions: Positions) -> dict[str, npt.NDArray[Any]]:
    """The arrays that a model file keeps, by name; of those that it may lack, not the empty ones."""
    tables = {name: getattr(positions, name) for name in positions.ARRAYS}
    return {name: x for name, x in tables.items() if x.size or name in needed(type(positions))}


def restored(saved: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Positions:
    """The positions that a model file keeps. saved: their kind and their numbers; arrays: theirs, and more"""
    kind = POSITIONS[saved["kind"]]
    tables: dict[str, Any] = {name: arrays[name] for name in kind.ARRAYS if name in arrays}
    return kind(**tables, **{name: saved[name] for name in kind.NUMBERS})

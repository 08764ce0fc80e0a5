"""Positions: what a model believes of where links are, whatever the words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from aligner.models.class_jumps import ClassJumps
from aligner.models.diagonal import Diagonal
from aligner.models.jumps import Jumps
from aligner.models.table import Table

Doubles = npt.NDArray[np.float64]


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


POSITIONS: dict[str, type[Jumps] | type[ClassJumps] | type[Table] | type[Diagonal]] = {
    kind.kind: kind for kind in (Jumps, ClassJumps, Table, Diagonal)
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

"""What tuning on gold links found, as a model's facts keep it: a threshold for each system, and its curve.

A system is a way to have scored links of a model: one direction, or both made one by soft union or product.
"""

from __future__ import annotations

import json
import math
import zlib
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from aligner.errors import DataError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SYSTEMS = ("forward", "reverse", "soft-union", "product")
FACT = "tuned"  # where a model's facts have what tuning found
MOST_POINTS = 200  # points of a curve that a model keeps
OTHER = {"precision": "recall", "recall": "precision"}  # what is given -> what is to be best then


class SavedSystem(TypedDict):
    """What is kept of a system: the best threshold, and the points of `Points` as lists.

    threshold: None if no threshold had what tuning was for
    """

    area: float
    threshold: float | None
    thresholds: list[float]
    precision: list[float]
    recall: list[float]


class SavedTuning(TypedDict):
    """What is kept of a tuning.

    gold   names the gold links, as a score's signature does
    pairs  sentence pairs of the development text
    by     what the thresholds are best by
    """

    gold: str
    pairs: int
    by: str
    systems: dict[str, SavedSystem]


@dataclass(frozen=True, eq=False)
class Points:
    """Points of a curve of precision and recall: what the links have that score above each threshold.

    thresholds  [T]  falling
    precision   [T]  against sure and possible links
    recall      [T]  of sure links, rising
    """

    thresholds: Floats
    precision: Floats
    recall: Floats

    def at(self, given: str, least: float) -> int | None:
        """The point of the most recall with at least a precision, or of the most precision with a recall.

        Of equal points, the one with the most of what is given, precision or recall. None: there is none
        """
        first, second = getattr(self, OTHER[given]), getattr(self, given)
        fit = np.flatnonzero(second >= least)
        return int(fit[np.lexsort((second[fit], first[fit]))[-1]]) if len(fit) else None

    def front(self) -> Ints:
        """The points that no other point equals or beats in both precision and recall, in order."""
        best_after = np.maximum.accumulate(self.precision[::-1])[::-1]  # of this point and all that follow
        at = np.flatnonzero(np.append(self.precision[:-1] > best_after[1:], True)[: len(self.precision)])
        return at[np.diff(self.recall[at], prepend=-1.0) > 0]


def checksum(tuned: SavedTuning) -> str:
    """What a model's signature calls a tuning."""
    return f"{zlib.crc32(json.dumps(tuned, sort_keys=True).encode()):08x}"


def points_of(system: SavedSystem) -> Points:
    """The points that are kept of a system."""
    return Points(*(np.array(system[key]) for key in ("thresholds", "precision", "recall")))


def check_tuning(tuned: SavedTuning, direction: str) -> None:
    """Refuses, by a ValueError, numbers that no tuning of a model of a direction keeps."""
    wanted = set(SYSTEMS if direction == "both" else [direction])
    if tuned["systems"].keys() != wanted:
        raise ValueError(f"the tuned systems are not {', '.join(sorted(wanted))}")
    for name, system in tuned["systems"].items():
        points = points_of(system)
        lengths = {len(system[key]) for key in ("thresholds", "precision", "recall")}
        if len(lengths) != 1 or not 1 <= len(points.recall) <= MOST_POINTS:
            raise ValueError(f"the curve of {name} does not have 1 to {MOST_POINTS} points")
        numbers = np.concatenate([points.thresholds, points.precision, points.recall])
        numbers = np.append(numbers, [system["area"], system["threshold"] or 0.0])
        if not ((numbers >= 0) & (numbers <= 1)).all():
            raise ValueError(f"the curve of {name} has numbers that are not between 0 and 1")
        falls = (np.diff(points.thresholds) < 0) & (np.diff(points.precision) < 0)
        if not (falls & (np.diff(points.recall) > 0)).all():
            raise ValueError(f"the curve of {name} does not fall")


def reached(share: float) -> str:
    """A share with four decimals, rounded down: what a message names can be asked for."""
    return f"{math.floor(share * 10_000) / 10_000:.4f}"


def threshold_at(tuned: SavedTuning, system: str, given: str, least: float, name: str | None = None) -> float:
    """The threshold of at least a precision, or of at least a recall, on the curve kept of a system.

    name: of the model's file, for messages
    """
    points = points_of(tuned["systems"][system])
    if (at := points.at(given, least)) is None:
        best = float(getattr(points, given).max())
        raise DataError(
            f"{given} {least:g} is not on the curve of {system}",
            file=name,
            hint=f"the best there, on the text that the model was tuned on, is {reached(best)}",
        )
    return float(points.thresholds[at])

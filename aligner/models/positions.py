"""Where words go: the places of links, apart from the words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]


@dataclass(eq=False)
class Jumps:
    """The HMM's: the distance from the word before, in both directions. W = window - 1.

    jump    [2, 2 W + 3]  left of -W, distances -W ... W, right of W
    first   [2, W + 1]    the first position: 0 ... W - 1, and beyond
    p0      the probability of NULL
    """

    jump: Doubles
    first: Doubles
    p0: float

    @property
    def window(self) -> int:
        return int(self.first.shape[1])

    @staticmethod
    def even(window: int, p0: float) -> Jumps:
        """All distances and all first positions are equally likely."""
        W = window - 1
        return Jumps(np.full((2, 2 * W + 3), 1 / (2 * W + 3)), np.full((2, W + 1), 1 / (W + 1)), p0)

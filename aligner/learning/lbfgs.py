"""Minimises a smooth function of many numbers: L-BFGS (Nocedal & Wright 2006, algorithm 7.5).

Sums are numpy's own, in an order that does not depend on threads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]

KEPT = 10  # steps that the curvature is learned from
ENOUGH = 1e-4  # share of the promised decrease that a step must have
SHORTEST = 1e-12  # a step is not made shorter


def minimise(
    function: Callable[[Doubles], tuple[float, Doubles]], x: Doubles, tolerance: float, most: int
) -> tuple[Doubles, float]:
    """(x, value) of the least value found.

    function   x -> value and gradient
    tolerance  the search ends when an iteration gains less, as a share of the value
    most       iterations
    """
    value, slope = function(x)
    steps: list[tuple[Doubles, Doubles, float]] = []  # step, change of the gradient, 1 / their product
    for _ in range(most):
        direction = -_times_inverse(slope, steps)
        promised = _dot(direction, slope)
        if promised >= 0:  # rounding: the curvature says nothing any more
            break
        length = 1.0 if steps else min(1.0, 1 / np.sqrt(_dot(slope, slope)))
        while True:
            new = x + length * direction
            new_value, new_slope = function(new)
            if new_value <= value + ENOUGH * length * promised or length < SHORTEST:
                break
            length /= 2
        if not new_value < value:
            break
        step, change = new - x, new_slope - slope
        gained, x, value, slope = value - new_value, new, new_value, new_slope
        if (product := _dot(step, change)) > 1e-10 * _dot(change, change):
            steps = [*steps[-KEPT + 1 :], (step, change, 1 / product)]
        if gained <= tolerance * abs(value):
            break
    return x, value


def _times_inverse(slope: Doubles, steps: list[tuple[Doubles, Doubles, float]]) -> Doubles:
    """The gradient times the inverse curvature that the last steps tell, by two loops over them."""
    shares = []
    for step, change, inverse in reversed(steps):
        shares.append(inverse * _dot(step, slope))
        slope = slope - shares[-1] * change
    if steps:
        step, change, inverse = steps[-1]
        slope = slope / (inverse * _dot(change, change))
    for (step, change, inverse), share in zip(steps, reversed(shares), strict=True):
        slope = slope + (share - inverse * _dot(change, slope)) * step
    return slope


def _dot(a: Doubles, b: Doubles) -> float:
    return float((a * b).sum())

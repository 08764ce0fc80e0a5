"""Links that favour the diagonal, as in fast_align (Dyer, Chahuneau & Smith 2013).

A generated sentence has J words, j = 1 ... J, and a given sentence has I words, i = 1 ... I.

    p(i | j, I, J) = exp(tension h(i, j)) / Z    h(i, j) = -|i / I - j / J|    Z = sum_i exp(tension h(i, j))

What stands here is small and plain: it serves tables of others (compat/fast_align.py) and a number to print.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]

LEAST, MOST = 0.1, 14.0  # the bounds of a tension that is fitted, those of fast_align
SMALLEST, LARGEST = 1e-6, 700.0  # the bounds of a tension that can be computed with: Z is no 0
USUAL = 4.0  # the tension that fast_align starts with
HALVINGS = 20  # (MOST - LEAST) / 2^20 is 0.00001


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
    """The tension that makes links most probable, within its bounds; the usual one if there are no links.

    The mean of h over the links grows with the tension as the mean that is expected under p does: where the
    two are equal, the links are most probable.

    given, generated      [n_links]  positions of links, from 0
    n_given, n_generated  [n_links]  the lengths of their sentences
    """
    if not len(given):
        return USUAL
    place = (generated + 1) / n_generated
    found = -np.abs((given + 1) / n_given - place).mean()
    starts = np.cumsum(n_given) - n_given
    link = np.repeat(np.arange(len(given)), n_given)  # h below is of each i of each link
    i = np.arange(len(link)) - starts[link] + 1
    h = -np.abs(i / n_given[link] - place[link])
    low, high = LEAST, MOST
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        p = np.exp(middle * h)
        expected = (np.add.reduceat(p * h, starts) / np.add.reduceat(p, starts)).mean()
        low, high = (middle, high) if expected < found else (low, middle)
    return (low + high) / 2

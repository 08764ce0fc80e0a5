"""Slow twins of the surrogate of the HMM, by loops over all pairs of positions and over all paths.

emit [J][I] and null [J] are of one direction; states are words 0 ... I - 1 and, last, NULL.
"""

from __future__ import annotations

import itertools
import math

import numpy as np


def place(I: int, J: int, j: int, tension: float) -> list[float]:
    """[I + 1] where word j, from 0, is believed to be."""
    weights = [math.exp(-tension * abs((i + 1) / I - (j + 1) / J)) for i in range(I)]
    p0 = 1 / (I + 1)
    return [(1 - p0) * x / sum(weights) for x in weights] + [p0]


def skips(I: int, skip: float, centre: int) -> list[list[float]]:
    """[I + 1][I + 1] from a state to the next one."""
    p0 = 1 / (I + 1)
    rows = []
    for i in range(I):
        weights = [math.exp(-skip * abs(k - i - centre) / I) for k in range(I)]
        rows.append([(1 - p0) * x / sum(weights) for x in weights] + [p0])
    return [*rows, [p0] * (I + 1)]


def term(left: list, right: list, d: list, T: list) -> tuple[float, list, list]:
    """The sum over both words' states, and the marginals of either. left, right: [I + 1] emissions"""
    q = [
        [a * w * t * b for t, b in zip(row, right, strict=True)] for a, w, row in zip(left, d, T, strict=True)
    ]
    total = sum(map(sum, q))
    return total, [sum(row) / total for row in q], [sum(column) / total for column in zip(*q, strict=True)]


def training(
    emit: list, null: list, tension: float, skip: float, centre: int, root: bool = False, smooth: str = "none"
) -> tuple[float, np.ndarray, np.ndarray]:
    """The objective, what a row counts [J, I + 1], and the mean of its posteriors [J, I + 1]."""
    J, I = len(emit), len(emit[0])
    plain = [[*row, x] for row, x in zip(emit, null, strict=True)]
    states = [[math.sqrt(x) for x in row] for row in plain] if root else plain
    T, d = skips(I, skip, centre), [place(I, J, j, tension) for j in range(J)]
    share = 1.0 if smooth == "none" else 0.5
    objective, counts, all_of = 0.0, np.zeros((J, I + 1)), np.zeros(J)

    def add(j: int, weight: float, posteriors: list) -> None:
        counts[j] += weight * np.array(posteriors)
        all_of[j] += weight

    def alone(j: int, weights: list, share: float) -> float:
        row = [x * w for x, w in zip(plain[j], weights, strict=True)]
        add(j, share, [x / sum(row) for x in row])
        return share * math.log(sum(row))

    for j in range(J - 1):
        total, left, right = term(states[j], states[j + 1], d[j], T)
        objective += share * math.log(total)
        add(j, share / 2 if root else share, left)
        add(j + 1, share / 2 if root else share, right)
    if J == 1:
        objective += alone(0, d[0], share)
    if smooth != "none":
        flat = [1 / (I + 1)] * (I + 1)
        objective += sum(alone(j, flat if smooth == "ibm1" else d[j], 0.5) for j in range(J))
    return objective, counts, counts / all_of[:, None]


def composite(emit: list, null: list, tension: float, skip: float, centre: int) -> float:
    """log sum over all alignments a and b of p1(f, a) p2(f, b), each over the words that it generates.

    p1 generates the words in pairs (0, 1), (2, 3), ..., p2 in pairs (1, 2), (3, 4), ...
    """
    J, I = len(emit), len(emit[0])
    states = [[*row, x] for row, x in zip(emit, null, strict=True)]
    T, total = skips(I, skip, centre), 0.0
    for parity in range(2):
        pairs = [(j, j + 1) for j in range(parity, J - 1, 2)]
        words = [j for pair in pairs for j in pair]
        p = 0.0
        for path in itertools.product(range(I + 1), repeat=len(words)):
            a = dict(zip(words, path, strict=True))
            p += math.prod(
                states[j][a[j]] * place(I, J, j, tension)[a[j]] * T[a[j]][a[k]] * states[k][a[k]]
                for j, k in pairs
            )
        total += math.log(p)
    return total


def decoding(
    emit: list, null: list, tension: float, skip: float, centre: int, joint: bool
) -> tuple[float, np.ndarray, dict]:
    """Every path: log of the paths' sum, posteriors [J, I + 1], and path -> its product."""
    J, I = len(emit), len(emit[0])
    states = [[*row, x] for row, x in zip(emit, null, strict=True)]
    T, d = skips(I, skip, centre), [place(I, J, j, tension) for j in range(J)]

    def product(path: tuple) -> float:
        if joint and J > 1:
            return math.prod(
                states[j][a] * d[j][a] * T[a][b] * states[j + 1][b]
                for j, (a, b) in enumerate(itertools.pairwise(path))
            )
        moves = math.prod(T[a][b] for a, b in itertools.pairwise(path))
        return d[0][path[0]] * moves * math.prod(row[a] for row, a in zip(states, path, strict=True))

    paths = {path: product(path) for path in itertools.product(range(I + 1), repeat=J)}
    total = sum(paths.values())
    gamma = np.zeros((J, I + 1))
    for path, p in paths.items():
        gamma[range(J), path] += p / total
    return math.log(total), gamma, paths

"""The slow twin of dual decomposition (ext/models/dual.pxd), by enumeration of all links and of all paths."""

from __future__ import annotations

import itertools
import math

import numpy as np
import oracle


class Combined:
    """Two HMMs and their links as one graphical model.

    links     [C, I, J]  every set of links
    values    [2][C]     max_a f(a, c) and max_b g(b, c) of each; -inf: the links are coherent with no path
    """

    def __init__(self, forward: tuple, reverse: tuple, penalty: float) -> None:
        I, J = len(reverse[0]), len(forward[0])
        grids = itertools.product((0, 1), repeat=I * J)
        self.links = np.array([np.reshape(grid, (I, J)) for grid in grids])
        self.values = []
        for d, lattice in enumerate((forward, reverse)):
            rows = self.links if d else self.links.transpose(0, 2, 1)  # [C, rows, states]
            best = np.full(len(rows), -math.inf)
            for path, log in best_logs(*lattice).items():
                cost = sum(self.cost(state, rows[:, j], penalty) for j, state in enumerate(path))
                best = np.maximum(best, log - cost)
            self.values.append(best)

    @staticmethod
    def cost(state: int | None, rows: np.ndarray, penalty: float) -> np.ndarray:
        """[C] the cost of links [C, states] of a row whose path is at a state, or at NULL: None."""
        total = np.zeros(len(rows))
        for i in range(rows.shape[1]):
            there = rows[:, i] == 1
            if i == state:
                total[~there] = math.inf
            else:
                total[there] += penalty if state is not None and abs(i - state) == 1 else math.inf
        return total

    @property
    def optimum(self) -> float:
        return float((self.values[0] + self.values[1]).max())

    def value(self, links: np.ndarray) -> float:
        """max_a f + max_b g of links [I, J]."""
        at = int("".join(f"{x:.0f}" for x in links.ravel()), 2)
        return float(self.values[0][at] + self.values[1][at])

    def halves(self, u: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """h(u), c^a and c^b."""
        gain = (self.links * u).sum(axis=(1, 2))
        a, b = self.values[0] + gain, self.values[1] - gain
        return float(a.max() + b.max()), self.links[a.argmax()], self.links[b.argmax()]

    def descend(self, rounds: int, rate: float) -> dict:
        """Rounds of dual decomposition: the scores [I, J] of both sides, and what is certified."""
        u = np.zeros(self.links.shape[1:])
        values, halves, n_rose = [], [], 0
        primal = self.value(u)  # no links
        while len(values) < rounds:
            h, a, b = self.halves(u)
            n_rose += bool(values) and h > values[-1]
            values.append(h)
            halves.append((a, b))
            primal = max(primal, *(self.value(c) for c in (a, b, a * b)))
            if (a == b).all():
                return {"rounds": len(values), "converged": 1, "bound": h, "primal": h, "scores": (a, b)}
            u = u + rate / (1 + n_rose) * (b - a)
        scores = np.mean(halves[rounds // 2 :], axis=0)
        found = {"rounds": rounds, "converged": 0, "bound": min(values), "primal": primal}
        return {**found, "scores": (scores[0], scores[1])}


def best_logs(emit: list, null: list, jump: list, first: list, p0: float, last: list) -> dict:
    """States by row, None for NULL -> the largest log p of such paths, whatever twins they have."""
    logs, links = oracle.weighted_paths(emit, null, jump, first, p0, last)
    found: dict = {}
    for log, path in zip(logs, links, strict=True):
        states = dict((row, state) for state, row in path)
        key = tuple(states.get(j) for j in range(len(emit)))
        found[key] = max(found.get(key, -math.inf), log)
    return found

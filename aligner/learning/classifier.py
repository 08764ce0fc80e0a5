"""A log-linear classifier of candidates: neither, possible or sure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.learning import _classifier
from aligner.learning.lbfgs import minimise
from aligner.threads import useful

Ints = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

FARTHEST = 6.0  # standard deviations: features farther from their means are taken as that far
SMALLEST = np.float32(1e-6)  # deviation of a feature that is not constant
TOLERANCE = 1e-5  # of the search for weights, as a share of the loss
MOST = 500  # iterations of this search
CELL = 16  # features that are as much work as a cell of a lattice


@dataclass(frozen=True, eq=False)
class Scale:
    """How features are standardised.

    mean, deviation  [F]  of the features on the labelled text
    """

    mean: Reals
    deviation: Reals

    @staticmethod
    def of(x: Reals) -> Scale:
        """The scale of features x [F, n]. A constant feature says nothing, and becomes 0."""
        if x.shape[1] == 0:
            return Scale(np.zeros(len(x), np.float32), np.ones(len(x), np.float32))
        mean = x.mean(axis=1, dtype=np.float64).astype(np.float32)
        deviation = x.std(axis=1, dtype=np.float64).astype(np.float32)
        return Scale(mean, np.where(deviation < SMALLEST, np.float32(1), deviation))

    def standard(self, x: Reals, n_threads: int) -> Reals:
        """[F + 1, n] features [F, n] with mean 0 and deviation 1 on the labelled text, and the constant 1."""
        return _classifier.standardised(x, self.mean, self.deviation, FARTHEST, n_threads)


@dataclass(frozen=True, eq=False)
class Classifier:
    """Weights of F features and of indicators, for C classes.

    weights  [F + 1 + indicators, C]  of features, of the constant 1, of indicators
    """

    scale: Scale
    weights: Doubles

    def probabilities(self, x: Reals, indicators: Ints, n_threads: int) -> Doubles:
        """[C, n] of candidates with features x [F, n] and indicators [3, n]."""
        standard = self.scale.standard(x, n_threads)
        return _classifier.probabilities(standard, indicators, self.weights, n_threads)


def fit(
    x: Reals,
    indicators: Ints,
    n_indicators: int,
    labels: Ints,
    n_classes: int,
    penalty: float,
    n_threads: int,
) -> Classifier:
    """The classifier that minimises -sum_k log p(labels[k] | k) + penalty / 2 |weights|^2.

    The weights of the constant are not penalised.
    """
    n_threads = useful(n_threads, x.size // CELL)  # each step of the search waits for all threads
    scale = Scale.of(x)
    standard = scale.standard(x, n_threads)
    n_weights = len(standard) + n_indicators
    penalties = np.full((n_weights, 1), penalty)
    penalties[len(x)] = 0
    right = np.arange(n_classes)[:, None] == labels

    def loss(flat: Doubles) -> tuple[float, Doubles]:
        weights = flat.reshape(n_weights, n_classes)
        p = _classifier.probabilities(standard, indicators, weights, n_threads)
        value = -np.log(np.maximum(p[right], np.finfo(np.float64).tiny)).sum()
        value += (penalties * weights * weights).sum() / 2
        slope = _classifier.gradient(standard, indicators, p - right, n_weights, n_threads)
        return float(value), (slope + penalties * weights).ravel()

    flat, _ = minimise(loss, np.zeros(n_weights * n_classes), TOLERANCE, MOST)
    return Classifier(scale, flat.reshape(n_weights, n_classes))

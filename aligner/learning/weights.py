"""Weights of links and of alignments, and the alignment that they score best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner.learning.polytope import Ints, Positions, Reals
from aligner.learning.structure import fertility, quadratic


@dataclass(frozen=True)
class Progress:
    """A measurement of a learning after some steps.

    primal  what is minimised, at the weights
    dual    what no weights are below: the gap between both says how far from the best the weights may be
    """

    step: int
    primal: float
    dual: float

    @property
    def gap(self) -> float:
        return self.primal - self.dual


@dataclass(frozen=True)
class Weights:
    """What is learned of labelled sentence pairs.

    features        [F]  of a link
    src_penalties   [D - 1]  of the second, third, ... D-th link of a source word
    tgt_penalties   [D - 1]  of a target word
    pattern_scores  [4]  of pairs of adjacent links, by PATTERNS (learning/polytope.py); 0 if not learned
    progress        measurements, the last one of these weights
    """

    features: Reals
    src_penalties: Reals
    tgt_penalties: Reals
    pattern_scores: Reals
    progress: tuple[Progress, ...] = ()

    def decode(
        self, offsets: Ints, src: Positions, tgt: Positions, X: Reals, n_threads: int = 1
    ) -> npt.NDArray[np.bool_]:
        """[n] the alignment that scores best. offsets, src, tgt: candidates; X: [n, F] their features"""
        return self.best(offsets, src, tgt, scores(X, self.features), n_threads)

    def best(
        self, offsets: Ints, src: Positions, tgt: Positions, s: Reals, n_threads: int = 1, relax: bool = False
    ) -> npt.NDArray[Any]:
        """[n] the alignment that scores best, of candidates whose links score s [n].

        relax: where patterns score, links may be chosen in part
        """
        penalties = self.src_penalties, self.tgt_penalties
        if self.pattern_scores.any():
            return quadratic(offsets, src, tgt, s, self.pattern_scores, *penalties, relax=relax)
        return fertility(offsets, src, tgt, s, *penalties, n_threads=n_threads)


def scores(X: Reals, features: Reals) -> Reals:
    """[n] what links score. Sums have a fixed order: not those of BLAS, which may depend on threads."""
    found: Reals = np.einsum("kf,f->k", X, features)
    return found


def rising(x: Reals) -> Reals:
    """The nearest numbers that are 0 or more and do not fall.

    Neighbours that fall have their mean in common (pool adjacent violators); then what is below 0 is 0.
    """
    blocks: list[tuple[float, int]] = []  # mean, size
    for value in x.tolist():
        size = 1
        while blocks and blocks[-1][0] > value:
            mean, n = blocks.pop()
            value, size = (mean * n + value * size) / (n + size), n + size
        blocks.append((value, size))
    return np.array([max(mean, 0.0) for mean, size in blocks for _ in range(size)], np.float64)

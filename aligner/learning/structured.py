"""A structured combiner's part: the alignment that learned weights score best, of standardised features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.learning.candidates import Candidates
from aligner.learning.classifier import Scale
from aligner.learning.margin import learn_margin
from aligner.learning.weights import Weights

Bools = npt.NDArray[np.bool_]
Reals = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Structured:
    """Weights of alignments, and how features are standardised before they are weighed.

    weights.features  [F + 1]  of features and of the constant 1
    """

    scale: Scale
    weights: Weights

    @property
    def solves_programs(self) -> bool:
        """Whether an integer program is solved for each sentence pair. That takes long, and needs scipy."""
        return bool(self.weights.pattern_scores.any())

    def chosen(self, these: Candidates, x: Reals, n_threads: int) -> Bools:
        """[n] which candidates are links. x: [F, n] their features"""
        standard = _rows(self.scale.standard(x, n_threads))
        return self.weights.decode(these.offsets, these.src, these.tgt, standard, n_threads)


def fit_structured(
    these: Candidates, x: Reals, labels: npt.NDArray[np.int8], structure: str, penalty: float, n_threads: int
) -> Structured:
    """What is learned of labelled candidates with a large margin. structure: one of STRUCTURES

    labels: [n] 0 neither, 1 possible, 2 sure
    """
    scale = Scale.of(x)
    standard = _rows(scale.standard(x, n_threads))
    text = these.offsets, these.src, these.tgt, standard, labels
    return Structured(scale, learn_margin(*text, structure, C=1 / penalty, n_threads=n_threads))


def _rows(standard: Reals) -> Doubles:
    """[n, F] features as structured learning takes them."""
    return np.ascontiguousarray(standard.T, dtype=np.float64)

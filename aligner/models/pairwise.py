"""The surrogate of the HMM, and its concave form: each two neighbours are a term of the objective.

Simion, Collins & Stein 2015. Where links are and how far they skip is given (models/kinds.py). Translations
alone are learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner import simd
from aligner.models.counts import LOGLIKS, Counts, summed
from aligner.models.parameters import Parameters
from aligner.models.positions import Positions
from aligner.models.recipe import Recipe
from aligner.models.shares import Own
from aligner.models.stage import Stage
from aligner.text.cells import Shard

_pairwise = simd.load("models._pairwise")
Reals = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]


class Pairwise:
    """The kernel takes both directions at once. A direction that is not trained has probabilities of 0.

    root: the terms are made of roots of probabilities, which makes the objective concave
    """

    constrained = False

    def __init__(self, root: bool) -> None:
        self.root = root

    def for_kernel(self, stage: Stage) -> dict[str, Any]:
        """What the kernel is to compute."""
        skips = stage.skips
        assert skips is not None
        return {
            "tension": skips.tension,
            "skip": skips.skip,
            "centre": skips.skip_centre,
            "root": self.root,
            "smooth": _pairwise.SMOOTHING[skips.smooth],
            "joint": skips.chain == "joint",
        }

    def positions(
        self, old: Positions | None, stage: Stage, recipe: Recipe, sizes: Longs
    ) -> Positions | None:
        """Nothing of positions is learned. The positions of another family are kept for a later stage."""
        return old

    def expect(
        self, views: Sequence[Parameters], shards: Sequence[Shard], stage: Stage, direction: str,
        own: Own | None, counts: Sequence[Counts], n_threads: int,
    ) -> tuple[dict[str, int], None]:  # fmt: skip
        """The statistics are objectives: composite log-likelihoods."""
        (m,), (shard,) = views, shards
        statistics = np.empty((len(shard), len(LOGLIKS)))
        how, agree = self.for_kernel(stage), stage.objective == "agreement"
        _pairwise.expect(shard, m.lexicon, how, agree, counts[0], statistics, n_threads)
        return summed(statistics), None

    def posteriors(
        self, views: Sequence[Parameters], shards: Sequence[Shard], stage: Stage, direction: str,
        own: Own | None, best: bool, share: float, fwd: Reals, rev: Reals, costs: Doubles | None,
        n_threads: int, before: tuple[Reals, Reals] | None = None,
    ) -> None:  # fmt: skip
        (m,), (shard,) = views, shards
        how = self.for_kernel(stage)
        _pairwise.posteriors(shard, m.lexicon, how, best, share, fwd, rev, costs, n_threads)

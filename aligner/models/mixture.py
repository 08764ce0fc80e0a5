"""Model 1, a mixture: each word is translated by itself, whatever its position."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from aligner.models import _mixture
from aligner.models.counts import Counts
from aligner.models.parameters import Parameters
from aligner.models.positions import Positions
from aligner.models.recipe import Recipe
from aligner.models.shares import Own
from aligner.models.stage import Stage
from aligner.text.cells import Shard
from aligner.text.corpus import Corpus

Reals = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]


class Mixture:
    """The kernel takes both directions at once. A direction that is not trained has probabilities of 0."""

    constrained = False

    def positions(
        self, old: Positions | None, stage: Stage, recipe: Recipe, corpus: Corpus
    ) -> Positions | None:
        """Model 1 has no positions. The positions of another family are kept for a later stage."""
        return old

    def expect(
        self, views: Sequence[Parameters], shards: Sequence[Shard], stage: Stage, direction: str,
        own: Own | None, counts: Sequence[Counts], n_threads: int,
    ) -> tuple[dict[str, float], None]:  # fmt: skip
        (m,), (shard,) = views, shards
        statistics = np.empty((len(shard), 2))
        agree = stage.objective == "agreement"
        _mixture.expect(shard, m.lexicon, agree, counts[0], statistics, n_threads)
        return dict(zip(("loglik_fwd", "loglik_rev"), statistics.sum(axis=0).tolist(), strict=True)), None

    def posteriors(
        self, views: Sequence[Parameters], shards: Sequence[Shard], stage: Stage, direction: str,
        own: Own | None, best: bool, share: float, fwd: Reals, rev: Reals, costs: Doubles | None,
        n_threads: int,
    ) -> None:  # fmt: skip
        (m,), (shard,) = views, shards
        _mixture.posteriors(shard, m.lexicon, best, share, fwd, rev, costs, n_threads)

"""Model 1, a mixture: each word is translated by itself, whatever its position."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aligner.models import _mixture
from aligner.models.counts import Counts
from aligner.models.parameters import Parameters
from aligner.models.positions import Positions
from aligner.models.recipe import Stage
from aligner.text.cells import Shard

Reals = npt.NDArray[np.float32]


class Mixture:
    """Both directions are always trained; a direction that is not wanted is left out when decoding."""

    both = True
    constrained = False

    def positions(self, old: Positions | None, window: int, p0: float) -> Positions | None:
        """Model 1 has no positions. The positions of another family are kept for a later stage."""
        return old

    def expect(
        self, m: Parameters, shard: Shard, stage: Stage, direction: str, counts: Counts, n_threads: int
    ) -> dict[str, float]:
        statistics = np.empty((len(shard), 2))
        _mixture.expect(shard, m.lexicon, stage.objective == "agreement", counts, statistics, n_threads)
        return dict(zip(("loglik_fwd", "loglik_rev"), statistics.sum(axis=0).tolist(), strict=True))

    def posteriors(
        self, m: Parameters, shard: Shard, stage: Stage, direction: str, best: bool, share: float,
        fwd: Reals, rev: Reals, n_threads: int,
    ) -> None:  # fmt: skip
        _mixture.posteriors(shard, m.lexicon, best, share, fwd, rev, n_threads)

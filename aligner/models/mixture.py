"""Mixtures, in which each word is translated by itself: Model 1, Model 2 and the diagonal model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from aligner.models import _mixture
from aligner.models.counts import LOGLIKS, Counts, summed
from aligner.models.diagonal import Diagonal
from aligner.models.parameters import Parameters
from aligner.models.places import Places
from aligner.models.positions import Positions
from aligner.models.recipe import Recipe
from aligner.models.shares import Own
from aligner.models.stage import Stage
from aligner.models.table import Table
from aligner.text.cells import Shard

Reals = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]


class Mixture:
    """The kernel takes both directions at once. A direction that is not trained has probabilities of 0."""

    constrained = False

    def positions(
        self, old: Positions | None, stage: Stage, recipe: Recipe, sizes: Longs
    ) -> Positions | None:
        """Model 1 has no positions. The positions of another family are kept for a later stage."""
        return old

    def places(self, m: Parameters, shard: Shard) -> Places | None:
        """The positions of a shard as the kernel reads them."""
        return None

    def expect(
        self, views: Sequence[Parameters], shards: Sequence[Shard], stage: Stage, direction: str,
        own: Own | None, counts: Sequence[Counts], n_threads: int,
    ) -> tuple[dict[str, int], None]:  # fmt: skip
        (m,), (shard,) = views, shards
        statistics = np.empty((len(shard), len(LOGLIKS)))
        agree = stage.objective == "agreement"
        _mixture.expect(shard, m.lexicon, self.places(m, shard), agree, counts[0], statistics, n_threads)
        return summed(statistics), None

    def posteriors(
        self, views: Sequence[Parameters], shards: Sequence[Shard], stage: Stage, direction: str,
        own: Own | None, best: bool, share: float, fwd: Reals, rev: Reals, costs: Doubles | None,
        n_threads: int, before: tuple[Reals, Reals] | None = None,
    ) -> None:  # fmt: skip
        (m,), (shard,) = views, shards
        places = self.places(m, shard)
        _mixture.posteriors(shard, m.lexicon, places, best, share, fwd, rev, costs, n_threads)


class Model2(Mixture):
    """Positions are a table."""

    def positions(
        self, old: Positions | None, stage: Stage, recipe: Recipe, sizes: Longs
    ) -> Positions | None:
        """The table of the stage before, with the sizes of this text; what was not met is even."""
        return Table.of(sizes, old if isinstance(old, Table) else None)

    def places(self, m: Parameters, shard: Shard) -> Places | None:
        assert isinstance(m.positions, Table)
        return m.positions.places(shard)


class DiagonalModel(Mixture):
    """Positions favour the diagonal."""

    def positions(
        self, old: Positions | None, stage: Stage, recipe: Recipe, sizes: Longs
    ) -> Positions | None:
        """The tension of the stage if it has one, else that of the stage before."""
        return Diagonal.of(sizes, old if isinstance(old, Diagonal) else None, stage.tension, recipe.p0)

    def places(self, m: Parameters, shard: Shard) -> Places | None:
        assert isinstance(m.positions, Diagonal)
        return m.positions.places(shard)

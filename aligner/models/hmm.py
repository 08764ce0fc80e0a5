"""The HMM: a word's position depends on the position of the word before. Posteriors may be projected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner import simd
from aligner.models.counts import LOGLIKS, Counts, summed
from aligner.models.jumps import Jumps
from aligner.models.parameters import Parameters
from aligner.models.positions import Positions
from aligner.models.recipe import Recipe
from aligner.models.shares import Own
from aligner.models.stage import Stage
from aligner.text.cells import Shard

_hmm = simd.load("models._hmm")
Reals = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]


def for_kernel(stage: Stage, direction: str) -> dict[str, Any]:
    """What is asked of a sentence pair's lattices, as the kernel takes it."""
    assert stage.limits is not None
    constraint = stage.objective if stage.constrained else "none"
    return {
        "forward": direction != "reverse",
        "reverse": direction != "forward",
        "agree": stage.objective == "agreement",
        "constraint": _hmm.CONSTRAINTS[constraint],
        **asdict(stage.limits),
    }


def said(statistics: Doubles, stage: Stage, shard: Shard) -> dict[str, int]:
    """What the kernel says of a shard; of projections only if there are any."""
    projected = stage.constrained or shard.known.constraints is not None
    return summed(statistics, _hmm.STATISTICS if projected else LOGLIKS)


class Hmm:
    """Lattices of both directions, or of one; their posteriors can be projected onto constraints."""

    constrained = True

    def positions(
        self, old: Positions | None, stage: Stage, recipe: Recipe, sizes: Longs
    ) -> Positions | None:
        """The jumps of the stage before if they have this window, else jumps that are all equally likely.

        Jumps of files that have no last positions get last positions that are all equally likely.
        """
        even = Jumps.even(recipe.window, recipe.p0)
        if not isinstance(old, Jumps) or old.window != recipe.window:
            return even
        copy = old.copied()
        return replace(copy, p0=recipe.p0, last=copy.last if copy.last.size else even.last)

    def expect(
        self, views: Sequence[Parameters], shards: Sequence[Shard], stage: Stage, direction: str,
        own: Own | None, counts: Sequence[Counts], n_threads: int,
    ) -> tuple[dict[str, int], None]:  # fmt: skip
        (m,), (shard,) = views, shards
        statistics = np.empty((len(shard), len(_hmm.STATISTICS)))
        how = for_kernel(stage, direction)
        _hmm.expect(shard, m.lexicon, m.positions, how, counts[0], statistics, n_threads)
        return said(statistics, stage, shard), None

    def posteriors(
        self, views: Sequence[Parameters], shards: Sequence[Shard], stage: Stage, direction: str,
        own: Own | None, best: bool, share: float, fwd: Reals, rev: Reals, costs: Doubles | None,
        n_threads: int, before: tuple[Reals, Reals] | None = None,
    ) -> None:  # fmt: skip
        how = for_kernel(stage, direction)
        lexicons = [m.lexicon for m in views]
        told = before or (None, None)
        _hmm.posteriors(
            shards, lexicons, views[0].positions, how, own, best, share, fwd, rev, costs, n_threads, *told
        )

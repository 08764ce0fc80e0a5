"""The families of models: which positions they have, and which kernels expect and decode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from aligner.models.counts import Counts
from aligner.models.hmm import Hmm
from aligner.models.loo import LeaveOneOut
from aligner.models.mixture import DiagonalModel, Mixture, Model2
from aligner.models.pairwise import Pairwise
from aligner.models.parameters import Parameters
from aligner.models.positions import Positions
from aligner.models.recipe import Recipe
from aligner.models.shares import Own, Packed
from aligner.models.stage import Stage
from aligner.text.cells import Shard

Reals = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Both = tuple[Reals, Reals]  # forward and reverse
Longs = npt.NDArray[np.int64]


class Family(Protocol):
    """What training and decoding ask of a model.

    Sequences of parameters, shards and counts are of the views of a stage: of one view, or of all together.

    constrained  constraints from Python can be fulfilled
    """

    constrained: bool

    def positions(
        self, old: Positions | None, stage: Stage, recipe: Recipe, sizes: Longs
    ) -> Positions | None:
        """The positions that a stage of this family begins with.

        old    what an earlier stage or model had
        sizes  of the text's sentence pairs (models/census.py)
        """

    def expect(
        self, views: Sequence[Parameters], shards: Sequence[Shard], stage: Stage, direction: str,
        own: Own | None, counts: Sequence[Counts], n_threads: int,
    ) -> tuple[dict[str, int], Packed | None]:  # fmt: skip
        """Adds the expected counts of a shard. Returns sums of statistics (models/counts.py), and shares.

        own: shares of the sentence pairs in the counts behind the parameters; None: nothing is left out
        """

    def posteriors(
        self, views: Sequence[Parameters], shards: Sequence[Shard], stage: Stage, direction: str,
        own: Own | None, best: bool, share: float, fwd: Reals, rev: Reals, costs: Doubles | None,
        n_threads: int, before: Both | None = None,
    ) -> None:  # fmt: skip
        """Adds share times the posteriors of all cells of a shard to fwd and rev [n_cells].

        best    1 for links of the best alignment of each direction, 0 for others, instead of posteriors
        costs   [S, 2] share times -log p(tgt | src) and -log p(src | tgt) are added; None: not wanted
        before  of a stage that projects, posteriors before it are added to these two; None: not wanted
        """


FAMILIES: dict[str, Family] = {
    "ibm1": Mixture(),
    "ibm2": Model2(),
    "diagonal": DiagonalModel(),
    "surrogate": Pairwise(root=False),
    "convex": Pairwise(root=True),
    "hmm": Hmm(),
    "loo": LeaveOneOut(),
}

"""The leave-one-out HMM: all views have one lattice, and a sentence pair is aligned by what all others say.

EM lets a sentence pair be its own witness. The translation of a rare word is learned from the very sentence
pair that it is then used on: a wrong link confirms itself, and the more so with every iteration. Here the
counts of a word pair are kept, not only the word pair's share of a row, and each sentence pair subtracts
what it had counted itself (ext/models/emissions.pxd). Jumps are learned in the first iteration and kept:
later iterations would make them too sure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aligner.models import _shares
from aligner.models.counts import Counts
from aligner.models.hmm import Hmm, _hmm, for_kernel, said
from aligner.models.parameters import Parameters
from aligner.models.shares import CUTOFF, Own, Packed
from aligner.models.stage import Stage
from aligner.text.cells import Shard


class LeaveOneOut(Hmm):
    """Expected links are the mean of the two directions' posteriors. All views count the same links."""

    def expect(  # type: ignore[override]
        self, views: Sequence[Parameters], shards: Sequence[Shard], stage: Stage, direction: str,
        own: Own | None, counts: Sequence[Counts], n_threads: int,
    ) -> tuple[dict[str, int], Packed]:  # fmt: skip
        """own: None in the first iteration, which counts jumps, too"""
        shard = shards[0]
        statistics = np.empty((len(shard), len(_hmm.STATISTICS)))
        packed: Packed = _hmm.expect_links(
            shards, [m.lexicon for m in views], views[0].positions, for_kernel(stage, direction), own,
            CUTOFF, counts[0].positions if own is None else None, statistics, n_threads,
        )  # fmt: skip
        for m, seen, c in zip(views, shards, counts, strict=True):
            _shares.count(seen, m.lexicon, *packed, c, n_threads)
        return said(statistics, stage, shard), packed

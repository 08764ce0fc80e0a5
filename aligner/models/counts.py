"""What a text says about a model: expected counts, as integers of 2^-32, and statistics, of 2^-24.

Integers can be added in any order: threads, shards and machines give the same bits. A count of 1 is 2^32.
A token adds 1 to the sum of a table's counts; rounding may add a millionth more, that of shares a hundredth.
So no count exceeds the number of the longer side's tokens by more than a hundredth. An int64 ends at 2^63, a
count of 2^31: it holds the counts of MOST_TOKENS a side. A token of the surrogate adds 2, and a prior may
count half of MOST_TOKENS: either of them halves the tokens that a side may have, both leave a quarter. More
tokens need another unit, and so other results: one entry, as that of the jump to the next word, may have
most of the tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.errors import DataError
from aligner.models import _update
from aligner.models.parameters import Parameters
from aligner.text.corpus import Corpus

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]

LOGLIKS = ("loglik_fwd", "loglik_rev")  # what all kernels say of a sentence pair
ONE = 2.0**32  # how an expected count of 1 is written
UNIT = 2.0**24  # how a statistic of 1 is written: the sum of all tokens' log-likelihoods has room, too
MOST_TOKENS = 2_000_000_000  # a side
TWICE = {"surrogate", "convex"}  # families whose tokens add 2


@dataclass(eq=False)
class Counts:
    """Expected counts of both directions, forward and reverse.

    pairs       [P, 2]        word pair -> links; [P, 1] if both directions have the same (Stage.shared)
    null_fwd    [V_tgt]       target word -> links with NULL
    null_rev    [V_src]       source word -> links with NULL
    positions   [2, n]        as the model's positions lay them out (models/positions.py); n = 0 without them
    """

    pairs: Longs
    null_fwd: Longs
    null_rev: Longs
    positions: Longs

    @staticmethod
    def zero(
        parameters: Parameters, used: Counts | None = None, shared: bool = False, n_threads: int = 1
    ) -> Counts:
        """Counts of 0 for these parameters.

        used    counts of the same lexicon, whose memory is used again if it is enough
        shared  both directions have the same links
        """
        lexicon, positions = parameters.lexicon, parameters.positions
        P, n = len(lexicon.tgt), 1 if shared else 2
        own = np.zeros((2, 0 if positions is None else positions.n_counts), dtype=np.int64)
        if used is not None:
            memory = used.pairs if used.pairs.base is None else used.pairs.base  # one column may have a half
            if memory.size >= n * P:
                room = memory.reshape(-1)[: n * P].reshape(P, n)
                for array in (room, used.null_fwd, used.null_rev):
                    _update.clear(array.reshape(-1), n_threads)
                return Counts(room, used.null_fwd, used.null_rev, own)
        shapes = (P, n), len(lexicon.null_fwd), len(lexicon.null_rev)
        pairs, null_fwd, null_rev = (np.zeros(shape, dtype=np.int64) for shape in shapes)
        return Counts(pairs, null_fwd, null_rev, own)

    def add(self, other: Counts) -> None:
        """Adds the counts of another part of the text."""
        for name in ("pairs", "null_fwd", "null_rev", "positions"):
            mine = getattr(self, name)
            np.add(mine, getattr(other, name), out=mine)


def summed(statistics: Doubles, names: Sequence[str] = LOGLIKS) -> dict[str, int]:
    """A kernel's statistics [S, n] summed over sentence pairs, by name, as integers of 1 / UNIT.

    Each sentence pair's are rounded by themselves: sums do not depend on how the text is cut.
    names: of the first ones
    """
    whole = np.rint(statistics * UNIT).astype(np.int64)
    return dict(zip(names, whole.sum(axis=0).tolist(), strict=False))


def check_size(corpus: Corpus, families: Iterable[str], prior: bool) -> None:
    """Refuses a text whose counts an int64 might not hold.

    families: of the stages; prior: whether a prior is added to the counts
    """
    most = MOST_TOKENS // 2 if prior else MOST_TOKENS
    if not TWICE.isdisjoint(families):
        most //= 2
    for name, side in (("source", corpus.src), ("target", corpus.tgt)):
        if len(side.ids) > most:
            raise DataError(
                f"the {name} side has {len(side.ids)} tokens, more than {most}",
                hint="train on a part of the text, and align the rest with the model",
            )

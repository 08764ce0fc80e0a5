"""Lattices of sentence pairs: one EM step of both directions, and links."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner import simd
from aligner.corpus import Corpus
from aligner.links import Links
from aligner.model import Parameters
from aligner.pairs import Pairs

_hmm = simd.load("_hmm")
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

ONE = 2.0**32  # how the kernel writes an expected count of 1


@dataclass(frozen=True)
class Inference:
    """What is asked of a sentence pair's lattices.

    mixture     no transitions: Model 1
    agree       counts of both directions are the product of their posteriors (Liang et al. 2006)
    constraint  none, bijective or symmetric: posteriors are projected (ext/constraints.pxd)
    eta         the projection is done when the gradient's norm per constraint is below it
    slack       of the constraints, all together
    drop        links whose posteriors are both up to it are not constrained
    max_calls   forward-backward calls of a projection at most
    """

    mixture: bool = False
    forward: bool = True
    reverse: bool = True
    agree: bool = False
    constraint: str = "none"
    eta: float = 0.001
    slack: float = 0.001
    drop: float = 1e-4
    max_calls: int = 50

    def work_size(self, corpus: Corpus) -> int:
        """Reals of work space that the largest lattices need."""
        longest = (int(np.max(side.lengths, initial=1)) for side in (corpus.src, corpus.tgt))
        return int(_hmm.width(*longest, self.constraint != "none"))

    def for_kernel(self) -> dict[str, Any]:
        return asdict(self) | {"constraint": _hmm.CONSTRAINTS[self.constraint]}


def step(
    m: Parameters, corpus: Corpus, pairs: Pairs, how: Inference, n_threads: int
) -> dict[str, float]:
    """One EM iteration, m changed in place; sums over the corpus of what STATISTICS names, of m as it was.

    M-step: t and NULL as in Model 1. jump(b) = c(b) / sum_b c(b), c the expected jumps into bucket b. The
    kernel divides jump by its sum over the buckets that a sentence has room for, Z; the exact M-step would
    take account of that, this one does not, and so the likelihood could fall by a trifle.
    """
    src, tgt = corpus.src, corpus.tgt
    W = m.first.shape[1] - 1
    counts = np.zeros((len(pairs), 2), dtype=np.int64)
    fwd_nulls = np.zeros((n_threads, max(1, len(tgt.vocab))), dtype=np.int64)
    rev_nulls = np.zeros((n_threads, max(1, len(src.vocab))), dtype=np.int64)
    jumps = np.zeros((n_threads, 2, 3 * W + 4), dtype=np.int64)
    statistics = np.zeros((len(corpus), len(_hmm.STATISTICS)))
    _hmm.e_step(
        *_inputs(m, corpus, pairs.cells, pairs.offsets),
        how.for_kernel(),
        how.work_size(corpus),
        counts,
        fwd_nulls,
        rev_nulls,
        jumps,
        statistics,
        n_threads,
    )
    _hmm.normalize(m.rows, m.tgt, len(tgt.vocab), counts, m.t)
    for null, total in ((m.null_fwd, fwd_nulls), (m.null_rev, rev_nulls)):
        null[:] = total.sum(axis=0)[: len(null)] / max(1, total.sum())
    expected = jumps.sum(axis=0) / ONE
    for table, part in ((m.jump, expected[:, : 2 * W + 3]), (m.first, expected[:, 2 * W + 3 :])):
        total = part.sum(axis=1, keepdims=True)
        np.divide(part, total, out=table, where=total > 0)
        np.maximum(table, 1e-6, out=table)
    return dict(zip(_hmm.STATISTICS, statistics.sum(axis=0).tolist(), strict=True))


def _inputs(m: Parameters, corpus: Corpus, cells: Ints, offsets: Longs) -> tuple[Any, ...]:
    """What the kernels take of text and model, in their order."""
    src, tgt = corpus.src, corpus.tgt
    text = src.ids, src.offsets, tgt.ids, tgt.offsets, cells, offsets
    return *text, m.rows, m.t, m.null_fwd, m.null_rev, m.jump, m.first, m.p0


def decode(
    m: Parameters,
    corpus: Corpus,
    cells: Ints,
    offsets: Longs,
    how: Inference,
    *,
    viterbi: bool,
    cutoff: float,
    n_threads: int,
) -> tuple[Links, Links]:
    """Links of the forward and the reverse direction with their scores, 1 on a best path."""
    inputs = *_inputs(m, corpus, cells, offsets), how.for_kernel(), how.work_size(corpus)
    found = _hmm.decode(*inputs, viterbi, cutoff, n_threads)
    forward, reverse = (Links(starts, src, tgt, scores=scores) for starts, src, tgt, scores in found)
    return forward, reverse

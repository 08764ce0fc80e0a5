"""Lattices of sentence pairs: one EM step of both directions, and links."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner import simd
from aligner.links.links import Links
from aligner.models.model import Parameters
from aligner.models.recipe import Inference
from aligner.text.cells import Pairs
from aligner.text.corpus import Corpus

_hmm = simd.load("models._hmm")
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

ONE = 2.0**32  # how the kernel writes an expected count of 1


def for_kernel(how: Inference) -> dict[str, Any]:
    return asdict(how) | {"constraint": _hmm.CONSTRAINTS[how.constraint]}


def step(m: Parameters, corpus: Corpus, pairs: Pairs, how: Inference, n_threads: int) -> dict[str, float]:
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
        _view(m, corpus, pairs.cells, pairs.offsets),
        for_kernel(how),
        counts,
        fwd_nulls,
        rev_nulls,
        jumps,
        statistics,
        n_threads,
    )
    normalize(m, len(tgt.vocab), counts)
    for null, total in ((m.null_fwd, fwd_nulls), (m.null_rev, rev_nulls)):
        null[:] = total.sum(axis=0)[: len(null)] / max(1, total.sum())
    expected = jumps.sum(axis=0) / ONE
    for table, part in ((m.jump, expected[:, : 2 * W + 3]), (m.first, expected[:, 2 * W + 3 :])):
        total = part.sum(axis=1, keepdims=True)
        np.divide(part, total, out=table, where=total > 0)
        np.maximum(table, 1e-6, out=table)
    return dict(zip(_hmm.STATISTICS, statistics.sum(axis=0).tolist(), strict=True))


def normalize(m: Parameters, n_tgt_words: int, counts: Longs) -> None:
    """t of both directions from expected counts."""
    _hmm.normalize(m.rows, m.tgt, n_tgt_words, counts, m.t)


def _view(m: Parameters, corpus: Corpus, cells: Ints, offsets: Longs) -> tuple[Any, ...]:
    """Text and model as the kernels take them."""
    src, tgt = corpus.src, corpus.tgt
    text = src.ids, src.offsets, tgt.ids, tgt.offsets, cells, offsets
    return *text, m.rows, m.t, m.null_fwd, m.null_rev, m.jump, m.first, m.p0


def decode(
    views: list[tuple[Parameters, Corpus, Ints]],
    offsets: Longs,
    how: Inference,
    *,
    viterbi: bool,
    cutoff: float,
    n_threads: int,
) -> tuple[Links, Links]:
    """Links of the forward and the reverse direction with their scores, 1 on a best path; means over views.

    views: parameters, and text and cells as they are seen with them
    """
    inputs = [_view(m, corpus, cells, offsets) for m, corpus, cells in views]
    found = _hmm.decode(inputs, for_kernel(how), viterbi, cutoff, n_threads)
    forward, reverse = (Links(starts, src, tgt, scores=scores) for starts, src, tgt, scores in found)
    return forward, reverse

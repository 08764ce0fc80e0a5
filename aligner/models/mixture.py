"""Model 1: one EM step of both directions."""

from __future__ import annotations

import numpy as np

from aligner.models import _mixture, hmm
from aligner.models.model import Parameters
from aligner.text.cells import Pairs
from aligner.text.corpus import Corpus


def step(m: Parameters, corpus: Corpus, pairs: Pairs, agree: bool, n_threads: int) -> dict[str, float]:
    """One EM iteration, m changed in place; the log-likelihoods of m as it was.

    M-step: t(f | e) = c(e, f) / sum_f c(e, f), c the sum of posteriors over the corpus; NULL likewise. With
    agreement, c is of both directions the sum of the product of their posteriors; NULL as before.
    """
    src, tgt = corpus.src, corpus.tgt
    inv_fwd, inv_rev = np.empty(len(tgt.ids), np.float32), np.empty(len(src.ids), np.float32)
    loglik = np.empty((len(corpus), 2))
    text = src.ids, src.offsets, tgt.ids, tgt.offsets
    _mixture.invert(
        *text,
        pairs.cells,
        pairs.offsets,
        m.rows,
        m.t,
        m.null_fwd,
        m.null_rev,
        inv_fwd,
        inv_rev,
        loglik,
        n_threads,
    )
    index = pairs.cells, pairs.offsets, m.rows, pairs.order, pairs.starts, pairs.sentence, pairs.blocks
    counts = np.zeros((len(pairs), 2), dtype=np.int64)
    _mixture.count(src.offsets, tgt.offsets, *index, m.t, inv_fwd, inv_rev, agree, counts, n_threads)
    hmm.normalize(m, len(tgt.vocab), counts)
    for null, side, inverse in ((m.null_fwd, tgt, inv_fwd), (m.null_rev, src, inv_rev)):
        total = np.zeros(len(null), dtype=np.int64)
        _mixture.count_nulls(side.ids, null, inverse, total)
        null[:] = total / max(1, total.sum())
    return dict(zip(("loglik_fwd", "loglik_rev"), loglik.sum(axis=0).tolist(), strict=True))

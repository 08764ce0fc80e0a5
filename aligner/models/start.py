"""Parameters before the first iteration: even ones, or those of another model."""

from __future__ import annotations

import numpy as np

from aligner.models.model import Parameters, View
from aligner.text.cells import Pairs
from aligner.text.corpus import Corpus

LEAST = 1e-6  # a probability that the other model does not know


def uniform(corpus: Corpus, pairs: Pairs, window: int, p0: float, identical: float = 1.0) -> Parameters:
    """Every word that stands beside e in some sentence pair is as likely its translation; jumps are even.

    identical: how many times likelier a translation that is spelled like e is
    """
    e = np.repeat(np.arange(len(corpus.src.vocab), dtype=np.int32), np.diff(pairs.rows))
    weight = np.ones(len(pairs), dtype=np.float32)
    if identical != 1:
        weight[corpus.tgt.vocab.find(corpus.src.vocab.words)[e] == pairs.tgt] = identical
    t = np.empty((len(pairs), 2), dtype=np.float32)
    for column, word in ((0, e), (1, pairs.tgt)):
        total = np.bincount(word, weight).astype(np.float32)
        np.divide(weight, total[word], out=t[:, column])
    n_src, n_tgt = len(corpus.src.vocab), len(corpus.tgt.vocab)
    W = window - 1
    return Parameters(
        rows=pairs.rows,
        tgt=pairs.tgt,
        t=t,
        null_fwd=np.full(n_tgt, 1 / max(1, n_tgt), dtype=np.float32),
        null_rev=np.full(n_src, 1 / max(1, n_src), dtype=np.float32),
        jump=np.full((2, 2 * W + 3), 1 / (2 * W + 3)),
        first=np.full((2, W + 1), 1 / (W + 1)),
        p0=p0,
    )


def inherited(corpus: Corpus, pairs: Pairs, view: View, window: int, p0: float) -> Parameters:
    """Those of a model's view; what it does not know is unlikely, but possible.

    Its jumps too, if their window is the same.
    """
    m, old = uniform(corpus, pairs, window, p0), view.parameters.in_order()
    src, tgt = view.src.find(corpus.src.vocab.words), view.tgt.find(corpus.tgt.vocab.words)
    width = len(view.tgt)
    old_keys = np.repeat(np.arange(len(view.src)), np.diff(old.rows)) * width + old.tgt
    e = np.repeat(src.astype(np.int64), np.diff(pairs.rows))
    f = tgt[pairs.tgt] if len(pairs) else pairs.tgt
    place = np.searchsorted(old_keys, e * width + f)
    known = (e >= 0) & (f >= 0) & (place < len(old_keys))
    known[known] = old_keys[place[known]] == (e * width + f)[known]
    m.t[:] = LEAST
    m.t[known] = np.maximum(old.t[place[known]], LEAST)
    for null, ids, table in ((m.null_fwd, tgt, old.null_fwd), (m.null_rev, src, old.null_rev)):
        null[:] = LEAST
        null[ids >= 0] = np.maximum(table[ids[ids >= 0]], LEAST)
    if old.window == window:
        m.jump[:], m.first[:] = old.jump, old.first
    return m

"""From expected counts to new parameters."""

from __future__ import annotations

import numpy as np

from aligner.models import _update
from aligner.models.counts import ONE, Counts
from aligner.models.lexicon import Lexicon
from aligner.models.parameters import Parameters
from aligner.models.positions import Jumps

LEAST = 1e-6  # a jump's probability at least


Divergence = tuple[float, float]  # forward, reverse


def update(parameters: Parameters, counts: Counts, rule: str = "ml", alpha: float = 0.0) -> Divergence | None:
    """Changes the parameters in place by one of RULES.

    alpha: the parameter of the prior, for vb. Returns the divergence of the lexicon from its prior, which the
    bound of the next iteration subtracts from the log-likelihood; None without prior.
    """
    divergence = RULES[rule](parameters.lexicon, counts, alpha)
    if parameters.positions is not None and counts.jumps.any():
        _update_jumps(parameters.positions, counts)
    return divergence


def maximum_likelihood(m: Lexicon, counts: Counts, alpha: float) -> None:
    """t(f | e) = c(e, f) / sum_f c(e, f); the row of NULL alike."""
    _update.maximum_likelihood(m.rows, m.tgt, len(m.null_fwd), counts.pairs, m.t)
    for row, total in ((m.null_fwd, counts.null_fwd), (m.null_rev, counts.null_rev)):
        row[:] = total / max(1, total.sum())


def variational_bayes(m: Lexicon, counts: Counts, alpha: float) -> Divergence:
    """Each row has a symmetric Dirichlet prior with parameter alpha (ext/models/_update.pyx)."""
    fwd, rev = _update.variational_bayes(m.rows, m.tgt, len(m.null_fwd), counts.pairs, alpha, m.t)
    fwd += _update.variational_bayes_row(counts.null_fwd, alpha, m.null_fwd)
    rev += _update.variational_bayes_row(counts.null_rev, alpha, m.null_rev)
    return fwd, rev


RULES = {"ml": maximum_likelihood, "vb": variational_bayes}


def _update_jumps(m: Jumps, counts: Counts) -> None:
    """jump(b) = c(b) / sum_b c(b), c the expected jumps into bucket b; first positions alike.

    The lattice divides jump by its sum over the buckets that a sentence has room for, Z. The exact update
    would take account of Z, this one does not: the likelihood can fall by a trifle.
    """
    expected = counts.jumps / ONE
    width = m.jump.shape[1]
    for table, part in ((m.jump, expected[:, :width]), (m.first, expected[:, width:])):
        total = part.sum(axis=1, keepdims=True)
        np.divide(part, total, out=table, where=total > 0)
        np.maximum(table, LEAST, out=table)

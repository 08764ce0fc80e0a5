"""From expected counts to new parameters."""

from __future__ import annotations

from aligner.models import _update
from aligner.models.counts import ONE, Counts
from aligner.models.lexicon import Lexicon
from aligner.models.parameters import Parameters

Divergence = tuple[float, float]  # forward, reverse


def update(parameters: Parameters, counts: Counts, rule: str = "ml", alpha: float = 0.0) -> Divergence | None:
    """Changes the parameters in place by one of RULES.

    alpha: the parameter of the prior, for vb. Returns the divergence of the lexicon from its prior, which the
    bound of the next iteration subtracts from the log-likelihood; None without prior.
    """
    divergence = RULES[rule](parameters.lexicon, counts, alpha)
    if parameters.positions is not None and counts.positions.any():
        parameters.positions.update(counts.positions / ONE)
    return divergence


def maximum_likelihood(m: Lexicon, counts: Counts, alpha: float) -> None:
    """t(f | e) = c(e, f) / sum_f c(e, f), and the same for the row of NULL."""
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

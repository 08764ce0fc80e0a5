"""From expected counts to new parameters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aligner.models import _update
from aligner.models.counts import ONE, Counts, Longs
from aligner.models.lexicon import Evidence, Lexicon
from aligner.models.parameters import Parameters
from aligner.models.recipe import Leaving, Stage

Bytes = npt.NDArray[np.uint8]
Divergence = tuple[float, float]  # forward, reverse
Occurrences = tuple[Longs, Longs]  # of source words, of target words


def update(
    parameters: Parameters,
    counts: Counts,
    stage: Stage,
    occurrences: Occurrences | None = None,
    alike: Bytes | None = None,
) -> Divergence | None:
    """Changes the parameters in place, by the rule of the stage.

    occurrences  how often words occur, for the rule that needs it
    alike        how alike the words of each word pair are spelled (text/spelling.py); None: no two are
    Returns the divergence of the lexicon from its prior, which the bound of the next iteration subtracts from
    the log-likelihood; None without prior.
    """
    divergence = None
    if stage.leaving is not None:
        assert occurrences is not None
        of_occurrences(parameters.lexicon, counts, occurrences, stage.leaving, alike)
    elif stage.dirichlet:
        divergence = variational_bayes(parameters.lexicon, counts, stage.dirichlet)
    else:
        maximum_likelihood(parameters.lexicon, counts)
    if parameters.positions is not None and counts.positions.any():
        power = 1.0 if stage.leaving is None else stage.leaving.evenness
        parameters.positions.update(counts.positions / ONE, power)
    return divergence


def maximum_likelihood(m: Lexicon, counts: Counts) -> None:
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


def of_occurrences(
    m: Lexicon, counts: Counts, occurrences: Occurrences, leaving: Leaving, alike: Bytes | None = None
) -> None:
    """t(f | e) = (c(e, f) + w alpha / V) / (kappa N(e) + alpha). N(e): how often e occurs, V: target words.

    kappa, the mean of expected links of an occurrence, is the same for all words: a word that often has no
    link has a small t with every word. w = 1 + spelling s^4, s: how alike the two words are spelled. NULL's
    row is (c(f) + alpha / V) / (sum_f c(f) + alpha). The lexicon keeps the divisors as its evidence.
    """
    alpha = leaving.smoothing
    links = int(counts.pairs.sum()) / ONE
    kappa = tuple(links / max(1, int(n.sum())) for n in occurrences)
    src, tgt = ((k * n + alpha).astype(np.float32) for k, n in zip(kappa, occurrences, strict=True))
    words = tuple(int(np.count_nonzero(n)) for n in occurrences)
    least_rev, least_fwd = (alpha / max(1, n) for n in words)
    if alike is None:
        alike = np.zeros(len(m.tgt), np.uint8)
    weight = 1 + leaving.spelling * (np.arange(256) / 255) ** 4
    linked = _update.of_occurrences(
        m.rows, m.tgt, counts.pairs, least_fwd, least_rev, alike, weight, src, tgt, m.t
    )
    nulls = []
    for row, total, least in (
        (m.null_fwd, counts.null_fwd, least_fwd),
        (m.null_rev, counts.null_rev, least_rev),
    ):
        nulls.append(int(total.sum()) / ONE + alpha)
        row[:] = (total / ONE + least) / nulls[-1]
    m.evidence = Evidence(
        src, tgt, (nulls[0], nulls[1]), (kappa[0], kappa[1]), (words[0], words[1]), alpha, linked
    )

"""From expected counts to new parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from aligner.models import _update
from aligner.models.counts import ONE, Counts, Longs
from aligner.models.jumps import Jumps
from aligner.models.kinds import Leaving
from aligner.models.lexicon import Evidence, Lexicon
from aligner.models.parameters import Parameters
from aligner.models.pseudo import PseudoCounts
from aligner.models.stage import Stage

Bytes = npt.NDArray[np.uint8]
Doubles = npt.NDArray[np.float64]
Divergence = tuple[float, float]  # forward, reverse
Occurrences = tuple[Longs, Longs] | tuple[Doubles, Doubles]  # of source words, of target words


def update(
    parameters: Parameters,
    counts: Counts,
    stage: Stage,
    occurrences: Occurrences | None = None,
    alike: Bytes | None = None,
    prior: PseudoCounts | None = None,
    n_threads: int = 1,
) -> Divergence | None:
    """Changes the parameters in place, by the rule of the stage.

    occurrences  how often words occur, for the rule that needs it
    alike        how alike the words of each word pair are spelled (text/spelling.py); None: no two are
    prior        what earlier text counted; it is added to the counts. Variational Bayes takes none
    Returns the divergence of the lexicon from its prior, which the bound of the next iteration subtracts from
    the log-likelihood; None without prior.
    """
    divergence = None
    if prior is not None:
        if stage.leaving is None and counts.pairs.shape[1] == 1:  # a prior's directions need not agree
            counts.pairs = np.repeat(counts.pairs, 2, axis=1)
        prior.add_to(counts, isinstance(parameters.positions, Jumps))
    if stage.leaving is not None:
        assert occurrences is not None
        of_occurrences(parameters.lexicon, counts, occurrences, stage.leaving, alike, prior, n_threads)
    elif stage.dirichlet:
        assert prior is None
        divergence = variational_bayes(parameters.lexicon, counts, stage.dirichlet, n_threads)
    else:
        maximum_likelihood(parameters.lexicon, counts, prior, n_threads)
    _update_positions(parameters, counts, stage)
    return divergence


def totals_size(n_tgt: int, n_threads: int) -> int:
    """Bytes that an update takes beside parameters and counts: what threads add up for each target word."""
    return 8 * min(n_threads, _update.FEW) * n_tgt


def _update_positions(parameters: Parameters, counts: Counts, stage: Stage) -> None:
    if parameters.positions is not None and counts.positions.any():
        power = 1.0 if stage.leaving is None else stage.leaving.evenness
        parameters.positions.update(counts.positions / ONE, power)


def maximum_likelihood(
    m: Lexicon, counts: Counts, prior: PseudoCounts | None = None, n_threads: int = 1
) -> None:
    """t(f | e) = c(e, f) / sum_f c(e, f), and the same for the row of NULL.

    prior: what earlier text counted, which is among the counts; sums are over its words, too
    """
    rest, nulls = (np.zeros(len(m.null_rev), np.int64), np.zeros(len(m.null_fwd), np.int64)), (0.0, 0.0)
    if prior is not None:
        rest, nulls = (prior.rest_src, prior.rest_tgt), prior.lacking.nulls
    _update.maximum_likelihood(m.rows, m.tgt, len(m.null_fwd), counts.pairs, *rest, m.t, n_threads)
    _null_likelihood(m, counts, nulls)


def _null_likelihood(m: Lexicon, counts: Counts, more: tuple[float, float] = (0.0, 0.0)) -> None:
    """The rows of NULL alone. more: what NULL counted with words that this text lacks"""
    for row, total, lacking in (
        (m.null_fwd, counts.null_fwd, more[0]),
        (m.null_rev, counts.null_rev, more[1]),
    ):
        row[:] = total / max(1, total.sum() + lacking * ONE)


@dataclass(frozen=True, eq=False)
class Columns:
    """What the word pairs of a lexicon, or of some of its source words, count. Those of parts add up.

    totals  [V_tgt]  target word -> its counts, reverse
    widths  [V_tgt]  target word -> how many word pairs it has
    """

    totals: Longs
    widths: Longs

    @staticmethod
    def of(tgt: npt.NDArray[np.int32], pairs: Longs, n_tgt: int) -> Columns:
        """tgt, pairs: the target words and the counts of word pairs"""
        return Columns(*_update.column_sums(tgt, pairs, n_tgt))

    def __add__(self, other: Columns) -> Columns:
        return Columns(self.totals + other.totals, self.widths + other.widths)


def update_null(
    parameters: Parameters,
    counts: Counts,
    stage: Stage,
    n_links: int,
    occurrences: Occurrences | None = None,
) -> Divergence | None:
    """What `update` does, but for the word pairs: their lexicon is in parts, which update_rows takes.

    parameters, counts: without word pairs
    n_links: the sum of all counts, forward, for the rule that needs occurrences
    """
    m, divergence = parameters.lexicon, None
    if stage.leaving is not None:
        assert occurrences is not None
        m.evidence = null_of_occurrences(m, counts, n_links, occurrences, stage.leaving)
    elif stage.dirichlet:
        divergence = null_rows(m, counts, stage.dirichlet)
    else:
        _null_likelihood(m, counts)
    _update_positions(parameters, counts, stage)
    return divergence


def update_rows(
    m: Lexicon,
    pairs: Longs,
    stage: Stage,
    columns: Columns | None,
    alike: Bytes | None = None,
    n_threads: int = 1,
) -> tuple[float, Doubles] | None:
    """What `update` does for the word pairs of some source words.

    m        has these word pairs, and of the evidence what update_null says of these source words
    columns  of all source words; None for the rule that needs occurrences
    Returns what variational Bayes adds to divergences: what target words add, and what each source word adds.
    """
    if stage.leaving is not None:
        assert m.evidence is not None
        by_evidence(m, pairs, m.evidence, stage.leaving, alike, n_threads)
        return None
    assert columns is not None
    if stage.dirichlet:
        sums = columns.totals, columns.widths
        return _update.variational_bayes(m.rows, m.tgt, pairs, *sums, stage.dirichlet, m.t, n_threads)
    n_tgt = len(columns.totals)
    others = columns.totals - _update.column_sums(m.tgt, pairs, n_tgt)[0]
    rest = np.zeros(len(m.rows) - 1, np.int64), others
    _update.maximum_likelihood(m.rows, m.tgt, n_tgt, pairs, *rest, m.t, n_threads)
    return None


def start_with(m: Lexicon, occurrences: Occurrences, n_pairs: int, prior: PseudoCounts) -> None:
    """The start of a training: this text counts by the lexicon as it is, earlier text by what it taught.

    A word counts as often as it occurs, NULL once a sentence pair.
    n_pairs: how many sentence pairs there are
    """
    e = np.repeat(occurrences[0], np.diff(m.rows))
    pairs = np.stack([e * ONE * m.t[:, 0], occurrences[1][m.tgt] * ONE * m.t[:, 1]], axis=1)
    null_fwd, null_rev = ((n_pairs * ONE * row).astype(np.int64) for row in (m.null_fwd, m.null_rev))
    counts = Counts(pairs.astype(np.int64), null_fwd, null_rev, np.zeros((2, 0), np.int64))
    prior.add_to(counts)
    maximum_likelihood(m, counts, prior)


def variational_bayes(m: Lexicon, counts: Counts, alpha: float, n_threads: int = 1) -> Divergence:
    """Each row has a symmetric Dirichlet prior with parameter alpha (ext/models/_update.pyx)."""
    columns = _update.column_sums(m.tgt, counts.pairs, len(m.null_fwd))
    below, added = _update.variational_bayes(m.rows, m.tgt, counts.pairs, *columns, alpha, m.t, n_threads)
    fwd, rev = null_rows(m, counts, alpha)
    return fwd + float(added[:, 0].sum()), rev + (below + float(added[:, 1].sum()))


def null_rows(m: Lexicon, counts: Counts, alpha: float) -> Divergence:
    """Variational Bayes of the rows of NULL alone."""
    fwd = _update.variational_bayes_row(counts.null_fwd, alpha, m.null_fwd)
    return fwd, _update.variational_bayes_row(counts.null_rev, alpha, m.null_rev)


def of_occurrences(
    m: Lexicon,
    counts: Counts,
    occurrences: Occurrences,
    leaving: Leaving,
    alike: Bytes | None = None,
    prior: PseudoCounts | None = None,
    n_threads: int = 1,
) -> None:
    """t(f | e) = (c(e, f) + w alpha / V) / (kappa N(e) + alpha). N(e): how often e occurs, V: target words.

    kappa, the mean of expected links of an occurrence, is the same for all words: a word that often has no
    link has a small t with every word. w = 1 + spelling s^4, s: how alike the two words are spelled. NULL's
    row is (c(f) + alpha / V) / (sum_f c(f) + alpha). The lexicon keeps the divisors as its evidence.
    prior: what earlier text counted, which is among the counts; N, V and sums are of both texts
    """
    evidence = null_of_occurrences(m, counts, int(counts.pairs.sum()), occurrences, leaving, prior)
    linked = by_evidence(m, counts.pairs, evidence, leaving, alike, n_threads)
    m.evidence = replace(evidence, linked=linked)


def null_of_occurrences(
    m: Lexicon,
    counts: Counts,
    n_links: int,
    occurrences: Occurrences,
    leaving: Leaving,
    prior: PseudoCounts | None = None,
) -> Evidence:
    """Updates the rows of NULL alone. Returns the evidence of all rows. n_links: the sum of all counts"""
    alpha = leaving.smoothing
    links = n_links / ONE
    words, tokens, of_null = [0, 0], [0.0, 0.0], (0.0, 0.0)  # that this text lacks
    if prior is not None:
        lacking = prior.lacking
        occurrences = occurrences[0] + prior.src, occurrences[1] + prior.tgt
        links += lacking.links
        words, tokens, of_null = [*lacking.words], [*lacking.occurrences], lacking.nulls
    for k, n in enumerate(occurrences):
        words[k] += int(np.count_nonzero(n))
        tokens[k] += n.sum()
    kappa = tuple(float(links / max(1, n)) for n in tokens)
    src, tgt = ((k * n + alpha).astype(np.float32) for k, n in zip(kappa, occurrences, strict=True))
    least_rev, least_fwd = (alpha / max(1, n) for n in words)
    nulls = []
    for row, total, least, more in (
        (m.null_fwd, counts.null_fwd, least_fwd, of_null[0]),
        (m.null_rev, counts.null_rev, least_rev, of_null[1]),
    ):
        nulls.append(int(total.sum()) / ONE + more + alpha)
        row[:] = (total / ONE + least) / nulls[-1]
    return Evidence(src, tgt, (nulls[0], nulls[1]), (kappa[0], kappa[1]), (words[0], words[1]), alpha)


def by_evidence(
    m: Lexicon,
    pairs: Longs,
    evidence: Evidence,
    leaving: Leaving,
    alike: Bytes | None = None,
    n_threads: int = 1,
) -> Bytes:
    """Updates t by the counts of word pairs. Returns which word pairs are linked, as Evidence has them."""
    least_rev, least_fwd = (evidence.alpha / max(1, n) for n in evidence.words)
    if alike is None:
        alike = np.zeros(len(m.tgt), np.uint8)
    smoothing = least_fwd, least_rev, alike, spelled(leaving)
    divisors = evidence.src, evidence.tgt
    return _update.of_occurrences(m.rows, m.tgt, pairs, *smoothing, *divisors, m.t, n_threads)


def spelled(leaving: Leaving) -> npt.NDArray[np.float64]:
    """[256] how alike two words are spelled -> how many times as much smoothing gives them"""
    return np.asarray(1 + leaving.spelling * (np.arange(256) / 255) ** 4)

"""Features of candidates: what a model believes, what competes, how words look, how often they were linked.

Each feature is a row of numbers, one a candidate. `names` has their order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from aligner.learning import _surroundings
from aligner.learning.candidates import POSTERIORS, Candidates
from aligner.learning.spelling import NAMES as SPELLING
from aligner.learning.spelling import Spelling

Reals = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

LEAST = 1e-4  # probabilities are between this and 1 less this when they become log-odds
RARE = 1e-6  # added to a translation probability before its logarithm is taken
FEW = 0.01  # added to a count before its logarithm is taken
MEANS = ("projected", "unprojected")  # means of the two directions
AGREEMENT = ("smaller direction", "larger direction", "product of directions")
COMPETITION = tuple(
    f"{line}: {what}"
    for line in ("row", "column")
    for what in ("other", "rest", "rank", "lead", "lead in log-odds", "left over")
)
NEAR = _surroundings.NAMES[6:]
DISTANCE = ("distance", "root of distance", "square of distance", "log of distance in words")
TABLES = ("log t(f | e)", "log t(e | f)", "share of links", "log share of links", "log links")
COUNTS = ("log count of e", "log count of f", "log count of the rarer", "log ratio of counts")
LENGTHS = ("log source words", "log target words", "log ratio of words", "repeats of e", "repeats of f")


def names(views: Sequence[str]) -> list[str]:
    """The features of a model with these views."""
    found = [name for one in (*POSTERIORS, *MEANS) for name in (one, f"log-odds {one}")]
    found += AGREEMENT
    found += [f"{mean} {name}" for mean in MEANS for name in COMPETITION]
    found += [f"near: {name}" for name in NEAR]
    found += [*DISTANCE, *(f"spelling: {name}" for name in SPELLING), *LENGTHS, *COUNTS]
    return found + [f"{view}: {name}" for view in views for name in TABLES]


def features(these: Candidates, spelling: Spelling, n_threads: int) -> Reals:
    """[F, n] the features of candidates, in the order of `names`."""
    p = these.posteriors
    means = (p[0] + p[1]) / 2, (p[2] + p[3]) / 2
    rows: list[npt.NDArray[np.floating]] = []
    for one in (*p, *means):
        rows += [one, log_odds(one)]
    rows += [np.minimum(p[2], p[3]), np.maximum(p[2], p[3]), p[2] * p[3]]
    around = [
        _surroundings.surroundings(these.offsets, these.src, these.tgt, mean, n_threads) for mean in means
    ]
    for mean, one in zip(means, around, strict=True):
        rows += competition(mean, one)
    near = around[0][-len(NEAR) :]  # of the projected mean
    rows += [*near, *_distance(these), *spelling.features(these.e, these.f, n_threads)]
    rows += [*_lengths(these), *_counts(these.tables[0])]
    for table in these.tables:
        rows += _tables(table)
    return np.array(rows, dtype=np.float32)


def log_odds(p: Reals) -> Reals:
    """log p / (1 - p), where p is neither 0 nor 1."""
    p = np.clip(p, np.float32(LEAST), np.float32(1 - LEAST))
    return np.asarray(np.log(p / (1 - p)))


def competition(values: Reals, around: Reals) -> list[Reals]:
    """How a value stands among those of the same words, in the order of COMPETITION.

    around: what _surroundings.surroundings tells of the values
    """
    found: list[Reals] = []
    odds = log_odds(values)
    for other, rest, rank in (around[:3], around[3:6]):
        left = np.maximum(0, 1 - rest - values)
        found += [other, rest, rank, values - other, odds - log_odds(other), left]
    return found


def _distance(these: Candidates) -> list[Doubles]:
    """How far a candidate is from the diagonal, as a share of the sentences."""
    n_src, n_tgt = these.lengths[:, these.sentences]
    h = np.abs((these.src + 0.5) / n_src - (these.tgt + 0.5) / n_tgt)
    return [h, np.sqrt(h), h * h, np.log1p(h * np.maximum(n_src, n_tgt))]


def _lengths(these: Candidates) -> list[Doubles]:
    src, tgt = np.log(these.lengths[:, these.sentences])
    e, f = these.repeats.astype(np.float64)
    return [src, tgt, src - tgt, e, f]


def _counts(table: Reals) -> list[Reals]:
    """How often the two words were counted."""
    e, f = np.log(table[3] + np.float32(FEW)), np.log(table[4] + np.float32(FEW))
    return [e, f, np.minimum(e, f), e - f]


def _tables(table: Reals) -> list[Reals]:
    """What the lexicon of a view says, in the order of TABLES.

    A share of links is 2 count(e, f) / (count(e) + count(f)), Dice's coefficient of expected links.
    """
    forward, reverse, count, src, tgt = table
    share = 2 * count / np.maximum(src + tgt, np.float32(RARE))
    logs = [np.log(x + np.float32(least)) for x, least in ((forward, RARE), (reverse, RARE))]
    return [*logs, share, np.log(share + np.float32(LEAST)), np.log(count + np.float32(FEW))]

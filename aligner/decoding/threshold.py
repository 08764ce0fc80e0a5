"""Thresholds that need no gold links: from the scores of a text's links to one number.

auto    the threshold of least expected AER, were each link there with its score as probability
points  the threshold above which there are as many links as on best paths (Ganchev et al. 2008, 5.2)

Scores are counted in a histogram: a text of any size needs the same memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner import arguments
from aligner.decoding.combine import Decision, combine
from aligner.decoding.posteriors import directions
from aligner.decoding.sentences import posteriors_of, sides_of
from aligner.links.links import Links
from aligner.links.symmetrize import METHODS
from aligner.models.parameters import View
from aligner.models.recipe import Recipe
from aligner.models.shares import MOST, Shares
from aligner.text.cells import Seen
from aligner.text.corpus import Corpus, sampled
from aligner.text.known import NOTHING, Known

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]

RULES = ("auto", "points")
UNKNOWN = 0.4  # the threshold where there are no links
SCALE = 1_000_000  # how a histogram writes the score 1: scores have six decimals, as files have them
MOST_PAIRS = 10_000  # sentence pairs that a threshold is found from; of a larger text, a sample
BLOCK = 1 << 20  # entries of shares that are counted at a time


def check(threshold: float | str | None) -> None:
    """Refuses what is neither a rule nor a number that a score can have."""
    if isinstance(threshold, str):
        if threshold not in RULES:
            allowed = f"{', '.join(RULES)} or a number between 0 and 1"
            raise ValueError(f"threshold must be {allowed}, not {threshold!r}")
    elif threshold is not None:
        arguments.number("threshold", threshold, 0, 1)


def find(
    rule: str,
    views: Sequence[View],
    recipe: Recipe,
    corpus: Corpus,
    how: Decision,
    *,
    seen: Sequence[Seen | None] | None = None,
    known: Known = NOTHING,
    **settings: Any,
) -> tuple[float, float | None]:
    """(threshold, expected AER) of a text by one of RULES. The expected AER is None for points.

    how: which links are wanted, whatever its threshold and fertility are. Other arguments are those of
    `directions`
    """
    corpus = corpus.bounded()
    keep = sampled(len(corpus), MOST_PAIRS)
    if not keep.all():
        corpus, known, seen = corpus.select(keep), known.select(keep), None
    decoded = partial(directions, views, recipe, corpus, seen=seen, known=known, **settings)
    counts, masses = scored(decoded(), how)
    if rule == "auto":
        return least_expected_aer(counts, masses)
    # A link of a best path scores the share of the views and projections whose best path has the link.
    total = sum(_whole(q).sum() for block in decoded(viterbi=True) for _, q in _plain(*block, how.direction))
    n_links = total / SCALE / (2 if _is_blended(how) else 1)
    return with_links(counts, round(n_links)), None


def scored(blocks: Iterable[tuple[Links, Links]], how: Decision) -> tuple[Longs, Longs]:
    """The histogram of links as decoding gives them, forward and reverse. Those of parts of a text add up.

    how: which links are wanted
    """
    counts, masses = (np.zeros(SCALE + 1, dtype=np.int64) for _ in range(2))
    for block in blocks:
        for links, q in [_blended(*block, how.method)] if _is_blended(how) else _plain(*block, how.direction):
            for total, found in zip((counts, masses), histogram(_scores(links), q), strict=True):
                total += found
    return counts, masses


def _is_blended(how: Decision) -> bool:
    """Whether scores of the two directions are made one."""
    return how.direction == "both" and METHODS[how.method].threshold is not None


def _blended(forward: Links, reverse: Links, method: str) -> tuple[Links, Doubles]:
    """The links of two directions made one, with their probabilities: a product of posteriors is none."""
    links = combine(forward, reverse, Decision(0.0, method=method))
    product = method == "product"
    return links, posteriors_of(links, forward, reverse, "both") if product else _scores(links)


def _plain(forward: Links, reverse: Links, direction: str) -> list[tuple[Links, Doubles]]:
    """The links of each direction that is wanted, with their probabilities."""
    return [(links, _scores(links)) for links in sides_of(forward, reverse, direction)]


def _scores(links: Links) -> Doubles:
    assert links.scores is not None
    return links.scores


def _whole(x: Doubles) -> Longs:
    """Numbers as multiples of 1 / SCALE. Sums of these do not depend on the order, nor on shards."""
    return np.rint(x * SCALE).astype(np.int64)


def histogram(scores: Doubles, q: Doubles) -> tuple[Longs, Longs]:
    """Links by their scores, rounded as files have them: [SCALE + 1] how many there are, the sum of their q.

    q  [n_links]  the probabilities of the links
    """
    place = _whole(scores)
    masses = np.bincount(place, _whole(q), minlength=SCALE + 1)  # whole numbers below 2^53: no rounding
    return np.bincount(place, minlength=SCALE + 1), masses.astype(np.int64)


def least_expected_aer(counts: Longs, masses: Longs) -> tuple[float, float | None]:
    """(threshold, expected AER) of a histogram; no expected AER where there are no links."""
    best = _least_expected_aer(counts, masses)
    if best is None:
        return UNKNOWN, None
    below, least, aer = best
    return (below + least) // 2 / SCALE, aer


def with_links(counts: Longs, n_links: int) -> float:
    """The threshold above which there are n_links links; fewer if links of equal scores are too many."""
    places = np.flatnonzero(counts)
    if len(places) == 0:
        return UNKNOWN
    taken = counts[places][::-1].cumsum()[::-1]  # by the least place taken
    first = int(np.count_nonzero(taken > n_links))
    below = int(places[first - 1]) if first else 0
    least = int(places[first]) if first < len(places) else below
    return (below + least) // 2 / SCALE


def of_shares(shares: Shares) -> float:
    """The threshold of least expected AER of the links that the last iteration of a training expected.

    The threshold is in the middle between the least score taken and the next one, so that the scores of
    decoding may differ a little.
    """
    counts = np.zeros(MOST + 1, dtype=np.int64)
    for start in range(0, len(shares.entries), BLOCK):
        counts += np.bincount(shares.entries[start : start + BLOCK] & MOST, minlength=MOST + 1)
    counts[0] = 0  # fillers
    best = _least_expected_aer(counts, counts * np.arange(MOST + 1))
    return UNKNOWN if best is None else (best[0] + best[1]) / 2 / MOST


def _least_expected_aer(counts: Longs, masses: Longs) -> tuple[int, int, float] | None:
    """(the largest place that is not taken, the least that is, expected AER); None if there are no links.

    counts  [M + 1]  links by their scores
    masses  [M + 1]  the sum of the probabilities q of these links, times M

    Of n links with the probabilities q, sum q are right, and sum_all q links should be there:
    AER = 1 - 2 sum q / (n + sum_all q).
    """
    places = np.flatnonzero(counts)
    if len(places) == 0:
        return None
    q = masses[places] / (len(counts) - 1)
    taken, right = counts[places][::-1].cumsum()[::-1], q[::-1].cumsum()[::-1]  # by the least place taken
    shares = right / (taken + right[0])
    best = int(np.argmax(shares))
    below = int(places[best - 1]) if best else 0
    return below, int(places[best]), float(1 - 2 * shares[best])

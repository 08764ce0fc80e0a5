"""Scored links against a gold standard at every threshold, and scores against the share that is right.

A threshold t takes the links that score above t. Precision, recall, AER and F are those of `evaluate`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.decoding.tuned import OTHER, Points
from aligner.links.links import Links
from aligner.scoring.evaluate import Coder, among, rates

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

CRITERIA = ("aer", "f1", "f-alpha", "precision", "recall")  # what a point can be best by


@dataclass(frozen=True, eq=False)
class Curve(Points):
    """A point for each distinct score, the highest first: what is taken are all links of at least that score.

    thresholds  [T]  in the middle between this score and the next one, rounded down to six decimals: links
                     are taken by such a threshold whether or not their scores are rounded as in files
    scores      [T]
    n_links     [T]  |A|, the links that are taken
    n_sure      [T]  |A n S|
    n_possible  [T]  |A n P|
    gold_sure   |S|
    """

    scores: Floats
    n_links: Ints
    n_sure: Ints
    n_possible: Ints
    gold_sure: int

    def __len__(self) -> int:
        return len(self.thresholds)

    @classmethod
    def of(cls, links: Links, gold: Links) -> Curve:
        """The curve of scored links. A link that is there more than once has the highest of its scores."""
        assert links.scores is not None
        coder = Coder([links, gold])
        truth = coder.gold(gold)
        order = np.argsort(-links.scores, kind="stable")
        codes, scores = coder.codes(links)[order], links.scores[order]
        first = np.unique(codes, return_index=True)[1]
        if len(first) < len(codes):
            first.sort()
            codes, scores = codes[first], scores[first]
        last = np.append(np.diff(scores) != 0, True)[: len(scores)]  # where links of one score end
        n_possible, n_sure = (np.cumsum(among(codes, x))[last] for x in (truth.possible, truth.sure))
        n_links, scores, gold_sure = 1 + np.flatnonzero(last), scores[last], len(truth.sure)
        found = rates(n_links, np.array(gold_sure), n_sure, n_possible, 0.5)
        points = _between(scores), found["precision"], found["recall"]
        return cls(*points, scores, n_links, n_sure, n_possible, gold_sure)

    @property
    def area(self) -> float:
        """The area under the curve of precision by recall.

        The curve goes from recall 0, where precision is that of the first links, to the recall of all links.
        """
        precision, recall = self.n_possible / self.n_links, self.n_sure / max(1, self.gold_sure)
        heights = np.concatenate([precision[:1], precision])
        return float(np.sum(np.diff(recall, prepend=0.0) * (heights[1:] + heights[:-1]) / 2))

    def rates(self, alpha: float = 0.4) -> dict[str, Floats]:
        """name -> [T]: aer, precision, recall, f1 and f_alpha at each threshold."""
        return rates(self.n_links, np.array(self.gold_sure), self.n_sure, self.n_possible, alpha)

    def best(self, by: str, alpha: float = 0.4) -> int:
        """The point that is best by one of CRITERIA.

        Of points of equal precision, it is the one of most recall; of points of equal recall, the one of most
        precision; of points of equal AER or F, the one of fewest links.
        """
        values = self.rates(alpha)[by.replace("-", "_")]
        if by in OTHER:
            at = self.at(by, float(values.max()))
            assert at is not None
            return at
        return int(np.argmin(values) if by == "aer" else np.argmax(values))

    def above(self, threshold: float) -> int:
        """The point of the links that score above a threshold; -1: there are none."""
        return int(np.searchsorted(-self.scores, -threshold, side="left")) - 1

    def row(self, at: int, alpha: float = 0.4) -> dict[str, float]:
        """name -> score of a point; links: their number. -1: no links are taken"""
        taken = [int(x[at]) if at >= 0 else 0 for x in (self.n_links, self.n_sure, self.n_possible)]
        a, a_s, a_p, s = map(np.array, (*taken, self.gold_sure))
        return {"links": taken[0], **{name: float(x) for name, x in rates(a, s, a_s, a_p, alpha).items()}}

    def thinned(self, most: int, at: Ints | None = None) -> Ints:
        """At most so many points, equally far apart on the curve. The first and the last are among them.

        at: the points to choose from; None: all
        """
        at = np.arange(len(self)) if at is None else at
        if len(at) <= most:
            return at
        steps = np.hypot(np.diff(self.precision[at]), np.diff(self.recall[at]))
        along = np.concatenate([[0.0], np.cumsum(steps)])
        places = np.searchsorted(along, np.linspace(0, along[-1], most))
        places[-1] = len(at) - 1
        return at[np.unique(places)]


def _between(scores: Floats) -> Floats:
    """Thresholds below each of some falling scores, and not below the next one."""
    if len(scores) == 0:
        return scores
    end = 0.0 if scores[-1] > 0 else scores[-1] - 1
    below = np.append(scores[1:], end)
    middle = np.floor((scores + below) / 2 * 1e6 + 1e-3) / 1e6  # 649999.99 is 0.65, too
    return np.where((middle >= below) & (middle < scores), middle, below)


@dataclass(frozen=True, eq=False)
class Calibration:
    """Links in bins of equal width by their scores, which are between 0 and 1: how many of them are right?

    edges    [B + 1]  bin b has the scores above edges[b] up to edges[b + 1]; the first one has 0, too
    n_links  [B]      links of each bin
    n_right  [B]      those that are among the sure and possible links
    score    [B]      the mean score of the bin's links; nan if there are none
    share    [B]      the share that is right; nan if there are no links
    """

    edges: Floats
    n_links: Ints
    n_right: Ints
    score: Floats
    share: Floats

    @classmethod
    def of(cls, links: Links, gold: Links, n_bins: int = 10) -> Calibration:
        assert links.scores is not None
        coder = Coder([links, gold])
        right = among(coder.codes(links), coder.gold(gold).possible)
        edges = np.arange(n_bins + 1) / n_bins
        bins = np.maximum(0, np.searchsorted(edges, links.scores, side="left") - 1)
        n_links, n_right = (np.bincount(x, minlength=n_bins) for x in (bins, bins[right]))
        sums = np.bincount(bins, links.scores, minlength=n_bins)
        with np.errstate(invalid="ignore"):
            return cls(edges, n_links, n_right, sums / n_links, n_right / n_links)

    @property
    def error(self) -> float:
        """The mean distance of score and share, each bin as often as it has links; 0 without links."""
        with np.errstate(invalid="ignore"):
            gaps = np.where(self.n_links > 0, np.abs(self.score - self.share), 0.0)
        return float((gaps * self.n_links).sum() / max(1, self.n_links.sum()))

"""Posteriors of chosen links, and scores of whole sentence pairs: which pairs are translations?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aligner.links.links import Links

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]


def confidence(links: Links, forward: Links, reverse: Links, direction: str) -> Doubles:
    """[S] the mean posterior of each sentence pair's links; 0 where a sentence pair has no links.

    links: those that are printed. Other arguments are those of `posteriors_of`
    """
    posteriors = posteriors_of(links, forward, reverse, direction)
    sums = np.bincount(links.sentences, posteriors, minlength=len(links))
    return np.asarray(sums / np.maximum(1, np.diff(links.offsets)))


def posteriors_of(links: Links, forward: Links, reverse: Links, direction: str) -> Doubles:
    """[n_links] the posteriors of links, whatever their scores are.

    forward, reverse  links of the two directions with their posteriors as scores, all above a cutoff, sorted
    direction         both: a link's posterior is the mean of its two; else that of one direction
    """
    sides = sides_of(forward, reverse, direction)
    width = 1 + max(int(x.max(initial=0)) for one in (links, *sides) for x in (one.src, one.tgt))
    keys = _keys(links, width)
    posteriors = np.zeros(len(keys))
    for one in sides:
        assert one.scores is not None
        known = _keys(one, width)
        if len(known):
            place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            posteriors += np.where(known[place] == keys, one.scores[place], 0) / len(sides)
    return posteriors


def sides_of(forward: Links, reverse: Links, direction: str) -> list[Links]:
    """The links of the directions that are wanted: both, or one."""
    return {"forward": [forward], "reverse": [reverse]}.get(direction, [forward, reverse])


def _keys(links: Links, width: int) -> Longs:
    """A number for each link, larger for each later sentence pair, source word and target word."""
    return (links.sentences * width + links.src) * width + links.tgt


def format_scores(costs: Doubles, confidences: Doubles | None) -> bytes:
    """A line a sentence pair: its two costs and its confidence, between tabs. What there is not is empty.

    costs  [S, 2] of `directions`; nan: there is none
    """
    rows = [["" if np.isnan(x) else f"{x:.6f}" for x in pair] for pair in costs.tolist()]
    last = [""] * len(rows) if confidences is None else [f"{x:.6f}" for x in confidences.tolist()]
    return "".join(f"{a}\t{b}\t{c}\n" for (a, b), c in zip(rows, last, strict=True)).encode()

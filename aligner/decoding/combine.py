"""The links of two directions made one alignment, or one direction's links with what both know."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aligner.links.links import Links
from aligner.links.symmetrize import METHODS, symmetrize


@dataclass(frozen=True)
class Decision:
    """How links are chosen from the scores of two directions.

    threshold  links that score above it are kept; a method without scores gets those of each direction
    direction  both: the two directions are made one; forward or reverse: the links of one are wanted
    method     how two directions become one: one of METHODS (links/symmetrize.py)
    variant    whose order of links a method without scores has: one of VARIANTS
    """

    threshold: float
    direction: str = "both"
    method: str = "soft-union"
    variant: str = "symal"


def above(links: Links, threshold: float) -> Links:
    """The links whose score is above the threshold, also when it is rounded as files have it."""
    assert links.scores is not None
    return links.chosen((links.scores > threshold) & (np.round(links.scores, 6) > threshold))


def threshold_of(method: str, given: float | None, model: float) -> float:
    """The threshold that a method has: the given one, else product's own, else the model's.

    The model's threshold is one of the scores of a direction, or of their mean. A product of two scores is
    smaller than both, so that product does not take the model's.
    """
    if given is not None:
        return given
    own = METHODS[method].threshold if method == "product" else None
    return model if own is None else own


def combine(forward: Links, reverse: Links, how: Decision) -> Links:
    """One alignment of the scored links of two directions."""
    if how.direction != "both":
        return above(forward if how.direction == "forward" else reverse, how.threshold)
    if METHODS[how.method].threshold is None:
        forward, reverse = above(forward, how.threshold), above(reverse, how.threshold)
    return symmetrize(forward, reverse, how.method, variant=how.variant, threshold=how.threshold)


def one_each(forward: Links, reverse: Links, direction: str, threshold: float) -> Links:
    """At most one link a generated word, in the order of these words, as directional aligners print links.

    The generated words of the direction forward are the target's, those of reverse the source's. The link of
    a word is the one with the best mean of the two directions' scores, if the mean is above the threshold.
    Links of both directions so chosen can be made one by any heuristic (docs/recipe.md).
    """
    links = combine(forward, reverse, Decision(threshold))
    assert links.scores is not None
    words = links.tgt if direction == "forward" else links.src
    order = np.lexsort((-links.scores, words, links.sentences))
    places = links.sentences[order] << 32 | words[order]
    best = order[np.diff(places, prepend=-1) != 0]
    offsets = np.searchsorted(links.sentences[best], np.arange(len(links) + 1))
    return Links(offsets, links.src[best], links.tgt[best], scores=links.scores[best])

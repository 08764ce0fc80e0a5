"""The links of two directions made one alignment."""

from __future__ import annotations

import numpy as np

from aligner.links.links import Links
from aligner.links.symmetrize import METHODS, symmetrize


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


def combine(
    forward: Links, reverse: Links, direction: str, method: str, threshold: float, variant: str = "symal"
) -> Links:
    """One alignment of two. A method that does not work on scores gets the links above the threshold.

    direction: both, or the one whose links above the threshold are wanted
    """
    if direction != "both":
        return above(forward if direction == "forward" else reverse, threshold)
    if METHODS[method].threshold is None:
        forward, reverse = above(forward, threshold), above(reverse, threshold)
    return symmetrize(forward, reverse, method, variant=variant, threshold=threshold)

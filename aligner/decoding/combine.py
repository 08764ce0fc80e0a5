"""The links of two directions made one alignment."""

from __future__ import annotations

from aligner.links.links import Links
from aligner.links.symmetrize import METHODS, symmetrize


def above(links: Links, threshold: float) -> Links:
    """The links whose score is above the threshold."""
    assert links.scores is not None
    return links.chosen(links.scores > threshold)


def combine(forward: Links, reverse: Links, direction: str, method: str, threshold: float) -> Links:
    """One alignment of two. A method that does not work on scores gets the links above the threshold.

    direction: both, or the one whose links above the threshold are wanted
    """
    if direction != "both":
        return above(forward if direction == "forward" else reverse, threshold)
    if METHODS[method].threshold is None:
        forward, reverse = above(forward, threshold), above(reverse, threshold)
    return symmetrize(forward, reverse, method, threshold=threshold)

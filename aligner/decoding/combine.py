"""The links of two directions made one alignment, or one direction's links with what both know."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aligner import arguments
from aligner.decoding._matching import match
from aligner.links.links import Links
from aligner.links.symmetrize import METHODS, symmetrize
from aligner.threads import useful

# Ways to choose among the links above the threshold -> how many links a word has at most; None: any number
DECODERS = {"threshold": None, "one-to-one": 1, "fertility": 2}  # 2: chosen on development sets
MOST_FERTILITY = 1000  # that can be asked for


@dataclass(frozen=True)
class Decision:
    """How links are chosen from the scores of two directions.

    threshold  links that score above it are kept; a method without scores gets those of each direction
    direction  both: the two directions are made one; forward or reverse: the links of one are wanted
    method     how two directions become one: one of METHODS (links/symmetrize.py)
    variant    whose order of links a method without scores has: one of VARIANTS
    fertility  how many links a word has at most, for links with scores; None: any number
    """

    threshold: float
    direction: str = "both"
    method: str = "soft-union"
    variant: str = "symal"
    fertility: int | None = None

    def __post_init__(self) -> None:
        if self.fertility is not None and self.direction == "both" and METHODS[self.method].threshold is None:
            raise ValueError(f"links of {self.method} have no scores to choose by")


def above(links: Links, threshold: float) -> Links:
    """The links whose score is above the threshold, also when it is rounded as files have it."""
    assert links.scores is not None
    return links.chosen((links.scores > threshold) & (np.round(links.scores, 6) > threshold))


def combine(forward: Links, reverse: Links, how: Decision, n_threads: int = 1) -> Links:
    """One alignment of the scored links of two directions."""
    if how.direction != "both":
        links = above(forward if how.direction == "forward" else reverse, how.threshold)
    else:
        if METHODS[how.method].threshold is None:
            forward, reverse = above(forward, how.threshold), above(reverse, how.threshold)
        links = symmetrize(forward, reverse, how.method, variant=how.variant, threshold=how.threshold)
    return links if how.fertility is None else at_most(links, how.fertility, how.threshold, n_threads)


def at_most(links: Links, fertility: int, threshold: float, n_threads: int = 1) -> Links:
    """The links of the largest sum of score - threshold such that no word has more links than fertility.

    links: all above the threshold, by source, then target, each once
    """
    scores = np.empty(0) if links.scores is None else links.scores  # links of an empty file have none
    n_threads = useful(n_threads, len(links.src))
    chosen = match(links.offsets, links.src, links.tgt, scores, threshold, fertility, n_threads)
    return links.chosen(chosen.astype(bool))


def fertility_of(decode: str, given: int | None) -> int | None:
    """How many links a word has at most: the given number, else the decoder's own. None: any number."""
    most = DECODERS[arguments.choice("decode", decode, DECODERS)]
    if given is None:
        return most
    if decode != "fertility":
        raise ValueError(f"max_fertility is for decode fertility, not {decode}")
    return int(arguments.number("max_fertility", given, 1, MOST_FERTILITY, whole=True))


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

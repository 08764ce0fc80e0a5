"""Links of tests: gold standards and scored links, from sets and dictionaries of (source, target)."""

from __future__ import annotations

import numpy as np

from aligner import Links


def gold_links(sentences: list[tuple[set, set]]) -> Links:
    """Links with labels from (sure, possible) sets of each sentence."""
    links = Links.from_pairs([[*sorted(s), *sorted(p)] for s, p in sentences])
    sure = np.array([label for s, p in sentences for label in [1] * len(s) + [0] * len(p)], dtype=np.uint8)
    return Links(links.offsets, links.src, links.tgt, sure)


def scored_links(sentences: list[dict]) -> Links:
    """Links with scores from dictionaries of (source, target) -> score, one a sentence."""
    links = Links.from_pairs([sorted(scored) for scored in sentences])
    values = [scored[link] for scored in sentences for link in sorted(scored)]
    return Links(links.offsets, links.src, links.tgt, None, np.array(values, dtype=np.float64))

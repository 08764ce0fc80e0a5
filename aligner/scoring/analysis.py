"""What is wrong with links, and why: their errors by rare words, kinds of links, places and scores.

With A the hypothesis, S the sure and P the sure and possible links of the gold standard, as in evaluate.py:

    right   A n P      wrong   A - P      precision = right / links
    found   A n S      missed  S - A      recall = found / sure
    AER = (wrong + missed) / (links + sure): each wrong and each missed link costs the same

So the errors of parts of the links add up to all errors, and the parts say where AER comes from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aligner.links.links import Links
from aligner.scoring import examples
from aligner.scoring.comparison import (
    DISTANCES,
    FERTILITIES,
    JUMPS,
    KINDS,
    OCCURRENCES,
    Comparison,
    Histogram,
    Part,
    ScorePart,
    ranges,
    shares,
)
from aligner.scoring.examples import Collector, Sentence, Unlinked, WordPair
from aligner.text.corpus import Corpus


@dataclass(frozen=True)
class Analysis:
    """What `analyze` finds. Examples have the worst first, and at most as many as were wanted."""

    total: Part
    n_gold: int  # |P|
    n_sentences: int
    n_tokens: tuple[int, int]
    occurrences: tuple[Part, ...]
    kinds: tuple[Part, ...]
    kinds_histogram: Histogram
    distances: tuple[Part, ...]
    crossing: tuple[Part, ...]
    src_fertility: Histogram
    tgt_fertility: Histogram
    jumps: Histogram
    scores: tuple[ScorePart, ...] | None  # None: links have no scores
    n_absent: int  # sure links that are not among the links with scores
    wrong_pairs: tuple[WordPair, ...]
    missed_pairs: tuple[WordPair, ...]
    collectors: tuple[Collector, ...]
    n_collectors: int
    unlinked: tuple[Unlinked, ...]
    n_unlinked: int  # tokens
    worst: tuple[Sentence, ...]


def analyze(
    hyp: Links,
    gold: Links,
    text: Corpus,
    counted: Corpus | None = None,
    *,
    threshold: float | None = None,
    top: int = 10,
    first_line: int = 1,
) -> Analysis:
    """What is wrong with a hypothesis, and where.

    counted     the corpus in which words are counted to find the rare ones; None: text
    threshold   links with scores at or below this are no part of the hypothesis, only of the analysis of
                scores; None: all links of hyp are the hypothesis
    top         how many examples of each kind are wanted
    first_line  the number of the first sentence pair
    """
    if not len(hyp) == len(gold) == len(text):
        raise ValueError("hypothesis, gold standard and text differ in their number of sentences")
    if threshold is not None and hyp.scores is None:
        raise ValueError("links without scores have no threshold")
    for links in (hyp, gold):
        if links.outside(text.src.lengths, text.tgt.lengths).any():
            raise ValueError("a link has a word that is not in the text")
    compared = Comparison(hyp, gold, text, counted or text, threshold, first_line)
    scores, n_absent = compared.scores() or (None, 0)
    collectors, n_collectors = examples.collectors(compared, top)
    unlinked, n_unlinked = examples.unlinked(compared, top)
    return Analysis(
        total=compared.parts(("all",), np.zeros_like)[0],
        n_gold=len(compared.gold),
        n_sentences=len(text),
        n_tokens=(len(text.src.ids), len(text.tgt.ids)),
        occurrences=compared.parts(ranges(OCCURRENCES), compared.occurrences),
        kinds=compared.parts(KINDS, compared.kinds),
        kinds_histogram=compared.histogram(KINDS, compared.kinds),
        distances=compared.parts(shares(DISTANCES), compared.distances),
        crossing=compared.parts(("not crossing", "crossing"), compared.crossing),
        src_fertility=compared.histogram(FERTILITIES, lambda codes: compared.many(codes, 0)),
        tgt_fertility=compared.histogram(FERTILITIES, lambda codes: compared.many(codes, 1)),
        jumps=compared.histogram(JUMPS, compared.jumps),
        scores=scores,
        n_absent=n_absent,
        wrong_pairs=examples.word_pairs(compared, compared.wrong, compared.hyp[compared.right], top),
        missed_pairs=examples.word_pairs(compared, compared.missed, compared.sure[compared.found], top),
        collectors=collectors,
        n_collectors=n_collectors,
        unlinked=unlinked,
        n_unlinked=n_unlinked,
        worst=examples.worst(compared, top),
    )

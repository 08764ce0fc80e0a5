"""Examples of what is wrong with links: word pairs, words and sentence pairs, the worst first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aligner.scoring.comparison import Comparison
from aligner.scoring.evaluate import RARE, Ints, among, share

GREEDY = 3  # a rare word of so many links may be a garbage collector
SIDES = ("src", "tgt")


@dataclass(frozen=True)
class WordPair:
    """A word pair that is often wrong, or often missed."""

    src: str
    tgt: str
    times: int  # as an error
    right: int  # how often a link of the word pair is in A and no error
    line: int  # of the first error


@dataclass(frozen=True)
class Collector:
    """A rare word with many links in a sentence, more than the gold standard gives it."""

    side: str  # src or tgt
    word: str
    occurrences: int
    links: int
    gold: int
    linked: tuple[str, ...]  # the words of the other side
    line: int


@dataclass(frozen=True)
class Unlinked:
    """A word that is left without links where the gold standard has a sure one."""

    side: str
    word: str
    occurrences: int
    times: int
    sure: int  # how often the word has a sure link
    line: int  # of the first time


@dataclass(frozen=True)
class Sentence:
    """A sentence pair with its errors. Links are (i, j)."""

    line: int
    links: int
    sure: int
    aer: float
    wrong: tuple[tuple[int, int], ...]
    missed: tuple[tuple[int, int], ...]
    src: tuple[str, ...]
    tgt: tuple[str, ...]


def word_pairs(comparison: Comparison, errors: Ints, good: Ints, top: int) -> tuple[WordPair, ...]:
    """The word pairs of most errors; of equals those that are seldom right, then the first. Sets of codes."""
    n_words = max(1, len(comparison.text.tgt.vocab))

    def keys(codes: Ints) -> Ints:
        src, tgt = comparison.tokens(codes)
        return comparison.text.src.ids[src].astype(np.int64) * n_words + comparison.text.tgt.ids[tgt]

    pairs, first, times = np.unique(keys(errors), return_index=True, return_counts=True)
    known = keys(good)
    right = np.bincount(np.searchsorted(pairs, known[among(known, pairs)]), minlength=len(pairs))
    src, tgt = (side.vocab.words for side in comparison.sides)
    return tuple(
        WordPair(
            src[pairs[n] // n_words],
            tgt[pairs[n] % n_words],
            int(times[n]),
            int(right[n]),
            int(comparison.lines(errors[first[n]])),
        )
        for n in np.lexsort((first, right, -times))[:top]
    )


def collectors(comparison: Comparison, top: int) -> tuple[tuple[Collector, ...], int]:
    """Those with most links beyond the gold standard's; and how many there are."""
    tokens = comparison.tokens(comparison.hyp)
    places = []  # (links beyond the gold standard's, links, side, token), negative: the worst is the lowest
    for k, side in enumerate(comparison.sides):
        n, n_gold = (comparison.fertility(codes, k) for codes in (comparison.hyp, comparison.gold))
        rare = comparison.counts[k][side.ids] <= RARE
        found = np.flatnonzero(rare & (n >= GREEDY) & (n > n_gold))
        columns = (n_gold - n)[found].tolist(), (-n[found]).tolist(), found.tolist()
        places += [(excess, links, k, token) for excess, links, token in zip(*columns, strict=True)]
    answer = []
    for excess, links, k, token in sorted(places)[:top]:
        side, other = comparison.sides[k], comparison.sides[1 - k]
        at = np.flatnonzero(tokens[k] == token)
        word = side.ids[token]
        answer.append(
            Collector(
                SIDES[k],
                side.vocab.words[word],
                int(comparison.counts[k][word]),
                -links,
                excess - links,
                tuple(other.vocab.words[x] for x in other.ids[tokens[1 - k][at]]),
                int(comparison.lines(comparison.hyp[at[0]])),
            )
        )
    return tuple(answer), len(places)


def unlinked(comparison: Comparison, top: int) -> tuple[tuple[Unlinked, ...], int]:
    """The words that are most often left without links; and how many tokens are left so."""
    found = []
    for k, side in enumerate(comparison.sides):
        sure = comparison.fertility(comparison.sure, k) > 0
        left = np.flatnonzero(sure & (comparison.fertility(comparison.hyp, k) == 0))
        n_sure = np.bincount(side.ids[sure], minlength=len(side.vocab))
        words, first, times = np.unique(side.ids[left], return_index=True, return_counts=True)
        lines = np.searchsorted(side.offsets, left[first], side="right") - 1 + comparison.first_line
        for word, n, line in zip(words.tolist(), times.tolist(), lines.tolist(), strict=True):
            name, occurrences = side.vocab.words[word], int(comparison.counts[k][word])
            found.append(Unlinked(SIDES[k], name, occurrences, n, int(n_sure[word]), line))
    found.sort(key=lambda word: (-word.times, word.sure, word.line))
    return tuple(found[:top]), sum(word.times for word in found)


def worst(comparison: Comparison, top: int) -> tuple[Sentence, ...]:
    """The sentence pairs with most errors; of equals those with the higher AER, then the first."""
    coder = comparison.coder
    wrong, missed = comparison.wrong, comparison.missed
    links, sure, n_wrong, n_missed = map(coder.count, (comparison.hyp, comparison.sure, wrong, missed))
    aer = 1 - share(links + sure - n_wrong - n_missed, links + sure)

    def within(errors: Ints, n: int) -> tuple[tuple[int, int], ...]:
        sentence, src, tgt = coder.decode(errors)
        here = sentence == n
        return tuple(zip(src[here].tolist(), tgt[here].tolist(), strict=True))

    return tuple(
        Sentence(
            comparison.first_line + n,
            int(links[n]),
            int(sure[n]),
            float(aer[n]),
            within(wrong, n),
            within(missed, n),
            *(tuple(side.sentence(n)) for side in comparison.sides),
        )
        for n in np.lexsort((-aer, -n_wrong - n_missed))[:top].tolist()
        if n_wrong[n] + n_missed[n]
    )

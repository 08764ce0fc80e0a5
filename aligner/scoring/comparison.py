"""A hypothesis and a gold standard over a text: parts of the links, and how good each part is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from aligner.links.links import Links
from aligner.scoring.evaluate import Coder, Ints, among, occurrences, share
from aligner.text.corpus import Corpus

# The upper ends of parts; a last part has what is above all of them.
OCCURRENCES = (0, 1, 5, 20, 100)  # of the rarer word of a link in the counted text
DISTANCES = (0.05, 0.1, 0.2, 0.4)  # of a link from the diagonal, as a share of the sentences' lengths
SCORES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99)
MOST_LINKS = 4  # words of so many links and more are one bar of a histogram
FAR = 5  # longer jumps are one bar of a histogram

FERTILITIES = (*map(str, range(MOST_LINKS)), f"{MOST_LINKS}+")
KINDS = ("one-to-one", "one-to-many", "many-to-one", "many-to-many")
JUMPS = (f"<-{FAR}", *(f"{n:+d}" if n else "0" for n in range(-FAR, FAR + 1)), f">+{FAR}")


@dataclass(frozen=True)
class Part:
    """How good some of the links are. The part of a link in A is found among A, of one in S among S."""

    name: str
    links: int  # |A|
    right: int  # |A n P|
    sure: int  # |S|
    found: int  # |A n S|

    @property
    def wrong(self) -> int:
        return self.links - self.right

    @property
    def missed(self) -> int:
        return self.sure - self.found

    @property
    def errors(self) -> int:
        return self.wrong + self.missed

    @property
    def precision(self) -> float:
        return _ratio(self.right, self.links)

    @property
    def recall(self) -> float:
        return _ratio(self.found, self.sure)

    @property
    def aer(self) -> float:
        return 1 - _ratio(self.right + self.found, self.links + self.sure)


@dataclass(frozen=True)
class Histogram:
    """How many words, jumps or links of each name there are: in A, in S and in P."""

    names: tuple[str, ...]
    hypothesis: tuple[int, ...]
    sure: tuple[int, ...]
    gold: tuple[int, ...]


@dataclass(frozen=True)
class ScorePart:
    """Links whose scores are above one number, and at most another."""

    above: float | None  # None: no matter how low
    at_most: float | None  # None: no matter how high
    links: int
    right: int
    found: int  # sure links
    mean: float  # of the scores; it equals right / links if scores are calibrated


def _ratio(part: int, whole: int) -> float:
    return float(share(np.array(part), np.array(whole)))


def ranges(ends: Sequence[int]) -> tuple[str, ...]:
    """The names of parts of whole numbers with these upper ends, and of what is above them."""
    starts = [0, *(end + 1 for end in ends)]
    names = [str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=False)]
    return (*names, f"{starts[-1]}+")


def shares(ends: Sequence[float]) -> tuple[str, ...]:
    """The names of parts of real numbers with these upper ends, and of what is above them."""
    names = [f"{a:g}-{b:g}" for a, b in zip((0.0, *ends), ends, strict=False)]
    return (*names, f">{ends[-1]:g}")


class Comparison:
    """A hypothesis and a gold standard over a text.

    hyp, sure, gold  sets of codes, see `Coder`: A, S and P
    right            [|A|] whether a link of A is in P
    found            [|S|] whether a link of S is in A
    wrong, missed    sets of codes: A - P and S - A
    counts           for each side: [n_words] word id -> its number in the counted text

    links: of the hypothesis. Those with scores at or below the threshold are not in A, only in `scores`.
    """

    def __init__(
        self,
        links: Links,
        gold: Links,
        text: Corpus,
        counted: Corpus,
        threshold: float | None = None,
        first_line: int = 1,
    ) -> None:
        self.links, self.text, self.first_line = links, text, first_line
        self.sides = text.src, text.tgt
        self.coder = Coder([links, gold])
        taken = links
        if threshold is not None and links.scores is not None:
            taken = links.chosen(links.scores > threshold)
        answer = self.coder.gold(gold)
        self.hyp, self.sure, self.gold = self.coder.encode(taken), answer.sure, answer.possible
        self.right, self.found = among(self.hyp, self.gold), among(self.sure, self.hyp)
        self.wrong, self.missed = self.hyp[~self.right], self.sure[~self.found]
        self.counts = occurrences(text, counted)

    def tokens(self, codes: Ints) -> tuple[Ints, Ints]:
        """For each side: [n_links] link -> its token in the text"""
        return self.coder.tokens(codes, self.text)

    def lines(self, codes: Ints) -> Ints:
        """[n_links] link -> the line of its sentence pair"""
        return self.first_line + self.coder.decode(codes)[0]

    def parts(self, names: tuple[str, ...], part: Callable[[Ints], Ints]) -> tuple[Part, ...]:
        """How good each part is. part: a set of codes -> the number of each code's part"""
        of_hyp, of_sure = part(self.hyp), part(self.sure)
        columns = (
            np.bincount(parts, minlength=len(names)).tolist()
            for parts in (of_hyp, of_hyp[self.right], of_sure, of_sure[self.found])
        )
        return tuple(Part(name, *counts) for name, *counts in zip(names, *columns, strict=True))

    def histogram(self, names: tuple[str, ...], numbers: Callable[[Ints], Ints]) -> Histogram:
        """numbers: a set of codes -> the number of each thing's name"""
        columns = (
            tuple(np.bincount(numbers(codes), minlength=len(names)).tolist())
            for codes in (self.hyp, self.sure, self.gold)
        )
        return Histogram(names, *columns)

    def occurrences(self, codes: Ints) -> Ints:
        tokens = self.tokens(codes)
        counts = [self.counts[k][self.sides[k].ids[tokens[k]]] for k in range(2)]
        return np.asarray(np.searchsorted(OCCURRENCES, np.minimum(*counts)))

    def fertility(self, codes: Ints, k: int) -> Ints:
        """[n_tokens] token of side k -> number of its links"""
        return np.bincount(self.tokens(codes)[k], minlength=len(self.sides[k].ids))

    def many(self, codes: Ints, k: int) -> Ints:
        """The number of links of each token of side k, for a histogram."""
        return np.minimum(self.fertility(codes, k), MOST_LINKS)

    def kinds(self, codes: Ints) -> Ints:
        """0 one-to-one; 1 if the source word has more links, 2 if the target word has, 3 if both have"""
        src, tgt = (self.fertility(codes, k)[self.tokens(codes)[k]] > 1 for k in range(2))
        return src + 2 * tgt

    def distances(self, codes: Ints) -> Ints:
        """The distance is | (i + 1/2) / I - (j + 1/2) / J |."""
        sentence, src, tgt = self.coder.decode(codes)
        at = (src + 0.5) / self.text.src.lengths[sentence]
        return np.searchsorted(DISTANCES, np.abs(at - (tgt + 0.5) / self.text.tgt.lengths[sentence]))

    def _groups(self, codes: Ints) -> tuple[Ints, Ints, Ints]:
        """Of the source words that have links, in order: first and last link, and link -> source word.

        Codes are in the order of source words, and those of a source word in the order of target words.
        """
        words = codes // self.coder.J
        first = np.flatnonzero(np.diff(words, prepend=-1))
        sizes = np.diff(first, append=len(codes))
        return first, first + sizes - 1, np.repeat(np.arange(len(first)), sizes)

    def jumps(self, codes: Ints) -> Ints:
        """The first j of a source word minus the last j of the source word with links before it."""
        sentence, _, tgt = self.coder.decode(codes)
        first, last, _ = self._groups(codes)
        same = sentence[first[1:]] == sentence[first[:-1]]
        jumps = (tgt[first[1:]] - tgt[last[:-1]])[same]
        return np.asarray(np.clip(jumps, -FAR - 1, FAR + 1) + FAR + 1)

    def crossing(self, codes: Ints) -> Ints:
        """1 if there is a link (i', j') with i' < i and j' > j, or with i' > i and j' < j.

        Target words are numbered through all sentences. So links of other sentences cross none.
        """
        sentence, _, tgt = self.coder.decode(codes)
        at = sentence * self.coder.J + tgt
        first, last, word = self._groups(codes)
        highest = np.maximum.accumulate(np.append(-1, at[last]))  # word -> highest j of all words before
        beyond = self.coder.S * self.coder.J
        lowest = np.minimum.accumulate(np.append(at[first], beyond)[::-1])[::-1]  # lowest j from a word on
        return ((highest[word] > at) | (lowest[word + 1] < at)).astype(np.int64)

    def scores(self) -> tuple[tuple[ScorePart, ...], int] | None:
        """All links by their scores, and the number of sure links without score. None: links have no scores.

        A link that is repeated counts once, with its highest score.
        """
        if self.links.scores is None:
            return None
        codes, scores = self.coder.best(self.links, self.links.scores)
        part = np.searchsorted(SCORES, scores)
        right, found = among(codes, self.gold), among(codes, self.sure)
        parts = []
        for k, (above, at_most) in enumerate(zip((None, *SCORES), (*SCORES, None), strict=True)):
            here = part == k
            n_links, n_right, n_found = (
                int(np.count_nonzero(here & flags)) for flags in (here, right, found)
            )
            mean = float(scores[here].mean()) if n_links else 0.0
            parts.append(ScorePart(above, at_most, n_links, n_right, n_found, mean))
        return tuple(parts), len(self.sure) - int(found.sum())

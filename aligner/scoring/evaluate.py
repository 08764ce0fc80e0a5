"""Links against a gold standard: sentence statistics first, every score from their sums.

With A the hypothesis, S the sure and P the sure and possible links of the gold standard (Och & Ney 2003):

    precision = |A n P| / |A|      recall = |A n S| / |S|
    AER = 1 - (|A n S| + |A n P|) / (|A| + |S|)
    F_alpha = 1 / (alpha / precision + (1 - alpha) / recall)      (Fraser & Marcu 2007; F1 is alpha 0.5)

A share of nothing is 1: no claim, no error. So an empty hypothesis has precision 1, recall 0 and AER 1 where
there are sure links, and AER 0 where there are none.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.errors import DataError
from aligner.links.formats import format_links
from aligner.links.links import Links
from aligner.text.corpus import Corpus

logger = logging.getLogger(__name__)

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Columns of the sentence statistics: |A|, |S|, |P|, |A n S|, |A n P|, one-to-one links of A and of P
COLUMNS = ("links", "sure", "possible", "links_sure", "links_possible", "one_to_one", "gold_one_to_one")
RARE = 5  # a word of at most so many occurrences is rare (Graca et al. 2010, 4.3)


def share(part: Ints, whole: Ints) -> Floats:
    """part / whole, 1 where there is nothing to share."""
    return np.where(whole == 0, 1.0, part / np.maximum(whole, 1))


def rates(a: Ints, s: Ints, a_s: Ints, a_p: Ints, alpha: float) -> dict[str, Floats]:
    """name -> score, from the sizes of A, S, A n S and A n P, which may be arrays."""
    precision, recall = share(a_p, a), share(a_s, s)

    def f(weight: float) -> Floats:
        below = weight * recall + (1 - weight) * precision
        return np.where(below == 0, 0.0, precision * recall / np.where(below == 0, 1.0, below))

    return {
        "aer": 1 - share(a_s + a_p, a + s),
        "precision": precision,
        "recall": recall,
        "f1": f(0.5),
        "f_alpha": f(alpha),
    }


def measures(statistics: Ints, alpha: float) -> dict[str, Floats]:
    """name -> score of each row of statistics [..., 7]."""
    a, s, p, a_s, a_p, one, gold_one = np.moveaxis(statistics, -1, 0)
    shares = {"one_to_one": share(one, a), "gold_one_to_one": share(gold_one, p)}
    return rates(a, s, a_s, a_p, alpha) | shares


@dataclass(frozen=True, eq=False)
class Gold:
    """A gold standard as sorted codes of its links, see `Coder`."""

    sure: Ints
    possible: Ints  # all links, sure or not


def as_set(codes: Ints) -> Ints:
    """The codes in order, each once. A stable sort is quick where codes are in order; np.unique is not."""
    codes = np.sort(codes, kind="stable")
    return codes[np.append(True, codes[1:] != codes[:-1])] if len(codes) else codes


def among(codes: Ints, others: Ints) -> npt.NDArray[np.bool_]:
    """Whether each code is in a sorted set."""
    if len(others) == 0:
        return np.zeros(len(codes), dtype=bool)
    at = np.searchsorted(others, codes)
    return np.asarray(others[np.minimum(at, len(others) - 1)] == codes)


class Coder:
    """Links of several files over the same sentences as int64 codes: (sentence * I + src) * J + tgt.

    I and J are one more than the largest positions. Sets of links are sorted codes without repetition.
    """

    def __init__(self, files: Sequence[Links]) -> None:
        self.S = max(len(links) for links in files)
        self.I, self.J = (
            1 + max((int(x.max()) for x in sides if len(x)), default=0)
            for sides in ([links.src for links in files], [links.tgt for links in files])
        )
        if self.S * self.I * self.J >= 1 << 63:
            raise DataError(
                f"positions up to {self.I} and {self.J} in {self.S} sentences are too many to compare",
                hint="is one of the positions wrong?",
            )

    def codes(self, links: Links) -> Ints:
        """[n_links] the code of each link."""
        return np.asarray((links.sentences * self.I + links.src) * self.J + links.tgt)

    def encode(self, links: Links) -> Ints:
        """The codes of the links, as a set."""
        return as_set(self.codes(links))

    def best(self, links: Links, scores: Floats) -> tuple[Ints, Floats]:
        """The codes of the links, as a set, and their scores: of a repeated link, the highest."""
        codes = self.codes(links)
        order = np.lexsort((-scores, codes))
        codes, scores = codes[order], scores[order]
        once = np.diff(codes, prepend=-1) != 0
        return codes[once], scores[once]

    def decode(self, codes: Ints) -> tuple[Ints, Ints, Ints]:
        """(sentence, src, tgt) of each code."""
        words, tgt = np.divmod(codes, self.J)
        sentence, src = np.divmod(words, self.I)
        return sentence, src, tgt

    def tokens(self, codes: Ints, text: Corpus) -> tuple[Ints, Ints]:
        """For each side: [n_links] link -> its token in the text of the sentences"""
        sentence, src, tgt = self.decode(codes)
        return text.src.offsets[sentence] + src, text.tgt.offsets[sentence] + tgt

    def count(self, codes: Ints) -> Ints:
        """[S] sentence -> number of its links."""
        return np.bincount(codes // (self.I * self.J), minlength=self.S)

    def one_to_one(self, codes: Ints) -> Ints:
        """The links whose words have no other link."""
        sentence, src, tgt = self.decode(codes)
        alone = np.ones(len(codes), dtype=bool)
        for words in (sentence * self.I + src, sentence * self.J + tgt):
            in_order = np.sort(words)
            again = in_order[1:] == in_order[:-1]
            alone &= ~among(words, as_set(in_order[1:][again]))
        return codes[alone]

    def gold(self, links: Links) -> Gold:
        """Sure and possible links; every sure link is possible, whether or not the file lists it twice."""
        if links.sure is None:
            codes = self.encode(links)
            return Gold(codes, codes)
        codes = self.codes(links)
        sure, possible = as_set(codes[links.sure == 1]), as_set(codes[links.sure == 0])
        n_repeated = int(among(sure, possible).sum())
        if 0 < n_repeated < len(sure):
            logger.warning(
                "%d of %d sure links are not listed as possible, as the others are: they count as possible",
                len(sure) - n_repeated,
                len(sure),
            )
        return Gold(sure, np.union1d(sure, possible))

    def statistics(self, hyp: Ints, gold: Gold) -> Ints:
        """[S, 7] sentence -> COLUMNS"""
        sets = (
            hyp,
            gold.sure,
            gold.possible,
            hyp[among(hyp, gold.sure)],
            hyp[among(hyp, gold.possible)],
            self.one_to_one(hyp),
            self.one_to_one(gold.possible),
        )
        return np.stack([self.count(codes) for codes in sets], axis=1)


def resample(statistics: Ints, n_samples: int, seed: int) -> Ints:
    """[n_samples, columns] sums of statistics [S, columns] over S sentences drawn with replacement.

    Sentences of equal statistics are one kind. How often each kind is drawn is multinomial.
    """
    from tqdm import tqdm  # 25 ms that most commands can do without

    kinds, n = np.unique(statistics, axis=0, return_counts=True)
    random = np.random.default_rng(seed)
    sums = np.empty((n_samples, statistics.shape[1]), dtype=np.int64)
    quick = True if len(kinds) * n_samples < 10**8 else None  # None: a bar if stderr is a terminal
    for b in tqdm(range(n_samples), desc="bootstrap", disable=quick, leave=False):
        sums[b] = random.multinomial(n.sum(), n / n.sum()) @ kinds
    return sums


@dataclass(frozen=True, eq=False)
class Overlap:
    """How far a hypothesis and the gold standard have the same things, as phrase pairs are.

    statistics  [S, 3]  sentence -> things of the hypothesis, things of the gold standard, things of both
    scores      precision, recall and f1 -> value
    intervals   as of Result
    """

    statistics: Ints
    scores: dict[str, float]
    intervals: dict[str, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Result:
    """The scores of one hypothesis.

    statistics  [S, 7]  sentence -> COLUMNS
    scores      name -> value, see `measures`
    intervals   name -> (low, high) around `level` percent of the bootstrap samples; empty without samples
    rare        name -> value for links with a rare word; None without text
    common      name -> value for all other links; None without text
    phrases     of phrase pairs; None if they are not compared
    """

    statistics: Ints
    scores: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    rare: dict[str, float] | None
    common: dict[str, float] | None
    phrases: Overlap | None = None


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What `evaluate` finds: a result for each hypothesis, and how two hypotheses compare.

    gold_hash  eight hexadecimal digits that name the gold standard
    p_value    of the difference in AER, by paired bootstrap: the share of resampled differences that are at
               least as far from their mean as the observed difference is from 0
    symmetry   |A n B| / |A u B| of the two hypotheses
    """

    results: list[Result]
    gold_hash: str
    p_value: float | None = None
    symmetry: float | None = None


def evaluate(
    hyps: Sequence[Links],
    gold: Links,
    *,
    alpha: float = 0.4,
    n_samples: int = 1000,
    seed: int = 1,
    level: float = 95.0,
    text: Corpus | None = None,
    counted: Corpus | None = None,
) -> Evaluation:
    """Scores of one hypothesis, or of two and their comparison. All have the gold standard's sentences.

    text     the sentences; None: scores are not split by rare and common words
    counted  the corpus in which words are counted to find the rare ones; None: text
    """
    if any(len(links) != len(gold) for links in hyps):
        raise ValueError("hypotheses and gold standard differ in their number of sentences")
    coder = Coder([*hyps, gold])
    answer = coder.gold(gold)
    codes = [coder.encode(links) for links in hyps]
    tables = [coder.statistics(hyp, answer) for hyp in codes]
    drawn = None
    if n_samples and len(gold):
        sums = resample(np.hstack(tables), n_samples, seed).reshape(n_samples, len(hyps), len(COLUMNS))
        drawn = measures(sums, alpha)  # name -> [n_samples, hypotheses]
    is_rare = None if text is None else _rarity(text, counted or text, coder)
    results = []
    for k, (hyp, table) in enumerate(zip(codes, tables, strict=True)):
        intervals = {}
        if drawn is not None:
            intervals = {name: _interval(values[:, k], level) for name, values in drawn.items()}
        rare = common = None
        if is_rare is not None:
            sets = hyp, answer.sure, answer.possible
            rare, common = (
                _scores(coder.statistics(a, Gold(s, p)), alpha)
                for a, s, p in ([x[is_rare(x)] for x in sets], [x[~is_rare(x)] for x in sets])
            )
        results.append(Result(table, _scores(table, alpha), intervals, rare, common))
    p_value = symmetry = None
    if len(hyps) == 2:
        n_both = int(among(codes[0], codes[1]).sum())
        n_either = len(codes[0]) + len(codes[1]) - n_both
        symmetry = float(share(np.array(n_both), np.array(n_either)))
        if drawn is not None:
            change = drawn["aer"][:, 1] - drawn["aer"][:, 0]
            seen = abs(results[1].scores["aer"] - results[0].scores["aer"])
            n_beyond = int((np.abs(change - change.mean()) >= seen).sum())
            p_value = (n_beyond + 1) / (n_samples + 1)
    return Evaluation(results, _gold_hash(coder, answer), p_value, symmetry)


def overlap(statistics: Ints, *, n_samples: int = 1000, seed: int = 1, level: float = 95.0) -> Overlap:
    """The scores of things that a hypothesis and the gold standard have. statistics: as of Overlap"""
    scores = {name: float(x) for name, x in overlap_rates(statistics.sum(axis=0)).items()}
    intervals = {}
    if n_samples and len(statistics):
        drawn = overlap_rates(resample(statistics, n_samples, seed))
        intervals = {name: _interval(values, level) for name, values in drawn.items()}
    return Overlap(statistics, scores, intervals)


def overlap_rates(statistics: Ints) -> dict[str, Floats]:
    """precision, recall and f1 of each row of statistics [..., 3]."""
    found, gold, both = np.moveaxis(statistics, -1, 0)
    scores = rates(found, gold, both, both, 0.5)
    return {name: scores[name] for name in ("precision", "recall", "f1")}


def _interval(values: Floats, level: float) -> tuple[float, float]:
    """What is around `level` percent of the values."""
    low, high = np.percentile(values, [(100 - level) / 2, (100 + level) / 2])
    return float(low), float(high)


def _scores(statistics: Ints, alpha: float) -> dict[str, float]:
    """Corpus scores from the sum of sentence statistics."""
    return {name: float(x) for name, x in measures(statistics.sum(axis=0), alpha).items()}


def _rarity(text: Corpus, counted: Corpus, coder: Coder) -> Callable[[Ints], npt.NDArray[np.bool_]]:
    """A function: codes -> whether one of each link's words is rare. A word never counted is rare."""
    by_word = occurrences(text, counted)
    rare = [n[side.ids] <= RARE for n, side in zip(by_word, (text.src, text.tgt), strict=True)]

    def is_rare(codes: Ints) -> npt.NDArray[np.bool_]:
        src, tgt = coder.tokens(codes, text)
        return np.asarray(rare[0][src] | rare[1][tgt])

    return is_rare


def occurrences(text: Corpus, counted: Corpus) -> list[Ints]:
    """For each side: [n_words] word id of the text -> its number in the counted text"""
    sides = (text.src, counted.src), (text.tgt, counted.tgt)
    return [np.append(source.counts, 0)[source.vocab.find(side.vocab.words)] for side, source in sides]


def _gold_hash(coder: Coder, gold: Gold) -> str:
    """Eight hexadecimal digits that name a gold standard: SHA-256 of its sorted lines in gold format."""
    sentence, src, tgt = coder.decode(gold.possible)
    offsets = np.zeros(coder.S + 1, dtype=np.int64)
    np.cumsum(np.bincount(sentence, minlength=coder.S), out=offsets[1:])
    sure = among(gold.possible, gold.sure).astype(np.uint8)
    links = Links(offsets, src.astype(np.int32), tgt.astype(np.int32), sure)
    return hashlib.sha256(format_links(links, "gold")).hexdigest()[:8]

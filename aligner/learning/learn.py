"""A combiner learned from labelled sentences, and how good it is on sentences that were held out."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner import arguments
from aligner.decoding.combine import above
from aligner.decoding.model import Model
from aligner.errors import DataError
from aligner.learning.candidates import Candidates, candidates
from aligner.learning.classifier import Classifier, fit
from aligner.learning.combiner import Combiner, check_recipe, name_of, said, score
from aligner.learning.features import features
from aligner.learning.indicators import Indicators
from aligner.learning.margin import STRUCTURES
from aligner.learning.spelling import Spelling
from aligner.learning.structured import Structured, fit_structured
from aligner.links.links import Links
from aligner.scoring.evaluate import Evaluation, evaluate
from aligner.text.corpus import SEED, Corpus, Pairs, text_hash

logger = logging.getLogger(__name__)

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

FEWEST = 20  # sentence pairs that a combiner is learned from
FEW = 75  # of fewer sentence pairs weights are kept smaller
PENALTY = 10.0
PENALTY_OF_FEW = 100.0
PENALTY_OF_STRUCTURE = 100.0
FOLDS = 5


@dataclass(frozen=True)
class How:
    """How a combiner is learned.

    passes     1, or 2: a second classifier sees what the first one says of the neighbours
    penalty    of squared weights; None: PENALTY, PENALTY_OF_FEW or PENALTY_OF_STRUCTURE
    words      whether words and word pairs have indicators
    folds      parts that are held out in turn
    structure  none: each link is classified by itself; one of STRUCTURES (learning/margin.py): the weights of
               whole alignments are learned, of features alone
    """

    passes: int = 2
    penalty: float | None = None
    words: bool = True
    folds: int = FOLDS
    structure: str = "none"

    def __post_init__(self) -> None:
        arguments.number("passes", self.passes, 1, 2, whole=True)
        arguments.number("folds", self.folds, 2, 100, whole=True)
        arguments.choice("structure", self.structure, ("none", *STRUCTURES))
        arguments.instance("words", self.words, bool, "True or False")
        if self.penalty is not None:
            arguments.number("penalty", self.penalty, 1e-6, 1e6)

    def of(self, n_pairs: int) -> How:
        """The penalty chosen for a number of sentence pairs, if it is None."""
        usual = PENALTY_OF_FEW if n_pairs < FEW else PENALTY
        if self.structure != "none":
            usual = PENALTY_OF_STRUCTURE
        return replace(self, penalty=usual if self.penalty is None else self.penalty)


@dataclass(frozen=True, eq=False)
class Fit:
    """A classifier, and the indicators that it has.

    found: [3, n] which of them the candidates of the labelled text have
    """

    words: Indicators
    found: Ints
    classifier: Classifier

    def said(self, x: Reals, which: Bools, n_threads: int) -> Doubles:
        """[C, .] class probabilities of some candidates with features x [F, n]. which: [n]"""
        return self.classifier.probabilities(_some(x, which), _some(self.found, which), n_threads)


@dataclass(frozen=True, eq=False)
class Labelled:
    """Candidates of a labelled text.

    x       [F, n]  their features
    labels  [n]     0 neither, 1 possible, 2 sure; without possible links: 0 neither, 1 sure
    """

    corpus: Corpus
    these: Candidates
    x: Reals
    labels: Ints
    n_classes: int

    @staticmethod
    def of(model: Model, corpus: Corpus, gold: Links, n_threads: int) -> Labelled:
        spelling = Spelling(corpus)
        parts, columns = [], []
        for _, some in candidates(model, corpus, n_threads):
            parts.append(some)
            columns.append(features(some, spelling, n_threads))
        these = Candidates.joined(parts)
        sure, possible = _marked(these, gold)
        n_classes = 3 if (possible & ~sure).any() else 2
        labels = np.where(sure, n_classes - 1, possible & (n_classes == 3)).astype(np.int32)
        return Labelled(corpus, these, np.concatenate(columns, axis=1), labels, n_classes)

    def fit(self, x: Reals, which: Bools, how: How, n_threads: int) -> Fit:
        """A classifier of some candidates, by features x [F, n] and indicators. which: [n]"""
        e, f = self.these.e, self.these.f
        words = Indicators.of(self.corpus, e[which], f[which]) if how.words else Indicators.none()
        found = words.found(words.numbers(self.corpus), e, f)
        assert how.penalty is not None
        some = _some(x, which), _some(found, which), len(words), self.labels[which]
        return Fit(words, found, fit(*some, self.n_classes, how.penalty, n_threads))

    def learn(self, how: How, n_threads: int) -> tuple[Fit, Fit | None, Doubles]:
        """(the first pass, the second one, [C, n] cross-validated class probabilities).

        The sentence pairs are cut into parts. A second pass sees what first passes say that were learned
        without the part in question. Cross-validation learns all passes without a part, and applies them to
        it: its second pass sees what first passes say that were learned without two parts.
        """
        part = parts(len(self.corpus), how.folds)[self.these.sentences]
        known: dict[tuple[int, ...], Fit] = {}

        def first(*without: int) -> Fit:
            if without not in known:
                known[without] = self.fit(self.x, ~np.isin(part, without), how, n_threads)
            return known[without]

        def second(*without: int) -> Fit | None:
            if how.passes == 1:
                return None
            scores = np.zeros(len(part))
            for k in sorted(set(range(how.folds)) - set(without)):
                here = part == k
                scores[here] = score(first(*sorted((*without, k))).said(self.x, here, n_threads))
            return self.fit(self._more(scores, n_threads), ~np.isin(part, without), how, n_threads)

        p = np.zeros((self.n_classes, len(part)))
        for k in range(how.folds):
            here = part == k
            p[:, here] = first(k).said(self.x, here, n_threads)
            if (again := second(k)) is not None:
                scores = np.where(here, score(p), 0)
                p[:, here] = again.said(self._more(scores, n_threads), here, n_threads)
        return first(), second(), p

    def learn_structured(self, how: How, n_threads: int) -> tuple[Structured, Bools]:
        """(what is learned of the whole text, [n] which candidates are links if their part is held out)."""
        assert how.penalty is not None
        given = how.structure, how.penalty, n_threads
        part = parts(len(self.corpus), how.folds)
        chosen = np.zeros(len(self.these), dtype=bool)
        for k in range(how.folds):
            (others, x, labels), (held_out, y, _) = (self._of(which) for which in (part != k, part == k))
            learned = fit_structured(others, x, labels, *given)
            chosen[(part == k)[self.these.sentences]] = learned.chosen(held_out, y, n_threads)
        these, x, labels = self._of(part >= 0)
        return fit_structured(these, x, labels, *given), chosen

    def _of(self, which: Bools) -> tuple[Candidates, Reals, npt.NDArray[np.int8]]:
        """Candidates of some sentence pairs, their features, and their labels: 2 for sure. which: [S]"""
        inside = which[self.these.sentences]
        labels = np.where(self.labels == self.n_classes - 1, 2, self.labels)[inside]
        return self.these.select(which), _some(self.x, inside), labels.astype(np.int8)

    def _more(self, scores: Doubles, n_threads: int) -> Reals:
        """The features of a second pass. scores: [n] what a first pass says"""
        return np.concatenate([self.x, said(self.these, scores, n_threads)])

    def links(self, scores: Doubles) -> Links:
        """The candidates as links."""
        return Links(self.these.offsets, self.these.src, self.these.tgt, scores=scores)


@dataclass(frozen=True, eq=False)
class Learned:
    """A combiner, and how it compares on the labelled text, where each sentence pair was held out once.

    compared  the model alone, and with the combiner
    """

    combiner: Combiner
    compared: Evaluation

    @property
    def better(self) -> bool:
        """Whether the combiner makes fewer errors than the model alone."""
        plain, learned = (result.scores["aer"] for result in self.compared.results)
        return learned < plain


def learn_combiner(
    model: Model,
    text: Corpus | Pairs,
    gold: Links,
    *,
    force: bool = False,
    n_threads: int = 1,
    **settings: Any,
) -> Learned:
    """A combiner for a model, learned from a text and its gold links.

    The text is lower-cased if the model's was, and split as the model's was. A sentence pair that is too long
    teaches nothing.

    force     learns from fewer than 20 sentence pairs, too
    settings  passes, penalty, words, folds and structure, as of `aligner learn`
    """
    arguments.instance("model", model, Model, "a Model")
    arguments.instance("gold", gold, Links, "Links")
    arguments.threads(n_threads)
    model.check_trained()
    check_recipe(model.recipe, "the model")
    whole = Corpus.of(text, model.recipe.lowercase, model.recipe.split)
    _check(whole, gold, force)
    _warn_of_unlabelled(whole, gold)
    corpus = whole.bounded()
    how = How(**settings).of(len(corpus))
    sample = Labelled.of(model, corpus, gold, n_threads)
    if not 0 < np.count_nonzero(sample.labels) < len(sample.labels):
        raise DataError(
            "the model finds none of the gold links likely, or nothing else",
            hint="is the gold of this text, and are its sides in this order?",
        )
    views = model.recipe.views
    if how.structure == "none":
        first, second, p = sample.learn(how, n_threads)
        passes = [one.classifier for one in (first, second) if one is not None]
        combiner = Combiner(views, first.words, passes, least_expected_aer(score(p), p[-1].sum()))
        held_out = above(sample.links(score(p)), combiner.threshold)
    else:
        structured, chosen = sample.learn_structured(how, n_threads)
        combiner = Combiner(views, Indicators.none(), [], 0.5, structured=structured)
        held_out = sample.links(chosen.astype(np.float64)).chosen(chosen)
    compared = evaluate([model.align(corpus, n_threads=n_threads), held_out], gold)
    facts = {
        "pairs": len(corpus),
        "links": len(gold.src),
        "text": text_hash(corpus),
        "gold": compared.gold_hash,
        "model": name_of(model),
        "penalty": how.penalty,
        "structure": how.structure,
        "aer": [result.scores["aer"] for result in compared.results],
    }
    return Learned(replace(combiner, facts=facts), compared)


def parts(n_pairs: int, n: int) -> Ints:
    """[n_pairs] one of n parts for each sentence pair, at random, but always the same ones."""
    found = np.empty(n_pairs, dtype=np.int32)
    found[np.random.RandomState(SEED).permutation(n_pairs)] = np.arange(n_pairs) % n
    return found


def _some(x: npt.NDArray[Any], which: Bools) -> npt.NDArray[Any]:
    """Some columns, as kernels take them."""
    return np.ascontiguousarray(x[:, which])


def least_expected_aer(scores: Doubles, n_sure: float) -> float:
    """The threshold of least expected AER.

    scores  [n]  (pS + pP) / 2 of candidates: pS is the probability to be sure, pP to be sure or possible
    n_sure  the sum of pS

    AER = 1 - sum (pS + pP) / (links + sum pS), sums over the links above the threshold. The threshold is in
    the middle between the least score above and the next one.
    """
    falling = np.sort(scores)[::-1]
    if len(falling) == 0:
        return 0.5
    right = 2 * np.cumsum(falling) / (np.arange(1, len(falling) + 1) + n_sure)
    right[:-1][falling[1:] == falling[:-1]] = -1  # equal scores are taken together
    best = int(np.argmax(right))
    below = falling[best + 1] if best + 1 < len(falling) else 0.0
    return float(falling[best] + below) / 2


def _marked(these: Candidates, gold: Links) -> tuple[Bools, Bools]:
    """[n] which candidates are sure, and which are sure or possible."""
    gold = gold.chosen(~gold.outside(*these.lengths))  # a sentence pair that is too long has no cells
    begin = np.concatenate([[0], np.cumsum(these.lengths[0] * these.lengths[1])])
    links = begin[gold.sentences] + gold.src * these.lengths[1][gold.sentences] + gold.tgt
    sure = np.ones(len(links), dtype=bool) if gold.sure is None else gold.sure == 1
    return np.isin(these.cells, links[sure]), np.isin(these.cells, links)


def _warn_of_unlabelled(corpus: Corpus, gold: Links) -> None:
    """Says so if gold links look as if some sentence pairs had not been labelled."""
    wordy = (corpus.src.lengths > 0) & (corpus.tgt.lengths > 0)
    without = int((wordy & (np.diff(gold.offsets) == 0)).sum())
    if without:
        logger.warning(
            "%d of %d sentence pairs have no gold links, which teaches that nothing of them is linked: leave"
            " out those that are not labelled",
            *(without, len(corpus)),
        )


def _check(corpus: Corpus, gold: Links, force: bool) -> None:
    """Refuses gold links that are not of the text, or that nothing can be learned from."""
    if len(gold) != len(corpus):
        raise DataError(
            f"the text has {len(corpus)} sentence pairs, the gold has {len(gold)}",
            hint="give the gold links of this text, line by line",
        )
    if gold.outside(corpus.src.lengths, corpus.tgt.lengths).any():
        raise DataError("a gold link is outside its sentence pair", hint="is the gold of this text?")
    if gold.n_sure == 0:
        raise DataError("there are no sure links among the gold links", hint="AER needs some")
    if len(corpus) < FEWEST and not force:
        raise DataError(
            f"{len(corpus)} sentence pairs are too few to learn from: {FEWEST} are needed, 200 are good",
            hint="label more sentence pairs, or allow so few",
            setting="force",
        )

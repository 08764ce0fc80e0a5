"""A combiner: what was learned from labelled sentences, to score links of any text with a model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, TypedDict

import numpy as np
import numpy.typing as npt

from aligner import arguments, store
from aligner.decoding.combine import above, at_most, fertility_of
from aligner.decoding.model import Model
from aligner.decoding.posteriors import check_not_given
from aligner.decoding.tuned import FACT as TUNED
from aligner.errors import DataError
from aligner.learning import _surroundings
from aligner.learning.candidates import Candidates, candidates
from aligner.learning.classifier import SMALLEST, Classifier, Scale
from aligner.learning.features import COMPETITION, NEAR, competition, features, log_odds, names
from aligner.learning.indicators import Indicators
from aligner.learning.polytope import PATTERNS
from aligner.learning.spelling import Spelling
from aligner.learning.structured import Structured
from aligner.learning.weights import Weights
from aligner.links.known import known_of
from aligner.links.links import Links
from aligner.models.recipe import Recipe
from aligner.text.cells import cell_offsets
from aligner.text.corpus import Corpus, Pairs, warn_of_long
from aligner.text.sides import Vocab
from aligner.threads import useful

Ints = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

KIND = "combiner"
MOST_PASSES = 2
PENALTIES = ("src_penalties", "tgt_penalties")
LARGEST = 1e6  # no weight is larger


class Header(TypedDict):
    """All of a header.

    features  of the first pass, in their order
    classes   2: neither and sure; 3: neither, possible and sure
    passes    classifiers; 0 of a structured combiner
    counts    indicators of source words and of target words
    facts     what the combiner was learned from
    """

    views: list[str]
    features: list[str]
    classes: int
    passes: int
    counts: tuple[int, int]
    threshold: float
    facts: dict[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Combiner:
    """Classifiers of candidate links, one after another: the second one sees what the first one says.

    views       of the models that it is for
    indicators  of words and word pairs
    passes      one classifier, or two; none of a structured combiner
    threshold   links that score above it are kept
    facts       what it was learned from
    structured  weights of whole alignments, in place of classifiers. The links of the best alignment score 1
    """

    views: tuple[str, ...]
    indicators: Indicators
    passes: Sequence[Classifier]
    threshold: float
    facts: dict[str, Any] = field(default_factory=dict)
    structured: Structured | None = None

    def __repr__(self) -> str:
        pairs = self.facts.get("pairs", 0)
        return f"Combiner(views {','.join(self.views)}, learned from {pairs} sentence pairs)"

    def align(
        self,
        model: Model,
        text: Corpus | Pairs,
        *,
        threshold: float | None = None,
        decode: str = "threshold",
        max_fertility: int | None = None,
        links: Links | None = None,
        n_threads: int = 1,
    ) -> Links:
        """Links of sentence pairs. Arguments are those of Model.align; threshold None is the combiner's."""
        arguments.instance("model", model, Model, "a Model")
        fertility = fertility_of(decode, max_fertility)
        arguments.threads(n_threads)
        limit = self.threshold if threshold is None else arguments.number("threshold", threshold, 0, 1)
        corpus = Corpus.of(text, model.recipe.lowercase, model.recipe.split)
        warn_of_long(corpus.long_pairs())
        known = known_of(links, None, corpus)
        if fertility is not None:
            check_not_given(known)
        blocks = (above(x, limit) for x in self.scores(model, corpus, known=known, n_threads=n_threads))
        return Links.joined(
            x if fertility is None else at_most(x, fertility, limit, n_threads) for x in blocks
        )

    def scores(self, model: Model, corpus: Corpus, *, n_threads: int = 1, **settings: Any) -> Iterator[Links]:
        """Scored links of a text, a block of sentence pairs at a time.

        A score is the mean of the probabilities to be sure, and to be sure or possible.
        settings: those of decoding.posteriors.blocks
        """
        model.check_trained()
        self.check_recipe(model.recipe)
        corpus = corpus.bounded()
        n_threads = useful(n_threads, int(cell_offsets(corpus)[-1]))
        words = Words(self.indicators, corpus)
        slow = self.structured is not None and self.structured.solves_programs

        def scored(some: Candidates) -> Doubles:
            x = features(some, words.spelling, 1)
            if self.structured is not None:
                return self.structured.chosen(some, x, 1).astype(np.float64)
            return score(self.classify(some, x, words.found(some), 1))

        with ThreadPoolExecutor(n_threads) as pool:
            for block, these in candidates(model, corpus, n_threads, **settings):
                scores = np.zeros(block.shards[0].n_cells, dtype=np.float32)
                parts = pool.map(scored, these.in_parts(slow))
                scores[these.cells] = np.concatenate([np.empty(0), *parts])
                block.assert_known(scores)
                yield block.links(scores, n_threads)

    def classify(self, these: Candidates, x: Reals, indicators: Ints, n_threads: int) -> Doubles:
        """[C, n] class probabilities of candidates with features x [F, n] and indicators [3, n]."""
        p = self.passes[0].probabilities(x, indicators, n_threads)
        for classifier in self.passes[1:]:
            told = said(these, score(p), n_threads)
            p = classifier.probabilities(np.concatenate([x, told]), indicators, n_threads)
        return p

    def check_recipe(self, recipe: Recipe, name: str = "the model") -> None:
        """Refuses models that the combiner is not for. name: of the model, for messages"""
        check_recipe(recipe, name)
        if recipe.views != self.views:
            raise DataError(
                f"the combiner is for models with the views {', '.join(self.views)};"
                f" {name} has {', '.join(recipe.views)}",
                hint="learn a combiner for this model, or train a model with the same views",
            )

    def heaviest(self, n: int) -> list[tuple[str, float]]:
        """The features of the first pass with the largest weights for sure links against neither."""
        known = names(self.views)
        if self.structured is not None:
            lead = self.structured.weights.features[: len(known)]
        else:
            weights = self.passes[0].weights[: len(known)]
            lead = weights[:, -1] - weights[:, 0]
        order = np.argsort(-np.abs(lead), kind="stable")[:n]
        return [(known[k], float(lead[k])) for k in order]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Combiner:
        """A combiner from a file. A file that is damaged, or says what cannot be, is refused."""
        arguments.instance("path", path, (str, os.PathLike), "the name of a file")
        header, arrays = store.read(path, lambda name: True, KIND)
        try:
            return cls._restored(header, arrays)
        except ValueError as error:
            raise DataError(
                f"the combiner is not as aligner writes it: {error}",
                file=os.fspath(path),
                hint=store.again(KIND),
            ) from None

    @classmethod
    def _restored(cls, header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Combiner:
        store.check_form(header, Header, "header")
        views = tuple(header["views"])
        if header["features"] != names(views):
            raise ValueError("it has other features than this version of aligner")
        n_src, n_tgt = header["counts"]
        if header["classes"] not in (2, 3) or not 0 <= header["passes"] <= MOST_PASSES:
            raise ValueError(f"{header['passes']} passes of {header['classes']} classes cannot be")
        if not 0 <= header["threshold"] <= 1:
            raise ValueError("the threshold must be between 0 and 1")
        n_indicators = n_src + n_tgt + store.size_of(arrays, "pairs")
        forms: dict[str, tuple[type, tuple[int, ...]]] = {"pairs": (np.int64, (-1,))}
        for side in ("src", "tgt"):
            forms |= {f"{side}.text": (np.uint8, (-1,)), f"{side}.offsets": (np.int64, (-1,))}
        scaled = [str(n) for n in range(header["passes"])] or ["structured"]
        for n, name in enumerate(scaled):
            n_features = len(header["features"]) + (len(SAID) if n else 0)
            forms |= {f"{name}.{x}": (np.float32, (n_features,)) for x in ("mean", "deviation")}
            forms[f"{name}.weights"] = (np.float64, (n_features + 1 + n_indicators, header["classes"]))
        if not header["passes"]:
            forms["structured.weights"] = (np.float64, (len(header["features"]) + 1,))
            forms |= {f"structured.{x}": (np.float64, (-1,)) for x in PENALTIES}
            forms["structured.pattern_scores"] = (np.float64, (len(PATTERNS),))
        store.check_arrays(arrays, forms)
        for name in scaled:
            for x, least in (("mean", -LARGEST), ("deviation", float(SMALLEST)), ("weights", -LARGEST)):
                store.check_bounds(arrays, f"{name}.{x}", least, LARGEST)
        src, tgt = (
            Vocab.restored(side, arrays[f"{side}.text"], arrays[f"{side}.offsets"]) for side in ("src", "tgt")
        )
        if not (0 <= n_src <= len(src) and 0 <= n_tgt <= len(tgt)):
            raise ValueError("more words have indicators than there are")
        store.check_bounds(arrays, "pairs", 0, len(src) * len(tgt) - 1)
        if not (np.diff(arrays["pairs"]) > 0).all():
            raise ValueError("the pairs of indicators do not rise")
        indicators = Indicators(src, tgt, n_src, n_tgt, arrays["pairs"])

        def scale(name: str) -> Scale:
            return Scale(arrays[f"{name}.mean"], arrays[f"{name}.deviation"])

        structured, passes = None, []
        if header["passes"]:
            passes = [Classifier(scale(name), arrays[f"{name}.weights"]) for name in scaled]
        else:
            for name in (*PENALTIES, "pattern_scores"):
                store.check_bounds(arrays, f"structured.{name}", 0, LARGEST)
            parts = [arrays[f"structured.{name}"] for name in ("weights", *PENALTIES, "pattern_scores")]
            structured = Structured(scale("structured"), Weights(parts[0], parts[1], parts[2], parts[3]))
            if any((np.diff(arrays[f"structured.{name}"]) < 0).any() for name in PENALTIES):
                raise ValueError("penalties of later links fall")
        return cls(views, indicators, passes, header["threshold"], header["facts"], structured)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Writes the combiner to one file."""
        arguments.instance("path", path, (str, os.PathLike), "the name of a file")
        with store.open_new(path, overwrite, KIND) as out:
            self.write(out)

    def write(self, out: BinaryIO) -> None:
        """Writes the combiner to a file of store.open_new."""
        arrays: dict[str, npt.NDArray[Any]] = {"pairs": self.indicators.pairs}
        for side, vocab in (("src", self.indicators.src), ("tgt", self.indicators.tgt)):
            arrays[f"{side}.text"] = np.frombuffer(vocab.text, dtype=np.uint8)
            arrays[f"{side}.offsets"] = vocab.offsets
        for n, classifier in enumerate(self.passes):
            arrays |= _scaled(str(n), classifier.scale) | {f"{n}.weights": classifier.weights}
        if self.structured is not None:
            weights = self.structured.weights
            arrays |= _scaled("structured", self.structured.scale) | {"structured.weights": weights.features}
            arrays |= {f"structured.{x}": getattr(weights, x) for x in (*PENALTIES, "pattern_scores")}
        header = {
            "kind": KIND,
            "views": list(self.views),
            "features": names(self.views),
            "classes": self.passes[0].weights.shape[1] if self.passes else 2,
            "passes": len(self.passes),
            "counts": [self.indicators.n_src, self.indicators.n_tgt],
            "threshold": self.threshold,
            "facts": self.facts,
        }
        store.write_to(out, header, arrays)


class Words:
    """The words of a text as a combiner sees them."""

    def __init__(self, indicators: Indicators, corpus: Corpus) -> None:
        self.indicators, self.spelling = indicators, Spelling(corpus)
        self.numbers = indicators.numbers(corpus)

    def found(self, these: Candidates) -> Ints:
        """[3, n] the indicators of candidates."""
        return self.indicators.found(self.numbers, these.e, these.f)


def _scaled(name: str, scale: Scale) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a scale in a file."""
    return {f"{name}.mean": scale.mean, f"{name}.deviation": scale.deviation}


SAID = ("score", "log-odds", *COMPETITION, *NEAR)


def said(these: Candidates, scores: Doubles, n_threads: int) -> Reals:
    """[len(SAID), n] what a pass says of a candidate, of those of the same words, and of its neighbours."""
    values = scores.astype(np.float32)
    around = _surroundings.surroundings(these.offsets, these.src, these.tgt, values, n_threads)
    told = np.array([values, log_odds(values), *competition(values, around)])
    return np.concatenate([told, around[-len(NEAR) :]])


def score(p: Doubles) -> Doubles:
    """[n] the mean of the probabilities to be sure, and to be sure or possible. p: [C, n]"""
    return np.asarray(np.minimum(1, (p[-1] + p[1:].sum(axis=0)) / 2))


def name_of(model: Model) -> str:
    """What a combiner calls the model that it was learned with: the same before and after tuning."""
    return replace(model, facts={key: x for key, x in model.facts.items() if key != TUNED}).checksum


def check_recipe(recipe: Recipe, name: str) -> None:
    """Refuses models of one direction. name: of the model, for messages"""
    if recipe.direction != "both":
        raise DataError(
            f"a combiner is for models of both directions, and {name} was trained {recipe.direction} only",
            hint="train both directions",
        )

"""Accuracy on generated text and on Hansards: it cannot decay unseen."""

from __future__ import annotations

import gzip
import itertools
from functools import cache

import numpy as np
import pytest
from conftest import shared_folder
from trained import generated, links_of

from aligner import LinkReader, Links, Model, Recipe, train
from aligner.decoding.combine import above
from aligner.models.kinds import MODELS
from aligner.scoring.evaluate import evaluate
from aligner.text.corpus import Corpus


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return generated()


@cache
def learned(name: str) -> Model:
    """A model of the generated text, by its usual recipe."""
    return train(generated(), Recipe.of(name), n_threads=2)


def test_rare_words_do_not_collect_garbage(corpus, data):
    """Graca et al. (2010), section 4.3: precision of links of rare words under S-HMM well above the HMM's."""
    gold = LinkReader(str(data / "generated.gold")).read()
    counts = corpus.src.counts
    rare = counts[corpus.src.ids] <= 2

    def precision(model) -> float:
        forward = above(links_of(model, corpus)[0], 0.5)
        truth = {(n, link) for n, part in enumerate(gold.pairs()) for link in part}
        kept = [
            (n, (i, j)) in truth
            for n, part in enumerate(forward.pairs())
            for i, j in part
            if rare[corpus.src.offsets[n] + i]
        ]
        return float(np.mean(kept))

    hmm, shmm = (precision(learned(name)) for name in ("hmm", "shmm"))
    assert shmm > hmm + 0.15, (hmm, shmm)


def test_accuracy_on_generated_text(corpus, data):
    gold = LinkReader(str(data / "generated.gold")).read()
    limits = {"loo": 0.042, "ibm1": 0.2, "hmm": 0.1, "bhmm": 0.04, "shmm": 0.041, "agree": 0.044}
    limits |= {"surrogate": 0.05, "convex": 0.05, "ibm2": 0.1, "diagonal": 0.08}
    found = {}
    for name in MODELS:
        links = learned(name).align(corpus)
        found[name] = evaluate([links], gold, n_samples=0).results[0].scores["aer"]
    assert all(found[name] < limits[name] for name in MODELS), found


@pytest.fixture(scope="module")
def hansards() -> tuple[Corpus, Links]:
    """The first 10,000 pairs of train, dev and test, lower-cased; and the gold links of test."""
    folder = shared_folder() / "hansards-en-fr"
    sides = []
    for language in ("en", "fr"):
        with gzip.open(folder / f"train.{language}.gz", "rt") as file:
            lines = [line.rstrip("\n") for line in itertools.islice(file, 10_000)]
        for part in ("dev", "test"):
            lines += (folder / f"{part}.{language}").read_text().splitlines()
        sides.append(lines)
    corpus = Corpus.from_pairs(zip(*sides, strict=True), lowercase=True)
    return corpus, LinkReader(str(folder / "test.gold")).read()


@pytest.mark.parametrize(
    "name, views, most",
    [
        ("loo", None, 5.4),
        ("loo", ["stem5"], 5.9),
        ("shmm", None, 6.4),
        ("shmm", ["word"], 8.5),
        ("bhmm", ["word"], 9.5),
    ],
)
def test_accuracy_on_hansards(hansards, name, views, most):
    """AER of the 447 test sentences: a little over what was reached, so that it cannot decay unseen."""
    corpus, gold = hansards
    model = train(corpus, Recipe.of(name, views=views), n_threads=2)
    test = corpus.part(len(corpus) - len(gold), len(corpus))
    found = evaluate([model.align(test, n_threads=2)], gold, n_samples=0).results[0].scores["aer"]
    assert 100 * found < most


def test_constraints_on_hansards(hansards):
    """The two directions of S-HMM agree; B-HMM's are far better than the HMM's; few calls are needed."""
    corpus, gold = hansards
    test = corpus.part(len(corpus) - len(gold), len(corpus))
    models = {x: train(corpus, Recipe.of(x, views=["word"]), n_threads=2) for x in ("hmm", "bhmm", "shmm")}
    links = {x: [above(y, 0.5) for y in links_of(model, test)] for x, model in models.items()}
    compared = {x: evaluate(two, gold, n_samples=0) for x, two in links.items()}
    assert compared["shmm"].symmetry >= 0.95 and compared["hmm"].symmetry < 0.45
    for k in range(2):
        aer = {x: result.results[k].scores["aer"] for x, result in compared.items()}
        assert aer["bhmm"] < 0.42 * aer["hmm"]
    assert all(entry["calls"] < 6.5 for entry in models["shmm"].history if "calls" in entry)
    fertility = links_of(models["bhmm"], test)[0]
    words = np.bincount(fertility.sentences * 1000 + fertility.src, weights=fertility.scores)
    assert words.max() <= 1 + models["bhmm"].recipe.last.limits.eta

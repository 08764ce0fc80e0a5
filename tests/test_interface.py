"""The Python interface: public names, one-line reprs, links as lists, and errors that name the argument."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from conftest import ROOT

import aligner
from aligner import (
    Combiner,
    Constraints,
    Corpus,
    DataError,
    Links,
    Model,
    Recipe,
    learn_combiner,
    read_corpus,
    symmetrize,
    train,
)
from aligner.models.kinds import Leaving, Limits
from aligner.models.stage import Stage
from aligner.training.development import Development
from aligner.training.loop import learn

PAIRS = [("a b", "x y"), ("a c", "x z"), ("b c", "y z")]
HMM = Recipe.of("hmm", views=["word"])


@pytest.fixture(scope="module")
def model() -> Model:
    return train(PAIRS, HMM)


def test_public_names_are_listed_before_they_are_used():
    code = "import aligner, sys; print(dir(aligner)); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    listed, loaded = map(eval, done.stdout.splitlines())
    assert [name for name in listed if not name.startswith("__")] == sorted(aligner.__all__)
    assert "__version__" in listed and not loaded
    assert all(getattr(aligner, name).__name__ == name for name in aligner.__all__)


def test_reprs_are_short(model):
    corpus = Corpus.from_pairs(PAIRS)
    gold = replace(Links.from_pairs([[(0, 0), (1, 1)]]), sure=Corpus.from_pairs([("a", "b")]).src.ids)
    for thing, text in (
        (corpus, "Corpus(3 sentence pairs, 6 and 6 tokens, 3 and 3 words)"),
        (corpus.src, "Side(3 sentences, 6 tokens, 3 words)"),
        (corpus.src.vocab, "Vocab(3 words)"),
        (model, "Model(hmm, views word, trained on 3 sentence pairs)"),
        (HMM, "Recipe(hmm, both directions, 10 iterations, views word)"),
        (model.align(corpus), "Links(3 sentence pairs, 6 links, with scores)"),
        (gold, "Links(1 sentence pairs, 2 links, 1 of them possible)"),
        (Constraints.of([[], []]), "Constraints(2 sentence pairs, 0 features)"),
    ):
        assert repr(thing) == text


def test_links_are_a_sequence_of_lists(model):
    lists = [[(0, 1), (1, 0)], [], [(2, 2)]]
    links = Links.from_pairs(lists)
    assert len(links) == 3 and list(links) == lists == [links[n] for n in range(3)]
    assert links[-3] == lists[0] and [(2, 2)] in links
    assert isinstance(links[1:], Links) and list(links[1:]) == lists[1:] and list(links[2:1]) == []
    for n in (3, -4):
        with pytest.raises(IndexError, match=f"no sentence pair {n} in links of 3"):
            links[n]
    with pytest.raises(ValueError, match="slices of step 1, not 2"):
        links[::2]
    with pytest.raises(ValueError, match="no scores"):
        links.scored()
    scored = [[(0, 1, 0.5), (1, 0, 0.25)], [], [(2, 2, 0.0)]]
    assert Links.from_pairs(scored).scored() == scored
    found = model.align(PAIRS)
    assert Links.from_pairs(found.scored()).scored() == found.scored()
    assert [[link[:2] for link in one] for one in found.scored()] == found.pairs()


KNOWN = Links.from_pairs([[(0, 1)], [], []])
BAD = [
    (lambda _: train(None), TypeError, "^text must be a Corpus or sentence pairs, not None$"),
    (lambda _: train("a b"), TypeError, "^text must be"),
    (lambda _: train([("a",)]), ValueError, r"^sentence pair 0 of the text is not two sentences: \('a',\)$"),
    (lambda _: train([("a", "b"), 3]), ValueError, "^sentence pair 1 of the text is not two sentences: 3$"),
    (lambda _: train([("a", 3)]), TypeError, "^sentence pair 0 of the text: a sentence must be"),
    (lambda _: train(PAIRS, "hmm"), TypeError, "^recipe must be a Recipe, not 'hmm'$"),
    (
        lambda _: train(PAIRS, memory="4G"),
        TypeError,
        "^memory must be a whole number between 0 and inf, not '4G'$",
    ),
    (
        lambda _: train(PAIRS, memory=-1),
        ValueError,
        "^memory must be a whole number between 0 and inf, not -1$",
    ),
    (lambda _: train(PAIRS, memory=float("inf")), ValueError, "^memory must be a whole .* not inf$"),
    (lambda _: train(PAIRS, checkpoint="run"), TypeError, "^checkpoint must be a function, not 'run'$"),
    (lambda _: learn(PAIRS, HMM), TypeError, "^corpus must be a Corpus, not "),
    (lambda _: train(PAIRS, HMM, init="model"), TypeError, "^init must be a Model"),
    (lambda _: train(PAIRS, HMM, development=3), TypeError, "^development must be a Development"),
    (lambda _: train(PAIRS, HMM, n_threads=0), ValueError, "^n_threads must be .* 1 and 1024, not 0$"),
    (lambda _: train(PAIRS, HMM, n_threads="2"), TypeError, "^n_threads must be .*, not '2'$"),
    (lambda _: train(PAIRS, HMM, n_threads=2.0), TypeError, "^n_threads must be a whole number, not 2.0$"),
    (lambda _: train(PAIRS, HMM, links=[[(0, 0)]]), TypeError, "^links must be Links, not "),
    (lambda _: train(PAIRS, HMM, links=KNOWN[:2]), DataError, "known links of 2 sentence pairs, .* has 3"),
    (lambda _: train(PAIRS, HMM, constraints=3), TypeError, "^constraints must be Constraints, not 3$"),
    (lambda _: Model.load(3), TypeError, "^path must be the name of a file, not 3$"),
    (lambda _: Combiner.load(3), TypeError, "^path must be the name of a file, not 3$"),
    (lambda m: learn_combiner(m, PAIRS, [[(0, 0)]] * 3), TypeError, "^gold must be Links, not "),
    (lambda m: learn_combiner(HMM, PAIRS, KNOWN), TypeError, "^model must be a Model, not "),
    (lambda m: learn_combiner(m, PAIRS, KNOWN[:2]), DataError, "text has 3 sentence pairs, the gold has 2"),
    (lambda m: learn_combiner(m, PAIRS, KNOWN, folds=1), DataError, "3 sentence pairs are too few"),
    (lambda m: m.save(3), TypeError, "^path must be the name of a file, not 3$"),
    (lambda m: m.align(None), TypeError, "^text must be"),
    (lambda m: m.align(PAIRS, symmetrize="x"), ValueError, "^unknown symmetrize 'x'; there are intersection"),
    (
        lambda m: m.align(PAIRS, threshold=2),
        ValueError,
        "^threshold must be a number between 0 and 1, not 2$",
    ),
    (lambda m: m.align(PAIRS, threshold="x"), ValueError, "^threshold must be auto, points or .* not 'x'$"),
    (lambda m: m.align(PAIRS, n_threads="2"), TypeError, "^n_threads must be"),
    (lambda m: m.align(PAIRS, links=KNOWN[:1]), DataError, "known links of 1 sentence pairs, .* has 3"),
    (
        lambda m: m.align(PAIRS, links=replace(KNOWN, src=KNOWN.src - 1)),
        DataError,
        "known link -1-1 of sentence pair 1 is outside",
    ),
    (lambda _: symmetrize(KNOWN, KNOWN, "x"), ValueError, "^unknown method 'x'; there are intersection"),
    (lambda _: symmetrize(KNOWN, KNOWN, variant="x"), ValueError, "^unknown variant 'x'; there are symal"),
    (lambda _: symmetrize(KNOWN, 3), TypeError, "^reverse must be Links, not 3$"),
    (lambda _: symmetrize(KNOWN, KNOWN, threshold=-1), ValueError, "^threshold must be"),
    (lambda _: Links.from_pairs([[(0, 0, 1.0)], [(0, 0)]]), ValueError, "^links must be pairs"),
    (lambda _: Links.from_pairs([[(0, -1)]]), ValueError, "^the positions of links must be between 0 and"),
    (lambda _: Links.from_pairs([[(0, 0.5)]]), TypeError, "^the positions of links must be whole numbers$"),
    (lambda _: Recipe.of(p0="x"), TypeError, "^p0 must be a number between 1e-06 and 0.999, not 'x'$"),
    (lambda _: Recipe.of(p0=10**400), ValueError, "^p0 must be"),
    (lambda _: Recipe.of(views="word"), TypeError, "^views must be a list of names, not 'word'$"),
    (lambda _: Recipe.of(views=[3]), TypeError, "^a view must be a name, not 3$"),
    (lambda _: Recipe.of(lowercase="yes"), TypeError, "^lowercase must be True or False, not 'yes'$"),
    (lambda _: Recipe.of(agree="yes"), TypeError, "^agree must be True or False, not 'yes'$"),
    (lambda _: replace(HMM, window=99), ValueError, "^window must be a whole number between 1 and 17"),
    (lambda _: replace(HMM, model="x"), ValueError, "^unknown model 'x'"),
    (lambda _: replace(HMM, stages=(3,)), TypeError, "^a stage must be a Stage, not 3$"),
    (lambda _: Stage("hmm", "likelihood", "2", Limits()), TypeError, "^iterations must be a whole number"),
    (lambda _: Stage("hmm", "likelihood", 2, 3), TypeError, "^limits must be Limits, not 3$"),
    (lambda _: Stage("loo", "symmetric", 2, Limits(), 0, 3), TypeError, "^leaving must be Leaving, not 3$"),
]


@pytest.mark.parametrize("call, kind, message", BAD, ids=[message for _, _, message in BAD])
def test_errors_name_the_argument(model, call, kind, message):
    with pytest.raises(kind, match=message):
        call(model)


def test_numbers_of_recipes_have_one_type():
    """What is written as another kind of number makes the same recipe and signature."""
    stage = Stage("loo", "symmetric", 2, Limits(slack=1.0), 0.0, Leaving(left_out=1.0))
    again = Stage("loo", "symmetric", 2.0, Limits(slack=1, max_calls=50.0), 0, Leaving(left_out=1))
    assert repr(again) == repr(stage)
    recipe = replace(HMM, window=5.0, identical=5, max_length=0.0)
    assert recipe.signature() == HMM.signature() and isinstance(recipe.window, int)


def test_a_corpus_is_lower_cased_as_the_recipe_says(data):
    """In training and after it. A corpus that is in lower case is used as it is."""
    names = str(data / "sample.en"), str(data / "sample.fr")
    plain, lower = (read_corpus(*names, lowercase=x).part(0, 40) for x in (False, True))
    assert lower.lowered() is lower and plain.lowered() is not plain
    recipe = Recipe.of("hmm", iterations=1, lowercase=True, views=["word"])
    models = [train(text, recipe) for text in (plain, lower)]
    assert models[0].views[0].src.words == models[1].views[0].src.words
    assert models[0].signature == models[1].signature
    found = [m.align(text).scored() for m in models for text in (plain, lower)]
    assert found[1:] == found[:-1]
    gold = Links.from_pairs([[(0, 0)]] * 40)
    models = [train(plain, recipe, development=Development(text, gold)) for text in (plain, lower)]
    assert models[0].history == models[1].history and models[0].signature == models[1].signature
    with pytest.raises(DataError, match="text of the model to start from was in lower case"):
        train(plain, replace(recipe, lowercase=False), init=models[0])

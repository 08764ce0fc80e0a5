"""Training of Model 2 and of the diagonal model: what rises, what is kept, what is saved."""

from __future__ import annotations

import numpy as np
import pytest

from aligner import store
from aligner.decoding.model import Model
from aligner.errors import DataError
from aligner.models.diagonal import LEAST, MOST, Diagonal
from aligner.models.jumps import Jumps
from aligner.models.recipe import Recipe
from aligner.models.table import Table
from aligner.text.corpus import Corpus
from aligner.training.loop import train

FAST = {"views": ("word",)}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Sentence pairs whose words go together one by one, some in another order."""
    random = np.random.default_rng(1)
    pairs = []
    for _ in range(120):
        words = random.integers(0, 40, random.integers(1, 9)).tolist()
        other = [f"f{word}" for word in words for _ in range(1 + (word % 7 == 0))]
        if random.random() < 0.3:
            other[:2] = other[1::-1]
        pairs.append((" ".join(f"e{word}" for word in words), " ".join(other)))
    return Corpus.of([*pairs, ("", "f1"), ("e1", "")])


def positions(model: Model):
    return model.views[0].parameters.positions


@pytest.mark.parametrize("model", ["ibm2", "diagonal"])
@pytest.mark.parametrize("dirichlet", [0, 0.01])
def test_the_likelihood_never_falls_nor_does_the_bound(corpus, model, dirichlet):
    """With variational Bayes it is the bound that does not fall."""
    recipe = Recipe.of(model, iterations=12, ibm1_iterations=1, dirichlet=dirichlet, **FAST)
    history = [entry for entry in train(corpus, recipe).history if entry["model"] == model]
    name = "bound" if dirichlet else "loglik"
    for direction in ("forward", "reverse"):
        values = [entry[name][direction] for entry in history if name in entry]
        assert len(values) >= 11
        assert np.diff(values).min() > -1e-3 and values[-1] > values[0] + 1


def test_tension_is_learned_or_kept(corpus):
    learned = positions(train(corpus, Recipe.of("diagonal", **FAST)))
    assert isinstance(learned, Diagonal) and (learned.tension > 6).all() and learned.tension.max() < MOST
    fixed = positions(train(corpus, Recipe.of("diagonal", tension=3, p0=0.3, **FAST)))
    assert fixed.tension.tolist() == [3, 3] and fixed.p0 == 0.3
    one = positions(train(corpus, Recipe.of("diagonal", direction="forward", **FAST)))
    assert one.tension[0] != 4 and one.tension[1] == 4


def test_one_word_says_nothing_of_the_tension():
    text = Corpus.of([("a", "b c"), ("b", "c"), ("c", "a b c d")])
    model = train(text, Recipe.of("diagonal", iterations=2, **FAST))
    assert positions(model).tension[0] == 4 and LEAST <= positions(model).tension[1] <= MOST


@pytest.mark.parametrize("model", ["ibm2", "diagonal"])
def test_a_saved_model_aligns_as_it_was_trained(corpus, model, tmp_path):
    for n, more in enumerate(({}, {"agree": True}, {"direction": "reverse"})):
        trained = train(corpus, Recipe.of(model, **more))
        trained.save(tmp_path / str(n))
        loaded = Model.load(tmp_path / str(n))
        found, wanted = loaded.align(corpus), trained.align(corpus)
        for name in ("offsets", "src", "tgt", "scores"):
            np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
        assert loaded.signature == trained.signature
        assert (loaded.align(corpus, n_threads=3).src == wanted.src).all()


def test_damaged_positions_are_refused(corpus, tmp_path):
    for model, name, wrong, what in (
        ("diagonal", "0.tension", np.array([4.0, np.nan]), "tension must be between"),
        ("diagonal", "0.tension", np.array([4.0, 200.0]), "tension must be between"),
        ("diagonal", "0.tension", np.array([4.0]), "tension is float64"),
        ("ibm2", "0.sizes", np.array([[1, 1]]), "position does not have the sizes"),
        ("ibm2", "0.sizes", np.array([[0, 1]]), "sizes must be between"),
        ("ibm2", "0.position", None, "position must be between"),
        ("ibm2", "0.sizes", None, "sizes does not rise"),
    ):
        train(corpus, Recipe.of(model, iterations=1, **FAST)).save(tmp_path / "good", overwrite=True)
        header, arrays = store.read(tmp_path / "good", lambda _: True)
        if wrong is None:
            wrong = arrays[name][::-1].copy()
            wrong[0, 0] = -1 if name == "0.position" else wrong[0, 0]
        store.write(tmp_path / "bad", header, arrays | {name: wrong}, overwrite=True)
        with pytest.raises(DataError, match=what):
            Model.load(tmp_path / "bad")
    header["views"][0]["positions"] = None
    store.write(
        tmp_path / "bad", header, {k: x for k, x in arrays.items() if k != "0.position"}, overwrite=True
    )
    with pytest.raises(DataError, match="has no positions of the kind table"):
        Model.load(tmp_path / "bad")


def test_models_follow_each_other_and_start_from_each_other(corpus):
    chain = Recipe.of(stages="ibm1:1,ibm2:1,diagonal:1,diagonal-agree:1,hmm:1", **FAST)
    trained = train(corpus, chain)
    assert isinstance(positions(trained), Jumps)
    assert [entry["model"] for entry in trained.history] == ["ibm1", "ibm2", "diagonal", "diagonal", "hmm"]
    first = train(corpus, Recipe.of("diagonal", iterations=3, **FAST))
    tension = positions(first).tension.copy()
    more = train(corpus, Recipe.of("diagonal", iterations=0, **FAST), init=first)
    assert positions(more).tension.tolist() == tension.tolist()
    train(corpus, Recipe.of("diagonal", iterations=1, **FAST), init=first)
    assert positions(first).tension.tolist() == tension.tolist()  # the model to start from is as it was
    other = train(corpus, Recipe.of("ibm2", iterations=1, ibm1_iterations=0, **FAST), init=first)
    assert isinstance(positions(other), Table)


def test_priors_of_other_positions_are_not_taken(corpus):
    """The lexicon of the prior counts, its jumps have no place here."""
    prior = train(corpus, Recipe.of("hmm", iterations=1, **FAST))
    for model in ("ibm2", "diagonal"):
        recipe = Recipe.of(model, iterations=2, dirichlet=0, **FAST)
        with_prior, without = train(corpus, recipe, prior=prior), train(corpus, recipe)
        assert not np.array_equal(*(x.views[0].parameters.lexicon.t for x in (with_prior, without)))


def test_agreement_links_less_and_surer(corpus):
    """Both directions count the same links: their posteriors come closer."""
    gaps = []
    for agree in (False, True):
        model = train(corpus, Recipe.of("diagonal", agree=agree, iterations=4, **FAST))
        ((forward, reverse),) = model.directions(corpus)
        gaps.append(abs(forward.scores.sum() - reverse.scores.sum()))
        assert model.recipe.signature()["stages"].count("agreement") == int(agree)
    assert gaps[1] < gaps[0]


def test_settings_of_positions(corpus):
    assert "tension=4.0" in Recipe.of("diagonal", tension=4).signature()["stages"]
    assert Recipe.of("diagonal", tension="learn") == Recipe.of("diagonal")
    for wrong in (0.001, 81, "free"):
        with pytest.raises((ValueError, TypeError), match="tension must be a number between 0.01 and 80"):
            Recipe.of("diagonal", tension=wrong)
    with pytest.raises(ValueError, match="hmm does not use tension"):
        Recipe.of("hmm", tension=4)
    with pytest.raises(ValueError, match="ibm2 does not use p0"):
        Recipe.of("ibm2", p0=0.1)

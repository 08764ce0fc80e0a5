"""Training and decoding as a whole: what must rise, and what must not matter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from trained import (
    arrays,
    assert_same_arrays,
    generated,
    links_of,
    plain,
    recipe_of,
    same,
)

from aligner import DataError, LinkReader, Model, Recipe, read_corpus, threads, train
from aligner.decoding.combine import above
from aligner.links.known import known_of
from aligner.models.kinds import HMMS, MODELS, PLACES
from aligner.models.parameters import View
from aligner.scoring.evaluate import evaluate
from aligner.text.corpus import Corpus
from aligner.text.known import Constraints, Known
from aligner.text.sides import Side, Vocab
from aligner.text.views import see
from aligner.training.development import Development
from aligner.training.loop import PAIR, learn


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return generated()


def logliks(model) -> np.ndarray:
    return np.array([list(entry["loglik"].values()) for entry in model.history])


def test_model1_never_falls_and_hmm_rises(corpus):
    model = train(corpus, plain(8, 5))
    loglik = logliks(model)
    assert (np.diff(loglik[:8], axis=0) >= 0).all()
    assert (np.diff(loglik[8:], axis=0) > 0).all()


def test_tables_are_distributions(corpus):
    model = train(corpus, plain(2, 2))
    m, places = model.views[0].parameters.lexicon, model.views[0].parameters.positions
    np.testing.assert_allclose(np.add.reduceat(m.t[:, 0], m.rows[:-1]), 1, rtol=1e-4)
    np.testing.assert_allclose(np.bincount(m.tgt, weights=m.t[:, 1]), 1, rtol=1e-4)
    for table in (m.null_fwd[None], m.null_rev[None], places.jump, places.first):
        np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-4)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_threads_change_no_bit(corpus, n_threads, name, monkeypatch):
    monkeypatch.setattr(threads, "CELLS", 1)
    recipe = recipe_of(name, iterations=2, ibm1_iterations=2, views=("word", "prefix2"))
    one, saw_one = learn(corpus, recipe, n_threads=1, memory=1 << 30)
    many, saw_many = learn(corpus, recipe, n_threads=n_threads, memory=1 << 30)
    assert_same_arrays(one, many)
    assert one.history == many.history
    for viterbi in (False, True):
        a = links_of(one, corpus, seen=saw_one, viterbi=viterbi, n_threads=1)
        b = links_of(many, corpus, seen=saw_many, viterbi=viterbi, n_threads=n_threads)
        assert same(a[0], b[0]) and same(a[1], b[1])


@pytest.mark.parametrize(
    ("memory", "kept"), [(0, "none"), (2 << 20, "some"), (3 << 20, "some"), (1 << 30, "all")]
)
def test_memory_changes_no_link(corpus, memory, kept):
    """With room for no cells, for some and for all: which are kept is a matter of speed."""
    some = corpus.part(0, 300)
    recipe = Recipe.of("shmm", views=("prefix2", "word", "prefix4"))
    model, seen = learn(some, recipe, memory=memory)
    assert sum(sight.cells.nbytes for sight in seen) <= memory
    n, n_all = sum(len(sight.cells) for sight in seen), sum(sight.n_cells for sight in seen)
    assert kept == ("none" if n == 0 else "all" if n == n_all else "some")
    for a, b in zip(links_of(model, some, seen=seen), links_of(train(some, recipe), some), strict=True):
        assert same(a, b)


def test_memory_has_room_for_the_totals_of_threads(corpus, monkeypatch):
    """8 bytes a target word and thread, of 16 threads at most: with more threads fewer cells are kept."""
    monkeypatch.setattr(threads, "CELLS", 1)
    some, recipe = corpus.part(0, 300).compact(), Recipe.of("shmm", views=("word",))
    whole, (all_seen,) = learn(some, recipe, memory=1 << 30)
    n_tokens, n_tgt = len(some.src.ids) + len(some.tgt.ids), len(some.tgt.vocab)
    others = 4 * n_tokens + 24 * len(some) + PAIR * len(all_seen.tgt)
    memory, kept = others + 8 * n_tgt + all_seen.cells.nbytes, {}
    for n_threads in (1, 3, 16, 40):
        model, (seen,) = learn(some, recipe, memory=memory, n_threads=n_threads)
        kept[n_threads] = seen.cells.nbytes
        assert others + 8 * min(n_threads, 16) * n_tgt + kept[n_threads] <= memory
        assert_same_arrays(whole, model)
    assert kept[1] == all_seen.cells.nbytes > kept[3] > kept[16] == kept[40]


@pytest.mark.parametrize("model", ["loo", "shmm", "ibm1"])
def test_pruning_forgets_word_pairs(corpus, tmp_path, model):
    """Alike for any threads and memory; of a saved model, and of a training that goes on, too."""
    some = corpus.part(0, 300)
    recipes = [Recipe.of(model, views=("word", "prefix4"), prune=x) for x in (0, 0.01)]
    whole, (pruned, seen) = train(some, recipes[0]), learn(some, recipes[1])
    for one, other, sight in zip(whole.views, pruned.views, seen, strict=True):
        a, b = one.parameters.lexicon, other.parameters.lexicon
        assert 0 < len(b.tgt) < 0.7 * a.pruned().t.shape[0]
        assert sight.rows is b.rows and sight.tgt is b.tgt and len(sight.cells) == sight.n_cells
    assert "|prune:0.01|" in pruned.signature and "prune" not in whole.signature
    links = links_of(pruned, some, seen=seen)
    pruned.save(tmp_path / "model")
    kept = []
    again, saw = learn(some, recipes[1], memory=0, n_threads=3, checkpoint=lambda x: kept.append(copied(x)))
    for found in (
        links_of(again, some, seen=saw),
        links_of(Model.load(tmp_path / "model"), some),
        *(links_of(learn(some, recipes[1], resume=x)[0], some) for x in kept[-3:]),
    ):
        assert all(same(a, b) for a, b in zip(found, links, strict=True))


def copied(model):
    """A model that later iterations do not change."""
    views = [View(x.name, x.src, x.tgt, x.parameters.copied()) for x in model.views]
    return replace(model, views=views, history=list(model.history))


def test_corpus_written_twice(corpus):
    """The same parameters, up to rounding, and twice the log-likelihood."""
    some = corpus.part(0, 300)
    double = Corpus(*(side_twice(side) for side in (some.src, some.tgt)))
    one = train(some, plain(3, 2))
    two = train(double, plain(3, 2))
    np.testing.assert_allclose(2 * logliks(one), logliks(two), rtol=1e-5)
    np.testing.assert_allclose(arrays(one)["word t"], arrays(two)["word t"], rtol=0, atol=1e-3)
    np.testing.assert_allclose(arrays(one)["word jump"], arrays(two)["word jump"], rtol=0, atol=1e-4)


def side_twice(side):
    return type(side)(
        np.concatenate([side.ids, side.ids]),
        np.concatenate([side.offsets, side.offsets[1:] + side.offsets[-1]]),
        side.vocab,
    )


def test_swapped_sides_give_transposed_links(corpus):
    some = corpus.part(0, 300)
    model = train(some, plain(3, 3))
    turned = train(Corpus(some.tgt, some.src), plain(3, 3))
    forward, reverse = (above(x, 0.5) for x in links_of(model, some))
    forward2, reverse2 = (above(x, 0.5) for x in links_of(turned, Corpus(some.tgt, some.src)))

    def sets(links, turn=False):
        return [{link[::-1] if turn else link for link in part} for part in links.pairs()]

    differ = sum(a != b for a, b in zip(sets(forward), sets(reverse2, True), strict=True))
    differ += sum(a != b for a, b in zip(sets(reverse), sets(forward2, True), strict=True))
    assert differ <= 3  # posteriors within a rounding error of the threshold


def relabelled(side: Side, new_ids: np.ndarray) -> Side:
    """The same sentences with other numbers for the words."""
    words = [side.vocab.words[k] for k in np.argsort(new_ids)]
    encoded = [word.encode() for word in words]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return Side(new_ids[side.ids].astype(np.int32), side.offsets, Vocab(b"".join(encoded), offsets))


@pytest.mark.parametrize("name", MODELS)
def test_order_of_sentences_and_numbers_of_words_do_not_matter(corpus, name):
    """Up to rounding: sums are taken in another order."""
    some = Corpus.from_pairs([(corpus.src.sentence(n), corpus.tgt.sentence(n)) for n in range(300)])
    recipe = Recipe.of(name, iterations=2, views=("word", "prefix3"))
    links = links_of(train(some, recipe), some)
    random = np.random.default_rng(0)
    order = random.permutation(len(some))
    moved = Corpus.from_pairs([(some.src.sentence(n), some.tgt.sentence(n)) for n in order])
    other = links_of(train(moved, recipe), moved)
    named = Corpus(*(relabelled(s, random.permutation(len(s.vocab))) for s in (some.src, some.tgt)))
    third = links_of(train(named, recipe), named)
    for k in range(2):
        truth, found = (above(x[k], 0.5).pairs() for x in (links, other))
        assert sum(truth[n] != found[place] for place, n in enumerate(order)) <= 6  # at the threshold
        again = above(third[k], 0.5).pairs()
        assert sum(a != b for a, b in zip(truth, again, strict=True)) <= 6


def test_inputs_are_not_changed(corpus):
    some = corpus.part(0, 100)
    before = [array.copy() for side in (some.src, some.tgt) for array in (side.ids, side.offsets)]
    train(some, Recipe.of(views=("word", "prefix4"))).align(some)
    after = [array for side in (some.src, some.tgt) for array in (side.ids, side.offsets)]
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)


def test_one_view_is_the_mean_of_itself(corpus):
    """Views are trained apart and averaged: a view's own links do not depend on the others."""
    some = corpus.part(0, 300)
    both = train(some, Recipe.of("shmm", views=("word", "prefix3")))
    single = [
        links_of(train(some, Recipe.of("shmm", views=(name,))), some)[0] for name in ("word", "prefix3")
    ]
    grids = [np.zeros((300, 80, 80)) for _ in range(3)]
    for grid, links in zip(grids, (links_of(both, some)[0], *single), strict=True):
        grid[links.sentences, links.src, links.tgt] = links.scores
    np.testing.assert_allclose(grids[0], (grids[1] + grids[2]) / 2, rtol=0, atol=2e-3)  # the cutoff


def test_views_see_the_same_sentences(write):
    corpus = read_corpus(write("s", "walked walking\n\ncat \u00e9t\u00e9\n"), write("t", "a\nb\nc\n"))
    seen = see(corpus, "prefix4")
    assert seen.src.sentence(0) == ["walk", "walk"] and len(set(seen.src.ids[:2])) == 1
    assert seen.src.sentence(2) == ["cat", "\u00e9t\u00e9"] and seen.src.lengths.tolist() == [2, 0, 2]
    assert see(corpus, "suffix2").src.sentence(2) == ["at", "t\u00e9"]
    assert see(corpus, "word") is corpus and see(corpus, "word/word") is corpus
    both = see(corpus, "prefix1/word")
    assert both.src.sentence(0) == ["w", "w"] and both.tgt is corpus.tgt
    for name in (
        "",
        "words",
        "prefix",
        "prefix0",
        "prefix-1",
        "suffix4x",
        "stem",
        "stem0",
        "word/",
        "word/word/word",
    ):
        with pytest.raises(ValueError, match="unknown view"):
            see(corpus, name)


def test_symmetric_directions_agree_and_bijective_words_have_one_link(corpus):
    def symmetry(model) -> float:
        sets = [
            {(n, link) for n, part in enumerate(above(x, 0.5).pairs()) for link in part}
            for x in links_of(model, corpus)
        ]
        return len(sets[0] & sets[1]) / len(sets[0] | sets[1])

    def fertility(model) -> float:
        forward, reverse = links_of(model, corpus)
        words = forward.sentences * 1000 + forward.src, reverse.sentences * 1000 + reverse.tgt
        return max(
            np.bincount(a, weights=links.scores).max()
            for a, links in zip(words, (forward, reverse), strict=True)
        )

    hmm, bhmm, shmm = (train(corpus, Recipe.of(name, views=["word"])) for name in ("hmm", "bhmm", "shmm"))
    assert symmetry(shmm) >= 0.95 and symmetry(hmm) < 0.9
    assert fertility(bhmm) <= 1 + bhmm.recipe.last.limits.eta and fertility(hmm) > 1.9
    objective = [entry["objective"] for entry in shmm.history if entry["model"] == "shmm"]
    assert (np.diff(objective) > 0).all()
    assert max(entry["calls"] for entry in shmm.history if "calls" in entry) < 7


def test_projection_when_decoding_is_a_choice(corpus):
    model = train(corpus.part(0, 300))
    on, off = (links_of(model, corpus.part(300, 400), project=x) for x in ("trained", "none"))
    assert not same(on[0], off[0])
    wide = [above(x, 0.5).pairs() for x in off]
    close = [above(x, 0.5).pairs() for x in on]
    assert sum(a != b for a, b in zip(*close, strict=True)) < sum(a != b for a, b in zip(*wide, strict=True))


def test_starting_from_a_model_that_kept_cells(corpus):
    some = corpus.part(0, 200)
    short = Recipe.of("hmm", iterations=1, ibm1_iterations=0, views=["word"])
    longer = Recipe.of("hmm", iterations=2, views=["word"])
    first = [learn(some, longer, memory=memory) for memory in (0, 1 << 30)]
    assert [len(seen[0].cells) > 0 for _, seen in first] == [False, True]
    logliks = [train(some, short, init=model).history[0]["loglik"] for model, _ in first]
    assert logliks[0] == logliks[1]


def test_training_goes_on_from_a_model(corpus, data):
    some, more = corpus.part(0, 500), corpus.part(500, 900)
    first = train(some, Recipe.of("ibm1", views=["word"]))
    straight = train(some, Recipe.of("hmm", iterations=2, views=["word"]))
    short = Recipe.of("hmm", iterations=2, ibm1_iterations=0, views=["word"])
    onward = train(some, short, init=first)
    for a, b in zip(links_of(straight, some), links_of(onward, some), strict=True):
        differ = sum(x != y for x, y in zip(above(a, 0.5).pairs(), above(b, 0.5).pairs(), strict=True))
        assert differ <= 25  # what Model 1 ruled out is possible again, if unlikely
    gold = LinkReader(str(data / "generated.gold")).read().part(500, 900)
    scores = [
        evaluate([train(more, short, init=init).align(more)], gold, n_samples=0).results[0].scores["aer"]
        for init in (straight, None)
    ]
    assert scores[0] < scores[1] - 0.05, scores
    with pytest.raises(DataError, match="has the views word, not word,prefix4"):
        train(some, Recipe.of("hmm", views=("word", "prefix4")), init=first)


def test_one_direction(corpus):
    some = corpus.part(0, 300)
    both = train(some, Recipe.of("hmm"))
    for k, direction in enumerate(("forward", "reverse")):
        one = train(some, Recipe.of("hmm", direction=direction))
        a, b = links_of(both, some)[k], links_of(one, some)
        assert same(a, b[k]) and len(b[1 - k].src) == 0
        assert one.align(some).pairs() == above(a, 0.5).pairs()
        with pytest.raises(
            DataError, match=f"was trained {direction} only; .*, or begin with a model of both"
        ):
            train(some, Recipe.of("hmm", iterations=1), init=one)
    with pytest.raises(ValueError, match="shmm is a model of both directions"):
        Recipe.of("shmm", direction="forward")


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_one_direction_of_model_1_has_links_of_that_direction_alone(corpus, direction):
    """And nothing is learned of the other direction, with a prior or without."""
    some = corpus.part(0, 50)
    k = ("forward", "reverse").index(direction)
    for prior in (0.0, 0.5):
        given = {"views": ["word"], "dirichlet": prior}
        model, both = (train(some, Recipe.of("ibm1", direction=x, **given)) for x in (direction, "both"))
        assert all(entry["loglik"].keys() == {direction} for entry in model.history)
        one, two = model.views[0].parameters.lexicon, both.views[0].parameters.lexicon
        np.testing.assert_array_equal(one.t[:, k], two.t[:, k])
        assert not one.t[:, 1 - k].any() and not (one.null_rev, one.null_fwd)[k].any()
    for viterbi in (False, True):
        links = links_of(model, some, viterbi=viterbi)
        assert len(links[k].src) > 0 and len(links[1 - k].src) == 0


@pytest.mark.parametrize("name", MODELS)
def test_a_model_without_iterations_of_its_own_decodes(corpus, tmp_path, name):
    """Its last stage is that of decoding, too: places of words are there, all alike."""
    some = corpus.part(0, 50)
    recipe = recipe_of(name, ibm1_iterations=2, iterations=0, window=3, p0=0.1, views=["word"])
    model = train(some, recipe)
    places = model.views[0].parameters.positions
    assert (None if places is None else places.kind) == PLACES.get(MODELS[name].family)
    if name in HMMS:
        assert (places.window, places.p0) == (3, 0.1)
    model.save(tmp_path / "m")
    assert same(Model.load(tmp_path / "m").align(some), model.align(some))


def test_links_are_those_above_the_threshold_of_the_recipe(corpus):
    some = corpus.part(0, 100)
    for threshold in (0.2, 0.9):
        model = train(some, Recipe.of("hmm", iterations=1, views=["word"], threshold=threshold))
        links = model.align(some)
        assert same(links, model.align(some, threshold=threshold))
        assert not same(links, model.align(some, threshold=0.5))
        assert links.scores.min() > threshold


def test_text_is_lower_cased_as_in_training():
    pairs = [("the house", "la maison"), ("the car", "la voiture"), ("a house", "une maison")]
    upper = [(a.upper(), b.title()) for a, b in pairs]
    model = train(upper, Recipe.of("hmm", lowercase=True, views=["word"]))
    assert_same_arrays(model, train(pairs, Recipe.of("hmm", lowercase=True, views=["word"])))
    assert same(model.align(upper), model.align(pairs))
    assert same(model.align(Corpus.from_pairs(upper)), model.align(pairs))


def test_constraints_with_pairs_that_are_too_long_to_train_on(corpus):
    """Training takes the constraints of the pairs that are left; decoding those of all."""
    some, features = corpus.part(0, 60), [([("forward", 0, 0, 1.0)], "<=", 0.1)]
    full = (some.src.lengths > 0) & (some.tgt.lengths > 0)
    lists = [features if n % 3 and full[n] else [] for n in range(60)]
    keep = np.maximum(some.src.lengths, some.tgt.lengths) <= 20
    recipe = Recipe.of("hmm", iterations=2, ibm1_iterations=2, views=["word"], max_length=20)
    model = train(some, recipe, constraints=Constraints.of(lists))
    left = Constraints.of([own for own, there in zip(lists, keep, strict=True) if there])
    assert 10 < keep.sum() < 60
    assert_same_arrays(model, train(some.select(keep), recipe, constraints=left))
    assert not np.array_equal(arrays(model)["word t"], arrays(train(some, recipe))["word t"])
    whole = known_of(None, Constraints.of(lists), some)
    for known, obeyed in ((whole, True), (Known(), False)):
        grid = np.zeros(60)
        links = links_of(model, some, known=known)[0]
        first = (links.src == 0) & (links.tgt == 0)
        grid[links.sentences[first]] = links.scores[first]
        assert (grid[[bool(own) for own in lists]].max() < 0.11) == obeyed


@pytest.mark.parametrize("name", ["shmm", "loo"])
def test_development_set_stops_training(corpus, data, name):
    gold = LinkReader(str(data / "generated.gold")).read()
    dev = Development(corpus.part(0, 200), gold.part(0, 200))
    model = train(corpus, Recipe.of(name, iterations=12, views=["word"]), development=dev)
    areas = [entry["area"] for entry in model.history if "area" in entry]
    assert 1 < len(areas) < 12 and areas[-1] <= max(areas) and areas[-2] == max(areas)
    assert (np.diff(areas[:-1]) > 0).all()
    best = train(corpus, Recipe.of(name, iterations=len(areas) - 1, views=["word"]))
    assert_same_arrays(model, best)
    with pytest.raises(DataError, match="has 200 pairs, its gold links 10 lines"):
        Development(corpus.part(0, 200), gold.part(0, 10))
    with pytest.raises(DataError, match="no sure links"):
        Development(corpus.part(0, 0), gold.part(0, 0))


@pytest.mark.parametrize("name", ["shmm", "loo"])
def test_word_pairs_are_forgotten_when_a_development_set_stops_training(corpus, data, monkeypatch, name):
    """Training ends then, as it does after the last iteration."""
    some, gold = corpus.part(0, 50), LinkReader(str(data / "generated.gold")).read().part(0, 50)
    monkeypatch.setattr(Development, "area", lambda *_: 0.5)
    whole, pruned = (
        train(
            some, Recipe.of(name, iterations=5, views=["word"], prune=x), development=Development(some, gold)
        )
        for x in (0, 0.1)
    )
    assert sum("area" in entry for entry in pruned.history) == 2
    assert 0 < len(pruned.views[0].parameters.lexicon.tgt) < 0.5 * len(whole.views[0].parameters.lexicon.tgt)


def test_the_area_is_of_all_links_whatever_the_threshold(corpus, data):
    gold = LinkReader(str(data / "generated.gold")).read()
    dev = Development(corpus.part(0, 100), gold.part(0, 100))
    model = train(dev.corpus, plain(2, 1))
    areas = [dev.area(model.views, replace(model.recipe, threshold=x), None, 1) for x in (0.0, 0.5, 1.0)]
    assert areas[0] > 0.3 and len(set(areas)) == 1


def test_an_area_that_stays_the_same_stops_training(corpus, data, monkeypatch):
    """The iteration that does not help is not kept."""
    some, gold = corpus.part(0, 50), LinkReader(str(data / "generated.gold")).read().part(0, 50)
    monkeypatch.setattr(Development, "area", lambda *_: 0.5)
    model = train(some, plain(1, 5), development=Development(some, gold))
    assert [entry.get("area") for entry in model.history] == [None, 0.5, 0.5]
    assert_same_arrays(model, train(some, plain(1, 1)))


def test_python_interface(tmp_path):
    pairs = [("the house", "la maison"), ("the car", "la voiture"), ("a house", "une maison"), ("", "x")]
    model = train(pairs, Recipe.of("hmm", iterations=3))
    assert model.align(pairs).pairs()[0] == [(0, 0), (1, 1)]
    assert model.align([(["a", "car"], ["une", "voiture"])]).pairs() == [[(0, 0), (1, 1)]]
    model.save(tmp_path / "m")
    assert Model.load(tmp_path / "m").align(pairs).pairs() == model.align(pairs).pairs()
    assert model.align(pairs).pairs()[3] == []
    for bad, message in (
        (("a\nb", "c"), "line break"),
        ((["a b"], ["c"]), "space"),
        (([""], ["c"]), "empty"),
    ):
        with pytest.raises(ValueError, match=message):
            model.align([bad])
    for given in (
        {"model": "ibm4"}, {"views": []}, {"views": ["word", "word"]}, {"iterations": -1},
        {"p0": 2.0}, {"p0": float("nan")}, {"window": 0}, {"window": 18}, {"direction": "up"},
    ):  # fmt: skip
        with pytest.raises(ValueError):
            Recipe.of(**given)
    for bad in ([("a", "b", "c")], ["ab"], [(b"a", b"b")]):
        with pytest.raises((ValueError, TypeError)):
            train(bad)
    for n in (0, -1):
        with pytest.raises(ValueError, match="n_threads"):
            train(pairs, n_threads=n)
        with pytest.raises(ValueError, match="n_threads"):
            model.align(pairs, n_threads=n)
    with pytest.raises(DataError, match="the file exists"):
        model.save(tmp_path / "m")


def test_empty_sides_are_kept_and_not_trained_on(write):
    src, tgt = write("src", "a b\n\nc\n\na\n"), write("tgt", "x y\nz\n\n\nx\n")
    corpus = read_corpus(src, tgt)
    model = train(corpus, plain(2, 2))
    forward, reverse = links_of(model, corpus)
    assert [len(part) > 0 for part in forward.pairs()] == [True, False, False, False, True]
    assert np.isfinite(arrays(model)["word t"]).all()
    assert arrays(model)["word null_fwd"][2] == 0  # z has no sentence to stand in


@pytest.mark.parametrize("name", MODELS)
def test_corpora_without_anything_to_learn(write, name):
    for text in ("", "\n\n", "a\n\n"):
        corpus = read_corpus(write("src", text), write("tgt", "\n" * text.count("\n")))
        model = train(corpus, recipe_of(name, ibm1_iterations=1, iterations=1))
        assert [part for part in links_of(model, corpus)[0].pairs()] == [[]] * text.count("\n")


def test_unknown_words_decode_sensibly(corpus, write):
    """They are linked by their places, and spoil nothing around them."""
    model = train(corpus, plain(3, 3))
    text = read_corpus(write("s", "the zzz of the yyy .\nqqq\n"), write("t", "le zzzz du yyyy .\nqqqq\n"))
    forward, reverse = links_of(model, text)
    assert (0, 0) in above(forward, 0.5).pairs()[0] and (5, 4) in above(forward, 0.5).pairs()[0]
    assert above(forward, 0.5).pairs()[1] == [(0, 0)]


def test_max_length_leaves_long_pairs_out_of_training(corpus):
    model = train(corpus, plain(1, 1, max_length=10))
    assert 0 < model.facts["pairs"] < len(corpus)
    assert len(links_of(model, corpus)[0]) == len(corpus)


def test_cells_of_a_part_of_the_text_are_not_kept(corpus):
    """They are of the pairs that were trained on: decoding the whole text needs others."""
    recipe = plain(1, 1, max_length=10)
    model, seen = learn(corpus, recipe, memory=1 << 30)
    assert seen == [None]
    for a, b in zip(links_of(model, corpus, seen=seen), links_of(train(corpus, recipe), corpus), strict=True):
        assert same(a, b) and len(a) == len(corpus)

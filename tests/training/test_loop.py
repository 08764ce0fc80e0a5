"""The training loop: it can be left and taken up at any iteration, be cut into any shards, and be stopped."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from trained import arrays, assert_same_arrays, links_of, plain, recipe_of, same

from aligner import DataError, LinkReader, Model, Recipe, train
from aligner.models.kinds import MODELS
from aligner.text.cells import Seen, in_shards
from aligner.text.corpus import Corpus, text_hash
from aligner.training.development import Development
from aligner.training.loop import learn
from aligner.training.monitor import Monitor
from aligner.training.progress import kind_of

VIEWS = ("word", "prefix3")


def left_and_taken_up(folder, corpus: Corpus, recipe: Recipe, **settings) -> tuple[Model, list[Model]]:
    """A training, and the models of trainings that go on from a file of each of its iterations."""
    paths = []

    def save(model: Model) -> None:
        paths.append(folder / f"{len(paths)}.model")
        model.save(paths[-1])

    whole = learn(corpus, recipe, checkpoint=save, **settings)[0]
    assert len(paths) == len(whole.history)
    again = [learn(corpus, recipe, resume=Model.load(path), **settings)[0] for path in paths]
    return whole, again


def assert_same_training(a: Model, b: Model) -> None:
    assert_same_arrays(a, b)
    assert a.history == b.history and a.facts == b.facts and a.recipe == b.recipe
    assert a.progress is None and b.progress is None


@pytest.mark.parametrize("dirichlet", [0.0, 0.1])
@pytest.mark.parametrize("name", MODELS)
def test_training_goes_on_from_any_iteration_to_the_same_bits(some, tmp_path, name, dirichlet):
    recipe = recipe_of(
        name, iterations=3, ibm1_iterations=3, hmm_iterations=2, views=VIEWS, dirichlet=dirichlet
    )
    whole, again = left_and_taken_up(tmp_path, some, recipe, facts={"src": "a"})
    assert len(again) == 2 * recipe.apart + (len(recipe.schedule) - recipe.apart)
    assert (recipe.apart < len(recipe.schedule)) == (name == "loo") == (whole.shares is not None)
    bounded = dirichlet > 0 and name != "loo"  # which has no second iteration that raises a likelihood
    assert any("bound" in entry for entry in whole.history) == bounded
    for model in again:
        assert_same_training(whole, model)
    assert_same_training(whole, train(some, recipe, facts={"src": "a"}))  # a checkpoint disturbs nothing


def test_checkpoints_are_of_one_iteration_more_each(some):
    counts = []
    learn(
        some,
        recipe_of("agree", ibm1_iterations=2, iterations=1, views=VIEWS),
        checkpoint=lambda m: counts.append((len(m.views), m.progress["iterations"], len(m.history))),
    )
    assert counts == [(1, 1, 1), (1, 2, 2), (1, 3, 3), (2, 1, 4), (2, 2, 5), (2, 3, 6)]


@pytest.mark.parametrize("name, labels", [("hmm", VIEWS), ("loo", ["+".join(VIEWS)])])
def test_training_goes_on_with_a_development_set_that_stops_it(some, tmp_path, data, name, labels):
    gold = LinkReader(str(data / "generated.gold")).read()
    development = Development(some.part(0, 40), gold.part(0, 40))
    recipe = Recipe.of(name, iterations=12, ibm1_iterations=2, views=VIEWS)
    whole, again = left_and_taken_up(tmp_path, some, recipe, development=development)
    areas = [[e["area"] for e in whole.history if e["view"] == view and "area" in e] for view in labels]
    assert all(1 < len(found) < 12 and found[-1] <= found[-2] for found in areas)  # stopped early
    for model in again:
        assert_same_training(whole, model)


def test_training_goes_on_from_another_model_and_with_known_links(some, tmp_path):
    first = train(some, Recipe.of("hmm", views=VIEWS))
    recipe = Recipe.of("shmm", ibm1_iterations=1, iterations=2, views=VIEWS, max_length=20)
    links = first.align(some.part(0, 30)).padded(60)
    links = replace(links, scores=np.where(np.arange(len(links.src)) % 2, 0.0, 1e12))
    whole, again = left_and_taken_up(tmp_path, some, recipe, init=first, links=links)
    for model in again:
        assert_same_training(whole, model)


def test_a_model_in_memory_is_taken_up_without_being_changed(some, tmp_path):
    recipe = Recipe.of("hmm", ibm1_iterations=2, iterations=2, views=["word"])
    kept = []

    def keep(model: Model) -> None:
        model.save(tmp_path / f"{len(kept)}")
        kept.append(Model.load(tmp_path / f"{len(kept)}"))

    whole = learn(some, recipe, checkpoint=keep)[0]
    views = [replace(view, parameters=view.parameters.copied()) for view in kept[1].views]
    live = replace(kept[1], views=views)
    before = {name: array.copy() for name, array in arrays(live).items()}
    assert_same_training(learn(some, recipe, resume=live)[0], whole)
    for name, array in arrays(live).items():
        np.testing.assert_array_equal(array, before[name])
    assert len(live.history) == 2 and live.progress == kept[1].progress


def test_going_on_with_another_text_or_recipe_is_refused(corpus, some):
    recipe = Recipe.of("hmm", ibm1_iterations=1, iterations=1, views=["word"])
    model = train(some, recipe)
    assert_same_training(learn(some, recipe, resume=model)[0], model)  # nothing is left to do
    other = Corpus.from_pairs([(some.src.sentence(n), some.tgt.sentence(n)) for n in range(59, -1, -1)])
    for text in (corpus.part(0, 61), corpus.part(1, 61), other, Corpus(some.tgt, some.src)):
        with pytest.raises(DataError, match="is of another text or recipe"):
            learn(text, recipe, resume=model)
    for changed in (
        replace(recipe, p0=0.3),
        replace(recipe, views=("word", "prefix3")),
        replace(recipe, threshold=0.6),
        plain(1, 2),
        plain(1, 1, dirichlet=0.1),
    ):
        with pytest.raises(DataError, match="is of another text or recipe"):
            learn(some, changed, resume=model)


def test_the_checksum_of_a_text_is_of_its_words_and_sentences():
    def of(*pairs) -> str:
        return text_hash(Corpus.from_pairs(pairs))

    texts = [
        of(("a b", "c")), of(("a b", "d")), of(("b a", "c")), of(("a", "c")), of(("a", ""), ("b", "c")),
        of(("a", "c"), ("b", "")), of(("ab", "c")), of(("c", "a b")), of(),
    ]  # fmt: skip
    assert len(set(texts)) == len(texts)
    assert of(("a b", "c")) == texts[0] and all(len(text) == 8 for text in texts)


def iterations_told(monkeypatch, corpus: Corpus, recipe: Recipe) -> list[list[tuple[str, int, int]]]:
    """Of each iteration the shards that are told when they are done: kind of work, cells and views."""
    monkeypatch.setattr("aligner.text.cells.LARGEST", 1000)
    told: list[list[tuple[str, int, int]]] = [[]]
    add = Monitor.add

    def advanced(self, kind, n_cells, n_views=1):
        if kind != "number":
            told[-1].append((kind, n_cells, n_views))

    def added(self, *arguments):
        told.append([])
        add(self, *arguments)

    monkeypatch.setattr(Monitor, "advance", advanced)
    monkeypatch.setattr(Monitor, "add", added)
    train(corpus, recipe)
    assert told.pop() == []
    return told


@pytest.mark.parametrize("name, n_iterations", [("shmm", 2 * 4), ("loo", 2 * 3 + 2)])
def test_the_bar_moves_within_an_iteration(some, monkeypatch, name, n_iterations):
    """Shards add up to the text. A shard of views together is of all of them."""
    recipe = recipe_of(name, ibm1_iterations=3, iterations=1, views=VIEWS)
    apart, together = recipe.schedule[: recipe.apart], recipe.schedule[recipe.apart :]
    kinds = 2 * [(kind_of(stage), 1) for stage in apart] + [(kind_of(stage), 2) for stage in together]
    assert len(kinds) == n_iterations
    for shards, kind in zip(iterations_told(monkeypatch, some, recipe), kinds, strict=True):
        assert {(found, n_views) for found, _, n_views in shards} == {kind} and len(shards) > 5
        assert sum(n_cells for _, n_cells, _ in shards) == int((some.src.lengths * some.tgt.lengths).sum())


@pytest.mark.parametrize("n_cells", [1, 5_000])
@pytest.mark.parametrize("name", MODELS)
def test_shards_change_no_bit(corpus, monkeypatch, name, n_cells):
    """Neither of what is learned, nor of the history, nor of the links."""
    some = corpus.part(0, 60 if n_cells == 1 else 300)
    recipe = recipe_of(name, iterations=2, ibm1_iterations=2, views=VIEWS)
    whole = train(some, recipe)
    links = [links_of(whole, some, viterbi=viterbi) for viterbi in (False, True)]
    monkeypatch.setattr("aligner.text.cells.LARGEST", n_cells)
    monkeypatch.setattr("aligner.text.cells.SCORED_CELLS", n_cells + 1)
    for scored in (False, True):
        n_shards = len(list(in_shards([Seen.of_own_words(some, "word", 1)], 1, scored=scored)))
        assert n_shards == 60 if n_cells == 1 else n_shards > 5
    cut, seen = learn(some, recipe, n_threads=1 if n_cells == 1 else 2, memory=1 << 30)
    assert_same_arrays(whole, cut)
    assert whole.history == cut.history
    for viterbi in (False, True):
        for sights in (None, seen):
            found = links_of(cut, some, viterbi=viterbi, seen=sights)
            assert all(same(a, b) for a, b in zip(found, links[viterbi], strict=True))
    assert same(cut.align(some), whole.align(some))


def test_log_begins_with_the_signature(some):
    log = io.StringIO()
    model = train(some, Recipe.of("shmm", ibm1_iterations=1, iterations=1, views=["word"]), log=log)
    first, *others = [json.loads(line) for line in log.getvalue().splitlines()]
    assert first == {"signature": model.signature}
    assert [{key: entry[key] for key in kept} for entry, kept in zip(others, model.history, strict=True)] == (
        model.history
    )


SHARDS_SAID = """
import sys
import aligner.text.cells
from aligner.cli import main
from aligner.training.monitor import Monitor
from aligner.training.progress import expected

aligner.text.cells.LARGEST = 1 << 17
advance = Monitor.advance

def said(self, kind, n_cells, n_views=1):
    if kind == "hmm bijective":
        whole = self.progress.planned[kind]
        print("shard of bhmm", expected(kind, n_cells, n_views), whole, file=sys.stderr, flush=True)
    advance(self, kind, n_cells, n_views)

Monitor.advance = said
main()
"""


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_is_answered_within_an_iteration(data, tmp_path, number, code):
    """After the shard that is under way, of which the one long iteration has very many."""
    for side in ("src", "tgt"):
        (tmp_path / side).write_bytes((data / f"generated.{side}").read_bytes() * 60)
    command = [sys.executable, "-c", SHARDS_SAID, "train", "src", "tgt", "-o", "model", "--fast"]
    command += ["--threads", "1", "--model", "bhmm", "--ibm1-iterations", "0", "--iterations", "1"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True
    ) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if line.startswith("shard"))
        began = time.monotonic()
        process.send_signal(number)
        rest = process.stderr.read()
        process.wait(timeout=60)
    assert process.returncode == code
    *words, done, whole = line.split()
    assert words == ["shard", "of", "bhmm"] and 100 * float(done) < float(whole)  # at the beginning
    assert rest.count("shard of bhmm") < 20
    assert time.monotonic() - began < 3
    assert "iteration" not in rest and "Traceback" not in rest
    assert sorted(os.listdir(tmp_path)) == ["src", "tgt"]


@pytest.mark.parametrize(
    "name, messages",
    [
        ("shmm", {2: "view 1 of 2, iteration 3 of 3", 5: "view 2 of 2, iteration 3 of 3"}),
        ("loo", {1: "view 1 of 2, iteration 2 of 2", 5: "all views together, iteration 4 of 4"}),
    ],
)
def test_a_model_in_the_middle_of_its_training_does_not_align(some, name, messages):
    recipe = Recipe.of(name, ibm1_iterations=2, hmm_iterations=int(name == "loo"), iterations=1, views=VIEWS)
    refused = []

    def check(model: Model) -> None:
        with pytest.raises(DataError, match="not finished: (view|all views)") as error:
            model.align(some)
        refused.append(str(error.value))

    model = learn(some, recipe, checkpoint=check)[0]
    assert len(refused) == 6 and model.unfinished == ""
    assert all(message in refused[n] for n, message in messages.items())
    assert len(model.align(some)) == 60

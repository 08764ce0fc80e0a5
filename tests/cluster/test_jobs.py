"""Trainings in jobs: any number of shards makes the model that one process makes, byte for byte."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trained import generated, recipe_of

from aligner import Corpus, DataError, Model, Recipe, learn, store
from aligner.cluster.counted import KIND, Counted
from aligner.cluster.due import DECIDE, ITERATE, NUMBER, Due, due, n_steps
from aligner.cluster.jobs import begin, count, update
from aligner.cluster.local import LocalView, merged
from aligner.cluster.shards import TextShard, in_text_shards
from aligner.models.kinds import MODELS
from aligner.text.cells import Seen
from aligner.text.classes import cluster
from aligner.text.views import see

SOME = generated().part(0, 90)
VIEWS = ["word", "prefix3", "prefix1/prefix5"]
# What is trained -> its recipe: every model, and what else a training depends on
RECIPES: dict[str, Recipe] = {
    **{name: recipe_of(name, iterations=2, ibm1_iterations=2, views=VIEWS[:2]) for name in MODELS},
    "three views": Recipe.of("loo", ibm1_iterations=2, views=VIEWS),
    "no constraint": Recipe.of("loo", ibm1_iterations=1, constraint="none", spelling=0, views=VIEWS[:2]),
    "by stages": Recipe.of(stages="ibm1:1,diagonal:1,ibm2:1,hmm:1,loo:1", views=VIEWS[:2]),
    "classes": Recipe.of("hmm", ibm1_iterations=1, iterations=2, classes=4, views=VIEWS[1:]),
    "classes of views together": Recipe.of("loo", ibm1_iterations=1, classes=4, views=VIEWS),
    "short sentences": Recipe.of("shmm", ibm1_iterations=1, iterations=1, max_length=9, views=["word"]),
    "forward": Recipe.of("hmm", direction="forward", ibm1_iterations=1, iterations=1, views=["word"]),
    "no iterations": Recipe.of("ibm1", iterations=0, views=["word"]),
    "lower case": Recipe.of("ibm1", iterations=1, lowercase=True, dirichlet=0.1),
}


def shards_of(model: Model, corpus: Corpus, n: int) -> list[TextShard]:
    return list(in_text_shards(corpus, model.recipe, n, model.facts["text"]))


def in_jobs(corpus: Corpus, recipe: Recipe, n: int, folder: Path | None = None, **settings: Any) -> Model:
    """Trains in jobs on n shards. folder: where all goes through files"""
    model = begin(corpus, recipe, **settings)
    shards, n_done = shards_of(model, corpus.fitted(recipe.lowercase, recipe.split), n), 0
    while (step := due(model)) is not None:
        assert step.place(model.recipe) == n_done
        if folder is not None:
            model.save(folder / f"{n_done}.model")
            model = Model.load(folder / f"{n_done}.model")
        counted = [count(model, kept(shard, folder), n_threads=1 + n % 2) for shard in shards]
        model = update(model, [kept(part, folder) for part in reversed(counted)], n_threads=1 + n % 2)
        n_done += 1
    assert n_done == n_steps(model.recipe)
    return model


def kept(x: Any, folder: Path | None) -> Any:
    """The same from a file."""
    if folder is None:
        return x
    path = str(folder / f"{type(x).__name__}-{x.number if isinstance(x, TextShard) else x.shard}")
    with store.open_new(path, overwrite=True) as out:
        x.write(out)
    return type(x).load(path)


def saved(model: Model, folder: Path) -> bytes:
    model.save(folder / "model", overwrite=True)
    return (folder / "model").read_bytes()


@pytest.mark.parametrize("name", RECIPES)
def test_shards_make_the_model_of_one_process(name, tmp_path):
    recipe = RECIPES[name]
    one = saved(learn(SOME, recipe)[0], tmp_path)
    for n in (2, 5):
        assert saved(in_jobs(SOME, recipe, n, tmp_path if n == 2 else None), tmp_path) == one, n


def test_empty_shards_long_pairs_and_empty_sides(tmp_path, monkeypatch):
    monkeypatch.setattr("aligner.text.corpus.MOST_CELLS", 1000)
    corpus = Corpus.of(
        [("a b", "x y"), ("", "x"), ("a " * 40, "x " * 40), ("b c", ""), ("c a", "y z"), ("a b", "x y")]
    )
    assert corpus.too_long.tolist() == [False, False, True, False, False, False]
    for name in ("loo", "ibm2", "shmm"):
        recipe = recipe_of(name, ibm1_iterations=1, iterations=1)
        one = saved(learn(corpus, recipe)[0], tmp_path)
        assert saved(in_jobs(corpus, recipe, 9), tmp_path) == one
    nothing = Corpus.of([])
    one = saved(learn(nothing, recipe)[0], tmp_path)
    assert saved(in_jobs(nothing, recipe, 2), tmp_path) == one


def test_a_sample_for_the_threshold_is_the_same_in_shards(tmp_path, monkeypatch):
    monkeypatch.setattr("aligner.decoding.threshold.MOST_PAIRS", 30)
    recipe = recipe_of("ibm1", iterations=2, max_length=12, views=["word"])
    model, _ = learn(SOME, recipe)
    assert 30 < model.facts["pairs"] < 90
    assert saved(in_jobs(SOME, recipe, 4), tmp_path) == saved(model, tmp_path)


def test_given_classes(tmp_path):
    recipe = recipe_of("hmm", ibm1_iterations=1, iterations=2, views=VIEWS[:2])
    classes = cluster(SOME.src, 5), cluster(SOME.tgt, 3)
    one = saved(learn(SOME, recipe, classes=classes)[0], tmp_path)
    assert saved(in_jobs(SOME, recipe, 3, classes=classes), tmp_path) == one


def test_one_process_can_go_on_with_a_training_in_jobs(tmp_path):
    """And does not need what jobs need."""
    recipe = recipe_of("loo", ibm1_iterations=1, views=VIEWS[:2])
    one, model = learn(SOME, recipe)[0], begin(SOME, recipe)
    shards = shards_of(model, SOME, 2)
    while due(model) is not None:
        found, _ = learn(SOME, recipe, resume=model)
        assert saved(found, tmp_path) == saved(one, tmp_path)
        model = update(model, [count(model, shard) for shard in shards])


def test_inputs_are_not_changed(tmp_path):
    model = begin(SOME, recipe_of("loo", ibm1_iterations=1, iterations=1, views=VIEWS[:2]))
    shards = shards_of(model, SOME, 2)
    while due(model) is not None:
        before = saved(model, tmp_path)
        counted = [count(model, shard) for shard in shards]
        new = update(model, counted)
        assert saved(model, tmp_path) == before
        assert saved(update(model, counted), tmp_path) == saved(new, tmp_path)
        model = new


def test_shards_are_contiguous_and_about_as_large():
    recipe = recipe_of("ibm1", max_length=11)
    model = begin(SOME, recipe)
    shards, n = shards_of(model, SOME, 4), 0
    for k, shard in enumerate(shards):
        for side, whole in ((shard.corpus.src, SOME.src), (shard.corpus.tgt, SOME.tgt)):
            for m in range(len(shard.corpus)):
                assert side.sentence(m) == whole.sentence(n + m)
            assert side.vocab.words == [x for x in whole.vocab.words if x in set(side.vocab.words)]
            assert (side.counts > 0).all()
        lengths = np.maximum(SOME.src.lengths, SOME.tgt.lengths)[:n]
        assert (shard.number, shard.n_shards, shard.n_before) == (k + 1, 4, (lengths <= 11).sum())
        n += len(shard.corpus)
    assert n == len(SOME)
    cells = [(x.corpus.src.lengths * x.corpus.tgt.lengths).sum() for x in shards]
    assert max(cells) < 1.3 * min(cells)


@pytest.mark.parametrize("block", [1, 50, 1 << 24])
@pytest.mark.parametrize("view", VIEWS)
def test_word_pairs_of_shards_merge_to_those_of_the_text(view, block, monkeypatch):
    monkeypatch.setattr("aligner.cluster.local.BLOCK_PAIRS", block)
    whole, text = Seen.of_own_words(SOME, view, 1), see(SOME, view)
    vocabs = text.src.vocab, text.tgt.vocab
    parts = [LocalView.of(SOME.part(a, a + 30), view, *vocabs, 1).pairs for a in (0, 30, 60)]
    rows, pair_tgt = merged(parts, *map(len, vocabs))
    np.testing.assert_array_equal(rows, whole.rows)
    np.testing.assert_array_equal(pair_tgt, whole.tgt)
    assert pair_tgt.dtype == np.int32 and sum(len(x.pair_tgt) for x in parts) > len(pair_tgt)


def test_a_shard_needs_its_own_word_pairs_alone():
    recipe = recipe_of("loo", ibm1_iterations=1, iterations=1, views=["word"])
    model = begin(SOME, recipe)
    shards = shards_of(model, SOME, 3)
    while due(model) is not None:
        counted = [count(model, shard) for shard in shards]
        for part, shard in zip(counted, shards, strict=True):
            own = Seen.of_own_words(shard.corpus, "word", 1)
            for pairs in part.pairs:
                assert len(pairs.pair_tgt) == len(own.tgt)
            for counts in part.counts:
                assert len(counts.pairs) == len(own.tgt)
        model = update(model, counted)


@pytest.fixture(scope="module")
def under_way() -> tuple[Model, list[Counted]]:
    """A training in its second step, and what two shards counted."""
    model = begin(SOME, recipe_of("hmm", ibm1_iterations=1, iterations=1, views=["word"]))
    shards = shards_of(model, SOME, 2)
    model = update(model, [count(model, shard) for shard in shards])
    return model, [count(model, shard) for shard in shards]


def test_wrong_counts_are_refused_by_name(under_way):
    model, (one, two) = under_way
    one, two = replace(one, file="counts-1"), replace(two, file="counts-2")
    other = begin(SOME, recipe_of("hmm", ibm1_iterations=2, iterations=1, views=["word"]))
    for parts, message in (
        ([], "nothing was counted"),
        ([one], "the counts of 1 of 2 shards are missing: 2; give the counts of all shards"),
        ([one, one], "counts-1: the counts of shard 1 are there twice, also in counts-1"),
        (
            [one, replace(two, n_shards=3)],
            "counts-2: these are counts of one of 3 shards, others of one of 2",
        ),
        ([one, replace(two, training=other.signature)], "counts-2: these are counts of another training: "),
        (
            [one, replace(two, due=Due(NUMBER, 0))],
            "counts-2: these are counts of step 1 of 3, numbering word pairs, view 1 of 1 .words.; due is"
            " step 2 of 3, iteration 1 of 1 of ibm1, view 1 of 1 .words.; count with this model",
        ),
        ([one, replace(two, pairs=[])], "counts-2: the counts are not of the words of this training"),
    ):
        with pytest.raises(DataError, match=message):
            update(model, parts)
    pairs = replace(one.pairs[0], src=one.pairs[0].src + np.int32(10_000))
    with pytest.raises(DataError, match="the counts are not of the words of this training"):
        update(model, [replace(one, pairs=[pairs]), two])
    narrow = replace(one.counts[0], pairs=one.counts[0].pairs[:, :1])
    with pytest.raises(DataError, match="the counts are not of the words of this training"):
        update(model, [replace(one, counts=[narrow]), two])


def test_counts_of_shards_that_were_cut_otherwise_are_refused():
    """The two texts have the same sentence pairs to train on, and others in other places."""
    pairs, long = [("a b c", "x y z"), ("b", "y"), ("a", "x"), ("c a", "z x")], ("a " * 9, "x " * 9)
    recipe = Recipe.of("ibm1", iterations=1, views=["word"], max_length=5)
    texts = [Corpus.of([*pairs, long]), Corpus.of([pairs[0], long, *pairs[1:]])]
    models = [begin(text, recipe) for text in texts]
    assert models[0].signature == models[1].signature
    counted = [[count(models[0], x) for x in shards_of(models[0], text, 2)] for text in texts]
    assert [x.end for x in counted[0]] != [x.end for x in counted[1]]
    for parts in counted:
        update(models[0], parts)
    for one, other in ((0, 1), (1, 0)):
        with pytest.raises(DataError, match="and the shard before ends at"):
            update(models[0], [counted[one][0], counted[other][1]])
    with pytest.raises(DataError, match="sentence pairs . to 9 of 4"):
        update(models[0], [counted[0][0], replace(counted[0][1], end=9)])


def test_pruning_is_refused():
    with pytest.raises(DataError, match="forgets no word pairs") as error:
        begin(generated().part(0, 20), Recipe.of("shmm", prune=0.01))
    assert (error.value.setting, error.value.value) == ("prune", "0")


def test_wrong_models_and_shards_are_refused(under_way):
    model, _ = under_way
    shard = shards_of(model, SOME, 2)[0]
    with pytest.raises(DataError, match="the shard is of the text 00000000, the model of"):
        count(model, replace(shard, text="00000000"))
    lost = TextShard(Corpus.of([("nowhere", "ce")]), 1, 2, 0, shard.text)
    with pytest.raises(DataError, match="the word 'nowhere' is not in the text that is trained on"):
        count(model, lost)
    beside = TextShard(Corpus.of([(SOME.src.sentence(0), SOME.tgt.sentence(80))]), 1, 2, 0, shard.text)
    with pytest.raises(DataError, match="the shard has word pairs that the model does not know"):
        count(model, beside)
    finished, _ = learn(SOME, model.recipe)
    for use in (lambda m: count(m, shard), lambda m: update(m, [])):
        with pytest.raises(DataError, match="the training of this model is finished; align text with it"):
            use(finished)
        with pytest.raises(DataError, match="aligner 0.0.1 began this training"):
            use(replace(model, facts=model.facts | {"version": "0.0.1"}))
        with pytest.raises(DataError, match="this training is not one in jobs"):
            use(replace(model, census=None))


def test_damaged_files_are_refused(under_way, tmp_path):
    model, (one, _) = under_way
    shard = shards_of(model, SOME, 2)[0]
    for x, kind in ((one, KIND), (shard, "shard")):
        path = tmp_path / type(x).__name__
        kept(x, tmp_path)
        written = next(iter(tmp_path.glob(f"{path.name}-*"))).read_bytes()
        for at in range(0, len(written), max(1, len(written) // 40)):
            broken = bytearray(written)
            broken[at] ^= 0x15
            path.write_bytes(broken)
            try:
                found = type(x).load(str(path))
            except DataError as error:
                assert kind in str(error) or "aligner" in str(error)
            else:  # between arrays
                assert found.n_shards == 2
        path.write_bytes(written[:-3])
        with pytest.raises(DataError, match=f"the {kind} has .* bytes, .* were written; copy it again"):
            type(x).load(str(path))
    with pytest.raises(DataError, match="this is a shard of aligner, not a counts file"):
        Counted.load(str(tmp_path / "TextShard-1"))


CRAFTED = [
    ("Counted", {"by": "0.0.1"}, {}, "it is of aligner 0.0.1"),
    ("Counted", {"shard": 3}, {}, "there is no step 'iterate' of shard 3 of 2"),
    ("Counted", {"due": {"kind": "x", "view": 0, "iteration": 0}}, {}, "there is no step 'x'"),
    ("Counted", {"statistics": {"x": "y"}}, {}, "statistics.x is not of type int"),
    ("Counted", {}, {"0.src": None}, "there is no array src"),
    ("Counted", {}, {"0.rows": lambda x: x[::-1].copy()}, "rows does not rise"),
    ("Counted", {}, {"0.tgt": lambda x: x[::-1].copy()}, "tgt does not rise"),
    ("Counted", {}, {"0.pair_tgt": lambda x: x + np.int32(9999)}, "pair_tgt must be between"),
    ("Counted", {}, {"0.counts.null_fwd": lambda x: x - 2**60}, "a count is negative"),
    ("Counted", {}, {"0.counts.pairs": lambda x: x[1:]}, "pairs is int64"),
    ("Counted", {}, {"more": lambda _: np.zeros(1)}, "there is an unknown array more"),
    ("TextShard", {"number": 0}, {}, "shard 0 of 2 cannot be"),
    ("TextShard", {"text": 1}, {}, "text is not of type str"),
    ("TextShard", {}, {"src.ids": lambda x: x - np.int32(1)}, "ids must be between"),
    ("TextShard", {}, {"src.sentences": lambda x: x[:-1]}, "src.sentences does not rise"),
    ("TextShard", {}, {"src.text": lambda x: x | 0x80}, "src.text is not UTF-8"),
    ("TextShard", {}, {"tgt.sentences": lambda x: np.delete(x, 1)}, "not as many sentences"),
    ("TextShard", {}, {"tgt.ids": None}, "there is no array ids"),
]


@pytest.mark.parametrize("kind, header, arrays, message", CRAFTED, ids=[x[3] for x in CRAFTED])
def test_crafted_files_are_refused(under_way, tmp_path, kind, header, arrays, message):
    model, (one, _) = under_way
    x = {"Counted": one, "TextShard": shards_of(model, SOME, 2)[0]}[kind]
    kept(x, tmp_path)
    name = {"Counted": KIND, "TextShard": "shard"}[kind]
    facts, tables = store.read(tmp_path / f"{kind}-1", lambda _: True, name)
    for key, change in arrays.items():
        if change is None:
            del tables[key]
        else:
            tables[key] = change(tables.get(key))
    store.write(tmp_path / "crafted", {"kind": name} | facts | header, tables)
    with pytest.raises(DataError, match=f"the {name} is not as aligner writes it: .*{message}"):
        type(x).load(str(tmp_path / "crafted"))


def test_steps_are_told():
    recipe = Recipe.of("loo", ibm1_iterations=2, hmm_iterations=0, iterations=2, views=VIEWS)
    steps = [Due(NUMBER, 0), Due(ITERATE, 0, 0), Due(ITERATE, 0, 1), Due(NUMBER, 1), Due(ITERATE, 2, 1)]
    steps += [Due(ITERATE, -1, 2), Due(ITERATE, -1, 3)]
    assert [step.place(recipe) for step in steps] == [0, 1, 2, 3, 8, 9, 10] and n_steps(recipe) == 11
    assert steps[2].described(recipe) == "step 3 of 11, iteration 2 of 2 of ibm1, view 1 of 3 (words)"
    assert steps[-1].described(recipe) == "step 11 of 11, iteration 2 of 2 of loo"
    shmm = Recipe.of("shmm", ibm1_iterations=1, iterations=1, views=["word"])
    assert n_steps(shmm) == 4
    assert Due(DECIDE).described(shmm) == "step 4 of 4, finding the threshold"

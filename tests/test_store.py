"""Model files: they keep every bit, and what is damaged, foreign or not a file is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from trained import assert_same_arrays, generated, links_of, plain, recipe_of, same

from aligner import DataError, Model, store, train
from aligner.models.recipe import MODELS, Limits
from aligner.text.corpus import Corpus
from aligner.training.loop import learn


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return generated()


def without_zeros(model: Model) -> Model:
    """The model without word pairs that are impossible in both directions: files leave them out."""
    views = []
    for view in model.views:
        lexicon = view.parameters.lexicon
        kept = [k for k, row in enumerate(lexicon.t.tolist()) if row != [0, 0]]
        e = np.repeat(np.arange(len(view.src)), np.diff(lexicon.rows))[kept]
        rows = np.cumsum([0, *np.bincount(e, minlength=len(view.src))], dtype=np.int64)
        small = replace(lexicon, rows=rows, tgt=lexicon.tgt[kept], t=lexicon.t[kept])
        if small.evidence is not None:
            small.evidence = replace(small.evidence, linked=None)
        views.append(replace(view, parameters=replace(view.parameters, lexicon=small)))
    return replace(model, views=views)


@pytest.mark.parametrize("name", MODELS)
def test_saved_model_gives_the_same_links(corpus, tmp_path, name):
    recipe = recipe_of(name, iterations=2, ibm1_iterations=2, views=("word", "suffix3"))
    model, seen = learn(corpus, recipe, memory=1 << 30)
    assert None not in seen
    path = str(tmp_path / "model")
    model.save(path)
    again = Model.load(path)
    assert again.recipe == recipe and again.facts == model.facts and again.history == model.history
    assert again.progress is None and again.signature == model.signature
    assert_same_arrays(again, without_zeros(model))
    a, b = links_of(model, corpus, seen=seen), links_of(again, corpus)
    assert same(a[0], b[0]) and same(a[1], b[1])
    c = links_of(train(corpus, recipe), corpus)  # without cells: words are looked up
    assert same(a[0], c[0]) and same(a[1], c[1])
    second = str(tmp_path / "second")
    again.save(second)
    assert (tmp_path / "second").read_bytes() == (tmp_path / "model").read_bytes()


def test_foreign_and_damaged_models_are_refused(corpus, tmp_path, write):
    model = train(corpus.part(0, 50), plain(1, 1))
    path = tmp_path / "model"
    model.save(str(path))
    whole = path.read_bytes()
    with pytest.raises(DataError, match="not a model of aligner"):
        Model.load(write("text", "0-0\n"))
    with pytest.raises(DataError, match="not a model of aligner"):
        Model.load(write("empty", ""))
    with pytest.raises(DataError, match="has format 99"):
        Model.load(write("new", whole[:7] + b"\x63" + whole[8:]))
    with pytest.raises(DataError, match="header is damaged or cut off"):
        Model.load(write("cut", whole[:100]))
    with pytest.raises(DataError, match="header is damaged or cut off"):
        Model.load(write("odd", whole[:30] + b"x" + whole[31:]))
    with pytest.raises(DataError, match=r"bytes, \d+ were written"):
        Model.load(write("short", whole[:-1]))


def test_every_damaged_byte_of_the_arrays_is_found(tmp_path, write):
    """Arrays that lead to others are always checked, the others when a check is asked for."""
    path = tmp_path / "model"
    store.write(path, {"of": "tests"}, {"rows": np.arange(3), "t": np.ones((2, 2), np.float32)})
    whole = path.read_bytes()
    start = len(whole) - 64 - 16  # rows has 24 bytes and 40 of padding, t 16
    for k in (*range(start, start + 24), *range(start + 64, len(whole))):
        broken = write("broken", whole[:k] + bytes([whole[k] ^ 1]) + whole[k + 1 :])
        name = "rows" if k < start + 24 else "t"
        with pytest.raises(DataError, match=f"the model's {name} is damaged"):
            store.read(broken, lambda _: True)
        if name == "rows":
            with pytest.raises(DataError, match="the model's rows is damaged"):
                store.read(broken, lambda name: name == "rows")
        else:
            store.read(broken, lambda name: name == "rows")


def test_arrays_and_header_come_back_as_they_were(tmp_path):
    random = np.random.default_rng(0)
    tables = {
        "bytes": np.frombuffer(b"abc", np.uint8),
        "none": np.empty((0, 2), np.float32),
        "longs": np.array([-(2**63), 2**63 - 1]),
        "doubles": np.array([0.1, -0.0, np.inf, np.nan, 5e-324]),
        "turned": random.random((3, 4)).T,
    }
    header = {"numbers": [0.1, 1e-300, 2**53], "nothing": None, "text": "\u00e9\u4e00"}
    store.write(tmp_path / "m", header, tables)
    found, mapped = store.read(tmp_path / "m", lambda _: True)
    assert {key: found[key] for key in header} == header
    assert mapped.keys() == tables.keys()
    for name, array in tables.items():
        assert mapped[name].dtype == array.dtype
        np.testing.assert_array_equal(mapped[name], array)
        assert not mapped[name].flags.writeable
    with pytest.raises(DataError, match="the file exists"):
        store.write(tmp_path / "m", header, tables)
    store.write(tmp_path / "m", {}, {}, overwrite=True)
    assert store.read(tmp_path / "m", lambda _: True)[1] == {}


def test_a_saved_recipe_does_not_follow_new_defaults(corpus, tmp_path, monkeypatch):
    """A model decodes as it was trained, whatever a later version thinks suits its kind."""
    some = corpus.part(0, 200)
    model = train(some, recipe_of("shmm", iterations=1, views=["word"]))
    links = model.align(some)
    model.save(tmp_path / "m")
    kind = MODELS["shmm"]
    monkeypatch.setitem(
        MODELS,
        "shmm",
        replace(kind, iterations=9, threshold=0.9, objective="bijective", limits=Limits(eta=1.0, slack=9.0)),
    )
    again = Model.load(tmp_path / "m")
    assert again.recipe == model.recipe and again.recipe.last.limits == Limits()
    assert same(again.align(some), links)
    other = train(some, recipe_of("shmm", iterations=1, views=["word"]))
    assert not same(other.align(some), links)  # so the new defaults do make a difference

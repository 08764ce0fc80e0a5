"""Combiners: files that keep every bit, what is refused, and links that are those of the classifiers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz import packed, parts
from trained import GOLD, SRC, TGT, recipe_of, same

from aligner import (
    Combiner,
    Corpus,
    DataError,
    LinkReader,
    Links,
    Model,
    learn_combiner,
    read_corpus,
    store,
    train,
)
from aligner.decoding.posteriors import CUTOFF
from aligner.decoding.tuned import FACT as TUNED
from aligner.learning.candidates import Candidates, candidates
from aligner.learning.combiner import KIND, Words, name_of, said, score
from aligner.learning.features import features
from aligner.learning.learn import Learned
from aligner.links.known import SURE

SETTINGS: dict[str, dict[str, Any]] = {
    "two passes": {},
    "one pass": {"passes": 1},
    "no words": {"words": False},
    "matching": {"structure": "matching"},
    "fertility": {"structure": "fertility"},
}


@pytest.fixture(scope="module")
def sample() -> Corpus:
    return read_corpus(str(SRC), str(TGT))


@pytest.fixture(scope="module")
def model(sample) -> Model:
    return train(sample, recipe_of("loo", ibm1_iterations=2, views=["word", "prefix3"]))


@pytest.fixture(scope="module")
def learned(model, sample) -> dict[str, Learned]:
    gold = LinkReader(str(GOLD)).read()
    found = {name: learn_combiner(model, sample, gold, folds=2, **x) for name, x in SETTINGS.items()}
    sure = replace(gold, sure=None)
    return found | {"two classes": learn_combiner(model, sample, sure, folds=2, passes=1)}


@pytest.fixture(scope="module")
def combiner(learned) -> Combiner:
    return learned["two passes"].combiner


# Files


@pytest.mark.parametrize("name", [*SETTINGS, "two classes"])
def test_files_keep_every_bit(model, sample, learned, name, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    combiner = learned[name].combiner
    combiner.save(one)
    again = Combiner.load(one)
    again.save(str(other))
    assert one.read_bytes() == other.read_bytes()
    assert repr(again) == repr(combiner) and again.heaviest(5) == combiner.heaviest(5)
    assert same(again.align(model, sample), combiner.align(model, sample))


def test_what_it_is_called(combiner):
    assert repr(combiner) == "Combiner(views word,prefix3, learned from 60 sentence pairs)"


def test_files_that_are_there_are_kept(combiner, tmp_path):
    path = tmp_path / "combiner"
    path.write_text("mine")
    with pytest.raises(DataError, match="exists"):
        combiner.save(path)
    assert path.read_text() == "mine"
    combiner.save(path, overwrite=True)
    assert Combiner.load(path).threshold == combiner.threshold
    for name, message in (("-", "a combiner is a file, not stdin"), ("x.gz", "combiners are not compressed")):
        with pytest.raises(DataError, match=message):
            combiner.save(name)
    with pytest.raises(TypeError, match="^path must be the name of a file, not 3$"):
        combiner.save(3)


def test_other_files_are_refused(combiner, model, tmp_path):
    mine, other = tmp_path / "combiner", tmp_path / "model"
    combiner.save(mine)
    model.save(other)
    with pytest.raises(DataError, match="this is a model of aligner, not a combiner"):
        Combiner.load(other)
    with pytest.raises(DataError, match="this is a combiner of aligner, not a model"):
        Model.load(mine)
    with pytest.raises(DataError, match="this is not a combiner of aligner"):
        Combiner.load(SRC)
    with pytest.raises(DataError, match="from a pipe or a folder"):
        Combiner.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        Combiner.load(tmp_path / "none")
    with pytest.raises(TypeError, match="^path must be the name of a file, not None$"):
        Combiner.load(None)


def written(combiner: Combiner, path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of a combiner's file, to be changed."""
    combiner.save(path, overwrite=True)
    header, arrays = store.read(path, lambda name: True, KIND)
    return header, {name: array.copy() for name, array in arrays.items()}


def set_to(name: str, value: Any) -> Callable:
    """Changes a fact of the header."""
    return lambda header, arrays: header.update({name: value})


def at(name: str, place: Any, value: float) -> Callable:
    """Changes a number of an array."""
    return lambda header, arrays: arrays[name].__setitem__(place, value)


def shortened(name: str) -> Callable:
    return lambda header, arrays: arrays.update({name: arrays[name][:-1]})


CRAFTED = {
    "features": (set_to("features", []), "other features than this version"),
    "views": (set_to("views", ["word"]), "other features than this version"),
    "no views": (lambda header, arrays: header.pop("views"), "header has no views"),
    "more": (set_to("more", 1), "unknown 'more'"),
    "threshold": (set_to("threshold", 1.5), "the threshold must be between 0 and 1"),
    "classes": (set_to("classes", 4), "2 passes of 4 classes cannot be"),
    "passes": (set_to("passes", 3), "3 passes of 3 classes cannot be"),
    "negative passes": (set_to("passes", -1), "-1 passes of 3 classes cannot be"),
    "fewer passes": (set_to("passes", 1), "an unknown array 1."),
    "structured": (set_to("passes", 0), "array"),
    "counts": (set_to("counts", [10**6, 0]), "weights is"),
    "negative counts": (set_to("counts", [-1, 0]), "weights is"),
    "a weight": (at("0.weights", (0, 0), np.nan), "0.weights must be between"),
    "a large weight": (at("1.weights", (0, 0), 1e300), "1.weights must be between"),
    "a deviation": (at("0.deviation", 0, 0), "0.deviation must be between"),
    "a mean": (at("0.mean", 0, np.inf), "0.mean must be between"),
    "pairs": (at("pairs", 0, -1), "pairs must be between"),
    "pairs that fall": (at("pairs", 1, 0), "the pairs of indicators do not rise"),
    "words": (shortened("src.text"), "src.offsets does not rise"),
    "offsets": (shortened("src.offsets"), "src.offsets does not rise"),
    "fewer weights": (shortened("0.weights"), "0.weights is"),
    "fewer means": (shortened("1.mean"), "1.mean is"),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_files_are_refused(combiner, tmp_path, name):
    change, message = CRAFTED[name]
    path = tmp_path / "combiner"
    header, arrays = written(combiner, path)
    change(header, arrays)
    store.write(path, header | {"kind": KIND}, arrays, overwrite=True)
    with pytest.raises(DataError, match=message) as refused:
        Combiner.load(path)
    assert refused.value.file == str(path) and refused.value.hint


STRUCTURED = {
    "a negative penalty": (at("structured.tgt_penalties", 0, -1.0), "tgt_penalties must be between"),
    "a pattern": (at("structured.pattern_scores", 0, -1.0), "pattern_scores must be between"),
    "a weight": (at("structured.weights", 0, np.inf), "structured.weights must be between"),
    "fewer patterns": (shortened("structured.pattern_scores"), "structured.pattern_scores is"),
}


@pytest.mark.parametrize("name", STRUCTURED)
def test_crafted_structures_are_refused(learned, tmp_path, name):
    change, message = STRUCTURED[name]
    path = tmp_path / "combiner"
    header, arrays = written(learned["fertility"].combiner, path)
    change(header, arrays)
    store.write(path, header | {"kind": KIND}, arrays, overwrite=True)
    with pytest.raises(DataError, match=message):
        Combiner.load(path)


def test_penalties_that_fall_are_refused(learned, tmp_path):
    path = tmp_path / "combiner"
    header, arrays = written(learned["fertility"].combiner, path)
    arrays["structured.src_penalties"] = np.array([0.5, 0.25])
    store.write(path, header | {"kind": KIND}, arrays, overwrite=True)
    with pytest.raises(DataError, match="penalties of later links fall"):
        Combiner.load(path)


def test_damage_is_found(combiner, tmp_path):
    path = tmp_path / "combiner"
    combiner.save(path)
    whole = path.read_bytes()
    header, arrays = parts(whole)
    assert packed(header, arrays) == whole
    for damaged in (whole[:-1], whole[:100], whole + b"\0", whole[:-9] + b"\xff" + whole[-8:]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="combiner"):
            Combiner.load(path)


# Links


def test_links_are_those_of_the_classifiers(model, sample, combiner):
    """Scored pass by pass, over the whole text at once."""
    words = Words(combiner.indicators, sample)
    these = Candidates.joined([some for _, some in candidates(model, sample, 1)])
    x, found = features(these, words.spelling, 1), words.found(these)
    first, second = combiner.passes
    p = first.probabilities(x, found, 1)
    p = second.probabilities(np.concatenate([x, said(these, score(p), 1)]), found, 1)
    np.testing.assert_allclose(score(p), p[2] + p[1] / 2, rtol=1e-12)
    scores = score(p).astype(np.float32)
    links = Links.joined(combiner.scores(model, sample))
    kept = scores > CUTOFF
    np.testing.assert_array_equal(links.src, these.src[kept])
    np.testing.assert_array_equal(links.tgt, these.tgt[kept])
    np.testing.assert_array_equal(links.scores.astype(np.float32), scores[kept])
    aligned = combiner.align(model, sample)
    assert aligned.scores.min() > combiner.threshold
    assert len(aligned.src) == (links.scores > combiner.threshold).sum()


@pytest.mark.parametrize("name", [*SETTINGS, "two classes"])
def test_links_do_not_depend_on_threads_or_neighbours(model, sample, learned, name, monkeypatch):
    """Nor on how many candidates have their features in memory."""
    combiner = learned[name].combiner
    whole = combiner.align(model, sample, threshold=0.0)
    assert same(combiner.align(model, sample, threshold=0.0, n_threads=3), whole)
    one = combiner.align(model, sample.part(20, 21), threshold=0.0)
    assert one.scored() == whole[20:21].scored()
    monkeypatch.setattr("aligner.learning.candidates.PART", 50)
    assert same(combiner.align(model, sample, threshold=0.0), whole)


def test_programs_are_solved_a_few_sentence_pairs_at_a_time(model, sample, learned, monkeypatch):
    """So that a signal need not wait for many of them."""
    quick = learned["fertility"].combiner
    weights = replace(quick.structured.weights, pattern_scores=np.full(4, 0.1))
    slow = replace(quick, structured=replace(quick.structured, weights=weights))
    sizes = []

    def chosen(self, some, x, n_threads):
        sizes.append(len(some))
        return np.ones(len(some), bool)

    monkeypatch.setattr("aligner.learning.structured.Structured.chosen", chosen)
    links = [combiner.align(model, sample) for combiner in (quick, slow)]
    assert same(*links) and len(links[0].src) == sizes[0] == sum(sizes[1:]) and len(sizes) > 5


def test_links_a_word(model, sample, learned, combiner):
    for decode, most, more in (
        ("one-to-one", 1, {}),
        ("fertility", 2, {}),
        ("fertility", 3, {"max_fertility": 3}),
    ):
        links = combiner.align(model, sample, decode=decode, threshold=0.2, **more)
        for one in links.pairs():
            for side in (0, 1):
                assert np.bincount([link[side] for link in one], minlength=1).max() <= most
    for name, most in (("matching", 1), ("fertility", 3)):
        links = learned[name].combiner.align(model, sample)
        assert set(links.scores.tolist()) == {1.0}
        for one in links.pairs():
            for side in (0, 1):
                assert np.bincount([link[side] for link in one], minlength=1).max() <= most


def test_known_links_are_kept(model, sample, combiner):
    """Given ones score 1 and excluded ones 0, whatever the combiner says."""
    likely = max(combiner.align(model, sample).scored()[0], key=lambda link: link[2])[:2]
    unlikely = min(set(np.ndindex(2, 2)) - {likely})
    known = Links.from_pairs([[(*unlikely, SURE), (*likely, 0.0)], *[[]] * 59])
    links = combiner.align(model, sample, links=known)
    found = {link[:2]: link[2] for link in links.scored()[0]}
    assert found[unlikely] == 1 and likely not in found
    with pytest.raises(DataError, match="given links are all kept"):
        combiner.align(model, sample, links=known, decode="one-to-one")
    with pytest.raises(DataError, match="known links of 59 sentence pairs, the text has 60"):
        combiner.align(model, sample, links=known[:59])


@pytest.mark.parametrize(
    "text",
    [[], [("", "")], [("", "le"), ("the", "")], [("zzz", "yyy")], [("zzz yyy", "\u00a0 e\u0301t\u00e9")]],
)
def test_any_text(model, learned, text):
    for one in learned.values():
        links = one.combiner.align(model, text)
        assert len(links) == len(text)


def test_models_with_other_views_are_refused(sample, combiner):
    for recipe, message in (
        (recipe_of("hmm", iterations=1, views=["word"]), "the views word, prefix3; the model has word"),
        (recipe_of("hmm", iterations=1, views=["prefix3", "word"]), "the model has prefix3, word"),
        (
            recipe_of("hmm", iterations=1, views=["word", "prefix3"], direction="reverse"),
            "for models of both directions, and the model was trained reverse only",
        ),
    ):
        with pytest.raises(DataError, match=message):
            combiner.align(train(sample, recipe), sample)


def test_arguments_are_checked(model, sample, combiner):
    for change, kind, message in (
        ({"model": "model"}, TypeError, "^model must be a Model, not 'model'$"),
        ({"text": None}, TypeError, "^text must be"),
        ({"threshold": 2}, ValueError, "^threshold must be a number between 0 and 1, not 2$"),
        ({"threshold": "auto"}, TypeError, "^threshold must be"),
        ({"decode": "x"}, ValueError, "^unknown decode 'x'"),
        ({"n_threads": "2"}, TypeError, "^n_threads must be"),
    ):
        with pytest.raises(kind, match=message):
            combiner.align(**{"model": model, "text": sample} | change)


def test_tuning_makes_no_other_model(model):
    """A combiner tells models apart, but not a model from the same one that was tuned."""
    tuned = replace(model, facts=model.facts | {TUNED: {"by": "aer"}})
    assert tuned.checksum != model.checksum and name_of(tuned) == name_of(model)
    assert name_of(replace(model, facts=model.facts | {"text": "other"})) != name_of(model)

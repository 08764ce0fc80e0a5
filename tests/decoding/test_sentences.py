"""Scores of sentence pairs: costs against enumeration, confidence against a slow twin, and their files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import FLOOR, places_of
from trained import generated, recipe_of, run

from aligner import Corpus, Links, Model, Recipe, train
from aligner.decoding.posteriors import NO_COST, directions
from aligner.decoding.sentences import confidence, format_scores
from aligner.text.views import parse

TEXT = [("the cat", "le chat"), ("cats", "les chats"), ("the", "le"), ("a cat the", "un chat")]


def costs_of(model: Model, text: Corpus, **options) -> np.ndarray:
    costs = np.full((len(text), 2), -1.0)
    for _ in directions(model.views, model.recipe, text, shares=model.shares, costs=costs, **options):
        pass
    return costs


def enumerated(model: Model, src: str, tgt: str, d: int) -> float:
    """-log p of all alignments a generated word, the mean over the views."""
    found = []
    for view in model.views:
        m, cuts = view.parameters, parse(view.name)
        seen = [[cut(x) if cut else x for x in s.split()] for s, cut in zip((src, tgt), cuts, strict=True)]
        e, f = (vocab.find(words).tolist() for vocab, words in zip((view.src, view.tgt), seen, strict=True))
        table = {
            (a, int(m.lexicon.tgt[k])): float(m.lexicon.t[k, d])
            for a in range(len(view.src))
            for k in range(m.lexicon.rows[a], m.lexicon.rows[a + 1])
        }
        emit = [[FLOOR + table.get((a, b), 0.0) for a in e] for b in f]
        null = [FLOOR + (float(m.lexicon.null_fwd[b]) if b >= 0 else 0) for b in f]
        if d == 1:
            emit = [list(row) for row in zip(*emit, strict=True)]
            null = [FLOOR + (float(m.lexicon.null_rev[a]) if a >= 0 else 0) for a in e]
        if m.positions is None:
            found.append(oracle.model1(emit, null)[0])
        else:
            found.append(oracle.hmm(emit, null, *places_of(m.positions, d))["loglik"])
    return -sum(found) / len(found) / len((tgt, src)[d].split())


@pytest.mark.parametrize("name", ["ibm1", "hmm", "shmm"])
def test_costs_are_those_of_all_alignments_a_word(name):
    model = train(TEXT, recipe_of(name, views=["word", "prefix2"], window=2))
    text = [*TEXT[:2], ("a dog", "un chien noir")]
    found = costs_of(model, Corpus.from_pairs(text))
    expected = [[enumerated(model, *pair, d) for d in range(2)] for pair in text]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert found[2].min() > found[:2].max()


def test_pairs_without_a_lattice_and_directions_that_are_not_trained(monkeypatch):
    text = Corpus.from_pairs([("", "le"), ("the cat", "le chat"), ("the", ""), ("", "")])
    for direction, column in (("forward", 0), ("reverse", 1)):
        model = train(TEXT, Recipe.of("hmm", views=["word"], direction=direction))
        found = costs_of(model, text)
        assert np.isnan(found[:, 1 - column]).all()
        assert (found[[0, 2, 3], column] == NO_COST).all() and 0 < found[1, column] < 10
    model = train(TEXT, Recipe.of(views=["word"]))
    monkeypatch.setattr("aligner.text.corpus.MOST_CELLS", 255)  # no pair is short enough
    assert (costs_of(model, Corpus.from_pairs([("the cat", "le chat")])) == NO_COST).all()
    with pytest.raises(ValueError, match="the costs are not of 4 sentence pairs"):
        next(directions(model.views, model.recipe, text, costs=np.zeros((3, 2))))


@pytest.mark.parametrize("name", ["loo", "shmm", "ibm1"])
def test_costs_are_the_same_for_any_threads_shards_and_links(name, monkeypatch):
    text = generated().part(0, 120)
    model = train(text, recipe_of(name, views=["word", "prefix3"], iterations=1, ibm1_iterations=1))
    whole = costs_of(model, text)
    assert whole.shape == (120, 2) and np.isfinite(whole).all()
    monkeypatch.setattr("aligner.text.cells.SCORED_CELLS", 2000)
    monkeypatch.setattr("aligner.threads.CELLS", 1)
    for options in ({"n_threads": 3}, {"viterbi": True}, {"project": "none" if name == "ibm1" else "both"}):
        np.testing.assert_array_equal(costs_of(model, text, **options), whole)


scored_links = st.lists(
    st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 3)), st.floats(0.01, 1), max_size=5),
    min_size=3,
    max_size=3,
)


@given(forward=scored_links, reverse=scored_links, printed=scored_links, data=st.data())
def test_confidence_equals_slow_twin(forward, reverse, printed, data):
    direction = data.draw(st.sampled_from(["both", "forward", "reverse"]))
    sides = []
    for side in (forward, reverse):
        one = Links.from_pairs([[(*x, p) for x, p in sorted(links.items())] for links in side])
        sides.append(replace(one, scores=np.zeros(0)) if one.scores is None else one)
    links = Links.from_pairs([list(one) for one in printed])  # in any order
    expected = []
    for n, one in enumerate(printed):
        weights = {"both": (0.5, 0.5), "forward": (1, 0), "reverse": (0, 1)}[direction]
        scores = [weights[0] * forward[n].get(x, 0) + weights[1] * reverse[n].get(x, 0) for x in one]
        expected.append(sum(scores) / len(scores) if scores else 0.0)
    np.testing.assert_allclose(confidence(links, *sides, direction), expected, rtol=1e-9)


def test_lines_of_scores():
    costs = np.array([[1.5, np.nan], [100.0, 2e-7]])
    assert (
        format_scores(costs, np.array([0.25, 0])) == b"1.500000\t\t0.250000\n100.000000\t0.000000\t0.000000\n"
    )
    assert format_scores(costs, None) == b"1.500000\t\t\n100.000000\t0.000000\t\n"


def rows(path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text().splitlines()]


def test_commands(data, tmp_path, write, monkeypatch):
    monkeypatch.setattr("aligner.text.cells.SCORED_CELLS", 5000)  # many shards
    lines = [(data / f"generated.{side}").read_text().splitlines()[:200] + [""] for side in ("src", "tgt")]
    src, tgt = (write(name, "\n".join(side) + "\n") for name, side in zip("st", lines, strict=True))
    one, model, scores = tmp_path / "one", tmp_path / "model", tmp_path / "scores"
    printed = run("align", src, tgt, "-q", "--save", model, "--sentence-scores", scores, "--scores")
    found = rows(scores)
    assert len(found) == 201 and found[200] == ["100.000000", "100.000000", "0.000000"]
    for line, row in zip(printed.splitlines(), found, strict=True):
        links = [float(link.split(":")[1]) for link in line.split()]
        assert abs(float(row[2]) - (np.mean(links) if links else 0)) < 2e-6
    assert run("decode", model, src, tgt, "--sentence-scores", one, "--scores") == printed
    assert one.read_text() == scores.read_text()
    options = "--overwrite", "--sentence-scores", one
    run("decode", model, src, tgt, *options, "--direction", "reverse")
    assert [row[:2] for row in rows(one)] == [row[:2] for row in found] and rows(one) != found
    run("decode", model, src, tgt, *options, "--viterbi")
    assert rows(one) == [[*row[:2], ""] for row in found]
    pairs = "".join(f"{a} ||| {b}\n" for a, b in zip(*lines, strict=True))
    assert run("decode", model, "--sentence-scores", "-", "-o", tmp_path / "links", stdin=pairs) == (
        scores.read_text()
    )
    assert "the file exists" in run("decode", model, src, tgt, "--sentence-scores", one, code=1)
    for command in (["align"], ["decode", model]):
        wrong = run(*command, src, tgt, *options, "--given", scores, code=2)
        assert "--sentence-scores is not for --given" in wrong


def test_scores_tell_translations_from_other_pairs(tmp_path, write, data):
    """Each fifth pair has the target side of another. Links tell less: final marks have some."""
    src, tgt = ((data / f"generated.{x}").read_text().splitlines()[:1000] for x in ("src", "tgt"))
    wrong = np.arange(0, 1000, 5)
    shuffled = list(tgt)
    for k, other in zip(wrong.tolist(), np.roll(wrong, 1).tolist(), strict=True):
        shuffled[k] = tgt[other]
    scores = tmp_path / "scores"
    run(
        "align",
        write("s", "\n".join(src)),
        write("t", "\n".join(shuffled)),
        "-q",
        "--sentence-scores",
        scores,
    )
    numbers = np.array([[float(x) for x in row] for row in rows(scores)])
    bad = np.isin(np.arange(1000), wrong)
    for column, least in ((numbers[:, 0], 0.99), (numbers[:, 1], 0.99), (-numbers[:, 2], 0.85)):
        higher = column[bad][:, None] > column[~bad][None, :]
        assert higher.mean() > least

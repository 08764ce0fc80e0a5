"""Thresholds without gold links, from histograms, against plain sorts over all links."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trained import generated, links_of, recipe_of, same

from aligner import Corpus, Model, Recipe, train
from aligner.decoding import threshold
from aligner.decoding.combine import Decision
from aligner.decoding.threshold import (
    UNKNOWN,
    find,
    histogram,
    least_expected_aer,
    of_shares,
    with_links,
)  # fmt: skip
from aligner.links.known import known_of, weighted
from aligner.links.links import Links
from aligner.models.shares import MOST, Shares
from aligner.text.corpus import pair_keys, sampled

HOW = {
    "soft-union": Decision(0.5),
    "product": Decision(0.5, method="product"),
    "forward": Decision(0.5, "forward"),
    "reverse": Decision(0.5, "reverse"),
    "grow-diag-final-and": Decision(0.5, method="grow-diag-final-and"),
}


def longs(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


score = st.sampled_from([0.001, 0.25, 0.5, 1 / 3, 0.999999, 1.0]) | st.floats(1e-6, 1)
scored = st.lists(st.tuples(score, score), min_size=1, max_size=30)


def slow_auto(links: list[tuple[float, float]]) -> dict[float, float]:
    """Expected AER of the links from a score on, by that score. links: score and probability"""
    found, right = {}, 0.0
    expected = sum(q for _, q in links)
    for n, (least, q) in enumerate(sorted(links, reverse=True), 1):
        right += q
        found[least] = 1 - 2 * right / (n + expected)  # the last of equal scores stays
    return found


def rounded(links: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(round(s, 6), round(q, 6)) for s, q in links]


@settings(max_examples=60)
@given(links=scored)
def test_the_least_expected_aer_equals_slow_twin(links):
    """Scores need not be the links' probabilities. Where several thresholds are best, any of them is."""
    number, aer = least_expected_aer(*histogram(*np.array(links).T))
    found = slow_auto(rounded(links))
    assert 0 <= number < 1 and number == round(number, 6)
    taken = min(s for s in found if s > number)
    assert found[taken] <= min(found.values()) + 1e-9
    np.testing.assert_allclose(aer, found[taken], rtol=0, atol=1e-9)


@settings(max_examples=60)
@given(links=scored, n=st.integers(0, 40))
def test_as_many_links_as_wanted_equals_slow_twin(links, n):
    """n links of the best scores; fewer where links of equal scores would be too many."""
    number = with_links(histogram(*np.array(links).T)[0], n)
    scores = sorted((s for s, _ in rounded(links)), reverse=True)
    while len(scores) > n or scores and len([s for s, _ in rounded(links) if s >= scores[-1]]) > n:
        scores.pop()
    assert sum(s > number for s, _ in rounded(links)) == len(scores)


def test_a_text_without_links_has_the_usual_threshold():
    counts, masses = histogram(np.zeros(0), np.zeros(0))
    assert least_expected_aer(counts, masses) == (UNKNOWN, None) and with_links(counts, 3) == UNKNOWN
    model = train([("a b", "c d")], Recipe.of("shmm", views=["word"], iterations=1))
    for text in ([], [("", "")], [("a", "")]):
        for rule in threshold.RULES:
            assert model.align(text, threshold=rule).pairs() == [[]] * len(text)


@pytest.fixture(scope="module")
def text():
    return generated().part(0, 80)


@pytest.fixture(scope="module")
def model(text) -> Model:
    return train(text, Recipe.of("bhmm", views=["word", "prefix3", "prefix5"], iterations=1))


def found_of(rule: str, model: Model, text, how: Decision, **options) -> tuple[float, float | None]:
    return find(rule, model.views, model.recipe, text, how, shares=model.shares, **options)


def all_links(forward: Links, reverse: Links, how: Decision) -> list[tuple[float, float]]:
    """Score and probability of each link that a threshold is compared with, of lists of links."""
    sides = [
        {(n, i, j): score for n, one in enumerate(links.scored()) for i, j, score in one}
        for links in (forward, reverse)
    ]
    if how.direction != "both":
        return [(s, s) for s in sides[how.direction == "reverse"].values()]
    if how.method not in ("soft-union", "product"):
        return [(s, s) for side in sides for s in side.values()]
    cells = {cell: [side.get(cell, 0.0) for side in sides] for cell in sides[0].keys() | sides[1].keys()}
    if how.method == "product":
        return [(a * b, (a + b) / 2) for a, b in cells.values() if round(a * b, 6) > 0]
    return [((a + b) / 2, (a + b) / 2) for a, b in cells.values()]


@pytest.mark.parametrize("project", ["trained", "both"])
@pytest.mark.parametrize("name", HOW)
def test_thresholds_of_a_text_equal_a_sort_over_all_its_links(name, project, model, text):
    how = HOW[name]
    links = all_links(*links_of(model, text, project=project), how)
    number, aer = found_of("auto", model, text, how, project=project)
    least = slow_auto(rounded(links))
    np.testing.assert_allclose(aer, min(least.values()), rtol=0, atol=1e-6)
    np.testing.assert_allclose(least[min(s for s in least if s > number)], aer, rtol=0, atol=1e-6)
    paths = [one.scores.sum() for one in links_of(model, text, project=project, viterbi=True)]
    n = {"forward": paths[0], "reverse": paths[1], "grow-diag-final-and": sum(paths)}.get(
        name, sum(paths) / 2
    )
    number, none = found_of("points", model, text, how, project=project)
    assert none is None and abs(sum(round(s, 6) > number for s, _ in links) - n) <= 1


@pytest.mark.parametrize("rule", threshold.RULES)
def test_thresholds_do_not_depend_on_threads_and_shards(rule, model, text, monkeypatch):
    text = text.part(0, 25)
    wanted = [found_of(rule, model, text, how) for how in HOW.values()]
    assert len(set(wanted)) > 3
    monkeypatch.setattr("aligner.text.cells.SCORED_CELLS", 1500)
    monkeypatch.setattr("aligner.threads.CELLS", 1)
    assert [found_of(rule, model, text, how, n_threads=3) for how in HOW.values()] == wanted


def test_a_large_text_is_sampled(model, text, monkeypatch):
    """Always the same sentence pairs, in their order, with what is known of them."""
    monkeypatch.setattr(threshold, "MOST_PAIRS", 30)
    wrong = weighted(None, Links.from_pairs([[(0, 0), (1, 1)] * (n % 3 == 0) for n in range(len(text))]))
    known = known_of(wrong, None, text)
    keep = sampled(len(text), 30)
    for rule in threshold.RULES:
        found = found_of(rule, model, text, HOW["soft-union"], known=known)
        assert found == found_of(rule, model, text.select(keep), HOW["soft-union"], known=known.select(keep))
        assert found != found_of(rule, model, text.part(0, 30), HOW["soft-union"])


def test_a_model_aligns_by_rules(model, text):
    for rule in threshold.RULES:
        number, _ = found_of(rule, model, text, HOW["soft-union"])
        assert same(model.align(text, threshold=rule), model.align(text, threshold=number))
        number, _ = found_of(rule, model, text, HOW["product"], project="none")
        given = {"symmetrize": "product", "project": "none"}
        assert same(model.align(text, threshold=rule, **given), model.align(text, threshold=number, **given))


@pytest.mark.parametrize("name, direction", [("ibm1", "both"), ("agree", "both"), ("hmm", "reverse")])
def test_training_finds_the_threshold_of_any_model(name, direction, text):
    """The one that `auto` finds of the same text, where the recipe has none."""
    recipe = recipe_of(name, views=["word"], iterations=1, direction=direction)
    model = train(text, Recipe(**{**vars(recipe), "threshold": None}))
    assert model.threshold == found_of("auto", model, text, Decision(0.5, direction))[0] != UNKNOWN
    assert same(model.align(text), model.align(text, threshold="auto"))


# The shares of a training


def slow_of_shares(entries: list[int]) -> tuple[float, dict[float, float]]:
    """The least expected AER, and the expected AER of each threshold just below a value that occurs."""
    q = [(entry & MOST) / MOST for entry in entries if entry & MOST]
    found = {}
    for least in sorted(set(q)):
        taken = [x for x in q if x >= least]
        found[least] = 1 - 2 * sum(taken) / (len(taken) + sum(q))
    return min(found.values()), found


value_of_entry = st.sampled_from([1, 66, 20_000, MOST - 1, MOST]) | st.integers(1, MOST)


@settings(max_examples=200)
@given(
    values=st.lists(st.tuples(st.sampled_from([0, 1, 7, MOST]), value_of_entry), min_size=1, max_size=40),
    fillers=st.integers(0, 3),
)
def test_the_threshold_of_shares_equals_slow_twin(values, fillers):
    """Distances between cells do not matter, nor do fillers, which are no links."""
    entries = [MOST << 16] * fillers + [gap << 16 | value for gap, value in values]
    offsets = longs(0, len(entries) // 2, len(entries))
    keys = np.zeros(2, dtype=np.uint64)
    number = of_shares(Shares(keys, offsets, np.array(entries, dtype=np.uint32)))
    assert isinstance(number, float) and 0 < number < 1
    least, found = slow_of_shares(entries)
    taken = min(x for x in found if x > number)
    assert found[taken] <= least + 1e-12
    assert min(abs(x - number) for x in found) > 0.49 / MOST  # no rounding decides what is taken


def test_thresholds_that_are_known_beforehand():
    def of(*values: float) -> float:
        entries = np.array([round(x * MOST) for x in values], dtype=np.uint32)
        return of_shares(Shares(np.zeros(1, np.uint64), longs(0, len(values)), entries))

    assert of(1.0) < 1 and of(0.01) < 0.01  # one link is taken, however unlikely
    assert 0.01 < of(*[1.0] * 10, *[0.01] * 10) < 1  # improbable links are left
    assert abs(of(*[0.9] * 10, *[0.1] * 10) - 0.5) < 1 / MOST  # in the middle
    assert abs(of(*[0.9] * 10) - 0.45) < 1 / MOST
    assert 0.2 < of(*[1.0] * 10, *[0.8] * 10, *[0.2] * 10) < 0.8
    assert 0.2 < of(*[1.0] * 10, *[0.6] * 10, *[0.2] * 10) < 0.6
    assert of() == 0.4
    empty = Shares(np.zeros(1, np.uint64), longs(0, 2), np.full(2, MOST << 16, np.uint32))
    assert of_shares(empty) == 0.4  # fillers alone
    assert of_shares(Shares.joined(pair_keys(Corpus.from_pairs([])), [])) == 0.4

"""Curves against `evaluate` at every threshold, worked by hand, and thinned; calibration against counting."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from gold import gold_links, scored_links
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import link_sets, scores

from aligner import Links, evaluate
from aligner.decoding.combine import above
from aligner.scoring.charts import curves
from aligner.scoring.curves import CRITERIA, Calibration, Curve

positions = st.tuples(st.integers(0, 3), st.integers(0, 3))
some_scores = st.sampled_from([0.0, 0.2, 0.5, 0.5000004, 0.500001, 1.0]) | scores
problems = st.lists(
    st.tuples(st.dictionaries(positions, some_scores, max_size=8), link_sets, link_sets),
    min_size=1,
    max_size=4,
).map(lambda rows: (scored_links([a for a, _, _ in rows]), gold_links([(s, p) for _, s, p in rows])))


def points(links: Links, gold: Links, alpha: float = 0.4) -> list[tuple[float, dict[str, float]]]:
    """(least score, scores of the links of at least that score), the highest first, by brute force."""
    found = []
    for least in sorted(set(links.scores.tolist()), reverse=True):
        taken = links.chosen(links.scores >= least)
        found.append((least, evaluate([taken], gold, n_samples=0, alpha=alpha).results[0].scores))
    return found


@settings(max_examples=25)
@given(problem=problems, alpha=st.sampled_from([0.1, 0.5, 1.0]))
def test_every_point_is_that_of_evaluate(problem, alpha):
    links, gold = problem
    curve, expected = Curve.of(links, gold), points(links, gold, alpha)
    assert curve.scores.tolist() == [least for least, _ in expected] and len(curve) == len(expected)
    for name, values in curve.rates(alpha).items():
        assert values.tolist() == [found[name] for _, found in expected]
    assert curve.precision.tolist() == [found["precision"] for _, found in expected]
    assert curve.recall.tolist() == [found["recall"] for _, found in expected]


@settings(max_examples=25)
@given(problem=problems)
def test_best_points_by_brute_force(problem):
    links, gold = problem
    curve, all_points = Curve.of(links, gold), [found for _, found in points(links, gold)]
    if not all_points:
        return
    for by in CRITERIA:
        best = {name: x[curve.best(by)] for name, x in curve.rates().items()}
        values = [found[by.replace("-", "_")] for found in all_points]
        assert best[by.replace("-", "_")] == (min(values) if by == "aer" else max(values))
    for least in (0.0, 0.4, 0.5, 0.9, 1.0):
        for k, one, other in (
            (curve.at("precision", least), "precision", "recall"),
            (curve.at("recall", least), "recall", "precision"),
        ):
            fit = [(x[other], x[one]) for x in all_points if x[one] >= least]
            assert (k is None) == (not fit)
            if k is not None:
                rates = curve.rates()
                assert (rates[other][k], rates[one][k]) == max(fit)


@settings(max_examples=25)
@given(problem=problems)
def test_the_front_has_the_points_that_no_other_equals(problem):
    curve = Curve.of(*problem)
    both = list(zip(curve.precision.tolist(), curve.recall.tolist(), strict=True))
    better = {(p, r) for p, r in both if not any(x >= p and y >= r and (x, y) != (p, r) for x, y in both)}
    kept = [both[k] for k in curve.front()]
    assert len(kept) == len(better) and set(kept) == better
    assert kept == sorted(better, key=lambda point: point[1])


@settings(max_examples=25)
@given(problem=problems)
def test_thresholds_take_the_links_also_when_scores_are_rounded(problem):
    links, gold = problem
    curve = Curve.of(links.rounded(), gold)
    for k, (threshold, n) in enumerate(zip(curve.thresholds.tolist(), curve.n_links.tolist(), strict=True)):
        assert len(above(links, threshold).src) == len(above(links.rounded(), threshold).src) == n
        assert float(f"{threshold:.6f}") == threshold
        assert curve.above(threshold) == k
    for threshold in (0.0, 0.2, 0.5, 0.7, 1.0):
        at = curve.above(threshold)
        assert len(above(links, threshold).src) == (curve.n_links[at] if at >= 0 else 0)
    raw = Curve.of(links, gold)  # scores that are not rounded are told apart, too
    for threshold, n in zip(raw.thresholds.tolist(), raw.n_links.tolist(), strict=True):
        assert (links.scores > threshold).sum() == n


def test_a_repeated_link_has_its_best_score():
    links = Links.from_pairs([[(0, 1, 0.2), (0, 0, 0.5), (0, 1, 0.9)]])
    curve = Curve.of(links, gold_links([({(0, 1)}, set())]))
    assert curve.n_links.tolist() == [1, 2] and curve.precision.tolist() == [1.0, 0.5]
    assert curve.thresholds.tolist() == [0.7, 0.25]


def test_area_worked_by_hand():
    """S = {00 11}, P = S + {22}; links fall in steps of 0-0, 0-1 and 2-2 together, 1-1.

    Precision is 1, 2/3 and 3/4; recall is 1/2, 1/2 and 1. From recall 0 on, precision is that of 0-0.
    """
    links = scored_links([{(0, 0): 0.9, (0, 1): 0.5, (2, 2): 0.5}, {(1, 1): 0.1}])
    gold = gold_links([({(0, 0)}, {(2, 2)}), ({(1, 1)}, set())])
    assert Curve.of(links, gold).area == pytest.approx(1 / 2 + 1 / 2 * (2 / 3 + 3 / 4) / 2, abs=1e-15)


@settings(max_examples=25)
@given(problem=problems)
def test_area_by_brute_force(problem):
    """One point of the curve for each threshold, and trapezoids between the points."""
    links, gold = problem
    found = [(x["recall"], x["precision"]) for _, x in points(links, gold)]
    if not gold.sure.any():  # recall is 1 by definition, and the curve has no width
        found = []
    curve = [(0.0, found[0][1]), *found] if found else []
    expected = sum((r - before) * (p + q) / 2 for (before, p), (r, q) in itertools.pairwise(curve))
    assert Curve.of(links, gold).area == pytest.approx(expected, abs=1e-12)


def test_no_links_have_an_empty_curve():
    curve = Curve.of(scored_links([{}]), gold_links([({(0, 0)}, set())]))
    assert len(curve) == 0 and curve.area == 0.0
    assert curve.at("precision", 0.0) is None and curve.at("recall", 0.0) is None and curve.above(0.0) == -1


def random_curve(n: int) -> Curve:
    """A curve of n links, right the more often the higher they score."""
    random = np.random.default_rng(3)
    values = random.random(n)
    links = scored_links([{(0, 0): x} for x in values])
    return Curve.of(links, gold_links([({(0, int(y))}, set()) for y in random.random(n) > values]))


def test_thinned_curves_keep_their_ends_and_their_area():
    curve = random_curve(5000)
    kept = curve.thinned(200)
    assert len(kept) <= 200 and kept[0] == 0 and kept[-1] == len(curve) - 1 and (np.diff(kept) > 0).all()
    heights, widths = curve.precision[kept], np.diff(curve.recall[kept])
    assert (widths * (heights[1:] + heights[:-1]) / 2).sum() == pytest.approx(curve.area, abs=0.002)
    assert curve.thinned(10**6).tolist() == list(range(len(curve)))
    possible = Curve.of(
        scored_links([{(0, 0): x} for x in np.arange(1, 50)]), gold_links([(set(), {(0, 0)})] * 49)
    )
    assert possible.thinned(20).tolist() == [0, 48]  # all points are in one place
    front = curve.thinned(20, curve.front())
    assert 10 < len(front) <= 20 < len(curve.front()) and set(front) <= set(curve.front())
    assert (np.diff(curve.precision[front]) < 0).all() and (np.diff(curve.recall[front]) > 0).all()


@settings(max_examples=25)
@given(problem=problems, n_bins=st.sampled_from([1, 2, 10]))
def test_calibration_by_counting(problem, n_bins):
    links, gold = problem
    found = Calibration.of(links, gold, n_bins)
    truth = [set(one) for one in gold.pairs()]
    marks = [[] for _ in range(n_bins)]
    for right, sentence in zip(truth, links.scored(), strict=True):
        for i, j, score in sentence:
            place = max([b for b in range(n_bins) if b / n_bins < score], default=0)
            marks[place].append((score, (i, j) in right))
    assert found.n_links.tolist() == [len(one) for one in marks]
    assert found.n_right.tolist() == [sum(right for _, right in one) for one in marks]
    gaps = 0.0
    for b, one in enumerate(marks):
        if one:
            score, share = (sum(column) / len(one) for column in zip(*one, strict=True))
            assert found.score[b] == pytest.approx(score, abs=1e-12) and found.share[b] == share
            gaps += len(one) * abs(score - share)
        else:
            assert np.isnan(found.score[b]) and np.isnan(found.share[b])
    assert found.error == pytest.approx(gaps / max(1, len(links.src)), abs=1e-12)


def test_axes_begin_below_the_best_points():
    """At whole tens, 20 percent below the least recall or precision of a curve's best F1; never below 0."""
    gold = gold_links([({(0, 0), (1, 1), (2, 2), (3, 3)}, set())])
    good = scored_links(
        [{(0, 0): 0.9, (1, 1): 0.8, (2, 2): 0.7, (0, 1): 0.1}]
    )  # best: recall 75, precision 100
    poor = scored_links([{(0, 1): 0.9, (1, 1): 0.8, (2, 0): 0.7}])  # best: recall 25, precision 50
    for some, corner in (([good], 50.0), ([good, poor], 0.0)):
        (panel,) = curves([("x", Curve.of(links, gold)) for links in some]).panels
        assert panel.least == corner and len(panel.lines) == len(some)
    result = evaluate([good], gold, n_samples=0).results[0]  # one point: recall 75, precision 75
    assert curves([("x", result)]).panels[0].least == 50.0

"""The log-linear classifier: probabilities and gradients against slow twins, weights against scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligner.learning import _classifier
from aligner.learning.classifier import FARTHEST, Classifier, Scale, fit


def problem(random, n: int, F: int, G: int, C: int) -> dict:
    """Features [F, n], indicators [3, n] of which G are there, labels [n] and weights."""
    return {
        "x": random.normal(size=(F, n)).astype(np.float32),
        "indicators": random.integers(-1, G, (3, n)).astype(np.int32) if G else np.full((3, n), -1, np.int32),
        "labels": random.integers(0, C, n).astype(np.int32),
        "weights": random.normal(size=(F + G, C)),
    }


def probabilities(x, indicators, weights) -> list[list[float]]:
    """Of each candidate, class by class."""
    F, n = x.shape
    found = []
    for k in range(n):
        scores = []
        for c in range(weights.shape[1]):
            score = sum(float(weights[f, c]) * float(x[f, k]) for f in range(F))
            score += sum(float(weights[F + g, c]) for g in indicators[:, k].tolist() if g >= 0)
            scores.append(score)
        total = sum(math.exp(s - max(scores)) for s in scores)
        found.append([math.exp(s - max(scores)) / total for s in scores])
    return found


def loss(x, indicators, labels, weights) -> float:
    p = probabilities(x, indicators, weights)
    return -sum(math.log(p[k][label]) for k, label in enumerate(labels.tolist()))


shapes = st.tuples(st.integers(0, 25), st.integers(1, 4), st.integers(0, 3), st.integers(2, 3))


@given(shapes, st.integers(0, 999))
def test_probabilities_equal_slow_twin(shape, seed):
    this = problem(np.random.default_rng(seed), *shape)
    x, indicators, weights = (this[name] for name in ("x", "indicators", "weights"))
    found = _classifier.probabilities(x, indicators, weights, 1)
    truth = np.array(probabilities(x, indicators, weights)).reshape(shape[0], shape[3])
    np.testing.assert_allclose(found.T, truth, rtol=1e-12, atol=1e-300)
    np.testing.assert_array_equal(_classifier.probabilities(x, indicators, weights, 3), found)


def test_large_scores_do_not_overflow():
    x = np.array([[1e6, -1e6, 0]], np.float32)
    none = np.full((3, 3), -1, np.int32)
    found = _classifier.probabilities(x, none, np.array([[-1e6, 1e6]]), 1)
    np.testing.assert_array_equal(found, [[0, 1, 0.5], [1, 0, 0.5]])


@given(shapes, st.integers(0, 999))
@settings(max_examples=60)
def test_gradient_equals_finite_differences(shape, seed):
    this = problem(np.random.default_rng(seed), *shape)
    x, indicators, labels, weights = (this[name] for name in ("x", "indicators", "labels", "weights"))
    p = _classifier.probabilities(x, indicators, weights, 1)
    rest = p - (np.arange(shape[3])[:, None] == labels)
    found = _classifier.gradient(x, indicators, rest, len(weights), 1)
    truth, step = np.zeros_like(weights), 1e-5
    for place in np.ndindex(weights.shape):
        more, less = weights.copy(), weights.copy()
        more[place] += step
        less[place] -= step
        truth[place] = (loss(x, indicators, labels, more) - loss(x, indicators, labels, less)) / (2 * step)
    np.testing.assert_allclose(found, truth, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n", [1, 7, 8, 1023, 1024, 1025, 5000])
def test_sums_over_blocks(n):
    """The same bits for any number of threads, and each candidate once."""
    this = problem(np.random.default_rng(n), n, 3, 5, 3)
    x, indicators, weights = (this[name] for name in ("x", "indicators", "weights"))
    p = _classifier.probabilities(x, indicators, weights, 1)
    found = _classifier.gradient(x, indicators, p, len(weights), 1)
    truth = np.zeros_like(weights)
    truth[:3] = x.astype(np.float64) @ p.T
    for row in indicators:
        np.add.at(truth, 3 + row[row >= 0], p.T[row >= 0])
    np.testing.assert_allclose(found, truth, rtol=1e-9, atol=1e-9)
    for n_threads in (2, 5):
        np.testing.assert_array_equal(_classifier.probabilities(x, indicators, weights, n_threads), p)
        np.testing.assert_array_equal(_classifier.gradient(x, indicators, p, len(weights), n_threads), found)


@given(shapes, st.integers(0, 999))
def test_features_are_standardised(shape, seed):
    random = np.random.default_rng(seed)
    x = (random.normal(size=shape[:2][::-1]) * 100).astype(np.float32)
    mean, deviation = random.normal(size=shape[1]), random.random(shape[1]) + 0.1
    arrays = [array.astype(np.float32) for array in (mean, deviation)]
    found = _classifier.standardised(x, *arrays, FARTHEST, 1)
    truth = np.clip((x - arrays[0][:, None]) / arrays[1][:, None], -FARTHEST, FARTHEST)
    np.testing.assert_allclose(found[:-1], truth, rtol=1e-6, atol=1e-6)
    assert (found[-1] == 1).all() and found.shape == (shape[1] + 1, shape[0])
    np.testing.assert_array_equal(_classifier.standardised(x, *arrays, FARTHEST, 4), found)


def test_the_scale_of_a_text():
    x = np.array([[1, 2, 3, 4], [5, 5, 5, 5], [0, 0, 0, 1e6]], np.float32)
    scale = Scale.of(x)
    standard = scale.standard(x, 1)
    np.testing.assert_allclose(standard[0], (x[0] - 2.5) / np.sqrt(1.25), rtol=1e-6)
    assert (standard[1] == 0).all()  # a constant feature says nothing
    far = scale.standard(np.array([[1e30], [5], [-1e30]], np.float32), 1)
    np.testing.assert_array_equal(far[:, 0], [FARTHEST, 0, -FARTHEST, 1])


def test_nothing_to_learn_from_gives_equal_probabilities():
    """As where all other sentence pairs are held out."""
    empty = np.empty((2, 0), np.float32), np.empty((3, 0), np.int32), 0, np.empty(0, np.int32)
    found = fit(*empty, 3, 1.0, 1)
    p = found.probabilities(np.ones((2, 4), np.float32), np.full((3, 4), -1, np.int32), 1)
    np.testing.assert_allclose(p, np.full((3, 4), 1 / 3), rtol=1e-12)


def learnable(random, n: int, C: int) -> dict:
    """Labels that the features and indicators tell, with noise."""
    this = problem(random, n, 4, 6, C)
    p = np.array(probabilities(this["x"], this["indicators"], 2 * this["weights"]))
    this["labels"] = np.array([random.choice(C, p=row / row.sum()) for row in p], np.int32)
    return this


@pytest.mark.parametrize("C", [2, 3])
@pytest.mark.parametrize("penalty", [0.1, 10.0])
def test_weights_are_at_the_minimum(C, penalty):
    """No other weights have a smaller loss, and the constant is free."""
    this = learnable(np.random.default_rng(1), 300, C)
    this["labels"][:200] = 0  # so that a constant that was penalised would be too small
    given = this["x"], this["indicators"], 6, this["labels"], C, penalty
    found = fit(*given, 1)
    assert found.weights.shape == (4 + 1 + 6, C)
    np.testing.assert_array_equal(fit(*given, 3).weights, found.weights)
    standard = found.scale.standard(this["x"], 1)
    penalties = np.full((11, 1), penalty)
    penalties[4] = 0

    def total(weights):
        p = np.array(probabilities(standard, this["indicators"], weights))
        chosen = p[np.arange(len(p)), this["labels"]]
        return -np.log(chosen).sum() + (penalties * weights * weights).sum() / 2

    least = total(found.weights)
    random = np.random.default_rng(2)
    for size in (0.3, 0.03):
        for _ in range(20):
            assert total(found.weights + size * random.normal(size=(11, C))) > least
    shares = np.array(probabilities(standard, this["indicators"], found.weights)).mean(axis=0)
    np.testing.assert_allclose(shares, np.bincount(this["labels"], minlength=C) / 300, atol=2e-3)


@pytest.mark.parametrize("C", [2, 3])
def test_weights_are_those_of_scikit_learn(C):
    linear_model = pytest.importorskip("sklearn.linear_model")
    this, penalty = learnable(np.random.default_rng(3), 400, C), 2.0
    found = fit(this["x"], this["indicators"], 6, this["labels"], C, penalty, 1)
    hot = np.zeros((400, 6))
    for row in this["indicators"]:
        np.add.at(hot, (np.flatnonzero(row >= 0), row[row >= 0]), 1)
    X = np.hstack([found.scale.standard(this["x"], 1)[:-1].T, hot])
    # Of two classes scikit-learn has one vector of weights, the difference of ours: half the penalty.
    C_theirs = 1 / penalty if C == 3 else 2 / penalty
    theirs = linear_model.LogisticRegression(C=C_theirs, tol=1e-9, max_iter=5000).fit(X, this["labels"])
    ours = found.probabilities(this["x"], this["indicators"], 1)
    np.testing.assert_allclose(ours.T, theirs.predict_proba(X), atol=5e-3)


@pytest.mark.parametrize(
    "change",
    [
        {"weights": np.zeros((2, 2))},
        {"weights": np.zeros((5, 1))},
        {"weights": np.zeros((5, 4))},
        {"indicators": np.zeros((3, 5), np.int32)},
        {"indicators": np.full((3, 6), 2, np.int32)},
        {"indicators": np.full((3, 6), -2, np.int32)},
        {"n_threads": 0},
    ],
)
def test_what_does_not_fit_together_is_refused(change):
    good = {
        "x": np.zeros((3, 6), np.float32),
        "indicators": np.full((3, 6), 1, np.int32),
        "weights": np.zeros((5, 2)),
        "n_threads": 1,
    }
    assert _classifier.probabilities(**good).shape == (2, 6)
    given = good | change
    with pytest.raises(ValueError):
        _classifier.probabilities(**given)
    weights = given.pop("weights")
    with pytest.raises(ValueError):
        rest = np.zeros((weights.shape[1], 6))
        _classifier.gradient(given["x"], given["indicators"], rest, len(weights), given["n_threads"])


def test_arrays_of_other_sizes_are_refused():
    x, none = np.zeros((3, 6), np.float32), np.full((3, 6), -1, np.int32)
    with pytest.raises(ValueError, match="not of 3 features"):
        _classifier.standardised(x, np.zeros(2, np.float32), np.ones(3, np.float32), 6.0, 1)
    with pytest.raises(ValueError, match="not of 6 candidates"):
        _classifier.gradient(x, none, np.zeros((2, 5)), 3, 1)
    scale = Scale(np.zeros(3, np.float32), np.ones(3, np.float32))
    with pytest.raises(ValueError, match="do not fit together"):
        Classifier(scale, np.zeros((3, 2))).probabilities(x, none, 1)

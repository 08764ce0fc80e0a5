"""L-BFGS: minima that are known, functions that are badly scaled or flat, and how the search ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligner.learning.lbfgs import minimise


def quadratic(curvature: np.ndarray, centre: np.ndarray):
    """A bowl, with its value and gradient."""

    def function(x):
        rest = x - centre
        return float((curvature * rest * rest).sum()) / 2, curvature * rest

    return function


def rosenbrock(x):
    a, b = x[1:] - x[:-1] ** 2, 1 - x[:-1]
    slope = np.zeros_like(x)
    slope[:-1] = -400 * a * x[:-1] - 2 * b
    slope[1:] += 200 * a
    return float((100 * a * a + b * b).sum()), slope


@given(st.integers(1, 15), st.floats(0, 5), st.integers(0, 999))
@settings(max_examples=30)
def test_bowls_of_any_shape(n, spread, seed):
    """Curvatures from 1 to 100,000: the minimum is found, and never is a value worse than the first."""
    random = np.random.default_rng(seed)
    curvature, centre = 10 ** (spread * random.random(n)), random.normal(size=n)
    function = quadratic(curvature, centre)
    start = 10 * random.normal(size=n)
    x, value = minimise(function, start.copy(), 0.0, 2000)
    assert value == function(x)[0] <= 1e-9 * function(start)[0]
    np.testing.assert_allclose(x, centre, atol=1e-3)


def test_a_curved_valley():
    x, value = minimise(rosenbrock, np.array([-1.2, 1.0, -0.5, 2.0]), 0.0, 1000)
    np.testing.assert_allclose(x, np.ones(4), rtol=1e-6)
    assert value < 1e-12


def test_a_logarithm_of_a_sum():
    """log(e^x + e^y + e^-x-y): the minimum is at 0, and is log 3."""

    def function(x):
        scores = np.array([x[0], x[1], -x.sum()])
        p = np.exp(scores - scores.max())
        value = float(np.log(p.sum()) + scores.max())
        p /= p.sum()
        return value, p[:2] - p[2]

    x, value = minimise(function, np.array([30.0, -50.0]), 1e-15, 500)
    np.testing.assert_allclose(x, np.zeros(2), atol=1e-6)
    assert value == pytest.approx(np.log(3), rel=1e-12)


def test_nothing_is_left_to_gain():
    centre = np.array([1.0, -2.0])
    for function, start in ((quadratic(np.ones(2), centre), centre), (lambda x: (7.0, 0 * x), np.zeros(3))):
        x, value = minimise(function, start, 1e-5, 100)
        np.testing.assert_array_equal(x, start)
        assert value == function(start)[0]
    x, value = minimise(lambda x: (0.0, x), np.zeros(0), 1e-5, 100)
    assert len(x) == 0 and value == 0


def test_a_gradient_that_lies_does_no_harm():
    """No step along it is better: the search ends where it began."""
    x, value = minimise(lambda x: (float((x * x).sum()), -2 * x), np.array([1.0, 2.0]), 1e-5, 100)
    np.testing.assert_array_equal(x, [1, 2])
    assert value == 5


def test_a_far_plateau():
    """A function that is almost flat where the search begins, and steep near its minimum."""

    def function(x):
        return float(-np.exp(-(x * x) / 2).sum()), x * np.exp(-(x * x) / 2)

    x, value = minimise(function, np.array([4.0, -3.5]), 0.0, 500)
    np.testing.assert_allclose(x, np.zeros(2), atol=1e-6)
    assert value == pytest.approx(-2)


def test_iterations_are_counted():
    calls = []

    def function(x):
        calls.append(x)
        return rosenbrock(x)

    start = np.array([-1.2, 1.0])
    assert minimise(function, start, 0.0, 0)[1] == rosenbrock(start)[0] and len(calls) == 1
    values = [minimise(rosenbrock, start, 0.0, n)[1] for n in range(30)]
    assert (np.diff(values) < 0).all()
    loose, tight = (minimise(rosenbrock, start, tolerance, 500)[1] for tolerance in (0.5, 1e-9))
    assert tight < 1e-8 < loose

"""The solver alone: against scipy, bounded and free, and where functions lie to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from scipy.optimize import minimize as scipy_minimize

from aligner.models._lbfgs import minimize


class Recorded:
    """A function that keeps the places where it was asked."""

    def __init__(self, f, gradient, diagonal=None) -> None:
        self.f, self.gradient, self.diagonal, self.asked = f, gradient, diagonal or np.ones_like, []

    def __call__(self, x):
        self.asked.append(x.copy())
        return self.f(x), self.gradient(x), self.diagonal(x)


def quadratic(seed: int, n: int) -> tuple[Recorded, np.ndarray]:
    """A convex quadratic function with its minimum anywhere, and the minimum."""
    random = np.random.default_rng(seed)
    root = random.normal(size=(n, n))
    A = root @ root.T + 0.1 * np.eye(n)
    at = random.normal(size=n)
    return Recorded(
        lambda x: 0.5 * (x - at) @ A @ (x - at), lambda x: A @ (x - at), lambda x: np.diag(A).copy()
    ), at


def smooth(seed: int, n: int) -> Recorded:
    """log sum exp of linear functions and a little square: what duals look like."""
    random = np.random.default_rng(seed)
    B, c = random.normal(size=(3 * n, n)), random.normal(size=3 * n)

    def share(x):
        e = np.exp(B @ x + c - (B @ x + c).max())
        return e / e.sum()

    def f(x):
        top = (B @ x + c).max()
        return top + np.log(np.exp(B @ x + c - top).sum()) + 0.05 * x @ x

    return Recorded(
        f,
        lambda x: B.T @ share(x) + 0.1 * x,
        lambda x: (B**2).T @ share(x) - (B.T @ share(x)) ** 2 + 0.1,
    )


sizes = st.integers(1, 40)


@given(seed=st.integers(0, 999), n=sizes)
def test_free_minimum(seed, n):
    function, at = quadratic(seed, n)
    x, F, calls, converged = minimize(function, np.zeros(n), tolerance=1e-7, max_calls=5000)
    assert converged and calls == len(function.asked)
    np.testing.assert_allclose(x, at, rtol=0, atol=1e-5)
    np.testing.assert_allclose(F, function.f(x), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(function.asked[-1], x)


@settings(max_examples=80)
@given(seed=st.integers(0, 999), n=sizes, slack=st.sampled_from([0.0, 0.3]))
def test_bounded_minimum_equals_scipy(seed, n, slack):
    """Some variables have bounds, of which many hold; the norm is added."""
    function = smooth(seed, n)
    random = np.random.default_rng(seed)
    lower = np.where(random.random(n) < 0.6, random.choice([0.0, -0.2], n), -np.inf)
    start = np.maximum(lower, 0.0)

    def whole(x):
        norm = np.linalg.norm(x)
        return function.f(x) + slack * norm, function.gradient(x) + (slack * x / norm if norm > 0 else 0)

    bounds = [(None if low == -np.inf else low, None) for low in lower]
    truth = min(
        (
            scipy_minimize(whole, first, jac=True, bounds=bounds, method="L-BFGS-B",
                           options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000})
            for first in (start + 0.1, start)
        ),
        key=lambda found: found.fun,
    )  # fmt: skip
    x, F, _, converged = minimize(function, start, lower, slack=slack, tolerance=1e-6, max_calls=3000)
    note(f"{x} {truth.x}")
    assert converged and (x >= lower).all()
    np.testing.assert_allclose(F, truth.fun, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(x, truth.x, rtol=0, atol=1e-3)
    np.testing.assert_array_equal(function.asked[-1], x)


def test_steps_through_a_bound_end_there():
    """A first step of 10 below the bound: the trial stands at the bound itself."""
    function = Recorded(lambda x: 0.5 * (x[0] + 10) ** 2, lambda x: x + 10)
    x, F, calls, converged = minimize(function, np.array([1.0]), np.array([0.0]))
    assert [a.tolist() for a in function.asked] == [[1.0], [0.0]]
    assert x.tolist() == [0.0] and F == 50 and converged and calls == 2


def test_a_variable_leaves_its_bound_again():
    """Held at 0 to begin with, wanted later, when the other has moved."""
    function = Recorded(
        lambda x: 0.5 * (x[0] - 3) ** 2 + 0.5 * (x[1] - x[0] + 1) ** 2,
        lambda x: np.array([x[0] - 3 - (x[1] - x[0] + 1), x[1] - x[0] + 1]),
        lambda x: np.array([2.0, 1.0]),
    )
    x, _, _, converged = minimize(function, np.zeros(2), np.zeros(2), tolerance=1e-9)
    assert converged
    np.testing.assert_allclose(x, [3, 2], rtol=0, atol=1e-7)


def test_steps_are_no_longer_than_allowed():
    function, _ = quadratic(3, 4)
    minimize(function, np.full(4, 30.0), max_step=0.5, max_calls=20)
    moves = [np.abs(b - a).max() for a, b in zip(function.asked, function.asked[1:], strict=False)]
    assert max(moves) <= 0.5 + 1e-12


@pytest.mark.parametrize("n_right", [1, 4])
def test_failed_line_search_goes_back(n_right):
    """A gradient that points uphill: no step helps. What is left is the last x that did, asked last."""
    function, at = quadratic(5, 6)
    right = function.gradient
    function.gradient = lambda x: right(x) if len(function.asked) <= n_right else -right(x)
    x, F, calls, converged = minimize(function, np.zeros(6), max_calls=1000)
    assert not converged and calls == len(function.asked) < 100
    np.testing.assert_array_equal(function.asked[-1], x)
    assert F == function.f(x) == min(function.f(a) for a in function.asked)
    assert not any(np.array_equal(a, x) for a in function.asked[-4:-1])  # others were tried in between


@pytest.mark.parametrize("halvings", [0, 1, 8, 9])
def test_steps_are_halved_until_the_function_falls_enough(halvings):
    """From 1 the whole step goes far beyond the minimum at 0, where the last halving that is needed leads.

    The halving before it ends as high as it began, which is not enough. Where a ninth would be needed,
    which is never made, nothing is found.
    """
    function = Recorded(lambda x: 0.5 * x @ x, lambda x: x, lambda x: np.full(1, 0.5**halvings))
    x, F, _, converged = minimize(function, np.ones(1))
    asked = [1.0, *(1 - 2.0 ** (halvings - k) for k in range(min(halvings, 8) + 1))]
    found = halvings < 9
    assert [a[0] for a in function.asked] == (asked if found else [*asked, 1.0])  # it goes back
    assert converged == found and (x[0], F) == ((0, 0) if found else (1, 0.5))


def test_too_few_calls_leave_the_best_so_far():
    function, _ = quadratic(8, 10)
    values = []
    for most in range(1, 30):
        function.asked.clear()
        x, F, calls, converged = minimize(function, np.zeros(10), max_calls=most, tolerance=1e-12)
        assert calls == len(function.asked) <= most + 1
        assert not converged or calls <= most
        np.testing.assert_array_equal(function.asked[-1], x)
        values.append(F)
    assert (np.diff(values) <= 1e-12).all() and values[-1] < values[0]


def test_bounded_variables_may_not_be_far_below():
    """`worst`: the norm of the gradient is small enough, but one bounded variable still wants to rise."""
    function = Recorded(lambda x: -x @ np.array([0.5, 0.0]), lambda x: np.array([-0.5, 0.0]))
    start = np.zeros(2), np.zeros(2)
    assert minimize(function, *start, tolerance=1.0)[3] is True
    assert minimize(function, *start, tolerance=1.0, worst=0.5, max_calls=5)[3] is False
    assert minimize(function, *start, tolerance=1.0, worst=0.6)[3] is True
    assert minimize(function, start[0], tolerance=1.0, worst=0.5)[3] is True  # it has no bound
    # At 0 the norm holds back a pull of up to slack.
    assert minimize(function, *start, tolerance=1.0, worst=0.4, slack=0.2)[2:] == (1, True)
    assert minimize(function, *start, tolerance=1.0, worst=0.2, slack=0.2, max_calls=5)[2] > 1


def test_norm_holds_back_a_weak_pull():
    """At 0, slack larger than the gradient's norm is a minimum; a smaller one is not."""
    function = Recorded(lambda x: 0.3 * x[0] + 0.4 * x[1] + x @ x, lambda x: np.array([0.3, 0.4]) + 2 * x)
    x, _, calls, converged = minimize(function, np.zeros(2), slack=0.6)
    assert converged and calls == 1 and (x == 0).all()
    x, F, _, converged = minimize(function, np.zeros(2), slack=0.1)
    assert converged and F < 0
    np.testing.assert_allclose(x, [-0.12, -0.16], rtol=0, atol=1e-6)  # -(0.5 - 0.1) / 2 along the gradient


def test_errors_of_the_function_are_raised():
    def broken(x):
        raise ZeroDivisionError("no")

    with pytest.raises(ZeroDivisionError):
        minimize(broken, np.zeros(3))
    with pytest.raises(ValueError, match="start"):
        minimize(broken, np.zeros(0))
    with pytest.raises(ValueError, match="bounds"):
        minimize(broken, np.zeros(2), np.ones(2))
    with pytest.raises(ValueError, match="bounds"):
        minimize(broken, np.zeros(2), np.zeros(3))


def wavy(seed: int, n: int) -> Recorded:
    """A quadratic function and waves: between two steps its gradient may turn back."""
    function, at = quadratic(seed, n)
    f, gradient = function.f, function.gradient
    return Recorded(
        lambda x: f(x) + 2 * np.sum(1 - np.cos(2 * (x - at))),
        lambda x: gradient(x) + 4 * np.sin(2 * (x - at)),
        lambda x: np.full(n, 5.0),
    )


def walk(function, x: np.ndarray, lower: np.ndarray, max_step: float, max_calls: int) -> int:
    """The solver without ||x||, in plain numpy; how many pairs of steps were refused when it remembered six.

    Remembered pairs are a list, the oldest first. A refused pair takes the place of the oldest of six.
    """
    F, gradient, diagonal = function(x)
    calls, refused, pairs = 1, 0, []

    def find_step(pairs: list) -> np.ndarray:
        held = (x <= lower) & (gradient > 0)
        step, coefficients = np.where(held, 0, -gradient), []
        for s, y in reversed(pairs):
            coefficients.append(s @ step / (s @ y))
            step = step - coefficients[-1] * y
        step = np.where(held, 0, step) / diagonal
        for s, y in pairs:
            step = step + (coefficients.pop() - y @ step / (s @ y)) * s
        return np.where(held, 0, step)

    while calls < max_calls:
        step = find_step(pairs)
        if step @ gradient >= 0:
            pairs = []
            step = find_step(pairs)
        size = min(1, max_step / np.abs(step).max())
        for halving in range(9):
            trial = np.maximum(x + size * 0.5**halving * step, lower)
            value, slope, curvature = function(trial)
            calls += 1
            if value <= F + 1e-4 * gradient @ (trial - x) or calls >= max_calls:
                break
        else:
            pairs = []
            continue
        s, y = trial - x, slope - gradient
        x, F, gradient, diagonal = trial, value, slope, curvature
        if s @ y > 1e-8 * (y @ y):
            pairs = [*pairs, (s, y)][-6:]
        elif len(pairs) == 6:
            refused += 1
            del pairs[0]
    return refused


def test_every_step_is_that_of_the_slow_twin():
    """Waves make pairs of steps useless; two variables have bounds. Later calls may differ by rounding."""
    refused = 0
    for seed in range(40):
        ours, theirs = wavy(seed, 12), wavy(seed, 12)
        start, lower = np.full(12, 2.0), np.full(12, -np.inf)
        lower[:2] = 1.0
        minimize(ours, start, lower, max_step=0.4, max_calls=25, tolerance=1e-12, rounding=0.0)
        refused += walk(theirs, start, lower, 0.4, 25)
        np.testing.assert_allclose(ours.asked[:25], theirs.asked[:25], rtol=0, atol=1e-6)
    assert refused > 5

"""The diagonal: probabilities against their formula, a tension found again."""

from __future__ import annotations

import numpy as np
import pytest

from aligner.models.diagonal import FITTED, LARGEST, SMALLEST, USUAL, fitted_tension, positions


@pytest.mark.parametrize("I", [1, 2, 5, 12])
@pytest.mark.parametrize("J", [1, 3, 5, 9])
@pytest.mark.parametrize("tension", [SMALLEST, 0.1, 4.0, 14.0, LARGEST])
def test_positions_are_those_of_the_formula(I, J, tension):
    i, j = np.arange(1, I + 1)[None, :] / I, np.arange(1, J + 1)[:, None] / J
    wanted = np.exp(-tension * abs(i - j))
    wanted /= wanted.sum(axis=1, keepdims=True)
    rtol = 1e-12 if tension >= 0.1 else 1e-8  # 1 - exp(-tension / I) loses digits
    np.testing.assert_allclose(positions(J, I, tension), wanted, rtol=rtol)
    np.testing.assert_allclose(positions(J, I, tension, 0.7), 0.7 * wanted, rtol=rtol)


def links(tension: float, n: int = 4000) -> tuple[np.ndarray, ...]:
    """Links that are drawn with a tension: given and generated positions, and lengths."""
    random = np.random.default_rng(1)
    n_given, n_generated = random.integers(1, 20, n), random.integers(1, 25, n)
    generated = random.integers(0, n_generated)
    given = [
        random.choice(I, p=positions(int(J), int(I), tension)[j])
        for I, J, j in zip(n_given, n_generated, generated, strict=True)
    ]
    return np.array(given), generated, n_given, n_generated


@pytest.mark.parametrize("tension", [1.0, 4.0, 9.0])
def test_the_tension_is_found_again(tension):
    assert fitted_tension(*links(tension)) == pytest.approx(tension, rel=0.1)


def test_the_tension_makes_the_links_most_probable():
    given, generated, n_given, n_generated = some = links(5.0, 200)

    def loglik(tension: float) -> float:
        rows = zip(given, generated, n_given, n_generated, strict=True)
        return sum(np.log(positions(int(J), int(I), tension)[j, i]) for i, j, I, J in rows)

    found = fitted_tension(*some)
    assert loglik(found) > max(loglik(found - 0.05), loglik(found + 0.05))


def test_the_tension_stays_within_its_bounds():
    n = np.full(50, 40)
    places = np.arange(50) % 40
    assert fitted_tension(places, places, n, n) == FITTED[1]
    assert fitted_tension(39 - places, places, n, n) == FITTED[0]
    none = np.empty(0, np.int64)
    assert fitted_tension(none, none, none, none) == USUAL

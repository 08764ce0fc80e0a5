"""What training says of an iteration: numbers per token and per sentence pair."""

from __future__ import annotations

import math

import pytest

from aligner import Recipe, train
from aligner.training.monitor import Monitor, describe


def test_perplexity_is_of_the_tokens_that_a_direction_generates():
    """Forward of target words, reverse of source words; a sentence beside an empty one is not generated."""
    pairs = [("a b c", "x"), ("a d", "y"), ("b", ""), ("", "x y z")]
    (entry,) = train(pairs, Recipe.of("ibm1", iterations=1, views=["word"])).history
    for name, n_tokens in (("forward", 2), ("reverse", 5)):
        expected = math.exp(-entry["loglik"][name] / n_tokens)
        assert entry["perplexity"][name] == pytest.approx(expected, rel=1e-12)


def test_numbers_of_projections_are_means_over_sentence_pairs():
    recipe = Recipe.of("shmm")
    stage = recipe.last
    sums = {"loglik_fwd": -6.0, "loglik_rev": -4.0, "kl": 2.0, "before": 8.0, "after": 1.0}
    monitor = Monitor(recipe, n_pairs=4, n_tokens=(3, 2))
    monitor.add("word", stage, ["forward", "reverse"], sums | {"calls": 12.0, "converged": 3.0}, None, 0.25)
    monitor.add("word", stage, ["reverse"], sums | {"calls": 4.0, "converged": 4.0}, (1.0, 2.0), None)
    monitor.close()
    first, second = monitor.history
    assert first == {
        "iteration": 1, "view": "word", "model": "shmm", "loglik": {"forward": -6.0, "reverse": -4.0},
        "perplexity": {"forward": math.exp(2), "reverse": math.exp(2)}, "kl": 2.0, "objective": -12.0,
        "violation": [2.0, 0.25], "calls": 3.0, "not_converged": 0.25, "area": 0.25,
    }  # fmt: skip
    assert second["iteration"] == 2 and second["bound"] == {"reverse": -6.0} and "area" not in second
    start, end = "word shmm 1: perplexity 7.39 forward, 7.39 reverse", "in 3.0 calls, area 25.00"
    assert describe(first) == f"{start}, violation 2.000 -> 0.250 {end}"

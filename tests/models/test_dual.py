"""Dual decomposition against enumeration of all paths and links, in double precision; float beside double."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from combined import Combined
from problems import Problem, corpus_of, grids, posteriors, random_problem

from aligner.models import _hmm_double, hmm
from aligner.models.jumps import Jumps
from aligner.models.lexicon import Lexicon
from aligner.models.parameters import Parameters
from aligner.text.cells import Seen
from aligner.text.known import Constraints, Known, Weights

CLOSE = {"rtol": 1e-9, "atol": 1e-9}
PAIRS = [(1, 1), (1, 3), (3, 1), (2, 3), (3, 2), (2, 2), (3, 3)]
LONG = [(7, 9), (12, 5), (1, 6), (16, 17)]
PENALTIES = [math.inf, 0.3141, 0.0173, 2.236]  # none is a sum of steps: a tie would be broken by rounding


def decomposed(
    problem: Problem, penalty=math.inf, rounds=60, rate=1.0, kernel=_hmm_double, dtype=np.float64, n_threads=1
) -> tuple[list[tuple[np.ndarray, np.ndarray]], list[dict]]:
    """[I, J] of each sentence pair, forward and reverse, and the certificates."""
    shard, lexicon = problem.shard, problem.m.lexicon
    tables = {name: getattr(lexicon, name).astype(dtype) for name in ("t", "null_fwd", "null_rev")}
    lexicon = Lexicon(lexicon.rows, lexicon.tgt, **tables)
    fwd, rev = np.zeros(shard.n_cells, dtype), np.zeros(shard.n_cells, dtype)
    found = np.zeros((len(problem), len(kernel.CERTIFICATE)))
    asked = {"penalty": penalty, "rate": rate, "rounds": rounds}
    kernel.decompose(
        [shard], [lexicon], problem.m.positions, asked, None, 1.0, fwd, rev, None, found, n_threads
    )
    return grids(problem, fwd, rev), [dict(zip(kernel.CERTIFICATE, row, strict=True)) for row in found]


@cache
def problem_of(seed: int) -> Problem:
    """Odd ones know some links beforehand."""
    problem = random_problem(np.random.default_rng(seed), PAIRS, 1 + seed % 2)
    if seed % 2:
        weights = Weights(
            np.array([0, 0, 1, 1, 3, 4, 4, 5]), np.array([0, 0, 1, 2, 1], np.int32),
            np.array([1, 2, 0, 1, 1], np.int32), np.array([0, 0, 3, 50, 0], np.float32),
        )  # fmt: skip
        problem.known = Known(weights)
    return problem


@cache
def combined(seed: int, penalty: float) -> list[Combined]:
    problem = problem_of(seed)
    return [Combined(problem.lattice(n, 0), problem.lattice(n, 1), penalty) for n in range(len(problem))]


CASES = [(seed, penalty) for seed in range(4) for penalty in PENALTIES]


@pytest.mark.parametrize(("seed", "penalty"), CASES)
def test_rounds_equal_those_of_enumeration(seed, penalty):
    problem = problem_of(seed)
    for rounds, rate in ((1, 1.0), (2, 0.577), (9, 0.983), (40, 1.931)):
        scores, certificates = decomposed(problem, penalty, rounds, rate)
        for n, slow in enumerate(combined(seed, penalty)):
            truth = slow.descend(rounds, rate)
            for d in range(2):
                np.testing.assert_allclose(scores[n][d], truth["scores"][d], **CLOSE)
            for name, value in certificates[n].items():
                np.testing.assert_allclose(value, truth[name], **CLOSE)


@pytest.mark.parametrize(("seed", "penalty"), CASES)
def test_the_optimum_is_between_primal_and_bound_and_certified_links_are_best(seed, penalty):
    n_certified = 0
    for rounds in (1, 5, 250):
        scores, certificates = decomposed(problem_of(seed), penalty, rounds, 2.0)
        for n, slow in enumerate(combined(seed, penalty)):
            found = certificates[n]
            assert found["primal"] - 1e-9 <= slow.optimum <= found["bound"] + 1e-9
            if found["converged"]:
                n_certified += rounds == 250
                np.testing.assert_array_equal(scores[n][0], scores[n][1])
                np.testing.assert_allclose(slow.value(scores[n][0]), slow.optimum, **CLOSE)
                np.testing.assert_allclose([found["bound"], found["primal"]], slow.optimum, **CLOSE)
            if penalty == math.inf:
                assert scores[n][0].sum(axis=0).max() <= 1 + 1e-9  # of c^a, columns; of c^b, rows
                assert scores[n][1].sum(axis=1).max() <= 1 + 1e-9
    assert n_certified >= 4  # of 7: what is certified was looked at


def test_one_round_has_the_two_best_paths():
    """With a penalty of 0, too: no multiplier pays for a neighbour yet."""
    problem = random_problem(np.random.default_rng(7), [(7, 9), (12, 5), (1, 6), (20, 20)], 4)
    best = posteriors(problem, best=True)
    for penalty in (math.inf, 0.0):
        scores, certificates = decomposed(problem, penalty, rounds=1)
        for n in range(len(problem)):
            for d in range(2):
                np.testing.assert_array_equal(scores[n][d], best[n][d])
            assert certificates[n]["converged"] == (best[n][0] == best[n][1]).all()


@pytest.mark.parametrize("penalty", PENALTIES)
def test_sides_can_be_swapped(penalty):
    problem = random_problem(np.random.default_rng(3), LONG, 3)
    scores, certificates = decomposed(problem, penalty, rounds=30)
    turned, others = decomposed(swapped(problem), penalty, rounds=30)
    for n in range(len(problem)):
        for d in range(2):
            np.testing.assert_allclose(scores[n][d], turned[n][1 - d].T, **CLOSE)
        for name, value in certificates[n].items():
            np.testing.assert_allclose(value, others[n][name], **CLOSE)


def swapped(problem: Problem) -> Problem:
    """The same with source and target exchanged."""
    text = [problem.words(n)[::-1] for n in range(len(problem))]
    m, places = problem.m.lexicon, problem.m.positions
    seen = Seen.of_own_words(corpus_of(*text), "word", 1)
    n_src = len(seen.rows) - 1
    t = np.zeros((len(seen.tgt), 2))
    for f in range(n_src):
        for k in range(seen.rows[f], seen.rows[f + 1]):
            t[k] = m.t[problem.pair(int(seen.tgt[k]), f)][::-1]
    lexicon = Lexicon(seen.rows, seen.tgt, t, m.null_rev, m.null_fwd)
    jump, first, last = (x[::-1].copy() for x in (places.jump, places.first, places.last))
    return Problem(seen, Parameters(lexicon, Jumps(jump, first, places.p0, last)))


@pytest.mark.parametrize("penalty", [math.inf, 0.3])
def test_any_number_of_threads_gives_the_same_bits(penalty):
    problem = random_problem(np.random.default_rng(5), LONG * 40, 3)
    one = decomposed(problem, penalty, 12, kernel=hmm._hmm, dtype=np.float32)
    for n_threads in (2, 3, 8):
        other = decomposed(problem, penalty, 12, kernel=hmm._hmm, dtype=np.float32, n_threads=n_threads)
        for a, b in zip(one[0], other[0], strict=True):
            np.testing.assert_array_equal(a, b)
        assert one[1] == other[1]


@pytest.mark.parametrize("penalty", [math.inf, 0.3])
def test_float_bounds_hold_too(penalty):
    """Of long sentence pairs, with given links: nothing overflows, and rounding is all that moves bounds."""
    problem = random_problem(np.random.default_rng(6), [(60, 45), (2, 50), (50, 1)], 4)
    weights = Weights(
        np.array([0, 3, 4, 5]), np.array([0, 3, 59, 1, 7], np.int32), np.array([40, 3, 0, 49, 0], np.int32),
        np.array([1e12, 0, 1e12, 1e12, 1e12], np.float32),
    )  # fmt: skip
    problem.known = Known(weights)
    scores, certificates = decomposed(problem, penalty, 100, 2.0, hmm._hmm, np.float32)
    _, exact = decomposed(problem, penalty, 1, 2.0)
    for n, found in enumerate(certificates):
        assert all(np.isfinite(both).all() and both.min() >= 0 and both.max() <= 1 for both in scores[n])
        assert found["primal"] <= found["bound"] + 1e-3
        assert found["bound"] <= exact[n]["bound"] + 1e-3  # h falls from h(0)
        assert exact[n]["primal"] <= found["bound"] + 1e-3


def test_an_empty_side_has_nothing():
    problem = random_problem(np.random.default_rng(1), [(0, 3), (2, 0), (2, 2), (0, 0)], 2)
    scores, certificates = decomposed(problem)
    assert [found["rounds"] > 0 for found in certificates] == [False, False, True, False]
    assert [both[0].size for both in scores] == [0, 0, 4, 0]


@pytest.mark.parametrize(
    "wrong", [{"rounds": 0}, {"rate": 0.0}, {"rate": math.nan}, {"penalty": -1.0}, {"penalty": math.nan}]
)
def test_the_door(wrong):
    with pytest.raises(ValueError, match="no decomposition has"):
        decomposed(problem_of(0), **wrong)
    m, shard = problem_of(0).m, problem_of(0).shard
    asked = [shard], [m.lexicon], m.positions, {"penalty": 1.0, "rate": 1.0, "rounds": 3}, None, 1.0
    cells = np.zeros(shard.n_cells), np.zeros(shard.n_cells)
    for room in (np.zeros((6, 4)), np.zeros((7, 3))):
        with pytest.raises(ValueError, match="the certificates are not of 7 sentence pairs"):
            _hmm_double.decompose(*asked, *cells, None, room, 1)
    with pytest.raises(ValueError, match="there is room for"):
        _hmm_double.decompose(*asked, cells[0][1:], cells[1], None, None, 1)
    few = [([("forward", 0, 0, 1.0)], "<=", 0.1)]
    bounded = replace(shard, known=Known(constraints=Constraints.of([few, *[[]] * 6])))
    with pytest.raises(ValueError, match="has no constraints"):
        _hmm_double.decompose([bounded], *asked[1:], *cells, None, None, 1)

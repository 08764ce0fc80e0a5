"""The projection against enumeration: dual, gradient, duality, feasibility, and q itself against scipy's.

Constraints are those of B-HMM and S-HMM, and features given from Python: alone and beside the others.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import oracle
import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st
from problems import (
    TIGHT,
    Problem,
    corpus_of,
    counted,
    even_problem,
    how_of,
    posteriors,
    random_problem,
    small_problems,
    stage_of,
)
from projections import enumerated, features_of, links_of, solved
from scipy.optimize import minimize

from aligner.models import _hmm_double, hmm
from aligner.models.kinds import MODELS
from aligner.models.stage import Stage
from aligner.text.cells import Seen
from aligner.text.known import Constraints, Known

STAGES = {
    "symmetric": stage_of("shmm", **TIGHT),
    "bijective": stage_of("bhmm", **TIGHT),
    "none": stage_of("hmm", **TIGHT, slack=0.0),
}
constraints = st.sampled_from(["symmetric", "bijective"])


@st.composite
def given_features(draw, problem: Problem) -> Constraints:
    """Up to two features a sentence pair, whose bounds can be fulfilled: p's expectation times a share."""
    pairs = []
    coefficient = st.sampled_from([1.0, -1.0, 0.5, 2.0])
    for n, both in enumerate(posteriors(problem)):
        cells = st.sampled_from(list(np.ndindex(*problem.shape(n))))
        features = []
        for _ in range(draw(st.integers(0, 2))):
            where = st.tuples(st.sampled_from(["forward", "reverse"]), cells)
            entries = [
                (direction, *cell, draw(coefficient))
                for direction, cell in draw(st.lists(where, min_size=1, max_size=3))
            ]  # the same link may count twice
            mean = sum(x * both[name == "reverse"][i, j] for name, i, j, x in entries)
            features.append((entries, draw(st.sampled_from(["<=", "="])), mean * draw(st.floats(0.5, 1.1))))
        pairs.append(features)
    return Constraints.of(pairs)


@st.composite
def constrained_problems(draw) -> tuple[Problem, str]:
    """A problem, and which constraint is beside its given features."""
    problem = draw(small_problems(with_weights=draw(st.booleans())))
    if problem.known.weights is not None:  # an excluded link has no feature
        np.clip(problem.known.weights.weight, 0.5, 3.0, out=problem.known.weights.weight)
    return replace(problem, known=Known(problem.known.weights, draw(given_features(problem)))), draw(
        st.sampled_from([*STAGES])
    )


def check_dual(problem: Problem, constraint: str, seed: int) -> None:
    """phi and gradient of the kernel equal enumeration, and the gradient equals central differences."""
    random = np.random.default_rng(seed)
    stage = STAGES[constraint]
    slack = stage.limits.slack
    for n in range(len(problem)):
        note(f"I, J {problem.shape(n)}")
        dual, bounds = enumerated(problem, n, constraint, slack)
        if not bounds:
            continue
        lam = random.normal(size=len(bounds))
        lam[[low == 0 for low, _ in bounds]] **= 2

        def kernel(x, n=n):
            m = problem.m
            return _hmm_double.dual(problem.shard, m.lexicon, m.positions, how_of(stage), n, x)

        phi, gradient = kernel(lam)
        np.testing.assert_allclose(phi, dual.phi(lam), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(gradient, dual.gradient(lam), rtol=1e-7, atol=1e-8)
        for k, step in enumerate(np.eye(len(lam)) * 1e-5):
            slope = (kernel(lam + step)[0] - kernel(lam - step)[0]) / 2e-5
            np.testing.assert_allclose(slope, gradient[k], rtol=1e-4, atol=1e-6)


@settings(max_examples=60)
@given(problem=small_problems(), constraint=constraints, seed=st.integers(0, 99))
def test_dual_and_gradient_equal_enumeration_and_differences(problem, constraint, seed):
    check_dual(problem, constraint, seed)


@settings(max_examples=60)
@given(case=constrained_problems(), seed=st.integers(0, 99))
def test_dual_and_gradient_with_given_features(case, seed):
    check_dual(*case, seed)


def check_projection(problem: Problem, constraint: str) -> None:
    """q = scipy's q; KL and duality; feasibility; complementary slackness."""
    stage = STAGES[constraint]
    found, (_, statistics) = posteriors(problem, stage), counted(problem, stage)
    for n in range(len(problem)):
        features = features_of(problem, n, constraint)
        if not features:
            continue
        dual, bounds = enumerated(problem, n, constraint, stage.limits.slack)
        lam = solved(dual, bounds)
        assume(np.abs(lam).max() < 25)  # else q has no full support, to the last digit
        q = dual.posteriors(lam)
        for d in range(2):
            np.testing.assert_allclose(found[n][d], links_of(problem, n, d, q[d]), rtol=0, atol=3e-4)
        expected = np.array([
            sum(x * found[n][name == "reverse"][i, j] for name, i, j, x in entries)
            for entries, _, _ in features
        ])  # fmt: skip
        equal = np.array([kind == "=" for _, kind, _ in features])
        apart = expected - dual.b
        assert np.linalg.norm(np.where(equal, apart, np.maximum(apart, 0))) <= stage.limits.slack + 1e-5
        left = apart - stage.limits.slack * lam / max(
            np.linalg.norm(lam), 1e-300
        )  # xi has the direction of lam
        np.testing.assert_allclose(np.where(equal, 0, lam * left), 0, rtol=0, atol=2e-3)
        # Strong duality: KL(q || p) is what the dual promises; weak: no lam promises more.
        np.testing.assert_allclose(statistics[n]["kl"], dual.kl(lam), rtol=1e-3, atol=1e-5)
        promised = dual.phi(np.zeros(len(lam))) - dual.phi(lam)
        np.testing.assert_allclose(statistics[n]["kl"], promised, rtol=5e-3, atol=5e-3)
        for factor in (0.0, 0.5, 0.9, 1.1, 2.0):
            assert dual.phi(factor * lam) >= dual.phi(lam) - 1e-7
        # With slack, phi has a kink at lam = 0, where bounds may keep the solver from its last digits.
        kinked = stage.limits.slack > 0 and problem.known.constraints is not None
        # Two features of the same links can contradict each other by less than scipy's q shows.
        twice = len({tuple(sorted(entries)) for entries, _, _ in features}) < len(features)
        assert statistics[n]["converged"] == 1 or kinked or twice


@settings(max_examples=60)
@given(problem=small_problems(), constraint=constraints)
def test_q_is_the_projection(problem, constraint):
    check_projection(problem, constraint)


@settings(max_examples=40)
@given(case=constrained_problems())
def test_q_is_the_projection_onto_given_features(case):
    check_projection(*case)


@given(problem=small_problems())
def test_feasible_posteriors_stay_as_they_are(problem):
    """Where no word has more than one link expected, lam = 0 and q = p, bit for bit, after one call each."""
    free, bound = posteriors(problem), posteriors(problem, STAGES["bijective"])
    _, statistics = counted(problem, STAGES["bijective"])
    for n in range(len(problem)):
        (forward, reverse), changed = free[n], bound[n]
        if max(forward.sum(axis=1).max(), reverse.sum(axis=0).max()) > 1:
            continue
        assert statistics[n]["kl"] == 0 and statistics[n]["calls"] == 1 and statistics[n]["before"] == 0
        np.testing.assert_array_equal(forward, changed[0])
        np.testing.assert_array_equal(reverse, changed[1])


@given(problem=small_problems(), eta=st.sampled_from([1e-2, 1e-3, 1e-4]))
def test_directions_agree_within_eta(problem, eta):
    """The stop rule's own promise, on all cells, dropped or not."""
    stage = stage_of("shmm", eta=eta, drop=0.0, slack=0.0, max_calls=500)
    _, statistics = counted(problem, stage)
    for (forward, reverse), numbers in zip(posteriors(problem, stage), statistics, strict=True):
        if numbers["converged"]:
            apart = np.linalg.norm(forward - reverse)
            assert apart <= eta * forward.size * (1 + 1e-6)
            np.testing.assert_allclose(numbers["after"], apart, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("d", range(2))
def test_a_bijective_projection_stops_by_all_its_constraints(d):
    """Ten words beside one: ten of eleven constraints hold. The other one may end 11 eta below its bound."""
    eta, left = 0.02, []
    stage = stage_of("bhmm", eta=eta, slack=0.0, max_calls=100)
    for seed in range(8):
        problem = random_problem(np.random.default_rng(seed), [(1, 10) if d == 0 else (10, 1)] * 6, 2)
        assert all(pair["converged"] for pair in counted(problem, stage)[1])
        left += [1 - both[d].sum() for both in posteriors(problem, stage)]
    assert min(left) > -eta and 2 * eta < max(left) < 11 * eta


@pytest.mark.parametrize("constraint", ["symmetric", "bijective"])
def test_few_calls_are_enough_and_counted(constraint):
    """A projection that may call once changes nothing and says that it has not converged."""
    problem = even_problem(corpus_of(([0, 1, 2], [0, 0, 1, 2])), 3)
    problem.m.lexicon.t[:] = np.random.default_rng(1).random(problem.m.lexicon.t.shape)

    def with_calls(n: int) -> Stage:
        stage = STAGES[constraint]
        return replace(stage, limits=replace(stage.limits, max_calls=n))

    (once,) = counted(problem, with_calls(1))[1]
    assert once["converged"] == 0 and once["kl"] == 0 and once["after"] == once["before"] > 0
    for a, b in zip(posteriors(problem)[0], posteriors(problem, with_calls(1))[0], strict=True):
        np.testing.assert_array_equal(a, b)
    calls = [counted(problem, with_calls(k))[1][0]["calls"] for k in (2, 3, 100)]
    assert all(a <= b for a, b in itertools.pairwise(calls)) and calls[0] >= 2


@pytest.mark.parametrize("seed", range(4))
def test_bijective_projection_of_longer_sentences(seed):
    """Against scipy on the dual by matrices; lam >= 0; no fertility is above 1 + eta."""
    problem = random_problem(np.random.default_rng(seed), [(6, 10), (9, 4)], 2)
    exact = posteriors(problem, stage_of("bhmm", **TIGHT | {"eta": 1e-7}))
    coarse = posteriors(problem, stage_of("bhmm", **TIGHT | {"eta": 0.005}))
    _, statistics = counted(problem, stage_of("bhmm", **TIGHT | {"eta": 0.005}))
    for n, d in itertools.product(range(2), range(2)):
        emit, null, *rest = problem.lattice(n, d)

        def tilted(lam, emit=emit, null=null, rest=rest):
            return oracle.dense_hmm(np.array(emit) * np.exp(-lam)[None, :], np.array(null), *rest)

        def phi(lam, tilted=tilted):
            return lam.sum() + tilted(lam)["loglik"], 1 - tilted(lam)["gamma"].sum(axis=0)

        size = len(emit[0])
        lam = minimize(phi, np.full(size, 0.1), jac=True, bounds=[(0, None)] * size, method="L-BFGS-B",
                       options={"ftol": 1e-15, "gtol": 1e-8, "maxiter": 2000}).x  # fmt: skip
        found = exact[n][d].T if d == 0 else exact[n][d]
        np.testing.assert_allclose(found, tilted(lam)["gamma"], rtol=0, atol=2e-4)
        assert coarse[n][d].sum(axis=1 - d).max() < 1 + 0.005
        assert statistics[n]["converged"] == 1


@pytest.mark.parametrize("seed", range(4))
def test_symmetric_projection_with_dropped_cells(seed):
    """On all cells, the directions agree as far as stopping and dropping promise."""
    problem = random_problem(np.random.default_rng(seed), [(12, 9), (20, 31), (1, 7)], 4)
    stage = stage_of("shmm", eta=1e-4)
    before = [np.linalg.norm(f - r) for f, r in posteriors(problem)]
    _, statistics = counted(problem, stage)
    for (forward, reverse), numbers, worst in zip(
        posteriors(problem, stage), statistics, before, strict=True
    ):
        assert numbers["converged"] == 1
        apart, size = np.linalg.norm(forward - reverse), forward.size
        limits = MODELS["shmm"].limits
        assert apart < 1e-4 * size + 2 * limits.drop * np.sqrt(size) + limits.slack and apart < 0.5 * worst


def test_dropped_cells_count_as_fulfilled():
    """The gradient's norm is divided by the number of all cells; those left out add nothing to it."""
    problem = random_problem(np.random.default_rng(2), [(4, 5)], 2)
    limits = {"slack": 0.0, "drop": 0.2, "max_calls": 50}
    ((forward, reverse),) = posteriors(problem)
    kept = np.maximum(forward, reverse) > 0.2
    assert 0 < kept.sum() < 10
    apart = np.linalg.norm((forward - reverse)[kept])
    for factor in (0.99, 1.01):
        _, (statistics,) = counted(problem, stage_of("shmm", eta=factor * apart / 20, **limits))
        np.testing.assert_allclose(statistics["before"], apart, rtol=1e-9)
        assert statistics["converged"] == 1 and (statistics["calls"] == 1) == (factor > 1)


@pytest.mark.parametrize("constraint", ["symmetric", "bijective"])
def test_projection_cut_short_is_consistent(constraint):
    """Whatever max_calls is, KL and violation are those of the posteriors left, which are of some lam."""
    problem = random_problem(np.random.default_rng(7), [(3, 4)], 2)
    stage = STAGES[constraint]
    dual, bounds = enumerated(problem, 0, constraint, stage.limits.slack)
    best = dual.kl(solved(dual, bounds))
    for most in range(1, 12):
        limited = replace(stage, limits=replace(stage.limits, eta=1e-9, max_calls=most))
        ((forward, reverse),) = posteriors(problem, limited)
        _, (statistics,) = counted(problem, limited)
        if constraint == "symmetric":
            violation = np.linalg.norm(forward - reverse)
        else:
            above = [np.maximum(forward.sum(axis=1) - 1, 0), np.maximum(reverse.sum(axis=0) - 1, 0)]
            violation = np.linalg.norm(np.concatenate(above))
        np.testing.assert_allclose(statistics["after"], violation, rtol=1e-6, atol=1e-9)
        assert statistics["kl"] >= -1e-9
        if constraint == "symmetric":  # phi falls: what the dual promises never passes KL(q* || p)
            assert statistics["kl"] < 2 * best + 1e-6


def test_given_features_are_of_their_own_sentence_pair():
    """The features of one sentence pair do not touch the others."""
    problem = random_problem(np.random.default_rng(3), [(3, 4), (5, 2), (2, 6)], 2)
    free = posteriors(problem)
    i, j = np.unravel_index(free[1][0].argmax(), free[1][0].shape)
    mean = float(free[1][0][i, j])
    more = Constraints.of([[], [([("forward", i, j, 1.0)], "=", mean / 2)], []])
    bound = posteriors(replace(problem, known=Known(None, more)), STAGES["none"])
    np.testing.assert_allclose(bound[1][0][i, j], mean / 2, rtol=1e-6)
    np.testing.assert_array_equal(bound[1][1], free[1][1])
    for n in (0, 2):
        np.testing.assert_array_equal(bound[n][0], free[n][0])
        np.testing.assert_array_equal(bound[n][1], free[n][1])
    # The same features, selected: of the second pair alone
    keep = np.array([False, True, True])
    text = problem.seen.text.select(keep)
    some = Seen.of_own_words(text, "word", 1)
    chosen = more.select(keep)
    assert len(chosen) == 2 and chosen.offsets.tolist() == [0, 1, 1] and chosen.starts.tolist() == [0, 1]
    assert len(some.shard(0, 2, 1, Known(None, chosen))) == 2
    part = more.part(1, 3)
    assert part.offsets.tolist() == [0, 1, 1]


@pytest.mark.parametrize("constraint", ["symmetric", "bijective"])
def test_float_projects_as_double_does(constraint):
    """The shipped build against the one that is compared with enumeration, both with a small eta."""
    random = np.random.default_rng(7)
    lengths = [(int(a), int(b)) for a, b in random.integers(1, 25, (40, 2))]
    double = random_problem(random, lengths, 3)
    tables = {x: getattr(double.m.lexicon, x).astype(np.float32) for x in ("t", "null_fwd", "null_rev")}
    single = replace(double, m=replace(double.m, lexicon=replace(double.m.lexicon, **tables)))
    tables = {x: table.astype(np.float64) for x, table in tables.items()}
    double = replace(double, m=replace(double.m, lexicon=replace(double.m.lexicon, **tables)))
    stage = stage_of({"symmetric": "shmm", "bijective": "bhmm"}[constraint], eta=1e-5, max_calls=500)
    ours = posteriors(single, stage, kernel=hmm._hmm, dtype=np.float32)
    theirs = posteriors(double, stage)
    plain = posteriors(double)
    for a, b in zip(ours, theirs, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_allclose(x, y, rtol=0, atol=2e-5)
    moved = [
        np.abs(x - y).max() for a, b in zip(theirs, plain, strict=True) for x, y in zip(a, b, strict=True)
    ]
    assert max(moved) > 0.1
    (counts, statistics), (right, expected) = counted(single, stage, hmm._hmm), counted(double, stage)
    np.testing.assert_allclose(counts.pairs / 2**32, right.pairs / 2**32, rtol=0, atol=2e-5)
    for key in ("kl", "before", "loglik_fwd", "loglik_rev"):
        found, truth = ([pair[key] for pair in x] for x in (statistics, expected))
        np.testing.assert_allclose(found, truth, rtol=2e-6, atol=2e-5)
    assert all(pair["converged"] for pair in (*statistics, *expected))

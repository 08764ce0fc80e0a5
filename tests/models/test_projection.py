"""The projection against enumeration: dual, gradient, duality, feasibility, and q itself against scipy's."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import oracle
import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st
from problems import FLOOR, add, corpus_of, counted, decoded, problem_of, random_problem, small_problems
from scipy.optimize import minimize

from aligner.models import _hmm_double, hmm
from aligner.models.recipe import MODELS

TIGHT = {"eta": 1e-9, "drop": 0.0, "max_calls": 500}
HOW = {
    "symmetric": replace(MODELS["shmm"].inference, **TIGHT),
    "bijective": replace(MODELS["bhmm"].inference, **TIGHT),
}
constraints = st.sampled_from(list(HOW))


def enumerated(problem, n: int, constraint: str) -> list[oracle.Dual]:
    """The independent problems of a sentence pair, features numbered as in constraints.pxd."""
    corpus, numbers, m = problem
    I, J = int(corpus.src.lengths[n]), int(corpus.tgt.lengths[n])
    directions = []
    for d in range(2):
        emit, null = problem_of(corpus, numbers, m, n, d)
        directions.append(
            oracle.weighted_paths(
                add(emit, FLOOR), add(null, FLOOR), m.jump[d].tolist(), m.first[d].tolist(), m.p0
            )
        )
    if constraint == "symmetric":
        parts = []
        for d, (logs, paths) in enumerate(directions):
            features = np.zeros((len(paths), I * J))
            for a, path in enumerate(paths):
                for state, row in path:
                    i, j = (state, row) if d == 0 else (row, state)
                    features[a, i * J + j] = 1 if d == 0 else -1
            parts.append((logs, features))
        return [oracle.Dual(parts, [0.0] * (I * J), HOW[constraint].slack)]
    duals = []
    for (logs, paths), size in zip(directions, (I, J), strict=True):
        features = np.zeros((len(paths), size))
        for a, path in enumerate(paths):
            for state, _ in path:
                features[a, state] += 1
        duals.append(oracle.Dual([(logs, features)], [1.0] * size, HOW[constraint].slack))
    return duals


def solved(dual: oracle.Dual, constraint: str) -> np.ndarray:
    """lam by scipy."""
    n = len(dual.b)
    bounds = [(0, None)] * n if constraint == "bijective" else None
    found = minimize(
        dual.phi,
        np.full(n, 1e-3),
        jac=dual.gradient,
        bounds=bounds,
        method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-9},
    )
    return found.x


def dual_of_kernel(problem, n: int, constraint: str, lam):
    corpus, numbers, m = problem
    view = hmm._view(m, corpus, numbers.cells, numbers.offsets)
    return _hmm_double.dual(view, hmm.for_kernel(HOW[constraint]), n, lam)


@given(problem=small_problems(), constraint=constraints, seed=st.integers(0, 99))
def test_dual_and_gradient_equal_enumeration_and_differences(problem, constraint, seed):
    corpus = problem[0]
    random = np.random.default_rng(seed)
    for n in range(len(corpus)):
        note(f"I {corpus.src.lengths[n]} J {corpus.tgt.lengths[n]}")
        duals = enumerated(problem, n, constraint)
        lams = [random.normal(size=len(dual.b)) for dual in duals]
        if constraint == "bijective":
            lams = [np.abs(lam) for lam in lams]
        lam = np.concatenate(lams)
        phi, gradient = dual_of_kernel(problem, n, constraint, lam)
        pairs = list(zip(duals, lams, strict=True))
        np.testing.assert_allclose(phi, sum(dual.phi(x) for dual, x in pairs), rtol=1e-9, atol=1e-9)
        truth = np.concatenate([dual.gradient(x) for dual, x in pairs])
        np.testing.assert_allclose(gradient, truth, rtol=1e-7, atol=1e-8)
        for k, step in enumerate(np.eye(len(lam)) * 1e-5):
            up, _ = dual_of_kernel(problem, n, constraint, lam + step)
            down, _ = dual_of_kernel(problem, n, constraint, lam - step)
            np.testing.assert_allclose((up - down) / 2e-5, gradient[k], rtol=1e-4, atol=1e-6)


def projected(problem, constraint: str, **limits):
    """Posteriors [I, J] of both directions for each sentence pair, and the statistics."""
    corpus = problem[0]
    how = replace(HOW[constraint], **limits)
    grids = []
    for offsets, src, tgt, scores in decoded(problem, False, how=how):
        for n in range(len(corpus)):
            part = slice(offsets[n], offsets[n + 1])
            grid = np.zeros((corpus.src.lengths[n], corpus.tgt.lengths[n]))
            grid[src[part], tgt[part]] = scores[part]
            grids.append(grid)
    statistics = counted(problem, how)[3]
    named = [dict(zip(_hmm_double.STATISTICS, row, strict=True)) for row in statistics]
    S = len(corpus)
    return list(zip(grids[:S], grids[S:], strict=True)), named


def links_of(dual: oracle.Dual, q: list, part: int, shape: tuple[int, int]) -> np.ndarray:
    """Posteriors [I, J] of one direction of a symmetric problem."""
    return np.abs(q[part] @ dual.parts[part][1]).reshape(shape)


@settings(max_examples=60)
@given(problem=small_problems(), constraint=constraints)
def test_q_is_the_projection(problem, constraint):
    """q = scipy's q; KL and duality; feasibility; complementary slackness."""
    corpus = problem[0]
    posteriors, statistics = projected(problem, constraint)
    for n in range(len(corpus)):
        duals = enumerated(problem, n, constraint)
        best = [solved(dual, constraint) for dual in duals]
        assume(all(np.abs(lam).max() < 25 for lam in best))  # else q has no full support, to the last digit
        shape = posteriors[n][0].shape
        for part in range(2):
            if constraint == "symmetric":
                truth = links_of(duals[0], duals[0].posteriors(best[0]), part, shape)
                np.testing.assert_allclose(posteriors[n][part], truth, rtol=0, atol=2e-4)
            else:
                dual, lam = duals[part], best[part]
                fertility = posteriors[n][part].sum(axis=1 - part)
                np.testing.assert_allclose(fertility, dual.expected(lam), rtol=0, atol=2e-4)
                assert (fertility <= 1 + 1e-5).all()
                np.testing.assert_allclose(lam * (fertility - 1), 0, rtol=0, atol=1e-3)
        # Strong duality: KL(q || p) is what the dual promises; weak: no lam promises more.
        kl = sum(dual.kl(lam) for dual, lam in zip(duals, best, strict=True))
        np.testing.assert_allclose(statistics[n]["kl"], kl, rtol=1e-3, atol=1e-5)
        promised = sum(
            dual.phi(np.zeros(len(dual.b))) - dual.phi(lam) for dual, lam in zip(duals, best, strict=True)
        )
        np.testing.assert_allclose(statistics[n]["kl"], promised, rtol=5e-3, atol=5e-3)
        for dual, lam in zip(duals, best, strict=True):
            for factor in (0.0, 0.5, 0.9, 1.1, 2.0):
                assert dual.phi(factor * lam) >= dual.phi(lam) - 1e-7
        assert statistics[n]["converged"] == 1
        if constraint == "symmetric":
            assert np.abs(posteriors[n][0] - posteriors[n][1]).max() <= HOW["symmetric"].slack + 1e-5


@given(problem=small_problems())
def test_feasible_posteriors_stay_as_they_are(problem):
    """Where no word has more than one link expected, lam = 0 and q = p, bit for bit, after one call each."""
    corpus = problem[0]
    free = decoded(problem, False)
    bound = decoded(problem, False, how=HOW["bijective"])
    _, statistics = projected(problem, "bijective")
    for n in range(len(corpus)):
        feasible = True
        for d, (offsets, src, tgt, scores) in enumerate(free):
            part = slice(offsets[n], offsets[n + 1])
            state = (src, tgt)[d][part]
            feasible &= bool((np.bincount(state, weights=scores[part], minlength=1) <= 1).all())
        if not feasible:
            continue
        assert statistics[n]["kl"] == 0 and statistics[n]["calls"] == 1 and statistics[n]["before"] == 0
        for (offsets, *old), (new_offsets, *new) in zip(free, bound, strict=True):
            assert offsets[n + 1] - offsets[n] == new_offsets[n + 1] - new_offsets[n]
            for x, y in zip(old, new, strict=True):
                part, new_part = slice(offsets[n], offsets[n + 1]), slice(new_offsets[n], new_offsets[n + 1])
                np.testing.assert_array_equal(x[part], y[new_part])


@given(problem=small_problems(), eta=st.sampled_from([1e-2, 1e-3, 1e-4]))
def test_directions_agree_within_eta(problem, eta):
    """The stop rule's own promise, on all cells, dropped or not."""
    posteriors, statistics = projected(problem, "symmetric", eta=eta, drop=0.0, slack=0.0)
    for (forward, reverse), numbers in zip(posteriors, statistics, strict=True):
        if numbers["converged"]:
            assert np.linalg.norm(forward - reverse) <= eta * forward.size * (1 + 1e-6)
            np.testing.assert_allclose(
                numbers["after"], np.linalg.norm(forward - reverse), rtol=1e-5, atol=1e-9
            )


@given(problem=small_problems())
def test_agreement_counts_are_products(problem):
    corpus, numbers, m = problem
    how = MODELS["agree"].inference
    (f_offsets, f_src, f_tgt, f_scores), (r_offsets, r_src, r_tgt, r_scores) = decoded(problem, False)
    expected = np.zeros(len(numbers))
    for n in range(len(corpus)):
        shape = corpus.src.lengths[n], corpus.tgt.lengths[n]
        grids = np.zeros((2, *shape))
        for grid, offsets, src, tgt, scores in (
            (grids[0], f_offsets, f_src, f_tgt, f_scores),
            (grids[1], r_offsets, r_src, r_tgt, r_scores),
        ):
            part = slice(offsets[n], offsets[n + 1])
            grid[src[part], tgt[part]] = scores[part]
        words = corpus.src.ids[corpus.src.offsets[n] : corpus.src.offsets[n + 1]]
        cells = numbers.cells[numbers.offsets[n] : numbers.offsets[n + 1]].reshape(shape)
        for i, j in np.ndindex(*shape):
            expected[numbers.rows[words[i]] + cells[i, j]] += grids[0, i, j] * grids[1, i, j]
    counts = counted(problem, how)[0]
    for d in range(2):
        np.testing.assert_allclose(counts[:, d] / 2**32, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("constraint", HOW)
def test_few_calls_are_enough_and_counted(constraint):
    """A projection that may call once changes nothing and says that it has not converged."""
    from aligner.models import start
    from aligner.text.cells import number_pairs

    corpus = corpus_of(([0, 1, 2], [0, 0, 1, 2]))
    numbers = number_pairs(corpus, 1)
    m = start.uniform(corpus, numbers, 3, 0.2)
    m = replace(m, t=np.random.default_rng(1).random(m.t.shape), null_fwd=m.null_fwd.astype(float),
                null_rev=m.null_rev.astype(float))  # fmt: skip
    problem = corpus, numbers, m
    (found,), (numbers_once,) = projected(problem, constraint, max_calls=1)
    assert numbers_once["converged"] == 0 and numbers_once["kl"] == 0
    for d, (_, src, tgt, scores) in enumerate(decoded(problem, False)):
        grid = np.zeros((3, 4))
        grid[src, tgt] = scores
        np.testing.assert_array_equal(grid, found[d])
    calls = [projected(problem, constraint, max_calls=k)[1][0]["calls"] for k in (2, 3, 100)]
    assert all(a <= b for a, b in itertools.pairwise(calls))


def tilted_posteriors(problem, n: int, d: int, factor) -> np.ndarray:
    """[rows, states] of direction d with emissions times factor [rows, states], by matrices."""
    corpus, numbers, m = problem
    emit, null = problem_of(corpus, numbers, m, n, d)
    emission = (np.array(emit) + FLOOR) * factor
    return oracle.dense_hmm(emission, np.array(null) + FLOOR, m.jump[d].tolist(), m.first[d].tolist(), m.p0)[
        "gamma"
    ]


@pytest.mark.parametrize("seed", range(4))
def test_bijective_projection_of_longer_sentences(seed):
    """Against scipy on the dual by matrices; lam >= 0; no fertility is above 1 + eta."""
    problem = corpus, numbers, m = random_problem(np.random.default_rng(seed), [(6, 10), (9, 4)], 2)
    exact, _ = projected(problem, "bijective", eta=1e-7)
    coarse, statistics = projected(problem, "bijective", eta=0.005)
    for n, d in itertools.product(range(2), range(2)):
        emit, null = problem_of(corpus, numbers, m, n, d)
        emission = np.array(emit) + FLOOR
        rest = np.array(null) + FLOOR, m.jump[d].tolist(), m.first[d].tolist(), m.p0

        def phi(lam, emission=emission, rest=rest):
            found = oracle.dense_hmm(emission * np.exp(-lam)[None, :], *rest)
            return lam.sum() + found["loglik"], 1 - found["gamma"].sum(axis=0)

        size = len(emit[0])
        lam = minimize(phi, np.full(size, 0.1), jac=True, bounds=[(0, None)] * size, method="L-BFGS-B",
                       options={"ftol": 1e-15, "gtol": 1e-8, "maxiter": 2000}).x  # fmt: skip
        truth = tilted_posteriors(problem, n, d, np.exp(-lam)[None, :])
        found = exact[n][d].T if d == 0 else exact[n][d]
        np.testing.assert_allclose(found, truth, rtol=0, atol=2e-4)
        assert coarse[n][d].sum(axis=1 - d).max() < 1 + 0.005
        assert statistics[n]["converged"] == 1


@pytest.mark.parametrize("seed", range(4))
def test_symmetric_projection_with_dropped_cells(seed):
    """On all cells, the directions agree as far as stopping and dropping promise."""
    how = replace(MODELS["shmm"].inference, eta=1e-4)
    problem = random_problem(np.random.default_rng(seed), [(12, 9), (20, 31), (1, 7)], 4)
    limits = {"eta": how.eta, "drop": how.drop, "max_calls": how.max_calls}
    before = [np.linalg.norm(f - r) for f, r in projected(problem, "symmetric", max_calls=1)[0]]
    posteriors, statistics = projected(problem, "symmetric", **limits)
    for (forward, reverse), numbers, worst in zip(posteriors, statistics, before, strict=True):
        assert numbers["converged"] == 1
        apart = np.linalg.norm(forward - reverse)
        assert apart < how.eta * forward.size + 2 * how.drop * np.sqrt(forward.size) and apart < 0.5 * worst


@pytest.mark.parametrize("constraint", HOW)
def test_projection_cut_short_is_consistent(constraint):
    """Whatever max_calls is, KL and violation are those of the posteriors left, which are of some lam."""
    problem = corpus, numbers, m = random_problem(np.random.default_rng(7), [(3, 4)], 2)
    duals = enumerated(problem, 0, constraint)
    for most in range(1, 12):
        ((forward, reverse),), (statistics,) = projected(problem, constraint, eta=1e-12, max_calls=most)
        if constraint == "symmetric":
            violation = np.linalg.norm(forward - reverse)
        else:
            above = [np.maximum(forward.sum(axis=1) - 1, 0), np.maximum(reverse.sum(axis=0) - 1, 0)]
            violation = np.linalg.norm(np.concatenate(above))
        np.testing.assert_allclose(statistics["after"], violation, rtol=1e-6, atol=1e-9)
        assert statistics["kl"] >= -1e-9
        best = sum(dual.kl(solved(dual, constraint)) for dual in duals)
        if constraint == "symmetric":  # phi falls: what the dual promises never passes KL(q* || p)
            assert statistics["kl"] < 2 * best + 1e-6

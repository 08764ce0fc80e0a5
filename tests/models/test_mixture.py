"""Model 1's kernel against its definition, counting and decoding, in double precision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracle
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from problems import (
    Problem,
    corpus_of,
    even_problem,
    expected_counts,
    grids,
    random_problem,
    small_problems,
    without_translations,
)

from aligner.models import _mixture, _mixture_double
from aligner.models.counts import Counts

CLOSE = {"rtol": 1e-9, "atol": 1e-12}


def with_room(problem: Problem) -> Problem:
    """Every word pair is possible: counting adds no floor."""
    lexicon = replace(problem.m.lexicon, t=problem.m.lexicon.t + 0.01)
    return replace(problem, m=replace(problem.m, lexicon=lexicon, positions=None))


def defined(problem: Problem, n: int, floor: float) -> tuple[list, list, list]:
    """Log-likelihoods, posteriors [I, J] and NULLs of both directions of sentence pair n."""
    found = [oracle.model1(*problem.emissions(n, d, floor)) for d in range(2)]
    gammas = [np.array(gamma).T if d == 0 else np.array(gamma) for d, (_, gamma, _) in enumerate(found)]
    return [x for x, _, _ in found], gammas, [nulls for _, _, nulls in found]


@given(problem=small_problems(with_weights=True), agree=st.booleans(), n_threads=st.sampled_from([1, 3]))
def test_counts_equal_definition(problem, agree, n_threads):
    problem = with_room(problem)
    counts = Counts.zero(problem.m, shared=agree)
    loglik = np.empty((len(problem), 2))
    _mixture_double.expect(problem.shard, problem.m.lexicon, None, agree, counts, loglik, n_threads)
    links, expected_nulls = [], [np.zeros(len(x)) for x in (counts.null_fwd, counts.null_rev)]
    for n in range(len(problem)):
        note(f"I, J {problem.shape(n)}")
        values, (f, r), nulls = defined(problem, n, 0.0)
        np.testing.assert_allclose(loglik[n], values, **CLOSE)
        links.append((f * r,) if agree else (f, r))
        for d in range(2):
            np.add.at(expected_nulls[d], problem.words(n)[1 - d], nulls[d])
    np.testing.assert_allclose(counts.pairs / 2**32, expected_counts(problem, links), rtol=0, atol=1e-8)
    np.testing.assert_allclose(counts.null_fwd / 2**32, expected_nulls[0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(counts.null_rev / 2**32, expected_nulls[1], rtol=0, atol=1e-8)


@given(problem=small_problems(with_weights=True))
def test_posteriors_and_best_links_equal_definition(problem):
    shard, lexicon = problem.shard, problem.m.lexicon
    for best in (False, True):
        fwd, rev = np.ones(shard.n_cells), np.ones(shard.n_cells)  # added to, not overwritten
        costs = np.ones((len(problem), 2))
        _mixture_double.posteriors(shard, lexicon, None, best, 0.5, fwd, rev, costs, 1)
        for n, found in enumerate(grids(problem, 2 * (fwd - 1), 2 * (rev - 1))):
            loglik, gammas, nulls = defined(problem, n, 1e-6)
            np.testing.assert_allclose(costs[n], [1 - x / 2 for x in loglik], **CLOSE)
            for d in range(2):
                if not best:
                    np.testing.assert_allclose(found[d], gammas[d], **CLOSE)
                    continue
                rows = found[d].T if d == 0 else found[d]
                truth = gammas[d].T if d == 0 else gammas[d]
                for row, gamma, null in zip(rows, truth, nulls[d], strict=True):
                    assert row.sum() == (gamma.max() >= null)
                    assert row.sum() == 0 or gamma[row.argmax()] == gamma.max()


@pytest.mark.parametrize("direction", range(2))
def test_words_that_have_no_translation_left_are_not_counted(direction):
    """A row of zeros gives neither NaN nor counts, and a log-likelihood that says nothing of the word."""
    problem = without_translations(even_problem(corpus_of(([0, 1], [0]), ([1], [0, 1, 1]))), direction)
    counts = Counts.zero(problem.m)
    loglik = np.empty((2, 2))
    _mixture_double.expect(problem.shard, problem.m.lexicon, None, False, counts, loglik, 1)
    assert (counts.pairs[:, direction] == 0).all() and np.isfinite(loglik).all()
    assert (counts.pairs[:, 1 - direction] > 0).any()


def test_empty_sides_count_nothing():
    problem = even_problem(corpus_of(([], [0, 1]), ([0], []), ([], []), ([0], [1])))
    counts = Counts.zero(problem.m)
    loglik = np.full((4, 2), np.nan)
    _mixture_double.expect(problem.shard, problem.m.lexicon, None, False, counts, loglik, 2)
    assert (loglik[:3] == 0).all() and loglik[3, 0] < 0
    assert counts.pairs.shape == (1, 2) and counts.null_fwd[0] == 0 < counts.null_fwd[1]


def test_threads_and_shards_add_up_to_the_same_counts():
    """In float: counts are integers, whoever adds them."""
    random = np.random.default_rng(5)
    problem = random_problem(random, [(int(a), int(b)) for a, b in random.integers(1, 30, (200, 2))], 2)
    tables = {x: getattr(problem.m.lexicon, x).astype(np.float32) for x in ("t", "null_fwd", "null_rev")}
    lexicon = replace(problem.m.lexicon, **tables)
    whole = Counts.zero(problem.m, shared=True)
    _mixture.expect(problem.shard, lexicon, None, True, whole, np.empty((200, 2)), 1)
    for n_threads, cuts in ((2, [0, 200]), (8, [0, 1, 77, 200]), (1, [0, 50, 100, 150, 200])):
        parts = Counts.zero(problem.m, shared=True)
        for start, stop in zip(cuts, cuts[1:], strict=False):
            part = Counts.zero(problem.m, shared=True)
            shard = problem.seen.shard(start, stop, 1)
            _mixture.expect(shard, lexicon, None, True, part, np.empty((stop - start, 2)), n_threads)
            parts.add(part)
        for name in ("pairs", "null_fwd", "null_rev"):
            np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


def test_cells_outside_their_row_are_unknown_word_pairs():
    """As of a text that another lexicon numbered: they have no counts, and FLOOR alone when decoding."""
    problem = with_room(random_problem(np.random.default_rng(2), [(3, 4)], 2))
    shard, lexicon = problem.shard, problem.m.lexicon
    widths = np.repeat(np.diff(lexicon.rows)[shard.src_ids], 4).astype(np.int32)
    found = []
    for wrong in (np.full_like(widths, -1), widths, widths + 1000):
        changed = replace(shard, cells=np.where(np.arange(12) % 5 == 0, wrong, shard.cells))
        fwd, rev, loglik, counts = np.zeros(12), np.zeros(12), np.empty((1, 2)), Counts.zero(problem.m)
        _mixture_double.posteriors(changed, lexicon, None, False, 1.0, fwd, rev, None, 1)
        _mixture_double.expect(changed, lexicon, None, False, counts, loglik, 1)
        found.append([fwd, rev, loglik, counts.pairs, counts.null_fwd, counts.null_rev])
    for others in found[1:]:
        for a, b in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(a, b)


@given(problem=small_problems(with_weights=True))
def test_float_equals_double(problem):
    tables = {x: getattr(problem.m.lexicon, x).astype(np.float32) for x in ("t", "null_fwd", "null_rev")}
    single = replace(problem.m.lexicon, **tables)
    double = replace(single, **{x: tables[x].astype(np.float64) for x in tables})
    found = []
    for kernel, lexicon, dtype in ((_mixture, single, np.float32), (_mixture_double, double, np.float64)):
        scores = np.zeros(problem.shard.n_cells, dtype), np.zeros(problem.shard.n_cells, dtype)
        kernel.posteriors(problem.shard, lexicon, None, False, 1.0, *scores, None, 1)
        found.append(scores)
    for x, y in zip(*found, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-5)

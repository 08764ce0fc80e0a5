"""Model 1 and HMM kernels against enumeration, in double precision, and float against double."""

from __future__ import annotations

import importlib
import itertools
from dataclasses import replace

import numpy as np
import oracle
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from problems import FLOOR, add, corpus_of, counted, decoded, problem_of, random_problem, small_problems

from aligner import _build, simd
from aligner.models import _hmm_double, _mixture_double, hmm, mixture, start
from aligner.models.recipe import Inference
from aligner.text.cells import number_pairs

CLOSE = {"rtol": 1e-9, "atol": 1e-12}


@given(problem=small_problems())
def test_hmm_counts_equal_enumeration(problem):
    corpus, numbers, m = problem
    note(f"lengths {corpus.src.lengths} {corpus.tgt.lengths}")
    W = m.first.shape[1] - 1
    counts, nulls, jumps, statistics = counted(problem)
    loglik = statistics[:, :2]
    expected = np.zeros(counts.shape)
    expected_nulls = [np.zeros(x.shape[1]) for x in nulls]
    expected_jumps = np.zeros((2, 3 * W + 4))
    for n, d in itertools.product(range(len(corpus)), range(2)):
        emit, null = problem_of(corpus, numbers, m, n, d)
        truth = oracle.hmm(add(emit, FLOOR), add(null, FLOOR), m.jump[d].tolist(), m.first[d].tolist(), m.p0)
        np.testing.assert_allclose(loglik[n, d], truth["loglik"], **CLOSE)
        expected_jumps[d] += [*truth["jumps"], *truth["firsts"]]
        gamma = np.array(truth["gamma"]) if d == 1 else np.array(truth["gamma"]).T  # [I, J] of the text
        cells = numbers.cells[numbers.offsets[n] : numbers.offsets[n + 1]].reshape(gamma.shape)
        src = corpus.src.ids[corpus.src.offsets[n] : corpus.src.offsets[n + 1]]
        for i, j in np.ndindex(*gamma.shape):
            expected[numbers.rows[src[i]] + cells[i, j], d] += gamma[i, j]
        side = (corpus.tgt, corpus.src)[d]
        for word, x in zip(side.ids[side.offsets[n] : side.offsets[n + 1]], truth["nulls"], strict=True):
            expected_nulls[d][word] += x
    # Counts are whole multiples of 2^-32, and posteriors up to 1e-5 are left out.
    np.testing.assert_allclose(counts / 2**32, expected, rtol=0, atol=1e-4)
    np.testing.assert_allclose(jumps[0] / 2**32, expected_jumps, rtol=0, atol=1e-8)
    for d in range(2):
        np.testing.assert_allclose(nulls[d][0] / 2**32, expected_nulls[d], rtol=0, atol=1e-8)


@given(problem=small_problems())
def test_posteriors_equal_enumeration(problem):
    corpus, numbers, m = problem
    for d, (offsets, src, tgt, scores) in enumerate(decoded(problem, False)):
        for n in range(len(corpus)):
            emit, null = problem_of(corpus, numbers, m, n, d)
            truth = oracle.hmm(
                add(emit, FLOOR), add(null, FLOOR), m.jump[d].tolist(), m.first[d].tolist(), m.p0
            )
            found = np.zeros((len(emit), len(emit[0])))
            part = slice(offsets[n], offsets[n + 1])
            rows, columns = (tgt, src) if d == 0 else (src, tgt)
            found[rows[part], columns[part]] = scores[part]
            np.testing.assert_allclose(found, truth["gamma"], **CLOSE)


@pytest.mark.parametrize("W", [0, 4, 15, 16])
def test_long_sentences_equal_matrices(W):
    """More than one vector a row, and windows up to the widest."""
    lengths = [(1, 1), (5, 17), (33, 40), (70, 18), (16, 32), (17, 18)]
    problem = corpus, numbers, m = random_problem(np.random.default_rng(W), lengths, W)
    _, _, jumps, statistics = counted(problem)
    found = decoded(problem, False)
    expected = np.zeros((2, 3 * W + 4))
    for n, d in itertools.product(range(len(corpus)), range(2)):
        emit, null = problem_of(corpus, numbers, m, n, d)
        truth = oracle.dense_hmm(
            np.array(emit) + FLOOR, np.array(null) + FLOOR, m.jump[d].tolist(), m.first[d].tolist(), m.p0
        )
        np.testing.assert_allclose(statistics[n, d], truth["loglik"], **CLOSE)
        expected[d] += [*truth["jumps"], *truth["firsts"]]
        offsets, src, tgt, scores = found[d]
        part = slice(offsets[n], offsets[n + 1])
        grid = np.zeros(truth["gamma"].shape)
        grid[(tgt, src)[d][part], (src, tgt)[d][part]] = scores[part]
        np.testing.assert_allclose(grid, truth["gamma"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(jumps[0] / 2**32, expected, rtol=0, atol=1e-6)


@given(problem=small_problems())
def test_best_path_is_as_good_as_any(problem):
    corpus, numbers, m = problem
    for d, (offsets, src, tgt, _) in enumerate(decoded(problem, True)):
        for n in range(len(corpus)):
            emit, null = problem_of(corpus, numbers, m, n, d)
            truth = oracle.hmm(
                add(emit, FLOOR), add(null, FLOOR), m.jump[d].tolist(), m.first[d].tolist(), m.p0
            )
            part = slice(offsets[n], offsets[n + 1])
            rows, columns = (tgt, src) if d == 0 else (src, tgt)
            links = dict(zip(rows[part].tolist(), columns[part].tolist(), strict=True))
            J, I = len(emit), len(emit[0])
            # The twins of a NULL word remember a position that the links do not tell: the best of them
            options = [[links[j]] if j in links else range(I, 2 * I) for j in range(J)]
            best = max(truth["score"](path) for path in itertools.product(*options))
            np.testing.assert_allclose(best, truth["best"], rtol=1e-9)


@given(problem=small_problems(), agree=st.booleans())
def test_model1_equals_definition(problem, agree):
    corpus, numbers, m = problem
    t, null_fwd, null_rev = m.t + 0.01, m.null_fwd, m.null_rev
    m = replace(m, t=t)
    inverse = np.empty(len(corpus.tgt.ids)), np.empty(len(corpus.src.ids))
    loglik = np.empty((len(corpus), 2))
    src, tgt = corpus.src, corpus.tgt
    text = src.ids, src.offsets, tgt.ids, tgt.offsets
    _mixture_double.invert(
        *text, numbers.cells, numbers.offsets, m.rows, t, null_fwd, null_rev, *inverse, loglik, 1
    )
    expected = np.zeros((len(numbers), 2))
    expected_nulls = np.zeros(len(null_fwd)), np.zeros(len(null_rev))
    for n in range(len(corpus)):
        shape = corpus.src.lengths[n], corpus.tgt.lengths[n]
        grids = np.empty((2, *shape))
        for d in range(2):
            emit, null = problem_of(corpus, numbers, m, n, d)
            value, gamma, nulls = oracle.model1(emit, null)
            np.testing.assert_allclose(loglik[n, d], value, **CLOSE)
            side = (tgt, src)[d]
            part = slice(side.offsets[n], side.offsets[n + 1])
            np.testing.assert_allclose(inverse[d][part] * null, nulls, **CLOSE)
            np.add.at(expected_nulls[d], side.ids[part], nulls)
            grids[d] = np.array(gamma) if d == 1 else np.array(gamma).T
        if agree:
            grids[:] = grids[0] * grids[1]
        cells = numbers.cells[numbers.offsets[n] : numbers.offsets[n + 1]].reshape(shape)
        words = src.ids[src.offsets[n] : src.offsets[n + 1]]
        for i, j in np.ndindex(*shape):
            expected[numbers.rows[words[i]] + cells[i, j]] += grids[:, i, j]
    counts = np.zeros((len(numbers), 2), dtype=np.int64)
    _mixture_double.count(
        src.offsets, tgt.offsets, numbers.cells, numbers.offsets, m.rows, numbers.order, numbers.starts,
        numbers.sentence, numbers.blocks, t, *inverse, agree, counts, 1,
    )  # fmt: skip
    np.testing.assert_allclose(counts / 2**32, expected, rtol=0, atol=1e-8)
    for d, (side, null) in enumerate(((tgt, null_fwd), (src, null_rev))):
        nulls = np.zeros(len(null), dtype=np.int64)
        _mixture_double.count_nulls(side.ids, null, inverse[d], nulls)
        np.testing.assert_allclose(nulls / 2**32, expected_nulls[d], rtol=0, atol=1e-8)
    new = np.empty_like(t)
    _hmm_double.normalize(m.rows, numbers.tgt, len(tgt.vocab), counts, new)
    by_src = np.add.reduceat(counts[:, 0], m.rows[:-1][np.diff(m.rows) > 0])
    mass = np.repeat(by_src, np.diff(m.rows)[np.diff(m.rows) > 0])
    np.testing.assert_allclose(new[:, 0], counts[:, 0] / np.maximum(mass, 1), **CLOSE)
    mass = np.bincount(numbers.tgt, weights=counts[:, 1])[numbers.tgt]
    np.testing.assert_allclose(new[:, 1], counts[:, 1] / np.maximum(mass, 1), **CLOSE)


@given(problem=small_problems())
def test_float_equals_double(problem):
    corpus, numbers, m = problem
    single = replace(m, **{x: getattr(m, x).astype(np.float32) for x in ("t", "null_fwd", "null_rev")})
    double = replace(
        single, **{x: getattr(single, x).astype(np.float64) for x in ("t", "null_fwd", "null_rev")}
    )
    for ours, theirs in zip(
        decoded((corpus, numbers, single), False, hmm._hmm),
        decoded((corpus, numbers, double), False),
        strict=True,
    ):
        grids = []
        for offsets, src, tgt, scores in (ours, theirs):
            grid = np.zeros((len(corpus), 5, 5))
            grid[np.repeat(np.arange(len(corpus)), np.diff(offsets)), src, tgt] = scores
            grids.append(grid)
        np.testing.assert_allclose(grids[0], grids[1], rtol=0, atol=2e-5)


@pytest.mark.parametrize("level", ["", "_avx2", "_avx512"])
def test_every_build_gives_the_same_bits(level):
    """Baseline, AVX2 and AVX-512, as far as this machine has them."""
    available = _build.simd_available()
    if level and (
        available not in simd.LEVELS or level[1:] not in simd.LEVELS[simd.LEVELS.index(available) :]
    ):
        pytest.skip(f"no {level[1:]} here")
    kernel = importlib.import_module(f"aligner.models._hmm{level}")
    random = np.random.default_rng(0)
    corpus = corpus_of(*((random.integers(0, 30, n).tolist(), random.integers(0, 30, m).tolist())
                         for n, m in random.integers(1, 60, (20, 2))))  # fmt: skip
    numbers = number_pairs(corpus, 1)
    m = start.uniform(corpus, numbers, 5, 0.2)
    mixture.step(m, corpus, numbers, False, 1)
    for viterbi in (False, True):
        for ours, theirs in zip(
            decoded((corpus, numbers, m), viterbi, kernel),
            decoded((corpus, numbers, m), viterbi, hmm._hmm),
            strict=True,
        ):
            for a, b in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("I, J", [(1, 400), (400, 1), (400, 400), (1, 1), (17, 33)])
def test_posteriors_of_long_pairs_sum_to_one(I, J):
    random = np.random.default_rng(0)
    corpus = corpus_of((random.integers(0, 50, I).tolist(), random.integers(0, 50, J).tolist()))
    numbers = number_pairs(corpus, 1)
    m = start.uniform(corpus, numbers, 5, 0.2)
    view = m, corpus, numbers.cells
    forward, _ = hmm.decode([view], numbers.offsets, Inference(), viterbi=False, cutoff=0.0, n_threads=1)
    sums = np.bincount(forward.tgt, weights=forward.scores, minlength=J)
    assert sums.max() < 1 + 1e-4 and sums.min() > 0.1

"""The HMM kernel against enumeration, in double precision, and float against double."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import oracle
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from problems import (
    BUILDS,
    FLOOR,
    HMM,
    Problem,
    build_of,
    corpus_of,
    counted,
    even_problem,
    expected_counts,
    how_of,
    posteriors,
    random_problem,
    small_problems,
    stage_of,
)
from trained import generated

from aligner import Recipe, train
from aligner.models import _hmm_double, hmm
from aligner.models.counts import Counts
from aligner.models.lexicon import Lexicon
from aligner.models.shares import CUTOFF
from aligner.text.cells import Seen
from aligner.text.known import Known, Weights

CLOSE = {"rtol": 1e-9, "atol": 1e-12}


def transposed(gamma: list, d: int) -> np.ndarray:
    """[I, J] of the text from [rows, states] of a direction."""
    return np.array(gamma).T if d == 0 else np.array(gamma)


def laid_out(truth: dict) -> np.ndarray:
    """Expected jumps and first positions of the oracle as positions lay them out."""
    return np.concatenate([truth["jumps"], truth["firsts"], truth["lasts"], np.ravel(truth["by_class"])])


@given(problem=small_problems(with_weights=True))
def test_counts_equal_enumeration(problem):
    counts, statistics = counted(problem)
    expected_nulls = [np.zeros(len(x)) for x in (counts.null_fwd, counts.null_rev)]
    expected_jumps = np.zeros((2, problem.m.positions.n_counts))
    links = []
    for n in range(len(problem)):
        note(f"I, J {problem.shape(n)}")
        both = []
        for d in range(2):
            truth = problem.enumerated(n, d)
            loglik = statistics[n][("loglik_fwd", "loglik_rev")[d]]
            np.testing.assert_allclose(loglik, truth["loglik"], **CLOSE)
            expected_jumps[d] += laid_out(truth)
            np.add.at(expected_nulls[d], problem.words(n)[1 - d], truth["nulls"])
            both.append(transposed(truth["gamma"], d))
        links.append(tuple(both))
    # Counts are whole multiples of 2^-32, and posteriors up to 1e-5 are left out.
    np.testing.assert_allclose(counts.pairs / 2**32, expected_counts(problem, links), rtol=0, atol=1e-4)
    np.testing.assert_allclose(counts.positions / 2**32, expected_jumps, rtol=0, atol=1e-8)
    np.testing.assert_allclose(counts.null_fwd / 2**32, expected_nulls[0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(counts.null_rev / 2**32, expected_nulls[1], rtol=0, atol=1e-8)


@given(problem=small_problems(with_weights=True))
def test_posteriors_equal_enumeration(problem):
    for n, both in enumerate(posteriors(problem)):
        for d in range(2):
            truth = transposed(problem.enumerated(n, d)["gamma"], d)
            np.testing.assert_allclose(both[d], truth, **CLOSE)


@pytest.mark.parametrize("stage", [HMM, stage_of("shmm")], ids=["hmm", "shmm"])
@given(problem=small_problems(with_weights=True), best=st.booleans(), n_threads=st.sampled_from([1, 3]))
def test_costs_equal_enumeration(stage, problem, best, n_threads):
    """-log p of all alignments, before a projection, whatever links are wanted; added to what is there."""
    shard, m, costs = problem.shard, problem.m, np.ones((len(problem), 2))
    cells = np.zeros(shard.n_cells), np.zeros(shard.n_cells)
    asked = [shard], [m.lexicon], m.positions, how_of(stage), None, best, 0.5
    _hmm_double.posteriors(*asked, *cells, costs, n_threads)
    for n, d in itertools.product(range(len(problem)), range(2)):
        np.testing.assert_allclose(costs[n, d], 1 - problem.enumerated(n, d)["loglik"] / 2, **CLOSE)


@given(problem=small_problems())
def test_agreement_counts_are_products(problem):
    both = [(f * r,) for f, r in posteriors(problem)]
    counts, _ = counted(problem, stage_of("agree"))
    np.testing.assert_allclose(counts.pairs / 2**32, expected_counts(problem, both), rtol=0, atol=1e-4)


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("W", [0, 4, 15, 16])
def test_long_sentences_equal_matrices(W, n_classes):
    """More than one vector a row, and windows up to the widest."""
    lengths = [(1, 1), (5, 17), (33, 40), (70, 18), (16, 32), (17, 18)]
    problem = random_problem(np.random.default_rng(W), lengths, W, n_classes)
    counts, statistics = counted(problem)
    found = posteriors(problem)
    expected = np.zeros((2, problem.m.positions.n_counts))
    for n, d in itertools.product(range(len(problem)), range(2)):
        emit, null, *rest = problem.lattice(n, d)
        truth = oracle.dense_hmm(np.array(emit), np.array(null), *rest)
        loglik = statistics[n][("loglik_fwd", "loglik_rev")[d]]
        np.testing.assert_allclose(loglik, truth["loglik"], **CLOSE)
        expected[d] += laid_out(truth)
        np.testing.assert_allclose(found[n][d], transposed(truth["gamma"], d), rtol=0, atol=1e-9)
    np.testing.assert_allclose(counts.positions / 2**32, expected, rtol=0, atol=1e-6)


@given(problem=small_problems(with_weights=True))
def test_best_path_is_as_good_as_any(problem):
    for n, both in enumerate(posteriors(problem, best=True)):
        for d in range(2):
            truth = problem.enumerated(n, d)
            rows = both[d].T if d == 0 else both[d]  # [rows, states]
            assert set(np.unique(rows)) <= {0, 1} and (rows.sum(axis=1) <= 1).all()
            links = {j: int(row.argmax()) for j, row in enumerate(rows) if row.any()}
            J, I = rows.shape
            # The twins of a NULL word remember a position that the links do not tell: the best of them
            options = [[links[j]] if j in links else range(I, 2 * I) for j in range(J)]
            best = max(truth["paths"][path] for path in itertools.product(*options))
            np.testing.assert_allclose(best, truth["best"], rtol=1e-9)


def in_precision(problem: Problem, dtype) -> Problem:
    tables = {x: getattr(problem.m.lexicon, x).astype(dtype) for x in ("t", "null_fwd", "null_rev")}
    lexicon: Lexicon = replace(problem.m.lexicon, **tables)
    return replace(problem, m=replace(problem.m, lexicon=lexicon))


@given(problem=small_problems())
def test_float_equals_double(problem):
    single = in_precision(problem, np.float32)
    ours = posteriors(single, kernel=hmm._hmm, dtype=np.float32)
    theirs = posteriors(in_precision(single, np.float64))
    for a, b in zip(ours, theirs, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_allclose(x, y, rtol=0, atol=2e-5)


@pytest.mark.parametrize("model, n_classes", [("hmm", 0), ("bhmm", 0), ("shmm", 0), ("agree", 0), ("hmm", 5)])
@pytest.mark.parametrize("build", BUILDS)
def test_every_build_gives_the_same_bits(build, model, n_classes):
    """Baseline, AVX2 and AVX-512, as far as this machine has them."""
    kernel = build_of("_hmm", build)
    random = np.random.default_rng(3)
    lengths = [(3, 5), (40, 17), (16, 16), (33, 70), (1, 9)]
    problem = in_precision(random_problem(random, lengths, 4, n_classes), np.float32)
    stage = stage_of(model)
    for best in (False, True):
        ours, theirs = (posteriors(problem, stage, best, k, np.float32) for k in (kernel, hmm._hmm))
        for a, b in zip(ours, theirs, strict=True):
            for x, y in zip(a, b, strict=True):
                np.testing.assert_array_equal(x, y)
    (ours, statistics), (theirs, same) = (counted(problem, stage, k) for k in (kernel, hmm._hmm))
    assert statistics == same
    for name in ("pairs", "null_fwd", "null_rev", "positions"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


@pytest.mark.parametrize("constraint", ["none", "symmetric", "bijective"])
@pytest.mark.parametrize("build", BUILDS)
def test_every_build_gives_the_same_bits_of_views_together(build, constraint):
    """With shares left out and without, of one view and of three, with the jumps of an iteration."""
    kernel = build_of("_hmm", build)
    some = generated().part(0, 60)
    recipe = Recipe.of("loo", ibm1_iterations=2, hmm_iterations=1, constraint=constraint)
    model = train(some, recipe)
    assert len(model.views) == 3
    lexicons = [view.parameters.lexicon for view in model.views]
    shards = [Seen.of_own_words(some, view.name, 1).shard(0, 60, 1) for view in model.views]
    jumps, how = model.views[0].parameters.positions, how_of(recipe.last)
    for n_views, own, best in itertools.product((1, 3), (None, model.shares.of(some, 0.9)), (False, True)):
        found = []
        for k in (kernel, hmm._hmm):
            cells = [np.zeros(shards[0].n_cells, np.float32) for _ in range(2)]
            counts, statistics = np.zeros((2, jumps.n_counts), np.int64), np.empty((60, 7))
            views = shards[:n_views], lexicons[:n_views], jumps
            k.posteriors(*views, how, own, best, 1.0, *cells, None, 1)
            packed = k.expect_links(*views, how, own, CUTOFF, counts, statistics, 1)
            assert counts.any() and cells[0].any() and packed[1].any()
            found.append([*cells, *packed, counts, statistics])
        for x, y in zip(*found, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("I, J", [(1, 400), (400, 1), (400, 400), (1, 1), (17, 33)])
def test_posteriors_of_long_pairs_sum_to_one(I, J):
    random = np.random.default_rng(0)
    corpus = corpus_of((random.integers(0, 50, I).tolist(), random.integers(0, 50, J).tolist()))
    problem = even_problem(corpus, dtype=np.float32)
    ((forward, reverse),) = posteriors(problem, HMM, kernel=hmm._hmm, dtype=np.float32)
    counts, _ = counted(problem, HMM, hmm._hmm)
    for sums, null, side in (
        (forward.sum(axis=0), counts.null_fwd, corpus.tgt),
        (reverse.sum(axis=1), counts.null_rev, corpus.src),
    ):
        assert sums.max() < 1 + 1e-4 and sums.min() > 0.1
        np.testing.assert_allclose(sums.sum() + null.sum() / 2**32, len(side.ids), rtol=1e-4)


@given(problem=small_problems())
def test_weights_of_one_change_no_bit(problem):
    """What is known of a link is its weight alone."""
    cells = [list(np.ndindex(*problem.shape(n))) for n in range(len(problem))]
    flat = [cell for one in cells for cell in one]
    weights = np.ones(len(flat), dtype=np.float32)
    src, tgt = (np.array([cell[k] for cell in flat], dtype=np.int32) for k in range(2))
    known = Known(Weights(np.cumsum([0, *map(len, cells)], dtype=np.int64), src, tgt, weights))
    plain, weighted = counted(problem), counted(replace(problem, known=known))
    assert plain[1] == weighted[1]
    np.testing.assert_array_equal(plain[0].pairs, weighted[0].pairs)


def test_unknown_words_have_the_floor_alone():
    """Ids of -1 and cells of -1 emit FLOOR in both directions, as a word pair with t = 0 does."""
    problem = random_problem(np.random.default_rng(1), [(4, 6)], 2)
    shard, m = problem.shard, problem.m
    zero = replace(m.lexicon, t=np.zeros_like(m.lexicon.t), null_fwd=np.zeros_like(m.lexicon.null_fwd))
    zero = replace(zero, null_rev=np.zeros_like(m.lexicon.null_rev))
    expected = posteriors(replace(problem, m=replace(m, lexicon=zero)))
    blank = replace(
        shard,
        src_ids=np.full_like(shard.src_ids, -1),
        tgt_ids=np.full_like(shard.tgt_ids, -1),
        cells=np.full_like(shard.cells, -1),
    )
    fwd, rev = np.zeros(shard.n_cells), np.zeros(shard.n_cells)
    _hmm_double.posteriors(
        [blank], [m.lexicon], m.positions, how_of(HMM), None, False, 1.0, fwd, rev, None, 1
    )
    np.testing.assert_allclose(fwd.reshape(4, 6), expected[0][0], rtol=1e-12)
    np.testing.assert_allclose(rev.reshape(4, 6), expected[0][1], rtol=1e-12)


def test_cells_outside_their_row_are_unknown_word_pairs():
    """As of a text that another lexicon numbered: whatever they are, they emit FLOOR."""
    problem = random_problem(np.random.default_rng(2), [(3, 4)], 2)
    shard, m = problem.shard, problem.m
    widths = np.repeat(np.diff(m.lexicon.rows)[shard.src_ids], 4).astype(np.int32)
    found = []
    for wrong in (np.full_like(widths, -1), widths, widths + 1000):
        cells = np.where(np.arange(12) % 5 == 0, wrong, shard.cells)
        fwd, rev, counts = np.zeros(12), np.zeros(12), Counts.zero(m)
        changed = replace(shard, cells=cells)
        how = how_of(HMM)
        _hmm_double.posteriors([changed], [m.lexicon], m.positions, how, None, False, 1.0, fwd, rev, None, 1)
        _hmm_double.expect(changed, m.lexicon, m.positions, how, counts, np.empty((1, 7)), 1)
        found.append([fwd, rev, counts.pairs])
    for others in found[1:]:
        for a, b in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("d, lengths", [(0, (3, 900)), (1, (900, 3))])
def test_log_likelihood_of_a_pair_too_long_for_a_product(d, lengths):
    """The probability of 900 words is below the smallest number."""
    problem = random_problem(np.random.default_rng(4), [lengths], 2)
    _, (statistics,) = counted(problem)
    emit, null, *rest = problem.lattice(0, d)
    truth = oracle.dense_hmm(np.array(emit), np.array(null), *rest)["loglik"]
    assert truth < -800
    np.testing.assert_allclose(statistics[("loglik_fwd", "loglik_rev")[d]], truth, **CLOSE)


def test_best_path_prefers_words_to_null():
    """One word against two: where each row is a tie of the word and its twin, the word it is."""
    for d, pair in enumerate((([0], [0, 0]), ([0, 0], [0]))):
        problem = even_problem(corpus_of(pair), 1)
        tables = {x: np.zeros_like(getattr(problem.m.lexicon, x)) for x in ("t", "null_fwd", "null_rev")}
        places = replace(problem.m.positions, jump=np.ones((2, 3)), first=np.ones((2, 1)), p0=0.5)
        m = replace(problem.m, lexicon=replace(problem.m.lexicon, **tables), positions=places)
        (both,) = posteriors(replace(problem, m=m), best=True)
        assert both[d].all()


@pytest.mark.parametrize("d", range(2))
@pytest.mark.parametrize("side", ["left", "right"])
def test_of_equally_good_paths_the_one_from_farther_left_is_taken(d, side):
    """Two words, the second at one end. Both ways there are long jumps and equally likely.

    The nearer position has half as many positions beyond it to share a jump with as the farther position,
    and half the emission.
    """
    states = [0, 1, 2, 3, 4]
    problem = even_problem(corpus_of((states, [0, 1]) if d == 0 else ([0, 1], states)), 1)
    assert FLOOR + (0.25 - FLOOR) == 0.25 and FLOOR + (0.5 - FLOOR) == 0.5
    t = np.zeros((5, 2))
    near, far, end = (1, 2, 0) if side == "left" else (3, 2, 4)
    t[near, 0], t[far, 0], t[end, 1] = 0.25 - FLOOR, 0.5 - FLOOR, 1.0
    for (state, word), value in np.ndenumerate(t):
        problem.m.lexicon.t[problem.pair(*((state, word) if d == 0 else (word, state))), d] = value
    nulls = {x: np.zeros_like(getattr(problem.m.lexicon, x)) for x in ("null_fwd", "null_rev")}
    places = replace(problem.m.positions, jump=np.ones((2, 3)), first=np.ones((2, 1)), p0=0.5)
    m = replace(problem.m, lexicon=replace(problem.m.lexicon, **nulls), positions=places)
    (both,) = posteriors(replace(problem, m=m), best=True)
    found = both[0] if d == 0 else both[1].T
    assert [tuple(x) for x in np.argwhere(found)] == sorted([(min(near, far), 0), (end, 1)])


@pytest.mark.parametrize("t, is_counted", [(1e-6, False), (7e-6, False), (1.2e-5, True), (1e-3, True)])
def test_tiny_posteriors_are_not_counted(t, is_counted):
    """One target word, two source words: the posterior of the second is about t."""
    problem = even_problem(corpus_of(([0, 1], [0])))
    lexicon = replace(problem.m.lexicon, t=np.array([[1.0, 1.0], [t, 1.0]]), null_fwd=np.zeros(1))
    problem = replace(problem, m=replace(problem.m, lexicon=lexicon))
    ((forward, _),) = posteriors(problem)
    assert (forward[1, 0] > 1e-5) == is_counted
    counts, _ = counted(problem)
    assert counts.pairs[1, 0] == (round(forward[1, 0] * 2**32) if is_counted else 0)

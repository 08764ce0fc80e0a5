"""Model 2 and the diagonal model: the kernel against every alignment, sums against closed forms, updates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracle
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from problems import Problem, corpus_of, even_problem, expected_counts, grids, random_problem, small_problems

from aligner import Corpus
from aligner.models import _mixture, _mixture_double
from aligner.models._diagonal import expected_distance, partition
from aligner.models.counts import ONE, Counts
from aligner.models.diagonal import LEAST, MOST, Diagonal, most_probable
from aligner.models.places import Places, Ramps, find_sizes, sizes_of
from aligner.models.table import Table

CLOSE = {"rtol": 1e-9, "atol": 1e-12}
FLOOR = 1e-6


def diagonal(I: int, J: int, tension: float) -> np.ndarray:
    """[J, I] exp(-tension |i / I - j / J|), a row over its sum; J generated words."""
    h = distance(I, J)
    p = np.exp(-tension * h)
    return p / p.sum(axis=1, keepdims=True)


def distance(I: int, J: int) -> np.ndarray:
    """[J, I]"""
    return abs(np.arange(1, I + 1)[None, :] / I - np.arange(1, J + 1)[:, None] / J)


def sizes_in(corpus: Corpus) -> np.ndarray:
    return sizes_of(corpus.src.lengths, corpus.tgt.lengths)


def with_places(problem: Problem, kind: str, seed: int) -> Problem:
    """The problem with any positions of a kind; every word pair is possible."""
    random = np.random.default_rng(seed)
    text = problem.seen.text
    lexicon = replace(problem.m.lexicon, t=problem.m.lexicon.t + 0.01)
    if kind == "diagonal":
        sizes = sizes_in(text)
        positions = Diagonal(random.uniform(0.1, 12, 2), float(random.uniform(0.05, 0.5)), sizes)
    else:
        even = Table.of(sizes_in(text), None)
        position = random.random(even.position.shape) + 0.01
        for I, J, begin, end in even.blocks():
            for d in range(2):
                block = position[d, begin:end].reshape(I + 1, J + 1)
                block /= block.sum(axis=d, keepdims=True)
        positions = Table(even.sizes, position)
    return replace(problem, m=replace(problem.m, lexicon=lexicon, positions=positions))


def places_of(problem: Problem, n: int, d: int, floor: float = 0.0) -> tuple[list, list]:
    """[rows][states] and NULL's [rows], by their definitions. floor: added to a table's"""
    I, J = problem.shape(n)
    m = problem.m.positions
    given, generated = (I, J) if d == 0 else (J, I)
    if isinstance(m, Diagonal):
        return ((1 - m.p0) * diagonal(given, generated, m.tension[d])).tolist(), [m.p0] * generated
    k = [tuple(size) for size in m.sizes.tolist()].index((I, J))
    begin = sum((a + 1) * (b + 1) for a, b in m.sizes.tolist()[:k])
    block = m.position[d, begin : begin + (I + 1) * (J + 1)].reshape(I + 1, J + 1) + floor
    block = block.T if d == 0 else block
    return block[1:, 1:].tolist(), block[1:, 0].tolist()


def defined(problem: Problem, n: int, floor: float) -> tuple[list, list, list]:
    """Log-likelihoods, posteriors [I, J] and NULLs of both directions of sentence pair n."""
    found = [
        oracle.model2(*problem.emissions(n, d, floor), *places_of(problem, n, d, floor)) for d in range(2)
    ]
    gammas = [np.array(gamma).T if d == 0 else np.array(gamma) for d, (_, gamma, _) in enumerate(found)]
    return [x for x, _, _ in found], gammas, [nulls for _, _, nulls in found]


def expected_positions(problem: Problem, links: list, nulls: list) -> np.ndarray:
    """[2, n] as the positions lay counts out."""
    m = problem.m.positions
    counts = np.zeros((2, m.n_counts))
    for n, both in enumerate(links):
        I, J = problem.shape(n)
        begin = m.starts[find_sizes(m.sizes, np.array([I]), np.array([J]))[0]]
        for d in range(2):
            if isinstance(m, Diagonal):
                counts[d, 0] += (both[d] * distance(I, J).T).sum()
                linked = both[d].sum(axis=d)
                counts[d, 1 + begin : 1 + begin + len(linked)] += linked
            else:
                block = counts[d, begin : begin + (I + 1) * (J + 1)].reshape(I + 1, J + 1)
                block[1:, 1:] += both[d]
                (block[0, 1:] if d == 0 else block[1:, 0])[:] += nulls[n][d]
    return counts


KINDS = ("table", "diagonal")


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30)
@given(
    problem=small_problems(with_weights=True),
    seed=st.integers(0, 99),
    agree=st.booleans(),
    n_threads=st.sampled_from([1, 3]),
)
def test_counts_equal_enumeration(problem, seed, agree, n_threads, kind):
    problem = with_places(problem, kind, seed)
    counts, loglik = Counts.zero(problem.m, shared=agree), np.empty((len(problem), 2))
    places = problem.m.positions.places(problem.shard)
    _mixture_double.expect(problem.shard, problem.m.lexicon, places, agree, counts, loglik, n_threads)
    links, nulls = [], []
    expected_nulls = [np.zeros(len(x)) for x in (counts.null_fwd, counts.null_rev)]
    for n in range(len(problem)):
        note(f"I, J {problem.shape(n)}")
        values, (f, r), of_null = defined(problem, n, 0.0)
        np.testing.assert_allclose(loglik[n], values, **CLOSE)
        links.append((f * r, f * r) if agree else (f, r))
        nulls.append(of_null)
        for d in range(2):
            np.add.at(expected_nulls[d], problem.words(n)[1 - d], of_null[d])
    counted = [both[:1] if agree else both for both in links]
    np.testing.assert_allclose(counts.pairs / ONE, expected_counts(problem, counted), rtol=0, atol=1e-8)
    np.testing.assert_allclose(counts.null_fwd / ONE, expected_nulls[0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(counts.null_rev / ONE, expected_nulls[1], rtol=0, atol=1e-8)
    wanted = expected_positions(problem, links, nulls)
    np.testing.assert_allclose(counts.positions / ONE, wanted, rtol=0, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30)
@given(problem=small_problems(with_weights=True), seed=st.integers(0, 99))
def test_posteriors_and_best_links_equal_enumeration(problem, seed, kind):
    problem = with_places(problem, kind, seed)
    shard, lexicon = problem.shard, problem.m.lexicon
    places = problem.m.positions.places(shard)
    for best in (False, True):
        fwd, rev, costs = np.ones(shard.n_cells), np.ones(shard.n_cells), np.ones((len(problem), 2))
        _mixture_double.posteriors(shard, lexicon, places, best, 0.5, fwd, rev, costs, 1)
        for n, found in enumerate(grids(problem, 2 * (fwd - 1), 2 * (rev - 1))):
            loglik, gammas, nulls = defined(problem, n, FLOOR)
            np.testing.assert_allclose(costs[n], [1 - x / 2 for x in loglik], **CLOSE)
            for d in range(2):
                if not best:
                    np.testing.assert_allclose(found[d], gammas[d], rtol=1e-8, atol=1e-12)
                    continue
                rows = found[d].T if d == 0 else found[d]
                truth = gammas[d].T if d == 0 else gammas[d]
                for row, gamma, null in zip(rows, truth, nulls[d], strict=True):
                    top = gamma.max()
                    assert row.sum() == (top >= null) or top == pytest.approx(null, rel=1e-9)
                    assert row.sum() == 0 or gamma[row.argmax()] == pytest.approx(top, rel=1e-9)


@pytest.mark.parametrize(("I", "J"), [(1, 1), (1, 6), (7, 1), (5, 5), (4, 9), (12, 5), (30, 23)])
@pytest.mark.parametrize("tension", [LEAST, 0.3, 4.0, 14.0, MOST])
def test_sums_equal_closed_forms(I, J, tension):
    """Of both directions; the mean is the derivative of -log Z, too."""
    tensions = np.array([tension, tension / 2 + 0.01])
    lengths = np.array([I, J])
    for d, x in enumerate(tensions):
        given, generated = (I, J) if d == 0 else (J, I)
        Z, mean, variance = partition(given, generated, Ramps.of(lengths, tensions), d).T
        h = distance(given, generated)
        p = np.exp(-x * h)
        np.testing.assert_allclose(Z, p.sum(axis=1), rtol=1e-11)
        p /= p.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(mean, (p * h).sum(axis=1), rtol=1e-10, atol=1e-15)
        spread = (p * (h - mean[:, None]) ** 2).sum(axis=1)
        np.testing.assert_allclose(variance, spread, rtol=1e-4, atol=1e-9)
        step = 1e-4 * x
        above, below = (
            np.log(partition(given, generated, Ramps.of(lengths, np.full(2, x + by)), d)[:, 0])
            for by in (step, -step)
        )
        np.testing.assert_allclose(-(above - below) / (2 * step), mean, rtol=1e-5, atol=1e-9)


def some_links(seed: int) -> tuple[float, np.ndarray, np.ndarray]:
    """far, sizes and weights of any expected links of the forward direction."""
    random = np.random.default_rng(seed)
    sizes = sizes_of(random.integers(1, 15, 40), random.integers(1, 15, 40))
    m = Diagonal(np.ones(2), 0.1, sizes)
    weights, far = np.zeros(m.n_counts - 1), 0.0
    for (I, J), begin in zip(sizes.tolist(), m.starts.tolist(), strict=True):
        links = random.random((J, I)) * diagonal(I, J, random.uniform(1, 20))
        weights[begin : begin + J] = links.sum(axis=1)
        far += (links * distance(I, J)).sum()
    return far, sizes, weights


def Q(tension: float, far: float, sizes: np.ndarray, weights: np.ndarray) -> float:
    m = Diagonal(np.ones(2), 0.1, sizes)
    total = -tension * far
    for (I, J), begin in zip(sizes.tolist(), m.starts.tolist(), strict=True):
        Z = np.exp(-tension * distance(I, J)).sum(axis=1)
        total -= weights[begin : begin + J] @ np.log(Z)
    return total


@pytest.mark.parametrize("seed", range(4))
def test_the_slope_is_a_finite_difference_and_zero_at_the_update(seed):
    far, sizes, weights = some_links(seed)
    starts = Diagonal(np.ones(2), 0.1, sizes).starts

    def slope(x: float) -> float:
        ramps = Ramps.of(sizes.ravel(), np.full(2, x))
        return expected_distance(sizes, starts, weights, ramps, 0)[0] - far

    for x in (0.5, 3.0, 11.0):
        difference = (Q(x + 1e-4, far, sizes, weights) - Q(x - 1e-4, far, sizes, weights)) / 2e-4
        assert slope(x) == pytest.approx(difference, rel=1e-6, abs=1e-6)
    found = most_probable(far, sizes, weights, 0, 4.0, LEAST, MOST)
    assert LEAST < found < MOST and abs(slope(found)) < 1e-7 * far
    for start in (LEAST, 1.0, MOST):
        assert most_probable(far, sizes, weights, 0, start, LEAST, MOST) == pytest.approx(found, rel=1e-8)


def test_updates_stay_within_bounds():
    _, sizes, weights = some_links(7)
    assert most_probable(0.0, sizes, weights, 0, 4.0, LEAST, MOST) == MOST
    assert most_probable(1e6, sizes, weights, 0, 4.0, LEAST, MOST) == LEAST
    one = np.array([[1, 3], [1, 5]])  # a given word alone: its distance is what it is
    assert most_probable(2.0, one, np.ones(8), 0, 5.5, LEAST, MOST) == 5.5
    assert most_probable(0.0, sizes, np.zeros_like(weights), 0, 5.5, LEAST, MOST) == 5.5


def test_without_tension_the_diagonal_is_model_1():
    """All source sentences are of one length I, so that p0 = 1 / (I + 1) is Model 1's, forward."""
    random = np.random.default_rng(3)
    problem = random_problem(random, [(4, 3), (4, 7), (4, 4)], 1)
    flat, even = (Counts.zero(replace(problem.m, positions=None)) for _ in range(2))
    found = np.empty((2, 3, 2))
    places = Diagonal(np.full(2, 1e-7), 1 / 5).places(problem.shard)
    _mixture_double.expect(problem.shard, problem.m.lexicon, None, False, flat, found[0], 1)
    _mixture_double.expect(problem.shard, problem.m.lexicon, places, False, even, found[1], 1)
    np.testing.assert_allclose(found[0, :, 0], found[1, :, 0], rtol=1e-6)
    np.testing.assert_allclose(flat.pairs[:, 0] / ONE, even.pairs[:, 0] / ONE, atol=1e-6)


def test_a_new_table_is_model_1():
    problem = random_problem(np.random.default_rng(4), [(4, 3), (2, 7), (1, 1)], 1)
    table = Table.of(sizes_in(problem.seen.text), None)
    unmet = Table(table.sizes[:0], table.position[:, :0])
    found = np.zeros((3, 2, sum(I * J for I, J in map(problem.shape, range(3)))))
    tables = {x: getattr(problem.m.lexicon, x).astype(np.float32) for x in ("t", "null_fwd", "null_rev")}
    lexicon = replace(problem.m.lexicon, **tables)
    for k, places in enumerate((None, unmet.places(problem.shard), table.places(problem.shard))):
        scores = found[k].astype(np.float32)
        _mixture.posteriors(problem.shard, lexicon, places, False, 1.0, *scores, None, 1)
        found[k] = scores
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)
    np.testing.assert_allclose(found[2], found[0], atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_empty_sides_count_nothing(kind):
    problem = even_problem(corpus_of(([], [0, 1]), ([0], []), ([], []), ([0], [1])))
    problem = with_places(problem, kind, 1)
    counts, loglik = Counts.zero(problem.m), np.full((4, 2), np.nan)
    places = problem.m.positions.places(problem.shard)
    _mixture_double.expect(problem.shard, problem.m.lexicon, places, False, counts, loglik, 2)
    assert (loglik[:3] == 0).all() and loglik[3, 0] < 0
    assert counts.null_fwd[0] == 0 < counts.null_fwd[1]
    assert counts.positions.sum() <= 2 * ONE * 2


@pytest.mark.parametrize("kind", KINDS)
def test_threads_and_shards_add_up_to_the_same_counts(kind):
    """In float: counts are integers, whoever adds them."""
    random = np.random.default_rng(5)
    problem = random_problem(random, [(int(a), int(b)) for a, b in random.integers(1, 30, (200, 2))], 2)
    problem = with_places(problem, kind, 2)
    tables = {x: getattr(problem.m.lexicon, x).astype(np.float32) for x in ("t", "null_fwd", "null_rev")}
    lexicon, positions = replace(problem.m.lexicon, **tables), problem.m.positions
    if kind == "table":
        positions = replace(positions, position=positions.position.astype(np.float32))

    def counted(start: int, stop: int, n_threads: int) -> Counts:
        counts, shard = Counts.zero(problem.m), problem.seen.shard(start, stop, 1)
        room = np.empty((stop - start, 2))
        _mixture.expect(shard, lexicon, positions.places(shard), False, counts, room, n_threads)
        return counts

    whole = counted(0, 200, 1)
    for n_threads, cuts in ((2, [0, 200]), (8, [0, 1, 77, 200]), (1, [0, 50, 100, 150, 200])):
        parts = Counts.zero(problem.m)
        for start, stop in zip(cuts, cuts[1:], strict=False):
            parts.add(counted(start, stop, n_threads))
        for name in ("pairs", "null_fwd", "null_rev", "positions"):
            np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


def test_sizes_are_found():
    sizes = sizes_of(np.array([3, 0, 1, 3, 2]), np.array([1, 4, 0, 1, 9]))
    assert sizes.tolist() == [[2, 9], [3, 1]]
    assert find_sizes(sizes, np.array([3, 2, 2, 0, 9]), np.array([1, 9, 8, 0, 9])).tolist() == [
        1,
        0,
        -1,
        -1,
        -1,
    ]


def test_a_table_takes_over_the_sizes_it_had():
    old = Table.of(sizes_in(corpus_of(([0, 1], [0]), ([0], [0, 1]))), None)
    old.position[:] = np.arange(old.position.size).reshape(old.position.shape) / 100
    new = Table.of(sizes_in(corpus_of(([0, 1], [0]), ([0, 1], [0, 1]))), old)
    assert new.sizes.tolist() == [[2, 1], [2, 2]]
    np.testing.assert_array_equal(new.position[:, :6], old.position[:, 6:])
    np.testing.assert_allclose(new.position[:, 6:], 1 / 3)


RAMPS = Ramps.of(np.array([1, 2, 3, 4, 5]), np.full(2, 4.0))
# What is wrong -> the places with it
WRONG = {
    "no ramp of a length": Places(None, None, 0.1, Ramps.of(np.array([1, 2, 3, 4]), np.full(2, 4.0))),
    "ramps outside": Places(None, None, 0.1, replace(RAMPS, starts=RAMPS.starts + 7)),
    "ramps before the first": Places(None, None, 0.1, replace(RAMPS, starts=RAMPS.starts - 2)),
    "ramps that are no numbers": Places(None, None, 0.1, replace(RAMPS, up=RAMPS.up * np.nan)),
    "ramps too steep": Places(None, None, 0.1, Ramps.of(np.array([1, 2, 3, 4, 5]), np.full(2, 90.0))),
    "ramps of different sizes": Places(None, None, 0.1, replace(RAMPS, gap=RAMPS.gap[:, 1:].copy())),
    "p0 of 1": Places(None, None, 1.0, RAMPS),
    "a table of one direction": Places(np.zeros(3, np.int64), np.ones((1, 99))),
    "a table without places": Places(None, np.ones((2, 99))),
    "a place outside the table": Places(np.array([0, 80, 0]), np.ones((2, 94))),
    "a place before the table": Places(np.array([0, -2, 0]), np.ones((2, 94))),
    "too few places": Places(np.zeros(2, np.int64), np.ones((2, 99))),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_doors_refuse_places_that_lead_outside(wrong):
    problem = random_problem(np.random.default_rng(0), [(3, 5), (4, 2), (1, 1)], 1)
    shard, lexicon, room = problem.shard, problem.m.lexicon, np.empty((3, 2))
    counts = Counts.zero(replace(problem.m, positions=None))
    cells = np.zeros(24), np.zeros(24)
    with pytest.raises(ValueError):
        _mixture_double.expect(shard, lexicon, WRONG[wrong], False, counts, room, 1)
    with pytest.raises(ValueError):
        _mixture_double.posteriors(shard, lexicon, WRONG[wrong], False, 1.0, *cells, None, 1)


def test_doors_refuse_counts_of_other_positions():
    problem = with_places(random_problem(np.random.default_rng(0), [(3, 5), (4, 2)], 1), "diagonal", 1)
    shard, m, room = problem.shard, problem.m, np.empty((2, 2))
    places, counts = m.positions.places(shard), Counts.zero(m)
    few = Counts.zero(m)
    few.positions = few.positions[:, :-1].copy()
    for wrong, some in (
        (places, few),
        (replace(places, starts=None), counts),
        (replace(places, starts=places.starts - 1), counts),
    ):
        with pytest.raises(ValueError):
            _mixture_double.expect(shard, m.lexicon, wrong, False, some, room, 1)
    ramps, sizes, starts = places.ramps, m.positions.sizes, m.positions.starts
    for wrong in (
        (sizes + 1, starts, np.ones(9), ramps, 0),
        (sizes, starts + 3, np.ones(9), ramps, 0),
        (sizes, starts, np.ones(9), ramps, 2),
        (sizes, starts[:1], np.ones(9), ramps, 0),
    ):
        with pytest.raises(ValueError):
            expected_distance(*wrong)
    for size, direction in (((3, 5), 2), ((3, 5), -1), ((0, 5), 0), ((3, 0), 0), ((6, 5), 0)):
        with pytest.raises(ValueError):
            partition(*size, ramps, direction)

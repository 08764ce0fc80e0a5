"""The surrogate's kernel against its definition, counting and decoding, in double precision."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import skipping
from hypothesis import given, note, settings
from hypothesis import strategies as st
from problems import (
    BUILDS,
    Problem,
    build_of,
    corpus_of,
    even_problem,
    expected_counts,
    grids,
    random_problem,
    small_problems,
    without_translations,
)

from aligner.models import _pairwise_double, pairwise
from aligner.models.counts import Counts

CLOSE = {"rtol": 1e-9, "atol": 1e-12}
SMOOTHING = ("none", "ibm1", "ibm2")
TABLES = ("t", "null_fwd", "null_rev")
skips = st.fixed_dictionaries({
    "tension": st.floats(0.01, 20) | st.just(80.0),
    "skip": st.floats(0, 20) | st.just(80.0),
    "centre": st.integers(0, 1),
})  # fmt: skip


def how_of(skips: dict, root: bool = False, smooth: str = "none", joint: bool = False) -> dict:
    return {**skips, "root": root, "smooth": _pairwise_double.SMOOTHING[smooth], "joint": joint}


PLAIN = {"tension": 6.0, "skip": 10.0, "centre": 1}
HOW = how_of(PLAIN)


def with_room(problem: Problem) -> Problem:
    """Every word pair is possible: counting adds no floor."""
    lexicon = replace(problem.m.lexicon, t=problem.m.lexicon.t + 0.01)
    return replace(problem, m=replace(problem.m, lexicon=lexicon, positions=None))


def counted(problem: Problem, how: dict = HOW, agree: bool = False) -> tuple[Counts, np.ndarray]:
    counts, objectives = Counts.zero(problem.m, shared=agree), np.full((len(problem), 2), np.nan)
    _pairwise_double.expect(problem.shard, problem.m.lexicon, how, agree, counts, objectives, 1)
    return counts, objectives


def of_text(rows: np.ndarray, d: int) -> np.ndarray:
    """[I, J] of the text from [rows, states] of a direction, without NULL."""
    return rows[:, :-1].T if d == 0 else rows[:, :-1]


@settings(max_examples=40)
@given(
    problem=small_problems(with_weights=True), skips=skips, root=st.booleans(),
    smooth=st.sampled_from(SMOOTHING), agree=st.booleans(),
)  # fmt: skip
def test_counts_equal_double_loops(problem, skips, root, smooth, agree):
    problem = with_room(problem)
    counts, objectives = counted(problem, how_of(skips, root, smooth), agree)
    links, nulls = [], [np.zeros(len(x)) for x in (counts.null_fwd, counts.null_rev)]
    for n in range(len(problem)):
        note(f"I, J {problem.shape(n)}")
        found = [
            skipping.training(*problem.emissions(n, d, 0.0), **skips, root=root, smooth=smooth)
            for d in range(2)
        ]
        np.testing.assert_allclose(objectives[n], [x for x, _, _ in found], **CLOSE)
        f, r = (of_text(rows, d) for d, (_, rows, _) in enumerate(found))
        if agree:
            f, r = (of_text(mean, d) for d, (_, _, mean) in enumerate(found))
            links.append((f * r,))
        else:
            links.append((f, r))
        for d in range(2):
            np.add.at(nulls[d], problem.words(n)[1 - d], found[d][1][:, -1])
    np.testing.assert_allclose(counts.pairs / 2**32, expected_counts(problem, links), rtol=0, atol=1e-8)
    np.testing.assert_allclose(counts.null_fwd / 2**32, nulls[0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(counts.null_rev / 2**32, nulls[1], rtol=0, atol=1e-8)


@settings(max_examples=40)
@given(problem=small_problems(), skips=skips)
def test_the_objective_is_that_of_two_ways_to_generate_a_sentence(problem, skips):
    """Words in pairs from the first on, and from the second on: all alignments of both, summed."""
    problem = with_room(problem)
    objectives = counted(problem, how_of(skips))[1]
    for n in range(len(problem)):
        for d in range(2):
            if 1 < problem.shape(n)[1 - d] <= 3:
                truth = skipping.composite(*problem.emissions(n, d, 0.0), **skips)
                np.testing.assert_allclose(objectives[n, d], truth, **CLOSE)


@settings(max_examples=40)
@given(I=st.integers(1, 40), skips=skips)
def test_rows_of_places_and_skips_sum_to_one(I, skips):
    assert all(math.isclose(sum(row), 1) for row in skipping.skips(I, skips["skip"], skips["centre"]))
    assert math.isclose(sum(skipping.place(I, 7, 3, skips["tension"])), 1)


@pytest.mark.parametrize("shape", [(5, 8), (8, 5), (1, 6), (6, 1), (1, 1), (37, 20)])
@pytest.mark.parametrize("root", [False, True])
def test_counts_of_a_sentence(shape, root):
    """Each term counts both of its words, half of each if there are roots; a word alone counts once."""
    problem = with_room(random_problem(np.random.default_rng(1), [shape], 1))
    counts, _ = counted(problem, how_of(PLAIN, root))
    for d, (null, n) in enumerate(((counts.null_fwd, shape[1]), (counts.null_rev, shape[0]))):
        expected = 1 if n == 1 else (n - 1) * (1 if root else 2)
        assert (counts.pairs[:, d].sum() + null.sum()) / 2**32 == pytest.approx(expected, abs=1e-6)


def test_long_sentences_equal_double_loops():
    """More words than a vector has lanes, and more on one side than on the other."""
    problem = with_room(random_problem(np.random.default_rng(3), [(35, 18), (16, 33)], 1))
    _, objectives = counted(problem)
    for n in range(2):
        truth = [skipping.training(*problem.emissions(n, d, 0.0), **PLAIN)[0] for d in range(2)]
        np.testing.assert_allclose(objectives[n], truth, **CLOSE)


@pytest.mark.parametrize("smooth", SMOOTHING)
@pytest.mark.parametrize("root", [False, True])
def test_counts_are_gradients(root, smooth):
    """t dL / dt = c: what a word pair counts is what the objective gains by its probability."""
    problem = with_room(random_problem(np.random.default_rng(7), [(3, 5), (4, 2), (2, 1)], 1))
    how, lexicon, step = how_of(PLAIN, root, smooth), problem.m.lexicon, 1e-5
    counts, _ = counted(problem, how)
    for name, found in (("t", counts.pairs), ("null_fwd", counts.null_fwd), ("null_rev", counts.null_rev)):
        for k in range(0, len(found), 3):
            table, ends = getattr(lexicon, name), []
            for sign in (1, -1):
                moved = table.copy()
                moved[k] *= 1 + sign * step
                other = replace(problem, m=replace(problem.m, lexicon=replace(lexicon, **{name: moved})))
                ends.append(counted(other, how)[1].sum())
            slope = (ends[0] - ends[1]) / (2 * step)
            assert slope == pytest.approx(found[k].sum() / 2**32, rel=1e-6, abs=1e-7)


def test_without_skips_words_are_independent():
    """Every skip is equally likely: the left word has Model 2's posterior, the right one Model 1's."""
    problem = with_room(random_problem(np.random.default_rng(2), [(4, 6)], 1))
    skips = {"tension": 5.0, "skip": 0.0, "centre": 1}
    counts, _ = counted(problem, how_of(skips))
    links = []
    for d in range(2):
        emit, null = problem.emissions(0, d, 0.0)
        J, I = len(emit), len(emit[0])
        rows = np.array([[*row, x] for row, x in zip(emit, null, strict=True)])
        placed = rows * np.array([skipping.place(I, J, j, 5.0) for j in range(J)])
        left, right = (x / x.sum(axis=1, keepdims=True) for x in (placed, rows))
        left[-1] = right[0] = 0
        links.append(of_text(left + right, d))
    expected = expected_counts(problem, [tuple(links)])
    np.testing.assert_allclose(counts.pairs / 2**32, expected, rtol=0, atol=1e-8)


def maximised(problem: Problem, counts: Counts) -> Problem:
    """Rows of the lexicon that are proportional to counts."""
    m = problem.m.lexicon
    e, c = np.repeat(np.arange(len(m.rows) - 1), np.diff(m.rows)), counts.pairs / 2**32
    sums = [np.bincount(words, c[:, d])[words] for d, words in enumerate((e, m.tgt))]
    nulls = [x / x.sum() for x in (counts.null_fwd, counts.null_rev)]
    lexicon = replace(m, t=c / np.stack(sums, axis=1), null_fwd=nulls[0], null_rev=nulls[1])
    return replace(problem, m=replace(problem.m, lexicon=lexicon))


def some_text(seed: int, n: int):
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 7, (n, 2)).tolist()
    return corpus_of(
        *((random.integers(0, 6, I).tolist(), random.integers(0, 7, J).tolist()) for I, J in lengths)
    )


@pytest.mark.parametrize("smooth", SMOOTHING)
@pytest.mark.parametrize("root", [False, True])
def test_the_objective_never_falls(root, smooth):
    problem, history = even_problem(some_text(4, 12)), []
    for _ in range(30):
        counts, objectives = counted(problem, how_of(PLAIN, root, smooth))
        history.append(objectives.sum(axis=0))
        problem = maximised(problem, counts)
    assert np.all(np.diff(history, axis=0) >= -1e-6) and np.all(history[-1] > history[0] + 1)


def test_roots_have_one_maximum():
    """Whatever the start: even rows, one number everywhere, any numbers, or what Model 1 found."""
    text, how = some_text(8, 12), how_of({"tension": 8.0, "skip": 10.0, "centre": 1}, root=True)
    even = even_problem(text)
    random = np.random.default_rng(0)

    def with_tables(numbers) -> Problem:
        tables = {name: numbers(getattr(even.m.lexicon, name).shape) for name in TABLES}
        return replace(even, m=replace(even.m, lexicon=replace(even.m.lexicon, **tables)))

    model1 = even
    for _ in range(5):  # without places and skips, half of what is smoothed is Model 1
        model1 = maximised(model1, counted(model1, how_of({"tension": 0.0, "skip": 0.0, "centre": 0}))[0])
    ends = []
    for problem in (even, with_tables(lambda shape: np.full(shape, 0.1)), with_tables(random.random), model1):
        for _ in range(200):
            problem = maximised(problem, counted(problem, how)[0])
        ends.append(counted(problem, how)[1].sum())
    np.testing.assert_allclose(ends, ends[0], rtol=0, atol=1e-6)


def test_roots_make_the_objective_concave():
    """At the midpoint of two lexicons it is no less than the mean of both; without roots it can be less."""
    random, less = np.random.default_rng(6), 0
    for _ in range(40):
        one, other = (with_room(random_problem(random, [(3, 4), (2, 5)], 1)) for _ in range(2))
        tables = {name: random.random(getattr(one.m.lexicon, name).shape) ** 3 for name in TABLES}
        other = replace(one, m=replace(one.m, lexicon=replace(one.m.lexicon, **tables)))
        middle = {x: (getattr(one.m.lexicon, x) + tables[x]) / 2 for x in TABLES}
        between = replace(one, m=replace(one.m, lexicon=replace(one.m.lexicon, **middle)))
        for root in (True, False):
            ends = [counted(x, how_of(PLAIN, root))[1].sum() for x in (one, other, between)]
            gain = ends[2] - (ends[0] + ends[1]) / 2
            assert gain >= -1e-9 or not root
            less += gain < 0
    assert less < 40


@settings(max_examples=40)
@given(problem=small_problems(with_weights=True), skips=skips, joint=st.booleans())
def test_posteriors_and_best_paths_equal_enumeration(problem, skips, joint):
    shard, lexicon = problem.shard, problem.m.lexicon
    for best in (False, True):
        fwd, rev = np.ones(shard.n_cells), np.ones(shard.n_cells)  # added to, not overwritten
        costs = np.ones((len(problem), 2))
        how = how_of(skips, joint=joint)
        _pairwise_double.posteriors(shard, lexicon, how, best, 0.5, fwd, rev, costs, 1)
        alone = np.ones(shard.n_cells), np.ones(shard.n_cells)
        _pairwise_double.posteriors(shard, lexicon, how, best, 0.5, *alone, None, 1)
        np.testing.assert_array_equal(alone, (fwd, rev))  # with costs or without
        for n, found in enumerate(grids(problem, 2 * (fwd - 1), 2 * (rev - 1))):
            note(f"I, J {problem.shape(n)}")
            for d in range(2):
                emissions = problem.emissions(n, d)
                _, gamma, paths = skipping.decoding(*emissions, **skips, joint=joint)
                loglik = skipping.decoding(*emissions, **skips, joint=False)[0]
                np.testing.assert_allclose(costs[n, d], 1 - loglik / 2, **CLOSE)
                if not best:
                    np.testing.assert_allclose(found[d], of_text(gamma, d), rtol=1e-7, atol=1e-9)
                    continue
                rows = found[d].T if d == 0 else found[d]
                assert set(np.unique(rows)) <= {0, 1} and (rows.sum(axis=1) <= 1).all()
                path = tuple(int(row.argmax()) if row.any() else len(row) for row in rows)
                assert paths[path] >= max(paths.values()) * (1 - 1e-9)


def test_long_paths_are_those_of_all_pairs_of_states():
    """Best paths of sentences that are too long to enumerate, by a table of all skips."""
    problem = random_problem(np.random.default_rng(12), [(25, 19), (18, 40)], 1)
    shard = problem.shard
    fwd, rev = np.zeros(shard.n_cells), np.zeros(shard.n_cells)
    _pairwise_double.posteriors(shard, problem.m.lexicon, HOW, True, 1.0, fwd, rev, None, 1)
    for n, both in enumerate(grids(problem, fwd, rev)):
        for d, grid in enumerate(both):
            emit, null = problem.emissions(n, d)
            J, I = len(emit), len(emit[0])
            logs = np.log([[*row, x] for row, x in zip(emit, null, strict=True)])
            T = np.log(skipping.skips(I, 10.0, 1))
            best = np.log(skipping.place(I, J, 0, 6.0)) + logs[0]
            for row in logs[1:]:
                best = (best[:, None] + T).max(axis=0) + row
            rows = grid.T if d == 0 else grid
            path = [int(row.argmax()) if row.any() else I for row in rows]
            score = np.log(skipping.place(I, J, 0, 6.0))[path[0]] + logs[range(J), path].sum()
            score += sum(T[a, b] for a, b in zip(path, path[1:], strict=False))
            assert score == pytest.approx(best.max(), abs=1e-9)


def test_ties_go_to_words_before_null_and_to_the_first():
    problem = even_problem(corpus_of(([0, 0, 0], [0])))
    lexicon = replace(
        problem.m.lexicon, t=np.full((1, 2), 0.5), null_fwd=np.array([0.5]), null_rev=np.array([0.5])
    )
    fwd, rev = np.zeros(3), np.zeros(3)
    how = how_of({"tension": 0.0, "skip": 0.0, "centre": 0})
    _pairwise_double.posteriors(problem.shard, lexicon, how, True, 1.0, fwd, rev, None, 1)
    assert fwd.tolist() == [1, 0, 0] and rev.tolist() == [1, 1, 1]


@pytest.mark.parametrize("direction", range(2))
def test_words_that_have_no_translation_left_are_not_counted(direction):
    problem = without_translations(even_problem(corpus_of(([0, 1], [0]), ([1], [0, 1, 1]))), direction)
    for root in (False, True):
        counts, objectives = counted(problem, how_of(PLAIN, root))
        assert (counts.pairs[:, direction] == 0).all() and (objectives[:, direction] == 0).all()
        assert (counts.pairs[:, 1 - direction] > 0).any() and np.isfinite(objectives).all()


def test_empty_sides_count_nothing():
    problem = even_problem(corpus_of(([], [0, 1]), ([0], []), ([], []), ([0], [1])))
    counts, objectives = counted(problem)
    assert (objectives[:3] == 0).all() and objectives[3, 0] < 0
    assert counts.null_fwd[0] == 0 < counts.null_fwd[1]


def test_unknown_words_have_the_floor():
    """Nothing is known of a sentence pair: places and skips alone decide."""
    problem = even_problem(corpus_of(([0, 1, 2], [0, 1, 2])))
    shard = problem.shard
    unknown = replace(
        shard,
        src_ids=np.full(3, -1, np.int32),
        tgt_ids=np.full(3, -1, np.int32),
        cells=np.full(9, -1, np.int32),
    )
    fwd, rev = np.zeros(9), np.zeros(9)
    _pairwise_double.posteriors(unknown, problem.m.lexicon, HOW, False, 1.0, fwd, rev, None, 1)
    _, gamma, _ = skipping.decoding([[1e-6] * 3] * 3, [1e-6] * 3, **PLAIN, joint=False)
    np.testing.assert_allclose(fwd.reshape(3, 3).T, gamma[:, :-1], **CLOSE)
    np.testing.assert_allclose(rev.reshape(3, 3), gamma[:, :-1], **CLOSE)


def in_float(problem: Problem) -> Problem:
    tables = {x: getattr(problem.m.lexicon, x).astype(np.float32) for x in TABLES}
    return replace(problem, m=replace(problem.m, lexicon=replace(problem.m.lexicon, **tables)))


def random_text(seed: int, n: int, most: int) -> Problem:
    random = np.random.default_rng(seed)
    lengths = [(int(a), int(b)) for a, b in random.integers(1, most, (n, 2))]
    return in_float(random_problem(random, lengths, 1))


@pytest.mark.parametrize("agree", [False, True])
def test_threads_and_shards_add_up_to_the_same_counts(agree):
    """In float: counts are integers, whoever adds them."""
    problem, how = random_text(5, 200, 30), how_of(PLAIN, agree, "ibm2")
    whole, objectives = Counts.zero(problem.m, shared=agree), np.empty((200, 2))
    pairwise._pairwise.expect(problem.shard, problem.m.lexicon, how, agree, whole, objectives, 1)
    for n_threads, cuts in ((2, [0, 200]), (8, [0, 1, 77, 200]), (5, [0, 200]), (1, [0, 50, 100, 200])):
        parts, found = Counts.zero(problem.m, shared=agree), np.empty((200, 2))
        for start, stop in zip(cuts, cuts[1:], strict=False):
            part, shard = Counts.zero(problem.m, shared=agree), problem.seen.shard(start, stop, 1)
            pairwise._pairwise.expect(
                shard, problem.m.lexicon, how, agree, part, found[start:stop], n_threads
            )
            parts.add(part)
        np.testing.assert_array_equal(found, objectives)
        for name in ("pairs", "null_fwd", "null_rev"):
            np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


@pytest.mark.parametrize("build", BUILDS)
def test_all_builds_give_the_same_bits(build):
    problem, found = random_text(9, 60, 40), []
    for kernel in (pairwise._pairwise, build_of("_pairwise", build)):
        counts, objectives = Counts.zero(problem.m), np.empty((60, 2))
        kernel.expect(
            problem.shard, problem.m.lexicon, how_of(PLAIN, True, "ibm1"), False, counts, objectives, 1
        )
        scores = [np.zeros(problem.shard.n_cells, np.float32) for _ in range(4)]
        for best in (False, True):
            kernel.posteriors(
                problem.shard, problem.m.lexicon, HOW, best, 1.0, *scores[2 * best :][:2], None, 1
            )
        found.append([objectives, counts.pairs, counts.null_fwd, counts.null_rev, *scores])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@settings(max_examples=40)
@given(problem=small_problems(with_weights=True), skips=skips, joint=st.booleans())
def test_float_equals_double(problem, skips, joint):
    single = in_float(problem).m.lexicon
    double = replace(single, **{x: getattr(single, x).astype(np.float64) for x in TABLES})
    found = []
    for kernel, lexicon, dtype in (
        (pairwise._pairwise, single, np.float32), (_pairwise_double, double, np.float64)
    ):  # fmt: skip
        scores = np.zeros(problem.shard.n_cells, dtype), np.zeros(problem.shard.n_cells, dtype)
        kernel.posteriors(problem.shard, lexicon, how_of(skips, joint=joint), False, 1.0, *scores, None, 1)
        found.append(scores)
    for x, y in zip(*found, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=2e-5)

"""What may be chosen: pairs and sets against their definition, projections against a quadratic program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled import random_candidates
from scipy.optimize import minimize

from aligner.learning._polytope import project
from aligner.learning.polytope import PATTERNS, Polytope, adjacent

SHAPES = [(3, 4), (0, 0), (4, 2), (1, 5)]


def constraints(polytope: Polytope) -> tuple[np.ndarray, np.ndarray]:
    """A [n_sets, V] and b [n_sets], by definition: z may be chosen iff A z <= b and 0 <= z <= 1."""
    links, *later, pairs = (np.arange(part.start, part.stop) for part in polytope.parts)
    lines, bounds = [], []
    for side, (words, n_words) in enumerate(
        zip((polytope.row, polytope.column), polytope.n_words, strict=True)
    ):
        slack = later[side].reshape(n_words, polytope.later[side])
        for word in range(n_words):
            line = np.zeros(polytope.parts[-1].stop)
            line[links[words == word]] = 1
            line[slack[word]] = -1
            lines.append(line)
            bounds.append(1)
    for q, first, second in zip(pairs, polytope.first, polytope.second, strict=True):
        for link in (first, second):
            line = np.zeros(polytope.parts[-1].stop)
            line[q], line[link] = 1, -1
            lines.append(line)
            bounds.append(0)
    return np.array(lines), np.array(bounds)


def violation(polytope: Polytope, z: np.ndarray) -> float:
    A, b = constraints(polytope)
    return max((A @ z - b).max(), -z.min(), z.max() - 1)


def random_polytope(seed: int, later: tuple[int, int], paired: bool) -> tuple[Polytope, np.ndarray]:
    """A polytope, and a point that may be outside."""
    random = np.random.default_rng(seed)
    candidates, _ = random_candidates(random, SHAPES, 0.8)
    polytope = Polytope.of(*candidates, later, paired)
    return polytope, random.normal(0.5, 1, polytope.parts[-1].stop)


def projected(polytope: Polytope, x: np.ndarray, tolerance: float = 1e-10, **how) -> np.ndarray:
    z, sets = x.copy(), polytope.sets
    assert sets.project(z, np.zeros(len(sets.members)), tolerance, **how) <= tolerance
    return z


def test_pairs_are_those_of_the_patterns():
    assert PATTERNS == ((1, 1), (1, -1), (0, 1), (1, 0))  # the order of pattern_scores
    random = np.random.default_rng(1)
    for seed in range(20):
        (offsets, src, tgt), _ = random_candidates(random, SHAPES, random.random())
        if seed == 0:  # the last positions that there are
            offsets, src, tgt = np.array([0, 2, 3]), *np.array([[0, 1, 2], [0, 2**31 - 1, 0]], np.int32)
        expected = set()
        for n in range(len(offsets) - 1):
            for k in range(offsets[n], offsets[n + 1]):
                for l in range(offsets[n], offsets[n + 1]):
                    step = int(src[l]) - int(src[k]), int(tgt[l]) - int(tgt[k])
                    expected |= {(k, l, PATTERNS.index(step))} if step in PATTERNS else set()
        found = list(zip(*map(np.ndarray.tolist, adjacent(offsets, src, tgt)), strict=True))
        assert len(found) == len(expected) and set(found) == expected


@given(st.integers(0, 99), st.tuples(st.integers(0, 2), st.integers(0, 2)), st.booleans())
def test_sets_are_the_constraints_of_their_sentence_pair(seed, later, paired):
    polytope, _ = random_polytope(seed, later, paired)
    A, b = constraints(polytope)
    sets = polytope.sets
    lines = np.zeros((len(sets.bounds), A.shape[1] + 1))
    lines[np.repeat(np.arange(len(lines)), np.diff(sets.offsets)), sets.members] = sets.signs
    lines[:, -1] = sets.bounds
    assert sorted(lines.tolist()) == sorted(np.column_stack([A, b]).tolist())
    links = polytope.parts[0].stop
    for n in range(len(SHAPES)):
        touched = sets.members[sets.offsets[sets.sets[n]] : sets.offsets[sets.sets[n + 1]]]
        assert set(touched[touched < links]) == set(range(*polytope.offsets[n : n + 2]))
    assert len(np.unique(sets.members)) == A.shape[1]


@given(st.integers(0, 99), st.tuples(st.integers(0, 2), st.integers(0, 2)))
def test_completed_is_the_best_that_may_be_chosen(seed, later):
    """Later links and pairs are then as few and as many as links allow."""
    polytope, x = random_polytope(seed, later, True)
    links = projected(polytope, x)[polytope.parts[0]]
    z = polytope.completed(links)
    assert len(z) == len(x) and violation(polytope, z) < 1e-7
    used = [np.bincount(words, links) for words in (polytope.row, polytope.column)]
    for side, part in enumerate(polytope.parts[1:3]):
        rest = z[part].reshape(polytope.n_words[side], later[side])
        assert rest.sum(axis=1) == pytest.approx(np.maximum(used[side] - 1, 0), abs=1e-7)
        assert (np.diff(rest, axis=1) <= 0).all()  # a second link before a third
    both = links[polytope.first], links[polytope.second]
    assert z[polytope.parts[3]].tolist() == np.minimum(*both).tolist()


@pytest.mark.parametrize("later", [(0, 0), (2, 1)])
@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_projection_is_the_nearest_point(seed, later, paired):
    polytope, x = random_polytope(seed, later, paired)
    A, b = constraints(polytope)
    found = projected(polytope, x)
    assert violation(polytope, found) < 1e-8
    expected = minimize(
        lambda z: ((z - x) ** 2).sum() / 2,
        np.zeros(len(x)),
        jac=lambda z: z - x,
        bounds=[(0, 1)] * len(x),
        constraints={"type": "ineq", "fun": lambda z: b - A @ z, "jac": lambda z: -A},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert violation(polytope, expected.x) < 1e-8  # it never calls its search a success at such a tolerance
    assert found == pytest.approx(expected.x, abs=1e-6)
    assert np.abs(found - np.clip(x, 0, 1)).max() > 0.1  # more than the box binds


@given(st.integers(0, 99), st.tuples(st.integers(0, 2), st.integers(0, 2)), st.booleans())
def test_no_corner_is_in_front_of_the_projection(seed, later, paired):
    """(x - z).(v - z) <= 0 for each v that may be chosen: alignments, and other projections."""
    polytope, x = random_polytope(seed, later, paired)
    z = projected(polytope, x)
    random = np.random.default_rng(seed + 1)
    others = [projected(polytope, random.normal(0.5, 2, len(x))) for _ in range(5)]
    others += [polytope.completed(np.eye(polytope.parts[0].stop)[k]) for k in range(polytope.parts[0].stop)]
    assert max(((x - z) * (v - z)).sum() for v in others) < 1e-6


def test_a_projection_begins_where_a_point_nearby_ended():
    """The result is the same, with fewer sweeps; a point that may be chosen stays; threads change nothing."""
    polytope, x = random_polytope(3, (2, 2), True)
    sets = polytope.sets
    changes = np.zeros(len(sets.members))
    sets.project(x.copy(), changes, 1e-10)
    near = x + 0.001
    cold, warm = near.copy(), near.copy()
    warmed = changes.copy()
    assert sets.project(cold, np.zeros(len(changes)), 1e-10) <= 1e-10
    assert sets.project(warm, warmed, 1e-10) <= 1e-10
    assert warm == pytest.approx(cold, abs=1e-8)
    few = [near.copy() for _ in range(2)]
    steps = [sets.project(few[0], np.zeros(len(changes)), 0, 5), sets.project(few[1], changes, 0, 5)]
    assert steps[1] < steps[0] / 10
    assert projected(polytope, cold) == pytest.approx(cold, abs=1e-9)
    assert projected(polytope, near, n_threads=3).tolist() == cold.tolist()


def test_what_would_lead_outside_is_refused():
    polytope, x = random_polytope(0, (1, 1), True)
    usual = {**vars(polytope.sets), "z": x, "changes": np.zeros(len(polytope.sets.members))}
    usual |= {"tolerance": 1e-6, "most_sweeps": 1000, "n_threads": 1}
    assert project(**{**usual, "z": x.copy(), "changes": usual["changes"].copy()}) <= 1e-6
    for name, wrong in (
        ("sets", usual["sets"] + 1),
        ("sets", np.array([], np.int64)),
        ("offsets", usual["offsets"][::-1].copy()),
        ("offsets", usual["offsets"] * 0),
        ("members", usual["members"] - 1),
        ("members", usual["members"] + 1),
        ("signs", usual["signs"][:-1]),
        ("signs", usual["signs"] * 0),
        ("bounds", usual["bounds"][:-1]),
        ("bounds", usual["bounds"] - 1),
        ("bounds", usual["bounds"] * np.nan),
        ("changes", usual["changes"][:-1]),
        ("n_threads", 0),
    ):
        with pytest.raises(ValueError):
            project(**{**usual, name: wrong})
    none = Polytope.of(np.zeros(1, np.int64), *np.zeros((2, 0), np.int32), paired=True)
    assert len(projected(none, np.zeros(0))) == 0

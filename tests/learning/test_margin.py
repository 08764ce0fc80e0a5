"""Weights learned with a large margin: loss, target and bounds against enumeration, and how learning goes."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled import labelled, scores_in
from scipy.optimize import minimize

from aligner.learning.margin import STRUCTURES, Problem, learn_margin
from aligner.learning.polytope import PATTERNS, Polytope
from aligner.learning.weights import rising

SHAPES = [(3, 4), (0, 0), (4, 2), (1, 5)]
LATER = {"matching": 0, "fertility": 2, "quadratic": 1}


def problem_of(seed: int, structure: str, shapes: list = SHAPES, **how) -> Problem:
    given = {"C": 0.7, "missed": 3.0, "n_threads": 1, **how}
    offsets, src, tgt, X, label = labelled(np.random.default_rng(seed), shapes, 0.5)
    polytope = Polytope.of(offsets, src, tgt, (LATER[structure],) * 2, structure == "quadratic")
    return Problem(polytope, src, tgt, X, label, **given)


def some_weights(problem: Problem, random) -> np.ndarray:
    """Weights that are allowed; those of patterns are 0 where there are no pairs."""
    features, *others = problem.cut(random.normal(size=len(problem.wanted)))
    others[-1] *= bool(len(problem.polytope.pattern))
    return problem.allowed(np.concatenate([features, *map(np.abs, others)]))


def some_point(problem: Problem, random) -> np.ndarray:
    """A point that may be chosen."""
    z, sets = random.normal(0.5, 1, len(problem.target)), problem.polytope.sets
    assert sets.project(z, np.zeros(len(sets.members)), 1e-9) <= 1e-9
    return z


def sentence_pairs(problem: Problem):
    """Of each: where its candidates are, and (src, tgt) of them."""
    for begin, end in itertools.pairwise(problem.polytope.offsets.tolist()):
        links = zip(problem.src[begin:end].tolist(), problem.tgt[begin:end].tolist(), strict=True)
        yield slice(begin, end), list(links)


def score_of(problem: Problem, w: np.ndarray, chosen: set, part: slice) -> float:
    """w.G of an alignment of one sentence pair, by the oracle."""
    weights = problem.weights(w)
    candidates = None, problem.src[part], problem.tgt[part]
    scores = scores_in(candidates, problem.X[part] @ weights.features)
    patterns = dict(zip(PATTERNS, weights.pattern_scores, strict=True))
    how = weights.src_penalties.tolist(), weights.tgt_penalties.tolist(), patterns
    found = oracle.alignment_score(sorted(chosen), scores, *how)
    return -np.inf if found is None else found


def hinge(problem: Problem, w: np.ndarray) -> float:
    """What is minimised, over all alignments."""
    found = w @ w / 2 / problem.C
    for part, links in sentence_pairs(problem):
        label = dict(zip(links, problem.label[part].tolist(), strict=True))
        target = {link for link, z in zip(links, problem.target[part].tolist(), strict=True) if z}
        most = -np.inf
        for n in range(len(links) + 1):
            for chosen in itertools.combinations(links, n):
                loss = problem.missed * len(target - {*chosen}) + sum(label[link] == 0 for link in chosen)
                most = max(most, score_of(problem, w, {*chosen}, part) + loss)
        found += most - score_of(problem, w, target, part)
    return found


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("seed", range(5))
def test_target_has_most_sure_links_of_what_may_be_chosen(structure, seed):
    problem = problem_of(seed, structure)
    free = [0.0] * LATER[structure]
    for part, links in sentence_pairs(problem):
        sure = {link: 1.0 for link, label in zip(links, problem.label[part], strict=True) if label == 2}
        target = {link for link, z in zip(links, problem.target[part].tolist(), strict=True) if z}
        assert target <= sure.keys()
        assert oracle.alignment_score(sorted(target), sure, free, free) == oracle.most_score(sure, free, free)
    assert problem.target.tolist() == problem.polytope.completed(problem.target[: len(problem.X)]).tolist()


@pytest.mark.parametrize("structure", ["matching", "fertility"])
@pytest.mark.parametrize("seed", range(3))
def test_primal_is_the_margin_of_all_alignments(structure, seed):
    problem = problem_of(seed, structure, [(2, 4), (0, 0), (4, 2), (1, 5)])
    w = some_weights(problem, np.random.default_rng(seed))
    assert problem.primal(w) == pytest.approx(hinge(problem, w), rel=1e-9)
    assert {-3.0, 0.0, 1.0} == set(problem.costs.tolist())


@pytest.mark.parametrize("seed", range(3))
def test_primal_of_patterns_is_no_less(seed):
    """Its alignments may be chosen in part."""
    problem = problem_of(seed, "quadratic", [(2, 4), (3, 3)])
    w = some_weights(problem, np.random.default_rng(seed))
    assert w[-4:].min() > 0 and problem.primal(w) >= hinge(problem, w) - 1e-6
    w[-4:] = 0
    assert problem.primal(w) == pytest.approx(hinge(problem, w), rel=1e-9)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_derivatives_are_those_of_the_value(structure):
    """G and its transpose; by central differences, which are exact but for rounding: L is quadratic."""
    problem, random = problem_of(1, structure), np.random.default_rng(2)
    w, z = some_weights(problem, random), some_point(problem, random)
    assert (w * problem.features(z)).sum() == pytest.approx((problem.scored(w) * z).sum(), rel=1e-12)
    by_w, by_z = w / problem.C + problem.features(z) - problem.wanted, problem.gains(w)
    for k in range(len(w)):
        up, down = w + np.eye(len(w))[k], w - np.eye(len(w))[k]
        assert by_w[k] == pytest.approx((problem.value(up, z) - problem.value(down, z)) / 2, abs=1e-9)
    for k in range(len(z)):
        up, down = z + np.eye(len(z))[k], z - np.eye(len(z))[k]
        assert by_z[k] == pytest.approx((problem.value(w, up) - problem.value(w, down)) / 2, abs=1e-9)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("seed", range(3))
def test_dual_is_the_least_value_and_below_every_primal(structure, seed):
    problem, random = problem_of(seed, structure), np.random.default_rng(seed)
    z = some_point(problem, random)
    F, later = problem.X.shape[1], LATER[structure]
    rises = [(F + k, F + k + 1) for side in (0, 1) for k in range(side * later, (side + 1) * later - 1)]
    least = minimize(
        lambda w: problem.value(w, z),
        np.zeros(len(problem.wanted)),
        jac=lambda w: w / problem.C + problem.features(z) - problem.wanted,
        bounds=[(None, None)] * F + [(0, None)] * (len(problem.wanted) - F),
        constraints=[{"type": "ineq", "fun": lambda w, k=k, l=l: w[l] - w[k]} for k, l in rises],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert problem.dual(z) == pytest.approx(least.fun, rel=1e-6)
    for _ in range(20):
        assert problem.dual(z) <= problem.primal(some_weights(problem, random)) + 1e-6


@pytest.mark.parametrize("structure", STRUCTURES)
def test_norm_is_that_of_the_matrix(structure):
    problem = problem_of(3, structure)
    G = np.array([problem.features(one) for one in np.eye(len(problem.target))])
    assert problem.norm() == pytest.approx(np.linalg.norm(G, 2), rel=0.01)


@given(st.lists(st.floats(-3, 3), max_size=6))
def test_rising_is_the_nearest(x):
    """Rising numbers are sums of tails of ones. No tail, and no multiple of the result, is nearer to x."""
    found = rising(np.array(x, np.float64))
    assert found.shape == (len(x),) and (np.diff(found, prepend=0) >= 0).all()
    rest = np.array(x) - found
    assert (np.cumsum(rest[::-1]) <= 1e-9).all() and (rest * found).sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_the_gap_closes(structure, C):
    """It is never below 0, and so small in the end that no other weights can be better."""
    data = labelled(np.random.default_rng(4), [(6, 8), (7, 5), (0, 0), (1, 6), (8, 8)] * 3, 0.7)
    seen = []
    weights = learn_margin(*data, structure, C=C, tolerance=0.002, report=seen.append)
    assert list(weights.progress) == seen and len(seen) > 2
    assert [one.step for one in seen] == [20 * (k + 1) for k in range(len(seen))]
    assert min(one.gap for one in seen) >= -1e-4 * seen[-1].primal
    assert seen[-1].gap <= 0.002 * seen[-1].primal < seen[0].gap / 3
    for penalties in (weights.src_penalties, weights.tgt_penalties):
        assert len(penalties) == (0 if structure == "matching" else 2)
        assert (np.diff(penalties, prepend=0) >= 0).all()
    assert (weights.pattern_scores >= 0).all()
    assert weights.pattern_scores.any() == (structure == "quadratic")


def test_steps_do_not_circle():
    """With a large C, steps that have no second half go around the saddle point."""
    data = labelled(np.random.default_rng(4), [(6, 8), (7, 5), (0, 0), (1, 6), (8, 8)] * 3, 0.7)
    weights = learn_margin(*data, "matching", C=1e4, most_steps=500)
    assert weights.progress[-1].gap <= 0.01 * weights.progress[-1].primal


@pytest.mark.parametrize("structure", STRUCTURES)
def test_no_errors_where_gold_can_be_told(structure):
    offsets, src, tgt, X, label = labelled(np.random.default_rng(5), [(6, 8), (7, 5), (1, 6), (8, 8)], 0.0)
    label[label == 1] = 0
    if structure == "matching":
        label[src != tgt] = 0
    X[:, 0] = label
    weights = learn_margin(offsets, src, tgt, X, label, structure, C=10.0, tolerance=0.05, most_links=2)
    assert weights.decode(offsets, src, tgt, X).tolist() == (label == 2).tolist()


def test_adjacent_links_tell_what_features_cannot():
    """The gold is the diagonal, other candidates are few, and the one feature has much noise."""
    random = np.random.default_rng(9)
    offsets, src, tgt, X, label = labelled(random, [(9, 9)] * 12, 1.0, F=2, density=0.99)
    kept = (src == tgt) | (random.random(len(src)) < 0.25)
    offsets = np.concatenate([[0], np.cumsum(kept)])[offsets]
    src, tgt, X, label = src[kept], tgt[kept], X[kept], np.where(src == tgt, 2, 0)[kept].astype(np.int8)
    errors = {}
    for structure in ("matching", "quadratic"):
        weights = learn_margin(offsets, src, tgt, X, label, structure, most_links=1)
        errors[structure] = int((weights.decode(offsets, src, tgt, X) != (label == 2)).sum())
    assert errors["quadratic"] < errors["matching"] / 2
    assert weights.pattern_scores.argmax() == PATTERNS.index((1, 1))


def test_possible_links_cost_nothing_and_are_not_wanted():
    problem = problem_of(0, "fertility")
    links = problem.target[: len(problem.X)]
    assert (problem.label == 1).any() and not links[problem.label == 1].any()
    assert not problem.costs[problem.label == 1].any()
    turned = dataclasses.replace(
        problem, label=np.where(problem.label == 1, 0, problem.label).astype(np.int8)
    )
    assert (turned.costs[problem.label == 1] == 1).all()


@pytest.mark.parametrize("structure", ["fertility", "quadratic"])
def test_same_bits_every_time_and_for_any_number_of_threads(structure):
    data = labelled(np.random.default_rng(6), [(8, 9)] * 60, 0.5, F=80)
    assert data[3].size > 3 << 16  # enough for three threads
    before = [x.copy() for x in data]
    found = [
        learn_margin(*data, structure, most_steps=20 if structure == "fertility" else 3, n_threads=n_threads)
        for n_threads in (1, 1, 3)
    ]
    for one in found[1:]:
        assert one.progress == found[0].progress
        for name in ("features", "src_penalties", "tgt_penalties", "pattern_scores"):
            assert getattr(one, name).tobytes() == getattr(found[0], name).tobytes()
    assert all(x.tobytes() == y.tobytes() for x, y in zip(before, data, strict=True))


def test_sentence_pairs_without_candidates():
    none = np.zeros(3, np.int64), *np.zeros((2, 0), np.int32), np.zeros((0, 4)), np.zeros(0, np.int8)
    for structure in STRUCTURES:
        weights = learn_margin(*none, structure)
        assert weights.features.tolist() == [0.0] * 4
        assert len(weights.decode(*none[:4])) == 0
        assert weights.progress[-1].primal == 0
    offsets, src, tgt, X, label = labelled(np.random.default_rng(7), [(1, 5), (5, 1), (1, 1)], 0.2)
    flat = learn_margin(offsets, src, tgt, X * 0, label, "matching", most_steps=40)
    assert not flat.features.any()


def test_what_cannot_be_learned_is_refused():
    names = "offsets", "src", "tgt", "X", "label"
    data = dict(zip(names, labelled(np.random.default_rng(8), [(4, 5)], 0.5), strict=True))
    for name, wrong, message in (
        ("structure", "tree", "there are matching, fertility, quadratic"),
        ("X", data["X"][:-1], "do not fit together"),
        ("X", data["X"] * np.nan, "finite"),
        ("label", data["label"] + 1, "labels must be 0, 1 or 2"),
        ("src", data["src"][::-1].copy(), "by source, then target"),
        ("most_links", 0, "most_links must be"),
        ("C", 0, "C must be"),
        ("missed", -1, "missed must be"),
        ("tolerance", 0, "tolerance must be"),
        ("most_steps", 0, "most_steps must be"),
        ("n_threads", 0, "n_threads must be"),
    ):
        with pytest.raises(ValueError, match=message):
            learn_margin(**{**data, "structure": "fertility", name: wrong})

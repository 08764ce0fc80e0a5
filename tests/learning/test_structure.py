"""Alignments of the largest score, against enumeration and linear programs."""

from __future__ import annotations

import importlib.util

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled import candidates_of, random_candidates, scores_in
from scipy.optimize import linear_sum_assignment, linprog
from scipy.sparse import coo_array

from aligner.errors import DataError
from aligner.learning.polytope import PATTERNS, Polytope
from aligner.learning.structure import fertility, matching, quadratic

NO_PATTERN = np.zeros(4)
FEW = st.sampled_from([-0.5, 0.0, 0.5, 1.0])  # many alignments have the same score
gains = st.floats(-1, 3, allow_subnormal=False) | FEW
grids = st.dictionaries(st.tuples(st.integers(0, 2), st.integers(0, 3)), gains, max_size=9)
penalties = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.5]), max_size=2).map(sorted)


def total(candidates, s, chosen, pattern_scores=NO_PATTERN, src_penalties=(), tgt_penalties=()) -> float:
    """The score of chosen links, by the oracle, of one sentence pair."""
    links = [link for link, kept in zip(scores_in(candidates, s), chosen.tolist(), strict=True) if kept]
    patterns = dict(zip(PATTERNS, pattern_scores, strict=True))
    found = oracle.alignment_score(links, scores_in(candidates, s), src_penalties, tgt_penalties, patterns)
    assert found is not None, "a word has too many links"
    return found


def most(candidates, s, pattern_scores=NO_PATTERN, src_penalties=(), tgt_penalties=()) -> float:
    patterns = dict(zip(PATTERNS, pattern_scores, strict=True))
    return oracle.most_score(scores_in(candidates, s), src_penalties, tgt_penalties, patterns)


def linear_program(candidates, s, src_penalties=(), tgt_penalties=(), pattern_scores=NO_PATTERN):
    """The optimum, and what is chosen of links, by constraints that are written down one by one."""
    _, src, tgt = candidates
    places = {link: k for k, link in enumerate(zip(src.tolist(), tgt.tolist(), strict=True))}
    costs, rows, columns, signs, bounds = (-np.asarray(s)).tolist(), [], [], [], []

    def bounded(members: list, later: list, bound: float) -> None:
        rows.extend([len(bounds)] * (len(members) + len(later)))
        columns.extend([*members, *later])
        signs.extend([1] * len(members) + [-1] * len(later))
        bounds.append(bound)

    for side, side_penalties in ((src, src_penalties), (tgt, tgt_penalties)):
        for word in sorted(set(side.tolist())):
            first = len(costs)
            costs.extend(side_penalties)
            bounded(np.flatnonzero(side == word).tolist(), list(range(first, len(costs))), 1)
    for (down, right), gain in zip(PATTERNS, pattern_scores, strict=True):
        for (i, j), k in places.items():
            if (l := places.get((i + down, j + right))) is not None:
                costs.append(-gain)
                bounded([len(costs) - 1], [k], 0)
                bounded([len(costs) - 1], [l], 0)
    sums = coo_array((signs, (rows, columns)), shape=(len(bounds), len(costs)))
    found = linprog(costs, A_ub=sums, b_ub=bounds, bounds=(0, 1))
    return -found.fun, found.x[: len(src)]


@given(st.dictionaries(st.tuples(st.integers(0, 3), st.integers(0, 3)), gains, max_size=10))
def test_matching_is_the_best_of_all(scores):
    candidates, s = candidates_of(scores)
    chosen = matching(*candidates, s)
    assert chosen.dtype == bool and len(chosen) == len(s)
    assert total(candidates, s, chosen) == pytest.approx(most(candidates, s), abs=1e-9)
    assert (s[chosen] > 0).all()


@given(grids, penalties, penalties)
def test_fertility_is_the_best_of_all(scores, src_penalties, tgt_penalties):
    candidates, s = candidates_of(scores)
    both = {"src_penalties": src_penalties, "tgt_penalties": tgt_penalties}
    chosen = fertility(*candidates, s, **both)
    assert total(candidates, s, chosen, **both) == pytest.approx(most(candidates, s, **both), abs=1e-9)


@pytest.mark.parametrize("shape", [(3, 4), (6, 2), (12, 1), (1, 12)])
@pytest.mark.parametrize("D", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_fertility_of_twelve_cells(shape, D, seed):
    random = np.random.default_rng(seed)
    candidates, s = random_candidates(random, [shape], 1.0)
    both = {f"{side}_penalties": np.sort(random.random(D - 1)) for side in ("src", "tgt")}
    chosen = fertility(*candidates, s, **both)
    assert total(candidates, s, chosen, **both) == pytest.approx(most(candidates, s, **both), abs=1e-9)


@pytest.mark.parametrize(("shape", "density"), [((25, 31), 1.0), ((60, 40), 0.1), ((1, 30), 1.0)])
@pytest.mark.parametrize(("n_src", "n_tgt"), [(0, 0), (1, 1), (2, 0), (1, 3)])
def test_fertility_is_a_linear_program(shape, density, n_src, n_tgt):
    """Corners of the program are integral, as is checked: its optimum is that of alignments."""
    random = np.random.default_rng(n_src + 4 * n_tgt)
    candidates, s = random_candidates(random, [shape], density)
    both = {"src_penalties": np.sort(random.random(n_src)), "tgt_penalties": np.sort(random.random(n_tgt))}
    optimum, z = linear_program(candidates, s, **both)
    assert np.abs(z - np.round(z)).max() < 1e-6
    found = total(candidates, s, fertility(*candidates, s, **both), **both)
    assert found == pytest.approx(optimum, abs=1e-7)
    if n_src == n_tgt == 0:
        table = np.zeros(shape)
        table[candidates[1], candidates[2]] = np.maximum(s, 0)
        best = table[linear_sum_assignment(table, maximize=True)].sum()
        assert total(candidates, s, matching(*candidates, s)) == pytest.approx(best, abs=1e-9)


def test_scores_and_penalties_of_any_size():
    """Only ratios within a sentence pair count, also where other pairs have much larger scores."""
    random = np.random.default_rng(5)
    candidates, s = random_candidates(random, [(7, 9), (8, 5), (3, 6)], 0.7)
    penalties = np.array([0.25, 0.5])
    expected = fertility(*candidates, s, penalties, penalties)
    assert 0 < expected.sum() < (s > 0).sum()
    for factor in (2.0**-900, 2.0**-30, 2.0**900):
        found = fertility(*candidates, s * factor, penalties * factor, penalties * factor)
        assert found.tolist() == expected.tolist()
    alone = candidates[0][[1, 2]] - candidates[0][1]
    second = slice(*candidates[0][1:3])
    s[: second.start] *= 2.0**900
    one = fertility(alone, candidates[1][second], candidates[2][second], s[second], penalties, penalties)
    assert fertility(*candidates, s, penalties, penalties)[second].tolist() == one.tolist()
    huge = np.array([1e300, 1e308])
    assert fertility(*candidates, s, huge, huge).tolist() == matching(*candidates, s).tolist()


def test_a_later_link_must_gain_more_than_it_costs():
    candidates, s = candidates_of({(0, 0): 2.0, (0, 1): 1.0})
    for penalty, links in ((0.75, [True, True]), (1.0, [True, False]), (1.25, [True, False])):
        assert fertility(*candidates, s, [penalty], []).tolist() == links
        assert fertility(candidates[0], *candidates[:0:-1], s, [], [penalty]).tolist() == links


@given(
    st.dictionaries(st.tuples(st.integers(0, 2), st.integers(0, 3)), gains, max_size=8), penalties, st.data()
)
def test_quadratic_is_the_best_of_all(scores, side_penalties, data):
    candidates, s = candidates_of(scores)
    how = {
        "pattern_scores": np.array(data.draw(st.lists(st.floats(0, 1), min_size=4, max_size=4))),
        "src_penalties": side_penalties,
        "tgt_penalties": data.draw(penalties),
    }
    chosen = quadratic(*candidates, s, **how)
    assert chosen.dtype == bool and len(chosen) == len(s)
    assert total(candidates, s, chosen, **how) == pytest.approx(most(candidates, s, **how), abs=1e-6)


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (1, 12)])
@pytest.mark.parametrize("D", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_quadratic_of_twelve_candidates(shape, D, seed):
    """Links gain less than patterns: the first program that is solved, without whole links, is not enough."""
    random = np.random.default_rng(seed)
    candidates, s = random_candidates(random, [shape], 1.0, low=-2)
    how = {f"{side}_penalties": np.sort(random.random(D - 1)) for side in ("src", "tgt")}
    how["pattern_scores"] = 2 * random.random(4)
    best = most(candidates, s, **how)
    assert total(candidates, s, quadratic(*candidates, s, **how), **how) == pytest.approx(best, abs=1e-7)
    without = {name: how[name] for name in ("src_penalties", "tgt_penalties")}
    assert best > most(candidates, s, **without) or shape[0] == 1


def test_relaxation_is_the_linear_program_and_no_worse():
    random = np.random.default_rng(8)
    fractional = 0
    for seed in range(12):
        candidates, s = random_candidates(random, [(5, 6)], 0.8, low=-2)
        how = {"pattern_scores": 2 * random.random(4)}
        how |= {f"{side}_penalties": np.sort(random.random(seed % 3)) for side in ("src", "tgt")}
        z = quadratic(*candidates, s, relax=True, **how)
        polytope = Polytope.of(*candidates, (seed % 3,) * 2, paired=True)
        value = (
            polytope.gains(s, how["src_penalties"], how["tgt_penalties"], how["pattern_scores"])
            * polytope.completed(z)
        ).sum()
        assert value == pytest.approx(linear_program(candidates, s, **how)[0], abs=1e-6)
        assert value >= total(candidates, s, quadratic(*candidates, s, **how), **how) - 1e-6
        fractional += bool((np.abs(z - np.round(z)) > 1e-3).any())
    assert fractional > 0  # so that the comparison is one


def test_no_pattern_scores_give_the_score_of_fertility():
    """Scores are eighths: totals are exact."""
    random = np.random.default_rng(6)
    for D in (1, 2, 3):
        candidates, _ = random_candidates(random, [(6, 7)], 0.6)
        s = random.integers(-8, 24, len(candidates[1])) / 8
        both = {f"{side}_penalties": np.sort(random.integers(0, 8, D - 1)) / 8 for side in ("src", "tgt")}
        totals = [
            total(candidates, s, chosen, **both)
            for chosen in (quadratic(*candidates, s, NO_PATTERN, **both), fertility(*candidates, s, **both))
        ]
        assert totals[0] == totals[1] > 0


def test_sentence_pairs_do_not_touch_one_another():
    """Also those without candidates; threads change nothing."""
    random = np.random.default_rng(7)
    shapes = [(4, 6), (0, 0), (1, 5), (0, 3), (5, 1), (6, 4), (0, 0)]
    (offsets, src, tgt), s = random_candidates(random, shapes, 0.9)
    pattern_scores = np.array([0.5, 0.25, 0.125, 0.75])
    for decode in (
        lambda *candidates: matching(*candidates),
        lambda *candidates: fertility(*candidates, [0.25], [0.5, 0.75]),
        lambda *candidates: quadratic(*candidates, pattern_scores, [0.25], [0.5]),
    ):
        parts = [slice(*offsets[n : n + 2]) for n in range(len(shapes))]
        alone = [decode(np.array([0, len(s[part])]), src[part], tgt[part], s[part]) for part in parts]
        assert decode(offsets, src, tgt, s).tolist() == np.concatenate(alone).tolist()
    many = [np.concatenate([x] * 500) for x in (src, tgt, s)]
    offsets = np.concatenate([[0], np.cumsum(np.tile(np.diff(offsets), 500))])
    found = [fertility(offsets, *many, [0.25], [0.5], n_threads) for n_threads in (1, 3)]
    assert found[0].tolist() == found[1].tolist()
    none = np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32)
    assert len(matching(*none, np.zeros(0))) == len(quadratic(*none, np.zeros(0), NO_PATTERN)) == 0


def test_what_cannot_be_decoded_is_refused():
    candidates, s = candidates_of({(0, 0): 1.0, (0, 1): 1.0, (1, 0): 1.0})
    for wrong in ([0.5, 0.25], [-0.5], [np.nan], [np.inf]):
        for both in ((wrong, []), ([], wrong)):
            with pytest.raises(ValueError, match="must not fall"):
                fertility(*candidates, s, *both)
            with pytest.raises(ValueError, match="must not fall"):
                quadratic(*candidates, s, NO_PATTERN, *both)
    for wrong in ([1, 1, 1], [1, 1, 1, -1]):
        with pytest.raises(ValueError, match="pattern_scores must be 4 numbers of 0 or more"):
            quadratic(*candidates, s, wrong)
    with pytest.raises(ValueError, match="finite"):
        matching(*candidates, s * np.nan)
    with pytest.raises(ValueError, match="by source, then target"):
        matching(candidates[0], candidates[1][::-1].copy(), candidates[2], s)


def test_without_scipy(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    candidates, s = candidates_of({(0, 0): 1.0})
    with pytest.raises(
        DataError, match=r"integer programs need scipy; install it with .*word-aligner\[ilp\]"
    ):
        quadratic(*candidates, s, NO_PATTERN)
    assert matching(*candidates, s).tolist() == [True]

"""Kernels refuse what would lead them outside their arrays, whoever calls."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from problems import HMM, how_of, random_problem, stage_of

from aligner.decoding._select import above
from aligner.models import _hmm_double, _mixture_double, _pairwise_double, _shares, _update_double
from aligner.models.counts import ONE, Counts
from aligner.models.lexicon import Evidence, Lexicon
from aligner.models.shares import Own
from aligner.text._cells import find_cells
from aligner.text.known import Constraints, Known, Weights

LENGTHS = [(3, 5), (4, 2), (1, 1)]


def ints(*values) -> np.ndarray:
    return np.array(values, dtype=np.int32)


def longs(*values) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def weights(link: tuple[int, int], weight: float) -> Known:
    one = Weights(longs(0, 1, 1, 1), ints(link[0]), ints(link[1]), np.array([weight], np.float32))
    return Known(one)


def constraint(link: tuple[int, int], bound: float = 1.0, coefficient: float = 1.0) -> Known:
    return Known(None, Constraints.of([[([("forward", *link, coefficient)], "<=", bound)], [], []]))


# What is wrong -> the shard with it
SHARDS = {
    "no offsets": lambda s: replace(s, src_offsets=longs()),
    "no sentence pairs on one side": lambda s: replace(s, src_offsets=longs(0)),
    "falling offsets": lambda s: replace(s, src_offsets=longs(0, 7, 3, 8)),
    "negative offsets": lambda s: replace(s, tgt_offsets=longs(-1, 5, 7, 8)),
    "offsets beyond the text": lambda s: replace(s, tgt_offsets=longs(0, 5, 7, 9)),
    "sides of different numbers": lambda s: replace(s, tgt_offsets=longs(0, 5, 8)),
    "cells of other shapes": lambda s: replace(s, cell_offsets=longs(0, 14, 23, 24)),
    "too few cells": lambda s: replace(s, cells=s.cells[:-1]),
    "an unknown source word": lambda s: replace(s, src_ids=s.src_ids + 1000),
    "a negative target word": lambda s: replace(s, tgt_ids=s.tgt_ids - 1000),
    "a known link outside": lambda s: replace(s, known=weights((3, 0), 1.0)),
    "a known link before the first": lambda s: replace(s, known=weights((0, -1), 1.0)),
    "a weight that is no number": lambda s: replace(s, known=weights((0, 0), np.nan)),
    "a negative weight": lambda s: replace(s, known=weights((0, 0), -1.0)),
    "an infinite weight": lambda s: replace(s, known=weights((0, 0), np.inf)),
}
GIVEN = {
    "a constraint outside": constraint((0, 5)),
    "a constraint before the first": constraint((-1, 0)),
    "a bound that is no number": constraint((0, 0), bound=np.nan),
    "an infinite coefficient": constraint((0, 0), coefficient=np.inf),
    "constraints of other pairs": Known(None, Constraints.of([[], []])),
}
LEXICONS = {
    "falling rows": lambda m: replace(m, rows=m.rows[::-1].copy()),
    "rows beyond t": lambda m: replace(m, rows=m.rows + 1),
    "too few rows": lambda m: replace(m, rows=m.rows[:-1]),
    "too few probabilities": lambda m: replace(m, t=m.t[:-1]),
    "one direction": lambda m: replace(m, t=m.t[:, :1].copy()),
    "too few words of NULL": lambda m: replace(m, null_fwd=m.null_fwd[:1]),
}
JUMPS = {
    "another window": lambda m: replace(m, first=m.first[:, :1].copy()),
    "a window too wide": lambda m: replace(m, jump=np.ones((2, 85)), first=np.ones((2, 42))),
    "one direction": lambda m: replace(m, jump=m.jump[:1].copy()),
    "zeros": lambda m: replace(m, jump=np.zeros_like(m.jump)),
    "no numbers": lambda m: replace(m, first=np.full_like(m.first, np.nan)),
    "last positions of another window": lambda m: replace(m, last=m.last[:, :1].copy()),
    "last positions of one direction": lambda m: replace(m, last=m.last[:1].copy()),
    "negative last positions": lambda m: replace(m, last=-m.last),
    "p0 of 1": lambda m: replace(m, p0=1.0),
}
CLASSES = {
    "jumps of another window": lambda m: replace(m, by_class=m.by_class[:, :, 1:].copy()),
    "jumps of one direction": lambda m: replace(m, by_class=m.by_class[:1].copy()),
    "jumps of zero": lambda m: replace(m, by_class=np.zeros_like(m.by_class)),
    "jumps that are no numbers": lambda m: replace(m, by_class=np.full_like(m.by_class, np.nan)),
    "classes of too few words": lambda m: replace(m, src_class=m.src_class[:-1]),
    "classes of too many words": lambda m: replace(m, tgt_class=np.append(m.tgt_class, ints(0))),
    "a class without jumps": lambda m: replace(m, tgt_class=m.tgt_class + 3),
    "a negative class": lambda m: replace(m, src_class=m.src_class - 4),
}


SKIPS = {"tension": 6.0, "skip": 10.0, "centre": 1, "root": False, "smooth": 0, "joint": False}


@pytest.fixture
def problem():
    return random_problem(np.random.default_rng(0), LENGTHS, 1)


def calls(problem, shard=None, lexicon=None, positions=None, counts=None, n_threads=1, stage=HMM):
    """Every door of the families, with one thing changed."""
    shard, lexicon = problem.shard if shard is None else shard, lexicon or problem.m.lexicon
    positions, how = positions or problem.m.positions, how_of(stage)
    counts = counts or Counts.zero(problem.m)
    cells = np.zeros(24), np.zeros(24)
    yield lambda: _hmm_double.expect(shard, lexicon, positions, how, counts, np.empty((3, 7)), n_threads)
    yield lambda: _hmm_double.posteriors(
        [shard], [lexicon], positions, how, None, False, 1.0, *cells, None, n_threads
    )
    if positions is problem.m.positions and shard.known.constraints is None:
        yield lambda: _mixture_double.expect(shard, lexicon, None, False, counts, np.empty((3, 2)), n_threads)
        yield lambda: _mixture_double.posteriors(shard, lexicon, None, False, 1.0, *cells, None, n_threads)
        yield lambda: _pairwise_double.expect(
            shard, lexicon, SKIPS, False, counts, np.empty((3, 2)), n_threads
        )
        yield lambda: _pairwise_double.posteriors(shard, lexicon, SKIPS, False, 1.0, *cells, None, n_threads)


def refused(doors) -> None:
    for door in doors:
        with pytest.raises(ValueError):
            door()


def taken(doors) -> None:
    for door in doors:
        door()


def test_what_is_right_is_taken(problem):
    taken(calls(problem))


@pytest.mark.parametrize("wrong", CLASSES)
def test_classes(wrong):
    classed = random_problem(np.random.default_rng(0), LENGTHS, 1, n_classes=3)
    taken(calls(classed))
    refused(calls(classed, positions=CLASSES[wrong](classed.m.positions)))


@pytest.mark.parametrize("wrong", SHARDS)
def test_shards(problem, wrong):
    refused(calls(problem, shard=SHARDS[wrong](problem.shard)))


@pytest.mark.parametrize("wrong", GIVEN)
def test_constraints(problem, wrong):
    refused(calls(problem, shard=replace(problem.shard, known=GIVEN[wrong])))


@pytest.mark.parametrize("wrong", LEXICONS)
def test_lexicons(problem, wrong):
    refused(calls(problem, lexicon=LEXICONS[wrong](problem.m.lexicon)))


@pytest.mark.parametrize("wrong", JUMPS)
def test_jumps(problem, wrong):
    refused(calls(problem, positions=JUMPS[wrong](problem.m.positions)))


@pytest.mark.parametrize("n_threads", [0, -1, 5000])
def test_threads(problem, n_threads):
    refused(calls(problem, n_threads=n_threads))


def test_counts_and_room_of_another_size(problem):
    small = Counts.zero(problem.m)
    small.pairs = small.pairs[:-1]
    m, how, uneven = problem.m, how_of(HMM), (np.zeros(23), np.zeros(24))
    few = np.empty((2, 2))
    refused([
        next(calls(problem, counts=small)),
        lambda: _mixture_double.expect(problem.shard, m.lexicon, None, False, small, np.empty((3, 2)), 1),
        lambda: _mixture_double.expect(problem.shard, m.lexicon, None, False, Counts.zero(m), few, 1),
        lambda: _hmm_double.posteriors(
            [problem.shard], [m.lexicon], m.positions, how, None, False, 1.0, *uneven, None, 1
        ),
    ])  # fmt: skip


def test_counts_of_other_directions(problem):
    """Where directions agree, counts have one column; elsewhere two."""
    m = problem.m
    for agree in (False, True):
        right, wrong = (Counts.zero(m, shared=shared) for shared in (agree, not agree))
        how, text = how_of(stage_of("agree" if agree else "hmm")), (problem.shard, m.lexicon)
        for counts, judge in ((right, taken), (wrong, refused)):
            judge([
                partial(_mixture_double.expect, *text, None, agree, counts, np.empty((3, 2)), 1),
                partial(_pairwise_double.expect, *text, SKIPS, agree, counts, np.empty((3, 2)), 1),
                partial(_hmm_double.expect, *text, m.positions, how, counts, np.empty((3, 7)), 1),
            ])  # fmt: skip


def test_unknown_words_have_no_counts_but_posteriors(problem):
    shard = replace(problem.shard, src_ids=np.full_like(problem.shard.src_ids, -1))
    expect, posteriors, count, score, add, decode = calls(problem, shard=shard)
    refused([expect, count, add])
    taken([posteriors, score, decode])


def test_cells_outside_their_rows_are_unknown_word_pairs(problem):
    """They cannot be told from the offsets; each kernel looks before it reads."""
    for cell in (-7, 10**9):
        shard = replace(problem.shard, cells=np.full_like(problem.shard.cells, cell))
        counts = Counts.zero(problem.m)
        for door in calls(problem, shard=shard, counts=counts):
            door()
        assert (counts.pairs == 0).all() and counts.null_fwd.sum() > 0


def test_one_direction_has_no_expected_links(problem):
    m, room = problem.m, np.empty((3, 7))
    for direction in ("forward", "reverse"):
        how = how_of(HMM) | {direction: False}
        refused([
            lambda how=how: _hmm_double.expect_links(
                [problem.shard], [m.lexicon], m.positions, how, None, 0.5, None, room, 1
            )
        ])  # fmt: skip


def test_one_direction_has_no_constraints(problem):
    how = how_of(stage_of("shmm")) | {"reverse": False}
    m, cells = problem.m, (np.zeros(24), np.zeros(24))
    refused([
        lambda: _hmm_double.posteriors(
            [problem.shard], [m.lexicon], m.positions, how, None, False, 1.0, *cells, None, 1
        )
    ])  # fmt: skip


# What is wrong -> shares or evidence with it
OWN = {
    "too few starts": lambda o: replace(o, start=o.start[:-1]),
    "too many stops": lambda o: replace(o, stop=np.append(o.stop, o.stop[-1])),
    "a start before the first": lambda o: replace(o, start=o.start - 2),
    "a stop beyond the entries": lambda o: replace(o, stop=o.stop + len(o.entries)),
    "a start after its stop": lambda o: replace(o, start=o.stop + 1, stop=o.stop),
    "entries of another size": lambda o: replace(o, entries=o.entries[:-1]),
    "more than all left out": lambda o: replace(o, left_out=1.001),
    "less than nothing left out": lambda o: replace(o, left_out=-0.001),
    "no number left out": lambda o: replace(o, left_out=np.nan),
    "short integers": lambda o: replace(o, start=o.start.astype(np.int32)),
    "other entries": lambda o: replace(o, entries=o.entries.astype(np.int64)),
}
EVIDENCE = {
    "too few source words": lambda m: replace(m, src=m.src[:-1]),
    "too many target words": lambda m: replace(m, tgt=np.append(m.tgt, 1.0)),
    "a word without evidence": lambda m: replace(m, src=np.append(m.src[:-1], 0.0)),
    "a negative word": lambda m: replace(m, tgt=np.append(m.tgt[:-1], -1.0)),
    "a word that is no number": lambda m: replace(m, tgt=np.append(m.tgt[:-1], np.nan)),
    "an infinite word": lambda m: replace(m, src=np.append(m.src[:-1], np.inf)),
    "no smoothing": lambda m: replace(m, alpha=0.0),
    "smoothing that is no number": lambda m: replace(m, alpha=np.nan),
    "a negative kappa": lambda m: replace(m, kappa=(-0.1, 1.0)),
    "a kappa that is no number": lambda m: replace(m, kappa=(1.0, np.nan)),
    "no evidence of NULL": lambda m: replace(m, nulls=(1.0, 0.0)),
    "evidence of NULL that is no number": lambda m: replace(m, nulls=(np.nan, 1.0)),
    "single precision": lambda m: replace(m, src=m.src.astype(np.float32)),
    "one kappa": lambda m: replace(m, kappa=(1.0,)),
    "words of one side": lambda m: replace(m, words=(3,)),
    "infinitely many words": lambda m: replace(m, words=(3, np.inf)),
    "too few bits": lambda m: replace(m, linked=m.linked[:-1]),
    "too many bits": lambda m: replace(m, linked=np.append(m.linked, np.uint8(0))),
    "bits of another type": lambda m: replace(m, linked=m.linked.astype(np.int64)),
    "no evidence of one view": lambda m: None,
}


def with_evidence(lexicon: Lexicon) -> Lexicon:
    many = np.full(len(lexicon.null_rev), 9.0), np.full(len(lexicon.null_fwd), 9.0)
    linked = np.full((len(lexicon.tgt) + 7) // 8, 255, np.uint8)
    return replace(lexicon, evidence=Evidence(*many, (9.0, 9.0), (1.0, 1.0), (3, 4), 0.5, linked))


def together(
    problem, shards=None, lexicons=None, own=None, jumps=None, statistics=None, n_views=2, cutoff=0.5,
    n_threads=1,
):  # fmt: skip
    """The doors of views together, with one thing changed."""
    lexicons = [with_evidence(problem.m.lexicon)] * n_views if lexicons is None else lexicons
    shards = [problem.shard] * n_views if shards is None else shards
    rest = problem.m.positions, how_of(stage_of("loo")), own
    room = np.empty((3, 7)) if statistics is None else statistics
    yield lambda: _hmm_double.expect_links(shards, lexicons, *rest, cutoff, jumps, room, n_threads)
    if jumps is None and statistics is None and cutoff == 0.5:
        cells = np.zeros(24), np.zeros(24)
        yield lambda: _hmm_double.posteriors(shards, lexicons, *rest, False, 1.0, *cells, None, n_threads)


def own_of(*lengths: int) -> Own:
    """Shares of so many links of 1 a sentence pair, in its first cells."""
    stop = np.cumsum(lengths, dtype=np.int64)
    entries = np.concatenate([(np.arange(n) > 0) * 65536 + 65535 for n in lengths]).astype(np.uint32)
    return Own(stop - lengths, stop, entries, 1.0)


def test_right_views_together_are_taken(problem):
    for n_views in (1, 2, 6):
        for own in (None, own_of(2, 3, 1), replace(own_of(2, 3, 1), start=longs(-1, 2, -1))):
            taken(together(problem, own=own, n_views=n_views))
    taken(together(problem, own=own_of(90, 0, 0)))  # shares of cells that are not there are left alone
    taken(together(problem, jumps=np.zeros((2, 9), np.int64), statistics=np.empty((3, 7))))


@pytest.mark.parametrize("wrong", EVIDENCE)
def test_evidence(problem, wrong):
    right = with_evidence(problem.m.lexicon)
    changed = replace(right, evidence=EVIDENCE[wrong](right.evidence))
    if changed.evidence is not None:  # else a plain lexicon
        refused(together(problem, lexicons=[changed], n_views=1))
    refused(together(problem, lexicons=[right, changed]))
    refused(together(problem, lexicons=[changed, right]))


@pytest.mark.parametrize("wrong", OWN)
def test_own_shares(problem, wrong):
    refused(together(problem, own=OWN[wrong](own_of(2, 3, 1))))


@pytest.mark.parametrize("wrong", [name for name in SHARDS if "known" not in name and "weight" not in name])
def test_shards_of_the_second_view(problem, wrong):
    refused(together(problem, shards=[problem.shard, SHARDS[wrong](problem.shard)]))


def test_views_that_are_not_of_one_text(problem):
    shard, lexicon = problem.shard, with_evidence(problem.m.lexicon)
    turned = replace(shard, src_offsets=longs(0, 4, 7, 8), cell_offsets=longs(0, 20, 26, 27))
    turned = replace(turned, cells=np.zeros(27, np.int32))
    for changed in (
        {"shards": [shard], "lexicons": [lexicon, lexicon]},
        {"shards": [], "lexicons": []},
        {"n_views": 7},
        {"shards": [shard, turned]},
        {"shards": [shard, problem.seen.shard(0, 2, 1)]},
        {"jumps": np.zeros((2, 8), np.int64)},
        {"jumps": np.zeros((1, 7), np.int64)},
        {"statistics": np.empty((2, 7))},
        {"statistics": np.empty((3, 6))},
        {"cutoff": 0.5 / 65535},
        {"cutoff": float("nan")},
        {"n_threads": 0},
    ):
        refused(together(problem, **changed))


def test_shares_that_are_put_in_order_and_counted(problem):
    s = problem.shard
    tables = {x: getattr(problem.m.lexicon, x).astype(np.float32) for x in ("t", "null_fwd", "null_rev")}
    lexicon, two = replace(problem.m.lexicon, **tables), Counts.zero(problem.m)
    one, small = Counts.zero(problem.m, shared=True), Counts.zero(problem.m, shared=True)
    small.null_fwd = small.null_fwd[:-1]
    entries = np.full(24, 1 << 16 | 65535, np.uint32)
    entries[s.cell_offsets[:-1]] = 65535
    offsets = s.cell_offsets
    _shares.count(s, lexicon, offsets, entries, one, 1)
    assert one.pairs.sum() == 24 * ONE
    unknown = replace(s, src_ids=np.full_like(s.src_ids, -1))
    refused([
        lambda: _shares.gather(offsets, entries, longs(0, 3), 1),
        lambda: _shares.gather(offsets, entries, longs(-1), 1),
        lambda: _shares.gather(offsets, entries[:-1], longs(0), 1),
        lambda: _shares.gather(offsets[::-1].copy(), entries, longs(0), 1),
        lambda: _shares.gather(longs(), entries, longs(), 1),
        lambda: _shares.gather(offsets, entries, longs(0), 0),
        lambda: _shares.count(s, lexicon, offsets, entries, two, 1),
        lambda: _shares.count(s, lexicon, offsets, entries, small, 1),
        lambda: _shares.count(s, lexicon, offsets, entries[:-1], one, 1),
        lambda: _shares.count(s, lexicon, offsets[:-1], entries, one, 1),
        lambda: _shares.count(s, lexicon, offsets[::-1].copy(), entries, one, 1),
        lambda: _shares.count(s, lexicon, offsets, entries, one, 0),
        lambda: _shares.count(unknown, lexicon, offsets, entries, one, 1),
        lambda: _shares.count(replace(s, cells=s.cells[:-1]), lexicon, offsets, entries, one, 1),
    ])  # fmt: skip


def test_updates(problem):
    m, counts = problem.m.lexicon, Counts.zero(problem.m)
    V = len(m.null_fwd)
    one, src, tgt = counts.pairs[:, :1].copy(), np.ones(len(m.null_rev)), np.ones(V)
    alike = np.zeros(len(m.tgt), np.uint8), np.ones(256)
    _update_double.of_occurrences(m.rows, m.tgt, one, 0.1, 0.2, *alike, src, tgt, m.t.copy())
    rest = counts.null_rev, counts.null_fwd
    _update_double.maximum_likelihood(m.rows, m.tgt, V, counts.pairs, *rest, m.t.copy())
    sums = _update_double.column_sums(m.tgt, counts.pairs, V)
    _update_double.set_even(m.rows, m.tgt, src, tgt, m.t.copy(), 1)
    _update_double.variational_bayes(m.rows, m.tgt, counts.pairs, *sums, 0.1, m.t.copy(), 1)
    refused([
        lambda: _update_double.maximum_likelihood(m.rows, m.tgt, V - 1, counts.pairs, *rest, m.t),
        lambda: _update_double.maximum_likelihood(m.rows + 1, m.tgt, V, counts.pairs, *rest, m.t),
        lambda: _update_double.maximum_likelihood(m.rows, m.tgt, V, counts.pairs[:, :0].copy(), *rest, m.t),
        lambda: _update_double.maximum_likelihood(m.rows, m.tgt, V, counts.pairs[:-1], *rest, m.t),
        lambda: _update_double.maximum_likelihood(m.rows, m.tgt, V, counts.pairs, rest[0][:-1], rest[1], m.t),
        lambda: _update_double.maximum_likelihood(m.rows, m.tgt, V, counts.pairs, rest[0], rest[1][:-1], m.t),
        lambda: _update_double.column_sums(m.tgt, counts.pairs, V - 1),
        lambda: _update_double.column_sums(m.tgt, counts.pairs[:-1], V),
        lambda: _update_double.widths_of(m.tgt, V - 1, 1),
        lambda: _update_double.widths_of(m.tgt, V, 0),
        lambda: _update_double.set_even(m.rows, m.tgt, src[:-1], tgt, m.t, 1),
        lambda: _update_double.set_even(m.rows, m.tgt, src, tgt[:-1], m.t, 1),
        lambda: _update_double.set_even(m.rows, m.tgt, src, tgt, m.t[:-1], 1),
        lambda: _update_double.set_even(m.rows, m.tgt, src, tgt, m.t, 0),
        lambda: _update_double.clear(counts.null_fwd, 0),
        lambda: _update_double.variational_bayes(m.rows, m.tgt, counts.pairs - 1, *sums, 0.1, m.t, 1),
        lambda: _update_double.variational_bayes(m.rows, m.tgt, counts.pairs, *sums, 0.1, m.t, 0),
        *(
            partial(_update_double.variational_bayes, m.rows, m.tgt, counts.pairs, *wrong, 0.1, m.t, 1)
            for wrong in ((sums[0] - 1, sums[1]), (sums[0], 0 * sums[1]), (sums[0], sums[1][1:]))
        ),
        lambda: _update_double.variational_bayes_row(counts.null_fwd, 0.1, m.null_fwd[:-1]),
        lambda: _update_double.variational_bayes_row(counts.null_fwd - 1, 0.1, m.null_fwd),
        lambda: _update_double.of_occurrences(m.rows, m.tgt, counts.pairs, 0.1, 0.2, *alike, src, tgt, m.t),
        lambda: _update_double.of_occurrences(m.rows, m.tgt, one[:-1], 0.1, 0.2, *alike, src, tgt, m.t),
        lambda: _update_double.of_occurrences(m.rows, m.tgt, one, 0.1, 0.2, *alike, src[:-1], tgt, m.t),
        lambda: _update_double.of_occurrences(m.rows, m.tgt, one, 0.1, 0.2, *alike, src, tgt[:-1], m.t),
        lambda: _update_double.of_occurrences(m.rows + 1, m.tgt, one, 0.1, 0.2, *alike, src, tgt, m.t),
    ])  # fmt: skip


def test_looking_up_and_selecting(problem):
    s, m = problem.shard, problem.m.lexicon
    text = s.src_ids, s.src_offsets, s.tgt_ids, s.tgt_offsets
    cells, scores = np.empty_like(s.cells), np.zeros(24, np.float32)
    offsets = s.src_offsets, s.tgt_offsets, s.cell_offsets
    refused([
        lambda: find_cells(*text, s.cell_offsets, m.rows, m.tgt, cells[:-1], 1),
        lambda: find_cells(*text, longs(0, 14, 23, 24), m.rows, m.tgt, cells, 1),
        lambda: find_cells(s.src_ids + 1000, *text[1:], s.cell_offsets, m.rows, m.tgt, cells, 1),
        lambda: find_cells(*text, s.cell_offsets, m.rows, m.tgt[:-1], cells, 1),
        lambda: above(*offsets, scores[:-1], 0.5, 1),
        lambda: above(s.src_offsets, s.tgt_offsets, longs(0, 14, 23, 24), scores, 0.5, 1),
        lambda: above(*offsets, scores, 0.5, 0),
    ])  # fmt: skip


@pytest.mark.parametrize("shape", [(2, 2), (3, 1), (4, 2)])
def test_costs_of_other_sentence_pairs(problem, shape):
    cells, m, costs = (np.zeros(24), np.zeros(24)), problem.m, np.zeros(shape)
    asked = [problem.shard], [m.lexicon], m.positions, how_of(HMM), None
    refused(
        [
            lambda: _hmm_double.posteriors(*asked, False, 1.0, *cells, costs, 1),
            lambda: _mixture_double.posteriors(problem.shard, m.lexicon, None, False, 1.0, *cells, costs, 1),
        ]
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"tension": -0.1}, {"tension": 80.1}, {"tension": np.nan}, {"skip": -0.1}, {"skip": 81.0},
        {"skip": np.inf}, {"centre": 2}, {"centre": -1}, {"smooth": 3}, {"smooth": -1},
    ],
)  # fmt: skip
def test_skips(problem, wrong):
    m, cells = problem.m.lexicon, (np.zeros(24), np.zeros(24))
    asked = problem.shard, m, SKIPS | wrong, False
    refused([
        lambda: _pairwise_double.expect(*asked, Counts.zero(problem.m), np.empty((3, 2)), 1),
        lambda: _pairwise_double.posteriors(*asked, 1.0, *cells, None, 1),
    ])  # fmt: skip


def test_counts_scores_and_costs_of_other_sizes_for_skips(problem):
    m, cells = problem.m.lexicon, (np.zeros(24), np.zeros(24))
    small = Counts.zero(problem.m)
    small.pairs = small.pairs[:-1]
    asked = problem.shard, m, SKIPS, False
    refused([
        lambda: _pairwise_double.expect(*asked, small, np.empty((3, 2)), 1),
        lambda: _pairwise_double.expect(*asked, Counts.zero(problem.m), np.empty((2, 2)), 1),
        lambda: _pairwise_double.posteriors(*asked, 1.0, np.zeros(23), cells[1], None, 1),
        lambda: _pairwise_double.posteriors(*asked, 1.0, *cells, np.zeros((2, 2)), 1),
    ])  # fmt: skip

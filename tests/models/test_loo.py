"""The leave-one-out HMM: emissions against recounts over the other sentence pairs, and the kernel's doors."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from leaving import MOST, Left, left_problems, of_cells, packed, random_left, scored
from problems import BUILDS, HMM, TIGHT, build_of, corpus_of, places_of, some_weights, stage_of

from aligner.models import _hmm_double, _shares, hmm
from aligner.models.counts import ONE, Counts
from aligner.models.jumps import Jumps
from aligner.models.kinds import Leaving
from aligner.models.lexicon import Evidence, Lexicon
from aligner.models.parameters import Parameters
from aligner.models.shares import Own
from aligner.models.update import of_occurrences
from aligner.text.cells import Seen, Shard
from aligner.text.known import Constraints, Known

CLOSE = {"rtol": 1e-7, "atol": 1e-9}
LENGTHS = [(5, 17), (33, 40), (40, 18), (16, 32), (17, 1), (1, 9), (0, 4), (3, 0)]


def assert_same(found: dict, truth: dict, **close: float) -> None:
    """Links and log-likelihoods are equal, as far as asked."""
    close = close or CLOSE
    for ours, theirs in zip(found["links"], truth["links"], strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, **close)
    for name in ("loglik_fwd", "loglik_rev"):
        one, other = found["statistics"][name], truth["statistics"][name]
        np.testing.assert_allclose(one, other, rtol=close["rtol"], atol=20 * close["atol"])


def oriented(x: np.ndarray, d: int) -> np.ndarray:
    """[rows, states] of direction d from [I, J], and back."""
    return x.T if d == 0 else x


@settings(max_examples=60)
@given(problem=left_problems())
def test_posteriors_equal_enumeration_of_recounted_emissions(problem):
    """Nothing of the kernel is in the truth: all paths, and emissions from the other sentence pairs."""
    found, places = problem.found(), problem.positions
    for n in range(len(problem)):
        for d, (emit, null) in enumerate(problem.emissions(n)):
            truth = oracle.hmm(oriented(emit, d).tolist(), null.tolist(), *places_of(places, d))
            np.testing.assert_allclose(oriented(found["links"][n][d], d), truth["gamma"], **CLOSE)
            loglik = found["statistics"][("loglik_fwd", "loglik_rev")[d]][n]
            np.testing.assert_allclose(loglik, truth["loglik"], **CLOSE)


@settings(max_examples=60)
@given(problem=left_problems())
def test_a_lattice_is_that_of_its_emissions(problem):
    """Links, log-likelihoods and jumps are those of a plain lexicon with a word pair for each cell."""
    found, truth = problem.found(), problem.expected()
    assert_same(found, truth)
    np.testing.assert_allclose(found["jumps"] / 2**32, truth["jumps"] / 2**32, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("model", ["shmm", "bhmm"])
@settings(max_examples=25)
@given(problem=left_problems())
def test_projections_begin_with_recounted_emissions(model, problem):
    stage = stage_of(model, **TIGHT)
    found, truth = problem.found(stage), problem.expected(stage)
    assert_same(found, truth, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found["statistics"]["kl"], truth["statistics"]["kl"], rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("n_views", [1, 2, 3])
def test_long_sentences_with_repeated_words_and_empty_sides(n_views):
    full = [pair for pair in LENGTHS if all(pair)]
    problem = random_left(np.random.default_rng(n_views), full, n_views)
    for kernel, dtype, close in (
        (_hmm_double, np.float64, CLOSE),
        (hmm._hmm, np.float32, {"rtol": 1e-4, "atol": 5e-5}),
    ):
        assert_same(problem.found(kernel=kernel, dtype=dtype), problem.expected(), **close)
    whole = random_left(np.random.default_rng(n_views), LENGTHS, n_views)
    for links in whole.found()["links"][:6]:
        assert np.isfinite(np.array(links)).all() and np.array(links).max() <= 1 + 1e-9


@settings(max_examples=60)
@given(problem=left_problems())
def test_float_equals_double(problem):
    ours = problem.found(kernel=hmm._hmm, dtype=np.float32)
    assert_same(ours, problem.found(), rtol=2e-4, atol=5e-5)


@settings(max_examples=40)
@given(problem=left_problems())
def test_best_path_is_as_good_as_any(problem):
    for n, both in enumerate(problem.found(best=True)["links"]):
        for d, (emit, null) in enumerate(problem.emissions(n)):
            places, rows = problem.positions, oriented(both[d], d)
            truth = oracle.hmm(oriented(emit, d).tolist(), null.tolist(), *places_of(places, d))
            J, I = rows.shape
            options = [[int(row.argmax())] if row.any() else range(I, 2 * I) for row in rows]
            best = max(truth["paths"][path] for path in itertools.product(*options))
            np.testing.assert_allclose(best, truth["best"], rtol=1e-7)


@settings(max_examples=40)
@given(data=st.data())
def test_known_links_weigh_the_mean_of_the_views(data):
    problem = data.draw(left_problems())
    cells = of_cells([problem.emissions(n) for n in range(len(problem))], problem.positions)
    problem.known = Known(data.draw(some_weights(cells)))
    assert_same(problem.found(), problem.expected())


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("n_views", [1, 3])
def test_every_build_and_any_threads_give_the_same_bits(build, n_views):
    """Baseline, AVX2 and AVX-512, as far as this machine has them. A thread takes 64 pairs at a time."""
    kernel = build_of("_hmm", build)
    problem = random_left(np.random.default_rng(7), LENGTHS * 16, n_views)
    for stage in (HMM, stage_of("shmm")):
        truth = problem.found(stage, kernel=hmm._hmm, dtype=np.float32)
        for n_threads in (1, 3):
            found = problem.found(stage, kernel=kernel, dtype=np.float32, n_threads=n_threads)
            np.testing.assert_array_equal(found["jumps"], truth["jumps"])
            for name, values in truth["statistics"].items():
                np.testing.assert_array_equal(found["statistics"][name], values, err_msg=name)
            for ours, theirs in zip(found["links"], truth["links"], strict=True):
                for a, b in zip(ours, theirs, strict=True):
                    np.testing.assert_array_equal(a, b)


@given(problem=left_problems(left_out=0.0))
@settings(max_examples=40)
def test_nothing_left_out_is_what_the_whole_text_says(problem):
    """left_out of 0, no shares at all, and sentence pairs that were not counted: all the same."""
    unknown = np.full(len(problem), -1, dtype=np.int64)
    mine = replace(problem.own, left_out=1.0)
    truth = problem.expected(left_out=0.0)
    for own in (problem.own, None, replace(mine, start=unknown, stop=unknown)):
        assert_same(problem.found(own=own), truth)


@given(problem=left_problems(n_views=1, left_out=0.0))
@settings(max_examples=40)
def test_nothing_left_out_of_one_view_is_the_plain_hmm(problem):
    """The lexicon's own t, where smoothing alone speaks for word pairs that were never linked."""
    (seen,) = problem.seen
    lexicon = problem.lexicon(0, seen)
    many, e = lexicon.evidence, np.repeat(np.arange(len(seen.rows) - 1), np.diff(seen.rows))
    V_src, V_tgt = (len({w for pair in problem.views[0] for w in pair[k]}) for k in range(2))
    least = problem.alpha / np.stack([V_tgt * many.src[e], V_src * many.tgt[seen.tgt]], axis=1)
    t = np.where(lexicon.t > 0, lexicon.t, least)
    plain = Lexicon(seen.rows, seen.tgt, t, lexicon.null_fwd, lexicon.null_rev)  # emissions FLOOR + t
    truth = scored(_hmm_double, [seen.shard(0, len(problem), 1)], [plain], problem.positions)
    assert_same(problem.found(), truth, rtol=1e-3, atol=2e-3)
    minus = replace(plain, t=t - 1e-6, null_fwd=plain.null_fwd - 1e-6, null_rev=plain.null_rev - 1e-6)
    exact = scored(_hmm_double, [seen.shard(0, len(problem), 1)], [minus], problem.positions)
    assert_same(problem.found(), exact)


@given(problem=left_problems())
@settings(max_examples=40)
def test_some_sentence_pairs_may_not_have_been_counted(problem):
    """A sentence pair that starts at -1 sees all counts; the others do not notice."""
    own = problem.own
    start = np.where(np.arange(len(problem)) % 2 == 0, -1, own.start)
    found = problem.found(own=replace(own, start=start))["links"]
    some, whole = problem.expected()["links"], problem.expected(left_out=0.0)["links"]
    for n, links in enumerate(found):
        np.testing.assert_allclose(np.array(links), np.array((some if n % 2 else whole)[n]), **CLOSE)


@given(problem=left_problems(left_out=1.0))
@settings(max_examples=40)
def test_of_two_equal_sentence_pairs_each_sees_its_twin(problem):
    """All of itself left out, a sentence pair is aligned by its twin and by the others."""
    both = replace(problem, views=[view + view for view in problem.views], values=problem.values * 2)
    found = both.found()["links"]
    for n in range(len(problem)):
        np.testing.assert_array_equal(np.array(found[n]), np.array(found[n + len(problem)]))
    assert_same(both.found(), both.expected())


def test_one_sentence_pair_twice_is_aligned_by_its_twin():
    """What the one sees is what a lexicon says that the other alone was counted for; kappa is the same."""
    random = np.random.default_rng(3)
    one = replace(random_left(random, [(4, 6)], n_words=3), left_out=1.0)
    two = replace(one, views=[one.views[0] * 2], values=one.values * 2)
    truth = one.found(own=None)
    for links in two.found()["links"]:
        np.testing.assert_allclose(np.array(links), np.array(truth["links"][0]), **CLOSE)
    alone = one.found()["links"][0]
    assert np.abs(np.array(alone) - np.array(truth["links"][0])).max() > 0.01


def test_alone_in_the_text_smoothing_speaks():
    """The only sentence pair that there is, all of it left out: all words are equally likely."""
    problem = replace(random_left(np.random.default_rng(4), [(3, 4)]), left_out=1.0)
    for emit, null in problem.emissions(0):
        np.testing.assert_allclose(emit, emit[0, 0])
        np.testing.assert_allclose(null, emit[0, 0])
    assert_same(problem.found(), problem.expected())


@settings(max_examples=50)
@given(problem=left_problems(n_views=1))
def test_the_update_learns_what_was_recounted(problem):
    (seen,) = problem.seen
    shard, wanted = seen.shard(0, len(problem), 1), problem.lexicon(0, seen)
    single = (np.zeros(shape, np.float32) for shape in (wanted.t.shape, *(len(x) for x in null_rows(wanted))))
    m = Lexicon(seen.rows, seen.tgt, *single)
    counts = Counts.zero(Parameters(m), shared=True)
    own = problem.own
    offsets = np.append(own.start, own.stop[-1])
    _shares.count(shard, m, offsets, own.entries, counts, 1)
    of_occurrences(m, counts, seen.text.occurrences, Leaving(smoothing=problem.alpha))
    for name in ("t", "null_fwd", "null_rev"):
        assert getattr(m, name).dtype == np.float32
        np.testing.assert_allclose(getattr(m, name), getattr(wanted, name), rtol=1e-6, err_msg=name)
    for name in ("src", "tgt", "nulls", "kappa", "words", "alpha"):
        one, other = getattr(m.evidence, name), getattr(wanted.evidence, name)
        np.testing.assert_allclose(one, other, rtol=1e-6, err_msg=name)
    np.testing.assert_array_equal(m.evidence.linked, wanted.evidence.linked)
    assert m.evidence.linked.dtype == np.uint8 and all(isinstance(n, int) for n in m.evidence.words)


def null_rows(m: Lexicon) -> tuple[np.ndarray, np.ndarray]:
    return m.null_fwd, m.null_rev


def one_by_one(emissions: np.ndarray) -> tuple[list[Shard], list[Lexicon]]:
    """Sentence pairs of one word a side, and a view a row of emissions, of words and of NULL alike.

    Smoothing gives a word pair the least emission that the kernel promises to take, 1e-12.
    """
    n = emissions.shape[1]
    seen = Seen.of_own_words(corpus_of(*(([k], [k]) for k in range(n))), "word", 1)
    ones = np.ones(n, np.float32)
    evidence = Evidence(ones, ones, (1.0, 1.0), (1.0, 1.0), (n, n), 1e-12 * n)
    lexicons = [
        Lexicon(seen.rows, seen.tgt, np.stack([x, x], axis=1), x, x, evidence)
        for x in emissions.astype(np.float32)
    ]
    return [seen.shard(0, n, 1)] * len(emissions), lexicons


@pytest.mark.parametrize("n_views", [2, 3, 4, 5, 6])
def test_the_geometric_mean_of_emissions(n_views):
    """Where NULL and the word are equally likely, log p(f | e) is the log of the emission.

    A float's logarithm is the less exact the larger it is. The logarithm is that of the product, scaled.
    """
    logs = np.random.default_rng(n_views).uniform(-27.6, 0, (n_views, 6000))
    logs[:, 3000:] = np.linspace(-27.6, 0, 3000)
    emissions = np.exp(logs).astype(np.float32)
    shards, lexicons = one_by_one(emissions)
    found = scored(hmm._hmm, shards, lexicons, Jumps.even(1, 0.5), dtype=np.float32)
    truth = np.log(emissions.astype(np.float64)).mean(axis=0)
    moderate = np.abs(n_views * (truth + np.log(2**20))) < 17
    for name in ("loglik_fwd", "loglik_rev"):
        error = np.abs(np.expm1(found["statistics"][name] - truth))
        assert 0 < error.max() < 2.5e-6 and moderate.sum() > 100 and error[moderate].max() < 1e-6


@pytest.mark.parametrize("n_views", [2, 6])
def test_the_geometric_mean_of_emissions_too_small_for_a_product(n_views):
    """Six of them would be 0 as a float. Each is at least 1e-6 of what emissions are scaled by, 2^20."""
    shards, lexicons = one_by_one(np.full((n_views, 100), 1e-15))
    for lexicon in lexicons:
        lexicon.evidence = replace(lexicon.evidence, alpha=1e-15)
    found = scored(hmm._hmm, shards, lexicons, Jumps.even(1, 0.5), dtype=np.float32)
    for name in ("loglik_fwd", "loglik_rev"):
        np.testing.assert_allclose(found["statistics"][name], np.log(1e-6 / 2**20), rtol=0, atol=1e-5)


def test_one_view_has_no_root():
    emissions = np.exp(np.random.default_rng(0).uniform(-27, 0, (1, 1000))).astype(np.float32)
    shards, lexicons = one_by_one(emissions)
    found = scored(hmm._hmm, shards, lexicons, Jumps.even(1, 0.5), dtype=np.float32)
    np.testing.assert_allclose(np.exp(found["statistics"]["loglik_fwd"]), emissions[0], rtol=2e-7)


def test_views_without_evidence_are_of_plain_lexicons():
    """The first iteration has lexicons of Model 1: emissions are geometric means of FLOOR + t."""
    random = np.random.default_rng(5)
    problem = random_left(random, [(4, 6), (7, 3)], 3)
    seen = problem.seen
    lexicons = [
        Lexicon(
            s.rows, s.tgt, random.random((len(s.tgt), 2)), *(random.random(len(v)) for v in vocabularies(s))
        )
        for s in seen
    ]
    emissions = []
    for n in range(2):
        both = []
        for d in range(2):
            grids, nulls = [], []
            for s, m, view in zip(seen, lexicons, problem.views, strict=True):
                src, tgt = view[n]
                number = {
                    (e, int(s.tgt[k])): k for e in range(len(s.rows) - 1) for k in range(*s.rows[e : e + 2])
                }
                grids.append([[m.t[number[e, f], d] + 1e-6 for f in tgt] for e in src])
                nulls.append(
                    [m.null_fwd[f] + 1e-6 for f in tgt] if d == 0 else [m.null_rev[e] + 1e-6 for e in src]
                )
            both.append(tuple(np.exp(np.log(np.array(x)).mean(axis=0)) for x in (grids, nulls)))
        emissions.append(both)
    cells = of_cells(emissions, problem.positions)
    truth = scored(_hmm_double, [cells.shard], [cells.m.lexicon], problem.positions)
    shards = [s.shard(0, 2, 1) for s in seen]
    for own in (None, problem.own):  # own shares are left out of counts; there are none here
        assert_same(scored(_hmm_double, shards, lexicons, problem.positions, own=own), truth)


def vocabularies(seen: Seen) -> tuple:
    return seen.text.tgt.vocab, seen.text.src.vocab


def test_unknown_words_and_word_pairs_have_smoothing_alone():
    """A word of id -1 was never counted: alpha is all it has. A cell of -1 has the count alpha / words."""
    problem = random_left(np.random.default_rng(6), [(3, 4), (4, 4)])
    (seen,) = problem.seen
    lexicon, shard = problem.lexicon(0, seen), seen.shard(0, 2, 1)
    m, alpha = lexicon.evidence, problem.alpha
    src, tgt, cells = shard.src_ids.copy(), shard.tgt_ids.copy(), shard.cells.copy()
    src[1], tgt[2] = -1, -1
    cells[4:8] = cells[[2, 6, 10]] = -1
    cells[0] = -7  # a word pair that is not in the row
    changed = replace(shard, src_ids=src, tgt_ids=tgt, cells=cells)
    emissions = []
    V_src, V_tgt = m.words
    for n in range(2):
        ids = src[3 * n : 3 + 4 * n], tgt[4 * n : 4 + 4 * n]
        grid = cells[12 * n :][: len(ids[0]) * 4].reshape(-1, 4)
        emit = [np.zeros(grid.shape) for _ in range(2)]
        for (i, j), k in np.ndenumerate(grid):
            e, f = ids[0][i], ids[1][j]
            count = [alpha / V_tgt, alpha / V_src]
            if k >= 0 and lexicon.t[lexicon.rows[e] + k, 0] > 0:
                count = lexicon.t[lexicon.rows[e] + k] * (m.src[e], m.tgt[f])
            emit[0][i, j] = count[0] / (m.src[e] if e >= 0 else alpha)
            emit[1][i, j] = count[1] / (m.tgt[f] if f >= 0 else alpha)
        null = [
            np.array([row[w] if w >= 0 else alpha / V / total for w in words])
            for row, V, total, words in (
                (lexicon.null_fwd, V_tgt, m.nulls[0], ids[1]),
                (lexicon.null_rev, V_src, m.nulls[1], ids[0]),
            )
        ]
        emissions.append(list(zip(emit, null, strict=True)))
    truth = of_cells(emissions, problem.positions)
    truth = scored(_hmm_double, [truth.shard], [truth.m.lexicon], problem.positions)
    assert_same(scored(_hmm_double, [changed], [lexicon], problem.positions), truth)


def test_a_target_word_without_id_has_no_evidence_whatever_its_cell():
    """What stands before the evidence in memory does not matter."""
    problem = random_left(np.random.default_rng(0), [(3, 4)])
    (seen,) = problem.seen
    lexicon, shard = problem.lexicon(0, seen), seen.shard(0, 1, 1)
    ids = shard.tgt_ids.copy()
    ids[1] = -1
    found = []
    for before in (1.0, 1e6):
        many = np.append(before, lexicon.evidence.tgt)[1:]
        changed = replace(lexicon, evidence=replace(lexicon.evidence, tgt=many))
        found.append(scored(_hmm_double, [replace(shard, tgt_ids=ids)], [changed], problem.positions))
    assert_same(*found)
    cells = shard.cells.copy()
    cells[1::4] = -1  # word pairs that nobody knows
    unknown = replace(shard, tgt_ids=ids, cells=cells)
    assert_same(found[0], scored(_hmm_double, [unknown], [lexicon], problem.positions))


@pytest.mark.parametrize("n_views", [1, 3])
def test_bits_of_linked_word_pairs_save_work_and_change_nothing(n_views):
    """Without them, all word pairs are looked at; a word pair whose bit is 0 has smoothing alone."""
    problem = random_left(np.random.default_rng(8), LENGTHS, n_views, n_words=40)
    seen = problem.seen
    shards = [x.shard(0, len(problem), 1) for x in seen]
    lexicons = [problem.lexicon(v, x, np.float32) for v, x in enumerate(seen)]
    assert all(0 < m.t.any(axis=1).sum() < len(m.t) for m in lexicons)

    def found(change) -> list:
        changed = [change(m) for m in lexicons]
        return scored(hmm._hmm, shards, changed, problem.positions, own=problem.own, dtype=np.float32)[
            "links"
        ]

    truth = found(lambda m: m)
    no_bits = found(lambda m: replace(m, evidence=replace(m.evidence, linked=None)))
    none = found(lambda m: replace(m, evidence=replace(m.evidence, linked=np.zeros_like(m.evidence.linked))))
    unlinked = found(lambda m: replace(m, t=np.zeros_like(m.t)))
    for n in range(len(problem)):
        np.testing.assert_array_equal(np.array(no_bits[n]), np.array(truth[n]))
        np.testing.assert_array_equal(np.array(none[n]), np.array(unlinked[n]))
    assert np.abs(np.array(none[1]) - np.array(truth[1])).max() > 0.01


def test_little_smoothing_leaves_no_holes():
    """A word many times in one sentence pair, and in no other: what is left of its evidence is alpha."""
    for n in range(50, 60):
        problem = random_left(np.random.default_rng(n), [(n, n // 2), (3, 3)])
        problem = replace(problem, alpha=1e-6, left_out=1.0)
        problem.views[0][0] = tuple([20] * len(side) for side in problem.views[0][0])
        for links in problem.found(kernel=hmm._hmm, dtype=np.float32)["links"]:
            links = np.array(links)
            assert np.isfinite(links).all() and links.min() >= 0 and links.max() < 1.001


@pytest.fixture
def problem() -> Left:
    return random_left(np.random.default_rng(0), [(3, 5), (4, 2), (1, 1)])


def test_entries_beyond_a_sentence_pair_are_not_followed(problem):
    """They cannot be told at the door: the kernel stops at them."""
    cells = np.zeros(15, dtype=np.int64)
    cells[4] = MOST
    good = np.array(packed(cells), dtype=np.uint32)
    start = np.array([0, -1, -1], dtype=np.int64)
    links = [
        problem.found(own=Own(start, start + len(entries), entries, 1.0))["links"]
        for entries in (
            good,
            np.append(good, np.uint32(65535 << 16 | 65535)),
            np.append(good, np.uint32(11 << 16 | 9)),
        )
    ]
    for others in links[1:]:
        for ours, theirs in zip(links[0], others, strict=True):
            np.testing.assert_array_equal(np.array(ours), np.array(theirs))


def test_words_spelled_alike_have_more_of_smoothing(problem):
    """t is (c + w alpha / V) / many, w = 1 + spelling s^4; without links and spelling 0."""
    (seen,) = problem.seen
    m = problem.lexicon(0, seen, np.float32)
    rng = np.random.default_rng(1)
    counts = Counts.zero(Parameters(m), shared=True)
    counts.pairs[:, 0] = rng.integers(0, 3, len(m.tgt)) * ONE
    alike = rng.choice([0, 128, 255], len(m.tgt)).astype(np.uint8)
    of_occurrences(m, counts, seen.text.occurrences, Leaving(smoothing=2.0, spelling=50.0), alike)
    src, tgt = m.evidence.src, m.evidence.tgt
    e = np.repeat(np.arange(len(src)), np.diff(m.rows))
    w = 1 + 50 * (alike / 255) ** 4
    for column, many, words in ((0, src[e], m.evidence.words[1]), (1, tgt[m.tgt], m.evidence.words[0])):
        truth = (counts.pairs[:, 0] / ONE + w * 2 / words) / many
        truth[(counts.pairs[:, 0] == 0) & (alike == 0)] = 0
        np.testing.assert_allclose(m.t[:, column], truth, rtol=1e-6)
    linked = np.unpackbits(m.evidence.linked, bitorder="little")[: len(m.tgt)]
    assert (linked == (m.t[:, 0] > 0)).all() and 0 < linked.mean() < 1


def test_constraints_are_of_the_first_view(problem):
    """At most a tenth of a link between the first words is expected, whatever the views."""
    lists = [[([("forward", 0, 0, 1.0)], "<=", 0.1)], [], []]
    views = random_left(np.random.default_rng(0), [(3, 5), (4, 2), (1, 1)], 2)
    views.known = Known(None, Constraints.of(lists))
    stage = replace(HMM, limits=replace(HMM.limits, **TIGHT, slack=0.0))
    assert_same(views.found(stage), views.expected(stage), rtol=1e-6, atol=1e-8)
    assert views.found(stage)["links"][0][0][0, 0] < 0.101

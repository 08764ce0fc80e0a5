"""From counts to tables, against plain numpy and scipy: maximum likelihood and variational Bayes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln, psi
from scipy.stats import beta
from trained import generated, plain, recipe_of

from aligner import Corpus, train
from aligner.models import _update
from aligner.models.counts import ONE, Counts
from aligner.models.lexicon import Lexicon
from aligner.models.parameters import Parameters
from aligner.models.pseudo import Lacking, PseudoCounts
from aligner.models.recipe import Recipe
from aligner.models.stage import Stage
from aligner.models.update import update, variational_bayes
from aligner.text.cells import Seen

ML = Stage("ibm1", "likelihood", 1)
PAIRS = [("a b", "x y"), ("a c a", "x z"), ("b", "y"), ("c b", "z y x"), ("d", "w")]


def prior(alpha: float) -> Stage:
    """Variational Bayes."""
    return replace(ML, dirichlet=alpha)


def problem(seed: int = 0) -> tuple[Seen, Parameters, Counts]:
    """A lexicon of a few words, and any counts of it; some rows have none."""
    random = np.random.default_rng(seed)
    seen = Seen.of_own_words(Corpus.from_pairs(PAIRS), "word", 1)
    parameters = Parameters(Lexicon.even(seen))
    counts = Counts.zero(parameters)
    for array in (counts.pairs, counts.null_fwd, counts.null_rev):
        array[...] = random.gamma(0.5, 3, array.shape) * ONE
    e = np.repeat(np.arange(4), np.diff(seen.rows))
    counts.pairs[e == 3] = 0  # d and w stand beside each other only
    counts.pairs[::3] = 0
    return seen, parameters, counts


def grids(seen: Seen, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[V_src, V_tgt] counts of both directions, NaN where there is no word pair."""
    n_src, n_tgt = len(seen.text.src.vocab), len(seen.text.tgt.vocab)
    e = np.repeat(np.arange(n_src), np.diff(seen.rows))
    found = np.full((2, n_src, n_tgt), np.nan)
    found[:, e, seen.tgt] = pairs.T
    return found[0], found[1]


def divergence(counts: np.ndarray, alpha: float) -> float:
    """KL(Dir(counts + alpha) || Dir(alpha)) by the textbook: of any two Dirichlets."""
    p, q = counts + alpha, np.full(len(counts), alpha)
    value = gammaln(p.sum()) - gammaln(p).sum() - gammaln(q.sum()) + gammaln(q).sum()
    return float(value + ((p - q) * (psi(p) - psi(p.sum()))).sum())


def test_maximum_likelihood_against_numpy():
    seen, m, counts = problem()
    assert update(m, counts, ML) is None
    fwd, rev = grids(seen, counts.pairs / ONE)
    t, back = grids(seen, m.lexicon.t)
    sums = np.nansum(fwd, axis=1, keepdims=True), np.nansum(rev, axis=0, keepdims=True)
    np.testing.assert_allclose(t, fwd / np.where(sums[0] > 0, sums[0], 1), rtol=1e-6, atol=0)
    np.testing.assert_allclose(back, rev / np.where(sums[1] > 0, sums[1], 1), rtol=1e-6, atol=0)
    assert t[3, 3] == 0 and back[3, 3] == 0  # rows without counts become zero
    null = m.lexicon.null_fwd, m.lexicon.null_rev
    for row, total in zip(null, (counts.null_fwd, counts.null_rev), strict=True):
        np.testing.assert_allclose(row, total / total.sum(), rtol=1e-6, atol=0)
    counts.null_fwd[:] = 0
    update(m, counts, ML)
    assert (m.lexicon.null_fwd == 0).all() and (m.lexicon.null_rev > 0).any()


def many(seed: int = 0) -> tuple[np.ndarray, np.ndarray, int]:
    """(rows, target words, how many target words) of more word pairs than one thread takes at a time."""
    random = np.random.default_rng(seed)
    widths = random.integers(0, 60, 3000)
    tgt = np.concatenate([np.sort(random.choice(500, n, replace=False)) for n in widths]).astype(np.int32)
    return np.concatenate([[0], np.cumsum(widths)]), tgt, 500


@pytest.mark.parametrize("n_threads", [1, 3, 20])
def test_threads_that_have_totals_of_their_own_against_numpy(n_threads):
    rows, tgt, n_tgt = many()
    e = np.repeat(np.arange(len(rows) - 1), np.diff(rows))
    counts = np.random.default_rng(1).integers(0, 1 << 40, (len(tgt), 2))
    rest = np.arange(len(rows) - 1) << 20, np.arange(n_tgt) << 30
    t = np.empty((len(tgt), 2), np.float32)
    _update.maximum_likelihood(rows, tgt, n_tgt, counts, *rest, t, n_threads)
    for column, word, more in ((0, e, rest[0]), (1, tgt, rest[1])):
        totals = more.copy()
        np.add.at(totals, word, counts[:, column])
        expected = (counts[:, column] / np.maximum(totals, 1)[word].astype(np.float64)).astype(np.float32)
        np.testing.assert_array_equal(t[:, column], expected)
    np.testing.assert_array_equal(_update.widths_of(tgt, n_tgt, n_threads), np.bincount(tgt, minlength=n_tgt))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_even_shares_against_numpy(n_threads):
    rows, tgt, n_tgt = many()
    random = np.random.default_rng(2)
    src_share, tgt_share = (random.random(n).astype(np.float32) for n in (len(rows) - 1, n_tgt))
    t = np.full((len(tgt), 2), np.nan, np.float32)
    _update.set_even(rows, tgt, src_share, tgt_share, t, n_threads)
    np.testing.assert_array_equal(t[:, 0], np.repeat(src_share, np.diff(rows)))
    np.testing.assert_array_equal(t[:, 1], tgt_share[tgt])


@pytest.mark.parametrize("n", [0, 1, 65536, 200_001])
def test_counts_are_cleared_to_the_last(n):
    counts = np.full(n, 7)
    _update.clear(counts, 3)
    assert not counts.any()


@pytest.mark.parametrize("alpha", [0.001, 0.1, 1.0, 40.0])
def test_variational_bayes_against_scipy(alpha):
    seen, m, counts = problem()
    found = update(m, counts, prior(alpha))
    expected = [0.0, 0.0]
    tables = grids(seen, m.lexicon.t)
    turned = [x.T if k else x for k, x in enumerate(grids(seen, counts.pairs / ONE))]
    for k, grid in enumerate(turned):
        table = tables[k].T if k else tables[k]
        for c, row in zip(grid, table, strict=True):
            there = ~np.isnan(c)
            p = c[there] + alpha
            np.testing.assert_allclose(row[there], np.exp(psi(p) - psi(p.sum())), rtol=1e-6, atol=1e-37)
            assert row[there].sum() < 1 or there.sum() == 1
            expected[k] += divergence(c[there], alpha)
    nulls = (counts.null_fwd, m.lexicon.null_fwd), (counts.null_rev, m.lexicon.null_rev)
    for k, (total, row) in enumerate(nulls):
        p = total / ONE + alpha
        np.testing.assert_allclose(row, np.exp(psi(p) - psi(p.sum())), rtol=1e-6, atol=1e-37)
        expected[k] += divergence(total / ONE, alpha)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("alpha", [0, 0.1])
def test_counts_of_one_column_are_those_of_both_directions(alpha):
    (_, one, shared), (_, two, counts) = problem(), problem()
    shared.pairs = counts.pairs[:, 1:].copy()
    counts.pairs = np.repeat(shared.pairs, 2, axis=1)
    assert update(one, shared, prior(alpha)) == update(two, counts, prior(alpha))
    assert len(np.unique(two.lexicon.t)) > 5
    np.testing.assert_array_equal(one.lexicon.t, two.lexicon.t)


def test_a_prior_is_added_to_each_direction_by_itself():
    """Where directions agree, those of a prior need not: counts of one column get two."""
    seen, one, shared = problem()
    shared.pairs = shared.pairs[:, :1].copy()
    stage, n = replace(ML, objective="agreement"), len(seen.tgt)
    two, counts = Parameters(Lexicon.even(seen)), Counts.zero(one)
    counts.pairs[:], counts.null_fwd, counts.null_rev = shared.pairs, shared.null_fwd, shared.null_rev
    more = np.array([[5, 70], [300, 1]]) * int(ONE)
    counts.pairs[:2] += more
    nothing = [np.zeros(len(x), int) for x in (counts.null_rev, counts.null_fwd)]
    lacking = Lacking(0.0, (0.0, 0.0), (0.0, 0.0), (0, 0))
    taught = PseudoCounts(np.arange(2), more, *nothing, *nothing[::-1], *nothing, None, lacking)
    update(one, shared, stage, prior=taught)
    update(two, counts, stage)
    assert shared.pairs.shape == (n, 2)
    np.testing.assert_array_equal(one.lexicon.t, two.lexicon.t)


def test_threads_do_not_change_variational_bayes():
    """Many rows, most of them with words that count nothing: tables and divergences are the same bits."""
    seen = Seen.of_own_words(generated().part(0, 200), "word", 1)
    found = []
    for n_threads in (1, 2, 3, 8):
        lexicon, random = Lexicon.even(seen), np.random.default_rng(3)
        counts = Counts.zero(Parameters(lexicon))
        for array in (counts.pairs, counts.null_fwd, counts.null_rev):
            array[...] = random.gamma(0.05, 3, array.shape) * ONE
        divergence = variational_bayes(lexicon, counts, 0.1, n_threads)
        found.append((divergence, lexicon.t.tobytes(), lexicon.null_fwd.tobytes()))
    assert len(lexicon.t) > 2000 and 0.1 < (counts.pairs == 0).mean() < 0.9
    assert all(other == found[0] for other in found)


def test_probabilities_that_a_float_holds_with_few_digits_are_none():
    """exp(psi(0.01)) is 2e-44: float has it with one digit, and processors are slow with such numbers."""
    _, m, counts = problem()
    update(m, counts, prior(0.01))
    for table in (m.lexicon.t, m.lexicon.null_fwd, m.lexicon.null_rev):
        assert ((table == 0) | (table >= 1e-37)).all()
    unlinked = counts.pairs[:-1, 0] == 0  # the last row has one word pair, whose probability is 1
    assert unlinked.any() and (m.lexicon.t[:-1, 0][unlinked] == 0).all()


@pytest.mark.parametrize("counts", [(0.0, 0.0), (2.5, 0.0), (3.0, 11.0)])
def test_divergence_of_two_words_by_integration(counts):
    """Dirichlets of two words are beta distributions: their divergence is an integral."""
    a = 1.7
    p, q = beta(counts[0] + a, counts[1] + a), beta(a, a)
    expected = quad(lambda x: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), 0, 1)[0]
    row = np.zeros(2, np.float32)
    found = _update.variational_bayes_row((np.array(counts) * ONE).astype(np.int64), a, row)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert divergence(np.array(counts), a) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_digamma_against_scipy():
    x = np.concatenate([np.logspace(-9, 12, 2000), np.linspace(0.5, 8, 500)])
    np.testing.assert_allclose(_update.digamma(x), psi(x), rtol=1e-12, atol=1e-11)


def test_many_counts_make_both_rules_one():
    """With counts far larger than alpha the prior does not matter; with none it alone does."""
    _, ml, counts = problem()
    _, vb, _ = problem()
    for array in (counts.pairs, counts.null_fwd, counts.null_rev):
        array *= 100_000
    update(ml, counts, ML)
    update(vb, counts, prior(0.5))
    some = ml.lexicon.t > 0
    assert some.sum() > 10
    np.testing.assert_allclose(vb.lexicon.t[some], ml.lexicon.t[some], rtol=0, atol=1e-4)
    found = update(vb, Counts.zero(vb), prior(0.5))
    assert found == pytest.approx((0, 0), abs=1e-9)  # the posterior is the prior
    assert vb.lexicon.t[-1, 0] == 1  # a word with one neighbour


@pytest.mark.parametrize("alpha", [0.0, -1.0, float("nan"), float("inf")])
def test_alpha_must_be_positive(alpha):
    _, m, counts = problem()
    with pytest.raises(ValueError, match="alpha"):
        variational_bayes(m.lexicon, counts, alpha)


def test_training_with_a_prior_against_numpy():
    """Model 1 with variational Bayes on a tiny text, step by step: tables, log-likelihood and bound."""
    alpha, n = 0.3, 6
    recipe = Recipe.of("ibm1", iterations=n, dirichlet=alpha, views=["word"], identical=1.0)
    model = train(PAIRS, recipe)
    text = Corpus.from_pairs(PAIRS)
    sides = text.src, text.tgt
    tokens = [[s.ids[s.offsets[k] : s.offsets[k + 1]] for s in sides] for k in range(len(PAIRS))]
    for side, name in enumerate(("forward", "reverse")):  # given words -> generated words
        size = len(sides[side].vocab) + 1, len(sides[1 - side].vocab)  # row 0 is NULL
        there = np.zeros(size, bool)
        there[0] = True
        for pair in tokens:
            there[np.ix_(pair[side] + 1, pair[1 - side])] = True
        t = there / there.sum(axis=1, keepdims=True)
        below = None
        for entry in model.history:
            counts, loglik = np.zeros(size), 0.0
            for pair in tokens:
                given = np.append(0, pair[side] + 1)
                for f in pair[1 - side]:
                    p = t[given, f]
                    loglik += np.log(p.sum() / len(given))
                    np.add.at(counts, (given, f), p / p.sum())
            assert entry["loglik"][name] == pytest.approx(loglik, rel=1e-6)
            assert ("bound" in entry) == (below is not None)
            if below is not None:
                assert entry["bound"][name] == pytest.approx(loglik - below, rel=1e-6)
            mass = (counts + alpha * there).sum(axis=1, keepdims=True)
            t = np.where(there, np.exp(psi(counts + alpha) - psi(mass)), 0)
            below = sum(divergence(c[x], alpha) for c, x in zip(counts, there, strict=True))
        m = model.views[0].parameters.lexicon
        e = np.repeat(np.arange(len(m.null_rev)), np.diff(m.rows))
        place = (e + 1, m.tgt) if side == 0 else (m.tgt + 1, e)
        np.testing.assert_allclose(m.t[:, side], t[place], rtol=1e-5)
        np.testing.assert_allclose((m.null_fwd, m.null_rev)[side], t[0], rtol=1e-5)


@pytest.mark.parametrize("alpha", [0.01, 0.3, 2.0])
def test_the_bound_never_falls(alpha):
    """In Model 1, but for rounding; the HMM's jumps are not updated exactly, but it rises as a whole."""
    corpus = generated().part(0, 500)
    history = train(corpus, plain(10, 4, dirichlet=alpha)).history
    assert ["bound" in entry for entry in history] == [False] + [True] * 13
    bounds = np.array([list(entry["bound"].values()) for entry in history[1:]])
    logliks = np.array([list(entry["loglik"].values()) for entry in history[1:]])
    assert (bounds < logliks).all()
    first, hmm = bounds[:9], bounds[9:]
    assert np.diff(first, axis=0).min() >= -1e-6 * abs(first).max()
    assert (first[-1] > first[0]).all() and (hmm[-1] > hmm[0]).all()


def test_only_likelihood_has_a_bound():
    """What agrees or is projected raises something else."""
    some = generated().part(0, 40)
    for name in ("agree", "shmm", "bhmm"):
        recipe = recipe_of(name, ibm1_iterations=3, hmm_iterations=2, iterations=2, dirichlet=0.1)
        model = train(some, recipe)
        stages = [stage for _ in recipe.views for stage in recipe.schedule]
        for n, (stage, entry) in enumerate(zip(stages, model.history, strict=True)):
            first = n % len(recipe.schedule) == 0
            assert ("bound" in entry) == (stage.objective == "likelihood" and not first)


@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 0.01])
@pytest.mark.parametrize("name", ["ibm1", "hmm", "agree"])
def test_a_prior_of_few_translations_leaves_counts_that_are_counts(monkeypatch, name, alpha):
    """Tables with probabilities near the least that a float has: no count is negative or without end."""
    some = generated().part(0, 60)

    def checked(m, counts, *rule, **more):
        for array in (counts.pairs, counts.null_fwd, counts.null_rev):
            assert array.min() >= 0 and array.max() <= 1.001 * len(some.tgt.ids) * ONE
        return update(m, counts, *rule, **more)

    monkeypatch.setattr("aligner.training.iteration.update", checked)
    recipe = recipe_of(name, iterations=4, ibm1_iterations=4, views=["word"], dirichlet=alpha)
    for entry in train(some, recipe).history:
        assert np.isfinite(list(entry["loglik"].values())).all()

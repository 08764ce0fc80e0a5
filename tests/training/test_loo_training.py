"""Training the leave-one-out HMM as a whole: against a slow twin, and what must not matter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import oracle
import pytest
from leaving import MOST, Left, twice, unpacked
from problems import places_of
from trained import arrays, assert_same_arrays, links_of

from aligner import Corpus, DataError, LinkReader, Links, Model, Recipe, threads, train
from aligner.decoding.combine import Decision, combine
from aligner.decoding.threshold import UNKNOWN, of_shares
from aligner.links.known import SURE, known_of
from aligner.models.jumps import Jumps
from aligner.models.shares import CUTOFF, Shares
from aligner.models.update import totals_size
from aligner.text import cells
from aligner.text.cells import Seen
from aligner.text.corpus import pair_keys
from aligner.text.known import Constraints
from aligner.text.views import see
from aligner.training.development import Development
from aligner.training.loop import PAIR, SHARE, learn

CONSTRAINTS = ("none", "symmetric", "bijective")
VIEWS = ("word", "stem3", "prefix2/word")


def short(constraint: str = "symmetric", views=VIEWS, **given: Any) -> Recipe:
    """Two iterations of Model 1, two without projection, two of the model."""
    given = {"ibm1_iterations": 2, "hmm_iterations": 2, "iterations": 2} | given
    return Recipe.of("loo", constraint=constraint, views=views, **given)


def assert_same_links(one: list[Links], other: list[Links]) -> None:
    for a, b in zip(one, other, strict=True):
        for name in ("offsets", "src", "tgt", "scores"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def cells_of(shares: Shares, n: int, n_cells: int) -> np.ndarray:
    """The cells of sentence pair n of unsorted shares, as whole numbers of 1 / MOST."""
    return unpacked(shares.entries[shares.offsets[n] : shares.offsets[n + 1]], n_cells)


# A slow twin of whole trainings


def words_of(corpus: Corpus, view: str) -> list:
    """The word ids of each sentence pair, as a view sees them."""
    seen = see(corpus, view)
    cut = [np.split(side.ids, side.offsets[1:-1]) for side in (seen.src, seen.tgt)]
    return [(src.tolist(), tgt.tolist()) for src, tgt in zip(*cut, strict=True)]


def even_emissions(views: list, n: int) -> list:
    """Emissions before the first iteration, where all words that stand beside a word are equally likely."""
    found = []
    for pairs in views:
        src, tgt = pairs[n]
        beside = {(e, f) for one in pairs for e in one[0] for f in one[1]}
        width = [np.bincount([pair[k] for pair in beside]) for k in range(2)]
        both = [
            np.array([[1 / width[0][e]] * len(tgt) for e in src]),
            np.array([1 / width[1][tgt]] * len(src)),
        ]
        nulls = [np.full(len(words), 1 / len(width[k])) for k, words in ((1, tgt), (0, src))]
        found.append([(emit + 1e-6, null + 1e-6) for emit, null in zip(both, nulls, strict=True)])
    return [
        tuple(np.prod([view[d][k] for view in found], axis=0) ** (1 / len(found)) for k in range(2))
        for d in range(2)
    ]


def slowly_trained(corpus: Corpus, recipe: Recipe) -> Left:
    """The expected links and jumps after a recipe's iterations, which have no projection."""
    leaving, views = recipe.last.leaving, [words_of(corpus, view) for view in recipe.views]
    values = [np.zeros((len(src), len(tgt))) for src, tgt in views[0]]
    problem = Left(views, values, leaving.left_out, leaving.smoothing, Jumps.even(recipe.window, recipe.p0))
    for iteration in range(len(recipe.schedule)):
        places, found, jumps = problem.positions, [], np.zeros((2, problem.positions.n_counts))
        for n in range(len(problem)):
            emissions = problem.emissions(n) if iteration else even_emissions(views, n)
            q = np.zeros(problem.values[n].shape)
            for d, (emit, null) in enumerate(emissions):
                one = oracle.dense_hmm(emit.T if d == 0 else emit, null, *places_of(places, d))
                q += (one["gamma"].T if d == 0 else one["gamma"]) / 2
                jumps[d] += [*one["jumps"], *one["firsts"], *one["lasts"]]
            assert np.abs(q - CUTOFF).min() > 1e-6  # no rounding decides
            found.append(np.where(q > CUTOFF, np.round(q * MOST), 0).astype(np.int64))
        if iteration == 0:  # later iterations keep the jumps
            cuts = np.cumsum([places.jump.shape[1], places.first.shape[1]])
            tables = [x**leaving.evenness for x in np.split(jumps, cuts, axis=1)]
            jump, first, last = (np.maximum(x / x.sum(axis=1, keepdims=True), 1e-6) for x in tables)
            problem = replace(problem, positions=Jumps(jump, first, places.p0, last))
        problem = replace(problem, values=found)
    return problem


PAIRS = [
    ("the cat sees the dog", "le chat voit le chien"), ("the dog", "le chien"), ("a cat", "un chat"),
    ("the dog", "le chien"), ("dogs see cats", "les chiens voient les chats"), ("a a cat", "un chat un"),
]  # fmt: skip


@pytest.mark.parametrize("left_out", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("views", [("word",), ("word", "prefix2"), ("word", "prefix1", "prefix2/word")])
def test_training_equals_slow_twin(views, left_out):
    """Some sentence pairs are there twice, some words more than once in a sentence."""
    corpus = Corpus.from_pairs(PAIRS)
    recipe = Recipe.of(
        "loo", constraint="none", views=views, ibm1_iterations=0, hmm_iterations=3, iterations=1, identical=1,
        left_out=left_out, smoothing=0.5, evenness=0.6, spelling=0.0, window=3,
    )  # fmt: skip
    unsorted = []
    model = learn(corpus, recipe, checkpoint=lambda m: unsorted.append(m.shares))[0]
    truth = slowly_trained(corpus, recipe)
    assert [shares is None for shares in unsorted] == [False] * 4
    for n, values in enumerate(truth.values):
        found = cells_of(unsorted[-1], n, values.size)
        np.testing.assert_allclose(found, values.ravel(), rtol=0, atol=15)
    for v, view in enumerate(model.views):
        m, seen = view.parameters.lexicon, Seen.of_own_words(corpus, view.name, 1)
        wanted = truth.lexicon(v, seen)
        for name in ("t", "null_fwd", "null_rev"):
            np.testing.assert_allclose(getattr(m, name), getattr(wanted, name), rtol=2e-3, atol=1e-5)
        for name in ("src", "tgt", "nulls", "kappa", "words", "alpha"):
            one, other = getattr(m.evidence, name), getattr(wanted.evidence, name)
            np.testing.assert_allclose(one, other, rtol=1e-3, err_msg=name)
        np.testing.assert_array_equal(m.evidence.linked, wanted.evidence.linked)
        for name in ("jump", "first", "last"):
            one, other = (getattr(x, name) for x in (view.parameters.positions, truth.positions))
            np.testing.assert_allclose(one, other, rtol=1e-4, err_msg=name)
    decoded = links_of(model, corpus)
    for n in range(len(corpus)):
        for d, (emit, null) in enumerate(truth.emissions(n)):
            places, links = truth.positions, decoded[d].part(n, n + 1)
            one = oracle.dense_hmm(emit.T if d == 0 else emit, null, *places_of(places, d))
            grid = np.zeros(emit.shape)
            grid[links.src, links.tgt] = links.scores
            np.testing.assert_allclose(grid, one["gamma"].T if d == 0 else one["gamma"], rtol=0, atol=1.1e-3)


# What must not matter


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_threads_change_no_bit(some, constraint, monkeypatch):
    monkeypatch.setattr(threads, "CELLS", 1)
    for views in (("stem5",), VIEWS):
        recipe = short(constraint, views)
        one, seen = learn(some, recipe, memory=1 << 30)
        for n_threads in (2, 3):
            many, sights = learn(some, recipe, n_threads=n_threads, memory=1 << 30)
            assert_same_arrays(one, many)
            assert one.history == many.history
            for viterbi in (False, True):
                ours = links_of(one, some, seen=seen, viterbi=viterbi)
                theirs = links_of(many, some, seen=sights, viterbi=viterbi, n_threads=n_threads)
                assert_same_links(ours, theirs)


@pytest.mark.parametrize("shard, scored", [(1, 1), (1 << 22, 500), (700, 1 << 20), (3000, 2999)])
def test_shards_change_no_bit(some, monkeypatch, shard, scored):
    whole, seen = learn(some, short(), memory=1 << 30)
    links = links_of(whole, some, seen=seen)
    monkeypatch.setattr(threads, "CELLS", 1)
    monkeypatch.setattr(cells, "LARGEST", shard)
    monkeypatch.setattr(cells, "SCORED_CELLS", scored)
    for n_threads, memory in ((1, 1 << 30), (3, 0)):
        model, seen = learn(some, short(), memory=memory, n_threads=n_threads)
        assert_same_arrays(whole, model)
        assert model.history == whole.history
        assert_same_links(links_of(model, some, seen=seen), links)
        assert_same_links(links_of(model, some), links)


@pytest.mark.parametrize("kept", [0, 0.5, 1])
def test_kept_or_looked_up_cells_change_no_bit(some, kept):
    """No cells, some of each view, and all cells are kept."""
    whole, all_seen = learn(some, short(), memory=1 << 30)
    n_tokens = len(some.src.ids) + len(some.tgt.ids)
    text, pairs = (4 + SHARE) * n_tokens + 24 * len(some), [PAIR * len(sight.tgt) for sight in all_seen]
    text += totals_size(len(some.tgt.vocab), 1)
    cells = sum(sight.cells.nbytes for sight in all_seen)
    memory = int(text + 3 * max(pairs) + kept * cells) if kept else 0
    model, seen = learn(some, short(), memory=memory)
    assert text + sum(pairs) + sum(sight.cells.nbytes for sight in seen) <= memory or not kept
    shares = [len(sight.cells) / sight.n_cells for sight in seen]
    assert {0: max(shares) == 0, 1: min(shares) == 1}.get(kept, 0 < max(shares) and min(shares) < 1)
    assert_same_arrays(whole, model)
    assert_same_links(links_of(model, some, seen=seen), links_of(whole, some))


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("views", [("stem5",), VIEWS])
def test_a_saved_model_aligns_as_training_does(some, tmp_path, constraint, views):
    """Word pairs whose probabilities are 0 are not in the file."""
    model, seen = learn(some, short(constraint, views))
    model.save(tmp_path / "m")
    loaded = Model.load(tmp_path / "m", check=True)
    for one, other in zip(model.views, loaded.views, strict=True):
        a, b = one.parameters.lexicon, other.parameters.lexicon
        assert 0 < len(b.tgt) == a.t.any(axis=1).sum() < len(a.tgt)
        assert a.evidence.linked is not None and b.evidence.linked is None and b.t.all()
        for name, value in vars(replace(a.evidence, linked=None)).items():
            np.testing.assert_array_equal(getattr(b.evidence, name), value)
    truth = links_of(model, some, seen=seen)
    assert_same_links(links_of(loaded, some), truth)
    assert_same_links(links_of(model, some), truth)
    for viterbi in (False, True):
        ours, theirs = (links_of(m, some, viterbi=viterbi, project="none") for m in (model, loaded))
        assert_same_links(ours, theirs)
    wanted = combine(*truth, Decision(0.01))
    for one in (model, loaded):
        assert_same_links([one.align(some, threshold=0.01)], [wanted])
    blind = combine(*links_of(model, some, shares=None), Decision(0.01))
    assert blind.pairs() != wanted.pairs() and len(wanted.src) > 300


def test_own_shares_are_left_out_by_what_a_sentence_pair_says(some):
    """In another order, cut in two, or among others, a sentence pair has the links of the training."""
    model = train(some, short("none"))
    truth = model.align(some).pairs()
    order = np.random.default_rng(0).permutation(60)
    moved = Corpus.from_pairs([(some.src.sentence(n), some.tgt.sentence(n)) for n in order])
    assert model.align(moved).pairs() == [truth[n] for n in order]
    assert model.align(some.part(7, 20)).pairs() == truth[7:20]
    without = links_of(model, some, shares=None)
    ours = links_of(model, some)
    assert not np.array_equal(without[0].scores, ours[0].scores)
    new = Corpus.from_pairs([([*some.src.sentence(n), "."], some.tgt.sentence(n)) for n in range(60)])
    assert_same_links(links_of(model, new), links_of(model, new, shares=None))  # was not counted


def test_nothing_left_out_needs_no_shares(some):
    model = train(some, short("symmetric", left_out=0.0))
    assert_same_links(links_of(model, some), links_of(model, some, shares=None))


@pytest.mark.parametrize("left_out", [0.98, 1.0])
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_equal_sentence_pairs_have_equal_shares_and_links(some, constraint, left_out):
    double = twice(some.part(0, 40))
    unsorted = []
    model = learn(
        double, short(constraint, left_out=left_out), checkpoint=lambda m: unsorted.append(m.shares)
    )[0]
    for shares in unsorted[6:]:
        lengths = np.diff(shares.offsets)
        np.testing.assert_array_equal(lengths[:40], lengths[40:])
        first = shares.offsets[40]
        np.testing.assert_array_equal(shares.entries[:first], shares.entries[first:])
    distinct = len(set(pair_keys(double).tolist()))
    assert distinct <= 40 and len(model.shares.keys) == distinct
    for links in links_of(model, double):
        assert_same_links([links.part(0, 40)], [links.part(40, 80)])
    whole = unsorted[-1].of_all(left_out)
    own = model.shares.of(double, left_out)
    for n in range(80):
        a, b = (x.entries[x.start[n] : x.stop[n]] for x in (whole, own))
        np.testing.assert_array_equal(a, b)


def test_a_rare_word_sees_its_twin_and_not_itself():
    """qq and rr stand in one sentence pair: without a twin, the others know nothing of them."""
    base = [("a b c", "x y z"), ("b a", "y x"), ("c a", "z x"), ("b c", "y z")] * 3
    rare = ("a qq b", "x y rr")
    grids = []
    for pairs in ([*base, rare], [*base, rare, rare]):
        model = train(pairs, Recipe.of("loo", constraint="none", views=["word"], left_out=1.0, smoothing=0.1))
        forward = links_of(model, Corpus.from_pairs(pairs))[0].part(len(base), len(base) + 1)
        grid = np.zeros((3, 3))
        grid[forward.src, forward.tgt] = forward.scores
        grids.append(grid)
    assert grids[1][1, 2] > 0.9 and grids[1][1, 2] > grids[0][1, 2] + 0.02


# Where training begins, and where it is left


@pytest.mark.parametrize(
    "constraint, views", [("symmetric", VIEWS), ("none", ("stem5",)), ("bijective", VIEWS)]
)
def test_training_goes_on_from_any_iteration_to_the_same_bits(some, tmp_path, constraint, views):
    recipe, paths = short(constraint, views), []

    def save(model: Model) -> None:
        paths.append(tmp_path / f"{len(paths)}")
        model.save(paths[-1])

    whole = learn(some, recipe, checkpoint=save)[0]
    assert len(paths) == len(whole.history) == 2 * len(views) + 4
    names = [entry["view"] for entry in whole.history]
    assert names[-4:] == ["+".join(view.name for view in whole.views)] * 4
    for path in paths:
        left = Model.load(path)
        with pytest.raises(DataError, match="is not finished"):
            left.align(some)
        model = learn(some, recipe, resume=left)[0]
        assert_same_arrays(whole, model)
        assert model.history == whole.history and model.progress is None and not model.unfinished
        assert model.facts == whole.facts and 0 < model.threshold == whole.threshold < 1
    assert_same_arrays(train(some, recipe), whole)


def test_a_finished_model_is_taken_up_as_it_is(some, tmp_path):
    """Its file lacks word pairs of the text: what was seen of the text does not fit, and is not returned."""
    recipe = short("none")
    whole, seen = learn(some, recipe)
    assert None not in seen
    whole.save(tmp_path / "m")
    for finished in (whole, Model.load(tmp_path / "m")):
        model, sights = learn(some, recipe, resume=finished)
        assert sights == [None] * 3 and model.facts == whole.facts and model.history == whole.history
        assert_same_links(links_of(model, some, seen=sights), links_of(whole, some, seen=seen))
        assert_same_arrays(model, finished)


def test_going_on_says_how_far_training_is(some):
    said = []
    learn(some, short("none", ("word", "prefix3")), checkpoint=lambda m: said.append(m.unfinished))
    assert said[:4] == [f"view {n} of 2, iteration {k} of 2" for n in (1, 2) for k in (1, 2)]
    assert said[4:] == [f"all views together, iteration {k} of 6" for k in (3, 4, 5, 6)]


@pytest.mark.parametrize("name", ["ibm1", "shmm", "loo"])
def test_training_may_begin_with_another_model(some, tmp_path, name):
    """With its lexicons and jumps; neither its evidence nor its shares are used, nor is it changed."""
    views = ("word", "prefix3")
    first = train(some, Recipe.of(name, views=views))
    before = {key: x.copy() for key, x in arrays(first).items()}
    recipe = short("symmetric", views, ibm1_iterations=0)
    shares = []
    model = learn(some, recipe, init=first, checkpoint=lambda m: shares.append(m.shares))[0]
    assert len(shares) == 4 and all(x is not None for x in shares)
    plain = [
        replace(v, parameters=replace(v.parameters, lexicon=replace(v.parameters.lexicon, evidence=None)))
        for v in first.views
    ]
    assert_same_arrays(model, train(some, recipe, init=replace(first, views=plain, shares=None)))
    first.save(tmp_path / "m")
    again = train(some, recipe, init=Model.load(tmp_path / "m"))
    assert_same_arrays(model, again)
    for key, x in arrays(first).items():
        np.testing.assert_array_equal(x, before[key], err_msg=key)
    anew = train(some, recipe)
    for direction, value in model.history[0]["loglik"].items():
        assert value > anew.history[0]["loglik"][direction] + 100
    other = train(some, Recipe.of("hmm", ibm1_iterations=0, iterations=1, views=views), init=model)
    assert other.shares is None and other.views[0].parameters.lexicon.evidence is None


def test_a_loo_model_may_have_no_iterations(some):
    """It is then what Model 1 taught, in one lattice of all views."""
    model = train(some, short("none", hmm_iterations=0, iterations=0))
    assert model.shares is None and len(model.history) == 6
    assert all(view.parameters.lexicon.evidence is None for view in model.views)
    assert sum(map(len, model.align(some).pairs())) > 100


def test_views_share_one_lattice_and_jumps_are_learned_once(some):
    jumps = []

    def keep(model: Model) -> None:
        jumps.append(
            [None if v.parameters.positions is None else v.parameters.positions.copied() for v in model.views]
        )

    model = learn(some, short("symmetric", hmm_iterations=3), checkpoint=keep)[0]
    assert jumps[5] == [None] * 3
    for later in jumps[6:]:
        for places in later:
            np.testing.assert_array_equal(places.jump, jumps[6][0].jump)
            np.testing.assert_array_equal(places.first, jumps[6][0].first)
    assert np.ptp(jumps[6][0].jump) > 0.1  # they were learned
    assert np.ptp(train(some, short(evenness=0.0)).views[0].parameters.positions.jump) < 1e-12
    assert len({id(view.parameters.positions) for view in model.views}) == 1


def test_a_development_set_stops_training(some, data, monkeypatch):
    """The iteration that does not help is not kept: lexicons, evidence and shares are those before it."""
    gold = LinkReader(str(data / "generated.gold")).read().part(0, 60)
    dev = Development(some, gold)
    plain = train(some, short())
    with_shares, without = (dev.area(plain.views, plain.recipe, x, 1) for x in (plain.shares, None))
    assert 0.3 < with_shares < 1 and 0.3 < without < 1 and with_shares != without
    assert dev.area(plain.views, plain.recipe, plain.shares, 3) == with_shares
    monkeypatch.setattr(Development, "area", lambda *_: 0.5)
    model = train(some, short(iterations=7), development=dev)
    assert [entry.get("area") for entry in model.history][-4:] == [None, None, 0.5, 0.5]
    assert_same_arrays(model, train(some, short(iterations=1)))


# The threshold


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_training_finds_a_threshold(some, tmp_path, constraint):
    """Of the last iteration's shares, to six digits. The recipe and the signature do not have it."""
    model = train(some, short(constraint))
    assert model.recipe.threshold is None and "|threshold:auto|" in model.signature
    assert model.facts["threshold"] == round(of_shares(model.shares), 6) == model.threshold
    assert 0.1 < model.threshold < 0.7
    wanted = combine(*links_of(model, some), Decision(model.threshold))
    assert_same_links([model.align(some)], [wanted])
    assert model.align(some).pairs() != model.align(some, threshold=0.9).pairs()
    model.save(tmp_path / "m")
    loaded = Model.load(tmp_path / "m")
    assert loaded.threshold == model.threshold and loaded.recipe.threshold is None
    assert_same_links([loaded.align(some)], [wanted])


def test_a_threshold_that_is_given_is_kept(some):
    model = train(some, short(threshold=0.3))
    assert model.threshold == model.recipe.threshold == 0.3 and "threshold" not in model.facts
    assert "|threshold:0.3|" in model.signature
    assert_same_links([model.align(some)], [train(some, short()).align(some, threshold=0.3)])


@pytest.mark.parametrize("pairs", [[], [("", "")], [("a", ""), ("", "b")]])
def test_the_threshold_of_a_model_without_links(pairs):
    assert train(pairs, short()).threshold == 0.4


def test_the_threshold_of_a_model_without_iterations(some):
    assert train(some, short(hmm_iterations=0, iterations=0)).threshold == 0.4


# Texts and links of all kinds


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_words_that_do_not_occur_do_not_matter(some, constraint):
    """The vocabulary is of a longer text, or words stand in sentence pairs that have one side only.

    Model 1 begins with all words of the vocabulary, so training begins with another model here.
    """
    pairs = [(some.src.sentence(n), some.tgt.sentence(n)) for n in range(60)]
    own = Corpus.from_pairs(pairs)
    holes = Corpus.from_pairs([("nobody says this", ""), *pairs, ("", "ni cela")])
    assert len(own.src.vocab) < len(holes.src.vocab) < len(some.src.vocab) / 9
    views = ("word", "prefix3")
    recipe = short(constraint, views, ibm1_iterations=0)
    first = train(own, Recipe.of("ibm1", views=views))
    wanted = train(own, recipe, init=first)
    links = links_of(wanted, own)
    for corpus, begin in ((some, 0), (holes, 1)):
        model = train(corpus, recipe, init=first)
        found = [x.part(begin, begin + 60) for x in links_of(model, corpus)]
        assert_same_links(found, links)
        assert model.threshold == wanted.threshold
        for ours, theirs in zip(model.views, wanted.views, strict=True):
            one, other = (x.parameters.lexicon for x in (ours, theirs))
            for name in ("words", "kappa", "nulls", "alpha"):
                assert getattr(one.evidence, name) == getattr(other.evidence, name), name
            assert one.evidence.words == (len(theirs.src), len(theirs.tgt))
            src, tgt = ours.src.find(theirs.src.words), ours.tgt.find(theirs.tgt.words)
            for a, b, ids in (
                (one.null_rev, other.null_rev, src), (one.evidence.src, other.evidence.src, src),
                (one.null_fwd, other.null_fwd, tgt), (one.evidence.tgt, other.evidence.tgt, tgt),
            ):  # fmt: skip
                np.testing.assert_array_equal(a[ids], b)
            assert {tuple(x) for x in one.t.tolist()} == {tuple(x) for x in other.t.tolist()}


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_given_and_excluded_links_are_kept(some, constraint):
    """Wrong links are given and right ones excluded: in training, in its shares and in decoding."""
    recipe, lengths = short(constraint), (some.src.lengths, some.tgt.lengths)
    found = train(some, recipe).align(some)
    given, excluded = [], []
    for n, links in enumerate(found.pairs()):
        free = [(0, int(lengths[1][n]) - 1), (int(lengths[0][n]) - 1, 0)]
        given.append([link for link in free[: 1 + n % 2] if link not in links] if n % 3 else [])
        excluded.append([link for link in links[:2] if link not in given[-1]])
    flat = [
        (n, *link, weight)
        for n in range(60)
        for weight, part in ((SURE, given), (0.0, excluded))
        for link in part[n]
    ]
    sentence, src, tgt, weight = (np.array(x) for x in zip(*flat, strict=True))
    offsets = np.cumsum([0, *np.bincount(sentence, minlength=60)], dtype=np.int64)
    known = Links(offsets, src.astype(np.int32), tgt.astype(np.int32), scores=weight)
    unsorted = []
    model = learn(some, recipe, links=known, checkpoint=lambda m: unsorted.append(m.shares))[0]
    aligned = model.align(some, links=known).pairs()
    assert sum(map(len, given)) > 30 and sum(map(len, excluded)) > 100
    for n in range(60):
        assert set(given[n]) <= set(aligned[n]) and not set(excluded[n]) & set(aligned[n])
        shape = int(lengths[0][n]), int(lengths[1][n])
        q = cells_of(unsorted[-1], n, shape[0] * shape[1]).reshape(shape) / MOST
        assert all(q[link] == 0 for link in excluded[n])
        if constraint != "bijective" or len(given[n]) < 2:
            assert all(q[link] > 0.9 for link in given[n])
    whole = known_of(known, None, some)
    assert_same_links(links_of(model, some, known=whole), links_of(model, some, known=whole, n_threads=3))


def test_constraints_hold_in_training_and_decoding(some):
    lists = [[([("forward", 0, 0, 1.0), ("reverse", 0, 0, 1.0)], "<=", 0.2)] for _ in range(60)]
    constraints = Constraints.of(lists)
    unsorted = []
    model = learn(
        some, short("none"), constraints=constraints, checkpoint=lambda m: unsorted.append(m.shares)
    )[0]
    first = [cells_of(unsorted[-1], n, 10_000)[0] / MOST for n in range(60)]
    assert max(first) < 0.12
    links = model.align(some, constraints=constraints, threshold=0.11)
    assert not any((0, 0) in part for part in links.pairs())
    assert any((0, 0) in part for part in model.align(some).pairs())


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_empty_sides_are_kept_and_not_counted(some, constraint):
    pairs = [(some.src.sentence(n), some.tgt.sentence(n)) for n in range(30)]
    holes = [("", ""), *pairs[:10], (pairs[0][0], ""), *pairs[10:], ("", pairs[3][1]), ("", "")]
    with_holes, without = Corpus.from_pairs(holes), Corpus.from_pairs(pairs)
    recipe = short(constraint, ("word", "prefix3"))
    one, other = train(with_holes, recipe), train(without, recipe)
    ours, theirs = arrays(one), arrays(other)
    for name in ours:
        if not name.startswith("shares"):
            np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    found = one.align(with_holes).pairs()
    kept = [n for n, (src, tgt) in enumerate(holes) if src and tgt]
    assert [found[n] for n in kept] == other.align(without).pairs()
    assert not any(found[n] for n in set(range(len(holes))) - set(kept))


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("pairs", [[("", "")], [("a", ""), ("", "b")], [("a", "b")], [("a b a", "x y")] * 2])
def test_tiny_corpora(pairs, constraint, tmp_path):
    for left_out in (0.98, 1.0):
        model = train(pairs, short(constraint, ("word", "prefix1"), left_out=left_out))
        for name, x in arrays(model).items():
            assert np.isfinite(x.astype(np.float64)).all(), name
        links = links_of(model, Corpus.from_pairs(pairs))
        assert [len(x) for x in links] == [len(pairs)] * 2
        path = tmp_path / f"{left_out}"
        model.save(path)
        assert_same_links(links_of(Model.load(path), Corpus.from_pairs(pairs)), links)


def test_one_sentence_pair_is_aligned_by_order_alone():
    """All of it left out, nobody has seen its words: links are those of emissions that are all the same."""
    pair = ("a b a d e", "v w x y v z")
    model = train([pair], Recipe.of("loo", constraint="none", views=["word"], left_out=1.0, smoothing=1.0))
    assert np.ptp(arrays(model)["word t"][:, 0]) > 0.05  # of the counts it is not so
    places, V = model.views[0].parameters.positions, (4, 5)
    for d, links in enumerate(links_of(model, Corpus.from_pairs([pair]))):
        grid = np.zeros((5, 6))
        grid[links.src, links.tgt] = links.scores
        J, I = (6, 5) if d == 0 else (5, 6)
        even = np.full((J, I), 1 / V[1 - d])
        truth = oracle.dense_hmm(even, even[:, 0], *places_of(places, d))["gamma"]
        np.testing.assert_allclose(grid, truth.T if d == 0 else truth, rtol=0, atol=1.1e-3)


def test_an_empty_corpus():
    model = train([], short())
    assert model.threshold == UNKNOWN
    assert model.align([("a", "b")]).pairs() == [[]]


@pytest.mark.parametrize(
    "pair, links",
    [(("yes .", "oui ."), [(0, 0), (1, 1)]), (("a b", "a b"), [(0, 0), (1, 1)]), (("a a a", "a"), [(0, 0)])],
)
def test_the_threshold_is_between_scores(pair, links):
    """Scores of the last iteration are not those of decoding: what lies far above the gap is taken."""
    found = train([pair] * 100, Recipe.of()).align([pair]).pairs()[0]
    assert set(links) <= set(found)


def test_long_sentence_pairs_are_left_out_of_training(some):
    """They were not counted, and are aligned by all that the others say."""
    recipe = short("symmetric", max_length=10)
    keep = np.maximum(some.src.lengths, some.tgt.lengths) <= 10
    assert 10 < keep.sum() < 50
    model, seen = learn(some, recipe)
    assert seen == [None] * 3 and len(model.shares.keys) == len(set(pair_keys(some.select(keep)).tolist()))
    assert_same_arrays(model, train(some.select(keep), recipe))
    for ours, whole in zip(links_of(model, some), links_of(model, some, shares=None), strict=True):
        for n in range(60):
            a, b = ours.part(n, n + 1), whole.part(n, n + 1)
            assert np.array_equal(a.scores, b.scores) == (not keep[n])


def test_projections_and_their_absence(some):
    models = {x: train(some, short(x, ("word",))) for x in CONSTRAINTS}
    assert [m.history[-1]["model"] for m in models.values()] == ["loo"] * 3
    assert "kl" not in models["none"].history[-1] and "kl" in models["symmetric"].history[-1]

    def grids(model: Model) -> list[np.ndarray]:
        found = [np.zeros((60, 80, 80)) for _ in range(2)]
        for grid, links in zip(found, links_of(model, some), strict=True):
            grid[links.sentences, links.src, links.tgt] = links.scores
        return found

    apart = {x: np.abs(np.subtract(*grids(m))).sum() / grids(m)[0].sum() for x, m in models.items()}
    assert apart["symmetric"] < 0.12 < 0.25 < apart["none"]
    assert grids(models["bijective"])[0].sum(axis=2).max() < 1.1 < grids(models["none"])[0].sum(axis=2).max()
    for wrong in ({"constraint": "agreement"}, {"direction": "forward"}, {"left_out": 1.1}, {"smoothing": 0}):
        with pytest.raises(ValueError):
            Recipe.of("loo", **wrong)
    with pytest.raises(ValueError, match="does not use constraint"):
        Recipe.of("shmm", constraint="none")

"""Learning from labelled sentences: nothing of held-out parts leaks; gold that teaches nothing is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from gold import gold_links
from trained import GOLD, SRC, TGT, recipe_of

from aligner import Corpus, DataError, LinkReader, Links, Model, evaluate, learn_combiner, read_corpus, train
from aligner.learning.combiner import score
from aligner.learning.learn import FEW, PENALTY, PENALTY_OF_FEW, Fit, How, Labelled, least_expected_aer, parts


@pytest.fixture(scope="module")
def sample() -> Corpus:
    return read_corpus(str(SRC), str(TGT))


@pytest.fixture(scope="module")
def gold() -> Links:
    return LinkReader(str(GOLD)).read()


@pytest.fixture(scope="module")
def model(sample) -> Model:
    return train(sample, recipe_of("loo", ibm1_iterations=2, views=["word", "prefix3"]))


@pytest.fixture(scope="module")
def labelled(model, sample, gold) -> Labelled:
    return Labelled.of(model, sample, gold, 1)


# Parts


@pytest.mark.parametrize("n, k", [(60, 5), (61, 5), (3, 5), (0, 2), (1, 100), (1000, 7)])
def test_parts_are_balanced_and_always_the_same(n, k):
    found = parts(n, k)
    sizes = np.bincount(found, minlength=k)
    assert len(found) == n and len(sizes) == k and sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(parts(n, k), found)


def test_parts_are_at_random():
    """Neighbours, which are often of one document, are in different parts."""
    found = parts(1000, 5)
    assert 0.1 < (found[1:] == found[:-1]).mean() < 0.3


# Labels


def test_labels_are_those_of_the_gold(labelled, gold):
    these = labelled.these
    cells = zip(these.sentences.tolist(), these.src.tolist(), these.tgt.tolist(), strict=True)
    at = zip(gold.sentences.tolist(), gold.src.tolist(), gold.tgt.tolist(), strict=True)
    sure = dict(zip(at, gold.sure.tolist(), strict=True))
    assert labelled.n_classes == 3
    assert labelled.labels.tolist() == [1 + sure[cell] if cell in sure else 0 for cell in cells]


def test_without_possible_links_there_are_two_classes(model, sample, gold):
    for one in (replace(gold, sure=None), replace(gold, sure=np.ones_like(gold.sure))):
        found = Labelled.of(model, sample, one, 1)
        assert found.n_classes == 2 and set(found.labels.tolist()) == {0, 1}
        assert set(found._of(np.ones(60, bool))[2].tolist()) == {0, 2}  # as structures are told
    only = gold.chosen(gold.sure == 1)
    found = Labelled.of(model, sample, only, 1)
    assert found.n_classes == 2


# Held-out parts


def with_labels(labelled: Labelled, labels: np.ndarray) -> Labelled:
    return replace(labelled, labels=labels.astype(np.int32))


def learned(labelled: Labelled, how: How, monkeypatch) -> tuple[list[np.ndarray], np.ndarray]:
    """What second passes are told of first ones, [n] each, and cross-validated probabilities."""
    told: list[np.ndarray] = []
    more = Labelled._more

    def keep(self, scores, n_threads):
        told.append(scores.copy())
        return more(self, scores, n_threads)

    with monkeypatch.context() as patch:
        patch.setattr(Labelled, "_more", keep)
        p = labelled.learn(how, 1)[2]
    return told, p


@pytest.mark.parametrize("passes", [1, 2])
def test_labels_of_a_part_say_nothing_of_it(labelled, monkeypatch, passes):
    """Neither in cross-validation, nor where a second pass is told what the first one says."""
    how = How(passes=passes, folds=3).of(FEW)
    told, p = learned(labelled, how, monkeypatch)
    assert len(told) == (0 if passes == 1 else 3 + 3 + 1)
    part = parts(len(labelled.corpus), 3)[labelled.these.sentences]
    for k in range(3):
        here = part == k
        labels = np.where(here, 2 - labelled.labels, labelled.labels)
        told_again, q = learned(with_labels(labelled, labels), how, monkeypatch)
        np.testing.assert_array_equal(q[:, here], p[:, here])
        assert (q[:, ~here] != p[:, ~here]).any()
        for before, after in zip(told, told_again, strict=True):
            np.testing.assert_array_equal(after[here], before[here])


def test_no_pass_is_asked_of_what_it_has_learned(labelled, monkeypatch):
    """Each time that a classifier is asked, it has seen no candidate of the same sentence pairs."""
    seen: dict[int, np.ndarray] = {}
    fit, said = Labelled.fit, Fit.said
    asked = []

    def keep(self, x, which, how, n_threads):
        found = fit(self, x, which, how, n_threads)
        seen[id(found)] = which
        asked.append(found)  # so that no other one gets its id
        return found

    def check(self, x, which, n_threads):
        assert not (seen[id(self)] & which).any()
        return said(self, x, which, n_threads)

    monkeypatch.setattr(Labelled, "fit", keep)
    monkeypatch.setattr(Fit, "said", check)
    labelled.learn(How(folds=3, passes=2).of(FEW), 1)
    assert len(asked) == 1 + 3 + 3 + 1 + 3  # without none, one and two parts; second passes


def test_no_structure_is_asked_of_what_it_has_learned(labelled, monkeypatch):
    """Nor of what it has not learned in another order. Places among the cells tell candidates apart."""
    learned = []

    class Known:
        def __init__(self, these, x, labels, *given):
            self.cells = these.cells
            place = np.searchsorted(labelled.these.cells, self.cells)
            np.testing.assert_array_equal(x, labelled.x[:, place])
            np.testing.assert_array_equal(labels, labelled.labels[place])
            learned.append(len(self.cells))

        def chosen(self, these, x, n_threads):
            assert not np.isin(these.cells, self.cells).any()
            return these.cells % 3 == 0

    monkeypatch.setattr("aligner.learning.learn.fit_structured", Known)
    whole, chosen = labelled.learn_structured(How(structure="matching", folds=4).of(FEW), 1)
    np.testing.assert_array_equal(chosen, labelled.these.cells % 3 == 0)
    n = len(labelled.these)
    assert len(whole.cells) == n and sum(learned) == 3 * n + n


def aer_of(labelled: Labelled, chosen: np.ndarray) -> float:
    """Of candidates that are chosen, by the labels, which are sure or nothing."""
    right = (chosen & (labelled.labels > 0)).sum()
    return 1 - 2 * right / (chosen.sum() + (labelled.labels > 0).sum())


@pytest.mark.parametrize("passes", [1, 2])
def test_shuffled_labels_do_not_help(model, sample, gold, passes):
    """Labels at random: cross-validated links are no better than all candidates are, which is the best."""
    labelled = Labelled.of(model, sample.part(0, 12), replace(gold[:12], sure=None), 1)
    everything = np.ones(len(labelled.labels), bool)
    random = np.random.default_rng(1)
    gains = []
    for _ in range(3):
        one = with_labels(labelled, random.permutation(labelled.labels))
        first, _, p = one.learn(How(passes=passes, penalty=0.01, words=True).of(FEW), 1)
        held_out = aer_of(one, score(p) > least_expected_aer(score(p), p[-1].sum()))
        gains.append(aer_of(one, everything) - held_out)
        own = first.said(one.x, everything, 1)
        in_part = aer_of(one, score(own) > least_expected_aer(score(own), own[-1].sum()))
        assert in_part < held_out - 0.05  # these labels were learned by heart: a leak would show
    assert np.mean(gains) < 0.01, gains


def test_right_labels_help(labelled):
    """Cross-validated probabilities tell links from other candidates."""
    _, _, p = labelled.learn(How().of(FEW), 1)
    sure = p[-1][labelled.labels == 2]
    others = p[-1][labelled.labels == 0]
    np.testing.assert_allclose(p.sum(axis=0), 1, rtol=1e-9)
    assert np.median(sure) > 0.8 and np.median(others) < 0.2


# The whole


def test_learning_compares_with_the_model_alone(model, sample, gold, monkeypatch):
    found = learn_combiner(model, sample, gold)
    plain, with_combiner = found.compared.results
    alone = evaluate([model.align(sample)], gold).results[0]
    assert plain.scores == alone.scores and found.better == (
        with_combiner.scores["aer"] < plain.scores["aer"]
    )
    assert found.combiner.facts["pairs"] == 60
    assert len(found.combiner.passes) == 2 and len(found.combiner.indicators) > 0
    monkeypatch.setattr("aligner.learning.classifier.CELL", 1)  # the text is large enough for threads
    one, two = (learn_combiner(model, sample, gold, folds=2, n_threads=n).combiner for n in (1, 2))
    assert one.threshold == two.threshold
    for ours, other in zip(one.passes, two.passes, strict=True):
        np.testing.assert_array_equal(ours.weights, other.weights)


@pytest.mark.parametrize("held_out, recall", [(np.zeros, 0.0), (np.ones, 1.0)])
def test_structures_are_compared_by_what_was_held_out(model, sample, gold, monkeypatch, held_out, recall):
    """Not by links of what was learned from all sentence pairs."""

    def learned(self, how, n_threads):
        return None, held_out(len(self.these), bool)

    monkeypatch.setattr(Labelled, "learn_structured", learned)
    found = learn_combiner(model, sample, gold, structure="matching")
    assert found.compared.results[1].scores["recall"] == pytest.approx(recall, abs=0.02)


def test_few_sentences_are_learned_from_with_care(model, sample, gold):
    found = learn_combiner(model, sample.part(0, 30), gold[:30])
    assert found.combiner.facts["penalty"] == PENALTY_OF_FEW == How().of(FEW - 1).penalty
    assert How().of(FEW).penalty == PENALTY and How(penalty=3.0).of(1).penalty == 3.0
    with pytest.raises(DataError, match="19 sentence pairs are too few to learn from: 20 are needed"):
        learn_combiner(model, sample.part(0, 19), gold[:19])


@pytest.mark.parametrize("n", [1, 2, 6])
@pytest.mark.parametrize("structure", ["none", "matching"])
def test_any_number_of_sentences_can_be_forced(model, sample, gold, n, structure):
    """Also fewer than there are parts."""
    found = learn_combiner(model, sample.part(3, 3 + n), gold[3 : 3 + n], force=True, structure=structure)
    links = found.combiner.align(model, sample)
    assert len(links) == 60 and 0 <= found.combiner.threshold <= 1


def test_empty_sentences_say_nothing(model, sample, gold, caplog):
    pairs = [(sample.src.sentence(n), sample.tgt.sentence(n)) for n in range(30)]
    lists = [
        [*zip(one.src.tolist(), one.tgt.tolist(), one.sure.tolist(), strict=True)]
        for one in map(gold.part, range(30), range(1, 31))
    ]
    for place in (0, 7, 31):
        pairs.insert(place, ([], ["le"]) if place else ([], []))
        lists.insert(place, [])
    with_empty = gold_links(
        [({(i, j) for i, j, s in one if s}, {(i, j) for i, j, s in one if not s}) for one in lists]
    )
    found = learn_combiner(model, pairs, with_empty)
    assert found.combiner.facts["pairs"] == 33 and caplog.messages == []


def test_pairs_that_nobody_labelled_are_told(model, sample, gold, caplog):
    learn_combiner(model, sample.part(0, 30), gold[:30], folds=2, passes=1)
    assert caplog.messages == []
    learn_combiner(model, sample.part(0, 30), gold[:30].chosen(gold[:30].sentences < 20), folds=2, passes=1)
    assert [text.split(",")[0] for text in caplog.messages] == ["10 of 30 sentence pairs have no gold links"]


def test_a_pair_that_is_too_long_teaches_nothing(model, sample, gold, monkeypatch):
    """Its gold links are no links of the pairs after it."""
    monkeypatch.setattr("aligner.text.corpus.MOST_CELLS", 20 * 20)
    text = sample.part(0, 30)
    assert 0 < text.too_long.sum() < 30
    found = Labelled.of(model, text.bounded(), gold[:30], 1)
    inside = ~text.too_long[gold[:30].sentences]
    short = Labelled.of(model, text.bounded(), gold[:30].chosen(inside), 1)
    np.testing.assert_array_equal(found.labels, short.labels)
    assert learn_combiner(model, text, gold[:30]).combiner.facts["pairs"] == 30


BAD = [
    ({"gold": Links.from_pairs([[(0, 0)]] * 59)}, "the text has 60 sentence pairs, the gold has 59"),
    ({"gold": Links.from_pairs([[(0, 0)]] * 59 + [[(99, 0)]])}, "a gold link is outside its sentence pair"),
    ({"gold": Links.from_pairs([[]] * 60)}, "there are no sure links"),
    ({"gold": gold_links([(set(), {(0, 0)})] * 60)}, "there are no sure links"),
]


@pytest.mark.parametrize("change, message", BAD, ids=[message for _, message in BAD])
def test_gold_that_teaches_nothing_is_refused(model, sample, gold, change, message):
    with pytest.raises(DataError, match=message):
        learn_combiner(**{"model": model, "text": sample, "gold": gold} | change)


def candidates_by_pair(labelled: Labelled) -> list[list[list[int]]]:
    these = labelled.these
    cuts = zip(these.offsets[:-1].tolist(), these.offsets[1:].tolist(), strict=True)
    return [[these.src[a:b].tolist(), these.tgt[a:b].tolist()] for a, b in cuts]


def test_gold_that_the_model_finds_unlikely_is_refused(model, sample, labelled):
    """As that of another text, or of sides in the other order."""
    likely = [set(zip(*one, strict=True)) for one in candidates_by_pair(labelled)]
    lengths = zip(sample.src.lengths.tolist(), sample.tgt.lengths.tolist(), strict=True)
    far = [sorted(set(np.ndindex(shape)) - known)[:1] for shape, known in zip(lengths, likely, strict=True)]
    assert sum(map(len, far)) > 20
    with pytest.raises(DataError, match="the model finds none of the gold links likely") as refused:
        learn_combiner(model, sample, Links.from_pairs(far))
    assert "in this order" in refused.value.hint


def test_models_of_one_direction_are_refused(sample, gold):
    model = train(sample, recipe_of("hmm", iterations=1, views=["word"], direction="forward"))
    with pytest.raises(DataError, match="for models of both directions, .* was trained forward only"):
        learn_combiner(model, sample, gold)


def test_settings_are_checked(model, sample, gold):
    for settings, kind, message in (
        ({"passes": 3}, ValueError, "^passes must be a whole number between 1 and 2, not 3$"),
        ({"folds": 1}, ValueError, "^folds must be"),
        ({"penalty": "x"}, TypeError, "^penalty must be a number"),
        ({"words": "no"}, TypeError, "^words must be True or False, not 'no'$"),
        ({"structure": "tree"}, ValueError, "^unknown structure 'tree'; there are none, matching"),
        ({"n_threads": 0}, ValueError, "^n_threads must be"),
        ({"gold": [[(0, 0)]]}, TypeError, "^gold must be Links, not "),
        ({"model": "model"}, TypeError, "^model must be a Model, not 'model'$"),
        ({"text": "a b"}, TypeError, "^text must be a Corpus or sentence pairs"),
        ({"colour": 1}, TypeError, "colour"),
    ):
        with pytest.raises(kind, match=message):
            learn_combiner(**{"model": model, "text": sample, "gold": gold} | settings)

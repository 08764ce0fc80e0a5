"""Training with a prior: what it counts, what it changes, and what it refuses."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from trained import assert_same_arrays, generated, links_of, recipe_of, same

from aligner import Corpus, DataError, LinkReader, Model, Recipe, evaluate, train
from aligner.links.priors import Priors, count_priors, parse_priors
from aligner.models import _shares
from aligner.models.counts import ONE, Counts
from aligner.models.jumps import Jumps
from aligner.models.parameters import Parameters
from aligner.text.cells import Seen, in_shards
from aligner.text.corpus import pair_keys
from aligner.training.loop import learn
from aligner.training.prior import CountsPrior, ModelPrior, Prior, pseudo_counts, read_prior

CHUNK = 60  # sentence pairs


def text(start: int, stop: int) -> Corpus:
    return generated().part(start, stop)


@cache
def taught(model: str = "loo") -> Model:
    """A model of other text than the chunk's."""
    return train(text(CHUNK, 1000), recipe_of(model, views=["word", "prefix3"]))


def chunk(prior: Any = None, corpus: Corpus | None = None, **given: Any) -> Model:
    """A model of a chunk."""
    recipe = Recipe.of(views=given.pop("views", ["word", "prefix3"]))
    return learn(text(0, CHUNK) if corpus is None else corpus, recipe, prior=prior, **given)[0]


def aer(model: Model) -> float:
    """Of the chunk, in percent."""
    gold = LinkReader(str(ROOT / "data" / "generated.gold")).read().part(0, CHUNK)
    return 100 * evaluate([model.align(text(0, CHUNK))], gold, n_samples=0).results[0].scores["aer"]


def test_no_weight_is_no_prior():
    without, zero = chunk(), chunk(taught(), prior_weight=0)
    assert_same_arrays(without, zero)
    assert without.signature == zero.signature and "prior" not in zero.facts
    assert all(
        same(a, b) for a, b in zip(*(links_of(m, text(0, CHUNK)) for m in (without, zero)), strict=True)
    )


def test_a_prior_helps():
    """Links are as good as those of all text at once, and better than those of the prior itself."""
    prior, alone = aer(chunk(taught())), aer(chunk())
    joint = train(text(0, 1000), Recipe.of(views=["word", "prefix3"]))
    assert prior < alone - 3 and prior < aer(joint) + 0.3 and prior < aer(taught())


def test_the_first_iteration_knows_the_prior():
    begins = [model.history[0]["perplexity"]["forward"] for model in (chunk(), chunk(taught()))]
    assert begins[1] < begins[0] - 3


def test_new_words_are_learned():
    """They stand where positions would not link them: the prior alone has few of their links."""
    here = text(0, CHUNK)
    words = [(here.src.sentence(n), here.tgt.sentence(n)) for n in range(CHUNK)]
    new = [
        (" ".join([src[0], "qqblick", *src[1:]]), " ".join([*tgt[:5], "zzblark", *tgt[5:]]))
        for src, tgt in words[:8]
    ]
    old = [(" ".join(src), " ".join(tgt)) for src, tgt in words]
    places = [(src.split().index("qqblick"), tgt.split().index("zzblark")) for src, tgt in new]
    linked = [
        sum(place in links for place, links in zip(places, model.align(new).pairs(), strict=True))
        for model in (taught(), chunk(taught(), Corpus.from_pairs(old + new)))
    ]
    assert linked[0] < 4 and linked[1] == 8


def test_threads_do_not_matter():
    """Nor does it matter whether the prior was saved."""
    two = chunk(ModelPrior(taught()), n_threads=2)
    assert_same_arrays(chunk(taught()), two)


def test_files_are_priors(tmp_path: Path):
    taught().save(tmp_path / "model")
    prior = read_prior(str(tmp_path / "model"))
    assert isinstance(prior, ModelPrior)
    assert_same_arrays(chunk(taught()), chunk(prior))
    (tmp_path / "priors").write_text("LEX\ta\tx\t3\n")
    assert isinstance(read_prior(str(tmp_path / "priors")), CountsPrior)
    with pytest.raises(DataError, match="eflomal's priors"):
        read_prior(str(ROOT / "README.md"))
    with pytest.raises(OSError):
        read_prior(str(tmp_path / "none"))


def test_a_model_with_a_prior_goes_on_and_is_loaded(tmp_path: Path):
    kept: list[Path] = []

    def keep(model: Model) -> None:
        kept.append(tmp_path / str(len(kept)))
        model.save(kept[-1])

    whole = chunk(taught(), checkpoint=keep)
    for path in (kept[1], kept[-2]):
        assert_same_arrays(whole, chunk(taught(), resume=Model.load(path)))
    with pytest.raises(DataError, match="another text or recipe"):
        chunk(taught(), prior_weight=2, resume=Model.load(kept[1]))
    whole.save(tmp_path / "model")
    again = Model.load(tmp_path / "model")
    assert (
        again.signature == whole.signature
        and f"|prior:{ModelPrior(taught()).checksum}*1.0|" in again.signature
    )
    assert chunk(taught(), prior_weight=0.5).signature == whole.signature.replace("*1.0", "*0.5")
    assert_same_arrays(again, Model.load(tmp_path / "model"))


# What a prior counts


def counted(model: Model, corpus: Corpus, view: str) -> tuple[Seen, Counts]:
    """The counts behind a model of leave-one-out, from the shares of its sentence pairs."""
    (found,) = (one for one in model.views if one.name == view)
    lexicon = found.parameters.lexicon.pruned()
    seen = Seen.of_known_words(corpus, view, found.src, found.tgt, lexicon.rows, lexicon.tgt)
    counts = Counts.zero(Parameters(lexicon), shared=True)
    assert model.shares is not None
    order = model.shares.find(pair_keys(corpus))
    for start, stop, (shard,) in in_shards([seen], 1):
        packed = _shares.gather(model.shares.offsets, model.shares.entries, order[start:stop], 1)
        _shares.count(shard, lexicon, *packed, counts, 1)
    return seen, counts


@pytest.mark.parametrize("view", ["word", "prefix3"])
def test_the_counts_of_leave_one_out_are_found_again(view):
    """What smoothing added is gone, also from words that are spelled alike."""
    corpus = text(CHUNK, 1000)
    seen, counts = counted(taught(), corpus, view)
    table = ModelPrior(taught()).counts(view, seen, 1)
    expected = counts.pairs[:, 0] / ONE
    np.testing.assert_allclose(table.pairs, np.stack([expected] * 2, axis=1), rtol=1e-4, atol=2e-5)
    assert (expected == 0).sum() > 20  # spelled alike, never linked
    for found, here in zip(table.occurrences, seen.text.occurrences, strict=True):
        np.testing.assert_allclose(found, here, rtol=1e-5, atol=1e-5)
    for null, row in zip(table.nulls, (counts.null_fwd, counts.null_rev), strict=True):
        np.testing.assert_allclose(null, row / ONE, rtol=1e-4, atol=1e-3)


def test_sentence_pairs_that_the_prior_was_trained_on_count_once():
    """A prior of the chunk and more counts as a prior of the rest alone; equal pairs are taken away once."""
    corpus, some = text(CHUNK, 1000), text(CHUNK, CHUNK + 200)
    assert len(set(pair_keys(corpus).tolist())) < len(corpus)  # some pairs are equal
    seen = Seen.of_own_words(some, "word", 1)
    lexicon = chunk(corpus=some).views[0].parameters.lexicon
    prior = ModelPrior(taught())
    overlap = prior.overlap(pair_keys(some), seen, lexicon, 2)
    assert overlap is not None
    _, first = np.unique(pair_keys(some), return_index=True)
    keep = np.zeros(len(some), bool)
    keep[first] = True
    for found, words in zip(overlap.occurrences, (some.src, some.tgt), strict=True):
        unique = words.ids[np.repeat(keep, words.lengths)]
        np.testing.assert_array_equal(found, np.bincount(unique, minlength=len(words.vocab)))
    found = pseudo_counts(prior, 1.0, "word", seen, lexicon, pair_keys(some), 1)
    whole = prior.counts("word", seen, 1).on(seen, None, None, 1.0, 1)
    assert found.pairs.sum() < whole.pairs.sum() - overlap.counts.pairs.sum()
    other = Corpus.from_pairs([("qqblick", "zzblark")])
    assert prior.overlap(pair_keys(other), Seen.of_own_words(other, "word", 1), lexicon, 1) is None


def test_a_model_without_counts_counts_as_much_as_the_text():
    model, here = taught("shmm"), text(0, CHUNK)
    seen = Seen.of_own_words(here, "word", 1)
    table = ModelPrior(model).counts("word", seen, 1)
    lexicon = model.views[0].parameters.lexicon
    counts = dict(zip(here.src.vocab.words, here.src.counts.tolist(), strict=True))
    often = np.array([counts.get(word, 0) for word in model.views[0].src.words])
    e = np.repeat(np.arange(len(often)), np.diff(lexicon.rows))
    some = lexicon.t.any(axis=1)
    np.testing.assert_allclose(table.pairs[:, 0], (lexicon.t[:, 0] * often[e])[some], rtol=1e-6)
    positions = ModelPrior(model).positions("word", seen)
    assert positions is not None
    jumps, first, last = np.split(positions, [11, 16], axis=1)
    assert jumps.sum(axis=1) == pytest.approx([len(here.tgt.ids), len(here.src.ids)])
    assert first.sum(axis=1) == pytest.approx([CHUNK, CHUNK])
    assert last.sum(axis=1) == pytest.approx([CHUNK, CHUNK])
    with_prior = learn(here, recipe_of("shmm", views=["word"]), prior=model)[0]
    assert (
        with_prior.align(here).pairs() != train(here, recipe_of("shmm", views=["word"])).align(here).pairs()
    )


def test_jumps_are_those_that_were_learned():
    """Not the more even ones of the lattice; as many as the links of the prior's text, and as its ends."""
    model = taught()
    here = Seen.of_own_words(text(0, CHUNK), "word", 1)
    found = ModelPrior(model).positions("word", here)
    evidence, jumps = model.views[0].parameters.lexicon.evidence, model.views[0].parameters.positions
    assert found is not None and evidence is not None and isinstance(jumps, Jumps)
    links = evidence.kappa[0] * len(text(CHUNK, 1000).src.ids)
    tables = np.split(found, [11, 16], axis=1)
    for table, learned, many in zip(
        tables, (jumps.jump, jumps.first, jumps.last), (links, 940, 940), strict=True
    ):
        np.testing.assert_allclose(table.sum(axis=1), many, rtol=1e-4)
        again = (table / many) ** 0.75
        np.testing.assert_allclose(again / again.sum(axis=1, keepdims=True), learned, rtol=1e-3)


def priors_of(*lines: str) -> Priors:
    return parse_priors([line.replace(" ", "\t") for line in lines], "priors")


def test_priors_of_eflomal_are_counts_of_any_view():
    prior = CountsPrior(
        priors_of(
            "LEX house haus 3",
            "LEX houses haus 2",
            "LEX <NULL> das 4",
            "LEX a <NULL> 1",
            "FERF a 7 9",
            "HMMF 1 5",
        )
    )
    seen = Seen.of_own_words(Corpus.from_pairs([("a houses", "das haus")]), "prefix3", 1)
    found = prior.counts("prefix3", seen, 1).on(seen, None, prior.positions("prefix3", seen), 1.0, 1)
    src, tgt = seen.text.src.vocab.words, seen.text.tgt.vocab.words
    assert (src, tgt) == (["a", "hou"], ["das", "hau"])
    assert found.place.tolist() == [3] and (found.pairs / ONE).tolist() == [[5.0, 5.0]]
    assert found.src.tolist() == [1.0, 5.0] and found.tgt.tolist() == [4.0, 5.0]
    assert (found.null_fwd / ONE).tolist() == [4.0, 0.0] and (found.null_rev / ONE).tolist() == [1.0, 0.0]
    assert found.positions is None and found.lacking.words == (0, 0)
    other = CountsPrior(priors_of("LEX house haus 3", "LEX houses haus 2.5"))
    assert prior.checksum != other.checksum == CountsPrior(other.priors).checksum


def test_priors_of_eflomal_help():
    corpus = text(CHUNK, 1000)
    links = taught().align(corpus)
    prior = CountsPrior(count_priors(corpus, links, links))
    assert aer(chunk(prior)) < aer(chunk()) - 2


# What is refused


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (Recipe.of(views=["word", "prefix4"]), "the prior has the views word,prefix3, not prefix4"),
        (Recipe.of(views=["word"], lowercase=True), "the text of the prior was not lower-cased"),
        (Recipe.of(views=["word"], split="unicode"), "the text of the prior was split ascii"),
        (Recipe.of(views=["word"], window=4), "the jumps of the prior have a window of 5, not 4"),
        (Recipe.of("ibm1", views=["word"], dirichlet=0.1), "prior of counts or a Dirichlet prior, not both"),
    ],
)
def test_a_prior_of_other_words_is_refused(recipe, message):
    with pytest.raises(DataError, match=message) as error:
        learn(text(0, CHUNK), recipe, prior=taught())
    assert error.value.hint


def test_other_priors_are_refused():
    forward = train(text(0, 9), Recipe.of("hmm", direction="forward", views=["word"]))
    for recipe in (Recipe.of(views=["word"]), Recipe.of("hmm", direction="reverse", views=["word"])):
        with pytest.raises(DataError, match="the prior was trained forward only"):
            learn(text(0, 9), recipe, prior=forward)
    learn(text(0, 9), Recipe.of("hmm", direction="forward", views=["word"]), prior=forward)
    learn(text(0, 9), Recipe.of("ibm1", views=["word"], direction="reverse"), prior=taught())
    with pytest.raises(DataError, match="a prior or a model to start from, not both"):
        chunk(taught(), init=taught())
    with pytest.raises(TypeError, match="prior must be a Model or a prior"):
        chunk("model")
    for weight in (-1, float("nan"), 1e7):
        with pytest.raises(ValueError, match="prior_weight"):
            chunk(taught(), prior_weight=weight)
    kept: list[Model] = []
    with pytest.raises(DataError, match="not finished"):
        chunk(checkpoint=lambda model: kept.append(ModelPrior(model)))  # type: ignore[arg-type]


def test_a_prior_of_other_languages_is_named(caplog):
    here = text(0, CHUNK)
    chunk(taught())
    assert not caplog.records
    prior: Prior = ModelPrior(taught())
    learn(Corpus(here.tgt, here.src), Recipe.of(views=["word"]), prior=prior)
    assert "the prior does not know" in caplog.text and "with the sides in this order?" in caplog.text


def test_a_text_without_words():
    model = chunk(taught(), Corpus.from_pairs([("", "a"), ("", "")]))
    assert model.align([("a", "a")]).pairs() == [[]]

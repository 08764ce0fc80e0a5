"""Priors: what earlier text taught, which counts beside the text that is trained on.

By a prior, chunks of a large text share what a sample taught. Its pseudo-counts are added in every M-step.
They are added at the start, too, so that the first iteration knows them already.
A prior has
    checksum   what a signature calls it
    check      refuses a recipe that the prior has no counts for
    words      what it knows: the name of a view, and the view's words of both sides
    counts     what was counted, as a view sees it
    overlap    what the sentence pairs of the text that is trained on added to the counts; None: nothing
    positions  [2, n] what was counted of positions, as Jumps lay them out; None: nothing
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt

from aligner import store
from aligner.decoding.model import Model
from aligner.errors import DataError
from aligner.links.priors import NULL, Priors, read_priors
from aligner.models import _shares
from aligner.models.counts import Counts
from aligner.models.jumps import Jumps
from aligner.models.kinds import LATTICES
from aligner.models.lexicon import Evidence, Lexicon
from aligner.models.parameters import Parameters, View
from aligner.models.pseudo import EarlierCounts, Overlap, PseudoCounts, summed
from aligner.models.recipe import Recipe
from aligner.models.update import spelled
from aligner.text import doubts
from aligner.text.cells import Seen, in_shards
from aligner.text.corpus import Corpus
from aligner.text.sides import Side, Vocab
from aligner.text.spelling import likeness_of
from aligner.text.views import parse, see

Doubles = npt.NDArray[np.float64]
Keys = npt.NDArray[np.uint64]
Longs = npt.NDArray[np.int64]

EXACT = 1e-6  # a smaller share of what counts and smoothing add up to can come from rounding


class ModelPrior:
    """What a model was taught.

    A model of leave-one-out has kept how much it was learned from: its counts are found again. Other models
    have not. Each of their words counts as often as it occurs in the text that is trained on.
    """

    def __init__(self, model: Model) -> None:
        model.check_trained()
        self.model = model
        self.views = {view.name: view for view in model.views}

    @property
    def checksum(self) -> str:
        return self.model.checksum

    def check(self, recipe: Recipe) -> None:
        """Refuses views, letters, words, directions and windows that the model does not have."""
        if lacking := [name for name in recipe.views if name not in self.views]:
            raise DataError(
                f"the prior has the views {','.join(self.views)}, not {','.join(lacking)}",
                hint=f"train the views {','.join(self.views)}",
            )
        self.model.check_text(recipe, "the prior")
        jumps = self.model.views[0].parameters.positions
        lattices = any(stage.family in LATTICES for stage in recipe.stages)
        if lattices and isinstance(jumps, Jumps) and jumps.window != recipe.window:
            raise DataError(
                f"the jumps of the prior have a window of {jumps.window}, not {recipe.window}",
                hint=f"train with a window of {jumps.window}",
            )

    @property
    def words(self) -> tuple[str, list[str], list[str]]:
        view = self.model.views[0]
        return view.name, view.src.words, view.tgt.words

    def counts(self, view: str, seen: Seen, n_threads: int) -> EarlierCounts:
        """seen: what the view sees of the text that is trained on"""
        one = self.views[view]
        m = one.parameters.lexicon.pruned()  # as in a file, so that sums are the same to the last bit
        if m.evidence is None:
            return _as_often_as_here(one, m, seen, self.model.recipe.p0)
        return self._found_again(one, m, m.evidence, n_threads)

    def _found_again(self, view: View, m: Lexicon, evidence: Evidence, n_threads: int) -> EarlierCounts:
        """Counts without what smoothing added: c = t(f | e) src(e) - w alpha / V."""
        leaving, alpha = self.model.recipe.last.leaving, evidence.alpha
        assert leaving is not None
        e = _source_words(m)
        alike = likeness_of(view.src, view.tgt, m.rows, m.tgt, n_threads)
        least_rev, least_fwd = (alpha / max(1, n) for n in evidence.words)
        smoothed = m.t[:, 0].astype(np.float64) * evidence.src[e]
        c = smoothed - spelled(leaving)[alike] * least_fwd
        c[c < EXACT * smoothed] = 0
        src, tgt = (
            np.maximum(0, many.astype(np.float64) - alpha) / (kappa or 1)
            for many, kappa in zip((evidence.src, evidence.tgt), evidence.kappa, strict=True)
        )
        fwd, rev = (
            np.maximum(0, row.astype(np.float64) * total - least)
            for row, total, least in zip(
                (m.null_fwd, m.null_rev), evidence.nulls, (least_fwd, least_rev), strict=True
            )
        )
        pairs = np.stack([c, c], axis=1)
        return EarlierCounts(view.src.words, view.tgt.words, e, m.tgt, pairs, (src, tgt), (fwd, rev))

    def overlap(self, keys: Keys, seen: Seen, lexicon: Lexicon, n_threads: int) -> Overlap | None:
        """The shares of sentence pairs that the model was trained on. Of equal pairs one is taken.

        keys     of the sentence pairs of the text that is trained on
        lexicon  of the word pairs that a view sees of them
        """
        shares = self.model.shares
        if shares is None:
            return None
        known, first = np.unique(keys, return_index=True)
        places = shares.find(known)
        found = places >= 0
        if not found.any():
            return None
        keep = np.zeros(len(keys), dtype=bool)
        keep[first[found]] = True
        order = places[found][np.argsort(first[found])]
        text = seen.text.select(keep)
        part = Seen(text, seen.rows, seen.tgt)
        counts = Counts.zero(Parameters(lexicon), shared=True)
        for start, stop, (shard,) in in_shards([part], n_threads):
            packed = _shares.gather(shares.offsets, shares.entries, order[start:stop], n_threads)
            _shares.count(shard, lexicon, *packed, counts, n_threads)
        return Overlap(counts, text.occurrences)

    def positions(self, view: str, seen: Seen) -> Doubles | None:
        """The jumps of as many links as were counted, and a first and a last position a sentence pair."""
        m = self.views[view].parameters
        jumps, evidence = m.positions, m.lexicon.evidence
        leaving = self.model.recipe.last.leaving
        power = 1.0 if leaving is None else leaving.evenness
        if not isinstance(jumps, Jumps) or power == 0:
            return None
        links = np.array([side.offsets[-1] for side in (seen.text.tgt, seen.text.src)])
        n_pairs = len(seen.text)
        if evidence is not None:
            links = np.repeat(evidence.src.sum(dtype=np.float64) - evidence.alpha * len(evidence.src), 2)
            n_pairs = self.model.facts.get("pairs", 0)
        tables = []
        for table, total in ((jumps.jump, links[:, None]), (jumps.first, n_pairs), (jumps.last, n_pairs)):
            if not table.size:  # a file from before last positions were learned
                tables.append(np.zeros_like(jumps.first))
                continue
            raised = (table / table.max(axis=1, keepdims=True)) ** (1 / power)
            tables.append(raised / raised.sum(axis=1, keepdims=True) * total)
        return np.concatenate(tables, axis=1)


def _source_words(m: Lexicon) -> npt.NDArray[np.int32]:
    """[P] word pair -> its source word"""
    return np.repeat(np.arange(len(m.null_rev), dtype=np.int32), np.diff(m.rows))


def _as_often_as_here(view: View, m: Lexicon, seen: Seen, p0: float) -> EarlierCounts:
    """t(f | e) times the occurrences of e in the text that is trained on; p0 of all tokens are NULL's."""
    text, e = seen.text, _source_words(m)

    def occurrences(vocab: Vocab, side: Side, here: Longs) -> Doubles:
        found = np.zeros(len(vocab))
        ids = side.vocab.find(vocab.words)
        found[ids >= 0] = here[ids[ids >= 0]]
        return found

    n_src, n_tgt = text.occurrences
    src, tgt = occurrences(view.src, text.src, n_src), occurrences(view.tgt, text.tgt, n_tgt)
    pairs = np.stack([m.t[:, 0] * src[e], m.t[:, 1] * tgt[m.tgt]], axis=1)
    fwd, rev = (
        row.astype(np.float64) * (p0 * n.sum()) for row, n in ((m.null_fwd, n_tgt), (m.null_rev, n_src))
    )
    return EarlierCounts(view.src.words, view.tgt.words, e, m.tgt, pairs, (src, tgt), (fwd, rev))


class CountsPrior:
    """The counts of eflomal's priors (links/priors.py). They are of words: any view can be made of them.

    The links of word pairs count in both directions. A word occurs as often as it is linked, NULL included.
    Fertilities have no use here, since the models have none. Nor have jumps: see `positions`.
    """

    def __init__(self, priors: Priors, partial: bool = False) -> None:
        """partial: whether it is no wonder that most words of a text are unknown, as of a dictionary"""
        self.priors, self.partial = priors, partial

    @property
    def checksum(self) -> str:
        """Of what training uses."""
        value = 0
        for vocab in (self.priors.src, self.priors.tgt):
            value = zlib.crc32(vocab.offsets.data, zlib.crc32(vocab.text, value))
        for array in self.priors.pairs:
            value = zlib.crc32(np.ascontiguousarray(array).data, value)
        return f"{value:08x}"

    def check(self, recipe: Recipe) -> None:
        """Everything can be made of words."""

    @property
    def words(self) -> tuple[str, list[str], list[str]]:
        return "word", self.priors.src.words, self.priors.tgt.words

    def counts(self, view: str, seen: Seen, n_threads: int) -> EarlierCounts:
        words = self.priors.src.words, self.priors.tgt.words
        null_src, null_tgt = (np.array([word == NULL for word in side], dtype=bool) for side in words)
        e, f, count = self.priors.pairs
        linked = ~null_src[e] & ~null_tgt[f]
        fwd = summed(f, np.where(null_src[e], count, 0), len(words[1]))
        rev = summed(e, np.where(null_tgt[f], count, 0), len(words[0]))
        src, tgt = (
            summed(word, np.where(linked, count, 0), len(side))
            for word, side in zip((e, f), words, strict=True)
        )
        one, other = (
            side if cut is None else list(map(cut, side))
            for cut, side in zip(parse(view), words, strict=True)
        )
        return EarlierCounts(
            one,
            other,
            e[linked].astype(np.int32),
            f[linked].astype(np.int32),
            np.stack([count[linked]] * 2, axis=1),
            (src + rev, tgt + fwd),
            (fwd, rev),
        )

    def overlap(self, keys: Keys, seen: Seen, lexicon: Lexicon, n_threads: int) -> Overlap | None:
        """Nothing says which sentence pairs were counted."""
        return None

    def positions(self, view: str, seen: Seen) -> Doubles | None:
        """Nothing: with eflomal's jumps, which are surer than expected ones, links were worse."""
        return None


Prior = ModelPrior | CountsPrior


def pseudo_counts(
    prior: Prior, weight: float, view: str, seen: Seen, lexicon: Lexicon, keys: Keys, n_threads: int
) -> PseudoCounts:
    """Weight times what a prior counted of the words that a view sees of the text that is trained on.

    lexicon  of the word pairs that the view sees
    keys     of the text's sentence pairs
    """
    overlap = prior.overlap(keys, seen, lexicon, n_threads)
    return prior.counts(view, seen, n_threads).on(
        seen, overlap, prior.positions(view, seen), weight, n_threads
    )


def warn_of_unknown(prior: Prior, corpus: Corpus) -> None:
    """Says so if a prior does not know more than half of a side's words.

    One that is partial may know few words, but not more of them with its sides turned, or none.
    """
    name, src, tgt = prior.words
    text = see(corpus, name)
    sides = text.src, text.tgt
    tokens = [len(side.ids) for side in sides]
    unknown = [_unknown(*both) for both in zip(sides, (src, tgt), strict=True)]
    if not (isinstance(prior, CountsPrior) and prior.partial):
        doubts.warn_of_unknown("the prior", unknown, tokens)
    else:
        turned = sum(_unknown(*both) for both in zip(sides, (tgt, src), strict=True))
        doubts.warn_of_turned("the dictionary", sum(unknown), turned, sum(tokens))


def _unknown(side: Side, words: list[str]) -> int:
    """How many tokens of a side are none of some words."""
    ids = side.vocab.find(words)
    new = np.ones(len(side.vocab), dtype=bool)
    new[ids[ids >= 0]] = False
    return int(side.counts[new].sum())


def read_prior(path: str) -> Prior:
    """A prior from a file: a model, or eflomal's priors."""
    if not store.is_model(path):
        return CountsPrior(read_priors(path))
    model = Model.load(path)
    model.check_trained(path)
    return ModelPrior(model)

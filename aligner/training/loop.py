"""The one training loop: a recipe's iterations over one text, view by view, shard by shard."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from aligner import arguments
from aligner.decoding import threshold
from aligner.decoding.combine import Decision
from aligner.decoding.model import Model
from aligner.decoding.posteriors import check_constraints
from aligner.links.known import known_of
from aligner.links.links import Links
from aligner.models.census import Census
from aligner.models.class_jumps import ClassJumps
from aligner.models.counts import ONE, Counts, check_size
from aligner.models.kinds import LATTICES, Leaving
from aligner.models.lexicon import Lexicon
from aligner.models.parameters import Parameters, View
from aligner.models.pseudo import PseudoCounts
from aligner.models.recipe import Recipe
from aligner.models.shares import Packed, Passing, Shares, taken
from aligner.models.stage import Stage
from aligner.models.update import Bytes, start_with, totals_size
from aligner.text.cells import Seen, cell_offsets, cuts, shard_cells
from aligner.text.classes import BothClasses
from aligner.text.corpus import Corpus, Pairs, pair_keys, warn_of_long
from aligner.text.known import Constraints, Known
from aligner.text.spelling import likeness
from aligner.threads import useful
from aligner.training.classes import classes_of, inherited
from aligner.training.development import Development
from aligner.training.iteration import (
    Beside,
    expect,
    expected_threshold,
    label_of,
    position,
    record,
    renew,
)
from aligner.training.monitor import Monitor
from aligner.training.prior import CountsPrior, ModelPrior, Prior, pseudo_counts, warn_of_unknown
from aligner.training.progress import Progress, decoding_work, kind_of, training_work
from aligner.training.start import begun, check_prior, check_start, other_text, resumed, trained_on

MEMORY = "4G"  # for text, parameters, shares and cells
PAIR = 13 + 16  # bytes of a word pair: target word, probabilities and likeness; counts of both directions
WIDENED = 16  # bytes more where a prior is added to counts that both directions share
SHARE = 9  # bytes of a token's shares, about


def train(text: Corpus | Pairs, recipe: Recipe | None = None, **settings: Any) -> Model:
    """A model of sentence pairs, given as text, as lists of tokens or as a Corpus.

    settings: those of `learn`
    """
    recipe = Recipe.of() if recipe is None else recipe
    arguments.instance("recipe", recipe, Recipe, "a Recipe")
    corpus = Corpus.of(text, recipe.lowercase, recipe.split)
    warn_of_long(corpus.long_pairs())
    return learn(corpus, recipe, **settings)[0]


def learn(
    corpus: Corpus,
    recipe: Recipe,
    *,
    init: Model | None = None,
    prior: Model | Prior | None = None,
    prior_weight: float = 1.0,
    resume: Model | None = None,
    development: Development | None = None,
    links: Links | None = None,
    constraints: Constraints | None = None,
    classes: BothClasses | None = None,
    n_threads: int = 1,
    progress: Progress | None = None,
    log: IO[str] | None = None,
    facts: dict[str, Any] | None = None,
    run: Mapping[str, str] | None = None,
    memory: int = arguments.size(MEMORY),  # noqa: B008
    checkpoint: Callable[[Model], None] | None = None,
) -> tuple[Model, list[Seen | None]]:
    """A model of a text; and what each view sees of the text, None if some of the text was not trained on.

    The text, and that of the development set, is lower-cased if the recipe says so.
    Sentence pairs that are too long (text/corpus.py) are trained on as two empty sentences.
    init         a model to start from
    prior        a model, or other counts (training/prior.py), which are added to those of this text
    prior_weight how often the counts of the prior are added; 0: as if there were no prior
    resume       a model that `checkpoint` was given: training goes on where it was, to the same bits
    development  the last stage ends when an iteration does not align this set better; the best is kept
    links        known by hand (links/known.py)
    constraints  on expected links, for HMMs of both directions (text/known.py)
    classes      of source words and of target words, on which jumps depend; None: as the recipe says
    progress     what is told of the training; None: nothing is said
    facts        more for the model's facts, for example names of files
    run          more for the log's signature, for example how links are chosen afterwards
    memory       bytes for the text, parameters and their update, shares and cells, 4 a cell. Cells that do
                 not fit are looked up again in each iteration. The rest is needed in any case
    checkpoint   called after each iteration with the model as it is: always the same object, to save at once
    """
    for name, value, kind, what in (
        ("corpus", corpus, Corpus, "a Corpus"),
        ("recipe", recipe, Recipe, "a Recipe"),
        ("init", init, Model, "a Model"),
        ("prior", prior, (Model, ModelPrior, CountsPrior), "a Model or a prior"),
        ("resume", resume, Model, "a Model"),
        ("development", development, Development, "a Development"),
    ):
        if value is not None or name in ("corpus", "recipe"):
            arguments.instance(name, value, kind, what)
    if checkpoint is not None and not callable(checkpoint):
        raise TypeError(f"checkpoint must be a function, not {checkpoint!r}")
    arguments.threads(n_threads)
    arguments.number("memory", memory, 0, math.inf, whole=True)
    corpus = corpus.fitted(recipe.lowercase, recipe.split)
    if development is not None:
        fitted = development.corpus.fitted(recipe.lowercase, recipe.split)
        development = replace(development, corpus=fitted)
    check_size(corpus, (stage.family for stage in recipe.schedule), prior is not None)
    known = known_of(links, constraints, corpus)
    check_constraints(recipe, known)
    corpus = corpus.bounded()
    used, recipe, known = trained_on(corpus, recipe, known)
    n_cells = int(cell_offsets(used)[-1])
    n_threads = useful(n_threads, n_cells)
    check_start(recipe, init)
    if isinstance(prior, Model):
        prior = ModelPrior(prior)
    if not arguments.number("prior_weight", prior_weight, 0, 1e6):
        prior = None
    check_prior(recipe, prior, init)
    classes, class_files = classes_of(classes, recipe, used)
    learned_from = {
        "known": known.checksum(),
        "init": "" if init is None else init.checksum,
        "prior": "" if prior is None else f"{prior.checksum}*{float(prior_weight)!r}",
        "dev": "" if development is None else development.checksum(),
        "class_files": class_files,
    }
    model = begun(used, recipe, learned_from, facts)
    if resume is not None:
        model = resumed(resume, model)
    if prior is not None:
        warn_of_unknown(prior, used)
    census = Census.of(used, classes)
    monitor = _monitor(census, n_cells, model, progress, log)
    monitor.begin(model.signature + "".join(f"|{key}:{value}" for key, value in (run or {}).items()))
    if not model.unfinished:  # and its lexicons may lack word pairs of the text
        return model, [None] * len(model.views)
    work = _Run(
        used, census, model, init, prior, prior_weight, development, known, classes, n_threads, checkpoint,
        monitor,
    )  # fmt: skip
    try:
        seen = work.train_views(memory)
        work.train_together(seen)
    finally:
        monitor.close()
    model.progress = None
    if recipe.threshold is None:
        model.facts["threshold"] = work.threshold(seen)
    return model, list(seen) if used is corpus else [None] * len(seen)


def _monitor(
    census: Census, n_cells: int, model: Model, progress: Progress | None, log: IO[str] | None
) -> Monitor:
    recipe = model.recipe
    if progress is not None:
        done = model.progress["iterations"] if model.progress else 0
        if model.unfinished:
            progress.plan(training_work(recipe, n_cells, len(model.views), done))
        if progress.aligns is not None:
            progress.plan(decoding_work(recipe, n_cells, progress.aligns))
    weighted = "known" in model.facts
    return Monitor(recipe, census.n_pairs, census.n_generated, progress, log, model.history, weighted)


@dataclass
class _Run:
    """A training under way: the text, the model as far as it is, and what the iterations need."""

    corpus: Corpus
    census: Census
    model: Model
    init: Model | None
    prior: Prior | None
    prior_weight: float
    development: Development | None
    known: Known
    classes: BothClasses | None
    n_threads: int
    checkpoint: Callable[[Model], None] | None
    monitor: Monitor
    alike: dict[int, Bytes] = field(default_factory=dict)  # of each Seen
    taught: dict[int, PseudoCounts] = field(default_factory=dict)  # of each Seen
    packed: list[Packed] | None = None  # the shares of each shard; None: nothing is left out

    @cached_property
    def keys(self) -> npt.NDArray[np.uint64]:
        """The keys of the text's sentence pairs."""
        return pair_keys(self.corpus, self.n_threads)

    def train_views(self, memory: int) -> list[Seen]:
        """Each view by itself, and what it sees. memory: bytes for text, parameters, shares and cells"""
        n_cells, n_views = int(cell_offsets(self.corpus)[-1]), len(self.model.recipe.views)
        room, seen = memory - self._held(), []
        if room < 4 * n_views * n_cells:  # cells of a shard are looked up
            room -= 4 * n_views * shard_cells(n_cells)
        for n in range(n_views):
            sight, room = self._train_view(n, room)
            seen.append(sight)
        return seen

    def _held(self) -> int:
        """Bytes of the text, of the totals of an update and, about, of shares."""
        sides = self.corpus.src, self.corpus.tgt
        n_tokens = sum(int(side.offsets[-1]) for side in sides)
        shares = SHARE * n_tokens if self.model.recipe.last.together else 0
        totals = totals_size(len(self.corpus.tgt.vocab), self.n_threads)  # no view has more words
        return 4 * n_tokens + 8 * 3 * len(self.corpus) + totals + shares

    def _train_view(self, n: int, room: int) -> tuple[Seen, int]:
        """All iterations of view n by itself that are not done yet; what it sees, and the room that is left.

        room: bytes for word pairs and cells
        """
        recipe, model = self.model.recipe, self.model
        name = recipe.views[n]
        self.monitor.number(n)
        seen = Seen.of_own_words(self.corpus, name, self.n_threads)
        if n < len(model.views) and model.progress is not None:
            lexicon = model.views[n].parameters.lexicon
            if recipe.prune:
                seen = Seen(seen.text, lexicon.rows, lexicon.tgt)
            elif not (np.array_equal(lexicon.rows, seen.rows) and np.array_equal(lexicon.tgt, seen.tgt)):
                raise other_text(f"view {name} has other word pairs")
            lexicon.rows, lexicon.tgt = seen.rows, seen.tgt  # one copy serves both
        if n == len(model.views):
            model.views.append(View(name, seen.text.src.vocab, seen.text.tgt.vocab, self._start(n, seen)))
            model.progress = {"iterations": 0, "divergence": None}
        a_pair = PAIR if self.prior is None else PAIR + WIDENED
        pairs, n_left = a_pair * len(seen.tgt), len(recipe.views) - n
        for_cells = room - n_left * pairs  # views to come have as many word pairs, or fewer
        seen.keep(max(0, for_cells) // 4 // n_left, self.n_threads)
        self.monitor.advance("number", seen.n_cells)
        if n + 1 == len(model.views):
            self._train([model.views[n]], [seen], recipe.apart)
        return seen, room - pairs - seen.cells.nbytes

    def train_together(self, seen: Sequence[Seen]) -> None:
        """All iterations of all views together that are not done yet."""
        recipe, model = self.model.recipe, self.model
        if recipe.apart < len(recipe.schedule):
            if model.progress is not None:
                if model.shares is not None:  # of a training that goes on
                    self.packed, model.shares = model.shares.parts(cuts(seen[0].cell_offsets)), None
                self._train(model.views, seen, len(recipe.schedule))
                packed, self.packed = self.packed or [], None
                model.shares = Shares.joined(self.keys, taken(packed)).sorted(self.n_threads)
        position(model.views, recipe.last, recipe, self.census)  # the last stage may have had no iterations

    def threshold(self, seen: Sequence[Seen] | None) -> float:
        """The threshold of least expected AER, of the shares if there are any, else of text decoded anew."""
        model, recipe = self.model, self.model.recipe
        if recipe.last.together:
            return expected_threshold(model)
        how = Decision(threshold.UNKNOWN, recipe.direction)
        settings: dict[str, Any] = {"seen": seen, "known": self.known, "n_threads": self.n_threads}
        return threshold.find("auto", model.views, recipe, self.corpus, how, **settings)[0]

    def _train(self, views: Sequence[View], seen: Sequence[Seen], n: int) -> None:
        """Iterates until n iterations are done."""
        counts: list[Counts] | None = None
        while self.model.progress and (done := self.model.progress["iterations"]) < n:
            stage = self.model.recipe.schedule[done]
            counts = self._iterate(views, seen, stage, counts)
            later = self.model.recipe.schedule[self.model.progress["iterations"] :]  # a stage may end early
            ends = not later or stage.family in LATTICES and later[0] != stage
            if self.model.recipe.prune and ends:
                for view, sight, count in zip(views, seen, counts, strict=True):
                    self._prune(view, sight, count)
                counts = None
            if self.checkpoint is not None:
                self.model.shares = self._shares()
                self.checkpoint(self.model)
                self.model.shares = None

    def _prune(self, view: View, seen: Seen, counts: Counts) -> None:
        """Forgets word pairs of a view that counted next to nothing in the last iteration of a stage."""
        keep = counts.pairs.max(axis=1) >= self.model.recipe.prune * ONE
        lexicon = view.parameters.lexicon = view.parameters.lexicon.kept(keep)
        seen.narrow(lexicon.rows, lexicon.tgt, self.n_threads)
        for found in (self.alike, self.taught):  # they are of all word pairs
            found.pop(id(seen), None)

    def _shares(self) -> Shares | None:
        """The shares of the last iteration, if it has any."""
        return None if self.packed is None else Shares.joined(self.keys, self.packed)

    def _iterate(
        self, views: Sequence[View], seen: Sequence[Seen], stage: Stage, used: Sequence[Counts] | None
    ) -> list[Counts]:
        """One iteration: expect, shard by shard, then update. The counts' memory serves the next one."""
        model, recipe, progress = self.model, self.model.recipe, self.model.progress
        assert progress is not None
        self.monitor.enter(None if stage.together else len(model.views) - 1, stage, progress["iterations"])
        position(views, stage, recipe, self.census)
        judged = self.development is not None and stage is recipe.last
        before = [view.parameters.copied() for view in views] if judged else None
        own = None
        old = list(self.packed) if judged and self.packed is not None else None
        if stage.leaving is not None and self.packed is not None:
            own = Passing(self.packed, stage.leaving.left_out)
        expected = expect(
            [view.parameters for view in views],
            seen,
            stage,
            recipe.direction,
            own=own,
            known=self.known,
            used=used,
            advance=lambda n_cells: self.monitor.advance(kind_of(stage), n_cells, len(views)),
            n_threads=self.n_threads,
        )
        beside = [self._beside(view, sight, stage) for view, sight in zip(views, seen, strict=True)]
        divergence = renew(views, expected.counts, stage, recipe.direction, beside, self.n_threads)
        self.packed = expected.shares if stage.together else None
        area = None
        if self.development and judged:
            learned = self._shares()
            learned = None if learned is None else learned.sorted(self.n_threads)
            area = self.development.area(views, recipe, learned, self.n_threads)
        record(model, views, stage, expected.statistics, self.monitor, area)
        done = progress["iterations"] + 1
        if before is not None and not self._is_better(label_of(views)):
            for view, parameter in zip(views, before, strict=True):
                view.parameters = parameter
            self.packed, done = old, len(recipe.schedule) if stage.together else recipe.apart
            n_left = done - progress["iterations"] - 1
            self.monitor.stop(stage, n_left * seen[0].n_cells, len(views))
        model.progress = {"iterations": done, "divergence": divergence}
        return expected.counts

    def _beside(self, view: View, seen: Seen, stage: Stage) -> Beside:
        """What the update of a view needs beside counts."""
        taught = self._taught(view.name, seen, view.parameters.lexicon)
        if stage.leaving is None:
            return Beside(taught=taught)
        return Beside(seen.text.occurrences, self._alike(seen, stage.leaving), taught)

    def _alike(self, seen: Seen, leaving: Leaving) -> Bytes | None:
        """How alike the words of a view's word pairs are spelled, if it matters; found once."""
        if leaving.spelling and id(seen) not in self.alike:
            self.alike[id(seen)] = likeness(seen, self.n_threads)
        return self.alike.get(id(seen))

    def _taught(self, view: str, seen: Seen, lexicon: Lexicon) -> PseudoCounts | None:
        """What the prior counted of a view's words; found once."""
        if self.prior is not None and id(seen) not in self.taught:
            self.taught[id(seen)] = pseudo_counts(
                self.prior, self.prior_weight, view, seen, lexicon, self.keys, self.n_threads
            )
        return self.taught.get(id(seen))

    def _start(self, n: int, seen: Seen) -> Parameters:
        """Parameters before the first iteration: even ones, or those of another model."""
        recipe = self.model.recipe
        if self.init is None:
            lexicon, positions = Lexicon.even(seen, recipe.identical, self.n_threads), None
            taught = self._taught(recipe.views[n], seen, lexicon)
            if taught is not None:
                start_with(lexicon, seen.text.occurrences, len(seen.text), taught)
        else:
            old = self.init.views[n]
            lexicon = Lexicon.inherited(seen, old.parameters.lexicon, old.src, old.tgt)
            positions = old.parameters.positions
            if isinstance(positions, ClassJumps):
                positions = inherited(positions, old, seen.text, self.classes)
        lexicon.keep(recipe.direction)
        return Parameters(lexicon, positions)

    def _is_better(self, view: str) -> bool:
        """Whether the last iteration has a larger area under the curve than the one before."""
        areas = [entry["area"] for entry in self.model.history if entry["view"] == view and "area" in entry]
        return len(areas) < 2 or areas[-1] > areas[-2]

"""The one training loop: a recipe's iterations over one text, view by view, shard by shard."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from aligner import __version__
from aligner.decoding.model import Model
from aligner.decoding.posteriors import check_constraints
from aligner.errors import DataError
from aligner.links.known import known_of
from aligner.links.links import Links
from aligner.models.counts import Counts, check_size
from aligner.models.families import FAMILIES
from aligner.models.lexicon import Lexicon
from aligner.models.parameters import Parameters, View
from aligner.models.recipe import Recipe, Stage
from aligner.models.update import update
from aligner.text.cells import Seen, cell_offsets
from aligner.text.corpus import Corpus, text_hash
from aligner.text.known import Constraints, Known
from aligner.training.development import Development
from aligner.training.monitor import Monitor

Text = Corpus | Iterable[tuple[str | Sequence[str], str | Sequence[str]]]


def train(text: Text, recipe: Recipe | None = None, **settings: Any) -> Model:
    """A model of sentence pairs, given as text, as lists of tokens or as a Corpus.

    settings: those of `learn`
    """
    recipe = recipe or Recipe.of()
    corpus = text if isinstance(text, Corpus) else Corpus.from_pairs(text, lowercase=recipe.lowercase)
    return learn(corpus, recipe, **settings)[0]


def learn(
    corpus: Corpus,
    recipe: Recipe,
    *,
    init: Model | None = None,
    resume: Model | None = None,
    development: Development | None = None,
    links: Links | None = None,
    constraints: Constraints | None = None,
    n_threads: int = 1,
    quiet: bool = True,
    log: IO[str] | None = None,
    facts: dict[str, Any] | None = None,
    run: Mapping[str, str] | None = None,
    memory: int = 0,
    checkpoint: Callable[[Model], None] | None = None,
) -> tuple[Model, list[Seen | None]]:
    """A model of a text; and what each view sees of the text, None where memory does not allow to keep it.

    init         a model to start from
    resume       a model that `checkpoint` was given: training goes on where it was, to the same bits
    development  the last stage ends when an iteration does not align this set better; the best is kept
    links        known by hand (links/known.py)
    constraints  on expected links, for HMMs of both directions (text/known.py)
    facts        more for the model's facts, for example names of files
    run          more for the log's signature, for example how links are chosen afterwards
    memory       bytes for the cells of trained views, 4 a cell: kept cells make decoding quicker. The view
                 in training needs its cells in any case
    checkpoint   called after each iteration with the model as it is: always the same object, to save at once
    """
    check_size(corpus)
    _check_start(recipe, init)
    known = known_of(links, constraints, corpus)
    check_constraints(recipe, known)
    used = corpus
    if recipe.max_length:
        keep = np.maximum(corpus.src.lengths, corpus.tgt.lengths) <= recipe.max_length
        used, known = corpus.select(keep), known.select(keep)
    learned_from = {
        "text": text_hash(used),
        "known": known.checksum(),
        "init": "" if init is None else f"{zlib.crc32(init.signature.encode()):08x}",
        "dev": "" if development is None else development.checksum(),
    }
    size = {"version": __version__, "pairs": len(used), "tokens": [len(used.src.ids), len(used.tgt.ids)]}
    model = Model(recipe, [], size | {key: x for key, x in learned_from.items() if x} | (facts or {}))
    if resume is not None:
        model = _resumed(resume, model)
    monitor = _monitor(used, model, quiet, log)
    monitor.begin(model.signature + "".join(f"|{key}:{value}" for key, value in (run or {}).items()))
    work = _Run(used, model, init, development, known, n_threads, checkpoint, monitor)
    cells_of_text = int(cell_offsets(used)[-1])
    seen: list[Seen | None] = [None] * len(recipe.views)
    try:
        for n in range(len(recipe.views)):
            kept = [k for k, sight in enumerate(seen) if sight is not None]
            if kept and 4 * cells_of_text * (len(kept) + 1) > memory:  # room for the cells of this view
                seen[kept[-1]] = None
            sight = work.train_view(n)
            if used is corpus and 4 * cells_of_text * (sum(s is not None for s in seen) + 1) <= memory:
                sight.put_away()
                seen[n] = sight
            del sight
    finally:
        monitor.close()
    model.progress = None
    return model, seen


def _check_start(recipe: Recipe, init: Model | None) -> None:
    """Refuses a start from a model of other views or of another direction."""
    if init is None:
        return
    known = ",".join(view.name for view in init.views)
    if known != ",".join(recipe.views):
        raise DataError(
            f"the model to start from has the views {known}, not {','.join(recipe.views)}",
            hint=f"train the views {known}",
        )
    if init.recipe.direction not in ("both", recipe.direction):
        raise DataError(
            f"the model to start from was trained {init.recipe.direction} only",
            hint=f"train {init.recipe.direction} only",
        )


def _resumed(old: Model, new: Model) -> Model:
    """The model as it was left; refuses another text or recipe."""
    if old.signature != new.signature or old.recipe != new.recipe:
        raise DataError(
            f"the training to go on with is of another text or recipe: {old.signature}, not {new.signature}",
            hint="go on with the same, or start anew",
        )
    views = [
        View(view.name, view.src, view.tgt, view.parameters.copied()) for view in old.views
    ]  # what is mapped from a file cannot be changed
    return Model(new.recipe, views, new.facts, list(old.history), old.progress)


def _monitor(corpus: Corpus, model: Model, quiet: bool, log: IO[str] | None) -> Monitor:
    full = (corpus.src.lengths > 0) & (corpus.tgt.lengths > 0)
    n_cells = int(cell_offsets(corpus)[-1]) * len(model.recipe.schedule) * len(model.recipe.views)
    n_tokens = int(corpus.tgt.lengths[full].sum()), int(corpus.src.lengths[full].sum())
    return Monitor(n_cells, int(full.sum()), n_tokens, quiet, log, model.history, "known" in model.facts)


@dataclass
class _Run:
    """A training under way: the text, the model as far as it is, and what the iterations need."""

    corpus: Corpus
    model: Model
    init: Model | None
    development: Development | None
    known: Known
    n_threads: int
    checkpoint: Callable[[Model], None] | None
    monitor: Monitor

    def train_view(self, n: int) -> Seen:
        """All iterations of view n that are not done yet."""
        recipe, model = self.model.recipe, self.model
        name = recipe.views[n]
        seen = Seen.of_own_words(self.corpus, name, self.n_threads)
        if n == len(model.views):
            model.views.append(View(name, seen.text.src.vocab, seen.text.tgt.vocab, self._start(n, seen)))
            model.progress = {"iterations": 0, "divergence": None}
        view, schedule = model.views[n], recipe.schedule
        counts: Counts | None = None
        while n + 1 == len(model.views) and model.progress and model.progress["iterations"] < len(schedule):
            counts = self._iterate(view, seen, schedule[model.progress["iterations"]], counts)
            if self.checkpoint is not None:
                self.checkpoint(model)
        family = FAMILIES[recipe.last.family]  # the last stage may have had no iterations
        view.parameters.positions = family.positions(view.parameters.positions, recipe.window, recipe.p0)
        return seen

    def _iterate(self, view: View, seen: Seen, stage: Stage, used: Counts | None) -> Counts:
        """One iteration: expect, shard by shard, then update. The counts' memory serves the next one."""
        recipe, progress, m = self.model.recipe, self.model.progress, view.parameters
        assert progress is not None
        family = FAMILIES[stage.family]
        m.positions = family.positions(m.positions, recipe.window, recipe.p0)
        judged = self.development is not None and stage is recipe.last
        before = m.copied() if judged else None
        counts, statistics = Counts.zero(m, used), {"loglik_fwd": 0.0, "loglik_rev": 0.0}
        for _, shard in seen.shards(self.n_threads, self.known):
            found = family.expect(m, shard, stage, recipe.direction, counts, self.n_threads)
            for key, value in found.items():
                statistics[key] = statistics.get(key, 0.0) + value
            self.monitor.advance(view.name, stage, shard.n_cells)
        divergence = update(m, counts, stage.rule, stage.dirichlet)
        area = self.development.area([view], recipe, self.n_threads) if self.development and judged else None
        both = recipe.direction == "both" or family.both
        directions = ["forward", "reverse"] if both else [recipe.direction]
        # The bound is of the parameters that the iteration began with, as the log-likelihood is.
        bounded = stage.rule == "vb" and stage.objective == "likelihood"
        began = progress["divergence"] if bounded else None
        self.monitor.add(view.name, stage, directions, statistics, began, area)
        done = progress["iterations"] + 1
        if before is not None and not self._is_better(view.name):
            view.parameters, done = before, len(recipe.schedule)
        self.model.progress = {"iterations": done, "divergence": divergence}
        return counts

    def _start(self, n: int, seen: Seen) -> Parameters:
        """Parameters before the first iteration: even ones, or those of another model."""
        recipe = self.model.recipe
        if self.init is None:
            return Parameters(Lexicon.even(seen, recipe.identical))
        old = self.init.views[n]
        lexicon = Lexicon.inherited(seen, old.parameters.lexicon, old.src, old.tgt)
        return Parameters(lexicon, old.parameters.positions)

    def _is_better(self, view: str) -> bool:
        """Whether the last iteration has a larger area under the curve than the one before."""
        areas = [entry["area"] for entry in self.model.history if entry["view"] == view and "area" in entry]
        return len(areas) < 2 or areas[-1] > areas[-2]

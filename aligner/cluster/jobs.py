"""The jobs of a training: begin it, count in a shard, update the model by what all shards counted.

A training in jobs is an unfinished Model with the census of its text. It becomes the model that one process
trains on the same text, to the last bit, whatever the number of shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from aligner import __version__, arguments
from aligner.cluster.counted import Counted
from aligner.cluster.due import DECIDE, ITERATE, NUMBER, Due, due
from aligner.cluster.local import LocalView, WordPairs, merged
from aligner.cluster.shards import TextShard
from aligner.decoding import threshold
from aligner.decoding.combine import Decision
from aligner.decoding.model import Model
from aligner.decoding.posteriors import directions
from aligner.errors import DataError
from aligner.models.census import Census
from aligner.models.counts import LOGLIKS, Counts, check_size
from aligner.models.lexicon import Lexicon
from aligner.models.parameters import Parameters, View
from aligner.models.recipe import Recipe
from aligner.models.shares import Shares
from aligner.text.classes import BothClasses
from aligner.text.corpus import Corpus, pair_keys, sampled, shown
from aligner.text.spelling import likeness_of
from aligner.threads import useful
from aligner.training.classes import classes_of
from aligner.training.iteration import Beside, expect, expected_threshold, position, record, renew
from aligner.training.monitor import Monitor
from aligner.training.start import begun, trained_on


def begin(
    corpus: Corpus,
    recipe: Recipe,
    *,
    classes: BothClasses | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Model:
    """A training of a text that has done nothing yet. Arguments are those of training.loop.learn."""
    arguments.instance("corpus", corpus, Corpus, "a Corpus")
    if recipe.prune:
        raise DataError(
            "a training in jobs forgets no word pairs", hint="train without", setting="prune", value="0"
        )
    corpus = corpus.fitted(recipe.lowercase, recipe.split)
    check_size(corpus, (stage.family for stage in recipe.schedule), prior=False)
    used, recipe, _ = trained_on(corpus.bounded(), recipe)
    classes, class_files = classes_of(classes, recipe, used)
    model = begun(used, recipe, {"class_files": class_files}, facts)
    model.progress = {"iterations": 0, "divergence": None}
    model.census = Census.of(used, classes)
    return model


def count(
    model: Model,
    shard: TextShard,
    *,
    n_threads: int = 1,
    advance: Callable[[int], None] | None = None,
) -> Counted:
    """What the next step of a training finds in a shard. The model is not changed.

    advance: is told how many cells are done
    """
    step, census, recipe = check_due(model), _census(model), model.recipe
    if shard.text != model.facts["text"]:
        raise DataError(
            f"the shard is of the text {shard.text}, the model of {model.facts['text']}",
            file=shard.file,
            hint="give a shard that was cut with this model",
        )
    corpus = shard.trained_on(recipe)
    n_threads = useful(n_threads, int((corpus.src.lengths * corpus.tgt.lengths).sum()))
    begin = shard.n_before
    place = model.signature, step, shard.number, shard.n_shards, begin, begin + len(corpus)
    if step.kind == NUMBER:
        name = recipe.views[step.view]
        words = census.seen(name)
        local = LocalView.of(corpus, name, words.src.vocab, words.tgt.vocab, n_threads)
        return Counted(*place, [local.pairs])
    views = _positioned(model, step, census)
    if step.kind == DECIDE:
        keep = sampled(model.facts["pairs"], threshold.MOST_PAIRS)[begin : begin + len(corpus)]
        blocks = directions(views, recipe, corpus.select(keep), n_threads=n_threads)
        links, masses = threshold.scored(blocks, Decision(threshold.UNKNOWN, recipe.direction))
        scores = np.flatnonzero(links)
        return Counted(*place, histogram=(scores, links[scores], masses[scores]))
    stage, own = step.stage(recipe), None
    if stage.leaving is not None and model.shares is not None:
        own = model.shares.of_all(stage.leaving.left_out).part(begin, begin + len(corpus))
    locals_ = [LocalView.of(corpus, view.name, view.src, view.tgt, n_threads) for view in views]
    parameters = [
        local.parameters(view.parameters, n_threads) for local, view in zip(locals_, views, strict=True)
    ]
    seen = [local.seen for local in locals_]
    found = expect(parameters, seen, stage, recipe.direction, own=own, advance=advance, n_threads=n_threads)
    keys = packed = None
    if stage.together:
        keys = pair_keys(corpus, n_threads)
        shares = Shares.joined(keys, found.shares)
        packed = shares.offsets, shares.entries
    pairs = [local.pairs for local in locals_]
    return Counted(*place, pairs, found.counts, found.statistics, keys, packed)


def update(model: Model, parts: Iterable[Counted], *, n_threads: int = 1) -> Model:
    """The model after the next step of a training, from what the step found in each shard, in any order."""
    step, census, recipe = check_due(model), _census(model), model.recipe
    parts = sorted(parts, key=lambda part: part.shard)
    views = _positioned(model, step, census)
    _check_parts(parts, model, step, views)
    kept = model.views[: len(model.views) - len(views)]
    new = Model(recipe, [*kept, *views], dict(model.facts), list(model.history))
    new.progress, new.shares, new.census = model.progress, model.shares, census
    if step.kind == NUMBER:
        new.views.append(_numbered(recipe, step, census, parts))
        new.progress = {"iterations": 0, "divergence": None}
    elif step.kind == ITERATE:
        _iterate(new, views, step, census, parts, n_threads)
    else:
        links, masses = (np.zeros(threshold.SCALE + 1, np.int64) for _ in range(2))
        for part in parts:
            assert part.histogram is not None
            places, *found = part.histogram
            links[places] += found[0]
            masses[places] += found[1]
        new.facts["threshold"] = threshold.least_expected_aer(links, masses)[0]
    if step.kind == DECIDE or due(new) is None:
        if new.shares is not None:
            new.shares = new.shares.sorted(n_threads)
        position(new.views, recipe.last, recipe, census)  # the last stage may have had no iterations
        new.progress = new.census = None
        if recipe.threshold is None and recipe.last.together:
            new.facts["threshold"] = expected_threshold(new)
    return new


def check_due(model: Model, file: str | None = None) -> Due:
    """The next step. Refuses a training that is finished, or that another version has begun.

    file: where the model was read from
    """
    step = due(model)
    if step is None:
        raise DataError("the training of this model is finished", file=file, hint="align text with it")
    if model.census is None:
        raise DataError(
            "this training is not one in jobs: its model does not have the words of the whole text",
            file=file,
            hint="begin with the model that was made with the shards",
        )
    if model.facts.get("version") != __version__:
        raise DataError(
            f"aligner {model.facts.get('version')} began this training, and this is {__version__}",
            file=file,
            hint="go on with the same version",
        )
    return step


def _check_parts(parts: Sequence[Counted], model: Model, step: Due, views: Sequence[View]) -> None:
    """Refuses what was not counted by this step of this training, in each shard once."""
    recipe, census = model.recipe, _census(model)
    if not parts:
        raise DataError("nothing was counted", hint="count in each shard first")
    words = [(len(view.src), len(view.tgt)) for view in views if step.kind == ITERATE]
    if step.kind == NUMBER:
        seen = census.seen(recipe.views[step.view])
        words = [(len(seen.src.vocab), len(seen.tgt.vocab))]
    for part, before in zip(parts, [None, *parts], strict=False):
        if part.training != model.signature:
            raise DataError(
                f"these are counts of another training: {part.training}, not {model.signature}",
                file=part.file,
                hint="count with this model",
            )
        if part.due != step:
            raise DataError(
                f"these are counts of {part.due.described(recipe)}; due is {step.described(recipe)}",
                file=part.file,
                hint="count with this model",
            )
        if part.n_shards != parts[0].n_shards:
            raise DataError(
                f"these are counts of one of {part.n_shards} shards, others of one of {parts[0].n_shards}",
                file=part.file,
                hint="give the counts of all shards of one folder",
            )
        if before is not None and part.shard == before.shard:
            raise DataError(
                f"the counts of shard {part.shard} are there twice, also in {before.file}",
                file=part.file,
                hint="give the counts of each shard once",
            )
        fits = len(part.pairs) == len(words) and all(map(_knows, part.pairs, words))
        if step.kind == ITERATE:
            stage = step.stage(recipe)
            fits = (
                fits
                and all(map(partial(_fits, stage.shared), part.counts, views))
                and (part.keys is None) != stage.together
            )
        if not fits:
            raise DataError(
                "the counts are not of the words of this training", file=part.file, hint="count again"
            )
    missing = sorted({*range(1, parts[0].n_shards + 1)} - {part.shard for part in parts})
    if missing:
        raise DataError(
            f"the counts of {len(missing)} of {parts[0].n_shards} shards are missing: {shown(missing)}",
            hint="give the counts of all shards",
        )
    for part, end in zip(parts, [0, *(part.end for part in parts)], strict=False):
        if part.begin != end or part is parts[-1] and part.end != model.facts["pairs"]:
            raise DataError(
                f"the shard has the sentence pairs {part.begin} to {part.end} of {model.facts['pairs']},"
                f" and the shard before ends at {end}",
                file=part.file,
                hint="count in the shards of one folder",
            )


def _knows(pairs: WordPairs, words: tuple[int, int]) -> bool:
    """Whether ids are those of so many source words and target words."""
    return all(not len(ids) or ids[-1] < n for ids, n in zip((pairs.src, pairs.tgt), words, strict=True))


def _fits(shared: bool, counts: Counts, view: View) -> bool:
    """Whether counts have as many columns as the parameters of a view."""
    positions = view.parameters.positions
    n = 0 if positions is None else positions.n_counts
    return bool(counts.pairs.shape[1] == (1 if shared else 2) and counts.positions.shape[1] == n)


def _census(model: Model) -> Census:
    assert model.census is not None
    return model.census


def _positioned(model: Model, step: Due, census: Census) -> list[View]:
    """The views of a step, with the positions that its stage begins with. They can be changed."""
    if step.kind == NUMBER:
        return []
    some = model.views[step.view :] if step.view >= 0 else model.views
    views = [
        View(x.name, x.src, x.tgt, Parameters(x.parameters.lexicon, x.parameters.positions)) for x in some
    ]
    position(views, step.stage(model.recipe), model.recipe, census)
    return views


def _numbered(recipe: Recipe, step: Due, census: Census, parts: Sequence[Counted]) -> View:
    """A view before its first iteration."""
    name = recipe.views[step.view]
    words = census.seen(name)
    src, tgt = words.src.vocab, words.tgt.vocab
    word_pairs = merged([part.pairs[0] for part in parts], len(src), len(tgt))
    lexicon = Lexicon.even_of(src, tgt, *word_pairs, recipe.identical)
    lexicon.keep(recipe.direction)
    return View(name, src, tgt, Parameters(lexicon))


def _iterate(
    model: Model,
    views: Sequence[View],
    step: Due,
    census: Census,
    parts: Sequence[Counted],
    n_threads: int,
) -> None:
    """Gives some views of a model what an iteration learned."""
    recipe, stage = model.recipe, step.stage(model.recipe)
    assert model.progress is not None
    statistics, beside, counts = dict.fromkeys(LOGLIKS, 0), [], []
    for n, view in enumerate(views):
        m = view.parameters = view.parameters.copied()
        whole = Counts.zero(m, shared=stage.shared)
        for part in parts:
            part.pairs[n].add_to(whole, part.counts[n], m.lexicon, n_threads)
        counts.append(whole)
        more = Beside()
        if stage.leaving is not None:
            alike = None
            if stage.leaving.spelling:
                alike = likeness_of(view.src, view.tgt, m.lexicon.rows, m.lexicon.tgt, n_threads)
            more = Beside(census.seen(view.name).occurrences, alike)
        beside.append(more)
    for part in parts:
        for name, value in part.statistics.items():
            statistics[name] = statistics.get(name, 0) + value
    divergence = renew(views, counts, stage, recipe.direction, beside, n_threads)
    model.shares = None
    if stage.together:
        keys = [part.keys for part in parts if part.keys is not None]
        model.shares = Shares.joined(np.concatenate(keys), [x.shares for x in parts if x.shares is not None])
    monitor = Monitor(recipe, census.n_pairs, census.n_generated, history=model.history)
    record(model, views, stage, statistics, monitor)
    model.progress = {"iterations": step.iteration + 1, "divergence": divergence}

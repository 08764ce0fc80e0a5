"""A training on Dask: shards of the text stay on workers, and so do word pairs (cluster/owners.py).

Tasks are pure functions of what other tasks made. When a worker is lost, Dask does its tasks again elsewhere,
to the same bits. The process that asks for the training has the text, what is known of words, and positions;
it gets the word pairs when the model is finished, without those that a finished model does not keep.
"""

from __future__ import annotations

import logging
import operator
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from distributed import Client, Future, LocalCluster

from aligner.cluster.due import ITERATE, NUMBER, Due, due
from aligner.cluster.jobs import begin
from aligner.cluster.local import LocalView
from aligner.cluster.owners import Found, Owned, slices
from aligner.cluster.shards import TextShard, in_text_shards
from aligner.decoding import threshold
from aligner.decoding.combine import Decision
from aligner.decoding.model import Model
from aligner.errors import DataError
from aligner.models.census import Census
from aligner.models.counts import LOGLIKS, Counts
from aligner.models.lexicon import Lexicon
from aligner.models.parameters import Parameters, View
from aligner.models.recipe import Recipe
from aligner.models.shares import Packed, Shares
from aligner.models.update import Columns, Divergence, update_null
from aligner.text.cells import cell_offsets
from aligner.text.classes import BothClasses
from aligner.text.corpus import Corpus, pair_keys
from aligner.text.sides import Vocab
from aligner.training.iteration import expected_threshold, position, record
from aligner.training.monitor import Monitor
from aligner.training.progress import Progress, kind_of, training_work
from aligner.training.start import trained_on

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

LOCAL = re.compile(r"local:([1-9][0-9]{0,3})")
KEPT_CELLS = 1 << 27  # of a shard and a view, that a worker keeps; others are looked up in each iteration


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """The scheduler at an address, as of Dask; local:N is a cluster of N processes on this machine."""
    match = LOCAL.fullmatch(address)
    if match is None:
        try:
            client = Client(address, timeout="10s")
        except (OSError, ValueError) as error:
            raise DataError(
                f"there is no scheduler of Dask at {address}: {error}",
                hint="start one there by `dask scheduler`, or give local:2",
            ) from None
        with client:
            yield client
        return
    logging.getLogger("distributed").setLevel(logging.ERROR)  # what workers say as they come and go
    silent = {"silence_logs": logging.ERROR, "dashboard_address": None}
    with LocalCluster(n_workers=int(match[1]), threads_per_worker=1, **silent) as cluster:
        with Client(cluster) as client:
            yield client


def learn_on(
    client: Client,
    corpus: Corpus,
    recipe: Recipe,
    *,
    classes: BothClasses | None = None,
    progress: Progress | None = None,
    log: IO[str] | None = None,
    facts: Mapping[str, Any] | None = None,
    n_shards: int | None = None,
) -> Model:
    """The model of a text: the one that training.loop.learn makes, to the last bit.

    n_shards: of the text, and owners of word pairs; None: as many as the workers have threads
    """
    model = begin(corpus, recipe, classes=classes, facts=facts)
    census, recipe = model.census, model.recipe
    assert census is not None
    corpus = corpus.fitted(recipe.lowercase, recipe.split)
    used, _, _ = trained_on(corpus.bounded(), recipe)
    monitor = Monitor(recipe, census.n_pairs, census.n_generated, progress, log, model.history)
    if progress is not None:
        progress.plan(training_work(recipe, int(cell_offsets(used)[-1])))
    monitor.begin(model.signature)
    n_shards = n_shards or sum(client.nthreads().values()) or 1
    shards = list(in_text_shards(corpus, recipe, n_shards, model.facts["text"]))
    work = _Training(client, model, census, shards, monitor)
    try:
        while (step := due(model)) is not None and step.kind in (NUMBER, ITERATE):
            if step.kind == NUMBER:
                work.number(step)
            else:
                work.iterate(step)
        work.collect(used)
    finally:
        monitor.close()
    model.progress = model.census = None
    if recipe.threshold is None and recipe.last.together:
        model.facts["threshold"] = expected_threshold(model)
    elif recipe.threshold is None:
        how = Decision(threshold.UNKNOWN, recipe.direction)
        model.facts["threshold"] = threshold.find("auto", model.views, recipe, used, how)[0]
    return model


@dataclass(eq=False)
class _Spread:
    """A view whose word pairs are on workers. Lists of futures are of shards, or of owners.

    view    its parameters have no word pairs
    words   futures of its vocabularies
    bounds  the first source word of each owner, and the end
    ids     for each shard: the words of the view that stand in it
    looks   for each shard: LocalView
    owned   for each owner: Owned
    t       for each owner: t of its word pairs
    alike   for each owner: how alike words are spelled; found when it is asked for
    """

    view: View
    words: tuple[Future, Future]
    bounds: Longs
    ids: list[tuple[Ints, Ints]]
    looks: list[Future]
    owned: list[Future]
    t: list[Future]
    alike: list[Future] = field(default_factory=list)


class _Training:
    """A training under way."""

    def __init__(
        self, client: Client, model: Model, census: Census, shards: Sequence[TextShard], monitor: Monitor
    ) -> None:
        self.client, self.model, self.census, self.monitor = client, model, census, monitor
        self.run, self.n_tasks = uuid.uuid4().hex, 0
        self.workers = sorted(client.nthreads())
        self.cells = [int(cell_offsets(shard.trained_on(model.recipe))[-1]) for shard in shards]
        self.shards = [self.do(_kept, shard, at=n) for n, shard in enumerate(shards)]
        self.shares: list[Future] | None = None
        self.views: list[_Spread] = []

    def do(self, function: Callable[..., Any], *arguments: Any, at: int | None = None) -> Future:
        """A task. at: its worker, if that one is still there"""
        self.n_tasks += 1
        where: dict[str, Any] = {}
        if at is not None:
            where = {"workers": [self.workers[at % len(self.workers)]], "allow_other_workers": True}
        name = function.__qualname__.strip("_").replace(".", "_").replace("_", "")
        key = f"{name}-{self.run}{self.n_tasks:08x}"
        return self.client.submit(function, *arguments, key=key, pure=False, **where)

    def get(self, futures: Sequence[Future]) -> list[Any]:
        return list(self.client.gather(list(futures)))

    def number(self, step: Due) -> None:
        """Numbers the word pairs of a view."""
        model, recipe = self.model, self.model.recipe
        self.monitor.number(step.view)
        name, N = recipe.views[step.view], len(self.shards)
        seen = self.census.seen(name)
        src, tgt = seen.src.vocab, seen.tgt.vocab
        words = self.do(_kept, src), self.do(_kept, tgt)
        looks = [self.do(_look, x, recipe, name, *words, at=n) for n, x in enumerate(self.shards)]
        widths, ids = np.zeros(len(src), np.int64), []
        for src_ids, tgt_ids, own in self.get([self.do(_widths, x, at=n) for n, x in enumerate(looks)]):
            widths[src_ids] += own
            ids.append((src_ids, tgt_ids))
        ends = np.cumsum(widths)
        total = int(ends[-1]) if len(ends) else 0
        cuts = np.searchsorted(ends, total * np.arange(1, N) / N).tolist()
        bounds = np.array([0, *cuts, len(src)], np.int64)
        sliced = [self.do(_slices, x, bounds, at=n) for n, x in enumerate(looks)]
        owned = []
        for k, (start, stop) in enumerate(zip(bounds.tolist(), bounds[1:].tolist(), strict=False)):
            parts = [self.do(operator.getitem, x, k, at=n) for n, x in enumerate(sliced)]
            owned.append(self.do(Owned.of, start, stop, len(tgt), parts, at=k))
        alike = [self.do(Owned.alike, x, *words, recipe.identical, at=k) for k, x in enumerate(owned)]
        columns = [self.do(Owned.columns, x, y, len(tgt)) for x, y in zip(owned, alike, strict=True)]
        sums = tuple(np.sum(x, axis=0) for x in zip(*self.get(columns), strict=True))
        told = self.do(_kept, sums)
        t = [
            self.do(Owned.even, x, y, recipe.identical, told, recipe.direction, at=k)
            for k, (x, y) in enumerate(zip(owned, alike, strict=True))
        ]
        nowhere = np.zeros(len(src) + 1, np.int64), np.empty(0, np.int32)
        lexicon = Lexicon.even_of(src, tgt, *nowhere, 1.0)
        lexicon.keep(recipe.direction)
        view = View(name, src, tgt, Parameters(lexicon))
        self.views.append(_Spread(view, words, bounds, ids, looks, owned, t))
        model.views.append(view)
        model.progress = {"iterations": 0, "divergence": None}
        self.monitor.advance("number", sum(self.cells))

    def iterate(self, step: Due) -> None:
        """One iteration of a view, or of all views together."""
        model, recipe, stage = self.model, self.model.recipe, step.stage(self.model.recipe)
        direction = recipe.direction
        spread = self.views if stage.together else [self.views[step.view]]
        views = [x.view for x in spread]
        self.monitor.enter(None if stage.together else step.view, stage, step.iteration)
        position(views, stage, recipe, self.census)
        whole = self.do(_kept, [view.parameters for view in views])
        bounds = [x.bounds for x in spread]
        found = []
        for n in range(len(self.shards)):
            t = [
                [
                    self.do(Owned.cut_out, x, y, n, at=k)
                    for k, (x, y) in enumerate(zip(v.owned, v.t, strict=True))
                ]
                for v in spread
            ]
            own = None if self.shares is None else self.shares[n]
            looks = [v.looks[n] for v in spread]
            found.append(self.do(Found.of, looks, t, whole, stage, direction, bounds, own, at=n))
        heads = [self.do(_head, x, at=n) for n, x in enumerate(found)]
        totals = [
            [
                self.do(Owned.total, x, [self.do(_part, y, v, k, at=n) for n, y in enumerate(found)], at=k)
                for k, x in enumerate(some.owned)
            ]
            for v, some in enumerate(spread)
        ]
        self.shares = [self.do(_shares, x, at=n) for n, x in enumerate(found)] if stage.together else None
        told = []
        for n, head in enumerate(heads):
            told.append(head.result())
            self.monitor.advance(kind_of(stage), self.cells[n], len(views))
        statistics = dict.fromkeys(LOGLIKS, 0)
        for _, more in told:
            for name, value in more.items():
                statistics[name] = statistics.get(name, 0) + value
        divergence = None
        for v, some in enumerate(spread):
            divergence = self._renew(some, totals[v], [counts[v] for counts, _ in told], step)
        record(model, views, stage, statistics, self.monitor)
        model.progress = {"iterations": step.iteration + 1, "divergence": divergence}

    def _renew(
        self, some: _Spread, totals: list[Future], counts: Sequence[Counts], step: Due
    ) -> Divergence | None:
        """New parameters of a view. totals: of its owners; counts: of the shards, without word pairs"""
        stage, recipe, m = step.stage(self.model.recipe), self.model.recipe, some.view.parameters
        n_tgt = len(some.view.tgt)
        sums = self.get([self.do(_columns, x, y, n_tgt) for x, y in zip(some.owned, totals, strict=True)])
        columns = sum(sums[1:], start=sums[0])
        total = Counts.zero(m, shared=stage.together)
        for own, (src, tgt) in zip(counts, some.ids, strict=True):
            total.null_fwd[tgt] += own.null_fwd
            total.null_rev[src] += own.null_rev
            total.positions += own.positions
        occurrences, likeness = None, [None] * len(some.owned)
        if stage.leaving is not None:
            occurrences = self.census.seen(some.view.name).occurrences
            if stage.leaving.spelling:
                some.alike = some.alike or [
                    self.do(Owned.likeness, x, *some.words, at=k) for k, x in enumerate(some.owned)
                ]
                likeness = some.alike
        divergence = update_null(m, total, stage, columns, occurrences)
        if stage.leaving is None:
            m.lexicon.keep(recipe.direction)
        told = self.do(_kept, columns), self.do(_kept, m.lexicon.evidence)
        new = [
            self.do(Owned.renewed, x, t, c, stage, recipe.direction, *told, alike, at=k)
            for k, (x, t, c, alike) in enumerate(zip(some.owned, some.t, totals, likeness, strict=True))
        ]
        some.t = [self.do(operator.getitem, x, 0, at=k) for k, x in enumerate(new)]
        if divergence is not None:
            parts = self.get([self.do(operator.getitem, x, 1, at=k) for k, x in enumerate(new)])
            added = np.concatenate([own for _, own in parts])
            fwd, rev = divergence
            divergence = fwd + float(added[:, 0].sum()), rev + (parts[0][0] + float(added[:, 1].sum()))
        return divergence

    def collect(self, used: Corpus) -> None:
        """Gives the model its word pairs and shares. used: the text that is trained on"""
        model, recipe = self.model, self.model.recipe
        for some in self.views:
            parts = self.get([self.do(Owned.pruned, x, t) for x, t in zip(some.owned, some.t, strict=True)])
            widths, tgt, t = (np.concatenate(x) for x in zip(*parts, strict=True))
            lexicon = some.view.parameters.lexicon
            lexicon.rows = np.concatenate([np.zeros(1, np.int64), np.cumsum(widths)])
            lexicon.tgt, lexicon.t = tgt, t
        if self.shares is not None:
            packed: list[Packed] = self.get(self.shares)
            model.shares = Shares.joined(pair_keys(used), packed).sorted()
        position(model.views, recipe.last, recipe, self.census)  # the last stage may have had no iterations


def _kept(x: Any) -> Any:
    """What many tasks need, or what must not be lost: the scheduler can make it again."""
    return x


def _look(shard: TextShard, recipe: Recipe, view: str, src: Vocab, tgt: Vocab) -> LocalView:
    found = LocalView.of(shard.trained_on(recipe), view, src, tgt, 1)
    found.seen.keep(KEPT_CELLS, 1)
    return found


def _widths(look: LocalView) -> tuple[Ints, Ints, Longs]:
    """The words of a shard, and how many word pairs each source word has."""
    return look.pairs.src, look.pairs.tgt, np.diff(look.pairs.rows)


def _slices(look: LocalView, bounds: Longs) -> list[Any]:
    return list(slices(look.pairs, bounds))


def _part(found: Found, view: int, owner: int) -> Longs:
    return found.pairs[view][owner]


def _head(found: Found) -> tuple[list[Counts], dict[str, int]]:
    return found.counts, found.statistics


def _shares(found: Found) -> Packed | None:
    return found.shares


def _columns(owned: Owned, counts: Longs, n_tgt: int) -> Columns:
    return Columns.of(owned.tgt, counts, n_tgt)

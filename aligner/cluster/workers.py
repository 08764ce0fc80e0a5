"""A training on Dask: shards of the text stay on workers, and so do word pairs (cluster/owners.py).

Tasks are pure functions of what other tasks made. When a worker is lost, and its shards with it, the part of
the training that was under way begins again, to the same bits. The process that asks for the training has the
text, what is known of words, and positions; it gets the word pairs when the model is finished, without those
that a finished model does not keep.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from distributed import Client, Future, KilledWorker, TimeoutError

from aligner import __version__
from aligner.cluster import tasks
from aligner.cluster.due import DECIDE, ITERATE, NUMBER, Due, due
from aligner.cluster.jobs import begin
from aligner.cluster.shards import TextShard, in_text_shards
from aligner.cluster.signals import held
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
from aligner.models.stage import Stage
from aligner.models.update import Divergence, update_null
from aligner.text.cells import cell_offsets
from aligner.text.classes import BothClasses
from aligner.text.corpus import Corpus, pair_keys
from aligner.training.iteration import expected_threshold, position, record
from aligner.training.monitor import Monitor
from aligner.training.progress import Progress, decoding_work, expected, kind_of, training_work
from aligner.training.start import kept

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

WHY_LOST = "their logs say why; they may have too little memory"
MOST_LOSSES = 5  # of workers, in a part of a training
PAUSE = 0.005  # seconds between two looks whether tasks are done, and whether a signal has come
PATIENCE = 60  # seconds that a cluster may be without workers when some were lost


def learn_on(
    client: Client,
    corpus: Corpus,
    recipe: Recipe,
    *,
    classes: BothClasses | None = None,
    progress: Progress | None = None,
    log: IO[str] | None = None,
    facts: Mapping[str, Any] | None = None,
    run: Mapping[str, str] | None = None,
    n_shards: int | None = None,
) -> Model:
    """The model of a text: the one that training.loop.learn makes, to the last bit.

    n_shards: of the text, and owners of word pairs; None: as many as the workers have threads
    """
    model = begin(corpus, recipe, classes=classes, facts=facts)
    census, recipe = model.census, model.recipe
    assert census is not None
    corpus = corpus.fitted(recipe.lowercase, recipe.split)
    used = corpus.bounded()
    if recipe.max_length:
        used = used.select(kept(used, recipe))
    monitor = Monitor(recipe, census.n_pairs, census.n_generated, progress, log, model.history)
    if progress is not None:
        n_cells = int(cell_offsets(used)[-1])
        progress.plan(training_work(recipe, n_cells))
        if progress.aligns is not None:
            progress.plan(decoding_work(recipe, n_cells, progress.aligns))
    monitor.begin(model.signature + "".join(f"|{key}:{value}" for key, value in (run or {}).items()))
    n_shards = n_shards or sum(client.nthreads().values()) or 1
    shards = partial(in_text_shards, corpus, recipe, n_shards, model.facts["text"])
    with held() as answer:
        work = _Training(client, model, census, used, shards, monitor, answer)
        try:
            while work.step():
                pass
        finally:
            monitor.close()
        del work  # its futures go, and no signal is answered meanwhile
    model.progress = model.census = None
    if recipe.threshold is None and recipe.last.together:
        model.facts["threshold"] = expected_threshold(model)
    elif recipe.threshold is None:
        how = Decision(threshold.UNKNOWN, recipe.direction)
        model.facts["threshold"] = threshold.find("auto", model.views, recipe, used, how)[0]
    return model


@dataclass(eq=False)
class _Spread:
    """What is known of a view whose word pairs are on workers.

    view    its parameters have no word pairs
    bounds  the first source word of each owner, and the end
    ids     for each shard: the words of the view that stand in it
    """

    view: View
    bounds: Longs
    ids: list[tuple[Ints, Ints]]


@dataclass(eq=False)
class _Held:
    """What a part of the training begins with.

    views      and copies of their parameters
    progress   of the model
    n_history  how many iterations were done
    t          for each owner: _Training.t, each with copies on two workers
    """

    views: list[tuple[_Spread, Parameters]]
    progress: dict[str, Any]
    n_history: int
    t: list[list[tuple[Future, ...]]] = field(default_factory=list)

    def survivors(self, client: Client) -> list[list[Future]] | None:
        """t as far as it is there; None: some of it is lost."""
        every = [x for own in self.t for alike in own for x in alike]
        try:
            there = client.who_has([x for x in every if not x.cancelled()])
        except CancelledError:  # another worker was lost meanwhile
            return None
        found = [[next((x for x in alike if there.get(x.key)), None) for alike in own] for own in self.t]
        return None if any(x is None for own in found for x in own) else found


class _Training:
    """A training under way. Shard n and owner n are on the same worker.

    words   for each view: its vocabularies
    shards  for each shard: TextShard
    looks   for each shard, for each view: LocalView
    shares  for each shard: the shares of the last iteration; None: there are none
    owned   for each owner, for each view: Owned
    alike   for each owner, for each view: how alike words are spelled; found when it is asked for
    t       for each owner: lists of what an update gives; those of one owner have all views, in their order
    """

    def __init__(
        self,
        client: Client,
        model: Model,
        census: Census,
        used: Corpus,
        cut: Callable[[], Iterator[TextShard]],
        monitor: Monitor,
        answer: Callable[[], None],
    ) -> None:
        """used: the text that is trained on; cut: gives its shards; answer: raises a signal that has come"""
        self.client, self.model, self.census, self.monitor = client, model, census, monitor
        self.used, self.cut, self.answer = used, cut, answer
        self.run, self.n_tasks = uuid.uuid4().hex, 0
        self.n_losses = self.n_reached = 0  # since a part began that was not reached before; its iterations
        self.is_lost = False  # what workers had, or some of it
        self.workers: list[str] = []  # none has any text yet
        self.checked: set[str] = set()  # workers whose version is known to be ours
        self.views: list[_Spread] = []
        self.pending: tuple[Divergence, list[Future]] | None = None  # the divergence, and what is added to it
        self.t: list[list[Future]] = []
        self.held = _Held([], dict(model.progress or {}), 0)

    def spread_text(self, patience: float = 0) -> None:
        """Gives each shard to its worker. The scheduler does not keep it: it is lost with the worker.

        patience: seconds that the cluster may be without workers
        """
        end = time.monotonic() + patience
        while not (there := self.client.nthreads()) and time.monotonic() < end:
            self.answer()
            time.sleep(0.1)
        if not there:
            raise DataError(
                "the cluster has no workers", hint="start some, by `dask worker`, and train again"
            )
        self.workers, self.shards, self.cells = sorted(there), [], []
        self.words: list[Future] = []
        self.check_versions()
        for n, shard in enumerate(self.cut()):
            self.answer()
            where = [self.workers[n % len(self.workers)]]
            try:
                self.shards.append(self.client.scatter(shard, workers=where, hash=False))
            except (KeyError, OSError, TimeoutError) as error:  # Dask's, where the worker is gone
                raise CancelledError(f"{where[0]} is lost: {error!r}") from error
            self.cells.append(int(cell_offsets(shard.trained_on(self.model.recipe))[-1]))
        self.N = len(self.shards)
        self.shares: list[Future] | None = None
        nothing: list[list[list[Future]]] = [[[] for _ in self.shards] for _ in range(3)]
        self.looks, self.owned, self.alike = nothing
        N, recipe = self.N, self.model.recipe
        for n, name in enumerate(recipe.views):  # of later views, while workers would wait for each other
            text = self.census.seen(name)
            self.words.append(self.do(tasks.kept, (text.src.vocab, text.tgt.vocab)))
            how = [recipe] * N, [name] * N, [self.words[-1]] * N
            looks = self.each(tasks.look, self.shards, *how, urgency=-n)
            for own, look in zip(self.looks, looks, strict=True):
                own.append(look)

    def check_versions(self) -> None:
        """Refuses workers, and a scheduler, that have another version of this program, or none."""
        new = [worker for worker in self.workers if worker not in self.checked]
        told = self.client.run(tasks.version, workers=new, on_error="return")
        if not self.checked:
            told |= {"of the scheduler": self._version_of_scheduler()}
        for who, version in told.items():
            if version == __version__ or isinstance(version, OSError):  # lost: it is told when it is needed
                continue
            what = "cannot load aligner:" if isinstance(version, Exception) else "has aligner"
            raise DataError(
                f"the process {who} {what} {version}; this is aligner {__version__}",
                hint="install this version where scheduler and workers are, and start them again",
            )
        self.checked.update(new)

    def _version_of_scheduler(self) -> str | Exception:
        try:
            version: str = self.client.run_on_scheduler(tasks.version)
        except OSError:
            raise
        except Exception as error:  # whatever loading a module may raise there
            return error
        return version

    def step(self) -> bool:
        """The next step of the training, or collects what it made; False: nothing is left to do.

        When a worker is lost, the part under way begins again: a view by itself, or all views together.
        """
        try:
            if self.is_lost:
                self.recover()
            elif not self.workers:
                self.spread_text()
                self.t = [[] for _ in self.shards]
            step = due(self.model)
            if step is None or step.kind == DECIDE:
                self.collect()
                return False
            if step.kind == NUMBER or step == Due(ITERATE, -1, self.model.recipe.apart):
                self.hold()
            if step.kind == NUMBER:
                self.number(step)
            else:
                self.iterate(step)
        except CancelledError:
            self.is_lost = True
        except KilledWorker as error:
            raise DataError(
                f"{error.allowed_failures + 1} workers were lost one after another, each at the same task",
                hint=WHY_LOST,
            ) from None
        except OSError:  # of Dask, or of the log
            if self.has_scheduler():
                raise
            raise DataError(
                "the scheduler of Dask was lost", hint="start it and its workers again, and train again"
            ) from None
        return True

    def has_scheduler(self) -> bool:
        """Whether the scheduler answers."""
        try:
            self.client.nthreads()
        except OSError:
            return False
        return True

    def hold(self) -> None:
        """A part of the training begins: what it begins with is on two workers, where there are two.

        Dask may move what a task made, and drop all but one of the places where it is. So both are copies.
        """
        if len(self.model.history) > self.n_reached:
            self.n_losses, self.n_reached = 0, len(self.model.history)
        views = [(x, x.view.parameters.copied()) for x in self.views]
        before = {x.key: copies for own in self.held.t for x, *copies in own}
        self.held = _Held(views, dict(self.model.progress or {}), len(self.model.history))
        for k, own in enumerate(self.t):
            copies = [
                before.get(x.key) or [self.do(tasks.kept, x, at=n, moves=False) for n in (k, k + 1)]
                for x in own
            ]
            self.held.t.append([(x, *both) for x, both in zip(own, copies, strict=True)])

    def recover(self) -> None:
        """Goes back to the beginning of the part, or of the training, with the workers that there are."""
        self.n_losses += 1
        if self.n_losses > MOST_LOSSES:
            raise DataError(
                f"workers were lost {self.n_losses} times in one part of the training", hint=WHY_LOST
            )
        if self.monitor.progress is not None:
            self.monitor.progress.say("a worker was lost: what it did is done again")
        t = self.held.survivors(self.client)
        if t is None:
            self.held = _Held([], {"iterations": 0, "divergence": None}, 0)
        self.spread_text(PATIENCE)  # others come in place of lost ones
        # What is left may be where its next copy goes. It goes to its owner first, and the copy elsewhere.
        owners = enumerate(t or [[] for _ in self.shards])
        self.t = [[self.do(tasks.kept, x, at=k, urgency=1) for x in own] for k, own in owners]
        self.wait([x for own in self.t for x in own])
        self.views, self.pending = [], None
        for some, parameters in self.held.views:
            some.view.parameters = parameters.copied()
            self.own(some)
        del self.model.views[len(self.views) :]
        self.model.progress = dict(self.held.progress)
        n_views, n_cells = len(self.views), sum(self.cells)
        left = training_work(self.model.recipe, n_cells, n_views, self.model.progress["iterations"])
        left["number"] -= n_views * expected("number", n_cells)  # those that are numbered are not counted
        self.monitor.go_back(self.held.n_history, left)
        self.is_lost = False

    def do(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        at: int | None = None,
        urgency: int = 0,
        moves: bool = True,
    ) -> Future:
        """A task. at: its worker; urgency: those of more go first

        moves: another worker may do it, where its own is lost or busy
        """
        self.n_tasks += 1
        where: dict[str, Any] = {"priority": urgency}
        if at is not None:
            where |= {"workers": [self.workers[at % len(self.workers)]], "allow_other_workers": moves}
        name = function.__name__.replace("_", "")
        key = f"{name}-{self.run}{self.n_tasks:08x}"
        return self.client.submit(function, *arguments, key=key, pure=False, **where)

    def each(self, function: Callable[..., Any], *lists: Sequence[Any], urgency: int = 0) -> list[Future]:
        """A task a shard, or an owner, on its worker. lists: of its arguments"""
        every = enumerate(zip(*lists, strict=True))
        return [self.do(function, *some, at=n, urgency=urgency) for n, some in every]

    def sent(self, function: Callable[..., Any], *lists: Sequence[Any]) -> list[list[Future | None]]:
        """For each receiver, for each sender: a task of the sender's about the receiver.

        A receiver has what is its own: None. lists: of the senders' arguments
        """
        return [
            [
                None if n == k else self.do(function, *some, k, at=n)
                for n, some in enumerate(zip(*lists, strict=True))
            ]
            for k in range(self.N)
        ]

    def wait(self, futures: Sequence[Future]) -> None:
        """Waits for tasks, and answers signals meanwhile.

        Dask's own waiting for some time ends with an exception, whose cycle of frames keeps results of tasks
        on the workers until Python collects its garbage.
        """
        while not all(x.done() for x in futures):
            self.answer()
            time.sleep(PAUSE)
        if lost := [x.key for x in futures if x.cancelled()]:
            raise CancelledError(f"{lost[0]} is lost")

    def get(self, futures: Sequence[Future]) -> list[Any]:
        """What tasks have found."""
        self.wait(futures)
        return list(self.client.gather(list(futures)))

    def number(self, step: Due) -> None:
        """Numbers the word pairs of a view."""
        model, recipe, N = self.model, self.model.recipe, self.N
        self.monitor.number(step.view)
        name = recipe.views[step.view]
        seen = self.census.seen(name)
        src, tgt = seen.src.vocab, seen.tgt.vocab
        words, looks = self.words[step.view], [x[step.view] for x in self.looks]
        widths, ids = np.zeros(len(src), np.int64), []
        for src_ids, tgt_ids, own in self.get(self.each(tasks.widths, looks)):
            widths[src_ids] += own
            ids.append((src_ids, tgt_ids))
        ends = np.cumsum(widths)
        total = int(ends[-1]) if len(ends) else 0
        cuts = np.searchsorted(ends, total * np.arange(1, N) / N).tolist()
        bounds = np.array([0, *cuts, len(src)], np.int64)
        nowhere = np.zeros(len(src) + 1, np.int64), np.empty(0, np.int32)
        lexicon = Lexicon.even_of(src, tgt, *nowhere, 1.0)
        lexicon.keep(recipe.direction)
        view = View(name, src, tgt, Parameters(lexicon))
        model.views.append(view)
        owned = self.own(_Spread(view, bounds, ids))
        alike = self.each(tasks.alike, owned, [words] * N, [recipe.identical] * N)
        columns = self.do(tasks.summed, self.each(tasks.widths_of, owned, alike, [len(tgt)] * N))
        given = [recipe.identical] * N, [columns] * N, [recipe.direction] * N
        even = self.each(tasks.even, owned, alike, *given)
        for k in range(N):
            self.t[k].append(even[k])
        self.pending = None
        model.progress = {"iterations": 0, "divergence": None}
        self.monitor.advance("number", sum(self.cells))

    def own(self, some: _Spread) -> list[Future]:
        """Gives the word pairs of the next view to their owners."""
        N, bounds = self.N, some.bounds
        looks = [x[len(self.views)] for x in self.looks]
        slices = self.sent(tasks.slice_for, looks, [bounds] * N)
        owned = self.each(tasks.own, range(N), [bounds] * N, looks, slices)
        for k in range(N):
            self.owned[k].append(owned[k])
        self.views.append(some)
        return owned

    def iterate(self, step: Due) -> None:
        """One iteration of a view, or of all views together."""
        model, recipe, stage = self.model, self.model.recipe, step.stage(self.model.recipe)
        which, N = slice(None) if stage.together else slice(step.view, step.view + 1), self.N
        spread = self.views[which]
        views = [x.view for x in spread]
        self.monitor.enter(None if stage.together else step.view, stage, step.iteration)
        position(views, stage, recipe, self.census)
        whole = self.do(tasks.kept, ([view.parameters for view in views], [x.bounds for x in spread]))
        owned, t = [x[which] for x in self.owned], [x[which] for x in self.t]
        looks, shares = [x[which] for x in self.looks], self.shares or [None] * N
        how = [whole] * N, [stage] * N, [recipe.direction] * N
        found = self.each(
            tasks.expect, range(N), looks, owned, t, self.sent(tasks.cut_out, owned, t), shares, *how
        )
        heads = self.each(tasks.head, found)
        totals = self.each(tasks.total, range(N), owned, found, self.sent(tasks.part, found))
        columns, n_links = None, [0] * len(views)
        if stage.leaving is None:
            n_tgt = [len(view.tgt) for view in views]
            columns = self.do(tasks.summed, self.each(tasks.columns, owned, totals, [n_tgt] * N))
        self.shares = self.each(tasks.shares, found) if stage.together else None
        told = []
        for n, head in enumerate(heads):
            told += self.get([head])
            self.monitor.advance(kind_of(stage), self.cells[n], len(views))
        statistics = dict.fromkeys(LOGLIKS, 0)
        for _, more in told:
            for name, value in more.items():
                statistics[name] = statistics.get(name, 0) + value
        if stage.leaving is not None and stage.leaving.spelling and not self.alike[0]:
            self.alike = [[self.do(tasks.likeness, x, self.words, at=k)] for k, x in enumerate(owned)]
        if stage.leaving is not None:
            n_links = [sum(some) for some in zip(*self.get(self.each(tasks.links, totals)), strict=True)]
        divergence = self._divergence()
        self.pending = None
        for v, some in enumerate(spread):
            base = self._renew_null(some, [counts[v] for counts, _ in told], stage, n_links[v])
            self.pending = None if base is None else (base, [])
        evidence = self.do(tasks.kept, [view.parameters.lexicon.evidence for view in views])
        alike = self.alike if stage.leaving is not None and stage.leaving.spelling else [[] for _ in range(N)]
        all_of = [columns] * N, [evidence] * N
        new = self.each(tasks.renewed, owned, t, totals, [stage] * N, [recipe.direction] * N, *all_of, alike)
        if self.pending is not None:
            self.pending[1].extend(self.each(tasks.added, new))
        for k in range(N):
            self.t[k][which] = [new[k]]
        model.progress = {"iterations": step.iteration, "divergence": divergence}
        record(model, views, stage, statistics, self.monitor)
        model.progress = {"iterations": step.iteration + 1, "divergence": None}

    def _renew_null(
        self, some: _Spread, counts: Sequence[Counts], stage: Stage, n_links: int
    ) -> Divergence | None:
        """New parameters of a view, without word pairs. counts: of the shards; n_links: of all word pairs"""
        m, total = some.view.parameters, Counts.zero(some.view.parameters, shared=stage.shared)
        for own, (src, tgt) in zip(counts, some.ids, strict=True):
            total.null_fwd[tgt] += own.null_fwd
            total.null_rev[src] += own.null_rev
            total.positions += own.positions
        occurrences = None if stage.leaving is None else self.census.seen(some.view.name).occurrences
        divergence = update_null(m, total, stage, n_links, occurrences)
        if stage.leaving is None:
            m.lexicon.keep(self.model.recipe.direction)
        return divergence

    def _divergence(self) -> Divergence | None:
        """The divergence that the last update of a view's lexicon left."""
        if self.pending is None:
            return None
        (fwd, rev), futures = self.pending
        parts = self.get(futures)
        added = np.concatenate([own for _, own in parts])
        return fwd + float(added[:, 0].sum()), rev + (parts[0][0] + float(added[:, 1].sum()))

    def collect(self) -> None:
        """Gives the model its word pairs and shares."""
        model, recipe = self.model, self.model.recipe
        for v, some in enumerate(self.views):
            parts = self.get(self.each(tasks.pruned, self.owned, self.t, [v] * self.N))
            widths, tgt, t = (np.concatenate(x) for x in zip(*parts, strict=True))
            lexicon = some.view.parameters.lexicon
            lexicon.rows = np.concatenate([np.zeros(1, np.int64), np.cumsum(widths)])
            lexicon.tgt, lexicon.t = tgt, t
        if self.shares is not None:
            packed: list[Packed] = self.get(self.shares)
            model.shares = Shares.joined(pair_keys(self.used), packed).sorted()
        position(model.views, recipe.last, recipe, self.census)  # the last stage may have had no iterations

"""The one training loop: a recipe's iterations over one corpus, and a Monitor that says how they go."""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from aligner.decoding import posteriors
from aligner.errors import DataError
from aligner.links.links import Links
from aligner.models import hmm, mixture, start
from aligner.models.model import Model, Parameters, View, check_threads
from aligner.models.recipe import Inference, Recipe
from aligner.scoring import evaluate
from aligner.text.cells import number_pairs
from aligner.text.corpus import Corpus
from aligner.text.views import see


@dataclass
class Monitor:
    """Keeps the history of a training, and says on stderr and in a log how each iteration went.

    The history has what depends on corpus and recipe only, so that equal trainings make equal models; time
    and memory are printed.
    """

    n_iterations: int
    n_pairs: int  # that have words on both sides
    n_tokens: tuple[int, int]  # that the forward and the reverse model generate
    quiet: bool = False
    log: IO[str] | None = None
    history: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = time.perf_counter()
        self.quiet = self.quiet or sys.stderr is None
        terminal = not self.quiet and sys.stderr.isatty()
        self.bar = tqdm(total=self.n_iterations, unit="iteration", disable=not terminal, leave=False)

    def add(
        self, view: str, model: str, how: Inference, statistics: dict[str, float], area: float | None
    ) -> None:
        """One iteration is done; statistics of the parameters it started from, area of those it made."""
        now = time.perf_counter()
        seconds, self.clock = now - self.clock, now
        speed = sum(self.n_tokens) / seconds
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        wanted = {"forward": how.forward, "reverse": how.reverse}
        loglik = dict(zip(wanted, (statistics["loglik_fwd"], statistics["loglik_rev"]), strict=True))
        tokens = dict(zip(wanted, self.n_tokens, strict=True))
        entry: dict[str, Any] = {
            "iteration": len(self.history) + 1,
            "view": view,
            "model": model,
            "loglik": {name: loglik[name] for name in wanted if wanted[name]},
            "perplexity": {
                name: math.exp(-loglik[name] / max(1, tokens[name])) for name in wanted if wanted[name]
            },
        }
        if how.constraint != "none":
            n = max(1, self.n_pairs)
            entry |= {
                "kl": statistics["kl"],
                "objective": sum(loglik.values()) - statistics["kl"],
                "violation": [statistics["before"] / n, statistics["after"] / n],
                "calls": statistics["calls"] / n,
                "not_converged": 1 - statistics["converged"] / n,
            }
        if area is not None:
            entry["area"] = area
        self.history.append(entry)
        if self.log is not None:
            cost = {"seconds": seconds, "tokens_per_second": speed, "memory_mb": memory}
            print(json.dumps(entry | cost), file=self.log, flush=True)
        if not self.quiet:
            line = f"{describe(entry)}  {seconds:.2f} s  {speed / 1e6:.1f}M tokens/s  {memory} MB"
            try:
                self.bar.write(line, file=sys.stderr)
                self.bar.update()
            except OSError:  # nobody reads on: not a reason to stop
                self.quiet = True

    def close(self) -> None:
        self.bar.close()


def describe(entry: dict[str, Any]) -> str:
    """A line of an iteration."""
    perplexity = ", ".join(f"{value:.2f} {name}" for name, value in entry["perplexity"].items())
    line = f"{entry['view']} {entry['model']} {entry['iteration']}: perplexity {perplexity}"
    if "kl" in entry:
        before, after = entry["violation"]
        line += f", violation {before:.3f} -> {after:.3f} in {entry['calls']:.1f} calls"
    return line + (f", area {100 * entry['area']:.2f}" if "area" in entry else "")


@dataclass(frozen=True)
class Development:
    """Sentence pairs with gold links, to tell when to stop: by the area under the precision-recall curve."""

    corpus: Corpus
    gold: Links

    def __post_init__(self) -> None:
        if len(self.corpus) != len(self.gold):
            raise DataError(
                f"the development text has {len(self.corpus)} pairs, its gold links {len(self.gold)} lines",
                hint="they must match line by line",
            )
        if (
            self.gold.sure is None
            and len(self.gold.src) == 0
            or self.gold.sure is not None
            and not self.gold.sure.any()
        ):
            raise DataError("the development set has no sure links", hint="they tell when to stop")

    def area(self, model: Model, n_threads: int) -> float:
        links = [
            posteriors.combine(model, *block, "soft-union", 0.0)
            for block in posteriors.directions(model, self.corpus, n_threads=n_threads)
        ]
        return evaluate.area(Links.joined(links), self.gold)


def train(
    text: Corpus | Iterable[tuple[str | Sequence[str], str | Sequence[str]]],
    recipe: Recipe | None = None,
    *,
    init: Model | None = None,
    development: Development | None = None,
    n_threads: int = 1,
    quiet: bool = True,
    log: IO[str] | None = None,
    facts: dict[str, Any] | None = None,
    memory: int = 0,
) -> Model:
    """A model of sentence pairs, given as text, as lists of tokens or as a Corpus.

    init: a model to start from. development: iterations of the model stop when they no longer help there,
    and the best is kept. memory: bytes that cells, 4 each, may take to make aligning the text itself quicker;
    one view's are needed in any case.
    """
    recipe = recipe or Recipe.of()
    corpus = text if isinstance(text, Corpus) else Corpus.from_pairs(text)
    check_threads(n_threads)
    if init is not None:
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
    used = corpus
    if recipe.max_length:
        used = corpus.select(np.maximum(corpus.src.lengths, corpus.tgt.lengths) <= recipe.max_length)
    full = (used.src.lengths > 0) & (used.tgt.lengths > 0)
    monitor = Monitor(
        len(recipe.schedule) * len(recipe.views),
        int(full.sum()),
        (int(used.tgt.lengths[full].sum()), int(used.src.lengths[full].sum())),
        quiet,
        log,
    )
    views: list[View] = []
    kept: dict[int, npt.NDArray[np.int32]] = {}  # view -> its cells
    n_bytes = 4 * int((used.src.lengths * used.tgt.lengths).sum())
    try:
        for n, name in enumerate(recipe.views):
            while kept and (len(kept) + 1) * n_bytes > memory:
                last = max(kept)
                del kept[last]
                views[last].parameters = views[last].parameters.in_order()
            first = None if init is None else init.views[n]
            view, cells = _train_view(name, used, recipe, first, development, n_threads, monitor)
            views.append(view)
            if used is corpus and (len(kept) + 1) * n_bytes <= memory:
                kept[n] = cells
            else:
                view.parameters = view.parameters.in_order()
            del cells
    finally:
        monitor.close()
    size = {"pairs": len(used), "tokens": [len(used.src.ids), len(used.tgt.ids)]}
    model = Model(recipe, views, size | (facts or {}), monitor.history)
    model.trained = (corpus, kept) if kept else None
    return model


def _train_view(
    name: str,
    corpus: Corpus,
    recipe: Recipe,
    init: View | None,
    development: Development | None,
    n_threads: int,
    monitor: Monitor,
) -> tuple[View, npt.NDArray[np.int32]]:
    """All iterations of one view; and the cells that its pairs are numbered by."""
    seen = see(corpus, name)
    pairs = number_pairs(seen, n_threads)
    if init is None:
        m = start.uniform(seen, pairs, recipe.window, recipe.p0, recipe.identical)
    else:
        m = start.inherited(seen, pairs, init, recipe.window, recipe.p0)
    view = View(name, seen.src.vocab, seen.tgt.vocab, m)
    best: tuple[float, Parameters] | None = None
    for model, how in recipe.schedule:
        if how.mixture:
            statistics = mixture.step(m, seen, pairs, how.agree, n_threads)
        else:
            statistics = hmm.step(m, seen, pairs, how, n_threads)
        area = None
        if development is not None and model == recipe.model:
            area = development.area(Model(recipe, [view]), n_threads)
        monitor.add(name, model, how, statistics, area)
        if area is not None:
            if best is not None and area <= best[0]:
                break
            best = area, m.copied()
    if best is not None:
        view.parameters = best[1]
    return view, pairs.cells

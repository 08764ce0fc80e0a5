"""Says how training goes: lines on stderr, a line an iteration in a log, a history."""

from __future__ import annotations

import json
import math
import resource
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, Any

from aligner.models.recipe import Recipe
from aligner.models.stage import Stage
from aligner.text.views import describe_view
from aligner.training.progress import Progress, kind_of

NAMES = {  # of families, for people
    "ibm1": "Model 1",
    "ibm2": "Model 2",
    "diagonal": "diagonal model",
    "surrogate": "surrogate of the HMM",
    "convex": "convex surrogate of the HMM",
    "hmm": "HMM",
    "loo": "leave-one-out HMM",
}


@dataclass
class Monitor:
    """Keeps a history of what depends on text and recipe only, so that equal trainings make equal models.

    Time and memory are printed and logged, but not kept.
    """

    recipe: Recipe
    n_pairs: int  # sentence pairs that have words on both sides
    n_tokens: tuple[int, int]  # tokens that the forward and the reverse model generate
    progress: Progress | None = None
    log: IO[str] | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    weighted: bool = False  # by known links: a log-likelihood counts their weights, a perplexity says nothing

    def __post_init__(self) -> None:
        self.clock = self.part_began = time.perf_counter()
        self.part, self.n_iterations = "", 0  # the part of the training under way, its iterations so far
        self.n_told = 0  # iterations of the history that were said to be done

    def begin(self, signature: str) -> None:
        """The log's first line says what is trained on what. Iterations of an earlier run come next."""
        if self.log is not None:
            for line in ({"signature": signature}, *self.history):
                print(json.dumps(line), file=self.log, flush=True)

    def enter(self, n_view: int | None, stage: Stage, done: int) -> None:
        """An iteration of a stage begins, after some others of the schedule.

        n_view: which view; None: all of them together
        """
        part = f"{NAMES[stage.family]}, {self._views(n_view)}"
        if part != self.part:
            self._end_part()
            self.part = part
        if self.progress is not None:
            same = [n for n, other in enumerate(self.recipe.schedule) if other.family == stage.family]
            self.progress.enter(f"{part}, iteration {done - same[0] + 1} of {len(same)}")

    def _views(self, n: int | None) -> str:
        """`view 2 of 3 (first 3 letters)`"""
        names = self.recipe.views
        if n is None and len(names) > 1:
            return f"all {len(names)} views together"
        seen = describe_view(names[n or 0])
        return seen if len(names) == 1 else f"view {(n or 0) + 1} of {len(names)} ({seen})"

    def _end_part(self) -> None:
        """Says what a part took. An iteration that was interrupted does not count."""
        now, n = time.perf_counter(), self.n_iterations
        if self.progress is not None and n:
            many = "1 iteration" if n == 1 else f"{n} iterations"
            again = " again" if len(self.history) <= self.n_told else ""
            self.progress.say(f"{self.part}: {many}{again}, {now - self.part_began:.1f} s")
            self.n_told = max(self.n_told, len(self.history))
        self.part_began, self.n_iterations = now, 0

    def go_back(self, n_history: int, work: Mapping[str, float]) -> None:
        """Iterations were lost: a part begins again. work: all that is to be done from now on

        n_history: how many iterations are left
        """
        del self.history[n_history:]
        self.n_iterations = 0
        if self.progress is not None:
            self.progress.plan_again(work)

    def number(self, n_view: int) -> None:
        """The word pairs of a view are looked up next."""
        if self.progress is not None:
            self.progress.enter(f"numbering word pairs, {self._views(n_view)}")

    def advance(self, kind: str, n_cells: int, n_views: int = 1) -> None:
        """Some cells are done."""
        if self.progress is not None:
            self.progress.advance(kind, n_cells, n_views)

    def add(
        self,
        view: str,
        stage: Stage,
        directions: list[str],
        statistics: dict[str, float],
        divergence: tuple[float, float] | None,
        area: float | None,
    ) -> None:
        """An iteration is done.

        statistics  of the parameters that the iteration started from
        divergence  of the same parameters' lexicon from its prior, forward and reverse; None: no bound
        area        of the parameters that the iteration made
        """
        now = time.perf_counter()
        seconds, self.clock = now - self.clock, now
        speed = sum(self.n_tokens) / seconds
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        both = ("forward", "reverse")
        loglik = dict(zip(both, (statistics["loglik_fwd"], statistics["loglik_rev"]), strict=True))
        tokens = dict(zip(both, self.n_tokens, strict=True))
        entry: dict[str, Any] = {
            "iteration": len(self.history) + 1,
            "view": view,
            "model": stage.name,
            "objective" if stage.skips is not None else "loglik": {name: loglik[name] for name in directions},
        }
        if not self.weighted and stage.skips is None:
            entry["perplexity"] = {name: _perplexity(loglik[name], tokens[name]) for name in directions}
        if divergence is not None:
            below = dict(zip(both, divergence, strict=True))
            entry["bound"] = {name: loglik[name] - below[name] for name in directions}
        if "kl" in statistics:
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
        self.n_iterations += 1
        if self.log is not None:
            spent = {"seconds": seconds, "tokens_per_second": speed, "memory_mb": memory}
            print(json.dumps(entry | spent), file=self.log, flush=True)
        if self.progress is not None:
            self.progress.advance(kind_of(stage), 0)
            if self.progress.verbose:
                cost = f"{seconds:.2f} s  {speed / 1e6:.1f}M tokens/s  {memory} MB"
                self.progress.say(f"  {describe(entry)}  {cost}")

    def stop(self, stage: Stage, n_cells: int, n_views: int) -> None:
        """Some cells of a stage are not needed."""
        if self.progress is not None:
            self.progress.drop(kind_of(stage), n_cells, n_views)

    def close(self) -> None:
        self._end_part()


def _perplexity(loglik: float, n_tokens: int) -> float:
    return math.exp(min(-loglik / max(1, n_tokens), 700.0))


def describe(entry: dict[str, Any]) -> str:
    """An iteration as a line of text."""
    quality = next(name for name in ("perplexity", "loglik", "objective") if name in entry)
    values = ", ".join(f"{value:.2f} {name}" for name, value in entry[quality].items())
    line = f"{entry['view']} {entry['model']} {entry['iteration']}: {quality} {values}"
    if "kl" in entry:
        before, after = entry["violation"]
        line += f", violation {before:.3f} -> {after:.3f} in {entry['calls']:.1f} calls"
    return line + (f", area {100 * entry['area']:.2f}" if "area" in entry else "")

"""The one training loop: a schedule of models over one corpus, and a Monitor that says how it goes."""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from aligner import hmm, model1
from aligner.corpus import Corpus
from aligner.model import Model, Parameters, View
from aligner.pairs import Pairs, number_pairs

Step = Callable[[Parameters, Corpus, Pairs, int], npt.NDArray[np.float64]]
STEPS: dict[str, Step] = {"ibm1": model1.step, "hmm": hmm.step}


@dataclass(frozen=True)
class Recipe:
    """How a model is trained: iterations of Model 1, then of the HMM."""

    ibm1_iterations: int = 5
    hmm_iterations: int = 5
    p0: float = 0.2
    window: int = 5
    max_length: int = 0  # pairs with a longer side are not trained on; 0: all are

    @property
    def schedule(self) -> list[str]:
        return ["ibm1"] * self.ibm1_iterations + ["hmm"] * self.hmm_iterations


@dataclass
class Monitor:
    """Keeps the history of a training, and prints a line on stderr and in a log after each iteration.

    The history has what depends on corpus and recipe only, so that equal trainings make equal models; time
    and memory are printed.
    """

    n_iterations: int
    n_tokens: tuple[int, int]  # that the forward and the reverse model generate
    quiet: bool = False
    log: IO[str] | None = None
    history: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = time.perf_counter()

    def add(self, model: str, loglik: npt.NDArray[np.float64]) -> None:
        """One iteration is done; loglik of the parameters it started from, by direction."""
        now = time.perf_counter()
        perplexity = [math.exp(-x / max(1, n)) for x, n in zip(loglik, self.n_tokens, strict=True)]
        seconds, self.clock = now - self.clock, now
        speed = sum(self.n_tokens) / seconds
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        entry = {
            "iteration": len(self.history) + 1,
            "model": model,
            "loglik": [float(x) for x in loglik],
            "perplexity": perplexity,
        }
        self.history.append(entry)
        if self.log is not None:
            cost = {"seconds": seconds, "tokens_per_second": speed, "memory_mb": memory}
            print(json.dumps(entry | cost), file=self.log, flush=True)
        if not self.quiet:
            print(
                f"{model} {len(self.history)}/{self.n_iterations}  perplexity {perplexity[0]:.2f} forward,"
                f" {perplexity[1]:.2f} reverse  {seconds:.2f} s  {speed / 1e6:.1f}M tokens/s  {memory} MB",
                file=sys.stderr,
            )


def train(
    corpus: Corpus,
    recipe: Recipe | None = None,
    *,
    n_threads: int = 1,
    quiet: bool = True,
    log: IO[str] | None = None,
    settings: dict[str, Any] | None = None,
) -> tuple[Model, npt.NDArray[np.int32] | None]:
    """A model of a corpus, and the corpus's cells if it was trained on all of it (see decode.directions)."""
    recipe = recipe or Recipe()
    used = corpus
    if recipe.max_length:
        used = corpus.select(np.maximum(corpus.src.lengths, corpus.tgt.lengths) <= recipe.max_length)
    pairs = number_pairs(used, n_threads)
    m = model1.uniform(used, pairs, recipe.window, recipe.p0)
    monitor = Monitor(len(recipe.schedule), (len(used.tgt.ids), len(used.src.ids)), quiet, log)
    for name in recipe.schedule:
        monitor.add(name, STEPS[name](m, used, pairs, n_threads))
    view = View("word", corpus.src.vocab, corpus.tgt.vocab, m)
    facts = {"pairs": len(used), "tokens": [len(used.src.ids), len(used.tgt.ids)], **asdict(recipe)}
    model = Model([view], {**facts, **(settings or {})}, monitor.history)
    return model, pairs.cells if used is corpus else None

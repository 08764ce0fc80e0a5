"""Says how training goes: a line an iteration on stderr and in a log, a bar on a terminal, a history."""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from dataclasses import dataclass, field
from typing import IO, Any

from aligner.models.recipe import Stage


@dataclass
class Monitor:
    """Keeps a history of what depends on text and recipe only, so that equal trainings make equal models.

    Time and memory are printed and logged, but not kept.
    """

    n_cells: int  # of all iterations together
    n_pairs: int  # sentence pairs that have words on both sides
    n_tokens: tuple[int, int]  # tokens that the forward and the reverse model generate
    quiet: bool = False
    log: IO[str] | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    weighted: bool = False  # by known links: a log-likelihood counts their weights, a perplexity says nothing

    def __post_init__(self) -> None:
        self.clock = time.perf_counter()
        self.quiet = self.quiet or sys.stderr is None
        self.bar: Any = None
        if not self.quiet and sys.stderr.isatty():
            from tqdm import tqdm  # 25 ms that few need

            self.bar = tqdm(total=self.n_cells, unit=" cells", unit_scale=True, leave=False, delay=0.5)

    def begin(self, signature: str) -> None:
        """The log's first line says what is trained on what."""
        if self.log is not None:
            print(json.dumps({"signature": signature}), file=self.log, flush=True)

    def advance(self, view: str, stage: Stage, n_cells: int) -> None:
        """A shard is done."""
        if self.bar is not None and not self.quiet:
            try:
                self.bar.set_description(f"{view} {stage.name}", refresh=False)
                self.bar.update(n_cells)
            except OSError:  # nobody reads stderr any more: not a reason to stop
                self.quiet = True

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
            "loglik": {name: loglik[name] for name in directions},
        }
        if not self.weighted:
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
        if self.log is not None:
            cost = {"seconds": seconds, "tokens_per_second": speed, "memory_mb": memory}
            print(json.dumps(entry | cost), file=self.log, flush=True)
        if not self.quiet:
            line = f"{describe(entry)}  {seconds:.2f} s  {speed / 1e6:.1f}M tokens/s  {memory} MB"
            try:
                if self.bar is None:
                    print(line, file=sys.stderr)
                else:
                    self.bar.write(line, file=sys.stderr)
            except OSError:
                self.quiet = True

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def _perplexity(loglik: float, n_tokens: int) -> float:
    return math.exp(min(-loglik / max(1, n_tokens), 700.0))


def describe(entry: dict[str, Any]) -> str:
    """An iteration as a line of text."""
    quality = "perplexity" if "perplexity" in entry else "loglik"
    values = ", ".join(f"{value:.2f} {name}" for name, value in entry[quality].items())
    line = f"{entry['view']} {entry['model']} {entry['iteration']}: {quality} {values}"
    if "kl" in entry:
        before, after = entry["violation"]
        line += f", violation {before:.3f} -> {after:.3f} in {entry['calls']:.1f} calls"
    return line + (f", area {100 * entry['area']:.2f}" if "area" in entry else "")

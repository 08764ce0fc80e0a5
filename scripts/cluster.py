"""What a training on many machines costs: measures jobs on a text, and simulates machines of unequal speed.

    python scripts/cluster.py measure SRC TGT --shards 4 [--model loo] [--pairs 100000]
    python scripts/cluster.py moved SRC TGT --shards 4 [--model loo] [--pairs 100000]
    python scripts/cluster.py stragglers

`measure` does the jobs one after another with one thread, and counts CPU seconds: other work on the machine
does not change them. It prints a line a step, then the constants of docs/cluster.md.
`moved` trains on as many processes of Dask as there are shards, and counts the bytes that they send.
`stragglers` prints how much longer a step takes than if all machines were equally fast.
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from aligner import Corpus, Model, Recipe, read_corpus
from aligner.cluster.counted import Counted
from aligner.cluster.due import Due, due
from aligner.cluster.jobs import begin, count, update
from aligner.cluster.local import LocalView
from aligner.cluster.shards import TextShard, in_text_shards
from aligner.text.cells import cell_offsets

WORKERS = (10, 100, 1000)
SHARDS = (1, 2, 4, 8)  # a worker
TRIALS = 200


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """(what work returns, CPU seconds)"""
    began = time.process_time()
    return work(), time.process_time() - began


def size_of(part: Counted) -> int:
    """Bytes of a counts file."""
    out = io.BytesIO()
    part.write(out)
    return len(out.getvalue())


def measure(src: str, tgt: str, n_shards: int, model: str, n_pairs: int | None) -> None:
    corpus = read_corpus(src, tgt)
    corpus = corpus if n_pairs is None else corpus.part(0, n_pairs)
    training, seconds = timed(partial(begin, corpus, Recipe.of(model)))
    n_cells = int(cell_offsets(corpus)[-1])
    print(f"{len(corpus)} pairs, {n_cells} cells, {n_shards} shards; begin: {seconds:.1f} s")
    shards = list(in_text_shards(corpus, training.recipe, n_shards, training.facts["text"]))
    cells, updates = [], []
    while (step := due(training)) is not None:
        parts, counting = timed(partial(_count_all, training, shards))
        n_local = max(1, sum(len(pairs.pair_tgt) for part in parts for pairs in part.pairs))
        n_bytes = sum(map(size_of, parts))
        shares = sum(0 if part.shares is None else part.shares[1].nbytes for part in parts)
        said = step.described(training.recipe)
        training, updating = timed(partial(update, training, parts))
        n_whole = sum(len(view.parameters.lexicon.tgt) for view in training.views)
        print(
            f"{said}: count {counting:.1f} s, {1e9 * counting / n_cells:.0f} ns a cell;"
            f" update {updating:.1f} s, {1e9 * updating / n_local:.0f} ns a word pair of a shard;"
            f" {n_local} word pairs in shards, {n_whole} in the model;"
            f" {n_bytes / n_local:.1f} bytes each, {shares / len(corpus):.0f} bytes of shares a pair",
            flush=True,
        )
        cells.append(counting / n_cells)
        updates.append(updating / n_cells)
    print(f"all steps: count {1e9 * sum(cells):.0f} ns a cell, update {1e9 * sum(updates):.0f} ns a cell")


def _count_all(training: Model, shards: Sequence[TextShard]) -> list[Counted]:
    return [count(training, shard) for shard in shards]


def moved(src: str, tgt: str, n_shards: int, model: str, n_pairs: int | None) -> None:
    from aligner.cluster.connection import connected

    corpus = read_corpus(src, tgt)
    corpus = corpus if n_pairs is None else corpus.part(0, n_pairs)
    with connected(f"local:{n_shards}") as client:
        sent, needed = bytes_of(client, corpus, Recipe.of(model), n_shards)
    print(
        f"{len(corpus)} pairs, {n_shards} shards: {sent} bytes sent until word pairs are collected,"
        f" {sent / needed:.2f} times those of t and counts of the shards' word pairs, {needed}"
    )


def bytes_of(client: Any, corpus: Corpus, recipe: Recipe, n_shards: int) -> tuple[int, int]:
    """(bytes that the workers send in a training, bytes of t and counts of the shards' word pairs)

    Sent is what goes to other workers and to the scheduler, until the word pairs of the model are collected.
    """
    from aligner.cluster import workers

    found = {"needed": 0, "sent": 0}

    class Measured(workers._Training):
        def iterate(self, step: Due) -> None:
            views = slice(None) if step.view < 0 else slice(step.view, step.view + 1)
            pairs = self.get(
                [self.do(_n_pairs, look, at=n) for n, x in enumerate(self.looks) for look in x[views]]
            )
            columns = 1 if step.stage(self.model.recipe).shared else 2
            found["needed"] += sum(pairs) * 8 * (1 + columns)  # t and counts
            super().iterate(step)

        def collect(self) -> None:
            self.get([self.do(len, x, at=k) for k, own in enumerate(self.t) for x in own])
            found["sent"] = sum(client.run(_sent).values())
            super().collect()

    usual, workers._Training = workers._Training, Measured  # type: ignore[misc]
    try:
        client.run(_count_bytes)
        workers.learn_on(client, corpus, recipe, n_shards=n_shards)
    finally:
        workers._Training = usual  # type: ignore[misc]
    return found["sent"], found["needed"]


def _n_pairs(look: LocalView) -> int:
    return len(look.pairs.pair_tgt)


def _count_bytes() -> None:
    """Lets a worker count what it sends."""
    from distributed.comm.tcp import TCP

    write = TCP.write
    TCP.n_sent = 0

    async def counted(self: Any, *given: Any, **more: Any) -> int:
        n = await write(self, *given, **more)
        TCP.n_sent += n
        return int(n)

    TCP.write = counted


def _sent() -> int:
    from distributed.comm.tcp import TCP

    return int(TCP.n_sent)


def stragglers() -> None:
    """Machines whose speed differs by a factor exp(sigma x), x normal; jobs go to whoever is free."""
    random = np.random.default_rng(1)
    print("sigma  workers  " + "  ".join(f"{n} shards each" for n in SHARDS))
    for sigma in (0.1, 0.3, 0.5):
        for n_workers in WORKERS:
            found = [step_time(random, sigma, n_workers, n_shards) for n_shards in SHARDS]
            print(f"{sigma:5}  {n_workers:7}  " + "  ".join(f"{x:13.2f}" for x in found))


def step_time(random: np.random.Generator, sigma: float, n_workers: int, n_shards: int) -> float:
    """The mean time of a step by the time that machines need together, if all have work until the end."""
    total = 0.0
    for _ in range(TRIALS):
        slowness = np.exp(sigma * random.standard_normal(n_workers))
        free = np.zeros(n_workers)
        for _ in range(n_workers * n_shards):
            k = int(np.argmin(free))  # takes the next job
            free[k] += slowness[k]
        total += float(free.max()) / (n_workers * n_shards / (1 / slowness).sum())
    return total / TRIALS


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("measure", "moved"):
        one = commands.add_parser(name)
        one.add_argument("src")
        one.add_argument("tgt")
        one.add_argument("--shards", type=int, default=4)
        one.add_argument("--model", default="loo")
        one.add_argument("--pairs", type=int)
    commands.add_parser("stragglers")
    given = parser.parse_args()
    if given.command == "stragglers":
        stragglers()
    else:
        work = measure if given.command == "measure" else moved
        work(given.src, given.tgt, given.shards, given.model, given.pairs)


if __name__ == "__main__":
    main()

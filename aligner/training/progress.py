"""How far a run is, on stderr: lines for everybody, and on a terminal a bar with the time that is left.

Work is counted in the seconds that COSTS expects of it. A run corrects them as it goes, kind by kind:

    left = sum over kinds of (planned - done) * (took + w * pace) / (done + w)

planned, done  expected seconds of the kind
took           seconds that what is done of the kind took
pace           seconds that all work so far took, by the expected ones: how slow machine and threads are
w              PRIOR * planned: how much of a kind must be done before what it took counts as much as the pace
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aligner.decoding.posteriors import projected
from aligner.links.links import Links
from aligner.models.recipe import Recipe
from aligner.models.stage import Stage
from aligner.text.cells import cell_offsets
from aligner.text.corpus import Corpus

# Nanoseconds a cell, and a cell and view: of 10,000 and 100,000 pairs of Hansards, with one thread on a Xeon
# at 2.8 GHz. Only their ratios matter.
COSTS = {
    "number": (0.0, 16.0),  # the word pairs of a view
    "ibm1": (0.0, 14.0),
    "ibm1 agreement": (0.0, 13.5),
    "ibm2": (0.0, 40.0),
    "ibm2 agreement": (0.0, 42.0),
    "diagonal": (0.0, 65.0),
    "diagonal agreement": (0.0, 70.0),
    "surrogate": (0.0, 25.0),
    "surrogate agreement": (0.0, 25.0),
    "convex": (0.0, 25.0),
    "convex agreement": (0.0, 25.0),
    "hmm": (0.0, 37.0),
    "hmm agreement": (0.0, 31.0),
    "hmm bijective": (0.0, 150.0),
    "hmm symmetric": (0.0, 94.0),
    "loo": (16.0, 25.0),
    "loo bijective": (114.0, 25.0),
    "loo symmetric": (62.0, 25.0),
    "decode ibm1": (0.0, 18.0),
    "decode ibm2": (0.0, 18.0),
    "decode diagonal": (0.0, 18.0),
    "decode surrogate": (0.0, 25.0),
    "decode convex": (0.0, 25.0),
    "decode hmm": (0.0, 25.0),
    "decode hmm bijective": (0.0, 118.0),
    "decode hmm symmetric": (0.0, 73.0),
    "decode loo": (13.0, 18.0),
    "decode loo bijective": (132.0, 18.0),
    "decode loo symmetric": (67.0, 18.0),
}
PRIOR = 0.1
PATIENCE = 0.5  # seconds before a bar is shown
OFTEN = 0.1  # seconds between two pictures of the bar


def kind_of(stage: Stage) -> str:
    """The kind of work that an iteration of a stage is."""
    return stage.family if stage.objective == "likelihood" else f"{stage.family} {stage.objective}"


def decoding(stage: Stage) -> str:
    """The kind of work that decoding with a stage is."""
    return f"decode {kind_of(stage) if stage.objective != 'agreement' else stage.family}"


def expected(kind: str, n_cells: int, n_views: int = 1) -> float:
    """Seconds that work on so many cells is expected to take."""
    once, each = COSTS[kind]
    return 1e-9 * n_cells * (once + each * n_views)


def training_work(recipe: Recipe, n_cells: int, n_views: int = 0, n_iterations: int = 0) -> dict[str, float]:
    """Kind of work -> expected seconds of what a training still has to do.

    n_views views have begun, and the last of them, or all together, have had n_iterations.
    """
    n_all = len(recipe.views)
    work = {"number": n_all * expected("number", n_cells)}
    for n, stage in enumerate(recipe.schedule):
        begun = 1 if stage.together else n_views  # how often the iteration was begun
        times = (1 if stage.together else n_all) - (begun if n < n_iterations else max(0, begun - 1))
        seconds = expected(kind_of(stage), n_cells, n_all if stage.together else 1)
        work[kind_of(stage)] = work.get(kind_of(stage), 0.0) + times * seconds
    return work


def decoding_work(recipe: Recipe, n_cells: int, project: str = "trained") -> dict[str, float]:
    """Kind of work -> expected seconds of decoding. project: one of PROJECTIONS (decoding/posteriors.py)"""
    kinds = map(decoding, projected(recipe, project))
    return {kind: expected(kind, n_cells, len(recipe.views)) for kind in kinds}


class Progress:
    """Says lines, and draws a bar if stderr is a terminal. A stderr that nobody reads is no error.

    verbose  lines that say more of each iteration are wanted, too
    aligns   what the posteriors of the text that is trained on will be projected onto, when the text is
             aligned, too; None: it is not
    """

    def __init__(self, verbose: bool = False, aligns: str | None = None) -> None:
        self.verbose, self.aligns = verbose, aligns
        self.began = self.clock = time.perf_counter()
        self.planned: dict[str, float] = {}  # kind of work -> expected seconds
        self.done: dict[str, float] = {}  # the same of what is done
        self.took: dict[str, float] = {}  # kind of work -> seconds that it took
        self.doing = ""
        self.mute = sys.stderr is None
        self.hidden = self.mute or not sys.stderr.isatty()
        self.bar: Any = None
        self.drawn = 0.0

    def say(self, line: str) -> None:
        """A line; a bar stays below it."""
        if self.mute:
            return
        try:
            if self.bar is None:
                print(line, file=sys.stderr, flush=True)
            else:
                self.bar.write(line, file=sys.stderr)
        except OSError:
            self.mute = True

    def plan(self, work: Mapping[str, float]) -> None:
        """More is to be done: kind of work -> expected seconds."""
        for kind, seconds in work.items():
            self.planned[kind] = self.planned.get(kind, 0.0) + seconds

    def plan_again(self, work: Mapping[str, float]) -> None:
        """What is left to do of some kinds, in place of what was planned: some of what is done is lost."""
        for kind, seconds in work.items():
            self.planned[kind] = self.done.get(kind, 0.0) + seconds

    def enter(self, doing: str) -> None:
        """What the bar says from now on. The time since the last call was nobody's."""
        self.doing, self.clock = doing, time.perf_counter()
        self._draw()

    def advance(self, kind: str, n_cells: int, n_views: int = 1) -> None:
        """Some cells are done; the time since the last call was theirs."""
        now = time.perf_counter()
        self.done[kind] = self.done.get(kind, 0.0) + expected(kind, n_cells, n_views)
        self.took[kind] = self.took.get(kind, 0.0) + now - self.clock
        self.clock = now
        self._draw()

    def drop(self, kind: str, n_cells: int, n_views: int) -> None:
        """Cells that were planned are not needed."""
        self.planned[kind] -= expected(kind, n_cells, n_views)

    def left(self) -> float:
        """Seconds that the rest of the planned work will take."""
        pace = sum(self.took.values()) / (sum(self.done.values()) or 1.0) or 1.0
        total = 0.0
        for kind, planned in self.planned.items():
            done, w = self.done.get(kind, 0.0), PRIOR * planned
            if planned > done:
                total += (planned - done) * (self.took.get(kind, 0.0) + w * pace) / (done + w)
        return total

    def _draw(self) -> None:
        now = time.perf_counter()
        if self.mute or self.hidden or now - self.began < PATIENCE or now - self.drawn < OFTEN:
            return
        self.drawn = now
        done, left = now - self.began, self.left()
        try:
            if self.bar is None:
                from tqdm import tqdm  # 25 ms that few need

                self.bar = tqdm(total=1.0, leave=False, dynamic_ncols=True, delay=1e-9)
            self.bar.total, self.bar.n = done + left, done
            times = [self.bar.format_interval(seconds) for seconds in (done, left)]
            numbers = f"{{percentage:3.0f}}% {times[0]}, {times[1]} left"  # first: a narrow terminal has them
            self.bar.bar_format = f"{numbers}: {self.doing} |{{bar}}|"
            self.bar.refresh()
        except OSError:
            self.mute = True

    def follow(
        self,
        blocks: Iterable[tuple[Links, Links]],
        corpus: Corpus,
        recipe: Recipe,
        project: str = "trained",
    ) -> Iterator[tuple[Links, Links]]:
        """The links of a text's shards as they come from decoding, which was planned."""
        offsets, start = cell_offsets(corpus.bounded()), 0
        kinds = [decoding(stage) for stage in projected(recipe, project)]
        self.enter("decoding")
        for block in blocks:
            stop = start + len(block[0])
            for kind in kinds:  # of two projections, the time counts as the first one's
                self.advance(kind, int(offsets[stop] - offsets[start]), len(recipe.views))
            start = stop
            yield block

    def end(self, n_pairs: int) -> None:
        """The last line of all."""
        seconds = time.perf_counter() - self.began
        self.say(f"done in {seconds:.1f} s: {n_pairs / seconds:,.0f} sentence pairs a second")

    def hide(self) -> None:
        """The bar goes away, and stays away: results are printed on the same terminal."""
        self.hidden = True
        if self.bar is not None:
            try:
                self.bar.close()
            except OSError:
                self.mute = True
            self.bar = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.hide()

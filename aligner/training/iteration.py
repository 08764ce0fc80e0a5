"""One iteration: what a text, or a part of it, is expected to count; new parameters from all counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aligner.decoding import threshold
from aligner.decoding.model import Model
from aligner.models.census import Census
from aligner.models.class_jumps import ClassJumps
from aligner.models.counts import LOGLIKS, UNIT, Counts
from aligner.models.families import FAMILIES
from aligner.models.parameters import Parameters, View
from aligner.models.pseudo import PseudoCounts
from aligner.models.recipe import Recipe
from aligner.models.shares import Own, Packed, Passing
from aligner.models.stage import Stage
from aligner.models.update import Bytes, Divergence, Occurrences, update
from aligner.text.cells import Seen, in_shards
from aligner.text.known import NOTHING, Known
from aligner.training.classes import with_classes
from aligner.training.monitor import Monitor


@dataclass(eq=False)
class Expected:
    """What the sentence pairs of a text, or of a part of it, count under some parameters.

    counts      of each view
    statistics  integer sums over sentence pairs (models/counts.py)
    shares      of the sentence pairs, shard by shard, if they are left out the next time
    """

    counts: list[Counts]
    statistics: dict[str, int]
    shares: list[Packed]


@dataclass(frozen=True, eq=False)
class Beside:
    """What the update of a view needs beside counts.

    occurrences  how often words occur, for a stage that leaves shares out
    alike        how alike the words of each word pair are spelled; None: it does not matter
    taught       what earlier text counted; None: there is none
    """

    occurrences: Occurrences | None = None
    alike: Bytes | None = None
    taught: PseudoCounts | None = None


def position(views: Sequence[View], stage: Stage, recipe: Recipe, census: Census) -> None:
    """Gives views the positions that a stage begins with. Views with one lattice share them."""
    family = FAMILIES[stage.family]
    for view in views:
        old = views[0] if stage.together else view
        positions = old.parameters.positions
        if view is old:
            positions = family.positions(positions, stage, recipe, census.sizes)
            positions = with_classes(positions, census, view.name)
        elif isinstance(positions, ClassJumps):
            positions = positions.of_all_words  # the lattice has the classes of the first view's words
        view.parameters.positions = positions


def expect(
    views: Sequence[Parameters],
    seen: Sequence[Seen],
    stage: Stage,
    direction: str,
    *,
    own: Own | Passing | None = None,
    known: Known = NOTHING,
    used: Sequence[Counts] | None = None,
    advance: Callable[[int], None] | None = None,
    n_threads: int = 1,
) -> Expected:
    """Goes through what views see of a text, shard by shard.

    views    parameters, whose positions are those of the stage
    own      shares that are left out
    used     counts of the same views, whose memory is used again
    advance  is told how many cells of a view are done after each shard
    """
    family = FAMILIES[stage.family]
    counts = [
        Counts.zero(m, None if used is None else used[n], stage.shared, n_threads)
        for n, m in enumerate(views)
    ]
    expected = Expected(counts, dict.fromkeys(LOGLIKS, 0), [])
    for start, stop, shards in in_shards(seen, n_threads, known):
        mine = None if own is None else own.part(start, stop)
        statistics, shares = family.expect(views, shards, stage, direction, mine, counts, n_threads)
        expected.shares += [] if shares is None else [shares]
        for name, value in statistics.items():
            expected.statistics[name] = expected.statistics.get(name, 0) + value
        if advance is not None:
            advance(shards[0].n_cells)
    return expected


def renew(
    views: Sequence[View],
    counts: Sequence[Counts],
    stage: Stage,
    direction: str,
    beside: Sequence[Beside],
    n_threads: int = 1,
) -> Divergence | None:
    """Gives views the parameters that the counts of a whole text make. Returns what `update` returns."""
    divergence = None
    for view, c, more in zip(views, counts, beside, strict=True):
        m = view.parameters
        divergence = update(m, c, stage, more.occurrences, more.alike, more.taught, n_threads)
        if stage.leaving is None:
            m.lexicon.keep(direction)
    return divergence


def record(
    model: Model,
    views: Sequence[View],
    stage: Stage,
    statistics: dict[str, int],
    monitor: Monitor,
    area: float | None = None,
) -> None:
    """Puts an iteration into the history. area: that of a development set"""
    assert model.progress is not None
    direction = model.recipe.direction
    # The bound is of the parameters that the iteration began with, as the log-likelihood is.
    bounded = stage.dirichlet and stage.objective == "likelihood"
    monitor.add(
        label_of(views),
        stage,
        ["forward", "reverse"] if direction == "both" else [direction],
        {name: value / UNIT for name, value in statistics.items()},
        model.progress["divergence"] if bounded else None,
        area,
    )


def expected_threshold(model: Model) -> float:
    """The threshold of least expected AER by the links that the last iteration expected."""
    return round(threshold.UNKNOWN if model.shares is None else threshold.of_shares(model.shares), 6)


def label_of(views: Sequence[View]) -> str:
    """What the history calls views."""
    return "+".join(view.name for view in views)

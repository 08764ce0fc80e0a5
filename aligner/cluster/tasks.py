"""What workers of Dask do in a training (cluster/workers.py): pure functions of what other tasks made.

Lists are of views, if nothing else is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner import __version__
from aligner.cluster.local import LocalView
from aligner.cluster.owners import Doubles, Found, Owned, Reals, Slice, slice_of
from aligner.cluster.shards import TextShard
from aligner.models.counts import Counts
from aligner.models.lexicon import Evidence
from aligner.models.parameters import Parameters
from aligner.models.recipe import Recipe
from aligner.models.shares import Packed
from aligner.models.stage import Stage
from aligner.models.update import Bytes, Columns
from aligner.text.sides import Vocab

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Words = tuple[Vocab, Vocab]  # of a view
Renewed = tuple[Reals, tuple[float, Doubles] | None]  # what Owned.renewed returns

KEPT_CELLS = 1 << 27  # of a shard and a view, that a worker keeps; others are looked up in each iteration


def version() -> str:
    """Of aligner, where the worker is."""
    return __version__


def kept(x: Any) -> Any:
    """What many tasks need, or what must not be lost with a worker."""
    return x


def look(shard: TextShard, recipe: Recipe, view: str, words: Words) -> LocalView:
    found = LocalView.of(shard.trained_on(recipe), view, *words, 1)
    found.seen.keep(KEPT_CELLS, 1)
    return found


def widths(look: LocalView) -> tuple[Ints, Ints, Longs]:
    """The words of a shard, and how many word pairs each source word has."""
    return look.pairs.src, look.pairs.tgt, np.diff(look.pairs.rows)


def slice_for(look: LocalView, bounds: Longs, owner: int) -> Slice:
    """The word pairs of a shard that an owner has."""
    return slice_of(look.pairs, bounds, owner)


def own(owner: int, bounds: Longs, look: LocalView, slices: Sequence[Slice | None]) -> Owned:
    """The word pairs of an owner. slices: of each shard; look: the one that is here"""
    start, stop = bounds[owner : owner + 2].tolist()
    return Owned.of(start, stop, [x or slice_of(look.pairs, bounds, owner) for x in slices])


def alike(owned: Owned, words: Words, identical: float) -> Longs:
    return owned.alike(*words, identical)


def widths_of(owned: Owned, alike: Longs, n_tgt: int) -> list[Longs]:
    return [np.stack(owned.columns(alike, n_tgt))]


def even(owned: Owned, alike: Longs, identical: float, columns: list[Longs], direction: str) -> list[Renewed]:
    sums = columns[0][0], columns[0][1]
    return [(owned.even(alike, identical, sums, direction), None)]


def likeness(owned: Sequence[Owned], words: Sequence[Words]) -> list[Bytes]:
    return [x.likeness(*some) for x, some in zip(owned, words, strict=True)]


def cut_out(owned: Sequence[Owned], t: Sequence[list[Renewed]], shard: int) -> list[Reals]:
    """t of the word pairs of a shard."""
    return [x.cut_out(own, shard) for x, own in zip(owned, t_of(t), strict=True)]


def t_of(renewed: Sequence[list[Renewed]]) -> list[Reals]:
    return [t for some in renewed for t, _ in some]


def expect(
    n: int,
    looks: Sequence[LocalView],
    owned: Sequence[Owned],
    t: Sequence[list[Renewed]],
    parts: Sequence[list[Reals] | None],
    shares: Packed | None,
    whole: tuple[Sequence[Parameters], Sequence[Longs]],
    stage: Stage,
    direction: str,
) -> Found:
    """One iteration over shard n. parts: what each owner cuts out; owned, t: of the one that is here"""
    every = [cut_out(owned, t, n) if part is None else part for part in parts]
    views = [list(x) for x in zip(*every, strict=True)]
    return Found.of(looks, views, whole[0], stage, direction, whole[1], shares)


def head(found: Found) -> tuple[list[Counts], dict[str, int]]:
    return found.counts, found.statistics


def part(found: Found, owner: int) -> list[Longs]:
    """The counts of an owner's word pairs."""
    return [pairs[owner] for pairs in found.pairs]


def shares(found: Found) -> Packed | None:
    return found.shares


def total(
    owner: int, owned: Sequence[Owned], found: Found, parts: Sequence[list[Longs] | None]
) -> list[Longs]:
    """The counts of all shards. parts: of each; found: of the one that is here"""
    every = [part(found, owner) if x is None else x for x in parts]
    return [x.total(counts) for x, counts in zip(owned, zip(*every, strict=True), strict=True)]


def columns(owned: Sequence[Owned], totals: Sequence[Longs], n_tgt: Sequence[int]) -> list[Columns]:
    return [Columns.of(x.tgt, total, n) for x, total, n in zip(owned, totals, n_tgt, strict=True)]


def summed(parts: Sequence[list[Any]]) -> list[Any]:
    """The sums over owners."""
    return [sum(some[1:], start=some[0]) for some in zip(*parts, strict=True)]


def links(totals: Sequence[Longs]) -> list[int]:
    """How many links the counts of each view make, forward."""
    return [int(total[:, 0].sum()) for total in totals]


def renewed(
    owned: Sequence[Owned],
    t: Sequence[list[Renewed]],
    totals: Sequence[Longs],
    stage: Stage,
    direction: str,
    columns: Sequence[Columns] | None,
    evidence: Sequence[Evidence | None],
    alike: Sequence[list[Bytes]],
) -> list[Renewed]:
    """t after an update. alike: of all views, or nothing"""
    likeness = alike[0] if alike else [None] * len(owned)
    sums = [None] * len(owned) if columns is None else columns
    return [
        x.renewed(own, total, stage, direction, column, some, like)
        for x, own, total, column, some, like in zip(
            owned, t_of(t), totals, sums, evidence, likeness, strict=True
        )
    ]


def added(renewed: list[Renewed]) -> tuple[float, Doubles] | None:
    return renewed[-1][1]


def pruned(owned: Sequence[Owned], t: Sequence[list[Renewed]], view: int) -> tuple[Longs, Ints, Reals]:
    return owned[view].pruned(t_of(t)[view])

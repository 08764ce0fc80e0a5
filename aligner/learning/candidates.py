"""Candidates: the cells of sentence pairs that may be links, with what a model says of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner.decoding.model import Model
from aligner.decoding.posteriors import Block, blocks
from aligner.learning import _tables
from aligner.text.cells import cut
from aligner.text.corpus import Corpus

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float32]

LEAST = 0.02  # a cell is a candidate if its mean posterior, projected or not, is above
PART = 1 << 13  # about how many candidates have their features in memory
SLOW_PART = 1 << 7  # the same where a program is solved for each sentence pair: a signal waits for a part
OF_EACH = ("src", "tgt", "cells", "e", "f", "posteriors", "tables", "repeats")  # numbers of a candidate
POSTERIORS = ("projected forward", "projected reverse", "forward", "reverse")


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of some sentence pairs, by source, then target.

    offsets     [S + 1]  candidates of sentence pair n are those from offsets[n] to offsets[n + 1]
    src, tgt    [n]      positions
    cells       [n]      places among the cells of all sentence pairs
    e, f        [n]      word ids of the text
    lengths     [2, S]   words of the source and of the target sentences
    posteriors  [4, n]   in the order of POSTERIORS
    tables      [V, 5, n] what each view's lexicon says: ext/learning/_tables.pyx
    repeats     [2, n]   how often e and f occur in their sentences
    """

    offsets: Longs
    src: Ints
    tgt: Ints
    cells: Longs
    e: Ints
    f: Ints
    lengths: Longs
    posteriors: Reals
    tables: Reals
    repeats: Ints

    def __len__(self) -> int:
        return len(self.src)

    @staticmethod
    def joined(parts: Sequence[Candidates]) -> Candidates:
        """The candidates of blocks of sentence pairs, one after another."""
        n_cells = n = 0
        offsets, cells = [np.zeros(1, np.int64)], []
        for part in parts:
            offsets.append(part.offsets[1:] + n)
            cells.append(part.cells + n_cells)
            n, n_cells = n + len(part), n_cells + int((part.lengths[0] * part.lengths[1]).sum())
        columns = {
            name: np.concatenate([getattr(part, name) for part in parts], axis=-1)
            for name in (*OF_EACH, "lengths")
            if name != "cells"
        }
        return Candidates(np.concatenate(offsets), cells=np.concatenate(cells), **columns)

    def select(self, which: npt.NDArray[np.bool_]) -> Candidates:
        """Those of some sentence pairs, with places among the cells of all. which: [S]"""
        inside = which[self.sentences]
        columns = {name: getattr(self, name)[..., inside] for name in OF_EACH}
        offsets = np.concatenate([[0], np.cumsum(np.diff(self.offsets)[which])])
        return Candidates(offsets, lengths=self.lengths[:, which], **columns)

    def part(self, start: int, stop: int) -> Candidates:
        """Those of the sentence pairs start to stop."""
        a, b = int(self.offsets[start]), int(self.offsets[stop])
        columns = {name: getattr(self, name)[..., a:b] for name in OF_EACH}
        return Candidates(self.offsets[start : stop + 1] - a, lengths=self.lengths[:, start:stop], **columns)

    def in_parts(self, slow: bool = False) -> Iterator[Candidates]:
        """Some sentence pairs after another, so that their features are a few megabytes. slow: fewer"""
        for start, stop in cut(self.offsets, SLOW_PART if slow else PART):
            yield self.part(start, stop)

    @property
    def sentences(self) -> Longs:
        """[n] candidate -> its sentence pair"""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


def candidates(
    model: Model, corpus: Corpus, n_threads: int, **settings: Any
) -> Iterator[tuple[Block, Candidates]]:
    """The candidates of a text, a block of sentence pairs at a time.

    corpus    bounded, split and lower-cased as the model's was
    settings  those of decoding.posteriors.blocks
    """
    text = model.views, model.recipe, corpus
    for block in blocks(*text, unprojected=True, shares=model.shares, n_threads=n_threads, **settings):
        yield block, _of_block(model, corpus.part(block.start, block.stop), block, n_threads)


def _of_block(model: Model, corpus: Corpus, block: Block, n_threads: int) -> Candidates:
    shard = block.shards[0]
    assert block.before is not None
    (fwd, rev), (alone_fwd, alone_rev) = block.scores, block.before
    likely = (fwd + rev > 2 * LEAST) | (alone_fwd + alone_rev > 2 * LEAST)
    cells = np.flatnonzero(likely)
    begin = shard.cell_offsets - shard.cell_offsets[0]
    offsets = np.searchsorted(cells, begin)
    n = np.repeat(np.arange(len(shard)), np.diff(offsets))
    lengths = np.stack([corpus.src.lengths, corpus.tgt.lengths])
    src, tgt = (x.astype(np.int32) for x in np.divmod(cells - begin[n], lengths[1][n]))
    sides = (corpus.src, src), (corpus.tgt, tgt)
    e, f = (side.ids[side.offsets[n] + at] for side, at in sides)
    repeats = np.stack([_repeats(side.ids, side.lengths)[side.offsets[n] + at] for side, at in sides])
    posteriors = np.stack([x[cells] for x in (fwd, rev, alone_fwd, alone_rev)])
    tables = np.stack(
        [
            _tables.tables(seen, view.parameters.lexicon, block.own, offsets, src, tgt, n_threads)
            for view, seen in zip(model.views, block.shards, strict=True)
        ]
    )
    return Candidates(offsets, src, tgt, cells, e, f, lengths, posteriors, tables, repeats)


def _repeats(ids: Ints, lengths: Longs) -> Ints:
    """[n_tokens] how often the word of a token occurs in the sentence of the token."""
    keys = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths) << 32 | ids
    _, which, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return np.asarray(counts[which], dtype=np.int32)

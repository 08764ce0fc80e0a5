"""The word pairs that a corpus can learn: one number a cell of each sentence pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.text._cells import number_cells
from aligner.text.corpus import Corpus

BLOCK_CELLS = 1 << 20  # cells a block of source words has, about


@dataclass(frozen=True)
class Pairs:
    """Word pairs that stand together in some sentence pair, and which of them each cell is.

    rows      [V_src + 1]  pairs of source word e are those from rows[e] to rows[e + 1]
    tgt       [P]          pair -> its target word
    cells     [n_cells]    cell (i, j) of sentence n, at offsets[n] + i * J + j -> its pair, from rows[e_i] on
    offsets   [S + 1]      sentence -> its first cell
    order     [n_src]      source tokens by word
    starts    [V_src + 1]  word e's tokens are order[starts[e]:starts[e + 1]]
    sentence  [n_src]      source token -> its sentence
    blocks    [B + 1]      source words cut so that each part has about as many cells
    """

    rows: npt.NDArray[np.int64]
    tgt: npt.NDArray[np.int32]
    cells: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    order: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    sentence: npt.NDArray[np.int32]
    blocks: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.tgt)


def cell_offsets(corpus: Corpus) -> npt.NDArray[np.int64]:
    """[S + 1] sentence -> its first cell"""
    offsets = np.zeros(len(corpus) + 1, dtype=np.int64)
    np.cumsum(corpus.src.lengths * corpus.tgt.lengths, out=offsets[1:])
    return offsets


def number_pairs(corpus: Corpus, n_threads: int) -> Pairs:
    """The pairs of a corpus. Numbers do not depend on the threads."""
    src, tgt = corpus.src, corpus.tgt
    offsets = cell_offsets(corpus)
    sentence = np.repeat(np.arange(len(corpus), dtype=np.int32), src.lengths)
    order = np.argsort(src.ids, kind="stable").astype(np.int32)
    starts = np.zeros(len(src.vocab) + 1, dtype=np.int64)
    np.cumsum(src.counts, out=starts[1:])
    cells_before = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(tgt.lengths[sentence[order]], out=cells_before[1:])
    of_word = cells_before[starts]  # cells of the words before each
    n_blocks = int(of_word[-1]) // BLOCK_CELLS + 1
    cuts = np.searchsorted(of_word, np.arange(1, n_blocks) * BLOCK_CELLS)
    blocks = np.unique(np.concatenate([[0], cuts, [len(src.vocab)]])).astype(np.int64)
    cells = np.empty(int(offsets[-1]), dtype=np.int32)
    rows = np.zeros(len(src.vocab) + 1, dtype=np.int64)
    pair_tgt = number_cells(
        tgt.ids,
        src.offsets,
        tgt.offsets,
        order,
        starts,
        sentence,
        offsets,
        blocks,
        len(tgt.vocab),
        cells,
        rows,
        n_threads,
    )
    return Pairs(rows, pair_tgt, cells, offsets, order, starts, sentence, blocks)

"""What a view sees of a text: word ids, and one number a cell (i, j) of each sentence pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from aligner.text._cells import find_cells, number_cells, sort_tokens
from aligner.text.corpus import Corpus, Side, Vocab
from aligner.text.known import NOTHING, Known
from aligner.text.views import Cut, parse, see

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

BLOCK_CELLS = 1 << 20  # about how many cells a block of source words has when word pairs are numbered
SHARD_CELLS = 1 << 22  # about how many cells a shard of training has; signals are answered between shards
SCORED_CELLS = 1 << 20  # the same, where all cells of a shard have their scores in memory


@dataclass(frozen=True, eq=False)
class Shard:
    """Some sentence pairs of a text as kernels take them. Offsets need not begin at 0.

    src_ids, tgt_ids          [n_tokens]  word ids; -1 for a word that the view does not know
    src_offsets, tgt_offsets  [S + 1]     sentence n's tokens are ids[offsets[n]:offsets[n + 1]]
    cells                     [n_cells]   cell (i, j) -> its word pair, from the first of e_i on; -1: unknown
    cell_offsets              [S + 1]     the cells of sentence pair n, row by row, begin at cell_offsets[n]
    known                     what is known of the links beforehand
    """

    src_ids: Ints
    src_offsets: Longs
    tgt_ids: Ints
    tgt_offsets: Longs
    cells: Ints
    cell_offsets: Longs
    known: Known = NOTHING

    def __len__(self) -> int:
        return len(self.src_offsets) - 1

    @property
    def n_cells(self) -> int:
        return int(self.cell_offsets[-1] - self.cell_offsets[0])


class Seen:
    """What one view sees of a text.

    text          the sentence pairs with the view's word ids
    rows          [V_src + 1]  word pairs of source word e are those from rows[e] to rows[e + 1]
    tgt           [P]          word pair -> its target word; sorted within each row
    cell_offsets  [S + 1]      sentence pair -> its first cell
    cells         [n_cells]    see Shard; None: they are looked up when a shard is asked for
    """

    def __init__(
        self, look: Callable[[], Corpus], rows: Longs, tgt: Ints, offsets: Longs, cells: Ints | None
    ):
        """look: a function that makes the text, which is kept from its first use until `put_away`."""
        self.look, self.rows, self.tgt, self.cell_offsets, self.cells = look, rows, tgt, offsets, cells

    @cached_property
    def text(self) -> Corpus:
        return self.look()

    @cached_property
    def occurrences(self) -> tuple[Longs, Longs]:
        """How often source words and target words occur in sentence pairs that have words on both sides."""
        src, tgt = self.text.src, self.text.tgt
        full = (src.lengths > 0) & (tgt.lengths > 0)
        counted = (
            np.bincount(side.ids[np.repeat(full, side.lengths)], minlength=len(side.vocab))
            for side in (src, tgt)
        )
        return next(counted), next(counted)

    def put_away(self, cells: bool) -> None:
        """Forgets the text, which takes memory and is quickly made again. cells: forgets cells, too."""
        self.__dict__.pop("text", None)
        if cells:
            self.cells = None

    @staticmethod
    def of_own_words(corpus: Corpus, view: str, n_threads: int) -> Seen:
        """The words and word pairs are those of the text itself."""
        text = see(corpus, view)
        seen = Seen(lambda: see(corpus, view), *number_pairs(text, n_threads))
        seen.text = text
        return seen

    @staticmethod
    def of_known_words(
        corpus: Corpus, view: str, src: Vocab, tgt: Vocab, rows: Longs, pair_tgt: Ints
    ) -> Seen:
        """The words and word pairs are those that a model knows; all others are unknown."""
        cuts = parse(view)

        def known(side: Side, vocab: Vocab, cut: Cut) -> Side:
            ids = vocab.find(map(cut or str, side.vocab.words))
            return Side(ids[side.ids] if len(side.ids) else side.ids, side.offsets, vocab)

        def look() -> Corpus:
            return Corpus(known(corpus.src, src, cuts[0]), known(corpus.tgt, tgt, cuts[1]))

        return Seen(look, rows, pair_tgt, cell_offsets(corpus), None)

    def shard(self, start: int, stop: int, n_threads: int, known: Known = NOTHING) -> Shard:
        """The sentence pairs start to stop."""
        src, tgt = self.text.src, self.text.tgt
        text = src.ids, src.offsets[start : stop + 1], tgt.ids, tgt.offsets[start : stop + 1]
        offsets = self.cell_offsets[start : stop + 1]
        cells = self.cells
        if cells is None:
            offsets = offsets - offsets[0]
            cells = np.empty(offsets[-1], dtype=np.int32)
            find_cells(*text, offsets, self.rows, self.tgt, cells, n_threads)
        return Shard(*text, cells, offsets, known.part(start, stop))


def in_shards(
    sights: Sequence[Seen], n_threads: int, known: Known = NOTHING, scored: bool = False
) -> Iterator[tuple[int, int, list[Shard]]]:
    """A text in parts: (first sentence pair, the one after the last, what each view sees of them).

    scored: cells will have scores in memory, so that parts are smaller
    """
    for start, stop in cut(sights[0].cell_offsets, SCORED_CELLS if scored else SHARD_CELLS):
        yield start, stop, [seen.shard(start, stop, n_threads, known) for seen in sights]


def cell_offsets(corpus: Corpus) -> Longs:
    """[S + 1] sentence pair -> its first cell"""
    offsets = np.zeros(len(corpus) + 1, dtype=np.int64)
    np.cumsum(corpus.src.lengths * corpus.tgt.lengths, out=offsets[1:])
    return offsets


def cut(offsets: Longs, n_cells: int) -> list[tuple[int, int]]:
    """Sentence pairs in parts of about n_cells cells, whatever the threads and the machine: (start, stop)."""
    wanted = np.arange(n_cells, int(offsets[-1]), n_cells)
    cuts = sorted({0, *np.searchsorted(offsets, wanted).tolist(), len(offsets) - 1})
    return list(zip(cuts, cuts[1:], strict=False))


def number_pairs(corpus: Corpus, n_threads: int) -> tuple[Longs, Ints, Longs, Ints]:
    """(rows, tgt, cell_offsets, cells) of the word pairs of a text. Numbers do not depend on the threads."""
    src, tgt = corpus.src, corpus.tgt
    offsets = cell_offsets(corpus)
    sentence = np.repeat(np.arange(len(corpus), dtype=np.int32), src.lengths)
    starts = np.zeros(len(src.vocab) + 1, dtype=np.int64)
    np.cumsum(src.counts, out=starts[1:])
    order = np.empty(len(src.ids), dtype=np.int32)
    sort_tokens(src.ids, starts, order)
    n_blocks = int(offsets[-1]) // BLOCK_CELLS + 1
    cuts = np.searchsorted(starts, np.arange(1, n_blocks) * (len(order) / n_blocks))
    blocks = np.unique(np.concatenate([[0], cuts, [len(src.vocab)]])).astype(np.int64)
    cells = np.empty(int(offsets[-1]), dtype=np.int32)
    rows = np.zeros(len(src.vocab) + 1, dtype=np.int64)
    index = src.offsets, tgt.offsets, order, starts, sentence, offsets, blocks
    pair_tgt = number_cells(tgt.ids, *index, len(tgt.vocab), cells, rows, n_threads)
    return rows, pair_tgt, offsets, cells

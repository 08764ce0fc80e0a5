"""What a view sees of a text: word ids, and one number a cell (i, j) of each sentence pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.text import _cells
from aligner.text.corpus import Corpus
from aligner.text.known import NOTHING, Known
from aligner.text.sides import Relabelled, Side, Vocab
from aligner.text.views import Cut, parse, see

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

BLOCK_CELLS = 1 << 20  # about how many cells a block of source words has when word pairs are found
SHARD_CELLS = 1 << 24  # about how many cells a shard has at least; signals are answered between shards
LARGEST = 1 << 27  # about how many cells a shard has at most
FEW_SHARDS = 64  # of a large text: each shard looks through all word pairs, so that many take long
SCORED_CELLS = 1 << 20  # about how many cells have their scores in memory


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

    def part(self, start: int, stop: int) -> Shard:
        """The sentence pairs start to stop of this shard. The arrays of tokens and cells stay as they are."""
        src_offsets, tgt_offsets, cell_offsets = (
            x[start : stop + 1] for x in (self.src_offsets, self.tgt_offsets, self.cell_offsets)
        )
        known = self.known.part(start, stop)
        return Shard(self.src_ids, src_offsets, self.tgt_ids, tgt_offsets, self.cells, cell_offsets, known)


class Seen:
    """What one view sees of a text.

    text          the sentence pairs with the view's word ids
    rows          [V_src + 1]  word pairs of source word e are those from rows[e] to rows[e + 1]
    tgt           [P]          word pair -> its target word; sorted within each row
    cell_offsets  [S + 1]      sentence pair -> its first cell
    cells         [n]          the cells of the first sentence pairs, see Shard. Those of the others are
                               looked up when a shard is asked for
    """

    def __init__(self, text: Corpus, rows: Longs, tgt: Ints) -> None:
        self.text, self.rows, self.tgt = text, rows, tgt
        self.cell_offsets, self.cells = cell_offsets(text), np.empty(0, dtype=np.int32)

    @staticmethod
    def of_own_words(corpus: Corpus, view: str, n_threads: int) -> Seen:
        """The words and word pairs are those of the text itself."""
        text = see(corpus, view)
        return Seen(text, *number_pairs(text, n_threads))

    @staticmethod
    def of_known_words(
        corpus: Corpus, view: str, src: Vocab, tgt: Vocab, rows: Longs, pair_tgt: Ints
    ) -> Seen:
        """The words and word pairs are those that a model knows; all others are unknown."""

        def known(side: Side, vocab: Vocab, cut: Cut) -> Side:
            return Relabelled(side, vocab.find(map(cut or str, side.vocab.words)), vocab)

        cuts = parse(view)
        text = Corpus(known(corpus.src, src, cuts[0]), known(corpus.tgt, tgt, cuts[1]))
        return Seen(text, rows, pair_tgt)

    @property
    def n_cells(self) -> int:
        return int(self.cell_offsets[-1])

    def keep(self, room: int, n_threads: int) -> None:
        """Looks up the cells of the first sentence pairs, as many as there is room for, and keeps them."""
        n_pairs = int(np.searchsorted(self.cell_offsets, room, side="right")) - 1
        cells = np.empty(int(self.cell_offsets[n_pairs]), dtype=np.int32)
        for start, stop in cuts(self.cell_offsets[: n_pairs + 1]):
            self.shard(start, stop, n_threads, out=cells[slice(*self.cell_offsets[[start, stop]])])
        self.cells = cells

    def narrow(self, rows: Longs, tgt: Ints, n_threads: int) -> None:
        """Forgets all but some word pairs. As many cells are kept as before."""
        self.rows, self.tgt, n_kept = rows, tgt, len(self.cells)
        self.cells = self.cells[:0]
        self.keep(n_kept, n_threads)

    def shard(
        self, start: int, stop: int, n_threads: int, known: Known = NOTHING, out: Ints | None = None
    ) -> Shard:
        """The sentence pairs start to stop. out: where cells that are looked up are written to"""
        src, tgt = self.text.src, self.text.tgt
        src_offsets, tgt_offsets = (x.offsets[start : stop + 1] - x.offsets[start] for x in (src, tgt))
        src_ids, tgt_ids = (x.tokens(start, stop, n_threads) for x in (src, tgt))
        text = src_ids, src_offsets, tgt_ids, tgt_offsets
        first, last = self.cell_offsets[start], self.cell_offsets[stop]
        offsets = self.cell_offsets[start : stop + 1] - first
        cells = self.cells[first:last]
        if last > len(self.cells):
            cells = np.empty(last - first, dtype=np.int32) if out is None else out
            # The fewer cells, the nearer they are in memory; but all word pairs are gone through each time.
            for a, b in cut(offsets, max(SHARD_CELLS, len(self.tgt))):
                some = slice(a, b + 1)
                part = src_ids, src_offsets[some], tgt_ids, tgt_offsets[some], offsets[some]
                _cells.find_cells(*part, self.rows, self.tgt, cells, n_threads)
        return Shard(*text, cells, offsets, known.part(start, stop))


def in_shards(
    sights: Sequence[Seen], n_threads: int, known: Known = NOTHING, scored: bool = False
) -> Iterator[tuple[int, int, list[Shard]]]:
    """A text in parts: (first sentence pair, the one after the last, what each view sees of them).

    The cells of a part are written over when the next one is asked for: whoever needs them later copies them.

    scored: cells will have scores in memory, so that parts are smaller. Their cells are looked up a shard at
            a time, which is quicker
    """
    offsets = sights[0].cell_offsets
    places = cuts(offsets)
    largest = max((int(offsets[stop] - offsets[start]) for start, stop in places), default=0)
    rooms = [np.empty(largest, np.int32) for _ in sights]  # cells that are looked up take no new memory
    for start, stop in places:
        n_cells = int(offsets[stop] - offsets[start])
        shards = [
            seen.shard(start, stop, n_threads, known, room[:n_cells])
            for seen, room in zip(sights, rooms, strict=True)
        ]
        if not scored:
            yield start, stop, shards
            continue
        for first, last in cut(offsets[start : stop + 1] - offsets[start], SCORED_CELLS):
            yield start + first, start + last, [shard.part(first, last) for shard in shards]


def cell_offsets(corpus: Corpus) -> Longs:
    """[S + 1] sentence pair -> its first cell"""
    offsets = np.zeros(len(corpus) + 1, dtype=np.int64)
    np.cumsum(corpus.src.lengths * corpus.tgt.lengths, out=offsets[1:])
    return offsets


def cuts(offsets: Longs) -> list[tuple[int, int]]:
    """The sentence pairs of each shard of a text: (first, the one after the last)."""
    return cut(offsets, shard_cells(int(offsets[-1])))


def shard_cells(n_cells: int) -> int:
    """About how many cells the shards of a text of n_cells have."""
    return min(max(SHARD_CELLS, n_cells // FEW_SHARDS), LARGEST)


def cut(offsets: Longs, n_cells: int) -> list[tuple[int, int]]:
    """Sentence pairs in parts of about n_cells cells, whatever the threads and the machine: (start, stop)."""
    wanted = np.arange(n_cells, int(offsets[-1]), n_cells)
    places = sorted({0, *np.searchsorted(offsets, wanted).tolist(), len(offsets) - 1})
    return list(zip(places, places[1:], strict=False))


def number_pairs(corpus: Corpus, n_threads: int) -> tuple[Longs, Ints]:
    """(rows, tgt) of the word pairs of a text. Numbers do not depend on the threads."""
    src, tgt = corpus.src, corpus.tgt
    rows = np.zeros(len(src.vocab) + 1, dtype=np.int64)
    n_blocks = int(src.lengths @ tgt.lengths) // BLOCK_CELLS + 1
    text = src.ids, src.offsets, tgt.ids, tgt.offsets
    return rows, _cells.number_pairs(*text, n_blocks, len(tgt.vocab), rows, n_threads)

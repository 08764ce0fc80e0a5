"""Links of text from a trained model: the directions' posteriors or best paths, and the two made one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aligner import hmm
from aligner._pairs import find_cells
from aligner.corpus import Corpus, Side, Vocab
from aligner.links import Links
from aligner.model import Model, View
from aligner.pairs import cell_offsets
from aligner.symmetrize import METHODS, symmetrize

BLOCK = 1 << 13  # sentences decoded at a time
CUTOFF = 1e-3  # smaller posteriors are not links of any kind


def directions(
    view: View, corpus: Corpus, *, viterbi: bool, n_threads: int, cells: np.ndarray | None = None
) -> Iterator[tuple[Links, Links]]:
    """Forward and reverse links with scores, a block of sentences at a time.

    cells: of the corpus that the model was trained on; None: words and pairs are looked up.
    """
    m = view.parameters
    known = (
        corpus
        if cells is not None
        else Corpus(_renamed(corpus.src, view.src), _renamed(corpus.tgt, view.tgt))
    )
    first_cells = cell_offsets(known)
    for start in range(0, len(corpus), BLOCK):
        stop = min(start + BLOCK, len(corpus))
        part = known.part(start, stop)
        first, last = first_cells[start], first_cells[stop]
        offsets = first_cells[start : stop + 1] - first
        if cells is None:
            block = np.empty(last - first, dtype=np.int32)
            text = part.src.ids, part.src.offsets, part.tgt.ids, part.tgt.offsets
            find_cells(*text, offsets, m.rows, m.tgt, block, n_threads)
        else:
            block = cells[first:last]
        yield hmm.decode(m, part, block, offsets, viterbi=viterbi, cutoff=CUTOFF, n_threads=n_threads)


def _renamed(side: Side, vocab: Vocab) -> Side:
    """The same side with a model's word ids; -1 for words that it does not know."""
    ids = vocab.ids
    to_model = np.array([ids.get(word, -1) for word in side.vocab.words], dtype=np.int32)
    return Side(to_model[side.ids] if len(side.ids) else side.ids, side.offsets, vocab)


def above(links: Links, threshold: float) -> Links:
    """The links whose score is above the threshold."""
    assert links.scores is not None
    keep = links.scores > threshold
    offsets = np.concatenate([[0], np.cumsum(keep)])[links.offsets]
    return Links(offsets, links.src[keep], links.tgt[keep], scores=links.scores[keep])


def combine(forward: Links, reverse: Links, method: str, threshold: float) -> Links:
    """One alignment: of scores where the method works on them, else of the links above the threshold."""
    if METHODS[method].threshold is None:
        forward, reverse = above(forward, threshold), above(reverse, threshold)
    return symmetrize(forward, reverse, method, threshold=threshold)


def align(
    model: Model,
    corpus: Corpus,
    *,
    viterbi: bool = False,
    n_threads: int = 1,
    cells: np.ndarray | None = None,
) -> Iterator[tuple[Links, Links]]:
    """Forward and reverse links of the model's only view."""
    (view,) = model.views
    return directions(view, corpus, viterbi=viterbi, n_threads=n_threads, cells=cells)

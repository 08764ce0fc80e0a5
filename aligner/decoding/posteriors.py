"""Links of text from a trained model: the directions' posteriors or best paths, and the two made one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from aligner.links.links import Links
from aligner.links.symmetrize import METHODS, symmetrize
from aligner.models import hmm
from aligner.models.model import Model, View
from aligner.text._cells import find_cells
from aligner.text.cells import cell_offsets
from aligner.text.corpus import Corpus, Side, Vocab
from aligner.text.views import parse, see

BLOCK = 1 << 13  # sentences decoded at a time
CUTOFF = 1e-3  # smaller posteriors are not links of any kind


def directions(
    model: Model, corpus: Corpus, *, viterbi: bool = False, project: bool = True, n_threads: int = 1
) -> Iterator[tuple[Links, Links]]:
    """Forward and reverse links with scores, a block of sentences at a time.

    project: onto the constraints that the model was trained with, if any. A direction that the model was not
    trained in has no links.
    """
    how = model.recipe.inference
    if not project:
        how = replace(how, constraint="none")
    kept = model.trained[1] if model.trained is not None and model.trained[0] is corpus else {}
    parameters, texts = [], []
    for n, view in enumerate(model.views):
        parameters.append(view.parameters if n in kept else view.parameters.in_order())
        texts.append(see(corpus, view.name) if n in kept else _as_known(corpus, view))
    first_cells = cell_offsets(corpus)
    for start in range(0, len(corpus), BLOCK):
        stop = min(start + BLOCK, len(corpus))
        first, last = first_cells[start], first_cells[stop]
        offsets = first_cells[start : stop + 1] - first
        views = []
        for n, (m, text) in enumerate(zip(parameters, texts, strict=True)):
            part = text.part(start, stop)
            if n in kept:
                cells = kept[n][first:last]
            else:
                cells = np.empty(last - first, dtype=np.int32)
                ids = part.src.ids, part.src.offsets, part.tgt.ids, part.tgt.offsets
                find_cells(*ids, offsets, m.rows, m.tgt, cells, n_threads)
            views.append((m, part, cells))
        yield hmm.decode(views, offsets, how, viterbi=viterbi, cutoff=CUTOFF, n_threads=n_threads)


def _as_known(corpus: Corpus, view: View) -> Corpus:
    """A corpus with a view's word ids; -1 for words that it does not know."""
    seen = parse(view.name) or str

    def known(side: Side, vocab: Vocab) -> Side:
        to_model = vocab.find(map(seen, side.vocab.words))
        return Side(to_model[side.ids] if len(side.ids) else side.ids, side.offsets, vocab)

    return Corpus(known(corpus.src, view.src), known(corpus.tgt, view.tgt))


def above(links: Links, threshold: float) -> Links:
    """The links whose score is above the threshold."""
    assert links.scores is not None
    keep = links.scores > threshold
    offsets = np.concatenate([[0], np.cumsum(keep)])[links.offsets]
    return Links(offsets, links.src[keep], links.tgt[keep], scores=links.scores[keep])


def combine(model: Model, forward: Links, reverse: Links, method: str, threshold: float) -> Links:
    """One alignment: of scores where the method works on them, else of the links above the threshold.

    Of a model of one direction, that direction's links above the threshold.
    """
    direction = model.recipe.direction
    if direction != "both":
        return above(forward if direction == "forward" else reverse, threshold)
    if METHODS[method].threshold is None:
        forward, reverse = above(forward, threshold), above(reverse, threshold)
    return symmetrize(forward, reverse, method, threshold=threshold)

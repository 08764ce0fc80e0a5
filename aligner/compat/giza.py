"""What GIZA++ and mgiza write: the alignment of one direction, whole or in parts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np

from aligner.files import open_in_place
from aligner.links.formats.giza import format_a3
from aligner.text.corpus import Corpus
from aligner.training.cache import Kept


def write_a3(kept: Kept, corpus: Corpus, paths: Sequence[str], n_threads: int) -> None:
    """Writes the alignment of p(tgt | src), a link at most a target word.

    paths: of the parts, which have the sentence pairs one after another, about as many each
    """
    cuts = [len(corpus) * k // len(paths) for k in range(len(paths) + 1)]
    with ExitStack() as stack:
        outs = [stack.enter_context(open_in_place(path)) for path in paths]
        start = 0
        for block in kept.one_each(corpus, "forward", n_threads=n_threads):
            stop = start + len(block)
            for out, first, last in zip(outs, cuts, cuts[1:], strict=False):
                a, b = max(start, first), min(stop, last)
                if a < b:
                    part = corpus.part(a, b)
                    numbers = np.arange(a + 1, b + 1)
                    out.write(
                        format_a3(block.part(a - start, b - start), part.src, part.tgt, numbers=numbers)
                    )
            start = stop

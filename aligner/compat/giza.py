"""What GIZA++ and mgiza write: alignments of one direction, tables of words."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from aligner.decoding.kept import Kept
from aligner.files import open_in_place
from aligner.lexicons.formats import Giza
from aligner.links.formats.giza import format_a3
from aligner.links.links import Links
from aligner.text.corpus import Corpus
from aligner.text.giza import Vcb, read_vcb
from aligner.text.sides import Side

Doubles = npt.NDArray[np.float64]

logger = logging.getLogger(__name__)


def read_vcbs(paths: Sequence[str]) -> tuple[list[Vcb], str]:
    """Vocabularies, and their encoding. Each file is read once: it may be a pipe.

    The encoding is UTF-8; but latin-1, in which bytes of any encoding are letters, if some of the files are
    not UTF-8.
    """
    vcbs = [read_vcb(path, encoding=None) for path in paths]
    for vcb in vcbs:
        try:
            b" ".join(vcb.words).decode()
        except UnicodeDecodeError:
            logger.warning("%s is not UTF-8; its bytes are taken for letters of latin-1", vcb.name)
            return [_of_latin(vcb) for vcb in vcbs], "latin-1"
    return vcbs, "utf-8"


def _of_latin(vcb: Vcb) -> Vcb:
    return replace(vcb, words=[word.decode("latin-1").encode() for word in vcb.words])


def write_a3(kept: Kept, corpus: Corpus, paths: Sequence[str], encoding: str, n_threads: int) -> None:
    """Writes the alignment of p(tgt | src), a link at most a target word.

    paths: of the parts, which have the sentence pairs one after another, about as many each
    """
    cuts = [len(corpus) * k // len(paths) for k in range(len(paths) + 1)]
    costs = np.empty((len(corpus), 2))
    with ExitStack() as stack:
        outs = [stack.enter_context(open_in_place(path)) for path in paths]
        start = 0
        for block in kept.one_each(corpus, "forward", costs=costs, n_threads=n_threads):
            stop = start + len(block)
            for out, first, last in zip(outs, cuts, cuts[1:], strict=False):
                a, b = max(start, first), min(stop, last)
                if a < b:
                    text = a3_text(block.part(a - start, b - start), corpus.part(a, b), costs[a:b, 0], a)
                    out.write(text if encoding == "utf-8" else text.decode().encode(encoding))
            start = stop


def a3_text(links: Links, text: Corpus, costs: Doubles, n_before: int) -> bytearray:
    """The alignment of sentence pairs whose target is generated, as an A3 file has it.

    costs     [S] -log p a generated word (decoding/posteriors.py)
    n_before  how many sentence pairs stand before these ones in the file
    """
    numbers = np.arange(n_before + 1, n_before + len(text) + 1)
    scores = probabilities(costs, text.tgt)
    return format_a3(links, text.src, text.tgt, numbers=numbers, scores=scores)


def probabilities(costs: Doubles, generated: Side) -> Doubles:
    """[S] the probabilities of generated sentences, never 0: readers may want their logarithms.

    costs  [S] can be below 0: the smoothing of words that are spelled alike does not sum to 1
    """
    return np.exp(np.clip(-costs * generated.lengths, np.log(np.finfo(np.float64).tiny), 0))


def write_table(kept: Kept, src: Vcb, tgt: Vcb, path: str) -> None:
    """Writes t(tgt | src) of the words themselves, NULL's included."""
    numbers = tuple({word.decode(): id for word, id in vcb.id_of.items()} for vcb in (src, tgt))
    with open_in_place(path) as out:
        Giza(numbers=(numbers[0], numbers[1])).write(kept.table(), out)

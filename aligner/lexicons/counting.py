"""Word pairs counted along links: maximum-likelihood tables, as Moses' step 4 and Marian's extract_lex count.

A link counts once for its source word and its target word. A word without a link counts as linked with NULL.
p(f | e) is the count of e and f over all counts of e; so NULL has probabilities in both directions.
"""

from __future__ import annotations

import logging

import numpy as np
import numpy.typing as npt

from aligner.errors import DataError
from aligner.lexicons.table import NULL, Table
from aligner.links.links import Links
from aligner.text.corpus import Corpus, Side

Longs = npt.NDArray[np.int64]

BLOCK = 1 << 17  # sentence pairs counted at a time

logger = logging.getLogger(__name__)


def count(text: Corpus, links: Links, null: str = "NULL") -> Table:
    """The table of a text's links. Links must not point outside their sentence pairs.

    A word that occurs twice in a sentence's links counts twice, and so does a link that stands twice.
    null: how files spell the NULL word. A word of the text that is spelled so counts as NULL, since files
    could not tell them apart; a warning says so.
    """
    if len(links) != len(text):
        raise DataError(
            f"links of {len(links)} sentences, the text has {len(text)}",
            hint="text and links must match line by line",
        )
    src, tgt = (_ids(side, null) for side in (text.src, text.tgt))
    width = len(text.tgt.vocab) + 1
    keys, counts = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    pending: list[tuple[Longs, Longs]] = []
    for start in range(0, len(text), BLOCK):
        stop = min(start + BLOCK, len(text))
        pending.append(_counts(text, links, src, tgt, start, stop))
        if stop == len(text) or sum(len(block) for block, _ in pending) > len(keys):
            keys, counts = _merged([(keys, counts), *pending])
            pending = []
    e, f = keys // width - 1, keys % width - 1
    p = np.empty((len(keys), 2))
    for column, word in ((0, e), (1, f)):
        totals = np.bincount(word + 1, counts)
        p[:, column] = counts / totals[word + 1]
    return Table(text.src.vocab, text.tgt.vocab, e, f, p)


def _ids(side: Side, null: str) -> npt.NDArray[np.int32]:
    """token -> word id, or NULL for a word that is spelled like it"""
    found = int(side.vocab.find([null])[0])
    if found < 0 or not (same := side.ids == found).any():
        return side.ids
    logger.warning("the word %s occurs %d times in the text; it counts as the NULL word", null, same.sum())
    return np.where(same, np.int32(NULL), side.ids)


def _counts(
    text: Corpus,
    links: Links,
    src: npt.NDArray[np.int32],
    tgt: npt.NDArray[np.int32],
    start: int,
    stop: int,
) -> tuple[Longs, Longs]:
    """(keys, counts) of the word pairs of sentence pairs start to stop.

    A key is (e + 1) * (V_tgt + 1) + f + 1: NULL has a share of 0.
    """
    width = len(text.tgt.vocab) + 1
    block = links.part(start, stop)
    at = block.sentences + start
    i, j = text.src.offsets[at] + block.src, text.tgt.offsets[at] + block.tgt
    keys = [(src[i] + np.int64(1)) * width + tgt[j] + 1]
    for side, ids, linked, factor in ((text.src, src, i, width), (text.tgt, tgt, j, 1)):
        first, last = int(side.offsets[start]), int(side.offsets[stop])
        alone = np.ones(last - first, dtype=bool)
        alone[linked - first] = False
        keys.append((ids[first:last][alone] + np.int64(1)) * factor)
    found, counts = np.unique(np.concatenate(keys), return_counts=True)
    return found, counts


def _merged(parts: list[tuple[Longs, Longs]]) -> tuple[Longs, Longs]:
    """The sum of counts that stand under sorted keys."""
    keys, inverse = np.unique(np.concatenate([keys for keys, _ in parts]), return_inverse=True)
    counts = np.bincount(inverse, np.concatenate([counts for _, counts in parts]), minlength=len(keys))
    return keys, counts.astype(np.int64)

"""What a shard of a text needs of a model: its own words and word pairs, cut out of those of the whole text.

Local words are numbered in the order of the whole text's words. So local word pairs have the order of the
whole text's, too, and what is cut out or put back goes through memory from front to end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from aligner.errors import DataError
from aligner.models.class_jumps import ClassJumps
from aligner.models.counts import Counts
from aligner.models.lexicon import Evidence, Lexicon
from aligner.models.parameters import Parameters
from aligner.models.positions import Positions
from aligner.models.pseudo import find_pairs
from aligner.text.cells import Seen
from aligner.text.corpus import Corpus
from aligner.text.sides import Relabelled, Side, Vocab
from aligner.text.views import see

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

BLOCK_PAIRS = 1 << 24  # about how many word pairs, of all parts together, are merged at a time


@dataclass(frozen=True, eq=False)
class WordPairs:
    """The word pairs of a shard.

    src, tgt  [v]      local word -> word of the whole text, rising
    rows      [v + 1]  word pairs of local source word e are those from rows[e] to rows[e + 1]
    pair_tgt  [p]      word pair -> local target word
    """

    src: Ints
    tgt: Ints
    rows: Longs
    pair_tgt: Ints

    @property
    def ids(self) -> tuple[Ints, Ints]:
        """[p], [p] the source word and the target word of each word pair, of the whole text"""
        return np.repeat(self.src, np.diff(self.rows)), self.tgt[self.pair_tgt]

    def places(self, lexicon: Lexicon, n_threads: int) -> Longs:
        """[p] the word pair of the whole text's lexicon"""
        found = find_pairs(lexicon, *self.ids, n_threads)
        if len(found) and found.min() < 0:
            raise DataError(
                "the shard has word pairs that the model does not know", hint="give a shard of the same text"
            )
        return found

    def lexicon(self, whole: Lexicon, t: npt.NDArray[np.float32]) -> Lexicon:
        """The lexicon of these word pairs, whose t is given. whole: the rest is taken from it"""
        evidence = None if whole.evidence is None else self._evidence(whole.evidence, t)
        nulls = whole.null_fwd[self.tgt], whole.null_rev[self.src]
        return Lexicon(self.rows, self.pair_tgt, t, *nulls, evidence)

    def _evidence(self, whole: Evidence, t: npt.NDArray[np.float32]) -> Evidence:
        linked = np.packbits((t[:, 0] != 0) | (t[:, 1] != 0), bitorder="little")  # any(axis=1) is slow
        return replace(whole, src=whole.src[self.src], tgt=whole.tgt[self.tgt], linked=linked)

    def positions(self, whole: Positions | None) -> Positions | None:
        """Positions that depend on words have these words."""
        return whole.of_words(self.src, self.tgt) if isinstance(whole, ClassJumps) else whole

    def add_to(self, whole: Counts, own: Counts, lexicon: Lexicon, n_threads: int) -> None:
        """Adds the counts of these words and word pairs to those of the whole text's lexicon."""
        whole.pairs[self.places(lexicon, n_threads)] += own.pairs
        whole.null_fwd[self.tgt] += own.null_fwd
        whole.null_rev[self.src] += own.null_rev
        whole.positions += own.positions


@dataclass(frozen=True, eq=False)
class LocalView:
    """What a view sees of a shard: the text with local words, and its word pairs."""

    seen: Seen
    pairs: WordPairs

    @staticmethod
    def of(corpus: Corpus, view: str, src: Vocab, tgt: Vocab, n_threads: int) -> LocalView:
        """src, tgt: what the view sees of the whole text's words"""
        text = see(corpus, view)
        (one, src_ids), (other, tgt_ids) = _renumbered(text.src, src), _renumbered(text.tgt, tgt)
        seen = Seen.of_own_words(Corpus(one, other), "word", n_threads)
        return LocalView(seen, WordPairs(src_ids, tgt_ids, seen.rows, seen.tgt))

    def parameters(self, whole: Parameters, n_threads: int) -> Parameters:
        """The parameters of the shard's words."""
        return self.with_t(whole, whole.lexicon.t[self.pairs.places(whole.lexicon, n_threads)])

    def with_t(self, whole: Parameters, t: npt.NDArray[np.float32]) -> Parameters:
        """The parameters of the shard's words, with the t of their word pairs."""
        return Parameters(self.pairs.lexicon(whole.lexicon, t), self.pairs.positions(whole.positions))


def _renumbered(side: Side, whole: Vocab) -> tuple[Side, Ints]:
    """(the side with words in the order of the whole text's words, their ids there)"""
    found = whole.find(side.vocab.words)
    if len(found) and found.min() < 0:
        word = side.vocab.words[int(np.argmin(found))]
        raise DataError(
            f"the word {word!r} is not in the text that is trained on", hint="give a shard of the same text"
        )
    order = np.argsort(found)
    new_ids = np.empty_like(found)
    new_ids[order] = np.arange(len(order), dtype=np.int32)
    return Relabelled(side, new_ids, side.vocab.select(order)).held(), found[order]


def merged(parts: list[WordPairs], n_src: int, n_tgt: int) -> tuple[Longs, Ints]:
    """(rows, pair_tgt) of the word pairs that any part has.

    n_src, n_tgt: how many words the whole text has
    """
    rows, found, start = np.zeros(n_src + 1, np.int64), [np.empty(0, np.int32)], 0
    widths = np.zeros(n_src + 1, np.int64)
    for part in parts:
        widths[part.src + 1] += np.diff(part.rows)
    ends = np.cumsum(widths)
    while start < n_src:  # some source words at a time
        stop = max(start + 1, int(np.searchsorted(ends, ends[start] + BLOCK_PAIRS, side="right")) - 1)
        keys = []
        for part in parts:
            a, b = np.searchsorted(part.src, (start, stop)).tolist()
            e = np.repeat(part.src[a:b].astype(np.int64), np.diff(part.rows[a : b + 1]))
            f = part.tgt[part.pair_tgt[part.rows[a] : part.rows[b]]]
            keys.append(e * n_tgt + f)
        key = united(keys)
        rows[1 + start : 1 + stop] = np.bincount(key // n_tgt - start, minlength=stop - start)
        found.append((key % n_tgt).astype(np.int32))
        start = stop
    return np.cumsum(rows), np.concatenate(found)


def united(keys: Sequence[Longs]) -> Longs:
    """The numbers that any of some rising arrays has, each once, rising."""
    every = np.concatenate([np.empty(0, np.int64), *keys])
    every.sort(kind="stable")  # merges what rises already
    new = np.ones(len(every), dtype=bool)
    np.not_equal(every[1:], every[:-1], out=new[1:])
    return every[new]

"""Links of sentence pairs as arrays: which source word is linked with which target word."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import SupportsIndex, overload

import numpy as np
import numpy.typing as npt

Lengths = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Links:
    """The links of S sentence pairs. links[n] is a list of the links (i, j) of sentence pair n.

    offsets   [S + 1]    links of sentence n are those from offsets[n] to offsets[n + 1]
    src, tgt  [n_links]  positions
    sure      [n_links]  1 sure, 0 possible; None: all are sure
    scores    [n_links]  None: links have no scores
    """

    offsets: npt.NDArray[np.int64]
    src: npt.NDArray[np.int32]
    tgt: npt.NDArray[np.int32]
    sure: npt.NDArray[np.uint8] | None = None
    scores: npt.NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        possible = 0 if self.sure is None else int((self.sure == 0).sum())
        more = f", {possible} of them possible" if possible else ""
        more += "" if self.scores is None else ", with scores"
        return f"Links({len(self)} sentence pairs, {len(self.src)} links{more})"

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        """The links of each sentence pair, as of `pairs`."""
        return iter(self.pairs())

    @overload
    def __getitem__(self, n: SupportsIndex) -> list[tuple[int, int]]: ...
    @overload
    def __getitem__(self, n: slice) -> Links: ...
    def __getitem__(self, n: SupportsIndex | slice) -> list[tuple[int, int]] | Links:
        """The links of sentence pair n; the Links of sentence pairs, for a slice."""
        if isinstance(n, slice):
            start, stop, step = n.indices(len(self))
            if step != 1:
                raise ValueError(f"Links have slices of step 1, not {step}")
            return self.part(start, max(start, stop))
        k = operator.index(n)
        if not -len(self) <= k < len(self):
            raise IndexError(f"there is no sentence pair {k} in links of {len(self)}")
        k %= len(self)
        return self.part(k, k + 1).pairs()[0]

    @property
    def sentences(self) -> npt.NDArray[np.int64]:
        """[n_links] link -> its sentence"""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @property
    def n_sure(self) -> int:
        """How many links are sure."""
        return len(self.src) if self.sure is None else int(np.count_nonzero(self.sure))

    def outside(self, src: Lengths, tgt: Lengths) -> npt.NDArray[np.bool_]:
        """[n_links] whether a link has a word that is not there. src, tgt: [S] words of each sentence"""
        at = self.sentences
        low, high = np.minimum(self.src, self.tgt) < 0, (self.src >= src[at]) | (self.tgt >= tgt[at])
        return np.asarray(low | high)

    def pairs(self) -> list[list[tuple[int, int]]]:
        """The links of each sentence as (source, target) positions."""
        links = list(zip(self.src.tolist(), self.tgt.tolist(), strict=True))
        cuts = self.offsets.tolist()
        return [links[a:b] for a, b in zip(cuts, cuts[1:], strict=False)]

    def scored(self) -> list[list[tuple[int, int, float]]]:
        """The links of each sentence as (source, target, score)."""
        if self.scores is None:
            raise ValueError("these links have no scores")
        scores = self.scores.tolist()
        cuts = self.offsets.tolist()
        return [
            [(i, j, score) for (i, j), score in zip(links, scores[a:b], strict=True)]
            for links, a, b in zip(self.pairs(), cuts, cuts[1:], strict=False)
        ]

    def transposed(self) -> Links:
        """The same links with the sides swapped."""
        return Links(self.offsets, self.tgt, self.src, self.sure, self.scores)

    def rounded(self) -> Links:
        """The same links with scores of six decimals, as files have them."""
        return self if self.scores is None else replace(self, scores=np.round(self.scores, 6))

    def part(self, start: int, stop: int) -> Links:
        """Sentences start to stop."""
        offsets = self.offsets[start : stop + 1]
        a, b = int(offsets[0]), int(offsets[-1])
        columns = (None if x is None else x[a:b] for x in (self.sure, self.scores))
        return Links(offsets - a, self.src[a:b], self.tgt[a:b], *columns)  # type: ignore[arg-type]

    def select(self, keep: npt.NDArray[np.bool_]) -> Links:
        """The sentences to keep. keep: [S]"""
        lengths = np.diff(self.offsets)
        links = np.repeat(keep, lengths)
        columns = (None if x is None else x[links] for x in (self.sure, self.scores))
        offsets = np.concatenate([[0], np.cumsum(lengths[keep])])
        return Links(offsets, self.src[links], self.tgt[links], *columns)  # type: ignore[arg-type]

    def chosen(self, keep: npt.NDArray[np.bool_]) -> Links:
        """The links to keep, of the same sentences. keep: [n_links]"""
        offsets = np.concatenate([[0], np.cumsum(keep)])[self.offsets]
        columns = (None if x is None else x[keep] for x in (self.sure, self.scores))
        return Links(offsets, self.src[keep], self.tgt[keep], *columns)  # type: ignore[arg-type]

    def padded(self, n: int) -> Links:
        """The same links, filled up to n sentences with sentences without links."""
        more = np.full(max(0, n - len(self)), self.offsets[-1])
        offsets = np.concatenate([self.offsets, more])
        return Links(offsets, self.src, self.tgt, self.sure, self.scores)

    @staticmethod
    def from_pairs(
        sentences: Iterable[Iterable[tuple[int, int] | tuple[int, int, float]]],
    ) -> Links:
        """Links given as (source, target) positions, or all of them as (source, target, score)."""
        lists: list[list[Sequence[float]]] = [list(sentence) for sentence in sentences]
        links = [link for one in lists for link in one]
        sizes = {len(link) for link in links}
        if sizes not in (set(), {2}, {3}):
            raise ValueError("links must be pairs (source, target), or all (source, target, score)")
        places = np.array([link[:2] for link in links] or np.empty((0, 2), np.int32))
        if places.dtype.kind not in "iu":
            raise TypeError("the positions of links must be whole numbers")
        if places.size and not (places.min() >= 0 and places.max() < 2**31):
            raise ValueError("the positions of links must be between 0 and 2^31")
        offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
        src, tgt = (places[:, k].astype(np.int32) for k in range(2))
        scores = np.array([link[2] for link in links], dtype=np.float64) if sizes == {3} else None
        return Links(offsets, src, tgt, scores=scores)

    @staticmethod
    def joined(blocks: Iterable[Links]) -> Links:
        """The links of blocks of sentences, one after another. A block without links may have no scores."""
        parts = list(blocks)
        if len(parts) <= 1:
            return parts[0] if parts else Links.from_pairs([])
        starts = np.cumsum([0, *(len(part.src) for part in parts)])
        offsets = [part.offsets[1:] + start for part, start in zip(parts, starts, strict=False)]

        def column(name: str) -> npt.NDArray[np.generic] | None:
            columns = [getattr(part, name) for part in parts if len(part.src)] or [getattr(parts[0], name)]
            return None if any(x is None for x in columns) else np.concatenate(columns)

        return Links(
            np.concatenate([np.zeros(1, dtype=np.int64), *offsets]),
            *(column(name) for name in ("src", "tgt", "sure", "scores")),  # type: ignore[arg-type]
        )

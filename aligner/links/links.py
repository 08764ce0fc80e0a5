"""Links of sentence pairs as arrays: which source word is linked with which target word."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Links:
    """The links of S sentence pairs.

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

    @property
    def sentences(self) -> npt.NDArray[np.int64]:
        """[n_links] link -> its sentence"""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def pairs(self) -> list[list[tuple[int, int]]]:
        """The links of each sentence as (source, target) positions."""
        links = list(zip(self.src.tolist(), self.tgt.tolist(), strict=True))
        cuts = self.offsets.tolist()
        return [links[a:b] for a, b in zip(cuts, cuts[1:], strict=False)]

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
    def from_pairs(sentences: Iterable[Iterable[tuple[int, int]]]) -> Links:
        """Links given as (source, target) positions."""
        lists = [list(sentence) for sentence in sentences]
        flat = np.array([link for links in lists for link in links], dtype=np.int32).reshape(-1, 2)
        offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
        return Links(offsets, flat[:, 0].copy(), flat[:, 1].copy())

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

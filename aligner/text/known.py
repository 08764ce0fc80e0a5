"""What is known of a text's links beforehand: weights of links, and constraints on sums of expected links."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of links: emissions are multiplied by them (links/known.py).

    offsets   [S + 1]    weights of sentence pair n are those from offsets[n] to offsets[n + 1]
    src, tgt  [n_links]  positions
    weight    [n_links]  0 excludes a link, a large weight makes it sure
    """

    offsets: Longs
    src: Ints
    tgt: Ints
    weight: npt.NDArray[np.float32]

    def part(self, start: int, stop: int) -> Weights:
        """The weights of the sentence pairs start to stop."""
        return Weights(self.offsets[start : stop + 1], self.src, self.tgt, self.weight)

    def select(self, keep: npt.NDArray[np.bool_]) -> Weights:
        """The weights of the sentence pairs to keep."""
        return self._kept(keep, _selected(self.offsets, keep))

    def emptied(self, keep: npt.NDArray[np.bool_]) -> Weights:
        """The weights of all sentence pairs, none for those that are not to keep."""
        return self._kept(keep, _emptied(self.offsets, keep))

    def _kept(self, keep: npt.NDArray[np.bool_], offsets: Longs) -> Weights:
        links = np.repeat(keep, np.diff(self.offsets))
        return Weights(offsets, self.src[links], self.tgt[links], self.weight[links])


Entry = tuple[str, int, int, float]  # direction, source position, target position, coefficient
Feature = tuple[Sequence[Entry], str, float]  # entries, "<=" or "=", bound


@dataclass(frozen=True, eq=False, repr=False)
class Constraints:
    """Constraints on the expected links of each sentence pair: E[f_k] <= bound_k, or E[f_k] = bound_k.

    Feature f_k is a sum over its entries of coefficient * link, the link of one direction's alignment.

    offsets      [S + 1]         features of sentence pair n are those from offsets[n] to offsets[n + 1]
    bound        [n_features]
    equal        [n_features]    1: E[f] = bound, 0: E[f] <= bound
    starts       [n_features+1]  entries of feature k are those from starts[k] to starts[k + 1]
    direction    [n_entries]     0: of the forward alignment, 1: of the reverse
    src, tgt     [n_entries]     positions
    coefficient  [n_entries]
    """

    offsets: Longs
    bound: Doubles
    equal: Bytes
    starts: Longs
    direction: Bytes
    src: Ints
    tgt: Ints
    coefficient: Doubles

    @staticmethod
    def of(pairs: Iterable[Sequence[Feature]]) -> Constraints:
        """The features of each sentence pair, as for example

        [([("forward", 0, 2, 1.0), ("forward", 1, 2, 1.0)], "<=", 0.5)]: at most half a link of target word 2
        with the source words 0 and 1 is expected.
        """
        lists = [list(features) for features in pairs]
        features = [feature for one in lists for feature in one]
        entries = [entry for feature in features for entry in feature[0]]
        for kind in {kind for _, kind, _ in features} - {"<=", "="}:
            raise ValueError(f"unknown kind of constraint {kind!r}; there are <= and =")
        for name in {name for name, *_ in entries} - {"forward", "reverse"}:
            raise ValueError(f"unknown direction {name!r}; there are forward and reverse")
        return Constraints(
            np.cumsum([0, *map(len, lists)], dtype=np.int64),
            np.array([bound for _, _, bound in features], dtype=np.float64),
            np.array([kind == "=" for _, kind, _ in features], dtype=np.uint8),
            np.cumsum([0, *(len(own) for own, _, _ in features)], dtype=np.int64),
            np.array([name == "reverse" for name, *_ in entries], dtype=np.uint8),
            np.array([i for _, i, _, _ in entries], dtype=np.int32),
            np.array([j for _, _, j, _ in entries], dtype=np.int32),
            np.array([x for *_, x in entries], dtype=np.float64),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"Constraints({len(self)} sentence pairs, {len(self.bound)} features)"

    def part(self, start: int, stop: int) -> Constraints:
        """The constraints of the sentence pairs start to stop."""
        return replace(self, offsets=self.offsets[start : stop + 1])

    def select(self, keep: npt.NDArray[np.bool_]) -> Constraints:
        """The constraints of the sentence pairs to keep."""
        return self._kept(keep, _selected(self.offsets, keep))

    def emptied(self, keep: npt.NDArray[np.bool_]) -> Constraints:
        """The constraints of all sentence pairs, none for those that are not to keep."""
        return self._kept(keep, _emptied(self.offsets, keep))

    def _kept(self, keep: npt.NDArray[np.bool_], offsets: Longs) -> Constraints:
        features = np.repeat(keep, np.diff(self.offsets))
        entries = np.repeat(features, np.diff(self.starts))
        return Constraints(
            offsets,
            self.bound[features],
            self.equal[features],
            _selected(self.starts, features),
            self.direction[entries],
            self.src[entries],
            self.tgt[entries],
            self.coefficient[entries],
        )


def _selected(offsets: Longs, keep: npt.NDArray[np.bool_]) -> Longs:
    """Offsets of what is kept."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.diff(offsets)[keep])])


def _emptied(offsets: Longs, keep: npt.NDArray[np.bool_]) -> Longs:
    """Offsets of all, where what is not kept is empty."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.where(keep, np.diff(offsets), 0))])


@dataclass(frozen=True)
class Known:
    """All that is known of a text beforehand."""

    weights: Weights | None = None
    constraints: Constraints | None = None

    def part(self, start: int, stop: int) -> Known:
        """What is known of the sentence pairs start to stop."""
        return Known(
            None if self.weights is None else self.weights.part(start, stop),
            None if self.constraints is None else self.constraints.part(start, stop),
        )

    def select(self, keep: npt.NDArray[np.bool_]) -> Known:
        """What is known of the sentence pairs to keep."""
        return Known(
            None if self.weights is None else self.weights.select(keep),
            None if self.constraints is None else self.constraints.select(keep),
        )

    def emptied(self, keep: npt.NDArray[np.bool_]) -> Known:
        """What is known of all sentence pairs, nothing of those that are not to keep."""
        return Known(
            None if self.weights is None else self.weights.emptied(keep),
            None if self.constraints is None else self.constraints.emptied(keep),
        )

    def checksum(self) -> str:
        """A checksum of what is known, for signatures; empty if nothing is known."""
        value = 0
        for part in (self.weights, self.constraints):
            for array in () if part is None else vars(part).values():
                value = zlib.crc32(np.ascontiguousarray(array).data, value)
        return "" if self.weights is None and self.constraints is None else f"{value:08x}"


NOTHING = Known()

"""What a job counted in a shard, and the file that keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, BinaryIO, TypedDict

import numpy as np
import numpy.typing as npt

from aligner import __version__, store
from aligner.cluster.due import DECIDE, ITERATE, NUMBER, Due
from aligner.cluster.local import WordPairs
from aligner.errors import DataError
from aligner.models.counts import Counts
from aligner.models.shares import Packed

Longs = npt.NDArray[np.int64]
Arrays = Mapping[str, npt.NDArray[Any]]

KIND = "counts file"
PAIRS = ("src", "tgt", "rows", "pair_tgt")
COUNTS = ("pairs", "null_fwd", "null_rev", "positions")
HISTOGRAM = ("scores", "counts", "masses")


@dataclass(frozen=True, eq=False)
class Counted:
    """What was found in a shard.

    training    the signature of the training
    due         the step
    shard       the number of the shard, from 1 to n_shards
    begin, end  its sentence pairs are those from begin to end of the text that is trained on
    pairs       the word pairs of each view of the step
    counts      of each view, of an iteration
    statistics  of an iteration
    keys        [S] checksums of the sentence pairs, where shares are kept
    shares      of the sentence pairs, where they are kept
    file        where it was read from
    histogram   of scores, of the step that decides: scores that occur, their links, the sum of probabilities
    """

    training: str
    due: Due
    shard: int
    n_shards: int
    begin: int
    end: int
    pairs: list[WordPairs] = field(default_factory=list)
    counts: list[Counts] = field(default_factory=list)
    statistics: dict[str, int] = field(default_factory=dict)
    keys: npt.NDArray[np.uint64] | None = None
    shares: Packed | None = None
    histogram: tuple[Longs, Longs, Longs] | None = None
    file: str = ""

    def write(self, out: BinaryIO) -> None:
        """Writes it to a file of store.open_new."""
        arrays: dict[str, npt.NDArray[Any]] = {}
        for n, pairs in enumerate(self.pairs):
            arrays |= {f"{n}.{name}": getattr(pairs, name) for name in PAIRS}
        for n, counts in enumerate(self.counts):
            arrays |= {f"{n}.counts.{name}": getattr(counts, name) for name in COUNTS}
        if self.keys is not None and self.shares is not None:
            arrays |= {"keys": self.keys, "offsets": self.shares[0], "entries": self.shares[1]}
        if self.histogram is not None:
            arrays |= dict(zip(HISTOGRAM, self.histogram, strict=True))
        header = {
            "kind": KIND,
            "by": __version__,
            "training": self.training,
            "due": asdict(self.due),
            "shard": self.shard,
            "n_shards": self.n_shards,
            "begin": self.begin,
            "end": self.end,
            "n_views": len(self.pairs),
            "statistics": self.statistics,
        }
        store.write_to(out, header, arrays)

    @staticmethod
    def load(path: str) -> Counted:
        """What a file keeps. A file that is damaged, or says what cannot be, is refused."""
        header, arrays = store.read(path, lambda _: True, KIND)
        try:
            store.check_form(header, _Header, "header")
            return replace(_restored(header, arrays), file=path)
        except ValueError as error:
            raise DataError(
                f"the counts file is not as aligner writes it: {error}", file=path, hint=store.again(KIND)
            ) from None


class _Due(TypedDict):
    kind: str
    view: int
    iteration: int


class _Header(TypedDict):
    by: str
    training: str
    due: _Due
    shard: int
    n_shards: int
    begin: int
    end: int
    n_views: int
    statistics: dict[str, int]


def _restored(header: Mapping[str, Any], arrays: Arrays) -> Counted:
    """A ValueError refuses what cannot be."""
    if header["by"] != __version__:
        raise ValueError(f"it is of aligner {header['by']}, this is {__version__}")
    due = Due(**header["due"])
    if due.kind not in (NUMBER, ITERATE, DECIDE) or not 0 < header["shard"] <= header["n_shards"]:
        raise ValueError(f"there is no step {due.kind!a} of shard {header['shard']} of {header['n_shards']}")
    known: set[str] = set()

    def some(prefix: str, forms: Mapping[str, tuple[type, tuple[int, ...]]]) -> list[Any]:
        own = {name: arrays[prefix + name] for name in forms if prefix + name in arrays}
        store.check_arrays(own, forms)
        known.update(prefix + name for name in forms)
        return [own[name] for name in forms]

    pairs, counts = [], []
    for n in range(header["n_views"]):
        v_src, v_tgt, P = (store.size_of(arrays, f"{n}.{name}") for name in ("src", "tgt", "pair_tgt"))
        forms: dict[str, tuple[type, tuple[int, ...]]] = {
            "src": (np.int32, (v_src,)),
            "tgt": (np.int32, (v_tgt,)),
            "rows": (np.int64, (v_src + 1,)),
            "pair_tgt": (np.int32, (P,)),
        }
        pairs.append(WordPairs(*some(f"{n}.", forms)))
        _check_pairs(pairs[-1])
        if due.kind == ITERATE:
            width, n_positions = (store.size_of(arrays, f"{n}.counts.{x}", 1) for x in ("pairs", "positions"))
            shapes = {
                "pairs": (P, width),
                "null_fwd": (v_tgt,),
                "null_rev": (v_src,),
                "positions": (2, n_positions),
            }
            found = some(f"{n}.counts.", {name: (np.int64, shape) for name, shape in shapes.items()})
            if any(x.size and x.min() < 0 for x in found):
                raise ValueError("a count is negative")
            counts.append(Counts(*found))
    keys = shares = histogram = None
    if "keys" in arrays:
        S, n = store.size_of(arrays, "keys"), store.size_of(arrays, "entries")
        kept = {"keys": (np.uint64, (S,)), "offsets": (np.int64, (S + 1,)), "entries": (np.uint32, (n,))}
        keys, *packed = some("", kept)
        store.check_rising("offsets", packed[0], n)
        shares = packed[0], packed[1]
    if due.kind == DECIDE:
        n = store.size_of(arrays, "scores")
        scores, links, masses = some("", {name: (np.int64, (n,)) for name in HISTOGRAM})
        histogram = scores, links, masses
    if odd := sorted(arrays.keys() - known):
        raise ValueError(f"there is an unknown array {odd[0]}")
    place = {name: header[name] for name in ("training", "shard", "n_shards", "begin", "end", "statistics")}
    return Counted(
        due=due, pairs=pairs, counts=counts, keys=keys, shares=shares, histogram=histogram, **place
    )


def _check_pairs(pairs: WordPairs) -> None:
    """Refuses word pairs that no text has."""
    for name in ("src", "tgt"):
        ids = getattr(pairs, name)
        if len(ids) and (ids[0] < 0 or (ids[1:] <= ids[:-1]).any()):
            raise ValueError(f"{name} does not rise")
    store.check_rising("rows", pairs.rows, len(pairs.pair_tgt))
    store.check_bounds({"pair_tgt": pairs.pair_tgt}, "pair_tgt", 0, len(pairs.tgt) - 1)

"""Shards of a text: contiguous parts of about as many cells, each with the words that stand in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, TypedDict

import numpy as np
import numpy.typing as npt

from aligner import store
from aligner.errors import DataError
from aligner.models.recipe import Recipe
from aligner.text.cells import cell_offsets
from aligner.text.corpus import Corpus
from aligner.text.sides import Side, Vocab
from aligner.training.start import kept

KIND = "shard"
MOST_SHARDS = 100_000
# The arrays of a side.
FORMS: dict[str, type] = {"ids": np.int32, "sentences": np.int64, "text": np.uint8, "offsets": np.int64}


@dataclass(frozen=True, eq=False)
class TextShard:
    """Some sentence pairs of a text.

    corpus    the sentence pairs; the vocabularies have the words that stand in them
    number    of the shard, from 1 to n_shards
    n_before  how many sentence pairs that are trained on stand in earlier shards
    text      the checksum of the whole text, as far as it is trained on
    file      where it was read from
    """

    corpus: Corpus
    number: int
    n_shards: int
    n_before: int
    text: str
    file: str | None = None

    def trained_on(self, recipe: Recipe) -> Corpus:
        """The sentence pairs that are trained on. Those that are too long are two empty sentences."""
        corpus = self.corpus.bounded()
        keep = kept(corpus, recipe)
        return corpus if keep.all() else corpus.select(keep)

    def write(self, out: BinaryIO) -> None:
        """Writes the shard to a file of store.open_new."""
        arrays: dict[str, npt.NDArray[Any]] = {}
        for name, side in (("src", self.corpus.src), ("tgt", self.corpus.tgt)):
            arrays[f"{name}.ids"], arrays[f"{name}.sentences"] = side.ids, side.offsets
            arrays[f"{name}.text"] = np.frombuffer(side.vocab.text, dtype=np.uint8)
            arrays[f"{name}.offsets"] = side.vocab.offsets
        names = ("number", "n_shards", "n_before", "text")
        store.write_to(out, {"kind": KIND} | {name: getattr(self, name) for name in names}, arrays)

    @staticmethod
    def load(path: str) -> TextShard:
        """A shard from a file. A file that is damaged, or says what cannot be, is refused."""
        header, arrays = store.read(path, lambda _: True, KIND)
        try:
            store.check_form(header, _Header, "header")
            if not (0 < header["number"] <= header["n_shards"] and header["n_before"] >= 0):
                raise ValueError(f"shard {header['number']} of {header['n_shards']} cannot be")
            corpus = Corpus(_side("src", arrays), _side("tgt", arrays))
            if len(corpus.src) != len(corpus.tgt) or len(arrays) != 8:
                raise ValueError("the sides have not as many sentences, or there is an unknown array")
        except ValueError as error:
            raise DataError(
                f"the shard is not as aligner writes it: {error}", file=path, hint=store.again(KIND)
            ) from None
        return TextShard(corpus, **header, file=path)


class _Header(TypedDict):
    number: int
    n_shards: int
    n_before: int
    text: str


def _side(name: str, arrays: dict[str, npt.NDArray[Any]]) -> Side:
    """A side of a file."""
    own = {key: arrays[f"{name}.{key}"] for key in FORMS if f"{name}.{key}" in arrays}
    store.check_arrays(own, {key: (dtype, (-1,)) for key, dtype in FORMS.items()})
    ids, offsets = own["ids"], own["sentences"]
    vocab = Vocab.restored(name, own["text"], own["offsets"])
    store.check_rising(f"{name}.sentences", offsets, len(ids))
    store.check_bounds(own, "ids", 0, len(vocab) - 1)
    return Side(ids, offsets, vocab)


def in_text_shards(corpus: Corpus, recipe: Recipe, n_shards: int, text: str) -> Iterator[TextShard]:
    """A text in n_shards shards. Some are empty where a text has few sentence pairs. text: its checksum"""
    bounded = corpus.bounded()
    offsets, before = cell_offsets(bounded), np.cumsum(kept(bounded, recipe))
    wanted = int(offsets[-1]) * np.arange(1, n_shards) // n_shards
    cuts = [0, *np.searchsorted(offsets, wanted).tolist(), len(corpus)]
    for n, (start, stop) in enumerate(zip(cuts, cuts[1:], strict=False)):
        part = Corpus(_own_words(corpus.src, start, stop), _own_words(corpus.tgt, start, stop))
        yield TextShard(part, n + 1, n_shards, int(before[start - 1]) if start else 0, text)


def _own_words(side: Side, start: int, stop: int) -> Side:
    """Sentences start to stop, and no words but theirs, in the order of the side's vocabulary."""
    part = side.part(start, stop)
    stands = np.zeros(len(side.vocab), dtype=bool)
    stands[part.ids] = True
    new = np.cumsum(stands, dtype=np.int32) - 1
    return Side(new[part.ids], part.offsets, side.vocab.select(np.flatnonzero(stands)))

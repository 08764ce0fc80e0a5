"""A census: what a training must know of a whole text, beside what its sentence pairs count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner import store
from aligner.models.places import sizes_of
from aligner.text.classes import BothClasses, WordClasses
from aligner.text.corpus import Corpus
from aligner.text.sides import Side, Vocab, renamed
from aligner.text.views import Cut, parse

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Words:
    """The words of one side.

    vocab    the words
    tokens   [V]  how often each occurs
    paired   [V]  how often each occurs in sentence pairs that have words on both sides
    classes  [V]  the class of each, 0 for a word that has none; None: there are no classes
    """

    vocab: Vocab
    tokens: Longs
    paired: Longs
    classes: Ints | None = None

    @staticmethod
    def of(side: Side, paired: Longs, classes: WordClasses | None) -> Words:
        return Words(side.vocab, side.counts, paired, None if classes is None else classes.of(side.vocab))

    def seen(self, cut: Cut) -> Words:
        """What a view sees of the words. Its class is that of the most tokens, the first of equals."""
        if cut is None:
            return self
        vocab, looks = renamed(self.vocab, cut)
        tokens, paired = (
            np.bincount(looks, x, minlength=len(vocab)).astype(np.int64) for x in (self.tokens, self.paired)
        )
        return Words(vocab, tokens, paired, self._classes_seen(looks, len(vocab)))

    def _classes_seen(self, looks: Ints, n: int) -> Ints | None:
        """looks: word -> one of n that the view sees"""
        if self.classes is None:
            return None
        there = (self.tokens > 0) & (self.classes > 0)
        width = int(self.classes.max(initial=0)) + 1
        codes, place = np.unique(
            looks[there].astype(np.int64) * width + self.classes[there], return_inverse=True
        )
        tokens = np.bincount(place, self.tokens[there], minlength=len(codes))
        order = np.lexsort((-codes, tokens))  # the last one of a view's word is that of the most tokens
        result = np.zeros(n, dtype=np.int32)
        result[codes[order] // width] = codes[order] % width
        return result


@dataclass(frozen=True, eq=False)
class Census:
    """The words of a text, and the sizes of its sentence pairs.

    sizes    [n, 2]  sizes (I, J) of the sentence pairs that have words on both sides, sorted, each once
    n_pairs  how many such sentence pairs there are
    """

    src: Words
    tgt: Words
    sizes: Longs
    n_pairs: int

    @staticmethod
    def of(corpus: Corpus, classes: BothClasses | None = None) -> Census:
        src, tgt = corpus.src, corpus.tgt
        full = (src.lengths > 0) & (tgt.lengths > 0)
        one, other = classes or (None, None)
        sizes = sizes_of(src.lengths, tgt.lengths)
        paired = corpus.occurrences
        return Census(Words.of(src, paired[0], one), Words.of(tgt, paired[1], other), sizes, int(full.sum()))

    def seen(self, view: str) -> Census:
        """What a view sees of the words."""
        src, tgt = parse(view)
        return Census(self.src.seen(src), self.tgt.seen(tgt), self.sizes, self.n_pairs)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All of it by name, as a file keeps it."""
        found: dict[str, npt.NDArray[Any]] = {"sizes": self.sizes, "n_pairs": np.array([self.n_pairs])}
        for side, words in (("src", self.src), ("tgt", self.tgt)):
            found[f"{side}.text"] = np.frombuffer(words.vocab.text, dtype=np.uint8)
            found[f"{side}.offsets"] = words.vocab.offsets
            found |= {f"{side}.tokens": words.tokens, f"{side}.paired": words.paired}
            if words.classes is not None:
                found[f"{side}.classes"] = words.classes
        return found

    @staticmethod
    def restored(arrays: Mapping[str, npt.NDArray[Any]]) -> Census:
        """The census of a file. Refuses, by a ValueError, arrays that no text has."""
        sizes = {side: store.size_of(arrays, f"{side}.tokens") for side in ("src", "tgt")}
        forms: dict[str, tuple[type, tuple[int, ...]]] = {
            "sizes": (np.int64, (store.size_of(arrays, "sizes"), 2)),
            "n_pairs": (np.int64, (1,)),
        }
        for side, V in sizes.items():
            forms |= {f"{side}.text": (np.uint8, (-1,)), f"{side}.offsets": (np.int64, (V + 1,))}
            forms |= {f"{side}.{name}": (np.int64, (V,)) for name in ("tokens", "paired")}
            if "src.classes" in arrays:
                forms[f"{side}.classes"] = (np.int32, (V,))
        store.check_arrays(arrays, forms)
        for name in forms:
            if not name.endswith(("text", "offsets", "sizes")):
                store.check_bounds(arrays, name, 0, 2**31)
        store.check_bounds(arrays, "sizes", 1, 2**31)
        if not np.array_equal(sizes_of(*arrays["sizes"].T), arrays["sizes"]):
            raise ValueError("sizes does not rise")

        def words(side: str) -> Words:
            own = {name: arrays.get(f"{side}.{name}") for name in ("tokens", "paired", "classes")}
            vocab = Vocab.restored(side, arrays[f"{side}.text"], arrays[f"{side}.offsets"])
            return Words(vocab, **own)  # type: ignore[arg-type]

        return Census(words("src"), words("tgt"), arrays["sizes"], int(arrays["n_pairs"][0]))

    @property
    def occurrences(self) -> tuple[Longs, Longs]:
        """How often words occur in sentence pairs that have words on both sides: source, target."""
        return self.src.paired, self.tgt.paired

    @property
    def n_generated(self) -> tuple[int, int]:
        """The tokens that the forward and the reverse model generate."""
        return int(self.tgt.paired.sum()), int(self.src.paired.sum())

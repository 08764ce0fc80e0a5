"""Jumps that depend on the class of the word that is left, as in GIZA++'s HMM."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from aligner import store
from aligner.models.jumps import LEAST, Doubles, Jumps, learn
from aligner.models.settings import checked

Ints = npt.NDArray[np.int32]

SHARED = 2000.0  # how many jumps of all words are added to those from a class; chosen on development sets


@dataclass(eq=False, kw_only=True)
class ClassJumps(Jumps):
    """Jumps from a word of each class (Och & Ney 2003, section 2.3). Words without a class have `jump`.

    jump       [2, 2 W + 3]     from all words together
    by_class   [2, C, 2 W + 3]  from words of class 1 ... C: of source words forward, of target words reverse
    src_class  [V_src]          source word -> its class; 0: none
    tgt_class  [V_tgt]          target word -> its class; 0: none
    Counts are those of Jumps, where `jump` has jumps from words without a class, then those by class.
    """

    by_class: Doubles
    src_class: Ints
    tgt_class: Ints

    kind: ClassVar[str] = "class jumps"
    ARRAYS: ClassVar[tuple[str, ...]] = (*Jumps.ARRAYS, "by_class", "src_class", "tgt_class")

    @staticmethod
    def of(jumps: Jumps, src_class: Ints, tgt_class: Ints) -> ClassJumps:
        """All classes jump alike."""
        n = max(1, *(int(x.max(initial=0)) for x in (src_class, tgt_class)))
        by_class = np.repeat(jumps.jump[:, None], n, axis=1)
        tables = {name: getattr(jumps, name).copy() for name in Jumps.ARRAYS}
        return ClassJumps(**tables, p0=jumps.p0, by_class=by_class, src_class=src_class, tgt_class=tgt_class)

    @property
    def n_classes(self) -> int:
        return int(self.by_class.shape[1])

    @property
    def n_counts(self) -> int:
        return super().n_counts + int(self.by_class[0].size)

    @property
    def of_all_words(self) -> Jumps:
        """Jumps that do not depend on classes. The arrays are these, not copies."""
        return Jumps(**{name: getattr(self, name) for name in (*Jumps.ARRAYS, *Jumps.NUMBERS)})

    def of_words(self, src: Ints, tgt: Ints) -> ClassJumps:
        """The jumps of other vocabularies. src, tgt: the ids here of the words there; -1 has no class."""
        src_class, tgt_class = (np.append(x, np.int32(0)) for x in (self.src_class, self.tgt_class))
        return replace(self, src_class=src_class[src], tgt_class=tgt_class[tgt])

    def check(self, large: bool) -> None:
        super().check(large)
        tables = {name: getattr(self, name) for name in ("by_class", "src_class", "tgt_class")}
        C = int(checked("classes", max(1, store.size_of(tables, "by_class", 1))))
        store.check_arrays(
            tables,
            {
                "by_class": (np.float64, (2, C, self.jump.shape[1])),
                "src_class": (np.int32, (-1,)),
                "tgt_class": (np.int32, (-1,)),
            },
        )
        store.check_bounds(tables, "by_class", LEAST, 1)
        for name in ("src_class", "tgt_class"):
            store.check_bounds(tables, name, 0, C)

    def update(self, expected: Doubles, power: float = 1.0) -> None:
        """by_class_c(b) = (c_c(b) + s p(b)) / sum_b, c_c the expected jumps from words of class c.

        p are the shares of jumps from all words, s = SHARED: a class of few words jumps as all words do.
        """
        n, width = super().n_counts, self.jump.shape[1]
        parts = expected[:, n:].reshape(self.by_class.shape)
        total = expected[:, :n].copy()
        total[:, :width] += parts.sum(axis=1)
        super().update(total, power)
        jumps = total[:, None, :width]
        shares = jumps / np.maximum(jumps.sum(axis=2, keepdims=True), 1e-300)
        learn(self.by_class, parts + SHARED * shares, power)

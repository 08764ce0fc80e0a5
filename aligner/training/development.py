"""A development set: tells training when to stop."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligner.decoding.combine import Decision, combine
from aligner.decoding.posteriors import directions
from aligner.errors import DataError
from aligner.links.links import Links
from aligner.models.parameters import View
from aligner.models.recipe import Recipe
from aligner.models.shares import Shares
from aligner.scoring.curves import Curve
from aligner.text.corpus import Corpus, text_hash


@dataclass(frozen=True)
class Development:
    """Sentence pairs with gold links. Training is judged by the area under the precision-recall curve."""

    corpus: Corpus
    gold: Links

    def __post_init__(self) -> None:
        if len(self.corpus) != len(self.gold):
            raise DataError(
                f"the development text has {len(self.corpus)} pairs, its gold links {len(self.gold)} lines",
                hint="they must match line by line",
            )
        if self.gold.n_sure == 0:
            raise DataError("the development set has no sure links", hint="they tell when to stop")

    def checksum(self) -> str:
        """What a signature calls the set: a checksum of its text and of its gold links."""
        gold = self.gold
        sure = np.ones(len(gold.src), np.uint8) if gold.sure is None else gold.sure
        value = int(text_hash(self.corpus), 16)
        for array in (gold.offsets, gold.src, gold.tgt, sure):
            value = zlib.crc32(np.ascontiguousarray(array).data, value)
        return f"{value:08x}"

    def area(self, views: Sequence[View], recipe: Recipe, shares: Shares | None, n_threads: int) -> float:
        """The area under the precision-recall curve of the links of these views.

        shares: of the text trained on, which the set may be a part of
        """
        blocks = directions(views, recipe, self.corpus, shares=shares, n_threads=n_threads)
        every = Decision(0.0, recipe.direction)
        links = Links.joined(combine(*block, every) for block in blocks)
        return Curve.of(links, self.gold).area

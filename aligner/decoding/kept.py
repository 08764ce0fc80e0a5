"""A model that aligns text of its caller, whichever way round it was trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligner.decoding.combine import one_each
from aligner.decoding.model import Model
from aligner.lexicons.table import Table
from aligner.links.links import Links
from aligner.text.cells import Seen
from aligner.text.corpus import Corpus

SWAPPED = {"both": "both", "forward": "reverse", "reverse": "forward"}  # a direction of swapped sides


@dataclass(frozen=True, eq=False)
class Kept:
    """A model of a text, which may have been trained with the sides of the text swapped.

    swapped  whether the model's source is the caller's target
    text     the text that the model was trained on just now; None: the model was read
    seen     what the model's views see of that text
    """

    model: Model
    swapped: bool
    text: Corpus | None = None
    seen: Sequence[Seen | None] | None = None

    def directions(self, corpus: Corpus, **settings: Any) -> Iterator[tuple[Links, Links]]:
        """Forward and reverse links of the caller's sides, a shard of sentence pairs at a time.

        settings: those of decoding.posteriors.directions
        """
        for forward, reverse in self._directions(corpus, settings):
            yield (_transposed(reverse), _transposed(forward)) if self.swapped else (forward, reverse)

    def one_each(self, corpus: Corpus, direction: str, **settings: Any) -> Iterator[Links]:
        """At most one link a generated word, in the order of these words, a shard at a time.

        direction  forward: the caller's target is generated; reverse: the caller's source
        settings   those of decoding.posteriors.directions
        """
        for (links,) in self._one_each(corpus, (direction,), settings):
            yield links

    def one_each_way(self, corpus: Corpus, **settings: Any) -> tuple[Links, Links]:
        """`one_each` of both directions, forward and reverse, of the whole text. The text is decoded once."""
        found = list(self._one_each(corpus, ("forward", "reverse"), settings))
        forward, reverse = (Links.joined(block[k] for block in found) for k in range(2))
        return forward, reverse

    def _one_each(
        self, corpus: Corpus, wanted: tuple[str, ...], settings: dict[str, Any]
    ) -> Iterator[list[Links]]:
        """Of each shard, `one_each` of the wanted directions."""
        if self.swapped:
            wanted = tuple(SWAPPED[direction] for direction in wanted)
        for forward, reverse in self._directions(corpus, settings):
            found = [one_each(forward, reverse, direction, self.model.threshold) for direction in wanted]
            yield [links.transposed() for links in found] if self.swapped else found

    def table(self) -> Table:
        """The translation table of the caller's sides, of the first view."""
        view = self.model.views[0]
        table = view.parameters.lexicon.table(view.src, view.tgt, self.model.recipe.direction)
        return table.transposed() if self.swapped else table

    def _directions(self, corpus: Corpus, settings: dict[str, Any]) -> Iterator[tuple[Links, Links]]:
        """Forward and reverse links of the model's sides."""
        costs = settings.get("costs")
        if self.swapped and costs is not None:
            settings = settings | {"costs": np.empty_like(costs)}
        seen = self.seen if corpus is self.text else None
        if self.model.recipe.lowercase:
            corpus = corpus.lowered()
        if self.swapped:
            corpus = Corpus(corpus.tgt, corpus.src)
        n = 0
        for block in self.model.directions(corpus, seen=seen, **settings):
            if self.swapped and costs is not None:
                part = slice(n, n + len(block[0]))
                costs[part] = settings["costs"][part, ::-1]
            n += len(block[0])
            yield block


def _transposed(links: Links) -> Links:
    """The same links with the sides swapped, in the order of source words, then of target words."""
    order = np.lexsort((links.src, links.tgt, links.sentences))
    return Links(links.offsets, links.tgt[order], links.src[order], scores=links.scores[order])  # type: ignore[index]

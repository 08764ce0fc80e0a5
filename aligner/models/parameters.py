"""What a model of one view believes: a lexicon, and where words go."""

from __future__ import annotations

from dataclasses import dataclass, replace

from aligner.models.lexicon import Lexicon
from aligner.models.positions import Positions
from aligner.text.sides import Vocab


@dataclass(eq=False)
class Parameters:
    """positions is None where the position of a word does not matter, as in Model 1."""

    lexicon: Lexicon
    positions: Positions | None = None

    def copied(self) -> Parameters:
        """A copy, which the next update does not change."""
        tables = {name: getattr(self.lexicon, name).copy() for name in ("t", "null_fwd", "null_rev")}
        positions = None if self.positions is None else self.positions.copied()
        return Parameters(replace(self.lexicon, **tables), positions)


@dataclass(eq=False)
class View:
    """One view of the words (text/views.py): its vocabularies, and what a model believes of them."""

    name: str
    src: Vocab
    tgt: Vocab
    parameters: Parameters

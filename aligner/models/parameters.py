"""What a model of one view believes: a lexicon, and where words go."""

from __future__ import annotations

from dataclasses import dataclass, replace

from aligner.models.lexicon import Lexicon
from aligner.models.positions import Jumps
from aligner.text.corpus import Vocab


@dataclass(eq=False)
class Parameters:
    """positions is None where a word's place does not matter, as in Model 1."""

    lexicon: Lexicon
    positions: Jumps | None = None

    def copied(self) -> Parameters:
        """The same, not touched by the next update."""
        old, places = self.lexicon, self.positions
        tables = {name: getattr(old, name).copy() for name in ("t", "null_fwd", "null_rev")}
        if places is not None:
            places = replace(places, jump=places.jump.copy(), first=places.first.copy())
        return Parameters(replace(old, **tables), places)


@dataclass(eq=False)
class View:
    """One view of the words (text/views.py): its vocabularies, and what a model believes of them."""

    name: str
    src: Vocab
    tgt: Vocab
    parameters: Parameters

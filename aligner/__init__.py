"""Word alignment: which word of a sentence translates which word of its translation.

Names used everywhere, positions and ids from 0:

    src, e   the source sentence e[0..I), position i         tgt, f   the target sentence f[0..J), position j
    link     a pair (i, j); links are written `i-j`          S        sentence pairs
    forward  the direction p(tgt | src)                      reverse  the direction p(src | tgt)
    offsets  [S + 1], what belongs to sentence n stands from offsets[n] to offsets[n + 1]
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from aligner.decoding.dual import Dual
    from aligner.decoding.model import Model
    from aligner.errors import DataError
    from aligner.learning.combiner import Combiner
    from aligner.learning.learn import learn_combiner
    from aligner.links.formats import LinkReader, format_links
    from aligner.links.links import Links
    from aligner.links.remap import remap
    from aligner.links.symmetrize import symmetrize
    from aligner.models.recipe import Recipe
    from aligner.scoring.evaluate import evaluate
    from aligner.text.corpus import Corpus
    from aligner.text.known import Constraints
    from aligner.text.reading import read_corpus
    from aligner.training.development import Development
    from aligner.training.loop import learn, train
    from aligner.uses.conllu import read_conllu
    from aligner.uses.phrases import extract_phrases
    from aligner.uses.shortlist import shortlist
    from aligner.uses.transfer import transfer

__all__ = [
    "Combiner",
    "Constraints",
    "Corpus",
    "DataError",
    "Development",
    "Dual",
    "LinkReader",
    "Links",
    "Model",
    "Recipe",
    "evaluate",
    "extract_phrases",
    "format_links",
    "learn",
    "learn_combiner",
    "read_conllu",
    "read_corpus",
    "remap",
    "shortlist",
    "symmetrize",
    "train",
    "transfer",
]

_HOME = {
    "Combiner": "learning.combiner",
    "Constraints": "text.known",
    "Corpus": "text.corpus",
    "DataError": "errors",
    "Development": "training.development",
    "Dual": "decoding.dual",
    "LinkReader": "links.formats",
    "Links": "links.links",
    "Model": "decoding.model",
    "Recipe": "models.recipe",
    "evaluate": "scoring.evaluate",
    "extract_phrases": "uses.phrases",
    "format_links": "links.formats",
    "learn": "training.loop",
    "learn_combiner": "learning.learn",
    "read_conllu": "uses.conllu",
    "read_corpus": "text.reading",
    "remap": "links.remap",
    "shortlist": "uses.shortlist",
    "symmetrize": "links.symmetrize",
    "train": "training.loop",
    "transfer": "uses.transfer",
}


def __dir__() -> list[str]:
    """The public names, imported or not, and what Python itself keeps in a module."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> object:
    """Public names are imported when they are first used: the command line starts without numpy."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"aligner.{_HOME[name]}"), name)

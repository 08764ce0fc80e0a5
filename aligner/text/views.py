"""Views: what one model sees of words. A view of a text has the same sentences, and its own words and ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from aligner.text.corpus import Corpus, relabelled

HELP = "word, prefixN (its first N letters), suffixN (its last N)"


def parse(name: str) -> Callable[[str], str] | None:
    """A function: word -> what the view of this name sees of it. None: the view sees the word itself."""
    if name == "word":
        return None
    if not (match := re.fullmatch(r"(prefix|suffix)([1-9][0-9]{0,3})", name)):
        raise ValueError(f"unknown view {name!r}; there are {HELP}")
    kind, n = match[1], int(match[2])
    return (lambda word: word[:n]) if kind == "prefix" else (lambda word: word[-n:])


def parse_views(names: Sequence[str]) -> None:
    """Refuses a name that is no view, a name given twice, and an empty list."""
    for name in names:
        parse(name)
    if not names or len(set(names)) < len(names):
        raise ValueError("at least one view is needed, and none twice")


def see(corpus: Corpus, name: str) -> Corpus:
    """What a view sees of a corpus."""
    function = parse(name)
    return (
        corpus
        if function is None
        else Corpus(*(relabelled(side, function) for side in (corpus.src, corpus.tgt)))
    )

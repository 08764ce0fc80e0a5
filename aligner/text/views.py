"""Views: what one model sees of words. A view of a text has the same sentences, and its own words and ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from aligner.text.corpus import Corpus
from aligner.text.sides import Side, relabelled

HELP = (
    "word, prefixN (its first N letters), suffixN (its last N), stemN (as prefixN, but fewer letters on a"
    " side of short words), or one a side, as in prefix1/prefix3"
)

Cut = Callable[[str], str] | None

LONG = 7.0  # words of so many letters, on average over a vocabulary, are not short


def parse(name: str) -> tuple[Cut, Cut]:
    """Two functions, of source and of target words: word -> what the view of this name sees of the word.

    None: the view sees the word itself.
    """
    parts = name.split("/")
    if len(parts) > 2:
        raise ValueError(f"unknown view {name!r}; there are {HELP}")
    return _cut(parts[0]), _cut(parts[-1])


def _cut(name: str) -> Cut:
    if name == "word":
        return None
    if not (match := re.fullmatch(r"(prefix|suffix|stem)([1-9][0-9]{0,3})", name)):
        raise ValueError(f"unknown view {name!r}; there are {HELP}")
    kind, n = match[1], int(match[2])
    return (lambda word: word[-n:]) if kind == "suffix" else (lambda word: word[:n])


def parse_views(names: Sequence[str]) -> None:
    """Refuses a name that is no view, a name given twice, and an empty list."""
    for name in names:
        parse(name)
    if not names or len(set(names)) < len(names):
        raise ValueError("at least one view is needed, and none twice")


def describe_view(name: str) -> str:
    """What a view sees, for people."""
    src, tgt = name.split("/")[0], name.split("/")[-1]
    if src != tgt:
        return f"source: {describe_view(src)}, target: {describe_view(tgt)}"
    if src == "word":
        return "words"
    kind, n = re.fullmatch(r"([a-z]+)([0-9]+)", src).groups()  # type: ignore[union-attr]
    which = "last" if kind == "suffix" else "first"
    return f"{which} letter" if n == "1" else f"{which} {n} letters"


def see(corpus: Corpus, name: str) -> Corpus:
    """What a view sees of a corpus. Ids of a view that sees no whole words are made when they are needed."""
    cuts = parse(name)
    if cuts == (None, None):
        return corpus
    return Corpus(
        *(
            side if cut is None else relabelled(side, cut)
            for side, cut in zip((corpus.src, corpus.tgt), cuts, strict=True)
        )
    )


def settled(names: Sequence[str], corpus: Corpus) -> tuple[str, ...]:
    """The names of views, with prefixes of this corpus in place of stems.

    On a side whose vocabulary has words of m letters on average, m below LONG, a stem of n letters is a
    prefix of n m / LONG letters, at least one: five letters of an English word say what two of a Japanese
    word say.
    """

    def share(side: Side) -> float:
        words = side.vocab.words
        lengths = [len(words[k]) for k in np.flatnonzero(side.counts)]
        return min(1.0, sum(lengths) / max(1, len(lengths)) / LONG)

    def prefix(part: str, side: Side) -> str:
        if not part.startswith("stem"):
            return part
        return f"prefix{max(1, round(int(part.removeprefix('stem')) * share(side)))}"

    found = []
    for name in names:
        src, tgt = name.split("/")[0], name.split("/")[-1]
        parts = prefix(src, corpus.src), prefix(tgt, corpus.tgt)
        found.append(parts[0] if parts[0] == parts[1] else "/".join(parts))
    return tuple(dict.fromkeys(found))

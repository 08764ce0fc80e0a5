"""Phrases of two languages at once, with the links between their words.

A phrase is (source words, target words, links), its links counted from its own first words. Phrases
grow by join(), which keeps the order of the parts, and swap(), which turns it round in the target.
"""

from __future__ import annotations

import re

Phrase = tuple[list[str], list[str], list[int]]
Inflections = list[list[Phrase]]  # agreement or person -> table

# A link is a number, SRC * i + TGT * j + (1 if it is only possible): it is shifted by adding, and
# numbers sort by (i, j).
TGT = 2
SRC = TGT << 10  # no target sentence has 1,024 words


def phrase(source: str, target: str) -> Phrase:
    """A fixed phrase; target words carry their links: `pas-1` a sure one, `ne?0?1` two possible."""
    words, links = [], []
    for j, marked in enumerate(target.split()):
        word, *marks = re.split(r"([-?])(\d+)", marked)  # for each link: mark, i, ""
        words.append(word)
        for mark, i in zip(marks[::3], marks[1::3], strict=True):
            links.append(SRC * int(i) + TGT * j + (mark == "?"))
    return source.split(), words, links


def join(first: Phrase, *parts: Phrase) -> Phrase:
    """The parts one after another on both sides."""
    src, tgt, links = first[0].copy(), first[1].copy(), first[2].copy()
    for part_src, part_tgt, part_links in parts:
        shift = SRC * len(src) + TGT * len(tgt)
        links += [link + shift for link in part_links]
        src += part_src
        tgt += part_tgt
    return src, tgt, links


def swap(a: Phrase, b: Phrase) -> Phrase:
    """`a b` in the source, `b a` in the target."""
    past_a, past_b = SRC * len(a[0]), TGT * len(b[1])
    return a[0] + b[0], b[1] + a[1], [x + past_b for x in a[2]] + [x + past_a for x in b[2]]


def table(text: str) -> list[Phrase]:
    """Phrases `weight source = target` between bars, each as many times as its weight says."""
    phrases = []
    for row in text.split("|"):
        weight, pair = row.split(maxsplit=1)
        phrases += [phrase(*pair.split("="))] * int(weight)
    return phrases


def inflect(text: str, n: int) -> Inflections:
    """n tables: table k has form k of the words that are written `form0/form1/...`."""
    choices = [rf"(?:\w+/){{{k}}}(\w+)(?:/\w+){{{n - k - 1}}}" for k in range(n)]
    return [table(re.sub(choice, r"\1", text)) for choice in choices]


def identical(word: str) -> Phrase:
    """A word that is the same on both sides."""
    return [word], [word], [0]

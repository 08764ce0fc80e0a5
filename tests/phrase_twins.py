"""Slow twins of phrase pairs, by their definitions: plain Python, nothing of aligner.

Links are a list of (i, j), of I source words and J target words.
"""

from __future__ import annotations

from collections import Counter
from math import inf


def consistent(links, i1, i2, j1, j2):
    """Whether a link is inside, and none has one end inside and one outside."""
    inside = [(i1 <= i <= i2, j1 <= j <= j2) for i, j in links]
    return (True, True) in inside and all(a == b for a, b in inside)


def phrase_pairs(I, J, links, max_length):
    """All consistent phrase pairs (i1, i2, j1, j2), by j1, j2, falling i1, i2."""
    found = [
        (i1, i2, j1, j2)
        for j1 in range(J)
        for j2 in range(j1, J)
        for i1 in reversed(range(I))
        for i2 in range(i1, I)
        if max(i2 - i1, j2 - j1) < max_length and consistent(links, i1, i2, j1, j2)
    ]
    return found


def turns(I, J, links, max_length, model, kind, other_models=()):
    """[(before, after)] of each phrase pair, as Moses' `extract` finds them with one model.

    other_models: (model, kind) that `extract` is given before this one: hier listens to phrase
    """
    edges = {*links, (-1, -1), (I, J)}
    pairs = phrase_pairs(I, J, links, max_length)
    seen = pairs if model == "phrase" else phrase_pairs(I, J, links, inf)
    ends = {(i2, j2) for _, i2, _, j2 in seen}
    begins = {(i1, j2) for i1, _, _, j2 in seen}  # at the last target word: so has the original
    earlier = [(OTHER, OTHER)] * len(pairs)
    for name, how in other_models:
        earlier = turns(I, J, links, max_length, name, how)

    def turn(near, far, row, step, found):
        monotone, swapped = (near - step, row) in edges, (far + step, row) in edges
        mono, swap = monotone and not swapped, swapped and not monotone
        first, second = (ends, begins) if step == 1 else (begins, ends)
        if model != "wbe":
            mono |= found == "mono" or (near - step, row) in first
            swap |= found == "swap" or (far + step, row) in second
        if mono:
            return "mono"
        if kind == "mono":
            return OTHER
        if swap:
            return "swap"
        if kind == "msd":
            return OTHER
        if model != "wbe" and found != OTHER:
            return found
        down, up = range(min(near, far) - 1), range(max(near, far) + 2, I)
        same, opposite = (down, up) if step == 1 else (up, down)
        if model == "wbe":
            right = monotone or any((i, row) in links for i in same)
            left = swapped or any((i, row) in links for i in opposite)
            return OTHER if right == left else "dright" if right else "dleft"
        if any((i, row) in first for i in same if i in down or i < I - 1):  # one too few: so has the original
            return "dright"
        if any((i, row) in second for i in opposite if i in down or i < I - 1):
            return "dleft"
        return OTHER

    return [
        (turn(i1, i2, j1 - 1, 1, before), turn(i2, i1, j2 + 1, -1, after))
        for (i1, i2, j1, j2), (before, after) in zip(pairs, earlier, strict=True)
    ]


OTHER = "other"
NO_TURN = {"msd": "other", "mslr": "dright", "mono": "nomono"}


def table(sentences, max_length):
    """(src phrase, tgt phrase) -> scores, links, counts, as the lines of a phrase table have them.

    sentences: (source words, target words, links)
    """
    words, sides = Counter(), (Counter(), Counter())
    for e, f, links in sentences:
        linked = [(e[i], f[j]) for i, j in links]
        linked += [(x, "NULL") for i, x in enumerate(e) if i not in {i for i, _ in links}]
        linked += [("NULL", y) for j, y in enumerate(f) if j not in {j for _, j in links}]
        for pair in linked:
            words[pair] += 1
            for side, word in zip(sides, pair, strict=True):
                side[word] += 1
    found, of_src, of_tgt = {}, Counter(), Counter()
    for e, f, links in sentences:
        for i1, i2, j1, j2 in phrase_pairs(len(e), len(f), links, max_length):
            src, tgt = tuple(e[i1 : i2 + 1]), tuple(f[j1 : j2 + 1])
            inside = frozenset((i - i1, j - j1) for i, j in links if i1 <= i <= i2 and j1 <= j <= j2)
            found.setdefault((src, tgt), Counter())[inside] += 1
            of_src[src] += 1
            of_tgt[tgt] += 1

    def weight(src, tgt, links, given):
        """given: the side whose words are given, 0 or 1"""
        product = 1.0
        for k, word in enumerate((tgt, src)[given]):
            others = [(src, tgt)[given][link[given]] for link in sorted(links) if link[1 - given] == k] or [
                "NULL"
            ]
            pairs = [(x, word) if given == 0 else (word, x) for x in others]
            product *= sum(round(words[p] / sides[given][p[given]], 7) for p in pairs) / len(pairs)
        return product

    def best(choices, size, given):
        """The most frequent links; of equally frequent ones, the largest lists of words."""

        def lists(links):
            return [sorted(link[given] for link in links if link[1 - given] == k) for k in range(size)]

        return max(choices, key=lambda links: (choices[links], lists(links)))

    lines = {}
    for (src, tgt), choices in found.items():
        n = sum(choices.values())
        chosen, reverse = best(choices, len(tgt), 0), best(choices, len(src), 1)
        scores = n / of_tgt[tgt], weight(src, tgt, reverse, 1), n / of_src[src], weight(src, tgt, chosen, 0)
        lines[" ".join(src), " ".join(tgt)] = scores, chosen, (of_tgt[tgt], of_src[src], n)
    return lines

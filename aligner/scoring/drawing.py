"""Matrices of sentence pairs for a terminal: source words are rows, target words are columns."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aligner.scoring.terminal import cut, places, printable
from aligner.scoring.viewer import UNIT

CELL = 3  # places of a column: a circle, between the brackets of gold
TALLEST = 16  # lines of a target word above its column
LIMITS = (500, 2_500, 5_000, 7_500)  # a score above each has one more size
SHORTEST = 20  # places of the narrowest drawing: a terminal of fewer gets lines that are too long


@dataclass(frozen=True)
class Marks:
    """The characters of a drawing. circles: four sizes, small to large; more: what is cut off"""

    circles: str
    more: str
    below: str

    def fits(self, encoding: str) -> bool:
        """Whether an encoding has all the characters."""
        try:
            (self.circles + self.more + self.below).encode(encoding)
        except UnicodeEncodeError:
            return False
        return True


UNICODE = Marks("·∘○●", "…", "⋮")
ASCII = Marks(".oO@", "~", ":")


class Drawing:
    """Draws sentence pairs of a page's data (scoring/viewer.py).

    The circles are those of the links that the model's decoding prints, or without a model those of the first
    file of links.
    data   of a page
    width  places of the terminal
    """

    def __init__(self, data: dict[str, Any], marks: Marks, width: int) -> None:
        self.data, self.marks, self.width = data, marks, max(width, SHORTEST)
        model = data["model"]
        self.column = data["columns"].index(model["prints"]) if model else -1
        self.threshold = model["threshold"] if model else -1
        self.scored = model is not None or any(file["scored"] for file in data["files"])

    def sentence(self, n: int) -> str:
        """Sentence pair n, from 0: its number, its matrix, and its links as text."""
        pair = self.data["sentences"][n]
        pair = pair | {side: [*map(printable, pair[side])] for side in ("src", "tgt")}
        scores, gold = self._scores(pair), _triples(pair["gold"])
        lines = [
            f"{self.data['first'] + n}",
            *self._matrix(pair, scores, gold),
            *self._links(pair, scores, gold),
        ]
        return "".join(line.rstrip() + "\n" for line in [*lines, ""])

    def legend(self) -> str:
        """What the marks mean, and an empty line; nothing if all links have the same mark."""
        sizes = zip(self.marks.circles, LIMITS, strict=True)
        marks = [f"{mark} above {limit / UNIT:g}" for mark, limit in sizes] if self.scored else []
        gold = ["[ ] sure", "( ) possible"] if self.data["gold"] is not None else []
        return "".join(["   ".join(marks + gold), "\n\n"] if marks or gold else [])

    def _scores(self, pair: dict[str, Any]) -> dict[tuple[int, int], int]:
        """(i, j) -> score, of the cells that have one"""
        if self.data["model"]:
            step, cells = 2 + len(self.data["columns"]), pair["cells"]
            return {(cells[k], cells[k + 1]): cells[k + 2 + self.column] for k in range(0, len(cells), step)}
        return _triples(pair["files"][0]) if pair["files"] else {}

    def _matrix(
        self, pair: dict[str, Any], scores: dict[tuple[int, int], int], gold: dict[tuple[int, int], int]
    ) -> Iterator[str]:
        """The lines of the matrix, in blocks of as many columns as there is room for."""
        rows = [cut(word, self.width // 3, self.marks.more) for word in pair["src"]]
        margin = max(map(places, rows), default=0) + 1
        step = max(1, (self.width - margin) // CELL)
        for start in range(0, max(len(pair["tgt"]), 1), step):  # also rows that have no columns
            columns = range(start, min(start + step, len(pair["tgt"])))
            yield ""
            yield from self._heads([pair["tgt"][j] for j in columns], margin)
            for i, word in enumerate(rows):
                line = "".join(self._cell(scores.get((i, j), 0), gold.get((i, j))) for j in columns)
                yield " " * (margin - 1 - places(word)) + word + " " + line

    def _heads(self, words: Sequence[str], margin: int) -> Iterator[str]:
        """Words that stand upright, each in the middle of its column, all ending on the last line."""
        columns = [clusters(word) for word in words]
        columns = [x if len(x) <= TALLEST else [*x[: TALLEST - 1], self.marks.below] for x in columns]
        height = max(map(len, columns), default=0)
        for y in range(height):
            shown = (x[y - height + len(x)] if y >= height - len(x) else "" for x in columns)
            yield " " * margin + "".join(" " + x + " " * (CELL - 1 - places(x)) for x in shown)

    def _cell(self, score: int, gold: int | None) -> str:
        """A circle as large as the score, between the brackets of gold: 1 sure, 0 possible, None neither."""
        size = sum(score > limit for limit in LIMITS)
        circle = self.marks.circles[size - 1] if size else " "
        left, right = "  " if gold is None else ("()" if gold == 0 else "[]")
        return left + circle + right

    def _links(
        self, pair: dict[str, Any], scores: dict[tuple[int, int], int], gold: dict[tuple[int, int], int]
    ) -> Iterator[str]:
        """The links above the threshold, as words; with gold links, the right, the wrong and the missed."""
        chosen = {link: score for link, score in scores.items() if score > self.threshold}
        lists: dict[str, list[tuple[int, int]]]
        if self.data["gold"] is None:
            lists = {"links": list(chosen)}
        elif not self.data["model"] and not self.data["files"]:
            lists = {"sure": [x for x in gold if gold[x]], "possible": [x for x in gold if not gold[x]]}
        else:
            lists = {
                "right": [link for link in chosen if link in gold],
                "wrong": [link for link in chosen if link not in gold],
                "missed": [link for link in gold if gold[link] and link not in chosen],
            }
        yield ""
        label = max(map(len, lists)) + 2
        for name, links in lists.items():
            texts = [self._text(pair, *link, chosen.get(link)) for link in links]
            for k, line in enumerate(_flowed(texts, self.width - label)):
                yield f"{name if k == 0 else '':<{label}}{line}"

    def _text(self, pair: dict[str, Any], i: int, j: int, score: int | None) -> str:
        """A link as words, with its score where scores tell something."""
        number = f" {score / UNIT:.2f}" if score is not None and self.scored else ""
        return f"{pair['src'][i]} ~ {pair['tgt'][j]}{number}"


def clusters(word: str) -> list[str]:
    """The characters of a word, each with the marks that follow it, as long as a column has room for them."""
    found: list[str] = []
    for character in word:
        joins = unicodedata.category(character) == "Mc" and found and places(found[-1]) < CELL - 1
        if found and (joins or places(character) == 0):
            found[-1] += character
        else:
            found.append(character)
    return found


def _flowed(texts: Sequence[str], width: int) -> list[str]:
    """Texts on as few lines as they need, with blanks between them; no text is broken."""
    lines: list[str] = []
    for text in texts:
        if lines and places(lines[-1]) + 3 + places(text) <= width:
            lines[-1] += "   " + text
        else:
            lines.append(text)
    return lines


def _triples(flat: Sequence[int]) -> dict[tuple[int, int], int]:
    """(i, j) -> number, from i, j, number, i, j, number, ..."""
    return {(flat[k], flat[k + 1]): flat[k + 2] for k in range(0, len(flat), 3)}
